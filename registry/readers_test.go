package registry_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
)

// A consumer is known for thirty days after its last report, and a version for
// thirty days after its last message.
func TestReadersExpire(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_767_225_600_000).UTC()
	j, err := sqlite.Open(sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	r := openOn(t, j, func(o *registry.Options) { o.Now = func() time.Time { return now } })
	s := schemas.ParseSubject("s")
	for _, fields := range []string{"", `{"name":"a","type":"int","default":0}`} {
		source := schemas.Source{Type: schemas.Avro, Text: `{"type":"record","name":"A","fields":[` + fields + `]}`}
		if _, err := r.Register(t.Context(), registry.Registration{Subject: s, Source: source}); err != nil {
			t.Fatal(err)
		}
	}
	tell := func(consumer string, versions ...schemas.Version) {
		t.Helper()
		_, passed, err := r.ReportReadership(t.Context(), schemas.Readership{Consumer: consumer, Reads: []schemas.SubjectRead{{Subject: s, Versions: versions, Seen: now.Add(time.Hour), Accepted: 1}}})
		if err != nil || passed != 0 {
			t.Fatal(passed, err)
		}
	}
	got := func() string {
		t.Helper()
		list, err := r.ReadersOf(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, one := range list {
			var uses []string
			for _, u := range one.Uses {
				if u.Seen.After(now) {
					t.Errorf("%s was seen in the future, at %s", one.Consumer, u.Seen)
				}
				uses = append(uses, u.Version.String())
			}
			out = append(out, fmt.Sprintf("%s:%s", one.Consumer, strings.Join(uses, ",")))
		}
		return strings.Join(out, " ")
	}
	tell("a", 1)
	tell("b", 1)
	now = now.Add(20 * 24 * time.Hour)
	tell("a", 2)
	if g := got(); g != "a:1,2 b:1" {
		t.Error(g)
	}
	now = now.Add(11 * 24 * time.Hour)
	tell("c")
	if g := got(); g != "a:2 c:" {
		t.Error(g)
	}
	rows, err := j.Reads(t.Context(), s, time.Unix(0, 0))
	if err != nil || len(rows) != 3 {
		t.Errorf("%d rows are kept, %v", len(rows), err)
	}
}

// A later declaration ends the former an hour after it was last told, and only
// for the same consumer, environment and subject.
func TestLaterDeclarationEndsFormer(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_767_225_600_000).UTC()
	j, err := sqlite.Open(sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	r := openOn(t, j, func(o *registry.Options) { o.Now = func() time.Time { return now } })
	for _, name := range []string{"s", "t"} {
		if _, err := r.Register(t.Context(), registry.Registration{Subject: schemas.ParseSubject(name), Source: schemas.Source{Type: schemas.Avro, Text: `"int"`}}); err != nil {
			t.Fatal(err)
		}
	}
	type declared struct {
		subject, accepts string
		pinned           schemas.Version
	}
	tell := func(consumer, environment string, list ...declared) {
		t.Helper()
		told := schemas.Readership{Consumer: consumer, Environment: environment}
		for _, d := range list {
			told.Reads = append(told.Reads, schemas.SubjectRead{Subject: schemas.ParseSubject(d.subject), Accepts: d.accepts, Pinned: d.pinned, Versions: []schemas.Version{1}})
		}
		if _, passed, err := r.ReportReadership(t.Context(), told); err != nil || passed != 0 {
			t.Fatal(passed, err)
		}
	}
	want := func(want string) {
		t.Helper()
		list, err := r.Readers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, one := range list {
			out = append(out, fmt.Sprintf("%s/%s/%s:%s@%d", one.Subject.Name, one.Environment, one.Consumer, one.Accepts, one.Pinned))
		}
		if got := strings.Join(out, " "); got != want {
			t.Errorf("at %s\ngot  %s\nwant %s", now, got, want)
		}
	}
	tell("c", "p", declared{"s", "1", 0}, declared{"t", "1", 0})
	tell("c", "q", declared{"s", "1", 0})
	tell("d", "p", declared{"s", "1", 0})
	now = now.Add(time.Minute)
	tell("c", "p", declared{"s", "1..", 0})
	const others = "s/q/c:1@0 t/p/c:1@0"
	now = now.Add(registry.ReadersOverlap - time.Minute - time.Millisecond)
	want("s/p/c:1@0 s/p/c:1..@0 s/p/d:1@0 " + others)
	now = now.Add(time.Millisecond)
	want("s/p/c:1..@0 s/p/d:1@0 " + others)

	// Another pin is another declaration; what one report tells stands together.
	tell("c", "p", declared{"s", "1..", 1}, declared{"s", "1", 1})
	now = now.Add(24 * time.Hour)
	want("s/p/c:1@1 s/p/c:1..@1 s/p/d:1@0 " + others)

	// Builds that both go on telling both count, and one that is rolled back to
	// counts again.
	for range 5 {
		tell("c", "p", declared{"s", "1", 1})
		now = now.Add(30 * time.Minute)
		tell("c", "p", declared{"s", "1", 0})
		now = now.Add(29 * time.Minute)
	}
	want("s/p/c:1@0 s/p/c:1@1 s/p/d:1@0 " + others)
}

// A range that nothing could judge a version by is refused with what is wrong.
func TestUnreadableRanges(t *testing.T) {
	t.Parallel()
	r := open(t)
	report := func(accepts string) error {
		_, _, err := r.ReportReadership(t.Context(), schemas.Readership{Consumer: "c", Reads: []schemas.SubjectRead{{Subject: schemas.ParseSubject("s"), Accepts: accepts}}})
		return err
	}
	for accepts, want := range map[string]string{
		"5..1": "ends before it begins", "abc": `"abc" is no version`, "0": `"0" is no version`, "-1": "is no version", "1..3,x": `"x" is no version`,
		"99999999999": "is no version", " 1": "is no version", "1\x1b": "is no version", "\xff": "is no version", "Any": "is no version", "compatible with": "is no version",
		"compatible with x": "is no version", "compatible with 1..": "names no single version", "compatible with 1,2": "names no single version", "compatible with 0": "is no version",
	} {
		var e *registry.Error
		if err := report(accepts); !errors.As(err, &e) || e.Code != registry.CodeReaderInvalid || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "reads/0: accepts") {
			t.Errorf("%q: %v", accepts, err)
		}
	}
	for _, accepts := range []string{"", "any", "3", "1..3", "2..", "1,3..4", "compatible with 3"} {
		if err := report(accepts); err != nil {
			t.Errorf("%q: %v", accepts, err)
		}
	}
}

// What no report may say is refused whole.
func TestReadershipBounds(t *testing.T) {
	t.Parallel()
	r := open(t)
	many := make([]schemas.Version, registry.MostReads)
	for i := range many {
		many[i] = schemas.Version(i + 1)
	}
	s := schemas.ParseSubject("s")
	for name, told := range map[string]schemas.Readership{
		"no name":            {Consumer: " "},
		"a long name":        {Consumer: strings.Repeat("x", 256)},
		"a long environment": {Consumer: "c", Environment: strings.Repeat("x", 256)},
		"bytes":              {Consumer: "\xff"},
		"no subject":         {Consumer: "c", Reads: []schemas.SubjectRead{{}}},
		"a long range":       {Consumer: "c", Reads: []schemas.SubjectRead{{Subject: s, Accepts: strings.Repeat("1,", 200)}}},
		"a negative pin":     {Consumer: "c", Reads: []schemas.SubjectRead{{Subject: s, Pinned: -1}}},
		"too many":           {Consumer: "c", Reads: []schemas.SubjectRead{{Subject: s, Versions: many}}},
	} {
		var e *registry.Error
		if _, _, err := r.ReportReadership(t.Context(), told); !errors.As(err, &e) || e.Code != registry.CodeReaderInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	kept, passed, err := r.ReportReadership(t.Context(), schemas.Readership{Consumer: "c", Reads: []schemas.SubjectRead{{Subject: s}}})
	if kept != 0 || passed != 1 || err != nil {
		t.Errorf("an unknown subject: kept %d, passed %d, %v", kept, passed, err)
	}
	if list, err := r.Readers(t.Context()); err != nil || len(list) > 0 {
		t.Error(list, err)
	}
}
