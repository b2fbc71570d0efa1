package avro

import "github.com/cartorio-registry/cartorio/schemas"

func (s *Schema) weigh() {
	s.weight += 500 + 3*len(s.source.Text) + 300*len(s.known)
}

// BinaryOf makes binary Avro of a value in Avro's JSON encoding.
func (s *Schema) BinaryOf(text []byte, options schemas.ReadOptions) ([]byte, []schemas.Violation) {
	return nil, nil
}

// JSONOf writes a binary payload of s in Avro's JSON encoding.
func (s *Schema) JSONOf(payload []byte, options schemas.ReadOptions) ([]byte, []schemas.Violation) {
	return nil, nil
}
