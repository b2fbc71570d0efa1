package avro

import "github.com/cartorio-registry/cartorio/schemas"

type program struct{}
type resolverCache struct{}

func compile(t *Type) *program { return &program{} }

func (s *Schema) weigh() {
	s.weight += 500 + 3*len(s.source.Text) + 300*len(s.known)
}

// Reads judges a payload.
func (s *Schema) Reads(writer schemas.Schema, payload schemas.Payload, options schemas.ReadOptions) schemas.Reading {
	return schemas.Reading{Violations: []schemas.Violation{{Kind: schemas.Unreadable, Text: "reading is being built"}}}
}

// BinaryOf makes binary Avro of a value in Avro's JSON encoding.
func (s *Schema) BinaryOf(text []byte, options schemas.ReadOptions) ([]byte, []schemas.Violation) {
	return nil, nil
}

// JSONOf writes a binary payload of s in Avro's JSON encoding.
func (s *Schema) JSONOf(payload []byte, options schemas.ReadOptions) ([]byte, []schemas.Violation) {
	return nil, nil
}
