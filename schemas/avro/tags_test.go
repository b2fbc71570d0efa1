package avro_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

func parseTagged(t *testing.T, text string) schemas.Schema {
	t.Helper()
	s, err := avro.Format.Parse(context.Background(), schemas.Source{Type: schemas.Avro, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTags(t *testing.T) {
	t.Parallel()
	s := parseTagged(t, `{"type":"record","name":"User","namespace":"com.acme","confluent:tags":["B","A","A"],"fields":[
		{"name":"id","type":"long","confluent:tags":["PII"]},
		{"name":"home","type":["null",{"type":"array","items":{"type":"record","name":"Address","fields":[{"name":"street","type":"string"},{"name":"next","type":"Address"}]}}]},
		{"name":"root","type":{"type":"map","values":{"type":"record","name":"R","namespace":"","fields":[]}}}]}`)
	want := []schemas.Tagged{
		{Path: "com.acme.User", Short: "User", Tags: []string{"A", "B"}},
		{Path: "com.acme.User.id", Short: "User.id", Field: true, Top: "id", Tags: []string{"PII"}},
		{Path: "com.acme.User.home", Short: "User.home", Field: true, Top: "home"},
		{Path: "com.acme.User.home.com.acme.Address", Short: "User.home.Address"},
		{Path: "com.acme.User.home.com.acme.Address.street", Short: "User.home.Address.street", Field: true},
		{Path: "com.acme.User.home.com.acme.Address.next", Short: "User.home.Address.next", Field: true},
		{Path: "com.acme.User.root", Short: "User.root", Field: true, Top: "root"},
		{Path: "com.acme.User.root.R", Short: "User.root.R"},
	}
	if diff := cmp.Diff(want, avro.Format.Tags(s)); diff != "" {
		t.Error(diff)
	}
}

func TestRetag(t *testing.T) {
	t.Parallel()
	s := parseTagged(t, `{"type":"record","name":"User","confluent:tags":["A"],"fields":[{"name":"id","type":"long"}]}`)
	got, err := avro.Format.Retag(s, []schemas.Tagged{{Path: "User"}, {Path: "User.id", Field: true, Tags: []string{"X", "Y"}}})
	want := `{"type":"record","name":"User","fields":[{"name":"id","type":"long","confluent:tags":["X","Y"]}]}`
	if err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := avro.Format.Retag(s, []schemas.Tagged{{Path: "User.id"}}); err == nil {
		t.Error("User.id is no record")
	}
}
