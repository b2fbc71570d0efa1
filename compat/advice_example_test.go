package compat_test

import (
	"context"
	"fmt"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/schemas"
	format "github.com/cartorio-registry/cartorio/schemas/avro"
)

// A field that comes without a default breaks new readers; the repair is the
// schema that does not.
func ExampleAdvise() {
	parse := func(text string) (schemas.Schema, error) {
		return format.Format.Parse(context.Background(), schemas.Source{Type: schemas.Avro, Text: text}, nil, schemas.ParseOptions{})
	}
	old, err := parse(`{"type": "record", "name": "User", "fields": []}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	next, err := parse(`{"type": "record", "name": "User", "fields": [{"name": "age", "type": "int"}]}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, advice, _ := compat.Advise(compat.Question{
		Checkers: checkers.All(), Subject: "users", Level: compat.Backward,
		Next: next, History: []compat.Old{{Label: "1", Version: 1, Schema: old}},
		Variant: func(_ schemas.Schema, text string) (schemas.Schema, error) { return parse(text) },
	})
	fmt.Println(report.Verdict(), advice.Rollout)
	for _, r := range report.Compared[0].Findings[0].Repairs {
		fmt.Println(r.Text)
	}
	fmt.Println(advice.Repaired)
	// Output:
	// breaking producers-first
	// make field age optional, with the default null
	// give field age the default 0
	// {"type": "record", "name": "User", "fields": [{"name": "age", "type": ["null", "int"], "default": null}]}
}
