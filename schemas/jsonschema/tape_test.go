package jsonschema_test

import (
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// TestUnreadable reads texts that are no payload, and says where.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	s := mustParse(t, `{}`)
	many := "{" + repeat(20, func(i int) string { return `"n` + strings.Repeat("x", i) + `":1` }) + `,"nxxx":2}`
	for _, c := range []struct {
		payload, text string
		offset        int
	}{
		{``, "the text ends", 0},
		{` `, "the text ends", 1},
		{`{"a":1,}`, "name in double quotes", 7},
		{`{"a" 1}`, "a colon", 5},
		{`{"a":1 "b":2}`, "a comma or }", 7},
		{`{a:1}`, "name in double quotes", 1},
		{`{"a":1`, "object is not closed", 0},
		{`[1,]`, "where a JSON value is expected", 3},
		{`[1 2]`, "a comma or ]", 3},
		{`[1`, "array is not closed", 0},
		{`tru`, "'t' where", 0},
		{`truex`, "text after", 4},
		{`nul`, "'n' where", 0},
		{`01`, "malformed", 0},
		{`-`, "malformed", 0},
		{`1.`, "malformed", 0},
		{`.5`, "'.' where", 0},
		{`1e`, "malformed", 0},
		{`+1`, "'+' where", 0},
		{`NaN`, "'N' where", 0},
		{`"a`, "string is not closed", 0},
		{"\"a\nb\"", "control character U+000A", 2},
		{`"\x"`, `the escape \x`, 1},
		{`"\u12g4"`, "four hex digits", 1},
		{`"\`, "inside an escape", 1},
		{`"\ud800"`, "surrogate", 1},
		{`"\udc00\ud800"`, "surrogate", 1},
		{`"\ud800\u0041"`, "surrogate", 1},
		{"[\"\xff\"]", "not valid UTF-8", 1},
		{"\xef\xbb\xbf{}", "where a JSON value is expected", 0},
		{`{"a":1,"\u0061":2}`, `"a" stands here a second time`, 7},
		{many, `"nxxx" stands here a second time`, strings.LastIndex(many, `"nxxx"`)},
		{`{} /* x */`, "text after", 3},
	} {
		got := read(s, c.payload)
		if got.OK() || got.Violations[0].Kind != schemas.Unreadable || got.Violations[0].Offset != c.offset || !strings.Contains(got.Violations[0].Text, c.text) {
			t.Errorf("%q: want %q at %d, got %+v", c.payload, c.text, c.offset, got.Violations)
		}
		if _, err := jsontext.Parse(c.payload, jsontext.Options{Strict: true}); err == nil {
			t.Errorf("%q: the reader of schema texts takes it", c.payload)
		}
	}
	for _, payload := range []string{` [1 , {"a":"\ud83d\ude00\/"} ] `, `-0.0e+10`, `"é\u0000"`, `{"":{"":[]}}`, strings.Replace(many, `"nxxx":2`, `"o":2`, 1)} {
		if got := read(s, payload); !got.OK() {
			t.Errorf("%q: %v", payload, got.Violations)
		}
	}
}

// TestReadsKeepNothing reads one payload after another: what the last one left
// must not show in the next, nor in a value that was given away.
func TestReadsKeepNothing(t *testing.T) {
	t.Parallel()
	s := mustParse(t, `{"additionalProperties":{"type":"string"},"maxProperties":20}`)
	payload := []byte(`{"a":"b\n","c":"d"}`)
	got := s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true})
	for i := range payload {
		payload[i] = 'x'
	}
	if v, ok := got.Value.(map[string]any); !ok || v["a"] != "b\n" || v["c"] != "d" {
		t.Errorf("the value changed with the payload: %v", got.Value)
	}
	bad := []byte(`{"abc":1}`)
	refused := s.Reads(s, schemas.Payload{Bytes: bad}, schemas.ReadOptions{})
	copy(bad, `{"xyz":1}`)
	if refused.OK() || refused.Violations[0].Payload != "/abc" {
		t.Errorf("the violation changed with the payload: %+v", refused.Violations)
	}
	if got := read(s, `{"a":"b"}`); !got.OK() {
		t.Errorf("a reading after a refusal: %v", got.Violations)
	}
}
