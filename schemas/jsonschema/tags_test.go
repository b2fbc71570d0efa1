package jsonschema_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

func TestTags(t *testing.T) {
	t.Parallel()
	text := `{"type":"object","properties":{"a":{"type":"string","confluent:tags":["PII"]},"b":{"type":"object","properties":{"c":true,"d":{}}},` +
		`"e":{"type":"array","items":{"properties":{"f":{}}}}},"allOf":[{"properties":{"g":{}}}],"$defs":{"D":{"type":"object"}}}`
	s, err := jsonschema.Format.Parse(context.Background(), schemas.Source{Type: schemas.JSON, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []schemas.Tagged{
		{Path: "object"},
		{Path: "object.a", Field: true, Top: "a", Tags: []string{"PII"}},
		{Path: "object.b", Field: true, Top: "b"},
		{Path: "object.b.object"},
		{Path: "object.b.object.c", Field: true},
		{Path: "object.b.object.d", Field: true},
		{Path: "object.e", Field: true, Top: "e"},
		{Path: "object.e.array.object"},
		{Path: "object.e.array.object.f", Field: true},
		{Path: "allof.0.object"},
		{Path: "allof.0.object.g", Field: true},
		{Path: "$defs.D.object"},
	}
	if diff := cmp.Diff(want, jsonschema.Format.Tags(s)); diff != "" {
		t.Error(diff)
	}
	got, err := jsonschema.Format.Retag(s, []schemas.Tagged{{Path: "object.a", Field: true}, {Path: "allof.0.object.g", Field: true, Tags: []string{"T"}}})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":true,"d":{}}},` +
		`"e":{"type":"array","items":{"properties":{"f":{}}}}},"allOf":[{"properties":{"g":{"confluent:tags":["T"]}}}],"$defs":{"D":{"type":"object"}}}`; got != want {
		t.Error(got)
	}
	got, err = jsonschema.Format.Retag(s, []schemas.Tagged{{Path: "object.b.object.c", Field: true, Tags: []string{"T"}}})
	if err != nil || !strings.Contains(got, `{"c":{"confluent:tags":["T"]},"d"`) {
		t.Errorf("true with a tag: %s, %v", got, err)
	}
	if _, err := jsonschema.Format.Retag(s, []schemas.Tagged{{Path: "object.none", Field: true}}); err == nil {
		t.Error("a property that is not there was tagged")
	}
}
