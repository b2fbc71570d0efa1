package outbox_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/dbtest"
	"github.com/cartorio-registry/cartorio/clients/dedupe"
	"github.com/cartorio-registry/cartorio/clients/outbox"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// chainVariable makes the test binary play a relay or a consumer on a real broker.
const chainVariable = "CARTORIO_TEST_OUTBOX_CHAIN"

// link is one process between an outbox and a deduplication. It kills itself at
// its nth message, after the first half of what it does or after the second, and
// stops when its standard input ends.
type link struct {
	Driver, DSN, URL, Queue string
	Consumes                bool
	Nth                     int64
	Late                    bool
}

func (l link) run() error {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	db, err := sql.Open(l.Driver, l.DSN)
	if err != nil {
		return err
	}
	defer db.Close()
	v := validate.New(&orders{}, jsonschema.Format)
	defer v.Close()
	connector := rabbitmq.Connect(l.URL, amqp.Config{})
	defer connector.Close()
	var count atomic.Int64
	// step is called twice a message, or once late, for a duplicate without work.
	step := func(n int64, late bool) {
		if n == l.Nth && (late || !l.Late) {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {}
		}
	}
	if !l.Consumes {
		producer := rabbitmq.NewProducer(connector.Open, v, pin, rabbitmq.ProducerOptions{})
		defer producer.Close(context.Background())
		r := outbox.Relay{
			DB: db, Dialect: dialect(dbtest.Database{Driver: l.Driver}), Batch: 20, Lease: time.Second, Poll: 10 * time.Millisecond, Logger: quiet,
			Publish: func(ctx context.Context, row outbox.Row) error {
				n := count.Add(1)
				step(n, false)
				if err := producer.Forward(ctx, "", l.Queue, row.Message()); err != nil {
					return err
				}
				step(n, true) // confirmed, and not marked
				return nil
			},
		}
		return r.Run(ctx)
	}
	store := dedupe.SQLite
	if l.Driver == "pgx" {
		store = dedupe.Postgres
	}
	consumer, err := rabbitmq.NewConsumer(connector.Open, v, &validate.Expect{}, func(ctx context.Context, d *rabbitmq.Delivery) error {
		n := count.Add(1)
		m := dedupe.Message{Consumer: "billing", ID: d.Message.MessageId}
		err := dedupe.Once(ctx, db, store, m, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO handled (id) VALUES ('%s')`, m.ID))
			step(n, false) // done, and not committed
			return err
		})
		step(n, true) // committed, and not acknowledged
		return err
	}, rabbitmq.ConsumerOptions{Queue: l.Queue, DeadLetter: rabbitmq.Destination{Key: l.Queue + ".dead"}, Keyed: true, Workers: 4, Prefetch: 20, Retry: fast, Logger: quiet})
	if err != nil {
		return err
	}
	return consumer.Run(ctx)
}

// process starts a link; ends closes its standard input and waits for it.
func (l link) process(t *testing.T) (ends func() error, dies func() error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), chainVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() error {
			return errors.Join(in.Close(), cmd.Wait())
		}, func() error {
			if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
				return fmt.Errorf("it was not killed: %w", err)
			}
			return nil
		}
}

// TestOverRabbitMQ kills relays and consumers at each of their steps, with a real
// RabbitMQ between: each message is worked on once, in order for each aggregate,
// and none is set aside.
func TestOverRabbitMQ(t *testing.T) {
	t.Parallel()
	url := os.Getenv("CARTORIO_TEST_RABBITMQ")
	if url == "" {
		t.Skip("NOT RUN: set CARTORIO_TEST_RABBITMQ to the address of a RabbitMQ; make test starts one and names it when it cannot")
	}
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		s := prepare(t, d)
		table, store := `CREATE TABLE handled (place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL)`, dedupe.SQLite
		if d.IsPostgres() {
			table, store = `CREATE TABLE handled (place BIGINT GENERATED ALWAYS AS IDENTITY, id TEXT NOT NULL)`, dedupe.Postgres
		}
		d.Exec(t, table)
		if err := dedupe.Create(t.Context(), d.DB, store); err != nil {
			t.Fatal(err)
		}
		queue := "outbox" + strings.ToLower(rand.Text())
		ch := declare(t, url, queue)
		aggregates, each, rounds := 8, 15, 2
		if isLong {
			aggregates, each, rounds = 50, 100, 20
		}
		fillOutbox(t, d, validator(t, &orders{}), aggregates, each)
		total := int64(aggregates * each)

		base := link{Driver: d.Driver, DSN: d.DSN, URL: url, Queue: queue}
		killed := 0
		for i := range rounds {
			for _, late := range []bool{false, true} {
				relay, consumer := base, base
				relay.Nth, relay.Late = int64(5+3*i), late
				consumer.Nth, consumer.Late, consumer.Consumes = int64(2+i), late, true
				_, relayDies := relay.process(t)
				_, consumerDies := consumer.process(t)
				if err := errors.Join(relayDies(), consumerDies()); err != nil {
					t.Fatal(err)
				}
				killed += 2
			}
		}
		consumes := base
		consumes.Consumes = true
		relayEnds, _ := base.process(t)
		consumerEnds, _ := consumes.process(t)
		deadline := time.Now().Add(time.Minute)
		for d.Int(t, `SELECT count(*) FROM handled`) < total && time.Now().Before(deadline) {
			<-time.After(20 * time.Millisecond) // between two looks
		}
		if err := errors.Join(relayEnds(), consumerEnds()); err != nil {
			t.Fatal(err)
		}
		left, err := outbox.Count(t.Context(), d.DB, s)
		if err != nil {
			t.Fatal(err)
		}
		ids := handled(t, d)
		if n := published(t, ids, aggregates, each); n != 0 {
			t.Errorf("%d messages were worked on twice", n)
		}
		dead, err := ch.QueueDeclarePassive(queue+".dead", true, false, false, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if left.Parked != 0 || dead.Messages != 0 {
			t.Errorf("%d rows are parked, %d messages set aside", left.Parked, dead.Messages)
		}
		t.Logf("%d messages of %d aggregates, %d relays and consumers killed: %d worked on, each once and in order, %d set aside", total, aggregates, killed, len(ids), dead.Messages)
	})
}

// handled gives what was worked on, in order.
func handled(t *testing.T, d dbtest.Database) (ids []string) {
	t.Helper()
	rows, err := d.QueryContext(t.Context(), `SELECT id FROM handled ORDER BY place`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return ids
}

// declare makes a queue and its dead letter's, for this test alone.
func declare(t *testing.T, url, queue string) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{queue, queue + ".dead"} {
		if _, err := ch.QueueDeclare(name, true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = ch.QueueDelete(name, false, false, false) })
	}
	return ch
}
