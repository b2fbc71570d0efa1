package compat_test

import (
	"context"
	"fmt"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/schemas"
	avroformat "github.com/cartorio-registry/cartorio/schemas/avro"
)

func ExampleCheck() {
	parse := func(text string) schemas.Schema {
		s, err := avroformat.Format.Parse(context.Background(), schemas.Source{Type: schemas.Avro, Text: text}, nil, schemas.ParseOptions{})
		if err != nil {
			panic(err)
		}
		return s
	}
	old := parse(`{"type":"record","name":"User","fields":[{"name":"nick","type":"string"}]}`)
	next := parse(`{"type":"record","name":"User","fields":[{"name":"nick","type":"string"},{"name":"age","type":"int"}]}`)

	report := compat.Check(compat.Question{
		Checkers: checkers.All(),
		Subject:  "users-value",
		Level:    compat.Backward,
		Next:     next,
		History:  []compat.Old{{Label: "1", Version: 1, Schema: old}},
	})
	fmt.Println(report.Verdict())
	for _, f := range report.Compared[0].Findings {
		fmt.Println(f.Severity, f.Rule, f.Path)
		fmt.Println(f.Fix)
		fmt.Println(f.Witness.Value, f.Witness.Text)
	}
	// Output:
	// breaking
	// breaking avro.field-added-without-default User.age
	// give the field a default; for an optional one write the type as ["null", …] with "default": null.
	// {"nick":""} the writer has no field "age" and the reader has no default for it
}
