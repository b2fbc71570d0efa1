package avro_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// seedSchemas hold every construct once.
var seedSchemas = []string{
	`"string"`, `["null","int"]`, `[]`, eventSchema,
	`{"type":"record","name":"a.L","aliases":["M"],"fields":[{"name":"v","type":"L2","aliases":["w"],"default":{"z":1}},{"name":"next","type":["null","a.L"],"default":null},{"name":"d","type":{"type":"record","name":"L2","fields":[{"name":"z","type":"double"}]}}]}`,
	`{"type":"enum","name":"E","symbols":["A","B"],"default":"A","x":{"b":1e3,"a":[1,"\u00e9"]}}`,
	`{"type":"fixed","name":"F","size":12,"logicalType":"decimal","precision":4,"scale":2}`,
	`{"type":"map","values":{"type":"array","items":["float","bytes",{"type":"error","name":"E","namespace":"","fields":[]}]}}`,
	`{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}`,
	`{"type":"record","name":"n.R","fields":[{"name":"a","type":{"type":"fixed","name":".Z","size":0}},{"name":"b","type":{"type":"array","items":"null"}},{"name":"c","type":"Z","default":"","order":"ignore"}]} // end`,
}

func FuzzParse(f *testing.F) {
	for _, s := range seedSchemas {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, mode := range []schemas.Mode{schemas.New, schemas.Stored} {
			s, err := parse(text, mode)
			if err == nil {
				s.Weight()
				s.Names()
				s.Resolved()
				_ = s.Remarks()
				continue
			}
			var faults schemas.SyntaxErrors
			var limit *schemas.LimitError
			if !errors.As(err, &faults) && !errors.As(err, &limit) || len(err.Error()) == 0 {
				t.Errorf("%q is answered by %T", text, err)
			}
			for _, fault := range faults {
				if fault.Position.Line < 1 || fault.Position.Offset > len(text) || fault.Summary == "" {
					t.Errorf("%q has a fault that is not placed: %+v", text, fault)
				}
			}
			if mode == schemas.Stored {
				if _, err := parse(text, schemas.New); err == nil {
					t.Errorf("%q is accepted as new and refused as stored", text)
				}
			}
		}
		_, _ = avro.Format.Outline("a.avsc", text, schemas.Limits{})
		_, _ = avro.Format.Outline("a.json", text, schemas.Limits{})
	})
}

// FuzzCanonical holds the laws of the texts: each is accepted again, stands
// still, and means the same.
func FuzzCanonical(f *testing.F) {
	for _, s := range seedSchemas {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, mode := range []schemas.Mode{schemas.New, schemas.Stored} {
			s, err := parse(text, mode)
			if err != nil {
				continue
			}
			again, err := parse(s.Canonical(), mode)
			if err != nil {
				t.Fatalf("%q: its canonical text %q is refused: %v", text, s.Canonical(), err)
			}
			if again.Canonical() != s.Canonical() || again.Fingerprint() != s.Fingerprint() || again.ParsingForm() != s.ParsingForm() {
				t.Errorf("%q: its canonical text %q becomes %q", text, s.Canonical(), again.Canonical())
			}
			if !again.Equivalent(s) || !s.Equivalent(again) {
				t.Errorf("%q is not equivalent to its canonical text", text)
			}
			normalized, _ := s.Normalized()
			normal, err := parse(normalized, mode)
			if err != nil {
				t.Fatalf("%q: its normalized text %q is refused: %v", text, normalized, err)
			}
			if twice, _ := normal.Normalized(); twice != normalized {
				t.Errorf("%q normalizes to %q, then to %q", text, normalized, twice)
			}
			if normal.ParsingForm() != s.ParsingForm() {
				t.Errorf("%q: normalizing changes the parsing form", text)
			}
		}
	})
}

// FuzzReads holds the laws of reading: no panic, bounded work, the quick and the
// slow way agree, and what is valid has a JSON form that leads back.
func FuzzReads(f *testing.F) {
	for i, s := range seedSchemas {
		for _, payload := range [][]byte{nil, {0}, {2, 2, 'x', 0}, eventPayload(2), {4, 2, 4, 0, 0, 0, 0, 0}} {
			f.Add(s, seedSchemas[(i+1)%len(seedSchemas)], payload)
			f.Add(s, s, payload)
		}
	}
	f.Fuzz(func(t *testing.T, reads, writes string, payload []byte) {
		reader, err := avro.Parse(context.Background(), schemas.Source{Text: reads}, nil, schemas.ParseOptions{})
		if err != nil {
			return
		}
		writer, err := avro.Parse(context.Background(), schemas.Source{Text: writes}, nil, schemas.ParseOptions{})
		if err != nil {
			return
		}
		for _, w := range []*avro.Schema{reader, writer} {
			quick := reader.Reads(w, schemas.Payload{Bytes: payload}, schemas.ReadOptions{})
			slow := reader.Reads(w, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true})
			if quick.OK() != slow.OK() && slow.Violations[0].Kind != schemas.TooComplex {
				t.Errorf("reader %s writer %s payload %x: without a value %v, with %v", reads, writes, payload, quick.Violations, slow.Violations)
			}
			if verdict := reader.Reads(w, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Verdict: true}); verdict.OK() != quick.OK() {
				t.Errorf("reader %s writer %s payload %x: the verdict alone %v, with its reasons %v", reads, writes, payload, verdict.Violations, quick.Violations)
			}
			for _, v := range append(quick.Violations, slow.Violations...) {
				if v.Rule == "internal" || v.Text == "" || v.Kind == 0 {
					t.Errorf("reader %s writer %s payload %x: %+v", reads, writes, payload, v)
				}
			}
			if len(quick.Losses) != len(slow.Losses) && slow.OK() {
				t.Errorf("reader %s writer %s payload %x: losses %v and %v", reads, writes, payload, quick.Losses, slow.Losses)
			}
		}
		text, violations := reader.JSONOf(payload, schemas.ReadOptions{})
		if len(violations) > 0 {
			return
		}
		again, violations := reader.BinaryOf(text, schemas.ReadOptions{Bytes: 64 << 20})
		if len(violations) > 0 {
			t.Errorf("%s: %x is printed as %s, which is refused: %v", reads, payload, text, violations)
			return
		}
		back, violations := reader.JSONOf(again, schemas.ReadOptions{})
		if len(violations) > 0 || !bytes.Equal(back, text) {
			t.Errorf("%s: %x is printed as %s, then as %s (%v)", reads, payload, text, back, violations)
		}
	})
}
