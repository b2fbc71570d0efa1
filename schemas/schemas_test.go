package schemas_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
)

func TestSubjectText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text    string
		want    schemas.Subject
		printed string
	}{
		{"orders-value", schemas.Subject{Context: ".", Name: "orders-value"}, "orders-value"},
		{":.:orders-value", schemas.Subject{Context: ".", Name: "orders-value"}, "orders-value"},
		{":.emea:orders-value", schemas.Subject{Context: ".emea", Name: "orders-value"}, ":.emea:orders-value"},
		{":.emea:", schemas.Subject{Context: ".emea"}, ":.emea:"},
		{":.emea", schemas.Subject{Context: ".emea"}, ":.emea:"},
		{":.emea:a:b", schemas.Subject{Context: ".emea", Name: "a:b"}, ":.emea:a:b"},
		{":*:pre", schemas.Subject{Context: "*", Name: "pre"}, ":*:pre"},
		{":.__GLOBAL:", schemas.Subject{Context: ".__GLOBAL"}, ":.__GLOBAL:"},
		{"a:b", schemas.Subject{Context: ".", Name: "a:b"}, "a:b"},
		{"", schemas.Subject{Context: "."}, ""},
	} {
		got := schemas.ParseSubject(tt.text)
		if got != tt.want {
			t.Errorf("ParseSubject(%q) = %+v, want %+v", tt.text, got, tt.want)
		}
		if got.String() != tt.printed {
			t.Errorf("ParseSubject(%q).String() = %q, want %q", tt.text, got, tt.printed)
		}
		if again := schemas.ParseSubject(got.String()); again != got {
			t.Errorf("%q does not survive a round trip: %+v", tt.text, again)
		}
	}
}

func FuzzSubjectName(f *testing.F) {
	for _, s := range []string{"", "a", ":", ":.", ":.:", ":.c:s", ":*:", ":.c", "a:b", ":.c::x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := schemas.ParseSubject(text)
		if strings.HasPrefix(s.Name, ":.") || strings.HasPrefix(s.Name, ":*:") {
			return // a name that looks qualified cannot be written bare; the registry refuses it
		}
		if again := schemas.ParseSubject(s.String()); again != s {
			t.Errorf("%q reads as %+v, printed and read again %+v", text, s, again)
		}
	})
}

func TestContextText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]schemas.Context{"": ".", ".": ".", ":.:": ".", "c": ".c", ".c": ".c", ":.c:": ".c", ":.c": ".c"} {
		got, err := schemas.ParseContext(text)
		if err != nil || got != want {
			t.Errorf("ParseContext(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
	if got, err := schemas.ParseContext("a:b"); err == nil {
		t.Errorf("ParseContext(a:b) = %q, want an error", got)
	}
}

func TestReferenceTarget(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]string{"s": ":.c:s", ":.:s": "s", ":.d:s": ":.d:s"} {
		if got := (schemas.Reference{Subject: subject}).Target(".c").String(); got != want {
			t.Errorf("%q seen from .c is %q, want %q", subject, got, want)
		}
	}
}

func TestVersionText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]schemas.Version{"1": 1, "2147483647": 2147483647, "latest": -1, "LATEST": -1, "-1": -1} {
		if got, err := schemas.ParseVersion(text); err != nil || got != want {
			t.Errorf("ParseVersion(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-2", "2147483648", "", "1.0", "one", " 1"} {
		if got, err := schemas.ParseVersion(text); err == nil {
			t.Errorf("ParseVersion(%q) = %d, want an error", text, got)
		}
	}
}

func TestGUID(t *testing.T) {
	t.Parallel()
	user := `{"type":"record","name":"User","namespace":"com.acme","fields":[{"name":"id","type":"long"}]}`
	rule := func(r schemas.ContractRule) *schemas.RuleSet {
		return &schemas.RuleSet{Domain: []schemas.ContractRule{r}}
	}
	for _, tt := range []struct {
		name, text string
		refs       []schemas.Reference
		meta       *schemas.Metadata
		rules      *schemas.RuleSet
		want       string
	}{
		{"record", `{"type":"record","name":"myrecord","fields":[{"type":"string","default":null,"name":"f"}]}`, nil, nil, nil, "1d20cbb9-e5e3-5e97-54e7-da170b6e5ddb"},
		{"empty metadata and a bare rule", `{"type":"record","name":"myrecord","fields":[{"type":"string","default":null,"name":"f"}]}`, nil, &schemas.Metadata{}, rule(schemas.ContractRule{}), "16f1eca5-ebf9-22b3-da80-212f8fa7342e"},
		{"primitive", `"string"`, nil, nil, nil, "095d71cf-1255-6b9d-5e33-0ad575b3df5d"},
		{"namespace", user, nil, nil, nil, "03f12125-0e8f-e0b8-3e84-a1ee2bdbbfca"},
		{
			"reference", `{"type":"record","name":"Order","namespace":"com.acme","fields":[{"name":"buyer","type":"User"}]}`,
			[]schemas.Reference{{Name: "com.acme.User", Subject: "user", Version: 1}},
			nil, nil, "031e66a8-e5e3-a712-9dd0-0df4de2fe564",
		},
		{"metadata", user, nil, &schemas.Metadata{Properties: map[string]string{"owner": "payments"}}, nil, "91dee32f-ab08-1494-6064-44fbcba2c121"},
		{"empty metadata", user, nil, &schemas.Metadata{}, nil, "1407e1a3-f338-338b-ccc9-785b697ca527"},
		{"rule", user, nil, nil, rule(schemas.ContractRule{Name: "positiveId", Kind: "CONDITION", Mode: "WRITE", Type: "CEL", Expr: "message.id > 0"}), "c601189b-3f59-3599-6c44-622b3c2a2f5c"},
		{"json", `{"type":"object"}`, nil, nil, nil, "01fc056e-ed58-c88f-e1c5-07fcd84dd4b7"},
		{"protobuf", "syntax = \"proto3\";\npackage acme;\n\nmessage User {\n  int64 id = 1;\n}\n", nil, nil, nil, "a56a0ae8-d9e4-24d4-aa70-3560740d7536"},
	} {
		got := schemas.GUIDOf(tt.text, tt.refs, tt.meta, tt.rules)
		if got.String() != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		for _, text := range []string{tt.want, strings.ToUpper(tt.want), strings.ReplaceAll(tt.want, "-", "")} {
			if back, err := schemas.ParseGUID(text); err != nil || back != got {
				t.Errorf("ParseGUID(%q) = %s, %v", text, back, err)
			}
		}
	}
	for _, text := range []string{"", "x", "095d71cf-1255-6b9d-5e33-0ad575b3df5", "095d71cf+1255-6b9d-5e33-0ad575b3df5d", strings.Repeat("g", 32)} {
		if got, err := schemas.ParseGUID(text); err == nil {
			t.Errorf("ParseGUID(%q) = %s, want an error", text, got)
		}
	}
}

// library resolves references to the sources of a map "subject" → version 1.
type library map[string]schemas.Source

func (l library) Resolve(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
	s := ref.Target(in)
	src, ok := l[s.String()]
	if !ok {
		return schemas.Resolved{}, fmt.Errorf("%s: %w", s, schemas.ErrSubjectUnknown)
	}
	return schemas.Resolved{Subject: s, Version: ref.Version, Source: src}, nil
}

func ref(name string) schemas.Reference {
	return schemas.Reference{Name: name, Subject: name, Version: 1}
}

func source(refs ...string) schemas.Source {
	s := schemas.Source{Type: schemas.Avro}
	for _, r := range refs {
		s.References = append(s.References, ref(r))
	}
	return s
}

func TestClosure(t *testing.T) {
	t.Parallel()
	lib := library{
		"a": source("b", "c"), "b": source("d"), "c": source("d"), "d": source(),
		"x": source("y"), "y": source("x"), "self": source("self"),
		":.e:f": source("g"), ":.e:g": source(),
	}
	order := func(list []schemas.Dependency) string {
		var names []string
		for _, d := range list {
			names = append(names, d.Resolved.Subject.String())
		}
		return strings.Join(names, " ")
	}
	for _, tt := range []struct {
		name   string
		source schemas.Source
		in     schemas.Context
		want   string
		fails  error
	}{
		{"none", source(), ".", "", nil},
		{"diamond, dependencies first", source("a"), ".", "d b c a", nil},
		{"first of two names wins", source("b", "b"), ".", "d b", nil},
		{"unqualified inside a context", source("f"), ".e", ":.e:g :.e:f", nil},
		{"unknown", source("nope"), ".", "", schemas.ErrSubjectUnknown},
	} {
		list, direct, err := schemas.Closure(t.Context(), tt.source, tt.in, lib, schemas.Limits{})
		if !errors.Is(err, tt.fails) {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.fails)
		}
		if err == nil && len(direct) != len(tt.source.References) {
			t.Errorf("%s: %d direct, want %d", tt.name, len(direct), len(tt.source.References))
		}
		if got := order(list); tt.fails == nil && got != tt.want {
			t.Errorf("%s: order %q, want %q", tt.name, got, tt.want)
		}
	}
	for _, name := range []string{"x", "self"} {
		var wrong *schemas.ReferenceError
		if _, _, err := schemas.Closure(t.Context(), source(name), ".", lib, schemas.Limits{}); !errors.As(err, &wrong) {
			t.Errorf("%s: a circle gives %v, want a reference error", name, err)
		}
	}
	var wrong *schemas.ReferenceError
	if _, _, err := schemas.Closure(t.Context(), schemas.Source{References: []schemas.Reference{{Name: "a"}}}, ".", lib, schemas.Limits{}); !errors.As(err, &wrong) {
		t.Errorf("an incomplete reference gives %v, want a reference error", err)
	}
	if _, _, err := schemas.Closure(t.Context(), source("a"), ".", nil, schemas.Limits{}); !errors.As(err, &wrong) {
		t.Errorf("no resolver gives %v, want a reference error", err)
	}
}

func TestClosureIsBounded(t *testing.T) {
	t.Parallel()
	lib := library{}
	var names []string
	for i := range 1100 {
		name := fmt.Sprint("s", i)
		lib[name] = source()
		names = append(names, name)
	}
	var over *schemas.LimitError
	_, _, err := schemas.Closure(t.Context(), source(names...), ".", lib, schemas.Limits{})
	if !errors.As(err, &over) || over.Limit != schemas.LimitReferences || over.Most != 1000 {
		t.Errorf("1,100 references give %v, want the limit of 1,000", err)
	}
	// A ladder in which each step refers twice to the next has 2^n paths and n targets.
	ladder := library{}
	for i := range 60 {
		ladder[fmt.Sprint("l", i)] = source(fmt.Sprint("l", i+1), fmt.Sprint("l", i+1))
	}
	ladder["l60"] = source()
	if list, _, err := schemas.Closure(t.Context(), source("l0"), ".", ladder, schemas.Limits{}); err != nil || len(list) != 61 {
		t.Errorf("ladder: %d targets, %v, want 61", len(list), err)
	}
}

func TestFingerprintKeepsPartsApart(t *testing.T) {
	t.Parallel()
	a := schemas.FingerprintOf(schemas.Avro, "ab", []string{"c"}, make([]schemas.Fingerprint, 1))
	for _, other := range []schemas.Fingerprint{
		schemas.FingerprintOf(schemas.JSON, "ab", []string{"c"}, make([]schemas.Fingerprint, 1)),
		schemas.FingerprintOf(schemas.Avro, "a", []string{"bc"}, make([]schemas.Fingerprint, 1)),
		schemas.FingerprintOf(schemas.Avro, "ab", nil, nil),
	} {
		if a == other {
			t.Error("two different schemas have one fingerprint")
		}
	}
}

func TestPositionAt(t *testing.T) {
	t.Parallel()
	for offset, want := range map[int]string{0: "1:1", 2: "1:3", 3: "2:1", 5: "3:1", 99: "3:2"} {
		if got := schemas.PositionAt("ab\nc\nd", offset).String(); got != want {
			t.Errorf("offset %d is %s, want %s", offset, got, want)
		}
	}
}
