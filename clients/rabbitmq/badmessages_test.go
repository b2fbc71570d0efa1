package rabbitmq_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Each kind of bad message that RabbitMQ can carry ends in the dead letter, with
// its reason and everything it came with. Two values of one header it cannot.
func TestRealBadMessages(t *testing.T) {
	t.Parallel()
	r := connect(t)
	one := r.registry.Register("orders-value", schemas.JSON, orderV1)
	two := r.registry.Register("orders-value", schemas.JSON, orderV2)
	gone := r.registry.Register("orders-value", schemas.JSON, `{"type":"object","title":"gone"}`)
	other := r.registry.Register("other-value", schemas.JSON, `{"type":"array"}`)
	if _, err := r.registry.Client.DeleteVersion(ctx, gone.Subject, gone.Version, false); err != nil {
		t.Fatal(err)
	}
	stamps := func(f schemas.Found, more ...any) amqp.Table {
		h := amqp.Table{"schemaSubject": f.Subject.String(), "schemaVersion": f.Version.String(), "schemaId": f.ID.String(), "schemaGuid": f.GUID.String(), "schemaType": string(f.Source.Type), "x-other": int32(7)}
		for i := 0; i < len(more); i += 2 {
			if more[i+1] == nil {
				delete(h, more[i].(string))
				continue
			}
			h[more[i].(string)] = more[i+1]
		}
		return h
	}
	good := []byte(`{"id":1}`)
	e := &validate.Expect{Subject: orders, Reads: validate.MustReads("1,3..9"), RefuseRetired: true}
	errNoCustomer := errors.New("no such customer")
	stop := r.consumer(e, func(_ context.Context, d *rabbitmq.Delivery) error {
		switch d.Message.Headers["x-do"] {
		case "reject":
			return rabbitmq.Reject(errNoCustomer)
		case "panic":
			panic(strings.Repeat("a long stack ", 10_000))
		case "fail":
			return errNoCustomer
		}
		t.Errorf("handled: %v", d.Message.Headers)
		return nil
	}, rabbitmq.ConsumerOptions{Retry: retry.Policy{Attempts: 2, Base: time.Millisecond, Cap: time.Millisecond}})
	for _, tt := range []struct {
		name    string
		headers amqp.Table
		body    []byte
		reason  string
	}{
		{"nothing", nil, good, "header_missing"},
		{"lower-cased names", amqp.Table{"schemaversion": "1", "schemasubject": "orders-value"}, good, "header_missing"},
		{"version in words", stamps(one, "schemaVersion", "one"), good, "header_malformed"},
		{"version as a float", stamps(one, "schemaVersion", 1.0), good, "header_malformed"},
		{"version as a bool", stamps(one, "schemaVersion", true), good, "header_malformed"},
		{"version as a time", stamps(one, "schemaVersion", time.Unix(1, 0)), good, "header_malformed"},
		{"version as a list", stamps(one, "schemaVersion", []any{"1"}), good, "header_malformed"},
		{"version as a table", stamps(one, "schemaVersion", amqp.Table{"a": "1"}), good, "header_malformed"},
		{"empty version", stamps(one, "schemaVersion", ""), good, "header_malformed"},
		{"bytes that are no UTF-8", stamps(one, "schemaGuid", []byte{0xff}), good, "header_malformed"},
		{"version and guid differ", stamps(one, "schemaGuid", two.GUID.String()), good, "identity_conflict"},
		{"version and id differ", stamps(one, "schemaGuid", nil, "schemaId", two.ID.String()), good, "identity_conflict"},
		{"type differs", stamps(one, "schemaType", "AVRO"), good, "identity_conflict"},
		{"another subject", stamps(other), []byte(`[]`), "subject_mismatch"},
		{"id of another subject", amqp.Table{"schemaId": other.ID.String()}, []byte(`[]`), "subject_mismatch"},
		{"unknown version", amqp.Table{"schemaVersion": "7"}, good, "version_unknown"},
		{"unknown id", amqp.Table{"schemaId": "12345"}, good, "schema_unknown"},
		{"unknown guid", amqp.Table{"schemaGuid": schemas.GUID{1: 1}.String()}, good, "schema_unknown"},
		{"unsupported version", stamps(two), good, "version_unsupported"},
		{"retired version", stamps(gone), good, "version_retired"},
		{"no JSON", stamps(one), []byte(`{`), "payload_unreadable"},
		{"no body", stamps(one), nil, "payload_unreadable"},
		{"against the schema", stamps(one), []byte(`{"id":"x"}`), "payload_invalid"},
		{"too large", stamps(one), append(make([]byte, 9<<20), '1'), "payload_too_large"},
		{"the handler rejects", stamps(one, "x-do", "reject"), good, "handler_rejected"},
		{"the handler panics", stamps(one, "x-do", "panic"), good, "handler_panicked"},
		{"the handler gives up", stamps(one, "x-do", "fail"), good, "attempts_exhausted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r.put(amqp.Publishing{Headers: tt.headers, MessageId: "m-" + tt.name, CorrelationId: "c", Body: tt.body})
			d := r.deadLetter()
			if d.Headers["dlqReason"] != tt.reason {
				t.Fatalf("dlqReason %v, want %s (%v)", d.Headers["dlqReason"], tt.reason, d.Headers["dlqError"])
			}
			if string(d.Body) != string(tt.body) || d.MessageId != "m-"+tt.name || d.CorrelationId != "c" {
				t.Errorf("id %q, correlation %q, %d bytes", d.MessageId, d.CorrelationId, len(d.Body))
			}
			for name, want := range tt.headers {
				if diff := cmp.Diff(want, d.Headers[name]); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
			for name, want := range map[string]any{"dlqOriginalDestination": r.exchange, "dlqOriginalRoutingKey": "order.placed", "dlqOriginalQueue": r.queue, "dlqExpected": "orders-value 1,3..9"} {
				if d.Headers[name] != want {
					t.Errorf("%s = %v, want %v", name, d.Headers[name], want)
				}
			}
			for name, value := range d.Headers {
				if text, ok := value.(string); strings.HasPrefix(name, "dlq") && (!ok || len(text) > 8<<10) {
					t.Errorf("%s: %T of %d bytes", name, value, len(text))
				}
			}
		})
	}
	stop()
	if left := r.depth(r.queue); left != 0 {
		t.Errorf("%d messages left", left)
	}
}
