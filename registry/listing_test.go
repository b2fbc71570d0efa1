package registry_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
)

func TestLists(t *testing.T) {
	t.Parallel()
	r := open(t)
	play(t, r, `
		register b "A" => id 1 v1 new
		register b "A x?" => id 2 v2 new
		register b "A x? y?" => id 3 v3 new
		register a "A" => id 1 v1 new
		register B "A" => id 1 v1 new
		register abc "A" => id 1 v1 new
		register é "A" => id 1 v1 new
		register 💾 "A" => id 1 v1 new
		register `+"\uffee"+` "A" => id 1 v1 new
		delete b 3 => 3
		delete abc => [1]

		subjects => [B a b é 💾 `+"\uffee"+`]
		subjects deleted => [B a abc b é 💾 `+"\uffee"+`]
		subjects deletedOnly => [abc]
		subjects a deleted => [a abc]
		subjects ":*:a" deleted => [a abc]
		subjects ":.:a" deleted => [a abc]
		subjects ":.emea:" => []
		subjects offset=1 limit=2 => [a b]
		subjects offset=-5 limit=1 => [B]
		subjects offset=99 => []
		subjects limit=0 offset=5 => [`+"\uffee"+`]
		subjects limit=-1 offset=5 => [`+"\uffee"+`]

		list b => [b/1 b/2]
		list b deleted => [b/1 b/2 b/3]
		list b deletedOnly => [b/3]
		list b latestOnly => [b/2]
		list b latestOnly deleted => [b/3]
		list limit=2 => [B/1 a/1]
		list offset=2 limit=2 => [b/1 b/2]

		versions b offset=1 => [2]
		versions b limit=1 => [1]
		versions a deletedOnly => []
		versions abc => 40401
		versions abc deletedOnly => [1]
		versions nobody deleted => 40401
		subjectsOf 1 offset=1 limit=2 => [a b]
		versionsOf 1 limit=1 => [B/1]
		subjectsOf 3 => []
		subjectsOf 3 deleted => [b]
		subjectsOf 9 => 40403
		versionsOf 9 => 40403
		id 1 => B v1
		id 1 abc => abc v1
		id 1 nobody => B v1
		id 1 ":.:" => B v1
		id 1 :.emea: => 40403
		id 1 :.emea:a => 40403
		id 0 => 40403
		id -1 => 40403
	`)
}

func TestListsOfSchemasAreBounded(t *testing.T) {
	t.Parallel()
	r := open(t)
	together(64, func(i int) {
		for n := i; n < 1005; n += 64 {
			if _, err := r.Register(t.Context(), inSubject(fmt.Sprintf("s%04d", n), "A")); err != nil {
				t.Error(err)
			}
		}
	})
	for page, want := range map[registry.Page]int{{}: 1000, {Limit: 5000}: 1000, {Limit: 7}: 7, {Offset: 1000}: 5, {Offset: 2000}: 0} {
		list, err := r.List(t.Context(), schemas.Subject{}, registry.LiveOnly, false, "", page)
		if err != nil || len(list) != want {
			t.Errorf("%+v lists %d, %v, want %d", page, len(list), err, want)
		}
	}
	all, err := r.Subjects(t.Context(), schemas.Subject{Context: schemas.AnyContext}, registry.LiveOnly, registry.Page{})
	if err != nil || len(all) != 1005 {
		t.Errorf("%d subjects are listed, %v, want all 1005", len(all), err)
	}
}

// Ids, numbers and the installation outlive a restart, also those that nothing
// has any more.
func TestMarksOutliveARestart(t *testing.T) {
	t.Parallel()
	for _, snapshot := range []int{-1, 1} {
		path := t.TempDir() + "/c.db"
		again := func(script string) (installation string) {
			j, err := sqlite.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := registry.Open(t.Context(), j, registry.Options{Formats: fakeFormats, Checkers: fakeCheckers, Snapshot: snapshot})
			if err != nil {
				t.Fatal(err)
			}
			play(t, r, script)
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if got := do(t.Context(), r, `register s "Z"`); got != "50001" {
				t.Errorf("a closed registry registers: %s", got)
			}
			return r.Installation()
		}
		first := again(`
			register s "A" => id 1 v1 new
			register s "A x?" => id 2 v2 new
			delete s => [1 2]
			delete s permanent => [1 2]
		`)
		second := again(`
			subjects deleted => []
			register s "A" => id 3 v3 new
			delete s => [3]
			register s "A" => id 3 v4 new
		`)
		third := again(`
			versions s deleted => [4]
			get s 3 deleted => id 3 v3 deleted
			register s "A x?" => id 4 v5 new
		`)
		if first == "" || first != second || second != third {
			t.Errorf("installations are %q, %q and %q", first, second, third)
		}
	}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	r := open(t, func(o *registry.Options) { o.Formats = append(slices.Clone(fakeFormats), fakeFormat("THRIFT")) })
	if got, want := r.Types(), []schemas.Type{schemas.JSON, schemas.Protobuf, schemas.Avro, "THRIFT"}; !slices.Equal(got, want) {
		t.Errorf("types are %v, want %v", got, want)
	}
	// A format that the wire does not know yet needs nothing more here.
	play(t, r, `
		register s "A x" type=THRIFT => id 1 v1 new
		register s "A y" type=THRIFT => 409
		config s level=NONE => {level=NONE}
		register s "A y" type=THRIFT => id 2 v2 new
	`)
	if got := r.MaxID(""); got != 2 {
		t.Errorf("the highest id is %d, want 2", got)
	}
	if got := r.MaxID(".nowhere"); got != 0 {
		t.Errorf("the highest id of no context is %d", got)
	}
}
