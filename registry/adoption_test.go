package registry_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
)

func TestImport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script string }{
		{"ids and numbers come from elsewhere (C93)", `
			mode "" IMPORT => 
			register s "A x" id=7 version=3 => id 7 v3 new
			register s "A x" id=7 version=3 => id 7 v3
			register s "A x" => id 7 v3
			register s "A x" id=7 => id 7 v3
			register s "B" id=9 => id 9 v4 new
			register s "C a b" id=8 version=10 => id 8 v10 new
			register t "A x" id=7 version=1 => id 7 v1 new
			register t "A x" id=20 version=2 => id 20 v2 new
			register s "D" => 42205
			register s "D" id=7 => 42205
			register s "D" id=30 version=3 => 42205
			register s "A x" id=8 version=11 => 42205
			register s "D" id=0 => 42205
			register s "D" id=30 version=-3 => 42201
			register s "" id=30 => 42201
			register s "D broken" id=30 => 42201
			register s "D" id=30 version=-1 => id 30 v11 new
			versions s => [3 4 10 11]
			mode "" READWRITE => 
			register s "E q" => 409
			register u "E" => id 31 v1 new
			register s "B" => id 9 v4
		`},
		{"nothing is judged, normalized or inherited (C23)", `
			config "" normalize=true level=FULL => {level=FULL normalize=true}
			mode "" IMPORT => 
			register s "A strict y x" id=1 metadata=owner => id 1 v1 new
			text s 1 => A strict y x
			register s "A y x" normalize id=2 type=JSON => id 2 v2 new
			text s 2 => A y x
			lookup s "A y x" type=JSON metadata= => 40403
			id 2 => s v2
			register s "Q" id=3 => id 3 v3 new
			lookup s "Q" => id 3 v3
		`},
		{"a text stays as it is, and its canonical form finds it", `
			mode "" IMPORT => 
			register s "A   x" id=5 => id 5 v1 new
			text s 1 => A   x
			register s "A   x" id=5 version=1 => id 5 v1
			register s "A x" id=5 version=1 => id 5 v1
			register v "A x" id=5 version=1 => id 5 v1 new
			text v 1 => A   x
			mode "" READWRITE => 
			register s "A x" => id 5 v1
			lookup s "A x" => id 5 v1
			register t "A x" => id 5 v1 new
			text t 1 => A   x
			register u "A x y" => id 6 v1 new
			delete s => [1]
			delete t => [1]
			delete v => [1]
			delete s permanent => [1]
			delete t permanent => [1]
			delete v permanent => [1]
			register t "A x" => id 7 v2 new
			text t 2 => A x
		`},
		{"deleted numbers come back with the same content only", `
			register s "A" => id 1 v1 new
			register s "A x?" => id 2 v2 new
			delete s 2 => 2
			mode s IMPORT force => 
			register s "B" id=9 version=2 => 42205
			register s "A x?" id=9 version=2 => 42205
			register s "A x?" id=2 version=2 => id 2 v2 new
			versions s => [1 2]
			delete s 2 => 2
			delete s 2 permanent => 2
			register s "B" id=9 version=2 => 42205
			register s "A x?" id=2 version=2 => id 2 v2 new
			register s "C" id=9 version=5 => id 9 v5 new
			register s "D" id=10 version=4 => id 10 v4 new
			versions s => [1 2 4 5]
		`},
		{"deleting does not hide what was imported before", `
			mode s IMPORT => 
			register s "A" id=1 version=1 => id 1 v1 new
			delete s 1 => 1
			register s "A" id=1 version=2 => id 1 v2 new
			versions s deleted => [1 2]
		`},
		{"references to what is soft-deleted", `
			register common "C a" => id 1 v1 new
			delete common 1 => 1
			mode s IMPORT => 
			register s "S" ref=C:common:1 id=5 => id 5 v1 new
			register s "S" ref=C:nobody:1 id=6 => 42201
			mode common IMPORT => 42206
			mode common IMPORT force => 
			delete common 1 permanent => 42206
		`},
		{"entering wants an empty scope (C55)", `
			register s "A" => id 1 v1 new
			register :.emea:t "A" => id 1 v1 new
			mode s IMPORT => 42205
			mode "" IMPORT => 42205
			mode :.__GLOBAL: IMPORT => 42205
			mode :.emea: IMPORT => 42205
			mode u IMPORT => 
			clearMode u => IMPORT
			config s level=FULL => {level=FULL}
			delete s => [1]
			versions s deleted => [1]
			mode s IMPORT => 
			versions s deleted => 40401
			configOf s => {} false
			modeOf s => IMPORT true
			clearMode s => IMPORT
			mode "" IMPORT => 42205
			delete :.emea:t => [1]
			mode "" IMPORT => 
			subjects deleted => []
			mode :.emea: IMPORT => 
			register :.emea:t "B" id=3 => id 3 v2 new
			mode :.emea: IMPORT => 
		`},
		{"those that go together do not hold each other", `
			register a "C a" => id 1 v1 new
			register b "S" ref=C:a:1 => id 2 v1 new
			delete b => [1]
			delete a => [1]
			mode a IMPORT => 42206
			mode "" IMPORT => 
			subjects deleted => []
		`},
		{"FORWARD takes ids like IMPORT (C54)", `
			register s "A" => id 1 v1 new
			mode :.__GLOBAL: FORWARD => 
			register s "A" => id 1 v1
			register s "B" => 42205
			register s "B" id=4 => id 4 v2 new
			delete s 2 => 2
			config s level=FULL => {level=FULL}
			mode :.__GLOBAL: READWRITE => 
			register s "A z?" id=5 => 42205
			register s "A z?" => id 5 v3 new
		`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, open(t), c.script)
		})
	}
}

// What imports leave behind survives a restart, from the journal and from a
// snapshot alike.
func TestImportedStateIsReplayed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.db")
	again := func() *registry.Registry {
		j, err := sqlite.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := registry.Open(t.Context(), j, registry.Options{Formats: fakeFormats, Checkers: fakeCheckers})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := again()
	play(t, r, `
		mode "" IMPORT => 
		register s "A   x" id=5 version=2 => id 5 v2 new
		register s "B" id=6 version=3 => id 6 v3 new
		register s "C" id=7 version=4 => id 7 v4 new
		delete s 3 => 3
		delete s 3 permanent => 3
		delete s 4 => 4
		register s "C" id=7 version=4 => id 7 v4 new
	`)
	want := registry.StateOf(r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = again()
	if got := registry.StateOf(r); !bytes.Equal(got, want) {
		t.Error("the journal replays to another state")
	}
	state, err := registry.DecodeState(want, func(h registry.Hash) (string, bool) {
		for _, text := range []string{"A   x", "B", "C"} {
			if registry.HashOf(text) == h {
				return text, true
			}
		}
		return "", false
	})
	if err != nil || !bytes.Equal(state.Encode(), want) {
		t.Errorf("the snapshot decodes to another state: %v", err)
	}
	play(t, r, `
		register s "D" id=9 version=3 => 42205
		register s "B" id=9 version=3 => id 9 v3 new
		mode "" READWRITE => 
		register t "A x" => id 5 v1 new
		text t 1 => A   x
	`)
	if got, _ := r.Version(t.Context(), schemas.Subject{Name: "t"}, 1, false); got.GUID != schemas.GUIDOf("A   x", nil, nil, nil) {
		t.Errorf("the GUID is not of the text that is stored: %s", got.GUID)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}
