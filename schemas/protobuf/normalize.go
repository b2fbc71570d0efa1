package protobuf

import "github.com/cartorio-registry/cartorio/schemas"

// Normalized is the canonical text with order that means nothing sorted and
// names made absolute, and the references sorted and made distinct.
//
// Source: protobuf compatibility, E.3; REST contract 5.1.3.
func (s *Schema) Normalized() (string, []schemas.Reference) { return s.canonical, s.source.References }
