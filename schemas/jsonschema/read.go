package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// The default budget of a reading: a fixed part, and one in proportion to the
// payload.
const (
	stepsBase    = 1_000_000
	stepsPerByte = 8
)

// Reads judges whether a payload fits this schema. That is the whole question:
// JSON carries its own names, so nothing of the writer's schema is needed, and a
// value that is read is the value that was written.
//
// A payload must be one JSON value in UTF-8 without repeated member names;
// numbers may have 1,000 digits and exponents up to ±400.
func (s *Schema) Reads(writer schemas.Schema, payload schemas.Payload, o schemas.ReadOptions) schemas.Reading {
	o = o.OrDefault()
	refuse := func(kind schemas.ViolationKind, rule string, offset int, text string) schemas.Reading {
		return schemas.Reading{Violations: []schemas.Violation{{Kind: kind, Offset: offset, Rule: rule, Text: text}}}
	}
	if w, ok := writer.(*Schema); !ok || w == nil {
		return refuse(schemas.Invalid, "format", -1, "the writer's schema is no JSON Schema")
	}
	if err := s.Err(); err != nil {
		return refuse(schemas.Invalid, "schema", -1, fmt.Sprintf("the schema cannot be used: %v", err))
	}
	if len(payload.Bytes) > o.Bytes {
		return refuse(schemas.TooLarge, "size", -1, fmt.Sprintf("the payload has %d bytes, over the limit of %d", len(payload.Bytes), o.Bytes))
	}
	limits := schemas.DefaultLimits()
	value, err := jsontext.Parse(string(payload.Bytes), jsontext.Options{
		Depth: o.Depth, Digits: limits.Digits, Exponent: limits.Exponent, Strict: true,
	})
	if err != nil {
		return unreadable(err)
	}
	steps := o.Steps
	if steps <= 0 {
		steps = stepsBase + stepsPerByte*len(payload.Bytes)
	}
	reading := schemas.Reading{Violations: judge(s.root, value, s.dynamic, nil, steps, o.Violations, o.Formats)}
	if o.Value && reading.OK() {
		reading.Value = native(value)
	}
	return reading
}

func unreadable(err error) schemas.Reading {
	v := schemas.Violation{Kind: schemas.Unreadable, Offset: -1, Rule: "json", Text: fmt.Sprintf("the payload is no JSON: %v", err)}
	if limit, ok := errors.AsType[*schemas.LimitError](err); ok {
		v.Kind, v.Rule, v.Offset = schemas.TooLarge, "size", limit.Position.Offset
		v.Text = fmt.Sprintf("the payload is over the limit of %d for %s: found %d", limit.Most, limit.Limit, limit.Found)
	} else if syntax, ok := errors.AsType[schemas.SyntaxErrors](err); ok {
		v.Offset = syntax[0].Position.Offset
	}
	return schemas.Reading{Violations: []schemas.Violation{v}}
}

// judge answers with the violations of a value, none when it fits.
func judge(root *Node, v *jsontext.Value, dynamic bool, skip map[*jsontext.Value]bool, steps, most int, formats bool) []schemas.Violation {
	e := &evaluation{steps: steps, formats: formats, dynamic: dynamic, skip: skip, most: most}
	e.memoFrom = steps - 10_000 - (v.End - v.Start)
	if e.node(root, v, nil, nil) {
		return nil
	}
	if e.out {
		return []schemas.Violation{{
			Kind: schemas.TooComplex, Offset: -1, Rule: "steps",
			Text: fmt.Sprintf("judging the payload takes more than %d steps", steps),
		}}
	}
	e.collect, e.steps, e.memoFrom = true, steps, math.MaxInt
	e.node(root, v, nil, nil)
	if len(e.violations) == 0 {
		return []schemas.Violation{{
			Kind: schemas.Invalid, Offset: v.Start, Schema: root.where(""), Rule: "schema",
			Text: "the value does not fit the schema; telling why takes too many steps",
		}}
	}
	return e.violations
}

// native is a JSON value as Go has it, numbers as json.Number.
func native(v *jsontext.Value) any {
	switch v.Kind {
	case jsontext.Bool:
		return v.Bool
	case jsontext.Number:
		return json.Number(v.Text)
	case jsontext.String:
		return v.Text
	case jsontext.Array:
		out := make([]any, len(v.Items))
		for i, item := range v.Items {
			out[i] = native(item)
		}
		return out
	case jsontext.Object:
		out := make(map[string]any, len(v.Members))
		for i := range v.Members {
			out[v.Members[i].Name] = native(v.Members[i].Value)
		}
		return out
	default:
		return nil
	}
}
