package jsonschema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

func read(s schemas.Schema, payload string) schemas.Reading {
	return s.Reads(s, schemas.Payload{Bytes: []byte(payload)}, schemas.ReadOptions{})
}

func TestViolations(t *testing.T) {
	t.Parallel()
	s := mustParse(t, `{"type":"object","required":["id","total"],"additionalProperties":false,"properties":{
		"id":{"type":"string","pattern":"^o-","maxLength":5},"total":{"type":"number","minimum":0,"multipleOf":0.01},
		"a/b":{"items":{"enum":[1,2]}},"u":{"anyOf":[{"type":"string"},{"type":"null"}]},"c":{"const":{"x":1}},
		"o":{"oneOf":[{"type":"number"},{"type":"integer"}]},"n":{"not":{"type":"null"}},"k":{"uniqueItems":true,"contains":{"const":0}},
		"p":{"propertyNames":{"maxLength":1},"minProperties":1},"f":false,"d":{"dependencies":{"x":["y"]}}}}`)
	for _, c := range []struct {
		payload string
		want    []string // payload pointer, schema pointer, rule, part of the text
	}{
		{`{"id":"o-1","total":1.10}`, nil},
		{`{"id":1}`, []string{" /required required total", "/id /properties/id/type type an integer, not string"}},
		{`{"id":"x-12345","total":-0.001,"z":1}`, []string{
			"/id /properties/id/maxLength maxLength 7 characters, over 5", "/id /properties/id/pattern pattern does not match",
			"/total /properties/total/minimum minimum below 0", "/total /properties/total/multipleOf multipleOf no multiple of 0.01",
			` /additionalProperties additionalProperties "z" is not allowed`,
		}},
		{`{"id":"o-","total":0,"a/b":[1,3]}`, []string{"/a~1b/1 /properties/a~1b/items/enum enum none of 1, 2"}},
		{`{"id":"o-","total":0,"u":1}`, []string{"/u /properties/u/anyOf anyOf not string at /u; the value is an integer, not null at /u"}},
		{`{"id":"o-","total":0,"c":{"x":1.0}}`, nil},
		{`{"id":"o-","total":0,"c":{"x":2}}`, []string{`/c /properties/c/const const {"x":1}`}},
		{`{"id":"o-","total":0,"o":1}`, []string{"/o /properties/o/oneOf oneOf alternatives 0 and 1"}},
		{`{"id":"o-","total":0,"n":null}`, []string{"/n /properties/n/not not kind that is not allowed"}},
		{`{"id":"o-","total":0,"k":[1,1.0]}`, []string{"/k /properties/k/contains contains under 1", "/k /properties/k/uniqueItems uniqueItems items 0 and 1"}},
		{`{"id":"o-","total":0,"p":{"ab":1}}`, []string{`/p /properties/p/propertyNames propertyNames "ab" is not allowed`}},
		{`{"id":"o-","total":0,"f":1}`, []string{"/f /properties/f false nothing is allowed"}},
		{`{"id":"o-","total":0,"d":{"x":1}}`, []string{`/d /properties/d/dependentRequired dependentRequired "y" is needed`}},
		{`[]`, []string{" /type type an array, not object"}},
	} {
		got := read(s, c.payload)
		var list []string
		for _, v := range got.Violations {
			list = append(list, fmt.Sprintf("%s %s %s %s", v.Payload, v.Schema, v.Rule, v.Text))
			if v.Kind != schemas.Invalid {
				t.Errorf("%s: kind %v", c.payload, v.Kind)
			}
		}
		same := len(list) == len(c.want)
		for i := range c.want {
			parts := strings.SplitN(c.want[i], " ", 4)
			same = same && strings.HasPrefix(list[i], strings.Join(parts[:3], " ")+" ") && strings.Contains(list[i], parts[3])
		}
		if !same {
			t.Errorf("%s:\nwant %q\n got %q", c.payload, c.want, list)
		}
	}
}

func TestReadOptions(t *testing.T) {
	t.Parallel()
	s := mustParse(t, `{"items":{"type":"integer","format":"ipv4"},"properties":{"ip":{"format":"ipv4"}}}`)
	payload := func(text string) schemas.Payload { return schemas.Payload{Bytes: []byte(text)} }
	if got := s.Reads(s, payload(`["a","b","c"]`), schemas.ReadOptions{Violations: 2}); len(got.Violations) != 2 {
		t.Errorf("want 2 violations, got %v", got.Violations)
	}
	if got := s.Reads(s, payload(`{"ip":"x"}`), schemas.ReadOptions{}); !got.OK() {
		t.Errorf("format is an annotation: %v", got.Violations)
	}
	if got := s.Reads(s, payload(`{"ip":"x"}`), schemas.ReadOptions{Formats: true}); got.OK() || got.Violations[0].Rule != "format" {
		t.Errorf("format asserts when asked: %v", got.Violations)
	}
	if got := s.Reads(s, payload(`[1,2,3]`), schemas.ReadOptions{Steps: 2}); got.OK() || got.Violations[0].Kind != schemas.TooComplex {
		t.Errorf("steps: %v", got.Violations)
	}
	if got := s.Reads(s, payload(`[1,2,3]`), schemas.ReadOptions{Bytes: 3}); got.OK() || got.Violations[0].Kind != schemas.TooLarge {
		t.Errorf("bytes: %v", got.Violations)
	}
	if got := s.Reads(s, payload(`[[[1]]]`), schemas.ReadOptions{Depth: 2}); got.OK() || got.Violations[0].Kind != schemas.TooLarge {
		t.Errorf("depth: %v", got.Violations)
	}
	got := s.Reads(s, payload(`{"a":[1.50,"x",true,null]}`), schemas.ReadOptions{Value: true})
	if diff := cmp.Diff(map[string]any{"a": []any{json.Number("1.50"), "x", true, nil}}, got.Value); diff != "" {
		t.Error(diff)
	}
	if got := s.Reads(nil, payload(`1`), schemas.ReadOptions{}); got.OK() {
		t.Error("a payload without a writer is read")
	}
}

// TestReaderDecides reads with another schema than the writer's: JSON carries
// its own names, so only the reader's matters.
func TestReaderDecides(t *testing.T) {
	t.Parallel()
	writer, reader := mustParse(t, `{"type":"string"}`), mustParse(t, `{"type":"integer"}`)
	if got := reader.Reads(writer, schemas.Payload{Bytes: []byte("1")}, schemas.ReadOptions{}); !got.OK() {
		t.Error(got.Violations)
	}
	if got := reader.Reads(writer, schemas.Payload{Bytes: []byte(`"a"`)}, schemas.ReadOptions{}); got.OK() {
		t.Error("a string is read as an integer")
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b    string
		compare int
	}{
		{"1", "1.0", 0},
		{"1e2", "100", 0},
		{"-0", "0.0", 0},
		{"0.1", "1e-1", 0},
		{"9007199254740993", "9007199254740992", 1},
		{"-1", "1", -1},
		{"-2", "-1", -1},
		{"0", "-1", 1},
		{"0", "1e-400", -1},
		{"10", "9", 1},
		{"0.00012", "0.000119999", 1},
		{"123456789012345678901234567890", "123456789012345678901234567891", -1},
		{"-10", "-9", -1},
		{"1E+2", "1e2", 0},
	} {
		a, b := jsonschema.ParseNumber(c.a), jsonschema.ParseNumber(c.b)
		if got := a.Compare(b); got != c.compare {
			t.Errorf("%s and %s: want %d, got %d", c.a, c.b, c.compare, got)
		}
		if got := b.Compare(a); got != -c.compare {
			t.Errorf("%s and %s, swapped: want %d, got %d", c.a, c.b, -c.compare, got)
		}
		if same := string(a.Canonical(nil)) == string(b.Canonical(nil)); same != (c.compare == 0) {
			t.Errorf("%s and %s: canonical texts %s and %s", c.a, c.b, a.Canonical(nil), b.Canonical(nil))
		}
	}
	for _, c := range []struct {
		n, step string
		want    bool
	}{
		{"1.1", "0.1", true},
		{"0.3", "0.1", true},
		{"1e400", "7", false},
		{"7e400", "7", true},
		{"1e-400", "1e-399", false},
		{"1e-399", "1e-400", true},
		{"0", "3", true},
		{"4.5", "1.5", true},
		{"-6", "4", false},
		{"-8", "4", true},
		{"12345678901234567890", "10", true},
		{"1e308", "0.123456789", false},
		{"123456789e300", "0.123456789", true},
		{"5", "0", false},
		{"0.0075", "0.0001", true},
		{"1e20", "1024", true},
		{"1e9", "1024", false},
		{"35", "10", false},
	} {
		if got := jsonschema.ParseNumber(c.n).IsMultipleOf(jsonschema.ParseNumber(c.step)); got != c.want {
			t.Errorf("%s is a multiple of %s: want %v", c.n, c.step, c.want)
		}
	}
	// The quick way and the exact one agree.
	for _, c := range []struct {
		schema, good, bad string
	}{
		{`{"minimum":0.1}`, `0.10`, `0.09999999999999999999`},
		{`{"maximum":123456789012345678}`, `123456789012345678.0`, `123456789012345678.1`},
		{`{"exclusiveMinimum":-1e2}`, `-99.999999999999999999`, `-100`},
		{`{"multipleOf":0.000000000000000001}`, `123.000000000000000001`, `0.0000000000000000001`},
		{`{"multipleOf":0.01}`, `-10.10`, `10.101`},
		{`{"type":"integer"}`, `-120.00e-1`, `1.05`},
		{`{"type":"integer"}`, `1.50e1`, `1.50`},
	} {
		s := mustParse(t, c.schema)
		if got := read(s, c.good); !got.OK() {
			t.Errorf("%s: %s: %v", c.schema, c.good, got.Violations)
		}
		if got := read(s, c.bad); got.OK() {
			t.Errorf("%s: %s is read", c.schema, c.bad)
		}
	}
	for text, want := range map[string]bool{"1": true, "1.0": true, "1e0": true, "10e-1": true, "1.5": false, "1e-1": false, "0.0": true, "-0": true, "1.5e1": true} {
		if got := jsonschema.ParseNumber(text).IsInteger(); got != want {
			t.Errorf("%s is an integer: want %v", text, want)
		}
	}
	for text, want := range map[string]int{"0": 0, "12": 12, "1.2e1": 12, "1e30": 100, "99": 99, "1e2": 100} {
		if got, ok := jsonschema.ParseNumber(text).Int(100); !ok || got != want {
			t.Errorf("%s as a count: want %d, got %d, %v", text, want, got, ok)
		}
	}
}
