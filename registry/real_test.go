package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

func openReal(t testing.TB) *registry.Registry {
	return open(t, func(o *registry.Options) { o.Formats, o.Checkers = formats.All, checkers.All() })
}

func refs(list ...schemas.Reference) []schemas.Reference { return list }

// The real formats through the whole registration, in one registry: each step
// is a source under a subject and what it becomes.
func TestRealFormats(t *testing.T) {
	t.Parallel()
	const (
		person = `{"type":"record","name":"Person","namespace":"shop","fields":[{"name":"name","type":"string"}]}`
		sale   = `{"type":"record","name":"Sale","namespace":"shop","fields":[{"name":"to","type":"shop.Person"}]}`
		money  = "syntax = \"proto3\";\npackage shop;\n\nmessage Money {\n  int64 cents = 1;\n}\n"
		bill   = "syntax = \"proto3\";\npackage shop;\n\nimport \"money.proto\";\n\nmessage Bill {\n  .shop.Money sum = 1;\n}\n"
		size   = `{"$id":"size.json","type":"integer","minimum":0}`
		box    = `{"type":"object","properties":{"size":{"$ref":"size.json"}},"additionalProperties":false}`
	)
	r := openReal(t)
	for _, s := range []struct {
		name, subject string
		source        schemas.Source
		normalize     bool
		id            int32
		version       schemas.Version
		text          string
		code          registry.Code
	}{
		{name: "Avro", subject: "person", source: schemas.Source{Type: schemas.Avro, Text: ` { "namespace":"shop", "name": "Person", "type":"record","fields":[{"type":"string","name":"name"}] } `}, id: 1, version: 1, text: person},
		{name: "Avro again", subject: "person", source: schemas.Source{Type: schemas.Avro, Text: person}, id: 1, version: 1, text: person},
		{name: "Avro with a reference", subject: "sale", source: schemas.Source{Type: schemas.Avro, Text: sale, References: refs(schemas.Reference{Name: "shop.Person", Subject: "person", Version: -1})}, id: 2, version: 1, text: strings.Replace(sale, "shop.Person", "Person", 1)},
		{name: "Avro with the type inline", subject: "sale", source: schemas.Source{Type: schemas.Avro, Text: strings.Replace(sale, `"shop.Person"`, person, 1)}, id: 2, version: 1, text: strings.Replace(sale, "shop.Person", "Person", 1)},
		{name: "Avro without its reference", subject: "sale", source: schemas.Source{Type: schemas.Avro, Text: sale}, code: registry.CodeSchemaInvalid},
		{name: "Avro that breaks", subject: "person", source: schemas.Source{Type: schemas.Avro, Text: strings.Replace(person, `"string"}`, `"string"},{"name":"age","type":"int"}`, 1)}, code: registry.CodeIncompatible},
		{name: "Avro with a bad default", subject: "odd", source: schemas.Source{Type: schemas.Avro, Text: strings.Replace(person, `"string"}`, `"string","default":null}`, 1)}, code: registry.CodeSchemaInvalid},
		{name: "Protobuf", subject: "money", source: schemas.Source{Type: schemas.Protobuf, Text: "syntax=\"proto3\"; package shop; // a comment\nmessage Money { int64 cents=1; }"}, id: 3, version: 1, text: money},
		{name: "Protobuf with an import", subject: "bill", source: schemas.Source{Type: schemas.Protobuf, Text: bill, References: refs(schemas.Reference{Name: "money.proto", Subject: "money", Version: 1})}, id: 4, version: 1, text: bill},
		{name: "Protobuf under an Avro subject", subject: "person", source: schemas.Source{Type: schemas.Protobuf, Text: money}, code: registry.CodeIncompatible},
		{name: "JSON Schema", subject: "size", source: schemas.Source{Type: schemas.JSON, Text: size}, id: 5, version: 1, text: size},
		{name: "JSON Schema with a reference", subject: "box", source: schemas.Source{Type: schemas.JSON, Text: box, References: refs(schemas.Reference{Name: "size.json", Subject: "size", Version: 1})}, normalize: true, id: 6, version: 1, text: `{"additionalProperties":false,"properties":{"size":{"$ref":"size.json"}},"type":"object"}`},
		{name: "JSON Schema from elsewhere", subject: "box", source: schemas.Source{Type: schemas.JSON, Text: `{"$ref":"http://127.0.0.1:9/x.json"}`}, code: registry.CodeSchemaInvalid},
		{name: "JSON and Avro of one text", subject: "both-avro", source: schemas.Source{Type: schemas.Avro, Text: `{"type":"string","title":"t"}`}, id: 7, version: 1, text: `{"type":"string","title":"t"}`},
		{name: "and the other", subject: "both-json", source: schemas.Source{Type: schemas.JSON, Text: `{"type":"string","title":"t"}`}, id: 8, version: 1, text: `{"type":"string","title":"t"}`},
	} {
		q := registry.Registration{Subject: schemas.ParseSubject(s.subject), Source: s.source, Normalize: s.normalize}
		got, err := r.Register(t.Context(), q)
		var e *registry.Error
		switch {
		case s.code != 0:
			if !errors.As(err, &e) || e.Code != s.code {
				t.Errorf("%s: got %v, want code %d", s.name, err, s.code)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		if got.ID.Number != s.id || got.Version != s.version || got.Source.Text != s.text {
			t.Errorf("%s: id %d v%d %s\nwant id %d v%d %s", s.name, got.ID.Number, got.Version, got.Source.Text, s.id, s.version, s.text)
		}
		if want := schemas.GUIDOf(s.text, got.Source.References, nil, nil); got.GUID != want {
			t.Errorf("%s: GUID %s, want %s", s.name, got.GUID, want)
		}
		found, err := r.Lookup(t.Context(), q, false)
		if err != nil || found.ID != got.ID || found.Version != got.Version {
			t.Errorf("%s is looked up as %+v, %v", s.name, found, err)
		}
	}
	// A GUID that names two types is the smallest id.
	got, err := r.ByGUID(t.Context(), schemas.GUIDOf(`{"type":"string","title":"t"}`, nil, nil, nil))
	if err != nil || got.ID.Number != 7 {
		t.Errorf("the GUID of two types is id %d, %v", got.ID.Number, err)
	}
}

func BenchmarkRealRegisterKnown(b *testing.B) {
	r := openReal(b)
	q := registry.Registration{Subject: schemas.ParseSubject("s"), Source: schemas.Source{Type: schemas.Avro, Text: `{"type":"record","name":"R","fields":[{"name":"a","type":"string"},{"name":"b","type":["null","long"],"default":null}]}`}}
	for b.Loop() {
		if _, err := r.Register(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
}
