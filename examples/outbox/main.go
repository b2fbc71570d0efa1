// Command outbox shows a message that is neither lost nor worked on twice: a shop
// writes an order and its event in one transaction, a relay publishes the event, a
// confirm that is lost makes it come twice, and the billing's deduplication writes
// one invoice.
//
// It needs a registry and a broker; ./run beside this file starts both. The two
// databases are SQLite files in the folder that is its argument.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	amqp "github.com/rabbitmq/amqp091-go"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/cartorio-registry/cartorio/clients/dedupe"
	"github.com/cartorio-registry/cartorio/clients/outbox"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

const order = `{"type":"object","properties":{"amount":{"type":"integer"}},"required":["amount"],"additionalProperties":false}`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	registry, broker := os.Getenv("CARTORIO_REGISTRY_URL"), os.Getenv("CARTORIO_TEST_RABBITMQ")
	if registry == "" || broker == "" || len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "set CARTORIO_REGISTRY_URL (http://…) and CARTORIO_TEST_RABBITMQ (amqp://…) and name a folder for the databases, or start ./run")
		os.Exit(64)
	}
	if err := run(ctx, os.Stdout, registry, broker, os.Args[1], "orders"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// story is what its parts share. name is the exchange, and the stem of the queues
// and of the subject.
type story struct {
	out       io.Writer
	name      string
	validator *validate.Validator
	connector *rabbitmq.Connector
}

func (s *story) say(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format, args...) }

// run plays the whole story.
func run(ctx context.Context, out io.Writer, registry, broker, folder, name string) error {
	client, err := sr.New(sr.Options{URLs: []string{registry}})
	if err != nil {
		return err
	}
	defer client.Close()
	// In life a build registers: cartorio register, after cartorio check.
	if _, err := client.Register(ctx, schemas.ParseSubject(name+"-value"), sr.Registration{Source: schemas.Source{Type: schemas.JSON, Text: order}}); err != nil {
		return err
	}
	s := &story{out: out, name: name, validator: validate.New(client, jsonschema.Format), connector: rabbitmq.Connect(broker, amqp.Config{})}
	defer s.validator.Close()
	defer s.connector.Close() //nolint:errcheck // the program ends here
	if err := s.declare(ctx); err != nil {
		return err
	}
	shop, err := open(ctx, filepath.Join(folder, "shop.db"), `CREATE TABLE orders (id TEXT PRIMARY KEY, amount INTEGER NOT NULL)`)
	if err != nil {
		return err
	}
	defer shop.Close() //nolint:errcheck // as above
	if err := outbox.Create(ctx, shop, outbox.SQLite); err != nil {
		return err
	}
	if err := s.sell(ctx, shop); err != nil {
		return err
	}
	deliveries, err := s.relay(ctx, shop)
	if err != nil {
		return err
	}
	billing, err := open(ctx, filepath.Join(folder, "billing.db"), `CREATE TABLE invoices (order_id TEXT NOT NULL, message TEXT NOT NULL)`)
	if err != nil {
		return err
	}
	defer billing.Close() //nolint:errcheck // as above
	if err := dedupe.Create(ctx, billing, dedupe.SQLite); err != nil {
		return err
	}
	return s.bill(ctx, billing, deliveries)
}

// open opens a database file and makes the application's own table.
func open(ctx context.Context, file, table string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file)+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)")
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, table); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", file, err), db.Close())
	}
	return db, nil
}

// declare makes the exchange, the work queue and the dead letter's queue.
func (s *story) declare(ctx context.Context) error {
	if _, err := s.connector.Open(ctx); err != nil {
		return err
	}
	ch, err := s.connector.Connection().Channel()
	if err != nil {
		return fmt.Errorf("open a channel: %w", err)
	}
	defer ch.Close() //nolint:errcheck // what was declared stays
	if err := ch.ExchangeDeclare(s.name, "topic", true, false, false, false, nil); err != nil {
		return fmt.Errorf("declare the exchange: %w", err)
	}
	for _, queue := range []string{s.name + ".work", s.name + ".dead"} {
		if _, err := ch.QueueDeclare(queue, true, false, false, false, nil); err != nil {
			return fmt.Errorf("declare the queue %s: %w", queue, err)
		}
	}
	return ch.QueueBind(s.name+".work", "order.#", s.name, false, nil)
}

// sell places orders: a row and an event each, or neither.
func (s *story) sell(ctx context.Context, shop *sql.DB) error {
	errCancelled := errors.New("the customer left")
	for _, one := range []struct {
		id, event string
		amount    int
		leaves    bool
	}{
		{id: "o-1", amount: 10, event: `{"amount":10}`},
		{id: "o-2", amount: 20, event: `{"amount":20}`, leaves: true},
		{id: "o-3", amount: 30, event: `{"amount":"thirty"}`}, // a mistake in the program
		{id: "o-4", amount: 40, event: `{"amount":40}`},
	} {
		err := s.place(ctx, shop, one.id, one.amount, one.event, func() error {
			if one.leaves {
				return errCancelled
			}
			return nil
		})
		var refused *validate.Error
		switch {
		case errors.As(err, &refused):
			s.say("order %s is refused with its event: %s at %s\n", one.id, refused.Reason, refused.Violations[0].Payload)
		case errors.Is(err, errCancelled):
			s.say("order %s is rolled back with its event: %v\n", one.id, err)
		case err != nil:
			return err
		default:
			s.say("order %s is placed\n", one.id)
		}
	}
	var orders, events int
	if err := shop.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM cartorio_outbox)`).Scan(&orders, &events); err != nil {
		return fmt.Errorf("count the orders: %w", err)
	}
	s.say("the shop has %d orders and %d events\n", orders, events)
	return nil
}

// place writes an order and its event in one transaction.
func (s *story) place(ctx context.Context, shop *sql.DB, id string, amount int, event string, last func() error) error {
	tx, err := shop.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // of no use after the commit
	if _, err := tx.ExecContext(ctx, `INSERT INTO orders VALUES (?, ?)`, id, amount); err != nil {
		return fmt.Errorf("write order %s: %w", id, err)
	}
	if err := outbox.Put(ctx, tx, outbox.SQLite, s.validator, outbox.Message{
		Destination: s.name, RoutingKey: "order.placed", Aggregate: id, EventType: "placed", ID: id + "-placed",
		Pin: validate.Version(validate.ByDestination(), 1), ContentType: "application/json", Payload: []byte(event),
	}); err != nil {
		return err
	}
	if err := last(); err != nil {
		return err
	}
	return tx.Commit()
}

// relay publishes the events. The first confirm is lost, so that the relay does
// not know and publishes again. It answers how many deliveries that makes.
func (s *story) relay(ctx context.Context, shop *sql.DB) (deliveries int, err error) {
	producer := rabbitmq.NewProducer(s.connector.Open, s.validator, validate.Version(validate.ByDestination(), 1), rabbitmq.ProducerOptions{})
	defer producer.Close(ctx) //nolint:errcheck // each publish was waited for
	relaying, done := context.WithCancel(ctx)
	defer done()
	published := 0
	r := outbox.Relay{DB: shop, Dialect: outbox.SQLite, Workers: 1, Publish: func(ctx context.Context, row outbox.Row) error {
		if err := producer.Forward(ctx, row.Destination, row.RoutingKey, row.Message()); err != nil {
			return err
		}
		deliveries++
		if deliveries == 1 {
			return errors.New("the line was cut before the confirm came")
		}
		if published++; published == 2 {
			done() // what is on its way is finished and marked
		}
		return nil
	}}
	if err := r.Run(relaying); err != nil {
		return 0, err
	}
	left, err := outbox.Count(ctx, shop, outbox.SQLite)
	if err != nil {
		return 0, err
	}
	s.say("the relay published %d times, and %d events wait\n", deliveries, left.Waiting)
	return deliveries, nil
}

// bill writes one invoice for each event, however often it comes.
func (s *story) bill(ctx context.Context, billing *sql.DB, deliveries int) error {
	handle := func(ctx context.Context, d *rabbitmq.Delivery) error {
		m := dedupe.Message{Consumer: "billing", ID: d.Message.MessageId}
		return dedupe.Once(ctx, billing, dedupe.SQLite, m, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO invoices VALUES (?, ?)`, d.Message.Headers["messageKey"], m.ID)
			return err
		})
	}
	consuming, done := context.WithCancel(ctx)
	defer done()
	left := deliveries
	expect := &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads("1")}
	consumer, err := rabbitmq.NewConsumer(s.connector.Open, s.validator, expect, handle, rabbitmq.ConsumerOptions{
		Queue: s.name + ".work", DeadLetter: rabbitmq.Destination{Key: s.name + ".dead"},
		Observe: func(rabbitmq.Handled) {
			if left--; left == 0 {
				done()
			}
		},
	})
	if err != nil {
		return err
	}
	if err := consumer.Run(consuming); err != nil {
		return err
	}
	var invoices, orders int
	if err := billing.QueryRowContext(ctx, `SELECT count(*), count(DISTINCT order_id) FROM invoices`).Scan(&invoices, &orders); err != nil {
		return fmt.Errorf("count the invoices: %w", err)
	}
	s.say("billing received %d deliveries and wrote %d invoices for %d orders\n", deliveries, invoices, orders)
	return nil
}
