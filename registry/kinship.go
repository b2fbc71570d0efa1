package registry

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/cartorio-registry/cartorio/schemas"
)

// kin is a hash that schemas with the same references have in common when they
// are equivalent.
type kin uint64

// kinOf hashes the normalized text: it has nothing of what equivalence passes
// over.
func kinOf(s schemas.Schema) kin {
	text, _ := s.Normalized()
	sum := sha256.Sum256([]byte(text))
	return kin(binary.BigEndian.Uint64(sum[:]))
}

// mostKinships bounds what is remembered, at about 40 bytes each.
const mostKinships = 1 << 20

// kinships remember the kin of what ids stand for, so that a new schema is
// compared with those of a long history that may be equivalent, not with all: to
// read them anew each time is what takes long.
type kinships struct {
	mu   sync.RWMutex
	byID map[relative]kin
}

// relative is an id with what it stands for: an import may give the number of
// something deleted to something else.
type relative struct {
	id   schemas.ID
	guid schemas.GUID
}

// mayBe tells whether e may be equivalent to something of kin k.
func (m *kinships) mayBe(e *entry, k kin) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	known, ok := m.byID[relative{schemas.ID{Context: e.space.name, Number: e.id}, e.guid}]
	return !ok || known == k
}

func (m *kinships) keep(id schemas.ID, guid schemas.GUID, k kin) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byID == nil || len(m.byID) == mostKinships {
		m.byID = map[relative]kin{}
	}
	m.byID[relative{id, guid}] = k
}
