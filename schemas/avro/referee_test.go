package avro_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/linkedin/goavro/v2"
	twmb "github.com/twmb/avro"
)

// The libraries judge what we write and read, on schemas and payloads made at
// random from a fixed seed. They get our Parsing Canonical Form: on other texts
// they go their own ways.
const refereeRounds = 400

func TestRefereesReadWhatWeCallValid(t *testing.T) {
	t.Parallel()
	compared := 0
	for seed := range uint64(refereeRounds) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := mustParse(t, randomSchema(r))
		form := s.ParsingForm()
		codec, err := goavro.NewCodec(form)
		if err != nil {
			t.Fatalf("seed %d: goavro refuses %s: %v", seed, form, err)
		}
		other, err := twmb.Parse(form)
		if err != nil {
			t.Fatalf("seed %d: twmb/avro refuses %s: %v", seed, form, err)
		}
		if got := string(other.Canonical()); got != form {
			t.Errorf("seed %d: twmb/avro's canonical form\n got %s\nours %s", seed, got, form)
		}
		for range 8 {
			payload, ok := randomPayload(r, s.Root(), nil, 0)
			if !ok {
				continue
			}
			if !valid(s, payload) {
				t.Errorf("seed %d: %s\n%x\nour reader refuses what was written for it: %v", seed, form, payload, violations(s, payload))
				continue
			}
			if native, rest, err := codec.NativeFromBinary(payload); err != nil || len(rest) > 0 {
				t.Errorf("seed %d: %s\n%x\ngoavro: %v (%d left over), value %v", seed, form, payload, err, len(rest), native)
			}
			compared++

			// A payload with one byte changed, or cut: where we say yes the
			// others must.
			broken := bytes.Clone(payload)
			if len(broken) > 0 && r.IntN(2) == 0 {
				broken[r.IntN(len(broken))] ^= byte(1 + r.IntN(255))
			} else if len(broken) > 0 {
				broken = broken[:r.IntN(len(broken))]
			}
			var value any
			rest, err := other.Decode(broken, &value)
			theirs := err == nil && len(rest) == 0
			if valid(s, broken) && !theirs {
				t.Errorf("seed %d: %s\n%x\nwe read it, twmb/avro does not: %v (%d left over)", seed, form, broken, err, len(rest))
			}
			if theirs && !valid(s, broken) && !stricter(s, broken) {
				t.Errorf("seed %d: %s\n%x\ntwmb/avro reads it, we do not: %v", seed, form, broken, violations(s, broken))
			}
		}
	}
	if compared < refereeRounds {
		t.Errorf("only %d payloads were compared", compared)
	}
}

// stricter tells of the refusals in which we are stricter on purpose.
func stricter(s *avro.Schema, payload []byte) bool {
	for _, v := range s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{}).Violations {
		switch v.Rule {
		case "utf8", "boolean", "block-size", "varint":
			return true
		}
	}
	return false
}

func valid(s *avro.Schema, payload []byte) bool {
	return s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{}).OK()
}

func violations(s *avro.Schema, payload []byte) []schemas.Violation {
	return s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{}).Violations
}

func TestRefereesAgreeOnValues(t *testing.T) {
	t.Parallel()
	compared := 0
	for seed := range uint64(refereeRounds) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := mustParse(t, randomSchema(r))
		other := twmb.MustParse(s.ParsingForm())
		for range 4 {
			payload, ok := randomPayload(r, s.Root(), nil, 0)
			if !ok {
				continue
			}
			var theirs any
			if _, err := other.Decode(payload, &theirs); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			ours := s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true})
			if got, want := plain(ours.Value), plain(theirs); !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d: %s\n%x\n got %v\nwant %v", seed, s.ParsingForm(), payload, got, want)
			}
			compared++
		}
	}
	if compared < refereeRounds {
		t.Errorf("only %d values were compared", compared)
	}
}

// plain brings the numbers and bytes of two libraries to one form.
func plain(v any) any {
	switch v := v.(type) {
	case int32:
		return int64(v)
	case int:
		return int64(v)
	case float32:
		return float64(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = plain(v[k])
		}
		return out
	}
	if b := reflect.ValueOf(v); b.IsValid() && (b.Kind() == reflect.Array || b.Kind() == reflect.Slice) && b.Type().Elem().Kind() == reflect.Uint8 {
		return fmt.Sprintf("%x", v)
	}
	return v
}

func TestRefereesAgreeOnAvroJSON(t *testing.T) {
	t.Parallel()
	compared := 0
	for seed := range uint64(refereeRounds) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := mustParse(t, randomSchema(r))
		codec, err := goavro.NewCodec(s.ParsingForm())
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			payload, ok := randomPayload(r, s.Root(), nil, 0)
			if !ok {
				continue
			}
			text, broken := s.JSONOf(payload, schemas.ReadOptions{})
			if len(broken) > 0 {
				t.Fatalf("seed %d: %v", seed, broken)
			}
			again, broken := s.BinaryOf(text, schemas.ReadOptions{})
			if len(broken) > 0 {
				t.Fatalf("seed %d: %s\n%v", seed, text, broken)
			}
			back, broken := s.JSONOf(again, schemas.ReadOptions{})
			if len(broken) > 0 || !bytes.Equal(text, back) {
				t.Errorf("seed %d: JSON changed on the way through bytes (%v)\n%s\n%s", seed, broken, text, back)
			}
			native, _, err := codec.NativeFromTextual(text)
			if err != nil {
				t.Errorf("seed %d: goavro refuses our JSON: %v\n%s", seed, err, text)
				continue
			}
			theirs, err := codec.TextualFromNative(nil, native)
			if err != nil {
				t.Fatal(err)
			}
			var a, b any
			if json.Unmarshal(text, &a) != nil || json.Unmarshal(theirs, &b) != nil || !reflect.DeepEqual(a, b) {
				t.Errorf("seed %d: goavro writes other JSON\nours   %s\ntheirs %s", seed, text, theirs)
			}
			compared++
		}
	}
	if compared < refereeRounds {
		t.Errorf("only %d values were compared", compared)
	}
}

func TestRefereeAgreesOnResolution(t *testing.T) {
	t.Parallel()
	edits := [][2]string{
		{`"int"`, `"long"`},
		{`"int"`, `"double"`},
		{`"long"`, `"float"`},
		{`"float"`, `"double"`},
		{`"string"`, `"bytes"`},
		{`"boolean"`, `["null","boolean"]`},
		{`"long"`, `["null","long","double"]`},
		{`"fields":[`, `"fields":[{"name":"added","type":["null","string"],"default":null},`},
		{`"fields":[`, `"fields":[{"name":"added","type":{"type":"array","items":"double"},"default":[1,2.5]},`},
		{`"symbols":["A","B","C"`, `"symbols":["C","Z","A","B"`},
		{`"symbols":["A","B"]`, `"default":"A","symbols":["A"]`},
		{`"name":"f0","type"`, `"name":"g0","aliases":["f0"],"type"`},
		{`{"name":"f1","type":"double"}`, `{"name":"f9","type":"double","default":1}`},
	}
	compared, read := 0, 0
	for seed := range uint64(4 * refereeRounds) {
		r := rand.New(rand.NewPCG(seed, 4))
		from := randomSchema(r)
		to := from
		for range 1 + r.IntN(3) {
			edit := edits[r.IntN(len(edits))]
			parts := strings.Split(to, edit[0])
			if len(parts) < 2 {
				continue
			}
			at := 1 + r.IntN(len(parts)-1)
			to = strings.Join(parts[:at], edit[0]) + edit[1] + strings.Join(parts[at:], edit[0])
		}
		reader, err := avro.Parse(context.Background(), schemas.Source{Text: to}, nil, schemas.ParseOptions{})
		if err != nil || to == from {
			continue // an edit may make a union hold a type twice
		}
		writer := mustParse(t, from)
		theirReader, err := twmb.Parse(to)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, to)
		}
		resolved, err := twmb.Resolve(twmb.MustParse(from), theirReader)
		if err != nil {
			continue
		}
		for range 4 {
			payload, ok := randomPayload(r, writer.Root(), nil, 0)
			if !ok {
				continue
			}
			compared++
			var theirs any
			_, err := resolved.Decode(payload, &theirs)
			ours := reader.Reads(writer, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true})
			if ours.OK() != (err == nil) {
				t.Errorf("seed %d\nwriter %s\nreader %s\n%x\nours %v, theirs %v", seed, from, to, payload, ours.Violations, err)
				continue
			}
			if err != nil {
				continue
			}
			read++
			if got, want := plain(ours.Value), plain(theirs); !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d\nwriter %s\nreader %s\n%x\n got %v\nwant %v", seed, from, to, payload, got, want)
			}
		}
	}
	if read < refereeRounds {
		t.Errorf("only %d of %d payloads were read", read, compared)
	}
}
