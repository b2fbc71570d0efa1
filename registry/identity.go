package registry

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/cartorio-registry/cartorio/schemas"
)

// identity is what makes two registrations share an id in a context.
//
// Source: REST contract 5.2.
type identity struct {
	guid       schemas.GUID
	kind       schemas.Type
	hash       Hash // of the text
	references []schemas.Reference
	metadata   *schemas.Metadata
	rules      *schemas.RuleSet
}

// hashOf covers every part of the identity and marks where each ends, which the
// GUID does not.
func (want *identity) hashOf() Hash {
	body := encodeBody(registeredBody{
		Type: want.kind, References: referencesToBody(want.references),
		Metadata: metadataToBody(want.metadata), RuleSet: ruleSetToBody(want.rules),
	})
	h := sha256.New()
	h.Write(want.hash[:])
	h.Write(body)
	return Hash(h.Sum(nil))
}

func guidKey(g schemas.GUID) uint64 { return binary.BigEndian.Uint64(g[:8]) }
