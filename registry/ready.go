package registry

import (
	"context"
	"errors"
	"strings"
	"time"
)

const (
	// provedFor is how long a write proves that the next one will be taken.
	provedFor = 30 * time.Second
	// scarce is the room, in bytes, below which a write proves no more than a moment.
	scarce = 1 << 20
	moment = time.Second
)

// Roomy is a journal that knows how much room there is for it, in bytes, and that
// can make what it takes for its own work free for what it writes next.
type Roomy interface {
	Room() (bytes uint64, known bool)
	// Reclaim costs as much as a few writes. Where it fails nothing is lost.
	//
	// Errors: the store's.
	Reclaim(ctx context.Context) error
}

// Ready says why writes would fail now; nil when they would not. Where no write has
// shown it for 30 seconds, or for one second while the disk has less than 1 MiB of
// room, it tries to write and takes it away again. It does so too after an append
// that the journal refused, as on a full disk, so that it finds out by itself when
// there is room.
//
// Errors: CodeStore; that of ctx.
func (r *Registry) Ready(ctx context.Context) error {
	if err := r.Err(); err != nil || !r.doubtful() {
		return err
	}
	return r.submit(ctx, &proposal{try: true})
}

// doubtful tells whether only a write can show that the journal takes writes.
func (r *Registry) doubtful() bool {
	age := r.now().Sub(time.UnixMilli(r.proved.Load()))
	if r.refused.Load() || age < 0 || age >= provedFor {
		return true
	}
	return age >= moment && r.isScarce()
}

func (r *Registry) isScarce() bool {
	j, ok := r.journal.(Roomy)
	if !ok {
		return false
	}
	room, known := j.Room()
	return known && room < scarce
}

// trial is as large as a small registration and what the database writes beside
// it: a disk that takes less is full. glance is enough where there is room.
var trial, glance = func() (Text, Text) {
	text := strings.Repeat("cartorio", 8<<10)
	return Text{HashOf(text), text}, Text{HashOf("cartorio"), "cartorio"}
}()

// tryWriting writes a text that belongs to no event, and erases it. Of many who
// ask at once only the first makes it write.
func (r *Registry) tryWriting() error {
	if err := r.Err(); err != nil || !r.doubtful() {
		return err
	}
	text := glance
	if r.refused.Load() || r.isScarce() {
		text = trial
		if j, ok := r.journal.(Roomy); ok {
			// Else the trials themselves would fill the disk. What it could not make
			// free the trial finds out.
			_ = j.Reclaim(r.life)
		}
	}
	at := r.state.revision
	_, err := r.journal.Append(r.life, at, Batch{Erase: []Hash{text.Hash}, Texts: []Text{text}})
	if err == nil {
		_, err = r.journal.Append(r.life, at, Batch{Erase: []Hash{text.Hash}})
	}
	if err != nil && !errors.Is(err, ErrMoved) { // where others write, there is room
		r.refused.Store(true)
		return storeError("try to write to the journal", err)
	}
	r.proves()
	return nil
}

// proves notes that the journal has just taken a write.
func (r *Registry) proves() {
	r.refused.Store(false)
	r.proved.Store(r.now().UnixMilli())
}
