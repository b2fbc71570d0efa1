package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// key is what rows are kept in order by.
func (r *Row) key() string {
	if r.Aggregate == "" {
		return r.ID
	}
	return r.Aggregate
}

// Message is the row as producers forward it.
func (r *Row) Message() *validate.Message {
	return &validate.Message{
		Destination: r.Destination, RoutingKey: r.RoutingKey, Headers: r.Headers, ContentType: r.ContentType, Payload: r.Payload, MessageID: r.ID,
	}
}

// querier is *sql.DB or *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// read reads rows.
func read(ctx context.Context, q querier, query string, args ...any) ([]Row, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read the outbox: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err is asked
	var out []Row
	for rows.Next() {
		var r Row
		var headers string
		var created any
		if err := rows.Scan(&r.Sequence, &r.ID, &r.Aggregate, &r.EventType, &r.Destination, &r.RoutingKey, &r.ContentType,
			&headers, &r.Payload, &created, &r.Attempts, &r.LastError); err != nil {
			return nil, fmt.Errorf("read the outbox: %w", err)
		}
		switch at := created.(type) {
		case time.Time:
			r.CreatedAt = at.UTC()
		case int64:
			r.CreatedAt = time.UnixMilli(at).UTC()
		}
		if r.Headers, err = decodeHeaders(headers); err != nil {
			return nil, fmt.Errorf("read message %s of the outbox: %w", r.ID, err)
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the outbox: %w", err)
	}
	return out, nil
}

// errorText is an error as the table takes it: short, UTF-8 without zero bytes.
func errorText(err error) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(err.Error(), "�"), "\x00", "�")
	if len(text) <= longestError {
		return text
	}
	cut := longestError
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// batch is how many rows are removed in one transaction: those who put wait for
// it on SQLite.
const batch = 1_000

// Drop removes rows that were published longer ago than olderThan, by the
// database's clock, and tells how many. A relay does it too; see Relay.Keep.
func Drop(ctx context.Context, db *sql.DB, d Dialect, olderThan time.Duration) (int64, error) {
	s, err := d.statements()
	if err != nil {
		return 0, err
	}
	return clean(ctx, db, s, olderThan, false)
}

// Archive moves rows that were published longer ago than olderThan to the table
// cartorio_outbox_archive, and tells how many.
func Archive(ctx context.Context, db *sql.DB, d Dialect, olderThan time.Duration) (int64, error) {
	s, err := d.statements()
	if err != nil {
		return 0, err
	}
	return clean(ctx, db, s, olderThan, true)
}

func clean(ctx context.Context, db *sql.DB, s *statements, olderThan time.Duration, archive bool) (total int64, err error) {
	if olderThan < 0 {
		return 0, fmt.Errorf("remove published rows: older than %s is in the future", olderThan)
	}
	statement := s.drop
	if archive {
		statement = s.archive
	}
	for {
		var n int64
		if err := inTx(ctx, db, "remove published rows", func(tx *sql.Tx) error {
			result, err := tx.ExecContext(ctx, statement, olderThan.Milliseconds(), batch)
			if err != nil {
				return err
			}
			if n, err = result.RowsAffected(); err != nil || !archive || s.archived == "" {
				return err
			}
			_, err = tx.ExecContext(ctx, s.archived)
			return err
		}); err != nil {
			return total, err
		}
		if total += n; n < batch {
			return total, nil
		}
	}
}

// ListParked gives the oldest rows that are parked, at most limit, with their
// LastError.
func ListParked(ctx context.Context, db *sql.DB, d Dialect, limit int) ([]Row, error) {
	s, err := d.statements()
	if err != nil {
		return nil, err
	}
	return read(ctx, db, s.listParked, limit)
}

// Unpark lets a parked row be tried again, by its id, or all of them when id is
// empty, and tells how many. A row that its aggregate has gone on without is
// published late.
func Unpark(ctx context.Context, db *sql.DB, d Dialect, id string) (int64, error) {
	s, err := d.statements()
	if err != nil {
		return 0, err
	}
	result, err := db.ExecContext(ctx, s.unpark, id)
	if err != nil {
		return 0, fmt.Errorf("unpark rows of the outbox: %w", err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("unpark rows of the outbox: %w", err)
	}
	return n, nil
}
