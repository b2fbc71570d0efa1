// Package avro parses, canonicalizes, fingerprints and reads Avro.
//
// It is written from the specification and does not lean on a library: names,
// defaults and canonical texts follow the reference implementation, because a
// schema that other registries accept today must be accepted here, and reading
// is bounded, because payloads come from strangers.
//
// It refuses to know what a comparison of two schemas is called (see
// compat/avro), where references come from, and other formats. Start with
// [Format]; [Parse] gives a [Schema], whose graph begins at Schema.Root.
package avro

import (
	"context"
	"fmt"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// Format is Avro as a value.
var Format = schemas.Format{
	Type:       schemas.Avro,
	Doc:        "Apache Avro schemas, read and written in JSON.",
	Extensions: []string{".avsc"},
	Parse: func(ctx context.Context, source schemas.Source, resolver schemas.Resolver, options schemas.ParseOptions) (schemas.Schema, error) {
		s, err := Parse(ctx, source, resolver, options)
		if err != nil {
			return nil, err // not s: a nil *Schema in an interface is not nil
		}
		return s, nil
	},
	Outline: outline,
	// Structural equality passes over the order of attributes and aliases alone.
	Likeness: schemas.Unordered,
	Forms:    []string{"resolved"},
	Form: func(s schemas.Schema, _ string) (string, error) {
		parsed, ok := s.(*Schema)
		if !ok {
			return "", fmt.Errorf("resolve a schema: it is a %T", s)
		}
		return parsed.Resolved(), nil
	},
	Tags:  tags,
	Retag: retag,
	Layout: func(text string) (string, error) {
		return jsontext.Layout(text, jsontext.Options{Comments: true})
	},
	Vocabulary: vocabulary,
}

// vocabulary lists what an Avro schema can say, each attribute with the type or
// field that carries it.
func vocabulary() []string {
	return []string{
		"type", "logicalType", "decimal.precision", "decimal.scale", "attribute",
		"record.name", "record.namespace", "record.aliases", "record.doc", "record.fields",
		"field.name", "field.type", "field.default", "field.aliases", "field.order", "field.doc", "field.attribute",
		"enum.name", "enum.namespace", "enum.aliases", "enum.doc", "enum.symbols", "enum.default",
		"fixed.name", "fixed.namespace", "fixed.aliases", "fixed.doc", "fixed.size",
		"array.items", "map.values", "union.branches",
	}
}
