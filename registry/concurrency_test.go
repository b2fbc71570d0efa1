package registry_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
)

func source(text string) schemas.Source { return schemas.Source{Type: schemas.Avro, Text: text} }

func inSubject(name, text string) registry.Registration {
	return registry.Registration{Subject: schemas.Subject{Context: schemas.DefaultContext, Name: name}, Source: source(text)}
}

// together runs n clients at once.
func together(n int, client func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() { <-start; client(i) })
	}
	close(start)
	all.Wait()
}

// consistent looks at everything a registry lists: numbers from 1 without a
// gap, one schema for each id and one id for each schema.
func consistent(t *testing.T, r *registry.Registry, versions int) {
	t.Helper()
	list := []registry.Stored{}
	for {
		page, err := r.List(t.Context(), schemas.Subject{Context: schemas.AnyContext}, registry.WithDeleted, false, "", registry.Page{Offset: len(list)})
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		list = append(list, page...)
	}
	if len(list) != versions {
		t.Errorf("%d versions are listed, want %d", len(list), versions)
	}
	ids, guids := map[schemas.ID]schemas.GUID{}, map[schemas.GUID]schemas.ID{}
	next := map[schemas.Subject]schemas.Version{}
	for _, s := range list {
		if next[s.Subject]++; s.Version != next[s.Subject] {
			t.Errorf("subject %s lists version %d, want %d", s.Subject, s.Version, next[s.Subject])
		}
		if g, ok := ids[s.ID]; ok && g != s.GUID {
			t.Errorf("id %s is two schemas", s.ID)
		}
		if id, ok := guids[s.GUID]; ok && id != s.ID {
			t.Errorf("one schema has ids %s and %s", id, s.ID)
		}
		ids[s.ID], guids[s.GUID] = s.GUID, s.ID
	}
	for n := int32(1); n <= int32(len(ids)); n++ {
		if _, ok := ids[schemas.ID{Context: schemas.DefaultContext, Number: n}]; !ok {
			t.Errorf("id %d was left out of %d", n, len(ids))
		}
	}
}

func TestConcurrentClients(t *testing.T) {
	t.Parallel()
	const clients, each = 24, 10
	for _, c := range []struct {
		name     string
		of       func(client, n int) registry.Registration
		versions int
	}{
		{"one schema, one subject", func(_, _ int) registry.Registration { return inSubject("s", "A x") }, 1},
		{"one schema, many subjects", func(c, n int) registry.Registration { return inSubject(fmt.Sprint("s", c, "-", n), "A x") }, clients * each},
		{"many schemas, one subject", func(c, n int) registry.Registration { return inSubject("s", fmt.Sprintf("A f%d_%d?", c, n)) }, clients * each},
		{"many schemas, many subjects", func(c, n int) registry.Registration {
			return inSubject(fmt.Sprint("s", c), fmt.Sprintf("A f%d_%d?", c, n))
		}, clients * each},
		{"the same schemas in the same subjects", func(_, n int) registry.Registration {
			return inSubject(fmt.Sprint("s", n%3), fmt.Sprintf("A f%d?", n))
		}, each},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := open(t)
			together(clients, func(i int) {
				for n := range each {
					got, err := r.Register(t.Context(), c.of(i, n))
					if err != nil {
						t.Errorf("client %d: %v", i, err)
						return
					}
					// What was answered is there at once, under the same names.
					found, err := r.Version(t.Context(), got.Subject, got.Version, false)
					if err != nil || found.ID != got.ID || found.GUID != got.GUID {
						t.Errorf("%s version %d was answered as id %s and is found as %s, %v", got.Subject, got.Version, got.ID, found.ID, err)
					}
				}
			})
			consistent(t, r, c.versions)
		})
	}
}

// Levels hold under concurrency: of many versions that each may follow the
// first and none of the others, one is registered.
func TestConcurrentClientsAreCompared(t *testing.T) {
	t.Parallel()
	r := open(t)
	play(t, r, `
		config s level=FULL_TRANSITIVE => {level=FULL_TRANSITIVE}
		register s "A a? b c d e f g h" => id 1 v1 new
	`)
	var mu sync.Mutex
	accepted := 0
	together(16, func(i int) {
		_, err := r.Register(t.Context(), inSubject("s", fmt.Sprintf("A a? b c d e f g h x%d", i)))
		var e *registry.Error
		if err != nil && (!errors.As(err, &e) || e.Code != registry.CodeIncompatible) {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			accepted++
		}
	})
	if accepted != 0 {
		t.Errorf("%d versions broke the level", accepted)
	}
	together(16, func(i int) {
		_, err := r.Register(t.Context(), inSubject("t", fmt.Sprintf("A x%d", i)))
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			accepted++
		}
	})
	if accepted != 1 {
		t.Errorf("%d versions were accepted of 16 that break each other, want 1", accepted)
	}
}

// References and deletions at once: nothing that is registered may point to
// something that is gone.
func TestConcurrentReferencesAndDeletions(t *testing.T) {
	t.Parallel()
	r := open(t)
	together(16, func(i int) {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		for range 200 {
			target := fmt.Sprint("common", random.IntN(3))
			var command string
			switch random.IntN(6) {
			case 0, 1:
				command = fmt.Sprintf(`register %s "C a" `, target)
			case 2:
				command = fmt.Sprintf(`register s%d "S" ref=C:%s:-1`, random.IntN(3), target)
			case 3:
				command = fmt.Sprintf(`delete s%d`, random.IntN(3))
			case 4:
				command = fmt.Sprintf(`delete %s`, target)
			case 5:
				command = fmt.Sprintf(`delete %s permanent`, target)
			}
			switch got := do(t.Context(), r, command); got {
			case "500", "50001", "409":
				t.Errorf("%s: %s", command, got)
			}
		}
	})
	list, err := r.List(t.Context(), schemas.Subject{Context: schemas.AnyContext}, registry.WithDeleted, false, "", registry.Page{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		for _, ref := range s.Source.References {
			found, err := r.Version(t.Context(), ref.Target(schemas.DefaultContext), ref.Version, true)
			if err != nil {
				t.Errorf("%s version %d refers to %s version %d: %v", s.Subject, s.Version, ref.Subject, ref.Version, err)
			}
			if !s.Deleted && found.Deleted {
				t.Errorf("live %s version %d refers to the soft-deleted %s version %d", s.Subject, s.Version, ref.Subject, ref.Version)
			}
		}
	}
}

// A client that goes away leaves nothing half done, and Close waits for what it
// had accepted.
func TestCancelledClientsAndClose(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/c.db"
	open := func() *registry.Registry {
		j, err := sqlite.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := registry.Open(t.Context(), j, registry.Options{Formats: fakeFormats, Checkers: fakeCheckers})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := open()
	var mu sync.Mutex
	acknowledged := map[string]registry.Stored{}
	var clients sync.WaitGroup
	began := make(chan struct{}, 1000)
	for i := range 16 {
		clients.Go(func() {
			for n := 0; ; n++ {
				ctx, cancel := context.WithCancel(context.Background())
				if n%3 == 0 {
					go cancel()
				}
				name := fmt.Sprint("s", i)
				got, err := r.Register(ctx, inSubject(name, fmt.Sprintf("A f%d?", n)))
				cancel()
				var e *registry.Error
				switch {
				case errors.As(err, &e) && e.Code == registry.CodeStore:
					return // closed
				case err == nil:
					mu.Lock()
					acknowledged[fmt.Sprint(name, "/", n)] = got
					mu.Unlock()
				case !errors.Is(err, context.Canceled):
					t.Error(err)
					return
				}
				select {
				case began <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 200 {
		<-began
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	clients.Wait()
	if err := r.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	r = open()
	defer r.Close()
	for name, want := range acknowledged {
		got, err := r.Version(t.Context(), want.Subject, want.Version, false)
		if err != nil || got.ID != want.ID || got.Source.Text != want.Source.Text {
			t.Errorf("%s was answered as %+v and is now %+v, %v", name, want.Found, got.Found, err)
		}
	}
}
