package registry

import (
	"context"
	"errors"
	"strings"
)

// Ready says why writes would fail now; nil when they would not. After an append
// that the journal refused, as on a full disk, it tries to write and takes it
// away again, so that it finds out by itself when there is room.
//
// Errors: CodeStore; that of ctx.
func (r *Registry) Ready(ctx context.Context) error {
	if err := r.Err(); err != nil || !r.refused.Load() {
		return err
	}
	return r.submit(ctx, &proposal{try: true})
}

// trial is as large as a small registration and what the database writes beside
// it: a disk that takes less is full.
var trial = func() Text {
	text := strings.Repeat("cartorio", 8<<10)
	return Text{HashOf(text), text}
}()

// tryWriting writes a text that belongs to no event, and erases it.
func (r *Registry) tryWriting() error {
	if err := r.Err(); err != nil {
		return err
	}
	at := r.state.revision
	_, err := r.journal.Append(r.life, at, Batch{Erase: []Hash{trial.Hash}, Texts: []Text{trial}})
	if err == nil {
		_, err = r.journal.Append(r.life, at, Batch{Erase: []Hash{trial.Hash}})
	}
	if err != nil && !errors.Is(err, ErrMoved) { // where others write, there is room
		return storeError("try to write to the journal", err)
	}
	r.refused.Store(false)
	return nil
}
