package outbox_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/dbtest"
	"github.com/cartorio-registry/cartorio/clients/outbox"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// isLong asks for the long forms.
var isLong = os.Getenv("CARTORIO_TEST_LONG") != ""

// partVariable makes the test binary play a relay.
const partVariable = "CARTORIO_TEST_OUTBOX_PART"

func TestMain(m *testing.M) {
	if text := os.Getenv(partVariable); text != "" {
		if err := relay(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if text := os.Getenv(chainVariable); text != "" {
		var l link
		err := json.Unmarshal([]byte(text), &l)
		if err == nil {
			err = l.run()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(dbtest.Main(m))
}

// orders is a registry of one version of one subject.
type orders struct{ down atomic.Bool }

var errDown = fmt.Errorf("ask the registry: %w", schemas.ErrUnreachable)

func (o *orders) found() (schemas.Found, error) {
	if o.down.Load() {
		return schemas.Found{}, errDown
	}
	return schemas.Found{
		Subject: schemas.ParseSubject("orders-value"), Version: 1, ID: schemas.ID{Number: 7},
		Source: schemas.Source{Type: schemas.JSON, Text: `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`},
	}, nil
}

func (o *orders) ByGUID(context.Context, schemas.GUID) (schemas.Found, error) { return o.found() }

func (o *orders) ByID(context.Context, schemas.ID) (schemas.Found, error) { return o.found() }

func (o *orders) Latest(context.Context, schemas.Subject) (schemas.Found, error) { return o.found() }

func (o *orders) ByVersion(context.Context, schemas.Subject, schemas.Version) (schemas.Found, error) {
	return o.found()
}

func (o *orders) BySource(context.Context, schemas.Subject, schemas.Source) (schemas.Found, error) {
	return o.found()
}

func validator(t *testing.T, o *orders) *validate.Validator {
	t.Helper()
	v := validate.New(o, jsonschema.Format)
	t.Cleanup(v.Close)
	return v
}

var pin = validate.Version(validate.ByDestination(), 1)

// event is a valid message of an aggregate.
func event(aggregate string, n int) outbox.Message {
	return outbox.Message{
		Destination: "orders", Aggregate: aggregate, EventType: "placed", Pin: pin, ContentType: "application/json",
		ID: fmt.Sprintf("%s-%d", aggregate, n), Payload: fmt.Appendf(nil, `{"n":%d}`, n),
	}
}

func dialect(d dbtest.Database) outbox.Dialect {
	if d.IsPostgres() {
		return outbox.Postgres
	}
	return outbox.SQLite
}

func prepare(t *testing.T, d dbtest.Database) outbox.Dialect {
	t.Helper()
	if err := outbox.Create(t.Context(), d.DB, dialect(d)); err != nil {
		t.Fatal(err)
	}
	d.Exec(t, `CREATE TABLE business (id TEXT NOT NULL)`)
	return dialect(d)
}

// inTx does something in a transaction that first writes, as transactions of
// applications do.
func inTx(ctx context.Context, db *sql.DB, f func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `INSERT INTO business VALUES ('x')`); err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// fillOutbox puts each events of so many aggregates, ten a transaction.
func fillOutbox(t *testing.T, d dbtest.Database, v *validate.Validator, aggregates, each int) {
	t.Helper()
	var list []outbox.Message
	for n := range each {
		for a := range aggregates {
			list = append(list, event(fmt.Sprintf("a%02d", a), n))
		}
	}
	for len(list) > 0 {
		k := min(10, len(list))
		if err := inTx(t.Context(), d.DB, func(tx *sql.Tx) error {
			for _, m := range list[:k] {
				if err := outbox.Put(t.Context(), tx, dialect(d), v, m); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		list = list[k:]
	}
}

// part is a relay in a process of its own. Its broker is a file to which each
// message is appended. It kills itself at its nth message, at the place named,
// and ends when nothing waits.
type part struct {
	Driver, DSN, Broker string
	Nth                 int64
	Place               string
}

var quiet = slog.New(slog.DiscardHandler)

func relay(text string) error {
	var p part
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	db, err := sql.Open(p.Driver, p.DSN)
	if err != nil {
		return err
	}
	defer db.Close()
	broker, err := os.OpenFile(p.Broker, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer broker.Close()
	var count atomic.Int64
	r := outbox.Relay{
		DB: db, Dialect: dialect(dbtest.Database{Driver: p.Driver}), Batch: 20, Lease: 600 * time.Millisecond, Poll: 10 * time.Millisecond, Logger: quiet,
		Publish: func(_ context.Context, row outbox.Row) error {
			dies := count.Add(1) == p.Nth
			die := func() {
				if self, err := os.FindProcess(os.Getpid()); err == nil {
					_ = self.Kill()
				}
				select {}
			}
			if dies && p.Place == "before the publish" {
				die()
			}
			// One write to a file opened for appending is whole.
			if _, err := fmt.Fprintf(broker, "%s\n", row.ID); err != nil {
				return err
			}
			if dies { // between the publish and the mark
				die()
			}
			return nil
		},
	}
	return runUntilEmpty(context.Background(), &r)
}

// runUntilEmpty runs a relay until nothing waits.
func runUntilEmpty(ctx context.Context, r *outbox.Relay) error {
	ctx, stop := context.WithTimeout(ctx, 3*time.Minute)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	for {
		b, err := outbox.Count(ctx, r.DB, r.Dialect)
		if err != nil || b.Waiting == 0 {
			stop()
			return errors.Join(err, <-ended)
		}
		select {
		case err := <-ended:
			return errors.Join(errors.New("the relay ended early"), err)
		case <-time.After(10 * time.Millisecond): // between two looks
		}
	}
}

// start starts a relay in a process of its own.
func start(t *testing.T, p part) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), partVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// published checks what the broker has: each of the messages at least once, in
// order for each aggregate when duplicates are left out. It answers how many
// duplicates there are.
func published(t *testing.T, ids []string, aggregates, each int) (duplicates int) {
	t.Helper()
	seen := map[string]bool{}
	next := map[string]int{}
	for _, id := range ids {
		if seen[id] {
			duplicates++
			continue
		}
		seen[id] = true
		aggregate, number, _ := strings.Cut(id, "-")
		if want := fmt.Sprint(next[aggregate]); number != want {
			t.Errorf("%s came, and %s-%s is next", id, aggregate, want)
		}
		next[aggregate]++
	}
	if len(seen) != aggregates*each {
		t.Errorf("%d messages are published, want %d", len(seen), aggregates*each)
	}
	return duplicates
}

// fast waits little.
var fast = retry.Policy{Base: 20 * time.Millisecond, Cap: 50 * time.Millisecond}
