package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Every message carries the data of the error catalogue.
//
// Source: REST contract 6.
func TestErrorsCarryTheirData(t *testing.T) {
	t.Parallel()
	r := open(t)
	play(t, r, `
		register common "C a" => id 1 v1 new
		register s "S" ref=C:common:1 => id 2 v1 new
		register gone "G" => id 3 v1 new
		delete gone => [1]
		mode fixed READONLY => 
	`)
	for command, want := range map[string][]string{
		`get nobody 1`:                      {"nobody"},
		`get s 7`:                           {"7"},
		`id 77`:                             {"77"},
		`get s 0`:                           {"0", "2147483647", "latest"},
		`delete gone`:                       {"gone", "permanent=true"},
		`delete s permanent`:                {"s"},
		`delete gone 1`:                     {"gone", "1", "permanent=true"},
		`delete s 1 permanent`:              {"s", "1"},
		`delete common 1`:                   {"{magic=1,keytype=SCHEMA,subject=common,version=1}", "2"},
		`register s "S a b" ref=C:common:1`: {"s"},
		`register s "S broken"`:             {"the text is broken"},
		`register s "S" ref=C:nobody:3`:     {"C", "nobody", "3"},
		`register s "S" ref=G:gone:1`:       {"G", "gone", "1", "soft-deleted"},
		`register s "T a?" version=9`:       {"s", "9", "2"},
		`register s "T a?" id=9`:            {"s", "9", "READWRITE"},
		`register fixed "T"`:                {"fixed", "'.'", "READONLY"},
		`register :.__GLOBAL:s "T"`:         {":.__GLOBAL:s"},
		`register s ""`:                     {},
		`register nobody ""`:                {"nobody"},
		`register s "S" type=THRIFT`:        {"THRIFT", "AVRO", "JSON", "PROTOBUF"},
		`mode s CURIOUS`:                    {"CURIOUS", "READWRITE", "IMPORT"},
		`mode s IMPORT`:                     {"IMPORT", "s"},
	} {
		_, err := parseCommand(command).run(t.Context(), r)
		var e *registry.Error
		if len(want) == 0 {
			if err != nil {
				t.Errorf("%s: %v", command, err)
			}
			continue
		}
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v, want an error of the registry", command, err)
			continue
		}
		for _, part := range want {
			if !strings.Contains(e.Error(), part) {
				t.Errorf("%s: %q does not tell %q", command, e, part)
			}
		}
	}
}

func TestAReportGoesWithARefusal(t *testing.T) {
	t.Parallel()
	r := open(t)
	play(t, r, `register s "A a" => id 1 v1 new`)
	_, err := parseCommand(`register s "A a b"`).run(t.Context(), r)
	var e *registry.Error
	if !errors.As(err, &e) || e.Report == nil {
		t.Fatalf("got %v, want an error with a report", err)
	}
	if len(e.Report.Messages) == 0 || e.Report.Compatible || e.Report.Subject != "s" {
		t.Errorf("the report says nothing: %+v", e.Report)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	r := open(t, func(o *registry.Options) { o.Limits.Text = 10 })
	play(t, r, `
		register s "A abcdefghijk" => 42209
		check s "A abcdefghijk" => 42209
		register s "A abcde" => id 1 v1 new
		config s new=false => {new=false}
		register s "A abcdefghijk?" => id 2 v2 new
		config s new=true => {new=true}
		register s "A abcdefghijk?" => id 2 v2
	`)
}

func TestValidateFields(t *testing.T) {
	t.Parallel()
	// The text is one word of the fake format, and JSON.
	text := `{"properties":{"a":{"properties":{"$$b":1}}}}`
	r := open(t)
	q := registry.Registration{Subject: schemas.ParseSubject("s"), Source: schemas.Source{Type: schemas.JSON, Text: text}}
	if _, err := r.SetConfig(t.Context(), q.Subject, registry.ConfigChange{Set: registry.Config{ValidateFields: ptr(true)}}); err != nil {
		t.Fatal(err)
	}
	_, err := r.Register(t.Context(), q)
	var e *registry.Error
	if !errors.As(err, &e) || e.Code != registry.CodeSchemaInvalid || !strings.Contains(e.Error(), `"$$b"`) || !strings.Contains(e.Error(), "line 1, column 35") {
		t.Errorf("got %v, want a refusal of $$b", err)
	}
	for _, fine := range []string{`{"properties":{"$b":1}}`, `{"const":{"properties":{"$$b":1}}}`} {
		q.Subject.Name, q.Source.Text = fine, fine
		if _, err := r.Register(t.Context(), q); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
}
