package linters_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/lint/linters"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// many joins n texts made of their number.
func many(n int, form, between string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(strings.ReplaceAll(form, "#", "%[1]d"), i)
	}
	return strings.Join(list, between)
}

// TestHostile looks at large texts. The bound is far from what is measured, which is
// well under a second; what is quadratic takes minutes.
func TestHostile(t *testing.T) {
	for name, source := range map[string]schemas.Source{
		"avro fields":        {Type: schemas.Avro, Text: `{"type":"record","name":"a","fields":[` + many(3_000, `{"name":"F#","type":["string","null"]}`, ",") + `]}`},
		"avro types":         {Type: schemas.Avro, Text: `{"type":"record","name":"a","fields":[` + many(2_000, `{"name":"f#","type":{"type":"fixed","name":"t#","size":1,"namespace":"x"}}`, ",") + `]}`},
		"avro depth":         {Type: schemas.Avro, Text: strings.Repeat(`{"type":"array","items":`, 120) + `"int"` + strings.Repeat("}", 120)},
		"avro symbols":       {Type: schemas.Avro, Text: `{"type":"enum","name":"a","symbols":[` + many(5_000, `"s#"`, ",") + `]}`},
		"json properties":    {Type: schemas.JSON, Text: `{"properties":{` + many(2_000, `"P_#":{"minimum":3,"maximum":2}`, ",") + `},"required":[` + many(5_000, `"q#"`, ",") + `]}`},
		"json words":         {Type: schemas.JSON, Text: `{` + many(6_000, `"requird#":1`, ",") + `}`},
		"json branches":      {Type: schemas.JSON, Text: `{"allOf":[` + many(2_000, `{"properties":{"a#":true},"additionalProperties":false}`, ",") + `]}`},
		"json definitions":   {Type: schemas.JSON, Text: `{"type":"object","properties":{` + many(1_000, `"p#":{"$ref":"~/definitions/d#"}`, ",") + `},"definitions":{` + many(1_000, `"d#":{}`, ",") + `}}`},
		"protobuf fields":    {Type: schemas.Protobuf, Text: `syntax = "proto3"; message a {` + many(3_000, "  int64 F# = 3#1;\n", "") + `}`},
		"protobuf messages":  {Type: schemas.Protobuf, Text: `syntax = "proto3";` + many(1_000, "message m# { double price = 20; }\n", "")},
		"protobuf imports":   {Type: schemas.Protobuf, Text: `syntax = "proto3"; import "google/protobuf/any.proto"; import "google/protobuf/empty.proto";` + many(1_000, "message m# { double price = 20; }\n", "")},
		"protobuf many enum": {Type: schemas.Protobuf, Text: `syntax = "proto3"; enum a {` + many(3_000, "  v# = #;\n", "") + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			source.Text = strings.ReplaceAll(source.Text, "~", "#")
			format, _ := formats.Named(source.Type)
			parse := func(text string) (schemas.Schema, error) {
				return format.Parse(context.Background(), schemas.Source{Type: source.Type, Text: text}, nil, schemas.ParseOptions{})
			}
			s, err := parse(source.Text)
			if err != nil {
				t.Fatal(err)
			}
			l, _ := linters.Of(source.Type)
			start := costtest.Spent()
			list := l.Look(lint.Subject{Schema: s, Path: "A/b C.proto", Parse: parse})
			took := costtest.Spent() - start
			t.Logf("%d bytes, %d remarks, %s", len(source.Text), len(list), took)
			if took > costtest.Slower*10*time.Second {
				t.Errorf("it took %s", took)
			}
			if len(list) > lint.Most {
				t.Errorf("%d remarks", len(list))
			}
		})
	}
}
