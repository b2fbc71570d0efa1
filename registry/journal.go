package registry

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"
)

// Revision counts the events of a journal, from 1; 0 is the empty journal.
type Revision uint64

// Hash is the SHA-256 of a text.
type Hash [32]byte

// HashOf computes the hash of a text.
func HashOf(text string) Hash { return sha256.Sum256([]byte(text)) }

// Event is one fact of the journal. The registry decides what it says; a
// journal keeps it and never looks into Body.
type Event struct {
	Revision Revision
	Time     time.Time // milliseconds, UTC
	Actor    string    // "anonymous" until there are users
	Request  string    // request id
	Kind     string
	Body     json.RawMessage // {"v":1,…}
	Text     Hash            // zero when the event has none
}

// Text is a schema text, kept once by its hash beside the log.
type Text struct {
	Hash Hash
	Text string
}

// Batch is what one append makes durable, all or nothing.
type Batch struct {
	Events []Event // Revision is given by the journal, counting on from after
	Texts  []Text
	Erase  []Hash
}

// Record is an event with its text. Erased is true when the event has one that
// is gone.
type Record struct {
	Event
	Text   string
	Erased bool
}

// Snapshot is a folded state and the revision up to which it is folded.
type Snapshot struct {
	Revision Revision
	State    []byte
}

// Journal is the append-only log of events that the registry's state is folded
// from. It knows events and revisions, never subjects or rules.
type Journal interface {
	// Append makes batch durable behind revision after and answers the new end.
	// Erase comes first: a text that is in both lists is kept.
	//
	// Errors: ErrMoved when after is no longer the end. After any other error
	// the batch may or may not be there; the next Append tells.
	Append(ctx context.Context, after Revision, batch Batch) (Revision, error)
	// Read gives the events behind from, in order, with their texts. It stops at
	// the first error of each and answers it.
	Read(ctx context.Context, from Revision, each func(Record) error) error
	// Follow tells when the journal grew; it may miss and it may repeat. The
	// channel is closed when ctx ends. A journal with one process may answer nil.
	Follow(ctx context.Context) (<-chan struct{}, error)
	// SaveSnapshot keeps the newest snapshot; an older one than the journal has
	// is no error and changes nothing.
	SaveSnapshot(ctx context.Context, s Snapshot) error
	// LoadSnapshot answers the newest snapshot and gives every live text that it
	// may need. Without a snapshot Revision is 0 and no text is given: Read
	// from 0 gives them with their events. each must not call the journal.
	LoadSnapshot(ctx context.Context, each func(Text) error) (Snapshot, error)
	Close() error
}

// Lean is a journal that can leave the texts out of what it reads, for whoever
// has them already: they are most of its bytes.
type Lean interface {
	// ReadEvents is Read without texts: Text is empty and Erased false.
	ReadEvents(ctx context.Context, from Revision, each func(Record) error) error
}

// readEvents reads events whose texts nobody wants.
func readEvents(ctx context.Context, j Journal, from Revision, each func(Record) error) error {
	if lean, ok := j.(Lean); ok {
		return lean.ReadEvents(ctx, from, each)
	}
	return j.Read(ctx, from, each)
}

// ErrMoved says that the journal's end is not where the caller believed.
var ErrMoved = errors.New("journal has moved on")
