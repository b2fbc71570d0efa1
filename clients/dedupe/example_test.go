package dedupe_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/cartorio-registry/cartorio/clients/dedupe"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// openExample opens a database that is removed at the end.
func openExample(table string) (db *sql.DB, closes func(), err error) {
	folder, err := os.MkdirTemp("", "dedupe")
	if err != nil {
		return nil, nil, err
	}
	db, err = sql.Open("sqlite", "file:"+filepath.ToSlash(folder)+"/test.db?_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, nil, err
	}
	if _, err := db.ExecContext(context.Background(), table); err != nil {
		return nil, nil, err
	}
	return db, func() { _ = db.Close(); _ = os.RemoveAll(folder) }, nil
}

func ExampleOnce() {
	db, closes, err := openExample(`CREATE TABLE account (total INTEGER); INSERT INTO account VALUES (0)`)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer closes()
	ctx, headers := context.Background(), []validate.Header{{Name: "messageId", Value: "order-17"}}

	// Once, at the start.
	if err := dedupe.Create(ctx, db, dedupe.SQLite); err != nil {
		fmt.Println(err)
		return
	}

	handle := func() error {
		m, err := dedupe.Of("billing", headers)
		if err != nil {
			return err // in an adapter: rabbitmq.Reject(err), it never gets better
		}
		return dedupe.Once(ctx, db, dedupe.SQLite, m, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE account SET total = total + 10`)
			return err
		})
	}
	fmt.Println(handle(), handle()) // delivered twice

	var total int
	if err := db.QueryRowContext(ctx, `SELECT total FROM account`).Scan(&total); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(total)
	// Output:
	// <nil> <nil>
	// 10
}

func ExampleReturns_Check() {
	const window = 8 * 24 * time.Hour // the olderThan of dedupe.Expire
	returns := dedupe.Returns{Retention: 7 * 24 * time.Hour, Retry: retry.Policy{}, Replay: 30 * 24 * time.Hour}
	if err := returns.Check(window); err != nil {
		slog.New(slog.DiscardHandler).Warn("duplicates may be worked on", "error", err)
		fmt.Println(returns.Longest())
	}
	// Output: 888h0m38.75s
}

func ExampleSetIdempotencyKey() {
	ctx, m := context.Background(), dedupe.Message{Consumer: "billing", ID: "order-17"}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://cards.example/charges", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	dedupe.SetIdempotencyKey(request, m, "charge")
	fmt.Println(request.Header.Get("Idempotency-Key")[:16])
	// Output: 907bb140b5847827
}

// Example_inMemory is how not to do it: a deduplicator that remembers a message
// before it is handled, and outside the work's transaction. The first handler
// fails for every third message; its redelivery then counts as a duplicate, and is
// acknowledged without work.
func Example_inMemory() {
	seen := map[string]bool{}
	handled := 0
	deliver := func(id string, fails bool) (acknowledged bool) {
		if seen[id] {
			return true // "a duplicate"
		}
		seen[id] = true
		if fails {
			return false // the broker delivers it again
		}
		handled++
		return true
	}
	for i := range 1000 {
		id := fmt.Sprint(i)
		if !deliver(id, i%3 == 0) {
			deliver(id, false)
		}
	}
	fmt.Printf("1000 messages, %d handled, %d lost\n", handled, 1000-handled)

	// The same with Once: what fails is not remembered.
	db, closes, err := openExample(`CREATE TABLE handled (id TEXT)`)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer closes()
	ctx := context.Background()
	if err := dedupe.Create(ctx, db, dedupe.SQLite); err != nil {
		fmt.Println(err)
		return
	}
	once := func(id string, fails bool) error {
		return dedupe.Once(ctx, db, dedupe.SQLite, dedupe.Message{Consumer: "billing", ID: id}, func(ctx context.Context, tx *sql.Tx) error {
			if fails {
				return errors.New("not now")
			}
			_, err := tx.ExecContext(ctx, `INSERT INTO handled VALUES (?)`, id)
			return err
		})
	}
	for i := range 30 {
		id := fmt.Sprint(i)
		if err := once(id, i%3 == 0); err != nil {
			err = once(id, false)
			if err != nil {
				fmt.Println(err)
			}
		}
	}
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM handled`).Scan(&handled); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("30 messages, %d handled\n", handled)
	// Output:
	// 1000 messages, 666 handled, 334 lost
	// 30 messages, 30 handled
}
