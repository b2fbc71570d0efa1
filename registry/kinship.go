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

// kinOf hashes the canonical text as the format says, or else the normalized one:
// it has nothing of what equivalence passes over.
func kinOf(format schemas.Format, s schemas.Schema) kin {
	if format.Likeness != nil {
		return kin(format.Likeness(s.Canonical()))
	}
	text, _ := s.Normalized()
	sum := sha256.Sum256([]byte(text))
	return kin(binary.BigEndian.Uint64(sum[:]))
}

// likely tells the kin of a stored text that nobody has read since the start; ok
// is false when it has to be read for that. It was canonical when it was stored,
// and is not when another release prints texts in another way.
func (r *Registry) likely(s schemas.Source) (k kin, ok bool) {
	format, ok := r.format(s.Type)
	if !ok || format.Likeness == nil {
		return 0, false
	}
	return kin(format.Likeness(s.Text)), true
}

// mostUnlike is how many versions are read, though their text is unlike a new
// one's, before the rest is taken for what it seems: their texts may not be
// canonical. The newest are read first and each only once, so that a first
// registration after a start costs no more in a long history than in a short one.
const mostUnlike = 64

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

// mayBe tells whether e may be equivalent to something of kin k; known, whether
// that is more than a guess.
func (m *kinships) mayBe(e *entry, k kin) (maybe, known bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	own, known := m.byID[relative{schemas.ID{Context: e.space.name, Number: e.id}, e.guid}]
	return !known || own == k, known
}

func (m *kinships) keep(id schemas.ID, guid schemas.GUID, k kin) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byID == nil || len(m.byID) == mostKinships {
		m.byID = map[relative]kin{}
	}
	m.byID[relative{id, guid}] = k
}
