// Package jsonschema parses, canonicalizes, fingerprints and reads JSON Schema:
// drafts 4, 6, 7, 2019-09 and 2020-12.
//
// It never fetches anything: a $ref is answered by a declared reference, by the
// document itself or by a bundled meta-schema, or it is an error. It knows
// nothing of comparing; that is compat/jsonschema, which walks the [Node] tree.
//
// Start with [Format]; [Schema] is what its Parse returns.
package jsonschema

import (
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// Format is JSON Schema for the lists of formats.
var Format = schemas.Format{
	Type:       schemas.JSON,
	Doc:        "JSON Schema, drafts 4, 6, 7, 2019-09 and 2020-12",
	Extensions: []string{".json", ".schema.json"},
	Parse:      parse,
	Outline:    outline,
	Likeness:   schemas.Unordered,
	Tags:       tags,
	Retag:      retag,
	Layout:     func(text string) (string, error) { return jsontext.Layout(text, jsontext.Options{}) },
	Vocabulary: words,
}
