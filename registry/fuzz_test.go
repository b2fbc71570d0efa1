package registry_test

import (
	"bytes"
	"cmp"
	"slices"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/registry"
)

// seedState is the state of a small registry that has something of everything.
func seedState(f *testing.F) ([]byte, map[registry.Hash]string, []registry.Event) {
	j := newShared()
	r := openOn(f, node{j})
	for _, command := range []string{
		`register s "A x"`, `register s "A x y?"`, `register t "A x"`, `register u "U" ref=A:s:1 version=1`,
		`delete t`, `register t "A x"`, `config s level=FULL normalize=true verdict=BOTH`, `mode t READONLY`, `delete s 2`,
	} {
		do(f.Context(), r, command)
	}
	return registry.StateOf(r), j.texts, j.events
}

// FuzzDecodeState: bytes that are no state are refused, without a panic and
// without memory out of proportion; what is taken encodes into a state again.
func FuzzDecodeState(f *testing.F) {
	state, texts, _ := seedState(f)
	f.Add(state[1 : len(state)-4])
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := registry.DecodeState(registry.Seal(data), func(h registry.Hash) (string, bool) { return texts[h], true })
		if err != nil {
			return
		}
		again, err := registry.DecodeState(s.Encode(), func(h registry.Hash) (string, bool) { return texts[h], true })
		if err != nil {
			t.Fatalf("a state that was decoded cannot be decoded again: %v", err)
		}
		if !bytes.Equal(again.Encode(), s.Encode()) {
			t.Error("a decoded state encodes in two ways")
		}
	})
}

// FuzzApply: an event of any kind and body is folded or refused.
func FuzzApply(f *testing.F) {
	_, _, events := seedState(f)
	for _, e := range events {
		f.Add(e.Kind, []byte(e.Body))
	}
	f.Add(registry.KindContextDeleted, []byte(`{"v":1,"context":"."}`))
	f.Add(registry.KindExceptionSet, []byte(`{"v":1,"context":".","subject":"s","fingerprint":"f"}`))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		s := registry.NewState()
		var last registry.Revision
		apply := func(e registry.Event) error {
			e.Revision = last + 1
			err := s.Apply(registry.Record{Event: e, Text: "A x"})
			if err == nil {
				last++
			}
			return err
		}
		for _, e := range events[:5] {
			if err := apply(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := apply(registry.Event{Kind: kind, Body: body}); err != nil {
			return
		}
		s.Encode()
	})
}

// FuzzCompareText: the order is that of UTF-16.
func FuzzCompareText(f *testing.F) {
	for _, pair := range [][2]string{{"a", "b"}, {"a", "ab"}, {"\uffff", "\U00010000"}, {"\ue000x", "\U0010ffff"}, {"é", "e"}, {"", ""}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := registry.CompareText(a, b); cmp.Compare(got, 0) != cmp.Compare(want, 0) {
			t.Errorf("%q and %q compare as %d, want %d", a, b, got, want)
		}
	})
}
