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
	// canonical is the hash of the identity that an imported text has in its
	// canonical form; zero where that is the text itself.
	canonical Hash
}

// content is the hash by which identities are of the same content, however an
// imported text is laid out.
func (want *identity) content() Hash {
	if want.canonical != (Hash{}) {
		return want.canonical
	}
	return want.hashOf()
}

// identity is what e stands for.
func (s *State) identity(e *entry) *identity {
	want := &identity{guid: e.guid, kind: s.types[e.kind], hash: HashOf(e.text.text), references: e.references(), metadata: e.metadata(), rules: e.rules()}
	if e.more != nil {
		want.canonical = e.more.canonical
	}
	return want
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
