package outbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cartorio-registry/cartorio/clients/outbox"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// printer stands in for a producer of clients/rabbitmq.
type printer struct{ sent func() }

func (p printer) Forward(_ context.Context, exchange, key string, m *validate.Message) error {
	fmt.Printf("to %s with %s: %s %s\n", exchange, key, m.MessageID, m.Payload)
	p.sent()
	return nil
}

func Example() {
	folder, err := os.MkdirTemp("", "outbox")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(folder)+"/test.db?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if _, err := db.ExecContext(ctx, `CREATE TABLE orders (id TEXT)`); err != nil {
		fmt.Println(err)
		return
	}
	validator := validate.New(&orders{}, jsonschema.Format)
	defer validator.Close()
	producer := printer{sent: stop}

	// Once, at the start.
	if err := outbox.Create(ctx, db, outbox.SQLite); err != nil {
		fmt.Println(err)
		return
	}

	// The business row and the event, both or neither.
	place := func(id string) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, `INSERT INTO orders VALUES (?)`, id); err != nil {
			return err
		}
		if err := outbox.Put(ctx, tx, outbox.SQLite, validator, outbox.Message{
			Destination: "orders", RoutingKey: "order.placed", Aggregate: id, EventType: "placed", ID: id + "-placed",
			Pin:     validate.Version(validate.ByDestination(), 1),
			Payload: []byte(`{"n":1}`),
		}); err != nil {
			return err
		}
		return tx.Commit()
	}
	if err := place("o-1"); err != nil {
		fmt.Println(err)
		return
	}

	// Somewhere else, in as many processes as there are.
	relay := outbox.Relay{
		DB: db, Dialect: outbox.SQLite,
		Publish: func(ctx context.Context, row outbox.Row) error {
			return producer.Forward(ctx, row.Destination, row.RoutingKey, row.Message())
		},
	}
	if err := relay.Run(ctx); err != nil {
		fmt.Println(err)
	}
	// Output: to orders with order.placed: o-1-placed {"n":1}
}
