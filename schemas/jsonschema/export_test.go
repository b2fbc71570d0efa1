package jsonschema

import (
	"math"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// ReadsRemembering judges a payload with the memo on from the first step: an
// ordinary reading is over before it begins.
func ReadsRemembering(s schemas.Schema, payload []byte, formats bool) (ok bool, err error) {
	v, err := jsontext.Parse(string(payload), jsontext.Options{})
	if err != nil {
		return false, err
	}
	schema := s.(*Schema)
	e := &evaluation{steps: math.MaxInt, memoFrom: math.MaxInt, dynamic: schema.dynamic, formats: formats}
	return e.node(schema.root, v, nil, nil), nil
}
