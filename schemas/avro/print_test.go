package avro_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/google/go-cmp/cmp"
)

func TestTexts(t *testing.T) {
	t.Parallel()
	same := "=" // as the canonical text
	for name, c := range map[string]struct{ text, canonical, normalized, form string }{
		"primitive":           {`{"type":"int"}`, `"int"`, same, `"int"`},
		"doc on a primitive":  {`{"type":"int","doc":"lost","name":"lost"}`, `"int"`, same, `"int"`},
		"annotated primitive": {`{"b":{"d":1,"c":2},"type":"long","a":1}`, `{"type":"long","b":{"d":1,"c":2},"a":1}`, `{"type":"long","a":1,"b":{"c":2,"d":1}}`, `"long"`},
		"record": {
			`{"aliases":["Old","x.Older",".Oldest"],"z":1,"fields":[{"z":1,"aliases":["c","b"],"order":"Descending","default":1,"doc":"","type":"int","name":"a"}],"doc":"","namespace":"n.m","name":"P","type":"record","a":2}`,
			`{"type":"record","name":"P","namespace":"n.m","doc":"","fields":[{"name":"a","type":"int","doc":"","default":1,"order":"descending","aliases":["c","b"],"z":1}],"z":1,"a":2,"aliases":["Old","x.Older","Oldest"]}`,
			`{"type":"record","name":"P","namespace":"n.m","fields":[{"name":"a","type":"int","doc":"","default":1,"order":"descending","aliases":["b","c"],"z":1}],"a":2,"z":1,"aliases":["Oldest","Old","x.Older"]}`,
			`{"name":"n.m.P","type":"record","fields":[{"name":"a","type":"int"}]}`,
		},
		"enum": {
			`{"symbols":["B","A"],"default":"A","x":1,"doc":"d","name":"n.E","type":"enum"}`,
			`{"type":"enum","name":"E","namespace":"n","doc":"d","symbols":["B","A"],"default":"A","x":1}`, same,
			`{"name":"n.E","type":"enum","symbols":["B","A"]}`,
		},
		"fixed decimal": {
			`{"type":"fixed","size":8,"name":"D","scale":2,"a":1,"precision":4,"logicalType":"decimal"}`,
			`{"type":"fixed","name":"D","size":8,"scale":2,"a":1,"precision":4,"logicalType":"decimal"}`,
			`{"type":"fixed","name":"D","size":8,"logicalType":"decimal","precision":4,"scale":2,"a":1}`,
			`{"name":"D","type":"fixed","size":8}`,
		},
		"decimal with scale 0": {
			`{"type":"bytes","scale":0,"z":1,"a":1,"precision":4,"logicalType":"decimal"}`,
			`{"type":"bytes","scale":0,"z":1,"a":1,"precision":4,"logicalType":"decimal"}`,
			`{"type":"bytes","logicalType":"decimal","precision":4,"a":1,"scale":0,"z":1}`, `"bytes"`,
		},
		"logical type that does not fit": {
			`{"type":"string","z":1,"logicalType":"date","a":1}`, `{"type":"string","z":1,"logicalType":"date","a":1}`,
			`{"type":"string","a":1,"logicalType":"date","z":1}`, `"string"`,
		},
		"error": {`{"type":"error","name":"F","fields":[]}`, `{"type":"error","name":"F","fields":[]}`, `{"type":"record","name":"F","fields":[]}`, `{"name":"F","type":"record","fields":[]}`},
		"namespaces": {
			`{"type":"record","name":"a.P","fields":[{"name":"x","type":{"type":"fixed","name":"F","size":1}},{"name":"y","type":{"type":"record","name":"b.Q","fields":[{"name":"z","type":"a.F"},{"name":"p","type":["null","a.P"]}]}},{"name":"w","type":{"type":"fixed","name":"G","namespace":"","size":1}},{"name":"v","type":"G"}]}`,
			`{"type":"record","name":"P","namespace":"a","fields":[{"name":"x","type":{"type":"fixed","name":"F","size":1}},{"name":"y","type":{"type":"record","name":"Q","namespace":"b","fields":[{"name":"z","type":"a.F"},{"name":"p","type":["null","a.P"]}]}},{"name":"w","type":{"type":"fixed","name":"G","namespace":"","size":1}},{"name":"v","type":"G"}]}`,
			same,
			`{"name":"a.P","type":"record","fields":[{"name":"x","type":{"name":"a.F","type":"fixed","size":1}},{"name":"y","type":{"name":"b.Q","type":"record","fields":[{"name":"z","type":"a.F"},{"name":"p","type":["null","a.P"]}]}},{"name":"w","type":{"name":"G","type":"fixed","size":1}},{"name":"v","type":"G"}]}`,
		},
		"type word as a name": {
			`{"type":"record","name":"n.record","fields":[{"name":"x","type":["null","n.record"]},{"name":"y","type":{"type":"fixed","name":"int","size":1,"aliases":["map","Map"]}},{"name":"z","type":"n.int"}]}`,
			`{"type":"record","name":"record","namespace":"n","fields":[{"name":"x","type":["null","n.record"]},{"name":"y","type":{"type":"fixed","name":"int","size":1,"aliases":["n.map","Map"]}},{"name":"z","type":"n.int"}]}`,
			`{"type":"record","name":"record","namespace":"n","fields":[{"name":"x","type":["null","n.record"]},{"name":"y","type":{"type":"fixed","name":"int","size":1,"aliases":["Map","n.map"]}},{"name":"z","type":"n.int"}]}`,
			`{"name":"n.record","type":"record","fields":[{"name":"x","type":["null","n.record"]},{"name":"y","type":{"name":"n.int","type":"fixed","size":1}},{"name":"z","type":"n.int"}]}`,
		},
		"definition moves to its first use": {
			`{"type":"record","name":"P","fields":[{"name":"x","type":"Q"},{"name":"y","type":{"type":"fixed","name":"Q","size":2}}]}`,
			`{"type":"record","name":"P","fields":[{"name":"x","type":{"type":"fixed","name":"Q","size":2}},{"name":"y","type":"Q"}]}`, same,
			`{"name":"P","type":"record","fields":[{"name":"x","type":{"name":"Q","type":"fixed","size":2}},{"name":"y","type":"Q"}]}`,
		},
		"the first of two definitions counts": {
			`[{"type":"array","items":{"type":"fixed","name":"F","size":1,"doc":"first","aliases":["A"]}},{"type":"fixed","name":"F","size":1,"doc":"second"}]`,
			`[{"type":"array","items":{"type":"fixed","name":"F","doc":"first","size":1,"aliases":["A"]}},"F"]`, same,
			`[{"type":"array","items":{"name":"F","type":"fixed","size":1}},"F"]`,
		},
		"numbers": {
			`{"type":"int","a":1e3,"b":-0,"c":-0.0,"d":1.50,"e":1E10,"f":0.00012,"g":123456789012345678901234567890,"h":1e400,"i":0.1,"j":12345678.0,"k":5e-324}`,
			`{"type":"int","a":1000.0,"b":0,"c":-0.0,"d":1.5,"e":1.0E10,"f":1.2E-4,"g":123456789012345678901234567890,"h":"Infinity","i":0.1,"j":1.2345678E7,"k":4.9E-324}`, same, `"int"`,
		},
		"default texts": {
			withDefault(`"double"`, `"1.5"`), withDefault(`"double"`, `1.5`), same, `{"name":"Parcel","type":"record","fields":[{"name":"x","type":"double"}]}`,
		},
		"default NaN": {
			withDefault(`"float"`, `"NaN"`), withDefault(`"float"`, `"NaN"`), same, `{"name":"Parcel","type":"record","fields":[{"name":"x","type":"float"}]}`,
		},
		"defaults spelled by their type": {
			`{"type":"record","name":"P","fields":[{"name":"a","type":{"type":"array","items":"double"},"default":[1,2.50]},{"name":"b","type":["double","null"],"default":3},{"name":"c","type":{"type":"record","name":"Q","fields":[{"name":"m","type":{"type":"map","values":"float"}}]},"default":{"zz":1,"m":{"k":0.1234567891}}},{"name":"d","type":"long","default":1}]}`,
			`{"type":"record","name":"P","fields":[{"name":"a","type":{"type":"array","items":"double"},"default":[1,2.5]},{"name":"b","type":["double","null"],"default":3},{"name":"c","type":{"type":"record","name":"Q","fields":[{"name":"m","type":{"type":"map","values":"float"}}]},"default":{"zz":1,"m":{"k":0.1234567891}}},{"name":"d","type":"long","default":1}]}`,
			`{"type":"record","name":"P","fields":[{"name":"a","type":{"type":"array","items":"double"},"default":[1.0,2.5]},{"name":"b","type":["double","null"],"default":3.0},{"name":"c","type":{"type":"record","name":"Q","fields":[{"name":"m","type":{"type":"map","values":"float"}}]},"default":{"zz":1,"m":{"k":0.12345679}}},{"name":"d","type":"long","default":1}]}`,
			`{"name":"P","type":"record","fields":[{"name":"a","type":{"type":"array","items":"double"}},{"name":"b","type":["double","null"]},{"name":"c","type":{"name":"Q","type":"record","fields":[{"name":"m","type":{"type":"map","values":"float"}}]}},{"name":"d","type":"long"}]}`,
		},
		"characters": {
			`{"type":"int","a":"\u00e9\/\u0007\n\"\\\u007f"}`, `{"type":"int","a":"é/\u0007\n\"\\` + "\x7f" + `"}`, same, `"int"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.normalized == same {
				c.normalized = c.canonical
			}
			s := mustParse(t, c.text)
			normalized, _ := s.Normalized()
			if diff := cmp.Diff(
				[]string{c.canonical, c.normalized, c.form},
				[]string{s.Canonical(), normalized, s.ParsingForm()}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// folderOf resolves references among texts of one version each; a text may refer
// to the subjects listed with it.
type text1 struct {
	text string
	uses []string
}

func folderOf(subjects map[string]text1) (func(name string) schemas.Source, schemas.Resolver) {
	source := func(name string) schemas.Source {
		s := schemas.Source{Type: schemas.Avro, Text: subjects[name].text}
		for _, use := range subjects[name].uses {
			s.References = append(s.References, schemas.Reference{Name: "label of " + use, Subject: use, Version: 1})
		}
		return s
	}
	return source, schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		if _, ok := subjects[ref.Subject]; !ok {
			return schemas.Resolved{}, schemas.ErrSubjectUnknown
		}
		return schemas.Resolved{Subject: schemas.Subject{Context: in, Name: ref.Subject}, Version: 1, Source: source(ref.Subject)}, nil
	})
}

func TestReferences(t *testing.T) {
	t.Parallel()
	source, resolver := folderOf(map[string]text1{
		"money": {text: `{"type":"record","name":"Money","namespace":"shop","fields":[{"name":"currency","type":{"type":"enum","name":"Currency","symbols":["EUR","BRL"]}},{"name":"cents","type":"long"}]}`},
		"line":  {`{"type":"record","name":"Line","namespace":"shop","fields":[{"name":"price","type":"Money"}]}`, []string{"money"}},
		"order": {`{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"lines","type":{"type":"array","items":"Line"}},{"name":"total","type":"shop.Money"},{"name":"in","type":"Currency"}]}`, []string{"line"}},
		"again": {`{"type":"record","name":"Again","namespace":"shop","fields":[{"name":"m","type":{"type":"record","name":"Money","fields":[{"name":"currency","type":{"type":"enum","name":"Currency","symbols":["EUR","BRL"]}},{"name":"cents","type":"long"}]}}]}`, []string{"money"}},
		"other": {`{"type":"record","name":"Other","fields":[{"name":"m","type":{"type":"record","name":"shop.Money","fields":[]}}]}`, []string{"money"}},
		"alone": {`"shop.Money"`, []string{"money"}},
	})
	load := func(name string) (*avro.Schema, error) {
		return avro.Parse(context.Background(), source(name), resolver, schemas.ParseOptions{})
	}
	must := func(name string) *avro.Schema {
		t.Helper()
		s, err := load(name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	order := must("order")
	for _, c := range []struct{ what, got, want string }{
		// Top-level types of references are named; one nested inside is written out.
		{"canonical", order.Canonical(), `{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"lines","type":{"type":"array","items":"Line"}},{"name":"total","type":"Money"},{"name":"in","type":{"type":"enum","name":"Currency","symbols":["EUR","BRL"]}}]}`},
		{"resolved", order.Resolved(), `{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[{"name":"price","type":{"type":"record","name":"Money","fields":[{"name":"currency","type":{"type":"enum","name":"Currency","symbols":["EUR","BRL"]}},{"name":"cents","type":"long"}]}}]}}},{"name":"total","type":"Money"},{"name":"in","type":"Currency"}]}`},
		{"names", strings.Join(order.Names(), " "), "shop.Order"},
		{"names of a repeated definition", strings.Join(must("again").Names(), " "), "shop.Again shop.Money shop.Currency"},
		{"canonical of a repeated definition", must("again").Canonical(), `{"type":"record","name":"Again","namespace":"shop","fields":[{"name":"m","type":"Money"}]}`},
		{"canonical of a bare name", must("alone").Canonical(), `"shop.Money"`},
		{"form of a bare name", must("alone").ParsingForm(), must("money").ParsingForm()},
	} {
		if c.got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.what, c.got, c.want)
		}
	}
	again, err := avro.Parse(context.Background(), schemas.Source{Text: order.Canonical(), References: source("order").References}, resolver, schemas.ParseOptions{})
	if err != nil || again.Fingerprint() != order.Fingerprint() || !again.Equivalent(order) {
		t.Errorf("the canonical text is another schema (%v)", err)
	}
	if _, err := load("other"); err == nil || !strings.Contains(err.Error(), "already defined by a reference") {
		t.Errorf("a differing definition is answered by %v", err)
	}
	alone := mustParse(t, order.Resolved())
	if !alone.Equivalent(order) {
		t.Error("written out, the schema is not equivalent")
	}
	if alone.Fingerprint() == order.Fingerprint() {
		t.Error("a schema with and without references has one fingerprint")
	}

	// The fingerprint covers what references stand for.
	_, moved := folderOf(map[string]text1{
		"money": {text: `{"type":"record","name":"Money","namespace":"shop","fields":[{"name":"currency","type":{"type":"enum","name":"Currency","symbols":["EUR","BRL"]}},{"name":"cents","type":"int"}]}`},
		"line":  {`{"type":"record","name":"Line","namespace":"shop","fields":[{"name":"price","type":"Money"}]}`, []string{"money"}},
	})
	changed, err := avro.Parse(context.Background(), source("order"), moved, schemas.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if changed.Canonical() != order.Canonical() || changed.Fingerprint() == order.Fingerprint() || changed.Equivalent(order) {
		t.Error("a change inside a reference does not show")
	}
}

func TestNormalizedReferencesAreSortedAndDistinct(t *testing.T) {
	t.Parallel()
	source, resolver := folderOf(map[string]text1{
		"b": {text: `{"type":"fixed","name":"B","size":1}`}, "a": {text: `{"type":"fixed","name":"A","size":1}`},
		"top": {`["A","B"]`, []string{"b", "a", "b"}},
	})
	s, err := avro.Parse(context.Background(), source("top"), resolver, schemas.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, refs := s.Normalized()
	want := []schemas.Reference{{Name: "label of a", Subject: "a", Version: 1}, {Name: "label of b", Subject: "b", Version: 1}}
	if diff := cmp.Diff(want, refs); diff != "" {
		t.Error(diff)
	}
}

func TestEquivalent(t *testing.T) {
	t.Parallel()
	base := `{"type":"record","name":"P","namespace":"n","doc":"d","aliases":["A","B"],"x":1,"y":{"p":1,"q":2},"fields":[{"name":"a","type":"int","default":1,"m":1,"k":2},{"name":"e","type":{"type":"enum","name":"E","symbols":["S","T"],"default":"S"}}]}`
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"other order of attributes": {`{"y":{"q":2,"p":1},"x":1,"aliases":["B","n.A"],"fields":[{"k":2,"m":1,"default":1,"type":{"type":"int"},"name":"a"},{"type":{"default":"S","symbols":["S","T"],"name":"n.E","type":"enum"},"name":"e"}],"doc":"d","name":"n.P","type":"record"}`, true},
		"doc":                       {strings.Replace(base, `"doc":"d"`, `"doc":"e"`, 1), false},
		"no doc":                    {strings.Replace(base, `"doc":"d",`, ``, 1), false},
		"alias":                     {strings.Replace(base, `"B"`, `"C"`, 1), false},
		"attribute":                 {strings.Replace(base, `"p":1`, `"p":2`, 1), false},
		"field attribute":           {strings.Replace(base, `"m":1`, `"m":3`, 1), false},
		"default":                   {strings.Replace(base, `"default":1`, `"default":2`, 1), false},
		"enum default":              {strings.Replace(base, `"default":"S"`, `"default":"T"`, 1), false},
		"symbols":                   {strings.Replace(base, `["S","T"]`, `["T","S"]`, 1), false},
		"type":                      {strings.Replace(base, `"int"`, `"long"`, 1), false},
		"namespace":                 {strings.Replace(base, `"n"`, `"m"`, 1), false},
		"number of an attribute":    {strings.Replace(base, `"x":1`, `"x":1.0`, 1), false},
		"order":                     {strings.Replace(base, `"m":1`, `"m":1,"order":"ignore"`, 1), false},
	} {
		a, b := mustParse(t, base), mustParse(t, c.text)
		if got := a.Equivalent(b); got != c.want || b.Equivalent(a) != c.want {
			t.Errorf("%s: equivalent is %v, want %v", name, got, c.want)
		}
		// Who looks for equivalents relies on this.
		one, _ := a.Normalized()
		other, _ := b.Normalized()
		if c.want && one != other {
			t.Errorf("%s: equivalent, and normalized to other texts:\n%s\n%s", name, one, other)
		}
		if like := avro.Format.Likeness; c.want && like(a.Canonical()) != like(b.Canonical()) {
			t.Errorf("%s: equivalent, and unlike", name)
		}
	}
}

func TestFingerprints(t *testing.T) {
	t.Parallel()
	order := `{"namespace":"shop","name":"Order","type":"record","doc":"An order","fields":[
		{"name":"id","type":{"type":"string","logicalType":"uuid"}},
		{"name":"total","type":{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}},
		{"name":"state","type":{"type":"enum","name":"State","symbols":["NEW","PAID"],"default":"NEW"},"default":"NEW"},
		{"name":"note","type":["null","string"],"default":null}]}`
	// Source: avro-compat 15; CRC-64, its eight bytes in a header, MD5, head of SHA-256.
	for text, want := range map[string]string{
		`"null"`:    "63dd24e7cc258f8a 8a8f25cce724dd63 9b41ef67651c18488a8b08bb67c75699 f072cbec3bf88418",
		`"boolean"`: "9f42fc78a4d4f764 64f7d4a478fc429f 01f692b30d4a1c8a3e600b1440637f8f a5b031ab62bc416d",
		`"int"`:     "7275d51a3f395c8f 8f5c393f1ad57572 ef524ea1b91e73173d938ade36c1db32 3f2b87a9fe7cc9b1",
		`"long"`:    "d054e14493f41db7 b71df49344e154d0 e1dd9a1ef98b451b53690370b393966b c32c497df6730c97",
		`"float"`:   "4d7c02cb3ea8d790 90d7a83ecb027c4d 50a6b9db85da367a6d2df400a41758a6 1e71f9ec051d663f",
		`"double"`:  "8e7535c032ab957e 7e95ab32c035758e bfc71a62f38b99d6a93690deeb4b3af6 730a9a8c611681d7",
		`"bytes"`:   "4fc016dac3201965 651920c3da16c04f b462f06cb909be57c85008867784cde6 9ae507a9dd39ee5b",
		`"string"`:  "8f014872634503c7 c70345637248018f 095d71cf12556b9d5e330ad575b3df5d e9e5c1c9e4f62773",
		order:       "1762de7facbd6a31 316abdac7fde6217 612095f02d7634c7bd42c124bd189ee9 de92e3ec78eeab0a",
	} {
		s := mustParse(t, text)
		header, md5, sha := s.SingleObjectHeader(), s.MD5(), s.SHA256()
		got := fmt.Sprintf("%016x %x %x %x", s.CRC64(), header[2:], md5, sha[:8])
		if got != want || header[0] != 0xc3 || header[1] != 0x01 {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
		crc, datum, ok := avro.SplitSingleObject(append(header[:], 7))
		if !ok || crc != s.CRC64() || hex.EncodeToString(datum) != "07" {
			t.Errorf("%s: the header is not taken off again", text)
		}
	}
	if _, _, ok := avro.SplitSingleObject([]byte{0xc3, 0x01, 0, 0, 0, 0, 0, 0, 0}); ok {
		t.Error("a header that is cut is taken off")
	}
}

func TestOutline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, text string
		want       schemas.Outline
	}{
		"needs": {
			"a.avsc", `{"type":"record","name":"n.P","fields":[{"name":"a","type":"Q"},{"name":"b","type":"m.R"},{"name":"c","type":["null","Q","P","S"]},{"name":"d","type":{"type":"fixed","name":"S","size":1}}]}`,
			schemas.Outline{Schema: true, Names: []string{"n.P", "n.S"}, Needs: []string{"n.Q", "m.R"}},
		},
		"primitive file":           {"a.avsc", `"int"`, schemas.Outline{Schema: true}},
		"named type in a .json":    {"x/a.json", `{"type":"enum","name":"E","symbols":["A"]}`, schemas.Outline{Schema: true, Names: []string{"E"}}},
		"JSON Schema in a .json":   {"a.json", `{"$schema":"x","type":"record","name":"E","fields":[]}`, schemas.Outline{}},
		"package.json":             {"package.json", `{"name":"web","type":"module"}`, schemas.Outline{}},
		"broken .json":             {"tsconfig.json", `{"a":`, schemas.Outline{}},
		"array of things, a .json": {"a.json", `["int"]`, schemas.Outline{}},
	} {
		got, err := avro.Format.Outline(c.path, c.text, schemas.Limits{})
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	if _, err := avro.Format.Outline("a.avsc", `{"type":"record"}`, schemas.Limits{}); err == nil {
		t.Error("a faulty .avsc has an outline")
	}
}

// TestWorkedExample is the example of the REST contract, 5.1.1, whose texts are
// known by their GUIDs.
func TestWorkedExample(t *testing.T) {
	t.Parallel()
	s := mustParse(t, `{ "namespace": "com.acme", "name": "User", "type": "record", "zprop": 1, "aprop": {"b": 2, "a": 1},
  "aliases": ["Person", "com.acme.Account"],
  "fields": [ {"type": {"type": "long"}, "name": "id", "order": "ascending"},
              {"name": "tags", "default": [], "type": {"items": "string", "type": "array"}, "doc": ""},
              {"name": "amount", "type": {"scale": 2, "type": "bytes", "precision": 10, "logicalType": "decimal"}},
              {"name": "parent", "default": null, "type": ["null", "User"]} ] }`)
	normalized, _ := s.Normalized()
	for text, want := range map[string]string{
		s.Canonical(): "3ee77d86-ed6f-ad34-bfaa-aa330a3a08bd",
		normalized:    "cd22cf28-89f2-39aa-230f-4fc62d9a9502",
	} {
		if got := schemas.GUIDOf(text, nil, nil, nil).String(); got != want {
			t.Errorf("%s has the GUID %s, want %s", text, got, want)
		}
	}
}
