// Package debezium_test runs Debezium itself on the table of clients/outbox:
// PostgreSQL, Kafka Connect with Debezium's connector and event router, Kafka, and
// a consumer of clients/kafka. The configuration is that of outbox.properties and
// outbox.sql, which docs/companions.md shows.
//
// scripts/debezium.sh brings the jars; make debezium runs this alone.
package debezium_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/dedupe"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/outbox"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// The settings, which scripts/debezium.sh and scripts/brokers.sh make.
const (
	jars     = "CARTORIO_TEST_CONNECT"
	broker   = "CARTORIO_TEST_KAFKA"
	postgres = "CARTORIO_TEST_POSTGRES"
)

// paymentProto has two messages, so that a payload's own must be named.
const paymentProto = `syntax = "proto3"; package pay; message Refund { string why = 1; } message Payment { int64 cents = 1; }`

const (
	// keys are those of the messages, with so many for each that are put last.
	keys    = 8
	last    = 10
	payment = "\x08\xac\x02" // cents: 300
	event   = `{"specversion":"1.0","id":"e","source":"/shop","type":"placed","data":{"id":1}}`
)

// shop is the side that writes.
type shop struct {
	t                *testing.T
	db               *tables
	v                *validate.Validator
	orders, payments string
}

// message is the nth of a key. Of ten one has no key, and one each is a tombstone,
// a structured event and a message of Protobuf; the others are JSON.
func (s *shop) message(key, n int) outbox.Message {
	m := outbox.Message{
		ID: fmt.Sprintf("k%d/%06d", key, n), Aggregate: fmt.Sprintf("k%d", key), EventType: "placed", Destination: s.orders, ContentType: "application/json",
		Payload: fmt.Appendf(nil, `{"id":%d,"note":"ação"}`, n),
	}
	switch n % 10 {
	case 6:
		m.Aggregate = ""
	case 7:
		m.Payload = nil
	case 8:
		m.Payload, m.ContentType = []byte(event), "application/cloudevents+json"
	case 9:
		m.Destination, m.Payload, m.ContentType, m.Type = s.payments, []byte(payment), "", "pay.Payment"
	}
	m.Pin = validate.Version(validate.ByDestination(), 1)
	return m
}

// put writes the messages from one number to another for every key, each in a
// transaction with a business row. The rows of every second are removed in the
// transaction that put them.
func (s *shop) put(from, to int) {
	var all sync.WaitGroup
	for key := range keys {
		all.Go(func() {
			for n := from; n < to; n++ {
				if err := s.putOne(s.message(key, n), n%2 == 0); err != nil {
					s.t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

func (s *shop) putOne(m outbox.Message, removes bool) error {
	ctx := s.t.Context()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `INSERT INTO sold VALUES ($1)`, m.ID); err != nil {
		return err
	}
	if err := outbox.Put(ctx, tx, outbox.Postgres, s.v, m); err != nil {
		return err
	}
	if removes {
		if _, err := tx.ExecContext(ctx, `DELETE FROM cartorio_outbox WHERE id = $1`, m.ID); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// billing is the side that reads: it works on each message once, and checks what
// Debezium made of it.
type billing struct {
	t        *testing.T
	db       *tables
	shop     *shop
	want     map[string]outbox.Message
	came     brokertest.Tally
	mu       sync.Mutex
	partOf   map[string]int32
	rejected []string
}

func (b *billing) handle(ctx context.Context, d *kafka.Delivery) error {
	b.check(d)
	m := dedupe.Message{Consumer: "billing", ID: headers(d.Message)["messageId"]}
	err := dedupe.Once(ctx, b.db.DB, dedupe.Postgres, m, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO billed VALUES ($1)`, m.ID)
		return err
	})
	if err == nil {
		b.came.Add(m.ID)
	}
	return err
}

func headers(r *kgo.Record) map[string]string {
	out := map[string]string{}
	for _, h := range r.Headers {
		if h.Value != nil {
			out[h.Key] = string(h.Value)
		}
	}
	return out
}

// check compares a record with the message that was put.
func (b *billing) check(d *kafka.Delivery) {
	r, said := d.Message, headers(d.Message)
	m, ok := b.want[said["messageId"]]
	if !ok {
		b.t.Errorf("a message %q that nobody put: %v", said["messageId"], said)
		return
	}
	want := map[string]string{
		"id": m.ID, "messageId": m.ID, "messageKey": m.Aggregate, "eventType": "placed", "content-type": m.ContentType,
		"schemaSubject": m.Destination + "-value", "schemaVersion": "1", "schemaType": "JSON",
	}
	if m.Type != "" {
		want["schemaType"], want["schemaMessage"] = "PROTOBUF", m.Type
	}
	for _, name := range []string{"schemaId", "schemaGuid"} { // the registry's
		if want[name] = said[name]; want[name] == "" {
			b.t.Errorf("%s has no header %s", m.ID, name)
		}
	}
	if !maps.Equal(want, said) {
		b.t.Errorf("the headers of %s: %v, want %v", m.ID, said, want)
	}
	if r.Topic != m.Destination || string(r.Key) != m.Aggregate || string(r.Value) != string(m.Payload) || (r.Value == nil) != (m.Payload == nil) {
		b.t.Errorf("%s: topic %s, key %q, value %q; want %s, %q, %q", m.ID, r.Topic, r.Key, r.Value, m.Destination, m.Aggregate, m.Payload)
	}
	for _, h := range r.Headers {
		if h.Value == nil && (h.Key != "schemaMessage" || m.Type != "") {
			b.t.Errorf("%s: the header %s is null", m.ID, h.Key)
		}
	}
	if d.Tombstone != (m.Payload == nil) || m.Payload != nil && d.Version != 1 {
		b.t.Errorf("%s: version %d, tombstone %t", m.ID, d.Version, d.Tombstone)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at := r.Topic + " " + m.Aggregate
	if before, ok := b.partOf[at]; ok && before != r.Partition {
		b.t.Errorf("%s: partition %d, and before %d", at, r.Partition, before)
	}
	b.partOf[at] = r.Partition
}

func (b *billing) observe(h kafka.Handled) {
	if h.Action != kafka.Acknowledged {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.rejected = append(b.rejected, fmt.Sprintf("%s %s: %v", h.MessageID, h.Reason, h.Outcome.Err))
	}
}

// makeTopics makes topics: the broker makes none by itself.
func makeTopics(t *testing.T, k *kgo.Client, partitions int32, names ...string) {
	t.Helper()
	ask, remove := kmsg.NewPtrCreateTopicsRequest(), kmsg.NewPtrDeleteTopicsRequest()
	for _, name := range names {
		one := kmsg.NewCreateTopicsRequestTopic()
		one.Topic, one.NumPartitions, one.ReplicationFactor = name, partitions, 1
		ask.Topics = append(ask.Topics, one)
		gone := kmsg.NewDeleteTopicsRequestTopic()
		gone.Topic = kmsg.StringPtr(name)
		remove.TopicNames, remove.Topics = append(remove.TopicNames, name), append(remove.Topics, gone)
	}
	answer, err := ask.RequestWith(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range answer.Topics {
		if err := kerr.ErrorForCode(one.ErrorCode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		brief, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		_, _ = remove.RequestWith(brief, k)
	})
}

// TestDebeziumPublishesTheOutbox has Debezium publish what transactions put, some
// before it runs and some while it does, kills Connect in the middle, and has it
// come again. Each message arrives with its stamps and is accepted, in order for
// its key, and is worked on once.
func TestDebeziumPublishesTheOutbox(t *testing.T) {
	t.Parallel()
	for _, name := range []string{jars, broker, postgres} {
		if os.Getenv(name) == "" {
			t.Skipf("NOT RUN: set %s: make debezium does, and make test where the jars are to be had", name)
		}
	}
	each, kills := 90, 1 // each is for a key
	if os.Getenv("CARTORIO_TEST_LONG") != "" {
		each, kills = 1700, 8
	}
	suffix := strings.ToLower(rand.Text()[:8])
	db := newTables(t, os.Getenv(postgres), "cartorio_debezium_"+suffix)
	for _, err := range []error{outbox.Create(t.Context(), db.DB, outbox.Postgres), dedupe.Create(t.Context(), db.DB, dedupe.Postgres)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, statement := range []string{`CREATE TABLE sold (id TEXT NOT NULL)`, `CREATE TABLE billed (id TEXT NOT NULL)`} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	db.prepare(t)

	registry := brokertest.NewRegistry(t)
	v := registry.Validator(validate.Options{})
	s := &shop{t: t, db: db, v: v, orders: "orders-" + suffix, payments: "payments-" + suffix}
	registry.Register(s.orders+"-value", schemas.JSON, brokertest.OrderV2)
	registry.Register(s.payments+"-value", schemas.Protobuf, paymentProto)
	k, err := kgo.NewClient(kgo.SeedBrokers(os.Getenv(broker)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	group := "billing-" + suffix
	makeTopics(t, k, 3, s.orders, s.payments, group+".DLT", "__debezium-heartbeat."+db.name())

	b := &billing{t: t, db: db, shop: s, want: map[string]outbox.Message{}, partOf: map[string]int32{}}
	for key := range keys {
		for n := range each + last {
			m := s.message(key, n)
			b.want[m.ID] = m
		}
	}
	consumer, err := kafka.NewConsumer(kafka.With(kgo.SeedBrokers(os.Getenv(broker))), v, &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads("1")}, b.handle,
		kafka.ConsumerOptions{Group: group, Topics: []string{s.orders, s.payments}, DeadLetter: group + ".DLT", Keyed: true, Observe: b.observe, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	brokertest.Run(t, consumer.Run)

	c := newConnect(t, os.Getenv(jars), os.Getenv(broker), db)
	parts := 2*kills + 1
	upTo := func(part int) int { return each * part / parts }
	s.put(0, upTo(1)) // while nobody reads
	began := time.Now()
	c.run(time.Minute)
	for kill := range kills {
		at := 2*kill + 1
		c.await("the first message", func() bool { return b.came.IDs() > upTo(at-1)*keys })
		if kill == 0 {
			t.Logf("the first message came %v after the start of Connect", time.Since(began).Round(time.Millisecond))
		}
		writing := make(chan struct{})
		go func() { defer close(writing); s.put(upTo(at), upTo(at+1)) }()
		c.await("messages put meanwhile", func() bool { return b.came.IDs() > (upTo(at)+upTo(at+1))/2*keys })
		c.kill()
		<-writing
		s.put(upTo(at+1), upTo(at+2)) // while it is dead
		began = time.Now()
		c.run(500 * time.Millisecond)
	}
	c.await("all messages", func() bool { return b.came.IDs() >= each*keys })
	t.Logf("all %d messages were there %v after the last start; %d came more than once", each*keys, time.Since(began).Round(time.Millisecond), b.came.All()-b.came.IDs())

	// The outbox rests while others write. The heartbeat lets the server forget its
	// log, and not more of it than a worker needs that is killed then.
	end := db.busy(t)
	c.await("the slot to follow the log of others", func() bool { return db.confirmed(t, end) })
	c.kill()
	s.put(each, each+last)
	c.run(500 * time.Millisecond)
	c.await("the messages after a rest", func() bool { return b.came.IDs() >= len(b.want) })
	c.kill()

	brokertest.OrderPerKey(t, b.order(s.orders))
	brokertest.OrderPerKey(t, b.order(s.payments))
	if b.came.IDs() != len(b.want) || len(b.rejected) > 0 {
		t.Errorf("%d of %d messages were worked on; rejected: %v", b.came.IDs(), len(b.want), b.rejected)
	}
	if b.came.All() == b.came.IDs() {
		t.Error("nothing came twice: the kill was not in the middle, and proves nothing")
	}
	for query, want := range map[string]int{
		`SELECT count(*) FROM billed`: len(b.want), `SELECT count(DISTINCT id) FROM billed`: len(b.want), `SELECT count(*) FROM sold`: len(b.want),
		`SELECT count(*) FROM cartorio_outbox`: len(b.want) / 2,
	} {
		n := 0
		if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n != want {
			t.Errorf("%s: %d, want %d: %v", query, n, want, err)
		}
	}
}

// order is what came of a topic and has a key, in order. Messages of two topics
// are in none.
func (b *billing) order(topic string) []string {
	var out []string
	for _, id := range b.came.Order() {
		if m := b.want[id]; m.Destination == topic && m.Aggregate != "" {
			out = append(out, id)
		}
	}
	return out
}

// TestPageShowsWhatRuns finds the configuration in the page, word for word.
func TestPageShowsWhatRuns(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/companions.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]string{"outbox.properties": "properties", "outbox.sql": "sql"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "```"+kind+"\n"+string(text)+"```\n") {
			t.Errorf("docs/companions.md does not show %s as it is", name)
		}
	}
}

func TestMain(m *testing.M) {
	status := m.Run()
	if os.Getenv(jars) == "" {
		fmt.Fprintf(os.Stderr, "SKIPPED: Debezium itself: set %s, or run `make test`\n", jars)
	}
	os.Exit(status)
}
