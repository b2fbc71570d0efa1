package avro_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/schemas"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	const nullable = `{"type":"record","name":"R","fields":[{"name":"a","type":["null","string"]}]}`
	const wide = `{"type":"record","name":"R","fields":[{"name":"a","type":["null","string","long",{"type":"enum","name":"E","symbols":["X"]}]}]}`
	const maps = `{"type":"record","name":"R","fields":[{"name":"a","type":["null",{"type":"map","values":"long"}]}]}`
	for _, tt := range []struct {
		name, schema, document string
		want                   []byte
		back                   string // what DocumentOf gives, where it is another text
		rule                   string // of the violation
	}{
		{name: "null", schema: nullable, document: `{"a":null}`, want: []byte{0}},
		{name: "a bare value", schema: nullable, document: `{"a":"x"}`, want: []byte{2, 2, 'x'}},
		{name: "a name around it", schema: nullable, document: `{"a":{"string":"x"}}`, want: []byte{2, 2, 'x'}, back: `{"a":"x"}`},
		{name: "wide, by its name", schema: wide, document: `{"a":{"long":1}}`, want: []byte{4, 2}},
		{name: "wide, one branch takes it", schema: wide, document: `{"a":1}`, want: []byte{4, 2}, back: `{"a":{"long":1}}`},
		{name: "wide, no symbol", schema: wide, document: `{"a":"Y"}`, want: []byte{2, 2, 'Y'}, back: `{"a":{"string":"Y"}}`},
		{name: "wide, two could be meant", schema: wide, document: `{"a":"X"}`, rule: "union"},
		{name: "wide, none takes it", schema: wide, document: `{"a":true}`, rule: "union"},
		{name: "a map that looks like a name", schema: maps, document: `{"a":{"map":1}}`, want: append([]byte{2, 2, 6}, "map\x02\x00"...)},
		{name: "a missing field", schema: nullable, document: `{}`, rule: "field-missing"},
		{name: "an unknown field", schema: nullable, document: `{"a":null,"b":1}`, rule: "field-unknown"},
		{name: "no JSON", schema: nullable, document: `{`, rule: "json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := mustParse(t, tt.schema)
			got, violations := s.PayloadOf([]byte(tt.document), "", schemas.ReadOptions{})
			if tt.rule != "" {
				if len(violations) == 0 || violations[0].Rule != tt.rule {
					t.Fatalf("%x, %v", got, violations)
				}
				return
			}
			if len(violations) > 0 || !bytes.Equal(got, tt.want) {
				t.Fatalf("%x, %v, want %x", got, violations, tt.want)
			}
			back, violations := s.DocumentOf(schemas.Payload{Bytes: got}, schemas.ReadOptions{})
			want := tt.document
			if tt.back != "" {
				want = tt.back
			}
			if d := cmp.Diff(want, string(back)); d != "" || len(violations) > 0 {
				t.Error(d, violations)
			}
		})
	}
}

// TestDocumentsComeBack writes random payloads as documents and reads them.
func TestDocumentsComeBack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(20, 26))
	tried := 0
	for range 300 {
		text := randomSchema(r)
		s, err := parse(text, schemas.New)
		if err != nil {
			continue
		}
		payload, ok := randomPayload(r, s.Root(), nil, 0)
		if !ok {
			continue
		}
		before := s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true})
		if !before.OK() {
			continue
		}
		document, violations := s.DocumentOf(schemas.Payload{Bytes: payload}, schemas.ReadOptions{})
		if len(violations) > 0 {
			if violations[0].Rule == "steps" {
				continue // out of proportion, which Reads cannot know
			}
			t.Fatalf("%s\n%x: %v", text, payload, violations)
		}
		again, violations := s.PayloadOf(document, "", schemas.ReadOptions{})
		if len(violations) > 0 {
			t.Fatalf("%s\n%s: %v", text, document, violations)
		}
		after := s.Reads(s, schemas.Payload{Bytes: again}, schemas.ReadOptions{Value: true})
		if d := cmp.Diff(before.Value, after.Value); d != "" {
			t.Fatalf("%s\n%s\n%s", text, document, d)
		}
		tried++
	}
	if tried < 100 {
		t.Errorf("only %d payloads were tried", tried)
	}
}
