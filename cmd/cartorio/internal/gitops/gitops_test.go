package gitops_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitops"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// fake is a registry with what a test puts into it; what it has no answer for
// panics, so that nothing is asked unseen.
type fake struct {
	gitops.Registry
	versions map[string][]schemas.Found
	says     map[string]bool // what it answers to a check; true when not said
}

func (f *fake) Version(_ context.Context, s schemas.Subject, v schemas.Version, _ sr.VersionOptions) (schemas.Found, error) {
	list := f.versions[s.String()]
	for _, one := range list {
		if one.Version == v || v == schemas.Latest && one.Version == list[len(list)-1].Version {
			return one, nil
		}
	}
	return schemas.Found{}, fmt.Errorf("%s: %w", s, schemas.ErrSubjectUnknown)
}

func (f *fake) Versions(_ context.Context, s schemas.Subject, _ sr.Deleted, _ sr.Page) ([]schemas.Version, error) {
	var out []schemas.Version
	for _, one := range f.versions[s.String()] {
		out = append(out, one.Version)
	}
	return out, nil
}

func (f *fake) Lookup(context.Context, schemas.Subject, sr.Registration, bool) (schemas.Found, error) {
	return schemas.Found{}, schemas.ErrSchemaUnknown
}

func (f *fake) CheckAll(_ context.Context, s schemas.Subject, _ sr.Registration, _ bool) (sr.Compatibility, error) {
	yes, said := f.says[s.String()]
	if yes || !said {
		return sr.Compatibility{Compatible: true}, nil
	}
	return sr.Compatibility{Messages: []string{"its own reason"}}, nil
}

func (f *fake) Config(context.Context, schemas.Subject, bool) (sr.Config, error) {
	return sr.Config{Level: "BACKWARD"}, nil
}

func (f *fake) Mode(context.Context, schemas.Subject, bool) (string, error) { return "READWRITE", nil }

func (f *fake) put(name, text string, refs ...schemas.Reference) *fake {
	if f.versions == nil {
		f.versions = map[string][]schemas.Found{}
	}
	s := schemas.ParseSubject(name)
	n := schemas.Version(len(f.versions[name]) + 1)
	f.versions[name] = append(f.versions[name], schemas.Found{Subject: s, Version: n, ID: schemas.ID{Number: int32(n)}, Source: schemas.Source{Type: schemas.Avro, Text: text, References: refs}})
	return f
}

func declare(name, text string, refs ...schemas.Reference) gitops.Subject {
	return gitops.Subject{Name: schemas.ParseSubject(name), Versions: []gitops.Declared{{Path: name + ".avsc", Source: schemas.Source{Type: schemas.Avro, Text: text, References: refs}}}}
}

func planOf(t *testing.T, f *fake, list ...gitops.Subject) (*gitops.Plan, error) {
	t.Helper()
	return gitops.Make(t.Context(), f, gitops.Desired{Subjects: list}, gitops.Options{Formats: formats.All, Checkers: checkers.All(), Tool: "test", Label: "http://r"})
}

const (
	one   = `{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}`
	two   = `{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","default":0}]}`
	wrong = `{"type":"record","name":"R","fields":[{"name":"a","type":"string"}]}`
)

// Two engines are asked, either may refuse, and a disagreement is told.
func TestDisagreements(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text     string
		registry bool
		verdict  compat.Verdict
		disagree bool
	}{
		"both accept":      {two, true, compat.Compatible, false},
		"registry refuses": {two, false, compat.Breaking, true},
		"this one refuses": {wrong, true, compat.Breaking, true},
		"both refuse":      {wrong, false, compat.Breaking, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := (&fake{says: map[string]bool{"r": tt.registry}}).put("r", one)
			p, err := planOf(t, f, declare("r", tt.text))
			if err != nil {
				t.Fatal(err)
			}
			v := p.Steps[0].Verdict
			if v.Verdict != tt.verdict || v.Disagree != tt.disagree || tt.disagree != (len(p.Notes) == 1) {
				t.Errorf("%+v, notes %q", v, p.Notes)
			}
			if blocked := p.Blocked() != 0; blocked != (tt.verdict != compat.Compatible) {
				t.Errorf("blocked: %v", blocked)
			}
			// Nothing of a blocked plan is done: the fake would panic.
			if p.Blocked() != 0 && gitops.Apply(t.Context(), p) == nil {
				t.Error("a blocked plan is applied")
			}
		})
	}
}

// References that are listed may form circles which no text shows.
func TestCirclesAndUnknowns(t *testing.T) {
	t.Parallel()
	ref := func(subject string) schemas.Reference {
		return schemas.Reference{Name: "n-" + subject, Subject: subject}
	}
	for name, tt := range map[string]struct {
		list []gitops.Subject
		want string
	}{
		"circle":  {[]gitops.Subject{declare("a", one, ref("b")), declare("b", one, ref("c")), declare("c", one, ref("a"))}, "references form a circle, so that none can be registered first: a (a.avsc) → b (b.avsc) → c (c.avsc) → a (a.avsc)"},
		"itself":  {[]gitops.Subject{declare("a", one, ref("a"))}, "a.avsc: it refers to itself"},
		"nowhere": {[]gitops.Subject{declare("a", one, ref("x"))}, "a.avsc: it refers to x as n-x, which is neither declared nor in the registry"},
		"unnamed": {[]gitops.Subject{declare("a", one, schemas.Reference{Subject: "b"})}, "a.avsc: a reference needs name and subject"},
		"twice":   {[]gitops.Subject{declare("a", one), declare("a", two)}, "subject a is declared twice, as a.avsc and a.avsc"},
		"no text": {[]gitops.Subject{declare("a", "{")}, "a.avsc:1:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := planOf(t, &fake{}, tt.list...)
			var faults gitops.Faults
			if !errors.As(err, &faults) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// A subject that stands for another one has no versions to declare.
func TestAlias(t *testing.T) {
	t.Parallel()
	f := (&fake{}).put("new", one)
	f.versions["old"] = f.versions["new"]
	_, err := planOf(t, f, declare("old", one))
	if err == nil || !strings.Contains(err.Error(), "subject old stands for new in the registry") {
		t.Error(err)
	}
}

// A number in a reference is kept, whether the registry has it or this plan makes it.
func TestPins(t *testing.T) {
	t.Parallel()
	user := `{"type":"record","name":"U","fields":[{"name":"r","type":"R"}]}`
	for name, tt := range map[string]struct {
		f    *fake
		list []gitops.Subject
		want []gitops.Pin
	}{
		"follows what is there":  {(&fake{}).put("r", one), []gitops.Subject{declare("r", one), declare("u", user, schemas.Reference{Name: "R", Subject: "r"})}, []gitops.Pin{{"R", "r", 1, false}}},
		"follows what comes":     {(&fake{}).put("r", one), []gitops.Subject{declare("r", two), declare("u", user, schemas.Reference{Name: "R", Subject: "r"})}, []gitops.Pin{{"R", "r", 2, true}}},
		"stays":                  {(&fake{}).put("r", one), []gitops.Subject{declare("r", two), declare("u", user, schemas.Reference{Name: "R", Subject: "r", Version: 1})}, []gitops.Pin{{"R", "r", 1, false}}},
		"names what comes":       {(&fake{}).put("r", one), []gitops.Subject{declare("u", user, schemas.Reference{Name: "R", Subject: "r", Version: 2}), declare("r", two)}, []gitops.Pin{{"R", "r", 2, true}}},
		"follows what is latest": {(&fake{}).put("r", one).put("r", two), []gitops.Subject{declare("u", user, schemas.Reference{Name: "R", Subject: "r"})}, []gitops.Pin{{"R", "r", 2, false}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := planOf(t, tt.f, tt.list...)
			if err != nil {
				t.Fatal(err)
			}
			last := p.Steps[len(p.Steps)-1]
			if last.Subject != "u" {
				t.Fatalf("the last step is %s of %s", last.Action, last.Subject)
			}
			if d := cmp.Diff(tt.want, last.Pins); d != "" {
				t.Error(d)
			}
		})
	}
}

// What the registry has as metadata is a difference only where something is
// declared.
func TestMetadata(t *testing.T) {
	t.Parallel()
	has := &schemas.Metadata{Properties: map[string]string{"owner": "x", "confluent:version": "1"}, Tags: map[string][]string{"a": {"PII", "X"}}, Sensitive: []string{"owner"}}
	for name, tt := range map[string]struct {
		declared *schemas.Metadata
		steps    int
	}{
		"nothing":     {nil, 0},
		"the same":    {&schemas.Metadata{Properties: map[string]string{"owner": "x"}, Tags: map[string][]string{"a": {"X", "PII", "X"}}, Sensitive: []string{"owner"}}, 0},
		"another":     {&schemas.Metadata{Properties: map[string]string{"owner": "y"}, Tags: has.Tags, Sensitive: has.Sensitive}, 1},
		"none at all": {&schemas.Metadata{}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := (&fake{}).put("r", one)
			f.versions["r"][0].Metadata = has
			s := declare("r", one)
			s.Versions[0].Metadata = tt.declared
			p, err := planOf(t, f, s)
			if err != nil || len(p.Steps) != tt.steps {
				t.Errorf("%d steps, want %d, %v", len(p.Steps), tt.steps, err)
			}
		})
	}
}

func TestScope(t *testing.T) {
	t.Parallel()
	s := schemas.ParseSubject
	for _, tt := range []struct {
		scope gitops.Scope
		name  schemas.Subject
		owns  bool
	}{
		{gitops.Scope{Prefix: "svc1."}, s("svc1.a"), true},
		{gitops.Scope{Prefix: "svc1."}, s("svc10"), false},
		{gitops.Scope{Prefix: "svc1."}, s(":.eu:svc1.a"), false},
		{gitops.Scope{Prefix: "svc1.", Context: ".eu"}, s(":.eu:svc1.a"), true},
		{gitops.Scope{Prefix: "svc1.", Context: ".eu"}, s("svc1.a"), false},
		{gitops.Scope{Prefix: ":.eu:svc1."}, s(":.eu:svc1.a"), true},
		{gitops.Scope{Prefix: ":.eu:svc1."}, s("svc1.a"), false},
		{gitops.Scope{Prefix: ":.eu:"}, s(":.eux:a"), false},
		{gitops.Scope{Pattern: "svc?.*"}, s("svc1.a"), true},
		{gitops.Scope{Pattern: "svc?.*"}, s("svc1.acme/item.proto"), true},
		{gitops.Scope{Pattern: "svc?.*"}, s("xsvc1.a"), false},
		{gitops.Scope{Pattern: "svc?.*"}, s(":.eu:svc1.a"), false},
		{gitops.Scope{Pattern: "["}, s("a"), false},
	} {
		if got := tt.scope.Owns(tt.name); got != tt.owns {
			t.Errorf("%+v owns %s: %v", tt.scope, tt.name, got)
		}
	}
	if (gitops.Scope{Context: ".eu"}).IsSet() || !(gitops.Scope{Pattern: "*"}).IsSet() {
		t.Error("a context alone is no scope, a pattern is one")
	}
}

// A kept plan says what is no longer so.
func TestMoved(t *testing.T) {
	t.Parallel()
	plan := func(f *fake, list ...gitops.Subject) *gitops.Plan {
		p, err := planOf(t, f, list...)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	before := plan((&fake{}).put("r", one), declare("r", two))
	text, err := before.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := gitops.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	other := plan((&fake{}).put("r", one), declare("r", two))
	other.Registry = "http://other"
	newer := plan((&fake{}).put("r", one), declare("r", two))
	newer.Tool = "next"
	for want, now := range map[string]*gitops.Plan{
		"": plan((&fake{}).put("r", one), declare("r", two)),
		"r had version 1 (id 1), and now has 2 (id 2)":       plan((&fake{}).put("r", one).put("r", wrong), declare("r", two)),
		"r had version 1 (id 1), and now has none (id 0)":    plan(&fake{}, declare("r", two)),
		"its step 1, register of r, would be another one":    plan((&fake{}).put("r", one), declare("r", wrong)),
		"it has 1 steps, and there would be 0":               plan((&fake{}).put("r", one), declare("r", one)),
		"it was made for http://r, and this is http://other": other,
		"it was made by cartorio test, and this is next":     newer,
	} {
		got, err := kept.Moved(now)
		if err != nil || got != want {
			t.Errorf("%q, want %q, %v", got, want, err)
		}
	}
	for _, text := range []string{"", "[]", `{"version":2}`, `{"version":1,"x":1}`} {
		if _, err := gitops.Read([]byte(text)); err == nil {
			t.Errorf("%q is taken for a plan", text)
		}
	}
}

// A plan of any size fits into a comment, cut at whole steps.
func TestMarkdownIsBounded(t *testing.T) {
	t.Parallel()
	f := &fake{}
	var list []gitops.Subject
	for i := range 2000 {
		list = append(list, declare(fmt.Sprintf("a|b*%d", i), one))
	}
	p, err := planOf(t, f, list...)
	if err != nil {
		t.Fatal(err)
	}
	const most = 10_000
	text := p.Markdown(slices.Clone[[]string], most)
	if len(text) > most || !strings.Contains(text, "more steps are not shown") || !strings.Contains(text, `a\|b\*0 version 1`) {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| 🟢") && !strings.HasSuffix(line, " |\n") {
			t.Errorf("a step is cut: %s", line)
		}
	}
}
