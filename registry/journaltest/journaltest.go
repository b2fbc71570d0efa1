// Package journaltest is the suite that every registry.Journal must pass.
//
// It asks for what the port promises and nothing of how a journal keeps it: no
// table, no file. What a kind of journal adds (locks of files, damaged ones) is
// tested beside that journal.
package journaltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
)

// Run proves a journal. Each call of open gives a new, empty one.
func Run(t *testing.T, open func(t *testing.T) registry.Journal) {
	for _, c := range []struct {
		name string
		test func(*testing.T, registry.Journal)
	}{
		{"empty", empty},
		{"append and read back", roundTrip},
		{"append behind another end", moved},
		{"nothing of a refused append stays", atomic},
		{"racing appends", race},
		{"appended and not applied", crash},
		{"long logs are read in order", long},
		{"read stops with its reader", stop},
		{"append while reading", nested},
		{"texts once", texts},
		{"erase", erase},
		{"erase and add in one append", eraseAndAdd},
		{"snapshot", snapshot},
		{"snapshots do not go back", olderSnapshot},
		{"a context that has ended", ended},
		{"follow", follow},
		{"closed", closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := open(t)
			t.Cleanup(func() {
				if err := j.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			c.test(t, j)
		})
	}
}

// event makes an event that is told apart by n.
func event(n int) registry.Event {
	return registry.Event{
		Time: time.UnixMilli(1_767_225_600_000 + int64(n)).UTC(), Actor: fmt.Sprint("actor ", n), Request: fmt.Sprint("request ", n),
		Kind: "kind", Body: json.RawMessage(fmt.Sprintf(`{"v":1,"n":%d,"é":"<&>"}`, n)),
	}
}

func withText(n int, text string) (registry.Event, registry.Text) {
	e := event(n)
	e.Text = registry.HashOf(text)
	return e, registry.Text{Hash: e.Text, Text: text}
}

func mustAppend(t *testing.T, j registry.Journal, after registry.Revision, b registry.Batch) registry.Revision {
	t.Helper()
	end, err := j.Append(t.Context(), after, b)
	if err != nil {
		t.Fatalf("append after %d: %v", after, err)
	}
	if want := after + registry.Revision(len(b.Events)); end != want {
		t.Fatalf("append after %d: ends at %d, want %d", after, end, want)
	}
	return end
}

func read(t *testing.T, j registry.Journal, from registry.Revision) []registry.Record {
	t.Helper()
	var list []registry.Record
	err := j.Read(t.Context(), from, func(r registry.Record) error { list = append(list, r); return nil })
	if err != nil {
		t.Fatalf("read from %d: %v", from, err)
	}
	for i, r := range list {
		if want := from + registry.Revision(i) + 1; r.Revision != want {
			t.Fatalf("read from %d: event %d has revision %d, want %d", from, i, r.Revision, want)
		}
	}
	if lean, ok := j.(registry.Lean); ok {
		leanly(t, lean, from, list)
	}
	return list
}

// leanly finds that reading without texts leaves out nothing else.
func leanly(t *testing.T, j registry.Lean, from registry.Revision, list []registry.Record) {
	t.Helper()
	i := 0
	err := j.ReadEvents(t.Context(), from, func(r registry.Record) error {
		if i < len(list) {
			if r.Text != "" || r.Erased {
				t.Errorf("event %d is read with its text, erased %v", r.Revision, r.Erased)
			}
			same(t, r, list[i].Event, "", false)
		}
		i++
		return nil
	})
	if err != nil || i < len(list) {
		t.Errorf("without texts %d events are read from %d, want %d: %v", i, from, len(list), err)
	}
}

func same(t *testing.T, got registry.Record, want registry.Event, text string, erased bool) {
	t.Helper()
	if !got.Time.Equal(want.Time) || got.Time.Location() != time.UTC || got.Actor != want.Actor || got.Request != want.Request ||
		got.Kind != want.Kind || string(got.Body) != string(want.Body) || got.Event.Text != want.Text || got.Text != text || got.Erased != erased {
		t.Errorf("event %d came back as %+v, want %+v with text %q, erased %v", got.Revision, got, want, text, erased)
	}
}

func empty(t *testing.T, j registry.Journal) {
	if got := read(t, j, 0); len(got) != 0 {
		t.Errorf("an empty journal reads %v", got)
	}
	s, err := j.LoadSnapshot(t.Context(), func(registry.Text) error { return errors.New("a text") })
	if err != nil || s.Revision != 0 || len(s.State) != 0 {
		t.Errorf("an empty journal has snapshot %v, %v", s, err)
	}
}

func roundTrip(t *testing.T, j registry.Journal) {
	// Nothing of a text may be lost, whatever its bytes are.
	for i, text := range []string{"", "plain", "nul\x00byte", "é 💾 \u2028", "\xff\xfe no UTF-8", strings.Repeat("x", 1<<20)} {
		e, body := withText(2*i, text)
		bare := event(2*i + 1)
		end := mustAppend(t, j, registry.Revision(2*i), registry.Batch{Events: []registry.Event{e, bare}, Texts: []registry.Text{body}})
		got := read(t, j, end-2)
		if len(got) != 2 {
			t.Fatalf("read %d events, want 2", len(got))
		}
		same(t, got[0], e, text, false)
		same(t, got[1], bare, "", false)
	}
}

func moved(t *testing.T, j registry.Journal) {
	mustAppend(t, j, 0, registry.Batch{Events: []registry.Event{event(1), event(2)}})
	for _, after := range []registry.Revision{0, 1, 3, 99} {
		if _, err := j.Append(t.Context(), after, registry.Batch{Events: []registry.Event{event(3)}}); !errors.Is(err, registry.ErrMoved) {
			t.Errorf("append after %d, where 2 is the end: %v, want ErrMoved", after, err)
		}
	}
	if got := read(t, j, 0); len(got) != 2 {
		t.Errorf("refused appends left %d events, want 2", len(got))
	}
	mustAppend(t, j, 2, registry.Batch{Events: []registry.Event{event(3)}})
}

func atomic(t *testing.T, j registry.Journal) {
	e, text := withText(1, "kept")
	mustAppend(t, j, 0, registry.Batch{Events: []registry.Event{e}, Texts: []registry.Text{text}})
	other, lost := withText(2, "lost")
	_, err := j.Append(t.Context(), 0, registry.Batch{Events: []registry.Event{other}, Texts: []registry.Text{lost}, Erase: []registry.Hash{text.Hash}})
	if !errors.Is(err, registry.ErrMoved) {
		t.Fatalf("append after 0, where 1 is the end: %v, want ErrMoved", err)
	}
	got := read(t, j, 0)
	if len(got) != 1 {
		t.Fatalf("read %d events, want 1", len(got))
	}
	same(t, got[0], e, "kept", false)
	other.Text = lost.Hash
	mustAppend(t, j, 1, registry.Batch{Events: []registry.Event{other}})
	same(t, read(t, j, 1)[0], other, "", true)
}

func race(t *testing.T, j registry.Journal) {
	const writers, each = 8, 20
	var mu sync.Mutex
	won := map[registry.Revision]int{}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			var after registry.Revision
			for n := 0; n < each; {
				end, err := j.Append(t.Context(), after, registry.Batch{Events: []registry.Event{event(w), event(w)}})
				switch {
				case errors.Is(err, registry.ErrMoved):
					after = 0
					if err := j.Read(t.Context(), after, func(r registry.Record) error { after = r.Revision; return nil }); err != nil {
						t.Error(err)
						return
					}
				case err != nil:
					t.Error(err)
					return
				default:
					mu.Lock()
					won[end-1], won[end] = w, w
					mu.Unlock()
					after, n = end, n+1
				}
			}
		})
	}
	all.Wait()
	got := read(t, j, 0)
	if len(got) != writers*each*2 || len(won) != len(got) {
		t.Fatalf("%d events, %d of them won, want %d", len(got), len(won), writers*each*2)
	}
	for _, r := range got {
		if want := fmt.Sprint("actor ", won[r.Revision]); r.Actor != want {
			t.Errorf("event %d is of %q, and %q was told that it won", r.Revision, r.Actor, want)
		}
	}
}

// crash is a writer that dies between append and apply: whoever comes next
// finds the events, and its own idea of the end is wrong.
func crash(t *testing.T, j registry.Journal) {
	mustAppend(t, j, 0, registry.Batch{Events: []registry.Event{event(1)}})
	believed := registry.Revision(0) // the state before the append
	if _, err := j.Append(t.Context(), believed, registry.Batch{Events: []registry.Event{event(2)}}); !errors.Is(err, registry.ErrMoved) {
		t.Fatalf("append after a forgotten one: %v, want ErrMoved", err)
	}
	got := read(t, j, believed)
	if len(got) != 1 {
		t.Fatalf("read %d events, want the forgotten one", len(got))
	}
	mustAppend(t, j, got[0].Revision, registry.Batch{Events: []registry.Event{event(2)}})
}

func long(t *testing.T, j registry.Journal) {
	const batches, each = 30, 100
	var end registry.Revision
	for b := range batches {
		var list registry.Batch
		for i := range each {
			list.Events = append(list.Events, event(b*each+i))
		}
		end = mustAppend(t, j, end, list)
	}
	got := read(t, j, 0)
	if len(got) != batches*each {
		t.Fatalf("read %d events, want %d", len(got), batches*each)
	}
	for i, r := range got {
		same(t, r, event(i), "", false)
	}
	if got := read(t, j, end-5); len(got) != 5 {
		t.Errorf("read %d of the last 5 events", len(got))
	}
	if got := read(t, j, end); len(got) != 0 {
		t.Errorf("read %d events behind the end", len(got))
	}
}

func stop(t *testing.T, j registry.Journal) {
	mustAppend(t, j, 0, registry.Batch{Events: []registry.Event{event(1), event(2), event(3)}})
	enough := errors.New("enough")
	seen := 0
	err := j.Read(t.Context(), 0, func(registry.Record) error {
		if seen++; seen == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || seen != 2 {
		t.Errorf("read on for %d events and answered %v, want 2 and its reader's error", seen, err)
	}
}

func nested(t *testing.T, j registry.Journal) {
	mustAppend(t, j, 0, registry.Batch{Events: []registry.Event{event(1)}})
	added := false
	err := j.Read(t.Context(), 0, func(r registry.Record) error {
		if added {
			return nil
		}
		added = true
		_, err := j.Append(t.Context(), r.Revision, registry.Batch{Events: []registry.Event{event(2)}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, j, 0); len(got) != 2 {
		t.Errorf("read %d events, want 2", len(got))
	}
}

func texts(t *testing.T, j registry.Journal) {
	a, text := withText(1, "shared")
	b := event(2)
	b.Text = a.Text
	mustAppend(t, j, 0, registry.Batch{Events: []registry.Event{a}, Texts: []registry.Text{text}})
	mustAppend(t, j, 1, registry.Batch{Events: []registry.Event{b}})                                     // known already
	mustAppend(t, j, 2, registry.Batch{Events: []registry.Event{b}, Texts: []registry.Text{text, text}}) // and said again
	for _, r := range read(t, j, 0) {
		if r.Text != "shared" || r.Erased {
			t.Errorf("event %d has text %q, erased %v", r.Revision, r.Text, r.Erased)
		}
	}
	mustSave(t, j, registry.Snapshot{Revision: 3, State: []byte("state")})
	if _, got := load(t, j); len(got) != 1 || got[text.Hash] != "shared" {
		t.Errorf("live texts are %v, want the one", got)
	}
}

func erase(t *testing.T, j registry.Journal) {
	gone, text := withText(1, "gone")
	kept, other := withText(2, "kept")
	mustAppend(t, j, 0, registry.Batch{Events: []registry.Event{gone, kept}, Texts: []registry.Text{text, other}})
	mustAppend(t, j, 2, registry.Batch{Events: []registry.Event{event(3)}, Erase: []registry.Hash{text.Hash, {1}}})
	got := read(t, j, 0)
	same(t, got[0], gone, "", true)
	same(t, got[1], kept, "kept", false)
	mustSave(t, j, registry.Snapshot{Revision: 3, State: []byte("state")})
	if _, live := load(t, j); len(live) != 1 || live[other.Hash] != "kept" {
		t.Errorf("live texts are %v, want the one that was kept", live)
	}
	// The same text may come back.
	mustAppend(t, j, 3, registry.Batch{Events: []registry.Event{gone}, Texts: []registry.Text{text}})
	same(t, read(t, j, 3)[0], gone, "gone", false)
}

func eraseAndAdd(t *testing.T, j registry.Journal) {
	e, text := withText(1, "again")
	mustAppend(t, j, 0, registry.Batch{Events: []registry.Event{e}, Texts: []registry.Text{text}})
	mustAppend(t, j, 1, registry.Batch{Events: []registry.Event{e}, Texts: []registry.Text{text}, Erase: []registry.Hash{text.Hash}})
	same(t, read(t, j, 1)[0], e, "again", false)
}

func mustSave(t *testing.T, j registry.Journal, s registry.Snapshot) {
	t.Helper()
	if err := j.SaveSnapshot(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, j registry.Journal) (registry.Snapshot, map[registry.Hash]string) {
	t.Helper()
	texts := map[registry.Hash]string{}
	s, err := j.LoadSnapshot(t.Context(), func(x registry.Text) error { texts[x.Hash] = x.Text; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return s, texts
}

func snapshot(t *testing.T, j registry.Journal) {
	e, text := withText(1, "text")
	mustAppend(t, j, 0, registry.Batch{Events: []registry.Event{e, event(2)}, Texts: []registry.Text{text}})
	state := []byte("a\x00state\xff")
	mustSave(t, j, registry.Snapshot{Revision: 2, State: state})
	mustAppend(t, j, 2, registry.Batch{Events: []registry.Event{event(3)}})
	s, texts := load(t, j)
	if s.Revision != 2 || string(s.State) != string(state) || texts[text.Hash] != "text" {
		t.Errorf("snapshot is %v with texts %v", s, texts)
	}
	if tail := read(t, j, s.Revision); len(tail) != 1 {
		t.Errorf("the tail has %d events, want 1", len(tail))
	}
	broken := errors.New("broken")
	if _, err := j.LoadSnapshot(t.Context(), func(registry.Text) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("loading answered %v, want its reader's error", err)
	}
}

func olderSnapshot(t *testing.T, j registry.Journal) {
	mustAppend(t, j, 0, registry.Batch{Events: []registry.Event{event(1), event(2)}})
	mustSave(t, j, registry.Snapshot{Revision: 2, State: []byte("newer")})
	mustSave(t, j, registry.Snapshot{Revision: 1, State: []byte("older")})
	if s, _ := load(t, j); s.Revision != 2 || string(s.State) != "newer" {
		t.Errorf("snapshot is %v, want the newer one", s)
	}
}

func ended(t *testing.T, j registry.Journal) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Append(ctx, 0, registry.Batch{Events: []registry.Event{event(1)}}); err == nil || errors.Is(err, registry.ErrMoved) {
		t.Errorf("append in a context that has ended: %v, want an error", err)
	}
	mustAppend(t, j, 0, registry.Batch{Events: []registry.Event{event(1)}})
}

func follow(t *testing.T, j registry.Journal) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	grown, err := j.Follow(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if grown == nil {
		return // one process: nobody else makes it grow
	}
	mustAppend(t, j, 0, registry.Batch{Events: []registry.Event{event(1)}})
	// It may miss one, but not every one.
	for after := registry.Revision(1); ; after++ {
		select {
		case _, ok := <-grown:
			if !ok {
				t.Fatal("the channel was closed before its context ended")
			}
		case <-time.After(time.Second):
			if after > 10 {
				t.Fatal("ten appends, and nothing was told")
			}
			mustAppend(t, j, after, registry.Batch{Events: []registry.Event{event(int(after))}})
			continue
		}
		break
	}
	cancel()
	for range grown { // until it is closed
	}
}

func closed(t *testing.T, j registry.Journal) {
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(t.Context(), 0, registry.Batch{Events: []registry.Event{event(1)}}); err == nil || errors.Is(err, registry.ErrMoved) {
		t.Errorf("append to a closed journal: %v, want an error", err)
	}
	if err := j.Read(t.Context(), 0, func(registry.Record) error { return nil }); err == nil {
		t.Error("a closed journal can be read")
	}
	if err := j.SaveSnapshot(t.Context(), registry.Snapshot{Revision: 1}); err == nil {
		t.Error("a closed journal keeps a snapshot")
	}
}
