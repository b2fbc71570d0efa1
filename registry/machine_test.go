package registry_test

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
)

// commands draws what clients may ask, over few names so that they meet.
func drawCommand(t *rapid.T) string {
	subject := rapid.SampledFrom([]string{"s", "s", "t", "u"}).Draw(t, "subject")
	number := rapid.SampledFrom([]int{1, 1, 2, 2, 3, 4, 5}).Draw(t, "number")
	option := func(word string) string {
		if rapid.IntRange(0, 2).Draw(t, word) == 0 {
			return " " + word
		}
		return ""
	}
	text := func() string {
		out := rapid.SampledFrom([]string{`"A"`, `"A"`, `"A b?"`, `"A b? c?"`, `"A c? b?"`, `"A a"`, `"B"`}).Draw(t, "text")
		for range rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 1, 2}).Draw(t, "references") {
			// What a reference is called says where it points, so that no two
			// have one name.
			to := rapid.SampledFrom([]string{"s", "t", "u"}).Draw(t, "to")
			at := rapid.SampledFrom([]int{-1, 1, 2, 3, 4}).Draw(t, "at")
			out += fmt.Sprintf(" ref=%s%d:%s:%d", to, at, to, at)
		}
		return out + option("type=JSON")
	}
	switch rapid.IntRange(0, 15).Draw(t, "command") {
	case 0, 1, 2, 3, 4, 5:
		return fmt.Sprintf("register %s %s", subject, text())
	case 6:
		return fmt.Sprintf("lookup %s %s%s", subject, text(), option("deleted"))
	case 7:
		return fmt.Sprintf("check %s %s", subject, text())
	case 8:
		return fmt.Sprintf("get %s %d%s", subject, number, option("deleted"))
	case 9:
		return fmt.Sprintf("versions %s%s", subject, option("deleted"))
	case 10:
		return fmt.Sprintf("id %d", number)
	case 11:
		return fmt.Sprintf("referencedby %s %d%s", subject, number, option("deleted"))
	case 12, 13:
		return fmt.Sprintf("delete %s %d%s", subject, number, option("permanent"))
	case 14:
		return fmt.Sprintf("delete %s%s", subject, option("permanent"))
	}
	if rapid.IntRange(0, 4).Draw(t, "setting") == 0 {
		return fmt.Sprintf("mode %s %s", subject, rapid.SampledFrom([]string{"READONLY", "READWRITE", "READWRITE"}).Draw(t, "mode"))
	}
	return fmt.Sprintf("config %s level=%s", subject, rapid.SampledFrom([]string{"NONE", "NONE", "BACKWARD", "BACKWARD_TRANSITIVE"}).Draw(t, "level"))
}

// TestMachine plays random commands to a registry and to a plain model, which
// must answer alike, and then makes the same state in every way there is.
func TestMachine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		j := &kept{}
		var err error
		if j.Journal, err = sqlite.Open(sqlite.Memory); err != nil {
			rt.Fatal(err)
		}
		defer func() {
			if err := j.Journal.Close(); err != nil {
				rt.Error(err)
			}
		}()
		// Few events between two snapshots, and next to no cache: both are
		// turned over in every run.
		options := registry.Options{Formats: fakeFormats, Checkers: fakeCheckers, Snapshot: rapid.SampledFrom([]int{-1, 7, 20}).Draw(rt, "snapshot"), Cache: 2000}
		r, err := registry.Open(t.Context(), j, options)
		if err != nil {
			rt.Fatal(err)
		}
		m := newModel()
		for _, command := range rapid.SliceOfN(rapid.Custom(drawCommand), 10, 150).Draw(rt, "commands") {
			want := m.do(command)
			if got := do(t.Context(), r, command); got != want {
				rt.Errorf("%s\n got %s\nwant %s", command, got, want)
			}
		}
		state := registry.StateOf(r)
		if err := r.Close(); err != nil {
			rt.Fatal(err)
		}
		sameStates(rt, t, j, options, state)
	})
}

// kept is a journal that stays open when the registry on it is closed.
type kept struct{ registry.Journal }

func (kept) Close() error { return nil }

// sameStates folds the journal anew, decodes the state's bytes, and opens the
// registry on its snapshot and the events behind it: all give the same state.
func sameStates(rt rapid.TB, t *testing.T, j *kept, options registry.Options, state []byte) {
	rt.Helper()
	texts := map[registry.Hash]string{}
	folded := registry.NewState()
	err := j.Read(t.Context(), 0, func(r registry.Record) error {
		if r.Text != "" {
			texts[r.Event.Text] = r.Text
		}
		return folded.Apply(r)
	})
	if err != nil {
		rt.Fatal(err)
	}
	if !bytes.Equal(folded.Encode(), state) {
		rt.Error("the journal folded anew gives another state")
	}
	decoded, err := registry.DecodeState(state, func(h registry.Hash) (string, bool) { s, ok := texts[h]; return s, ok })
	if err != nil {
		rt.Fatal(err)
	}
	if !bytes.Equal(decoded.Encode(), state) {
		rt.Error("the decoded state is another")
	}
	again, err := registry.Open(t.Context(), j, options)
	if err != nil {
		rt.Fatal(err)
	}
	if !bytes.Equal(registry.StateOf(again), state) {
		rt.Error("snapshot and tail give another state")
	}
	if err := again.Close(); err != nil {
		rt.Error(err)
	}
}
