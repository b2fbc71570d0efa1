package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
)

// Append makes batch durable behind revision after and answers the new end.
//
// Errors: registry.ErrMoved when after is no longer the end.
func (j *Journal) Append(ctx context.Context, after registry.Revision, batch registry.Batch) (registry.Revision, error) {
	end, err := j.append(ctx, after, batch)
	if err != nil && !errors.Is(err, registry.ErrMoved) {
		return 0, fmt.Errorf("append %d events to %s: %w", len(batch.Events), j.path, explain(err))
	}
	return end, err
}

func (j *Journal) append(ctx context.Context, after registry.Revision, batch registry.Batch) (end registry.Revision, err error) {
	if j.end == nil {
		return 0, errors.New("it was opened for reading only")
	}
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			// The cause is what counts; after a failed commit there is
			// nothing left to roll back.
			_ = tx.Rollback()
		}
	}()
	//nolint:sqlclosecheck // the statements of a transaction end with it
	if err := tx.StmtContext(ctx, j.end).QueryRowContext(ctx).Scan(&end); err != nil {
		return 0, err
	}
	if end != after {
		return 0, registry.ErrMoved
	}
	erase := tx.StmtContext(ctx, j.erase) //nolint:sqlclosecheck // as above
	for _, h := range batch.Erase {
		if _, err := erase.ExecContext(ctx, h[:]); err != nil {
			return 0, err
		}
	}
	addText := tx.StmtContext(ctx, j.addText) //nolint:sqlclosecheck // as above
	for _, t := range batch.Texts {
		if _, err := addText.ExecContext(ctx, t.Hash[:], t.Text); err != nil {
			return 0, err
		}
	}
	addEvent := tx.StmtContext(ctx, j.addEvent) //nolint:sqlclosecheck // as above
	for _, e := range batch.Events {
		end++
		var text any
		if e.Text != (registry.Hash{}) {
			text = e.Text[:]
		}
		if _, err := addEvent.ExecContext(ctx, int64(end), e.Time.UnixMilli(), e.Actor, e.Request, e.Kind, string(e.Body), text); err != nil {
			return 0, err
		}
	}
	return end, tx.Commit()
}

// Bounds of what Read holds at once: the one connection is free for an append
// between two pages.
const (
	eventsPerPage = 1000
	bytesPerPage  = 4 << 20
)

// Read gives the events behind from, in order, with their texts.
func (j *Journal) Read(ctx context.Context, from registry.Revision, each func(registry.Record) error) error {
	return j.pages(ctx, withTexts, from, each)
}

// ReadEvents gives the events behind from, in order, without their texts.
func (j *Journal) ReadEvents(ctx context.Context, from registry.Revision, each func(registry.Record) error) error {
	return j.pages(ctx, withoutTexts, from, each)
}

const (
	withTexts = `
		SELECT e.revision, e.time, e.actor, e.request, e.kind, e.body, e.text, t.text
		FROM events e LEFT JOIN texts t ON t.hash = e.text
		WHERE e.revision > ? ORDER BY e.revision LIMIT ?`
	withoutTexts = `
		SELECT revision, time, actor, request, kind, body, text, ''
		FROM events WHERE revision > ? ORDER BY revision LIMIT ?`
)

func (j *Journal) pages(ctx context.Context, query string, from registry.Revision, each func(registry.Record) error) error {
	for {
		page, err := j.page(ctx, query, from)
		if err != nil {
			return fmt.Errorf("read %s behind event %d: %w", j.path, from, explain(err))
		}
		if len(page) == 0 {
			return nil
		}
		for _, r := range page {
			if err := each(r); err != nil {
				return err
			}
		}
		from = page[len(page)-1].Revision
	}
}

func (j *Journal) page(ctx context.Context, query string, from registry.Revision) (page []registry.Record, err error) {
	rows, err := j.db.QueryContext(ctx, query, int64(from), eventsPerPage)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for size := 0; size < bytesPerPage && rows.Next(); {
		var r registry.Record
		var at int64
		var body string
		var hash []byte
		var text sql.NullString
		if err := rows.Scan(&r.Revision, &at, &r.Actor, &r.Request, &r.Kind, &body, &hash, &text); err != nil {
			return nil, err
		}
		r.Time, r.Body, r.Text = time.UnixMilli(at).UTC(), []byte(body), text.String
		if hash != nil {
			if len(hash) != len(r.Event.Text) {
				return nil, fmt.Errorf("event %d has a hash of %d bytes", r.Revision, len(hash))
			}
			r.Event.Text = registry.Hash(hash)
			r.Erased = !text.Valid
		}
		size += len(body) + len(r.Text)
		page = append(page, r)
	}
	return page, rows.Err()
}

// SaveSnapshot keeps s unless a newer one is there.
func (j *Journal) SaveSnapshot(ctx context.Context, s registry.Snapshot) error {
	_, err := j.db.ExecContext(ctx, `
		INSERT INTO snapshots (one, revision, state) VALUES (1, ?, ?)
		ON CONFLICT (one) DO UPDATE SET revision = excluded.revision, state = excluded.state
		WHERE excluded.revision > revision`, int64(s.Revision), s.State)
	if err != nil {
		return fmt.Errorf("save a snapshot to %s: %w", j.path, explain(err))
	}
	return nil
}

// LoadSnapshot answers the snapshot and gives every live text with it.
func (j *Journal) LoadSnapshot(ctx context.Context, each func(registry.Text) error) (registry.Snapshot, error) {
	s, err := j.snapshot(ctx, each)
	if err != nil {
		return registry.Snapshot{}, fmt.Errorf("load the snapshot of %s: %w", j.path, explain(err))
	}
	return s, nil
}

func (j *Journal) snapshot(ctx context.Context, each func(registry.Text) error) (s registry.Snapshot, err error) {
	err = j.db.QueryRowContext(ctx, "SELECT revision, state FROM snapshots").Scan(&s.Revision, &s.State)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Snapshot{}, nil
	}
	if err != nil {
		return s, err
	}
	var end registry.Revision
	if err := j.db.QueryRowContext(ctx, "SELECT ifnull(max(revision), 0) FROM events").Scan(&end); err != nil {
		return s, err
	}
	if s.Revision > end {
		return s, fmt.Errorf("it is of revision %d, and the events end at %d: some are lost: restore the database from a backup", s.Revision, end)
	}
	rows, err := j.db.QueryContext(ctx, "SELECT hash, text FROM texts")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var hash sql.RawBytes
		var t registry.Text
		if err := rows.Scan(&hash, &t.Text); err != nil {
			return s, err
		}
		if len(hash) != len(t.Hash) {
			return s, fmt.Errorf("a text has a hash of %d bytes", len(hash))
		}
		t.Hash = registry.Hash(hash)
		if err := each(t); err != nil {
			return s, err
		}
	}
	return s, rows.Err()
}
