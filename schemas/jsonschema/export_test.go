package jsonschema

import (
	"math"

	"github.com/cartorio-registry/cartorio/schemas"
)

// ReadsRemembering judges a payload with the memo on from the first step: an
// ordinary reading is over before it begins.
func ReadsRemembering(s schemas.Schema, payload []byte, formats bool) (ok bool, err error) {
	schema := s.(*Schema)
	e := &evaluation{dynamic: schema.dynamic, formats: formats}
	if err := e.scan(string(payload), 10_000, schemas.Limits{}); err != nil {
		return false, err
	}
	e.steps, e.memoFrom = math.MaxInt, math.MaxInt
	return e.node(schema.root, 0, nil, nil), nil
}
