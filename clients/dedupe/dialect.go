package dedupe

import (
	"context"
	"database/sql"
	"fmt"
)

// Dialect is the SQL of a database, and a [Store] in the table cartorio_dedupe.
// The zero value is none.
type Dialect uint8

const (
	// SQLite waits for its one writer as long as its busy_timeout says, so set that.
	SQLite Dialect = iota + 1
	// Postgres is PostgreSQL 9.5 and later.
	Postgres
)

// String is the dialect's name.
func (d Dialect) String() string {
	switch d {
	case SQLite:
		return "SQLite"
	case Postgres:
		return "PostgreSQL"
	}
	return "none"
}

type statements struct {
	create               []string
	first, expire, newer string
}

// The times are the database's own: consumers on several machines share its
// clock. SQLite's are milliseconds since 1970.
var dialects = map[Dialect]*statements{
	SQLite: {
		create: []string{
			`CREATE TABLE IF NOT EXISTS cartorio_dedupe (
				consumer   TEXT NOT NULL,
				message_id TEXT NOT NULL,
				seen_at    INTEGER NOT NULL,
				PRIMARY KEY (consumer, message_id)
			)`,
			`CREATE INDEX IF NOT EXISTS cartorio_dedupe_seen ON cartorio_dedupe (seen_at)`,
			`CREATE TABLE IF NOT EXISTS cartorio_sequence (
				consumer TEXT NOT NULL,
				entity   TEXT NOT NULL,
				sequence INTEGER NOT NULL,
				PRIMARY KEY (consumer, entity)
			)`,
		},
		first: `INSERT INTO cartorio_dedupe (consumer, message_id, seen_at)
			VALUES (?, ?, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) ON CONFLICT DO NOTHING`,
		expire: `DELETE FROM cartorio_dedupe WHERE rowid IN (SELECT rowid FROM cartorio_dedupe
			WHERE seen_at < CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - ? LIMIT ?)`,
		newer: `INSERT INTO cartorio_sequence (consumer, entity, sequence) VALUES (?, ?, ?) ON CONFLICT (consumer, entity)
			DO UPDATE SET sequence = excluded.sequence WHERE cartorio_sequence.sequence < excluded.sequence`,
	},
	Postgres: {
		create: []string{
			`CREATE TABLE IF NOT EXISTS cartorio_dedupe (
				consumer   TEXT NOT NULL,
				message_id TEXT NOT NULL,
				seen_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
				PRIMARY KEY (consumer, message_id)
			)`,
			`CREATE INDEX IF NOT EXISTS cartorio_dedupe_seen ON cartorio_dedupe (seen_at)`,
			`CREATE TABLE IF NOT EXISTS cartorio_sequence (
				consumer TEXT NOT NULL,
				entity   TEXT NOT NULL,
				sequence BIGINT NOT NULL,
				PRIMARY KEY (consumer, entity)
			)`,
		},
		first: `INSERT INTO cartorio_dedupe (consumer, message_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
		expire: `DELETE FROM cartorio_dedupe WHERE ctid = ANY (ARRAY(SELECT ctid FROM cartorio_dedupe
			WHERE seen_at < now() - $1 * interval '1 millisecond' LIMIT $2 FOR UPDATE SKIP LOCKED))`,
		newer: `INSERT INTO cartorio_sequence (consumer, entity, sequence) VALUES ($1, $2, $3) ON CONFLICT (consumer, entity)
			DO UPDATE SET sequence = excluded.sequence WHERE cartorio_sequence.sequence < excluded.sequence`,
	},
}

func (d Dialect) statements() (*statements, error) {
	if s := dialects[d]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("choose a dialect: %d is none: take dedupe.SQLite or dedupe.Postgres", d)
}

// DDL is what [Create] executes, for those who keep their own migrations.
func (d Dialect) DDL() ([]string, error) {
	s, err := d.statements()
	if err != nil {
		return nil, err
	}
	return append([]string(nil), s.create...), nil
}

// Create makes the tables and their index where they are not there yet. A schema
// other than the connection's first is chosen by its search_path.
func Create(ctx context.Context, db *sql.DB, d Dialect) error {
	s, err := d.statements()
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("create the tables of deduplication: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // of no use after the commit, and nothing to add before
	if d == Postgres {
		// IF NOT EXISTS does not keep two who start at once from colliding.
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(4837120956120475)`); err != nil {
			return fmt.Errorf("create the tables of deduplication: %w", err)
		}
	}
	for _, statement := range s.create {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("create the tables of deduplication: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("create the tables of deduplication: %w", err)
	}
	return nil
}

// First is Store's. Its first statement in the transaction is a write, so that
// SQLite never has to turn a reading transaction into a writing one, which fails
// when another wrote meanwhile.
func (d Dialect) First(ctx context.Context, tx *sql.Tx, consumer, messageID string) (bool, error) {
	s, err := d.statements()
	if err != nil {
		return false, err
	}
	result, err := tx.ExecContext(ctx, s.first, consumer, messageID)
	if err != nil {
		return false, fmt.Errorf("insert into cartorio_dedupe: %w", err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("insert into cartorio_dedupe: %w", err)
	}
	return n == 1, nil
}
