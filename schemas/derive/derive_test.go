package derive_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/derive"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

var all = []schemas.Format{avro.Format, jsonschema.Format, protobuf.Format}

// derived proposes a schema and reads every message with it; an error is one of
// the proposal.
func derived(t *testing.T, f schemas.Format, messages ...string) (string, error) {
	t.Helper()
	shape := derive.New()
	var values []*jsontext.Value
	for _, m := range messages {
		v, err := jsontext.Parse(m, jsontext.Options{Strict: true, Depth: 100})
		if err != nil {
			t.Fatal(err)
		}
		if err := shape.Add(v); err != nil {
			return "", err
		}
		values = append(values, v)
	}
	o := derive.Options{Name: "Order"}
	if f.Type != schemas.JSON {
		o.Namespace = "acme.v1"
	}
	text, err := shape.Text(f.Type, o)
	if err != nil {
		return "", err
	}
	s, err := f.Parse(context.Background(), schemas.Source{Type: f.Type, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatalf("%s: %v\n%s", f.Type, err, text)
	}
	sampler := shape.Sampler(f.Type, o)
	for i, v := range values {
		if _, violations := s.(schemas.Documents).PayloadOf([]byte(sampler(v)), "", schemas.ReadOptions{}); len(violations) > 0 {
			t.Errorf("%s: message %s, as %s, does not fit: %+v\n%s", f.Type, messages[i], sampler(v), violations, text)
		}
	}
	again, err := f.Layout(text)
	if err != nil || again != text {
		t.Errorf("%s: the text is not laid out (%v):\n%s\nbut\n%s", f.Type, err, text, again)
	}
	return text, nil
}

func TestEveryMessageFits(t *testing.T) {
	t.Parallel()
	for name, messages := range map[string][]string{
		"plain":         {`{"id":1,"name":"a","ok":true,"size":1.5}`},
		"optional":      {`{"id":1}`, `{"id":2,"note":"x"}`, `{}`},
		"null":          {`{"a":null}`, `{"a":1}`},
		"only null":     {`{"a":null}`},
		"numbers":       {`{"a":1}`, `{"a":1.5}`, `{"a":-3}`},
		"mixed":         {`{"a":1}`, `{"a":"x"}`, `{"a":[1]}`, `{"a":{"b":1}}`, `{"a":true}`, `{"a":null}`},
		"nested":        {`{"a":{"b":{"c":[{"d":1},{"e":"x"}]}}}`},
		"lists":         {`{"a":[],"b":[1,2],"c":[[1],[2,3]],"d":[null,1],"e":[1,"x"]}`},
		"same names":    {`{"order":{"order":{"x":1}},"Order":{"y":2}}`},
		"map":           {`{"by":{"a-b":1,"c d":2}}`, `{"by":{}}`},
		"map of things": {`{"by":{"1":{"x":1},"2":{"y":"z"}}}`},
		"formats":       {`{"at":"2024-05-01T10:00:00Z","on":"2024-05-01","id":"6f1c2f4e-0b1e-4f43-9d0b-0c6f6a2f2b11"}`},
		"camel":         {`{"orderId":1,"line_count":2,"URL":"x","_a":1,"a__b":2}`},
		"clash":         {`{"aB":1,"a_b":2,"a__b":3}`},
		"empty":         {`{}`, `{"a":{}}`},
		"words":         {`{"message":1,"default":2,"optional":{"repeated":"x"},"string":"y"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range all {
				text, err := derived(t, f, messages...)
				if err != nil {
					t.Errorf("%s: %v", f.Type, err)
				}
				if strings.Contains(strings.Join(messages, ""), ":") && !strings.Contains(text, "guess: ") {
					t.Errorf("%s: nothing is marked as a guess:\n%s", f.Type, text)
				}
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	messages := []string{`{"id":1,"at":"2024-05-01T10:00:00Z"}`, `{"id":2,"tags":["a"],"at":"2024-05-02T10:00:00Z"}`}
	for f, want := range map[int][]string{
		0: {`"namespace": "acme.v1"`, `"type": "long"`, `"default": null`, `guess: required, since all of 2 messages have it; looks like date-time`, `guess: optional, since 1 of 2 messages have it`},
		1: {`"format": "date-time"`, `"required": ["id", "at"]`, `"description": "derived from 2 messages`},
		2: {"package acme.v1;", "optional int64 id = 1;", "repeated string tags = 3;", "// guess: optional, since 1 of 2 messages have it"},
	} {
		text, err := derived(t, all[f], messages...)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %s in\n%s", all[f].Type, w, text)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70)
	for _, tt := range []struct {
		format   int
		messages []string
		want     string
	}{
		{0, nil, "there is no message"},
		{0, []string{`{"a":99999999999999999999}`}, "beyond a long"},
		{0, []string{`{"a":9007199254740993}`, `{"a":0.5}`}, "no double holds"},
		{2, []string{`[1]`}, "is a JSON object"},
		{1, []string{deep}, "nested deeper than 64 levels"},
	} {
		if text, err := derived(t, all[tt.format], tt.messages...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: got %v, want %s\n%s", tt.messages, err, tt.want, text)
		}
	}
	shape := derive.New()
	if err := shape.Add(&jsontext.Value{Kind: jsontext.Null}); err != nil {
		t.Fatal(err)
	}
	if _, err := shape.Text(schemas.JSON, derive.Options{Name: "a b"}); err == nil || !strings.Contains(err.Error(), "is no name") {
		t.Errorf("a name with a blank gives %v", err)
	}
}
