package jsonschema

import "github.com/cartorio-registry/cartorio/schemas"

var _ schemas.Documents = (*Schema)(nil)

// DocumentOf gives the payload itself, once it is judged: it is a document.
func (s *Schema) DocumentOf(payload schemas.Payload, options schemas.ReadOptions) ([]byte, []schemas.Violation) {
	options.Value = false
	if r := s.Reads(s, payload, options); !r.OK() {
		return nil, r.Violations
	}
	return payload.Bytes, nil
}

// PayloadOf gives the document itself, once it is judged.
func (s *Schema) PayloadOf(document []byte, _ string, options schemas.ReadOptions) ([]byte, []schemas.Violation) {
	return s.DocumentOf(schemas.Payload{Bytes: document}, options)
}
