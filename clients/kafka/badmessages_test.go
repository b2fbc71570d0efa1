package kafka_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Each kind of bad message that Kafka can carry ends in the dead letter, with its
// reason and everything it came with, and its offset is committed (C1, C5, C8).
func TestRealBadMessages(t *testing.T) {
	t.Parallel()
	r := connect(t, 1)
	one := r.registry.Register("orders-value", schemas.JSON, orderV1)
	two := r.registry.Register("orders-value", schemas.JSON, orderV2)
	gone := r.registry.Register("orders-value", schemas.JSON, `{"type":"object","title":"gone"}`)
	other := r.registry.Register("other-value", schemas.JSON, `{"type":"array"}`)
	if _, err := r.registry.Client.DeleteVersion(ctx, gone.Subject, gone.Version, false); err != nil {
		t.Fatal(err)
	}
	type headers = []kgo.RecordHeader
	stamps := func(f schemas.Found, more ...string) headers {
		list := headers{header("schemaSubject", f.Subject.String()), header("schemaVersion", f.Version.String()), header("schemaId", f.ID.String()), header("schemaGuid", f.GUID.String()), header("schemaType", string(f.Source.Type)), {Key: "other"}}
		for i := 0; i < len(more); i += 2 {
			for j := range list {
				if list[j].Key == more[i] {
					list[j].Value = []byte(more[i+1])
					if more[i+1] == "null" {
						list[j].Value = nil
					}
				}
			}
		}
		return list
	}
	do := func(what string) headers { return append(stamps(one), header("do", what)) }
	e := &validate.Expect{Subject: byOrders, Reads: validate.MustReads("1,3..9"), RefuseRetired: true}
	errNoCustomer := errors.New("no such customer")
	stop := r.consumer(e, func(_ context.Context, d *kafka.Delivery) error {
		switch get(d.Message, "do") {
		case "reject":
			return kafka.Reject(errNoCustomer)
		case "long":
			return kafka.Reject(errors.New(strings.Repeat("a long stack ", 5_000)))
		case "panic":
			panic(strings.Repeat("a long stack ", 10_000))
		case "fail":
			return errNoCustomer
		}
		t.Errorf("handled: %v", d.Message.Headers)
		return nil
	}, kafka.ConsumerOptions{SpringHeaders: true, Retry: retry.Policy{Attempts: 2, Base: time.Millisecond, Cap: time.Millisecond}})
	good := []byte(`{"id":1}`)
	for n, tt := range []struct {
		name    string
		headers headers
		body    []byte
		reason  string
	}{
		{"nothing", nil, good, "header_missing"},
		{"lower-cased names", headers{header("schemaversion", "1"), header("schemasubject", "orders-value")}, good, "header_missing"},
		{"version in words", stamps(one, "schemaVersion", "one"), good, "header_malformed"},
		{"empty version", stamps(one, "schemaVersion", ""), good, "header_malformed"},
		{"version as bytes of an integer", stamps(one, "schemaVersion", "\x00\x00\x00\x01"), good, "header_malformed"},
		{"bytes that are no UTF-8", stamps(one, "schemaGuid", "\xff"), good, "header_malformed"},
		{"a binary header of three bytes", append(stamps(one), header("__value_schema_id", "\x01ab")), good, "header_malformed"},
		{"two versions", append(stamps(one), header("schemaVersion", "2")), good, "header_conflict"},
		{"two ids", append(stamps(one), header("schemaId", two.ID.String())), good, "header_conflict"},
		{"two binary headers", append(stamps(one), header("__value_schema_id", "\x00\x00\x00\x00\x01"), header("__value_schema_id", "\x00\x00\x00\x00\x02")), good, "header_conflict"},
		{"version and guid differ", stamps(one, "schemaGuid", two.GUID.String()), good, "identity_conflict"},
		{"version and id differ", stamps(one, "schemaGuid", "null", "schemaId", two.ID.String()), good, "identity_conflict"},
		{"type differs", stamps(one, "schemaType", "AVRO"), good, "identity_conflict"},
		{"another subject", stamps(other), []byte(`[]`), "subject_mismatch"},
		{"id of another subject", headers{header("schemaId", other.ID.String())}, []byte(`[]`), "subject_mismatch"},
		{"unknown version", headers{header("schemaVersion", "7")}, good, "version_unknown"},
		{"unknown id", headers{header("schemaId", "12345")}, good, "schema_unknown"},
		{"unknown guid", headers{header("schemaGuid", schemas.GUID{1: 1}.String())}, good, "schema_unknown"},
		{"unsupported version", stamps(two), good, "version_unsupported"},
		{"retired version", stamps(gone), good, "version_retired"},
		{"no JSON", stamps(one), []byte(`{`), "payload_unreadable"},
		{"no bytes", stamps(one), []byte{}, "payload_unreadable"},
		{"against the schema", stamps(one), []byte(`{"id":"x"}`), "payload_invalid"},
		{"almost as large as may be", stamps(one), append(make([]byte, 990_000), '1'), "payload_unreadable"},
		{"the handler rejects", do("reject"), good, "handler_rejected"},
		{"the handler rejects with 65 KB", do("long"), good, "handler_rejected"},
		{"the handler panics", do("panic"), good, "handler_panicked"},
		{"the handler gives up", do("fail"), good, "attempts_exhausted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r.put(kgo.Record{Key: []byte("key"), Headers: append(tt.headers[:len(tt.headers):len(tt.headers)], header("messageId", "m-"+tt.name)), Value: tt.body})
			brokertest.Await(t, "its offset is committed", func() bool { return r.committed() == int64(n+1) })
			log := r.all(r.dead)
			d := log[len(log)-1]
			if len(log) != n+1 || get(d, "dlqReason") != tt.reason {
				t.Fatalf("%d dead letters, dlqReason %q, want %s (%v)", len(log), get(d, "dlqReason"), tt.reason, get(d, "dlqError"))
			}
			if string(d.Value) != string(tt.body) || (d.Value == nil) != (tt.body == nil) || string(d.Key) != "key" || get(d, "messageId") != "m-"+tt.name {
				t.Errorf("id %q, key %q, %d bytes", get(d, "messageId"), d.Key, len(d.Value))
			}
			for i, want := range tt.headers {
				if h := d.Headers[i]; h.Key != want.Key || string(h.Value) != string(want.Value) || (h.Value == nil) != (want.Value == nil) {
					t.Errorf("header %d: %v, want %v", i, h, want)
				}
			}
			for name, want := range map[string]string{"dlqOriginalDestination": r.topic, "dlqOriginalPartition": "0", "dlqExpected": e.Expected(), "kafka_dlt-original-topic": r.topic, "kafka_dlt-original-consumer-group": r.group} {
				if got := get(d, name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
			if offset := get(d, "kafka_dlt-original-offset"); len(offset) != 8 || binary.BigEndian.Uint64([]byte(offset)) != uint64(n) {
				t.Errorf("kafka_dlt-original-offset = %q", offset)
			}
			for _, h := range d.Headers {
				if strings.HasPrefix(h.Key, "dlq") && len(h.Value) > 8<<10 {
					t.Errorf("%s has %d bytes", h.Key, len(h.Value))
				}
			}
		})
	}
	stop()
}

// One partition is held, and the other goes on; a dead letter that is not there
// holds its message and commits nothing (C7, C12). A tombstone is handled (C10).
func TestRealPartitionsAreApart(t *testing.T) {
	t.Parallel()
	r := connect(t, 2)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	var handled brokertest.Tally
	stop := r.consumer(&validate.Expect{Subject: byOrders}, func(_ context.Context, d *kafka.Delivery) error {
		if d.Tombstone != (d.Message.Value == nil) {
			t.Errorf("%+v", d.Outcome)
		}
		handled.Add(get(d.Message, "messageId"))
		return nil
	}, kafka.ConsumerOptions{Prefetch: 2}, kgo.MetadataMinAge(50*time.Millisecond))
	to, err := kgo.NewClient(kgo.SeedBrokers(r.seed), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	put := func(partition int32, id, body string) {
		rec := order(1, 0)
		rec.Topic, rec.Partition, rec.Headers[2] = r.topic, partition, header("messageId", id)
		if rec.Value = []byte(body); body == "" {
			rec.Value = nil
		}
		if err := to.ProduceSync(ctx, &rec).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	put(1, "first", `{"id":1}`)
	brokertest.Await(t, "it begins", func() bool { return handled.IDs() == 1 })
	r.remove(r.dead)
	r.await(r.dead, 0)
	put(0, "bad", `{"id":"x"}`)
	for _, id := range []string{"behind", "behind2", "behind3", "behind4"} {
		put(0, id, `{"id":1}`)
	}
	for _, id := range []string{"a", "b", "tombstone", "c"} {
		body := `{"id":1}`
		if id == "tombstone" {
			body = ""
		}
		put(1, id, body)
	}
	brokertest.Await(t, "the other partition goes on", func() bool { return handled.IDs() == 5 && r.committed() == 5 })
	brief := time.Now()
	brokertest.Await(t, "the bad one is tried again", func() bool { return time.Since(brief) > 2*time.Second })
	if got := strings.Join(handled.Order(), " "); got != "first a b tombstone c" || r.committed() != 5 {
		t.Errorf("while the dead letter is away: handled %s, %d committed", got, r.committed())
	}
	r.create(r.dead, 1)
	brokertest.Await(t, "the held partition goes on", func() bool { return handled.IDs() == 9 && r.committed() == 10 })
	stop()
	dead := r.all(r.dead)
	ids := map[string]bool{}
	for _, d := range dead {
		ids[get(d, "messageId")] = true
	}
	if len(ids) != 1 || !ids["bad"] {
		t.Errorf("set aside: %v", ids)
	}
	if got := strings.Join(handled.Order()[5:], " "); got != "behind behind2 behind3 behind4" {
		t.Errorf("afterwards handled %s", got)
	}
}

// Handlers fail at random: each key's messages are handled in order all the same,
// and keys do not wait for each other.
func TestRealOrderByKey(t *testing.T) {
	t.Parallel()
	r := connect(t, 2)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	const n = 1000
	for i := range n {
		rec := order(1, i)
		rec.Key = []byte{'k', byte('0' + i%10)}
		rec.Headers[2] = header("messageId", fmt.Sprintf("m%04d", i))
		rec.Topic = r.topic
		r.k.Produce(ctx, &rec, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := r.k.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	var handled, tried brokertest.Tally
	stop := r.consumer(&validate.Expect{Subject: byOrders}, func(_ context.Context, d *kafka.Delivery) error {
		id := string(d.Message.Key) + "/" + get(d.Message, "messageId")
		tried.Add(id)
		if d.Attempt == 1 && (d.Message.Offset*7919)%5 == 0 {
			return errors.New("busy")
		}
		handled.Add(id)
		return nil
	}, kafka.ConsumerOptions{Keyed: true, Workers: 4, Retry: retry.Policy{Base: 5 * time.Millisecond, Cap: 20 * time.Millisecond}})
	brokertest.Await(t, "all are handled", func() bool { return handled.IDs() == n && r.committed() == n })
	stop()
	brokertest.OrderPerKey(t, handled.Order())
	overtaken := 0
	for i := 1; i < len(handled.Order()); i++ {
		if handled.Order()[i][3:] < handled.Order()[i-1][3:] {
			overtaken++
		}
	}
	if overtaken == 0 {
		t.Error("no key went on while another waited")
	}
	if dead := len(r.all(r.dead)); dead != 0 || handled.All() != n {
		t.Errorf("%d handled, %d set aside", handled.All(), dead)
	}
	t.Logf("%d messages of 10 keys, %d attempts: order per key kept, %d times another key went on", n, tried.All(), overtaken)
}
