package protobuf

import (
	"github.com/cartorio-registry/cartorio/schemas"
)

var _ schemas.Documents = (*Schema)(nil)

// DocumentOf writes a payload in Protobuf's JSON mapping, as ToJSON does. Fields
// that s does not know are not in it.
func (s *Schema) DocumentOf(payload schemas.Payload, options schemas.ReadOptions) ([]byte, []schemas.Violation) {
	options.Value = false
	if r := s.Reads(s, payload, options); !r.OK() {
		return nil, r.Violations
	}
	out, err := s.ToJSON(payload, options)
	if err != nil {
		return nil, []schemas.Violation{{Kind: schemas.Invalid, Offset: -1, Rule: "json", Text: err.Error()}}
	}
	return out, nil
}

// PayloadOf reads a document in the JSON mapping, as FromJSON does, and judges
// what it made.
func (s *Schema) PayloadOf(document []byte, message string, options schemas.ReadOptions) ([]byte, []schemas.Violation) {
	out, err := s.FromJSON(message, document, options)
	if err != nil {
		return nil, []schemas.Violation{{Kind: schemas.Invalid, Offset: -1, Rule: "json", Text: err.Error()}}
	}
	options.Value = false
	if r := s.Reads(s, schemas.Payload{Bytes: out, Message: message}, options); !r.OK() {
		return nil, r.Violations
	}
	return out, nil
}
