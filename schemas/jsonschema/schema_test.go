package jsonschema_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// referred answers references from a map of subject to text.
func referred(texts map[string]string) schemas.Resolver {
	return schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		text, ok := texts[ref.Subject]
		if !ok {
			return schemas.Resolved{}, schemas.ErrSubjectUnknown
		}
		return schemas.Resolved{
			Subject: schemas.Subject{Context: in, Name: ref.Subject}, Version: ref.Version,
			Source: schemas.Source{Type: schemas.JSON, Text: text},
		}, nil
	})
}

func parseReferring(text string, mode schemas.Mode, texts map[string]string, names ...string) (schemas.Schema, error) {
	source := schemas.Source{Type: schemas.JSON, Text: text}
	for _, name := range names {
		name, subject, ok := strings.Cut(name, "=")
		if !ok {
			subject = name
		}
		source.References = append(source.References, schemas.Reference{Name: name, Subject: subject, Version: 1})
	}
	return jsonschema.Format.Parse(context.Background(), source, referred(texts), schemas.ParseOptions{Mode: mode})
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, canonical, normalized string }{
		{
			"order and digits", "{ \"type\": \"object\",\n \"properties\": { \"b\": {\"type\":\"number\",\"minimum\":1.50}, \"a\": {} } }",
			`{"type":"object","properties":{"b":{"type":"number","minimum":1.50},"a":{}}}`, `{"properties":{"a":{},"b":{"minimum":1.50,"type":"number"}},"type":"object"}`,
		},
		{"a repeated member", `{"title":"a","type":"string","title":"b"}`, `{"title":"b","type":"string"}`, `{"title":"b","type":"string"}`},
		{"arrays keep their order", `{"enum":["b","a",{"y":1,"x":2}]}`, `{"enum":["b","a",{"y":1,"x":2}]}`, `{"enum":["b","a",{"x":2,"y":1}]}`},
		{"boolean", " true ", "true", "true"},
		{"escapes", `{"title":"\u00e9\/\u0001"}`, "{\"title\":\"é/\\u0001\"}", "{\"title\":\"é/\\u0001\"}"},
		{"exponents", `{"minimum":1E+2}`, `{"minimum":1E+2}`, `{"minimum":1E+2}`},
	} {
		s := mustParse(t, c.text)
		if diff := cmp.Diff(c.canonical, s.Canonical()); diff != "" {
			t.Errorf("%s: canonical: %s", c.name, diff)
		}
		text, _ := s.Normalized()
		if diff := cmp.Diff(c.normalized, text); diff != "" {
			t.Errorf("%s: normalized: %s", c.name, diff)
		}
		again := mustParse(t, s.Canonical())
		if again.Canonical() != s.Canonical() || again.Fingerprint() != s.Fingerprint() || !again.Equivalent(s) {
			t.Errorf("%s: the canonical text is not its own", c.name)
		}
	}
}

func TestNormalizedReferences(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"a": "{}", "b": "{}"}
	s, err := parseReferring(`{}`, schemas.New, texts, "z=b", "y=a", "z=b", "x=a")
	if err != nil {
		t.Fatal(err)
	}
	_, got := s.Normalized()
	want := []schemas.Reference{{Name: "x", Subject: "a", Version: 1}, {Name: "y", Subject: "a", Version: 1}, {Name: "z", Subject: "b", Version: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFingerprintCoversReferences(t *testing.T) {
	t.Parallel()
	text := `{"$ref":"t.json"}`
	one, err := parseReferring(text, schemas.New, map[string]string{"t": `{"type":"string"}`}, "t.json=t")
	if err != nil {
		t.Fatal(err)
	}
	two, err := parseReferring(text, schemas.New, map[string]string{"t": `{"type":"number"}`}, "t.json=t")
	if err != nil {
		t.Fatal(err)
	}
	if one.Fingerprint() == two.Fingerprint() {
		t.Error("what a reference stands for is not in the fingerprint")
	}
	if !one.Equivalent(two) {
		t.Error("equal canonical texts are equivalent, whatever they refer to")
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"person":  `{"$id":"http://ex.test/person.json","type":"object","properties":{"a":{"$ref":"address.json"}}}`,
		"address": `{"type":"string","definitions":{"zip":{"type":"integer"}}}`,
		"anchors": `{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"x":{"$anchor":"here","type":"boolean"}}}`,
	}
	for _, c := range []struct {
		name, text string
		refs       []string
		good, bad  string
	}{
		{"by name", `{"$ref":"address.json"}`, []string{"address.json=address"}, `"a"`, `1`},
		{"by ./name", `{"$ref":"./address.json"}`, []string{"address.json=address"}, `"a"`, `1`},
		{"a name with ./", `{"$ref":"address.json"}`, []string{"./address.json=address"}, `"a"`, `1`},
		{"a name that is no address", `{"$ref":"my address: %"}`, []string{"my address: %=address"}, `"a"`, `1`},
		{"a name relative to $id", `{"$id":"http://ex.test/a/order.json","$ref":"http://ex.test/a/address.json"}`, []string{"address.json=address"}, `"a"`, `1`},
		{"an absolute name, relatively", `{"$id":"http://ex.test/a/order.json","$ref":"address.json"}`, []string{"http://ex.test/a/address.json=address"}, `"a"`, `1`},
		{"by the document's own $id", `{"$ref":"http://ex.test/person.json"}`, []string{"p=person", "address.json=address"}, `{"a":"x"}`, `{"a":1}`},
		{"a pointer into it", `{"$ref":"address.json#/definitions/zip"}`, []string{"address.json=address"}, `1`, `"a"`},
		{"$defs for definitions", `{"$ref":"address.json#/$defs/zip"}`, []string{"address.json=address"}, `1`, `"a"`},
		{"an anchor in it", `{"$ref":"anchors.json#here"}`, []string{"anchors.json=anchors"}, `true`, `"a"`},
		{"a meta-schema", `{"$ref":"http://json-schema.org/draft-07/schema#"}`, nil, `{"type":"string"}`, `{"type":"txt"}`},
		{"a meta-schema by https", `{"$ref":"https://json-schema.org/draft-07/schema"}`, nil, `{"type":"string"}`, `{"type":"txt"}`},
		{"the newest meta-schema", `{"$schema":"https://json-schema.org/draft/2020-12/schema","$ref":"https://json-schema.org/draft/2020-12/schema"}`, nil, `{"$defs":{"a":{"type":"string"}}}`, `{"$defs":{"a":{"type":"txt"}}}`},
		{"a reference before what stands inside", `{"$id":"http://ex.test/o","$ref":"t","definitions":{"t":{"$id":"t","type":"integer"}}}`, []string{"t=address"}, `"a"`, `1`},
		{"inside, by an embedded $id", `{"$id":"http://ex.test/o","$ref":"t","definitions":{"t":{"$id":"t","type":"integer"}}}`, nil, `1`, `"a"`},
		{"a location-independent identifier", `{"$ref":"#t","definitions":{"t":{"$id":"#t","type":"integer"}}}`, nil, `1`, `"a"`},
		{"an unknown keyword's content", `{"$ref":"#/x/t","x":{"t":{"type":"integer"}}}`, nil, `1`, `"a"`},
		{"an embedded dialect", `{"$schema":"https://json-schema.org/draft/2020-12/schema","$ref":"http://ex.test/old","$defs":{"o":{"$schema":"http://json-schema.org/draft-07/schema#","$id":"http://ex.test/old","items":[{"type":"integer"}]}}}`, nil, `[1]`, `["a"]`},
	} {
		s, err := parseReferring(c.text, schemas.New, texts, c.refs...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for payload, want := range map[string]bool{c.good: true, c.bad: false} {
			if got := s.Reads(s, schemas.Payload{Bytes: []byte(payload)}, schemas.ReadOptions{}); got.OK() != want {
				t.Errorf("%s: %s: want %v, got %v", c.name, payload, want, got.Violations)
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	const modern = `"$schema":"https://json-schema.org/draft/2020-12/schema"`
	for _, c := range []struct {
		name, text string
		want       []string // "pointer: part of the summary", in reading order
	}{
		{"not JSON", `{"type":`, []string{": the text ends"}},
		{"a string", `"string"`, []string{": a JSON Schema is an object"}},
		{"$schema", `{"$schema":1}`, []string{"/$schema: $schema is not a string"}},
		{
			"all errors at once", `{"minLength":-1,"properties":{"a":{"type":"txt"},"b":{"maximum":"1"}}}`,
			[]string{"/minLength: below 0", "/properties/a/type: none of the 2 alternatives", "/properties/b/maximum: a string, not number"},
		},
		{
			"shapes, references and patterns together", `{"title":1,"properties":{"a":{"$ref":"x.json"},"b":{"pattern":"("},"c":5}}`,
			[]string{"/title: an integer, not string", "/properties/a/$ref: does not resolve", "/properties/b/pattern: a group is not closed", "/properties/c: an integer, not boolean or object"},
		},
		{
			"references, all", `{"properties":{"a":{"$ref":"x.json"},"b":{"$ref":"#/definitions/y"},"c":{"$ref":"#z"}}}`,
			[]string{"/properties/a/$ref: nothing is known under this name", "/properties/b/$ref: there is nothing at", "/properties/c/$ref: no schema there has the anchor"},
		},
		{"remote", `{"$ref":"https://ex.test/a"}`, []string{"/$ref: does not resolve"}},
		{"a pointer to what is no schema", `{"$ref":"#/title","title":"t"}`, []string{"/$ref: no schema"}},
		{"a loop", `{"anyOf":[{"$ref":"#"}]}`, []string{"/anyOf/0: refers back to itself"}},
		{"a loop below", `{"properties":{"a":{"$ref":"#/properties/a"}}}`, []string{"/properties/a: refers back to itself"}},
		{"a loop through not", `{"not":{"$ref":"#"}}`, []string{"/not: refers back to itself"}},
		{"patterns", `{"pattern":"[a","patternProperties":{"(":{}}}`, []string{"/pattern: a class is not closed", "/patternProperties/(: a group is not closed"}},
		{"anchors", `{` + modern + `,"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, []string{"/$defs/b: stands on two schemas"}},
		{"draft-04 booleans", `{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":true}}`, []string{"/properties/a: a boolean, not object"}},
		{"unused definitions of a modern draft", `{` + modern + `,"$defs":{"a":{"$ref":"nowhere"}}}`, []string{"/$defs/a/$ref: does not resolve"}},
		{"an embedded dialect's own rules", `{` + modern + `,"$defs":{"a":{"$schema":"http://json-schema.org/draft-07/schema#","$id":"http://ex.test/a","items":[1]}}}`, []string{"/$defs/a/items: none of the 2 alternatives"}},
	} {
		_, err := parse(c.text)
		syntax, ok := errors.AsType[schemas.SyntaxErrors](err)
		if !ok {
			t.Errorf("%s: want SyntaxErrors, got %v", c.name, err)
			continue
		}
		var got []string
		for _, e := range syntax {
			got = append(got, string(e.Pointer)+": "+e.Summary)
			if e.Position.Line != 1 || e.Position.Column < 1 {
				t.Errorf("%s: no position: %v", c.name, e)
			}
		}
		if !slices.EqualFunc(c.want, got, func(want, got string) bool {
			pointer, part, _ := strings.Cut(want, ": ")
			return strings.HasPrefix(got, pointer+": ") && strings.Contains(got, part)
		}) {
			t.Errorf("%s:\nwant %q\n got %q", c.name, c.want, got)
		}
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	_, err := parse("{\n  \"title\": \"é\", \"properties\": {\n    \"a\": {\"type\": \"txt\"}}}")
	syntax, ok := errors.AsType[schemas.SyntaxErrors](err)
	if !ok || len(syntax) != 1 {
		t.Fatalf("want one error, got %v", err)
	}
	if want := (schemas.Position{Line: 3, Column: 19, Offset: 53}); syntax[0].Position != want {
		t.Errorf("want %#v, got %#v", want, syntax[0].Position)
	}
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty enum":                      `{"enum":[]}`,
		"empty required, draft-04":        `{"$schema":"http://json-schema.org/draft-04/schema","required":[]}`,
		"repeated members of enum":        `{"enum":[1,1.0,1]}`,
		"an unknown $schema":              `{"$schema":"https://ex.test/mine","minLength":1}`,
		"$schema of a file":               `{"$schema":"file:///etc/passwd"}`,
		"a broken definition nobody uses": `{"definitions":{"a":{"$ref":"nowhere.json"}}}`,
		"const that looks like a schema":  `{"const":{"$ref":"#/nowhere"}}`,
		"a repeated member":               `{"type":"string","type":"number"}`,
		"prefixItems in draft-07":         `{"prefixItems":{"x":1}}`,
		"a lookahead":                     `{"pattern":"^(?=.*[A-Z])(?=.*\\d).{8,}$"}`,
		"recursion":                       `{"properties":{"next":{"$ref":"#"}}}`,
	} {
		if _, err := parse(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReferenceErrors(t *testing.T) {
	t.Parallel()
	_, err := parseReferring(`{"$ref":"a"}`, schemas.New, nil, "a")
	if _, ok := errors.AsType[*schemas.ReferenceError](err); !ok || !errors.Is(err, schemas.ErrSubjectUnknown) {
		t.Errorf("an unknown subject: got %v", err)
	}
	_, err = parseReferring(`{"$ref":"a"}`, schemas.New, map[string]string{"a": "[1]"}, "a")
	if _, ok := errors.AsType[*schemas.ReferenceError](err); !ok {
		t.Errorf("a target that is no schema: got %v", err)
	}
	_, err = parseReferring(`{"$ref":"a"}`, schemas.New, map[string]string{"a": `{"$ref":"#/nowhere"}`}, "a")
	if err == nil || !strings.Contains(err.Error(), `in the referenced schema "a"`) {
		t.Errorf("a target that does not hold together: got %v", err)
	}
	avro := schemas.ResolverFunc(func(context.Context, schemas.Context, schemas.Reference) (schemas.Resolved, error) {
		return schemas.Resolved{Source: schemas.Source{Type: schemas.Avro, Text: `"string"`}}, nil
	})
	_, err = jsonschema.Format.Parse(t.Context(), schemas.Source{Text: "{}", References: []schemas.Reference{{Name: "a", Subject: "a", Version: 1}}}, avro, schemas.ParseOptions{})
	if _, ok := errors.AsType[*schemas.ReferenceError](err); !ok {
		t.Errorf("a target of another format: got %v", err)
	}
}

// TestClosureLimits refers to more than one schema may bring with it.
func TestClosureLimits(t *testing.T) {
	t.Parallel()
	wide := `{"anyOf":[` + repeat(19_000, func(int) string { return "{}" }) + `]}`
	texts, names := map[string]string{}, []string{}
	for i := range 12 {
		name := fmt.Sprintf("n%d", i)
		texts[name] = wide
		names = append(names, name)
	}
	_, err := parseReferring(`{}`, schemas.New, texts, names...)
	if limit, ok := errors.AsType[*schemas.LimitError](err); !ok || limit.Limit != schemas.LimitDeclarations {
		t.Errorf("too many declarations in the closure: got %v", err)
	}
	if _, err := parseReferring(`{}`, schemas.New, texts, names[:9]...); err != nil {
		t.Errorf("nine of them: %v", err)
	}
	long := `{"title":"` + strings.Repeat("x", 1<<20-20) + `"}`
	for name := range texts {
		texts[name] = long
	}
	_, err = parseReferring(`{}`, schemas.New, texts, names...)
	if limit, ok := errors.AsType[*schemas.LimitError](err); !ok || limit.Limit != schemas.LimitText {
		t.Errorf("too much text in the closure: got %v", err)
	}
	if _, err := parseReferring(`{}`, schemas.Stored, texts, names...); err != nil {
		t.Errorf("a stored schema has no such limit: %v", err)
	}
}

// TestStored reads texts that no new schema may have: a later rule must not make
// a stored version unreadable, and none of them is taken for a yes.
func TestStored(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"ill-shaped":     `{"minLength":-1}`,
		"unresolved":     `{"$ref":"nowhere"}`,
		"a loop":         `{"$ref":"#"}`,
		"a bad pattern":  `{"pattern":"("}`,
		"no schema":      `{"properties":{"a":1}}`,
		"an odd keyword": `{"type":5,"required":"a","allOf":{},"items":3,"dependencies":[],"format":1,"uniqueItems":"x"}`,
	} {
		if _, err := parse(text); err == nil {
			t.Errorf("%s: a new schema is accepted", name)
		}
		s, err := parseReferring(text, schemas.Stored, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Canonical() != text {
			t.Errorf("%s: canonical %s", name, s.Canonical())
		}
		if got := s.Reads(s, schemas.Payload{Bytes: []byte("1")}, schemas.ReadOptions{}); got.OK() || got.Violations[0].Rule != "schema" {
			t.Errorf("%s: reads: %v", name, got)
		}
	}
	deep := strings.Repeat(`{"items":`, 1000) + `{"minimum":1e1000000}` + strings.Repeat("}", 1000)
	s, err := parseReferring(deep, schemas.Stored, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Reads(s, schemas.Payload{Bytes: []byte("[[1]]")}, schemas.ReadOptions{}); !got.OK() {
		t.Errorf("a deep stored schema: %v", got.Violations)
	}
}

func TestNamesAndOutline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, text string
		want       schemas.Outline
	}{
		{"a.json", `{"$schema":"x","$id":"http://ex.test/a.json","title":"T"}`, schemas.Outline{Schema: true, Names: []string{"http://ex.test/a.json"}}},
		{"a.json", `{"name":"x"}`, schemas.Outline{}},
		{"a.schema.json", `{"title":"T"}`, schemas.Outline{Schema: true}},
		{"a.json", `[1]`, schemas.Outline{}},
		{"a.json", `{"$schema":"http://json-schema.org/draft-04/schema#","id":"a"}`, schemas.Outline{Schema: true, Names: []string{"a"}}},
		{
			"a.json", `{"$schema":"http://json-schema.org/draft-07/schema#","$id":"http://ex.test/x/a.json","properties":{
			"a":{"$ref":"b.json#/definitions/t"},"b":{"$ref":"#/definitions/t"},"c":{"$ref":"../c.json"},"d":{"$ref":"b.json"},
			"e":{"$ref":"http://json-schema.org/draft-07/schema"},"f":{"$ref":"t"},"g":{"const":{"$ref":"no.json"}}},"definitions":{"t":{"$id":"t"}}}`,
			schemas.Outline{Schema: true, Names: []string{"http://ex.test/x/a.json"}, Needs: []string{"http://ex.test/x/b.json", "http://ex.test/c.json"}},
		},
		{"a.schema.json", `{"properties":{"a":{"$ref":"dir/b.json"}}}`, schemas.Outline{Schema: true, Needs: []string{"dir/b.json"}}},
	} {
		got, err := jsonschema.Format.Outline(c.path, c.text, schemas.Limits{})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
	}
	if _, err := jsonschema.Format.Outline("a.json", `{`, schemas.Limits{}); err == nil {
		t.Error("a broken file has an outline")
	}
	if got := mustParse(t, `{"$id":"http://ex.test/a#","title":"T"}`).Names(); !slices.Equal(got, []string{"http://ex.test/a"}) {
		t.Errorf("names: %v", got)
	}
}

func TestVocabulary(t *testing.T) {
	t.Parallel()
	words := jsonschema.Vocabulary()
	if !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != len(words) {
		t.Errorf("not sorted, or a word twice: %v", words)
	}
	for _, word := range []string{"$dynamicRef", "dependencies", "unevaluatedItems", "type"} {
		if !slices.Contains(words, word) {
			t.Errorf("%s is missing", word)
		}
	}
}
