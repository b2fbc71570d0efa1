package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

var _ registry.ReaderStore = (*Journal)(nil)

// AddReads keeps what a consumer told, all or nothing. Rows beyond most are not
// begun.
func (j *Journal) AddReads(ctx context.Context, reads []registry.Read, most int) (left int, err error) {
	left, err = j.addReads(ctx, reads, most)
	if err != nil {
		return 0, fmt.Errorf("add %d reads to %s: %w", len(reads), j.path, explain(err))
	}
	return left, nil
}

func (j *Journal) addReads(ctx context.Context, reads []registry.Read, most int) (left int, err error) {
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // the cause is what counts
		}
	}()
	var rows int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM readers").Scan(&rows); err != nil {
		return 0, err
	}
	update, err := tx.PrepareContext(ctx, `UPDATE readers SET at = max(at, ?), accepted = accepted + ?, rejected = rejected + ?
		WHERE context = ? AND subject = ? AND environment = ? AND consumer = ? AND accepts = ? AND pinned = ? AND version = ?`)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, update.Close()) }()
	insert, err := tx.PrepareContext(ctx, `INSERT INTO readers (at, accepted, rejected, context, subject, environment, consumer, accepts, pinned, version)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	for _, r := range reads {
		values := []any{
			r.At.UnixMilli(), counted(r.Accepted), counted(r.Rejected),
			string(r.Subject.Context), r.Subject.Name, r.Environment, r.Consumer, r.Accepts, int64(r.Pinned), int64(r.Version),
		}
		done, err := update.ExecContext(ctx, values...)
		if err != nil {
			return 0, err
		}
		if n, err := done.RowsAffected(); err != nil {
			return 0, err
		} else if n > 0 {
			continue
		}
		if rows >= most {
			left++
			continue
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return 0, err
		}
		rows++
	}
	return left, tx.Commit()
}

// counted bounds one report's count, so that no number of them overflows.
func counted(n uint64) int64 { return int64(min(n, math.MaxInt32)) } //nolint:gosec // bounded

// Reads gives what was told since a moment, of one subject or of all.
func (j *Journal) Reads(ctx context.Context, s schemas.Subject, since time.Time) ([]registry.Read, error) {
	list, err := j.reads(ctx, s, since)
	if err != nil {
		return nil, fmt.Errorf("look for readers in %s: %w", j.path, explain(err))
	}
	return list, nil
}

func (j *Journal) reads(ctx context.Context, s schemas.Subject, since time.Time) (list []registry.Read, err error) {
	query := "SELECT context, subject, environment, consumer, accepts, pinned, version, at, accepted, rejected FROM readers WHERE at >= ?"
	args := []any{since.UnixMilli()}
	if s.Name != "" {
		query += " AND context = ? AND subject = ?"
		args = append(args, string(s.Context), s.Name)
	}
	rows, err := j.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		list, err = appendRead(list, rows)
		if err != nil {
			return nil, err
		}
	}
	return list, rows.Err()
}

func appendRead(list []registry.Read, rows *sql.Rows) ([]registry.Read, error) {
	var r registry.Read
	var at int64
	err := rows.Scan(&r.Subject.Context, &r.Subject.Name, &r.Environment, &r.Consumer, &r.Accepts, &r.Pinned, &r.Version, &at, &r.Accepted, &r.Rejected)
	r.At = time.UnixMilli(at).UTC()
	return append(list, r), err
}

// ForgetReads drops what was last told before a moment.
func (j *Journal) ForgetReads(ctx context.Context, before time.Time) error {
	if _, err := j.db.ExecContext(ctx, "DELETE FROM readers WHERE at < ?", before.UnixMilli()); err != nil {
		return fmt.Errorf("drop readers from %s: %w", j.path, explain(err))
	}
	return nil
}
