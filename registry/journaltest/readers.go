package journaltest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// RunReaders proves a registry.ReaderStore. Each call of open gives a new, empty
// one, and whoever opens it closes it.
func RunReaders(t *testing.T, open func(t *testing.T) registry.ReaderStore) {
	at := time.UnixMilli(1_767_225_600_000).UTC()
	a, b := schemas.Subject{Context: schemas.DefaultContext, Name: "a"}, schemas.Subject{Context: ".eu", Name: "a"}
	read := func(s schemas.Subject, consumer string, v schemas.Version, at time.Time) registry.Read {
		r := registry.Read{Subject: s, Consumer: consumer, Environment: "prod é", Accepts: "1..2", Pinned: 2, Version: v, At: at}
		if v == 0 {
			r.Accepted, r.Rejected = 3, 1
		}
		return r
	}
	listed := func(t *testing.T, s registry.ReaderStore, of schemas.Subject, since time.Time) []string {
		t.Helper()
		list, err := s.Reads(t.Context(), of, since)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range list {
			out = append(out, fmt.Sprintf("%s %s %s %s@%d %d %s %d/%d", r.Subject, r.Environment, r.Consumer, r.Accepts, r.Pinned, r.Version, r.At.Sub(at), r.Accepted, r.Rejected))
		}
		slices.Sort(out)
		return out
	}
	add := func(t *testing.T, s registry.ReaderStore, most int, reads ...registry.Read) int {
		t.Helper()
		left, err := s.AddReads(t.Context(), reads, most)
		if err != nil {
			t.Fatal(err)
		}
		return left
	}
	want := func(t *testing.T, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	t.Run("counts add up and moments only rise", func(t *testing.T) {
		s := open(t)
		add(t, s, 100, read(a, "c", 0, at), read(a, "c", 1, at.Add(time.Hour)), read(b, "c", 0, at))
		add(t, s, 100, read(a, "c", 0, at.Add(time.Minute)), read(a, "c", 1, at))
		want(t, listed(t, s, a, at), "a prod é c 1..2@2 0 1m0s 6/2", "a prod é c 1..2@2 1 1h0m0s 0/0")
		want(t, listed(t, s, schemas.Subject{}, at), ":.eu:a prod é c 1..2@2 0 0s 3/1", "a prod é c 1..2@2 0 1m0s 6/2", "a prod é c 1..2@2 1 1h0m0s 0/0")
	})
	t.Run("another declaration is another row", func(t *testing.T) {
		s := open(t)
		pinned, other := read(a, "c", 0, at), read(a, "c", 0, at)
		other.Pinned, other.Accepts = 0, ""
		add(t, s, 100, pinned, other)
		want(t, listed(t, s, a, at), "a prod é c 1..2@2 0 0s 3/1", "a prod é c @0 0 0s 3/1")
	})
	t.Run("a bound holds for what is new", func(t *testing.T) {
		s := open(t)
		if left := add(t, s, 2, read(a, "c", 0, at), read(a, "d", 0, at), read(a, "e", 0, at)); left != 1 {
			t.Errorf("%d were left", left)
		}
		if left := add(t, s, 2, read(a, "d", 0, at), read(a, "f", 0, at)); left != 1 {
			t.Errorf("%d were left", left)
		}
		want(t, listed(t, s, a, at), "a prod é c 1..2@2 0 0s 3/1", "a prod é d 1..2@2 0 0s 6/2")
	})
	t.Run("what is old is neither told nor kept", func(t *testing.T) {
		s := open(t)
		add(t, s, 100, read(a, "old", 0, at), read(a, "new", 0, at.Add(time.Hour)))
		want(t, listed(t, s, a, at.Add(time.Minute)), "a prod é new 1..2@2 0 1h0m0s 3/1")
		if err := s.ForgetReads(t.Context(), at.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		want(t, listed(t, s, a, time.Time{}.Add(time.Hour)), "a prod é new 1..2@2 0 1h0m0s 3/1")
	})
	t.Run("reports at the same time", func(t *testing.T) {
		s := open(t)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := s.AddReads(t.Context(), []registry.Read{read(a, "c", 0, at)}, 100); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		want(t, listed(t, s, a, at), "a prod é c 1..2@2 0 0s 24/8")
	})
}
