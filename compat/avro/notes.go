package avro

import (
	"slices"
	"sync"

	"github.com/cartorio-registry/cartorio/compat"
)

// notes are the changes that a differ has met, and what it knows of each. They are
// taken down in a book that was used for other pairs before: of wide records many
// are to be held, for a moment.
type notes struct {
	changes []compat.Change
	keys    []identity // beside changes
	hurts   []hurt     // beside changes
}

// identity is what makes two reports one change.
type identity struct {
	rule     string
	old, new placed
	detail   string
}

var books = sync.Pool{New: func() any { return new(notes) }}

// mostKept is how many changes an unused book has room for.
const mostKept = 1_000

// noted is a copy of the changes, for somebody to keep.
func (n *notes) noted() []compat.Change {
	if len(n.changes) == 0 {
		return nil
	}
	return slices.Clone(n.changes)
}

// release gives the book back; nothing may be read in it any more.
func (n *notes) release() {
	if cap(n.changes) > mostKept {
		return
	}
	clear(n.changes)
	clear(n.keys)
	clear(n.hurts)
	n.changes, n.keys, n.hurts = n.changes[:0], n.keys[:0], n.hurts[:0]
	books.Put(n)
}
