package brokertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// outage is how long a registry, a broker or a network is away: what C2 asks for,
// and a minute in the long form.
func outage() time.Duration {
	if IsLong() {
		return time.Minute
	}
	return 10 * time.Second
}

// Trouble is what a test does while its broker is in trouble. Each may be nil.
type Trouble struct {
	// Silent is called while the broker does not answer.
	Silent func()
	// Before, While and After are called before the broker is killed, while it is
	// away, and when it is back.
	Before, While, After func()
}

// BrokerTrouble has a broker of the test's own not answer, as when it hangs, and
// then has it killed and started again on its data, with a producer and a
// consumer at work. Both go on by themselves: nothing is lost, order per key is
// kept, nothing is set aside, and nothing is handed out 50 times (C2, P3, P9).
func (w *Workshop) BrokerTrouble(t *testing.T, own *Own, at Place, trouble Trouble) {
	t.Helper()
	r := newRush(t, at, at.Part(), 1500)
	call := func(f func()) {
		if f != nil {
			f()
		}
	}
	own.Signal(Pause)
	since := time.Now()
	call(trouble.Silent)
	Await(t, "the silence lasts", func() bool { return time.Since(since) > outage() })
	own.Signal(Resume)
	r.goesOn(fmt.Sprintf("silent for %v", outage()))

	call(trouble.Before)
	own.Signal(os.Kill)
	since = time.Now()
	call(trouble.While)
	Await(t, "the broker stays away", func() bool { return time.Since(since) > outage() })
	own.Restart()
	call(trouble.After)
	r.goesOn(fmt.Sprintf("killed, away for %v", time.Since(since).Round(time.Millisecond)))
	r.end()
}

// NetworkCut cuts the network between a broker and a producer and a consumer: no
// side is told. Both go on by themselves when it is mended, and nothing is lost,
// out of order or set aside. target is the broker's host:port.
func (w *Workshop) NetworkCut(t *testing.T, at Place, target string) {
	t.Helper()
	line := NewLine(t, target)
	p := at.Part()
	p.Through = line.Address
	r := newRush(t, at, p, 2000)
	for range 2 {
		line.Cut()
		since := time.Now()
		Await(t, "the cut lasts", func() bool { return time.Since(since) > outage()/2 })
		line.Mend()
		r.goesOn(fmt.Sprintf("cut for %v", outage()/2))
	}
	r.end()
}

// rush is a producer and a consumer at work while something goes wrong.
type rush struct {
	t                  *testing.T
	at                 Place
	n                  int
	producer, consumer *process
}

func newRush(t *testing.T, at Place, p Part, n int) *rush {
	t.Helper()
	r := &rush{t: t, at: at, n: n}
	p.IsAlert = true
	r.consumer = start(t, p)
	// There is something left to do when the trouble is over.
	p.IsProducer, p.Count, p.Pace = true, n, 5*time.Millisecond
	r.producer = start(t, p)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%d confirmed, %d handled; the producer says %s, the consumer %s", len(r.producer.done()), len(r.consumer.done()), &r.producer.out, &r.consumer.out)
		}
	})
	Await(t, "it begins", func() bool { return r.handled() > 100 })
	return r
}

func (r *rush) handled() int { return Distinct(r.consumer.done()) }

// goesOn waits until both sides do more than they had done before.
func (r *rush) goesOn(after string) {
	r.t.Helper()
	since, confirmed := time.Now(), len(r.producer.done())
	enough := min(confirmed+100, r.n-1)
	Await(r.t, "the producer goes on after "+after, func() bool { return len(r.producer.done()) > enough })
	published := time.Since(since)
	Await(r.t, "the consumer goes on after "+after, func() bool { return r.handled() > enough })
	r.t.Logf("%s at %d messages: the producer went on %v later, the consumer %v", after, confirmed, published.Round(time.Millisecond), time.Since(since).Round(time.Millisecond))
}

// end waits for all messages and checks them.
func (r *rush) end() {
	r.t.Helper()
	r.producer.ended()
	Await(r.t, "all are handled", func() bool { return r.handled() == r.n })
	r.consumer.stopped()
	effects := r.consumer.done()
	OrderPerKey(r.t, effects)
	if dead := deadIDs(r.t, r.at); len(dead) != 0 || len(r.producer.done()) != r.n {
		r.t.Errorf("%d confirmed, %d set aside", len(r.producer.done()), len(dead))
	}
	if n := mostOften(effects); n >= 50 {
		r.t.Errorf("a message was handled %d times", n)
	}
	r.t.Logf("%d published; %d handled, %d twice, one of them %d times; 0 set aside", r.n, Distinct(effects), len(effects)-r.n, mostOften(effects))
}

// Away is a place whose two sides run within the test.
type Away interface {
	Place
	// Publisher publishes messages as pin says, validated by v, until the test ends.
	// It may be called by many goroutines.
	Publisher(v *validate.Validator, pin validate.Pin) func(ctx context.Context, m Message) error
	// Consume hands what e accepts to handle until the test ends. What cannot be
	// judged is held for a second.
	Consume(v *validate.Validator, e *validate.Expect, handle func(Judged))
}

// RegistryAway has the registry go away, or refuse, with 1,000 messages on the
// way: none is set aside or lost, each is handled once and in order (C2, C3). A
// producer goes on with what it knows and publishes nothing that it does not (P4).
func (w *Workshop) RegistryAway(t *testing.T, open Opened) {
	for _, how := range []string{"shut", "guarded"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			const n = 1000
			at, registry := open(t)
			registry.RegisterOrders()
			v := registry.Validator(validate.Options{})
			publish := at.Publisher(v, validate.Version(Orders, 1))
			one := func(i int) Message { return Message{ID: fmt.Sprintf("%05d", i), Body: `{"id":1}`} }
			if err := publish(t.Context(), one(0)); err != nil {
				t.Fatal(err)
			}
			list := make([]Message, 0, n)
			for i := 1; i < n-1; i++ {
				list = append(list, one(i))
			}
			at.Put(list...)
			if how == "shut" {
				registry.Shut()
			} else {
				registry.Guard(true)
			}
			if err := publish(t.Context(), one(n-1)); err != nil {
				t.Errorf("a known schema without the registry: %v", err)
			}
			if err := at.Publisher(v, validate.Version(validate.Fixed("others-value"), 1))(t.Context(), one(n)); !errors.Is(err, validate.ErrUnavailable) {
				t.Errorf("an unknown schema without the registry: %v", err)
			}
			fresh := registry.Validator(validate.Options{}) // a consumer that starts in the outage
			var handled, redelivered Tally
			asked := registry.Asked()
			at.Consume(fresh, &validate.Expect{Subject: Orders}, func(one Judged) {
				handled.Add(one.ID)
				if one.IsRedelivered {
					redelivered.Add(one.ID)
				}
			})
			Await(t, "the outage lasts", func() bool { return fresh.Stats().Outage > outage() })
			if n := registry.Asked() - asked; n > 50 {
				t.Errorf("the registry was asked %d times while it refused", n)
			}
			if handled.All() != 0 {
				t.Errorf("%d handled in the outage", handled.All())
			}
			if how == "shut" {
				registry.Open()
			} else {
				registry.Guard(false)
			}
			Await(t, "all are handled", func() bool { return handled.IDs() >= n && at.IsDone(n) })
			if order := handled.Order(); len(order) != n || !slices.IsSorted(order) {
				t.Errorf("%d handled, in order: %v: %q", len(order), slices.IsSorted(order), order[:20])
			}
			if dead := at.Dead(); len(dead) != 0 || redelivered.All() > 20 {
				t.Errorf("%d set aside, %d handed out twice", len(dead), redelivered.All())
			}
			t.Logf("%s for %v: %d of %d handled once and in order, %d of them handed out twice, 0 set aside", how, outage(), handled.IDs(), n, redelivered.All())
		})
	}
}
