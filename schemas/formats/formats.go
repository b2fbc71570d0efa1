// Package formats lists the schema languages that are part of the product. A
// program that needs fewer links the ones it needs instead.
//
// Start with [All].
package formats

import (
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// All are the formats, in the order in which the wire lists their types.
var All = []schemas.Format{jsonschema.Format, protobuf.Format, avro.Format}

// Named finds the format of a type.
func Named(t schemas.Type) (schemas.Format, bool) {
	for _, f := range All {
		if f.Type == t {
			return f, true
		}
	}
	return schemas.Format{}, false
}
