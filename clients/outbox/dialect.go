package outbox

import (
	"context"
	"database/sql"
	"fmt"
)

// Dialect is the SQL of a database. The zero value is none.
type Dialect uint8

const (
	// SQLite has no row locks: one relay at a time holds a lease. A transaction that
	// puts should begin by a write or as BEGIN IMMEDIATE, and the connections have
	// a busy_timeout.
	SQLite Dialect = iota + 1
	// Postgres is PostgreSQL 9.5 and later. Relays share the work by lanes.
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

// statements are one dialect's SQL. Times are the database's own, since relays
// on several machines share its clock.
type statements struct {
	create []string
	// insert takes the columns of a message; order, if there is one, waits for
	// other transactions of the same aggregate.
	insert, order string
	// lanes lists the lanes with rows that are due; lock takes one and answers
	// whether it could. Without lanes, lease takes the whole outbox for an owner
	// and a number of milliseconds, and release gives it back.
	lanes, lock, lease, release string
	// due selects rows in order: of a lane where there are lanes, at most so many.
	due string
	// published and parked take a row's sequence; failed takes how many
	// milliseconds it waits, the error and the sequence; parked the error too.
	published, failed, parked string
	// backlog gives numbers of waiting and parked rows, and the age in
	// milliseconds of the oldest that waits.
	backlog string
	// listParked, unpark: by id; "" for all.
	listParked, unpark string
	// archive and drop take an age in milliseconds and a number of rows; archived,
	// if there is one, removes what archive has copied.
	archive, archived, drop string
}

const (
	columns   = `id, aggregate_id, event_type, destination, routing_key, content_type, headers, payload, lane, schema_subject, schema_version, schema_id, schema_guid, schema_type, schema_message`
	sqliteNow = `CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)`
	// open is what waits; an aggregate waits behind its row that failed.
	open     = `published_at IS NULL AND parked_at IS NULL`
	notEarly = ` AND NOT EXISTS (SELECT 1 FROM cartorio_outbox w WHERE w.published_at IS NULL AND w.parked_at IS NULL AND w.not_before > %s
		AND w.aggregate_id = o.aggregate_id AND (o.aggregate_id <> '' OR w.seq = o.seq))`
	all = `seq, id, aggregate_id, event_type, destination, routing_key, content_type, headers, payload, created_at, attempts, last_error`
	// the columns that the archive has too
	kept = `seq, id, aggregate_id, event_type, destination, routing_key, content_type, headers, payload, lane, schema_subject, schema_version, schema_id, schema_guid, schema_type, schema_message, created_at, published_at, attempts, last_error`
)

var dialects = map[Dialect]*statements{SQLite: sqlite(), Postgres: postgres()}

func sqlite() *statements {
	table := func(name, seq string) string {
		return `CREATE TABLE IF NOT EXISTS ` + name + ` (
			seq            ` + seq + `,
			id             TEXT NOT NULL UNIQUE,
			aggregate_id   TEXT NOT NULL,
			event_type     TEXT NOT NULL,
			destination    TEXT NOT NULL,
			routing_key    TEXT NOT NULL,
			content_type   TEXT NOT NULL,
			headers        TEXT NOT NULL,
			payload        BLOB,
			lane           INTEGER NOT NULL,
			schema_subject TEXT,
			schema_version TEXT,
			schema_id      TEXT,
			schema_guid    TEXT,
			schema_type    TEXT,
			schema_message TEXT,
			created_at     INTEGER NOT NULL DEFAULT (` + sqliteNow + `),
			published_at   INTEGER,
			attempts       INTEGER NOT NULL DEFAULT 0,
			last_error     TEXT NOT NULL DEFAULT '',
			not_before     INTEGER,
			parked_at      INTEGER
		)`
	}
	old := `published_at < ` + sqliteNow + ` - ? ORDER BY published_at LIMIT ?`
	return &statements{
		create: []string{
			table("cartorio_outbox", "INTEGER PRIMARY KEY AUTOINCREMENT"),
			`CREATE INDEX IF NOT EXISTS cartorio_outbox_open ON cartorio_outbox (seq) WHERE ` + open,
			`CREATE INDEX IF NOT EXISTS cartorio_outbox_waiting ON cartorio_outbox (aggregate_id, not_before) WHERE ` + open + ` AND not_before IS NOT NULL`,
			`CREATE INDEX IF NOT EXISTS cartorio_outbox_published ON cartorio_outbox (published_at) WHERE published_at IS NOT NULL`,
			`CREATE INDEX IF NOT EXISTS cartorio_outbox_parked ON cartorio_outbox (seq) WHERE parked_at IS NOT NULL`,
			table("cartorio_outbox_archive", "INTEGER PRIMARY KEY"),
			`CREATE TABLE IF NOT EXISTS cartorio_outbox_lease (id INTEGER PRIMARY KEY CHECK (id = 1), owner TEXT NOT NULL, until INTEGER NOT NULL)`,
		},
		insert: `INSERT INTO cartorio_outbox (` + columns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		lease: `INSERT INTO cartorio_outbox_lease (id, owner, until) VALUES (1, ?1, ` + sqliteNow + ` + ?2)
			ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, until = excluded.until
			WHERE cartorio_outbox_lease.owner = excluded.owner OR cartorio_outbox_lease.until < ` + sqliteNow,
		release:   `DELETE FROM cartorio_outbox_lease WHERE owner = ?`,
		due:       `SELECT ` + all + ` FROM cartorio_outbox o WHERE ` + open + fmt.Sprintf(notEarly, sqliteNow) + ` ORDER BY seq LIMIT ?`,
		published: `UPDATE cartorio_outbox SET published_at = ` + sqliteNow + `, attempts = attempts + 1, not_before = NULL WHERE seq = ?`,
		failed:    `UPDATE cartorio_outbox SET attempts = attempts + 1, not_before = ` + sqliteNow + ` + ?, last_error = ? WHERE seq = ?`,
		parked:    `UPDATE cartorio_outbox SET attempts = attempts + 1, not_before = NULL, parked_at = ` + sqliteNow + `, last_error = ? WHERE seq = ?`,
		backlog: `SELECT (SELECT count(*) FROM cartorio_outbox WHERE ` + open + `), (SELECT count(*) FROM cartorio_outbox WHERE parked_at IS NOT NULL),
			coalesce((SELECT ` + sqliteNow + ` - created_at FROM cartorio_outbox WHERE ` + open + ` ORDER BY seq LIMIT 1), 0)`,
		listParked: `SELECT ` + all + ` FROM cartorio_outbox WHERE parked_at IS NOT NULL ORDER BY seq LIMIT ?`,
		unpark:     `UPDATE cartorio_outbox SET parked_at = NULL, not_before = NULL WHERE parked_at IS NOT NULL AND (?1 = '' OR id = ?1)`,
		archive:    `INSERT INTO cartorio_outbox_archive (` + kept + `) SELECT ` + kept + ` FROM cartorio_outbox WHERE ` + old,
		archived:   `DELETE FROM cartorio_outbox WHERE published_at IS NOT NULL AND seq IN (SELECT seq FROM cartorio_outbox_archive)`,
		drop:       `DELETE FROM cartorio_outbox WHERE seq IN (SELECT seq FROM cartorio_outbox WHERE ` + old + `)`,
	}
}

func postgres() *statements {
	table := func(name, seq string) string {
		return `CREATE TABLE IF NOT EXISTS ` + name + ` (
			seq            ` + seq + ` PRIMARY KEY,
			id             TEXT NOT NULL UNIQUE,
			aggregate_id   TEXT NOT NULL,
			event_type     TEXT NOT NULL,
			destination    TEXT NOT NULL,
			routing_key    TEXT NOT NULL,
			content_type   TEXT NOT NULL,
			headers        JSONB NOT NULL,
			payload        BYTEA,
			lane           SMALLINT NOT NULL,
			schema_subject TEXT,
			schema_version TEXT,
			schema_id      TEXT,
			schema_guid    TEXT,
			schema_type    TEXT,
			schema_message TEXT,
			created_at     TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
			published_at   TIMESTAMPTZ,
			attempts       INTEGER NOT NULL DEFAULT 0,
			last_error     TEXT NOT NULL DEFAULT '',
			not_before     TIMESTAMPTZ,
			parked_at      TIMESTAMPTZ
		)`
	}
	old := `SELECT seq FROM cartorio_outbox WHERE published_at < now() - $1 * interval '1 millisecond' ORDER BY published_at LIMIT $2 FOR UPDATE SKIP LOCKED`
	// The table's own number keeps the locks of outboxes in other schemas apart.
	const number = `'cartorio_outbox'::regclass::oid::int`
	early := fmt.Sprintf(notEarly, "now()")
	return &statements{
		create: []string{
			table("cartorio_outbox", "BIGINT GENERATED ALWAYS AS IDENTITY"),
			`CREATE INDEX IF NOT EXISTS cartorio_outbox_open ON cartorio_outbox (lane, seq) WHERE ` + open,
			`CREATE INDEX IF NOT EXISTS cartorio_outbox_waiting ON cartorio_outbox (aggregate_id, not_before) WHERE ` + open + ` AND not_before IS NOT NULL`,
			`CREATE INDEX IF NOT EXISTS cartorio_outbox_published ON cartorio_outbox (published_at) WHERE published_at IS NOT NULL`,
			`CREATE INDEX IF NOT EXISTS cartorio_outbox_parked ON cartorio_outbox (seq) WHERE parked_at IS NOT NULL`,
			table("cartorio_outbox_archive", "BIGINT"),
		},
		insert: `INSERT INTO cartorio_outbox (` + columns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		// Lanes are locked under the one table's number, aggregates under the other's.
		order: `SELECT pg_advisory_xact_lock('cartorio_outbox_archive'::regclass::oid::int, $1)`,
		lanes: `SELECT l FROM generate_series(0, ` + fmt.Sprint(lanes-1) + `) l
			WHERE EXISTS (SELECT 1 FROM cartorio_outbox o WHERE o.lane = l AND ` + open + early + `) ORDER BY l`,
		lock: `SELECT pg_try_advisory_xact_lock(` + number + `, $1)`,
		// What is busy is skipped by the lane. A single row must not be: one that
		// somebody has at hand would be overtaken by its aggregate's next.
		due: `SELECT ` + all + ` FROM cartorio_outbox o WHERE lane = $2 AND ` + open + early + `
			ORDER BY seq LIMIT $1 FOR UPDATE OF o`,
		published: `UPDATE cartorio_outbox SET published_at = clock_timestamp(), attempts = attempts + 1, not_before = NULL WHERE seq = $1`,
		failed:    `UPDATE cartorio_outbox SET attempts = attempts + 1, not_before = clock_timestamp() + $1 * interval '1 millisecond', last_error = $2 WHERE seq = $3`,
		parked:    `UPDATE cartorio_outbox SET attempts = attempts + 1, not_before = NULL, parked_at = clock_timestamp(), last_error = $1 WHERE seq = $2`,
		backlog: `SELECT (SELECT count(*) FROM cartorio_outbox WHERE ` + open + `), (SELECT count(*) FROM cartorio_outbox WHERE parked_at IS NOT NULL),
			coalesce((SELECT (extract(epoch FROM clock_timestamp() - min(created_at)) * 1000)::bigint FROM cartorio_outbox WHERE ` + open + `), 0)`,
		listParked: `SELECT ` + all + ` FROM cartorio_outbox WHERE parked_at IS NOT NULL ORDER BY seq LIMIT $1`,
		unpark:     `UPDATE cartorio_outbox SET parked_at = NULL, not_before = NULL WHERE parked_at IS NOT NULL AND ($1 = '' OR id = $1)`,
		archive: `WITH gone AS (DELETE FROM cartorio_outbox WHERE seq = ANY (ARRAY(` + old + `)) RETURNING ` + kept + `)
			INSERT INTO cartorio_outbox_archive (` + kept + `) SELECT ` + kept + ` FROM gone`,
		drop: `DELETE FROM cartorio_outbox WHERE seq = ANY (ARRAY(` + old + `))`,
	}
}

func (d Dialect) statements() (*statements, error) {
	if s := dialects[d]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("choose a dialect: %d is none: take outbox.SQLite or outbox.Postgres", d)
}

// DDL is what [Create] executes, for those who keep their own migrations.
func (d Dialect) DDL() ([]string, error) {
	s, err := d.statements()
	if err != nil {
		return nil, err
	}
	return append([]string(nil), s.create...), nil
}

// Create makes the tables and indexes where they are not there yet. A schema
// other than the connection's first is chosen by its search_path.
func Create(ctx context.Context, db *sql.DB, d Dialect) error {
	s, err := d.statements()
	if err != nil {
		return err
	}
	return inTx(ctx, db, "create the tables of the outbox", func(tx *sql.Tx) error {
		if d == Postgres {
			// IF NOT EXISTS does not keep two who start at once from colliding.
			if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(4837120956120476)`); err != nil {
				return err
			}
		}
		for _, statement := range s.create {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// inTx does something in a transaction, and names it when it fails.
func inTx(ctx context.Context, db *sql.DB, what string, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer tx.Rollback() //nolint:errcheck // of no use after the commit, and nothing to add before
	if err := f(tx); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
