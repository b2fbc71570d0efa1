package registry_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

func heldVersion(subject string, number schemas.Version, id int32, text string) registry.Held {
	s := schemas.ParseSubject(subject)
	return registry.Held{Found: schemas.Found{
		Subject: s, Version: number, ID: schemas.ID{Context: s.Context, Number: id}, Source: schemas.Source{Type: schemas.Avro, Text: text},
		Time: time.UnixMilli(1_600_000_000_123).UTC(),
	}}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	hidden := heldVersion("s", 1, 4, "A  x")
	hidden.Deleted, hidden.HiddenBy = true, 3
	soft := heldVersion("s", 2, 5, "B")
	soft.Deleted = true
	level := registry.Config{Group: "major"}
	guid := schemas.GUID{1, 2, 3}
	h := registry.Holdings{
		Contexts: []registry.HeldContext{{Name: ".", Listed: true, High: 40}, {Name: ".empty", Listed: true, High: 3}},
		Subjects: []registry.HeldSubject{
			{Subject: schemas.ParseSubject(":.empty:old"), High: 2, Gone: []registry.Gone{{Version: 2, GUID: guid, Type: schemas.JSON}}},
			{Subject: schemas.ParseSubject("s"), High: 7},
		},
		Versions: []registry.Held{hidden, soft, heldVersion("s", 3, 4, "A  x")},
		Settings: []registry.Setting{{Scope: schemas.ParseSubject("s"), Config: &level, Mode: registry.ReadOnly}, {Scope: schemas.Subject{Context: schemas.GlobalContext}, Mode: registry.ReadWrite}},
	}
	r := open(t)
	if refused, err := r.Restore(t.Context(), h, registry.RestoreOptions{Actor: "mover"}); err != nil || len(refused) > 0 {
		t.Fatalf("%v, %v", refused, err)
	}
	got := r.Holdings()
	for i := range got.Versions {
		got.Versions[i].GUID = schemas.GUID{}
	}
	h.Settings = []registry.Setting{h.Settings[1], h.Settings[0]} // by qualified text
	if diff := cmp.Diff(h, got, cmp.AllowUnexported()); diff != "" {
		t.Errorf("-put +held:\n%s", diff)
	}
	play(t, r, `
		versions s deleted => [2 3]
		mode s READWRITE =>
		register s "A x" => id 4 v3
		register s "C" => id 41 v8 new
		register :.empty:old "A" => id 4 v3 new
		mode :.empty: IMPORT force =>
		register :.empty:old "A x" id=9 version=2 => 42205
	`)
	if _, err := r.Restore(t.Context(), h, registry.RestoreOptions{}); codeOf(err) != registry.CodeNotPermitted {
		t.Errorf("over what is there: %v", err)
	}
}

func codeOf(err error) registry.Code {
	var told *registry.Error
	if errors.As(err, &told) {
		return told.Code
	}
	return 0
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	refers := heldVersion("r", 1, 9, "R")
	refers.Source.References = []schemas.Reference{{Name: "n", Subject: "s", Version: 2}}
	odd := heldVersion("o", 1, 10, "A")
	odd.Source.Type = "THRIFT"
	for _, c := range []struct {
		name string
		bad  registry.Held
		says string
	}{
		{"a text that does not parse", heldVersion("b", 1, 2, "B broken"), "schema is invalid"},
		{"an id of two schemas", heldVersion("b", 1, 1, "B"), "stands for another schema"},
		{"a number twice", heldVersion("s", 1, 2, "B"), "it comes twice"},
		{"no number", heldVersion("b", 0, 2, "B"), "start at 1"},
		{"no id", heldVersion("b", 1, -2, "B"), "start at 1"},
		{"a reference that does not come along", refers, "it does not come along"},
		{"an unknown type", odd, "THRIFT"},
		{"a subject that none can have", heldVersion("a\tb", 1, 2, "B"), "control character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := open(t)
			h := registry.Holdings{Versions: []registry.Held{heldVersion("s", 1, 1, "A"), c.bad}}
			refused, err := r.Restore(t.Context(), h, registry.RestoreOptions{})
			if codeOf(err) != registry.CodeSchemaInvalid || len(refused) != 1 || !strings.Contains(refused[0].Error(), c.says) {
				t.Fatalf("%v, refused %v; want it to say %q", err, refused, c.says)
			}
			if n := len(r.Holdings().Versions); n != 0 {
				t.Errorf("%d versions were written", n)
			}
			if refused, err := r.Restore(t.Context(), h, registry.RestoreOptions{SkipRefused: true}); err != nil || len(refused) != 1 {
				t.Errorf("the rest: %v, %v", refused, err)
			}
			if n := len(r.Holdings().Versions); n != 1 {
				t.Errorf("%d versions were written of the rest, want 1", n)
			}
		})
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	r := open(t)
	play(t, r, `
		register s "A" => id 1 v1 new
		delete s => [1]
		register s "A" => id 1 v2 new
	`)
	want := registry.Marks{
		Contexts: []registry.HeldContext{{Name: ".", Listed: true, High: 1}},
		Subjects: []registry.MarkedSubject{{HeldSubject: registry.HeldSubject{Subject: schemas.ParseSubject("s"), High: 2}, Hidden: []registry.Hidden{{Version: 1, By: 2}}}},
	}
	if diff := cmp.Diff(want, r.Marks()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	other := open(t)
	play(t, other, `
		mode "" IMPORT force =>
		register s "A" id=1 version=1 => id 1 v1 new
		delete s => [1]
		register s "A" id=1 version=2 => id 1 v2 new
	`)
	if err := other.SetMarks(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if err := other.SetMarks(t.Context(), want); err != nil {
		t.Errorf("again: %v", err)
	}
	if diff := cmp.Diff(want.Subjects, other.Marks().Subjects); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	mark := func(change func(*registry.MarkedSubject)) registry.Marks {
		u := registry.MarkedSubject{HeldSubject: registry.HeldSubject{Subject: schemas.ParseSubject("s")}}
		change(&u)
		return registry.Marks{Subjects: []registry.MarkedSubject{u}}
	}
	for _, c := range []struct {
		name string
		set  registry.Marks
	}{
		{"gone and there", mark(func(u *registry.MarkedSubject) { u.Gone = []registry.Gone{{Version: 2, Type: schemas.Avro}} })},
		{"gone without a number", mark(func(u *registry.MarkedSubject) { u.Gone = []registry.Gone{{Type: schemas.Avro}} })},
		{"gone without a type", mark(func(u *registry.MarkedSubject) { u.Gone = []registry.Gone{{Version: 5}} })},
		{"hidden and live", mark(func(u *registry.MarkedSubject) { u.Hidden = []registry.Hidden{{Version: 2, By: 3}} })},
		{"hidden by itself", mark(func(u *registry.MarkedSubject) { u.Hidden = []registry.Hidden{{Version: 1, By: 1}} })},
		{"hidden twice", mark(func(u *registry.MarkedSubject) {
			u.Hidden = []registry.Hidden{{Version: 1, By: 2}, {Version: 1, By: 2}}
		})},
	} {
		if err := other.SetMarks(t.Context(), c.set); codeOf(err) != registry.CodeNotPermitted {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	play(t, other, `mode "" READWRITE =>`)
	if err := other.SetMarks(t.Context(), mark(func(u *registry.MarkedSubject) { u.High = math.MaxInt32 })); codeOf(err) != registry.CodeNotPermitted {
		t.Errorf("outside IMPORT: %v", err)
	}
}
