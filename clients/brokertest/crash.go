package brokertest

import (
	"fmt"
	"strings"
	"testing"
)

// Kill is the step at which a consumer dies.
type Kill struct {
	Step string
	// Bad has it die with a message that is set aside, else with one that is handled.
	Bad bool
	// Leaves has it die with a message that leaves the queue for its next attempt.
	Leaves bool
	// Once says that nothing may come twice.
	Once bool
}

// Kills are the steps of a consumer at a broker of queues.
func Kills() []Kill {
	return []Kill{
		{Step: "received"},
		{Step: "worked"},
		{Step: "acknowledged"},
		{Step: "handed over", Bad: true}, // the dead letter's message
		{Step: "on its way", Bad: true},
		{Step: "answered", Bad: true},
		{Step: "dead_lettered", Bad: true},
		{Step: "handed over", Leaves: true}, // the retry's message
		{Step: "on its way", Leaves: true},
		{Step: "answered", Leaves: true},
		{Step: "delayed", Leaves: true},
	}
}

// KilledConsumer kills a consumer at each step of a message, and another takes
// over: nothing is lost, order per key is kept, nothing healthy is in the dead
// letter, where deadTwice messages may be twice, under one id (C6).
//
// open makes a place whose registry has [OrderV1].
func (w *Workshop) KilledConsumer(t *testing.T, open func(t *testing.T) Place, deadTwice int, kills ...Kill) {
	const (
		n   = 100
		bad = 2 // every fiftieth
	)
	for _, kill := range kills {
		name := kill.Step
		if kill.Leaves {
			name = "retry " + name
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := open(t)
			list := make([]Message, 0, n)
			for i := range n {
				m := Message{ID: fmt.Sprintf("%05d", i), Key: fmt.Sprintf("k%d", i%5), Body: `{"id":1}`}
				if i%(n/bad) == 0 {
					m.Body = `{"id":"bad"}`
				}
				list = append(list, m)
			}
			at.Put(list...)
			p := at.Part()
			p.Step, p.Leaves, p.Message = kill.Step, kill.Leaves, "00051"
			if kill.Bad {
				p.Message = "00050"
			}
			p.Static = kill.Step != "received"
			first := start(t, p)
			first.killed()
			before := len(first.done())
			at.Put(Message{ID: fmt.Sprintf("%05d", n), Key: "last", Body: `{"id":1}`}) // there is always something left to do
			p.Step, p.Effects = "", first.effects
			second := start(t, p)
			const good = n - bad + 1
			Await(t, "all are handled by the next one", func() bool { return Distinct(second.done()) == good && at.IsDone(n+1) })
			second.stopped()
			effects := second.done()
			if !kill.Leaves {
				OrderPerKey(t, effects)
			}
			dead := deadIDs(t, at)
			twice, again := len(effects)-good, len(dead)-Distinct(dead)
			if Distinct(dead) != bad || again > deadTwice {
				t.Errorf("%d of %d bad ones set aside, %d times: %q", Distinct(dead), bad, len(dead), dead)
			}
			if kill.Once && twice+again > 0 {
				t.Errorf("%d handled twice, %d set aside twice", twice, again)
			}
			t.Logf("killed at %q after %d effects: %d of %d handled, %d twice; %d bad ones set aside, %d twice; 0 healthy", name, before, Distinct(effects), good, twice, Distinct(dead), again)
		})
	}
}

// deadIDs are those of the dead letters, all of which must be of bad messages.
func deadIDs(t *testing.T, at Place) (ids []string) {
	t.Helper()
	for _, m := range at.Dead() {
		if !strings.Contains(m.Body, "bad") {
			t.Errorf("a healthy message is set aside: %s: %s", m.ID, m.Error)
		}
		ids = append(ids, m.ID)
	}
	return ids
}

// KilledProducer kills a producer at each step of a message, and it goes on:
// nothing is lost, order per key is kept, and at most the one message is there
// twice, under one id.
func (w *Workshop) KilledProducer(t *testing.T, open func(t *testing.T) Place) {
	const n = 100
	for _, tt := range []struct {
		step  string
		twice int
	}{{"not sent", 0}, {"handed over", 0}, {"on its way", 1}, {"answered", 1}, {"confirmed", 1}} {
		t.Run(tt.step, func(t *testing.T) {
			t.Parallel()
			at := open(t)
			p := at.Part()
			p.IsProducer, p.Step, p.Message, p.Count = true, tt.step, "00050", n
			first := start(t, p)
			first.killed()
			p.Step, p.Effects = "", first.effects
			start(t, p).ended()
			ids := entries(at.Lying())
			OrderPerKey(t, ids)
			if twice := len(ids) - n; Distinct(ids) != n || twice > tt.twice {
				t.Errorf("%d messages, %d different", len(ids), Distinct(ids))
			}
			t.Logf("killed when %s: %d of %d published, %d twice", tt.step, Distinct(ids), n, len(ids)-n)
		})
	}
}

// entries are messages as KEY/ID.
func entries(list []Message) []string {
	out := make([]string, 0, len(list))
	for _, m := range list {
		out = append(out, m.Key+"/"+m.ID)
	}
	return out
}
