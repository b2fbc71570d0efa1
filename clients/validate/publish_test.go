package validate_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

func headerMap(list []validate.Header) map[string]any {
	out := map[string]any{}
	for _, h := range list {
		if _, twice := out[h.Name]; twice {
			out[h.Name] = "stands twice"
			continue
		}
		out[h.Name] = h.Value
	}
	return out
}

func TestPublishStamps(t *testing.T) {
	t.Parallel()
	f := newFixture()
	orders := validate.Fixed("orders-value")
	all := func(f schemas.Found) map[string]any {
		return map[string]any{
			"schemaSubject": f.Subject.String(), "schemaVersion": f.Version.String(), "schemaId": fmt.Sprint(f.ID.Number),
			"schemaGuid": f.GUID.String(), "schemaType": string(f.Source.Type), "messageId": "m-1",
		}
	}
	plus := func(m map[string]any, more ...any) map[string]any {
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	for _, tt := range []struct {
		name string
		m    validate.Message
		pin  validate.Pin
		want map[string]any
		sent string
	}{
		{"version", validate.Message{Payload: text(`{"id":1}`)}, validate.Version(orders, 1), all(f.order1), `{"id":1}`},
		{"guid", validate.Message{Payload: text(`{"id":1}`)}, validate.GUID(orders, f.order2.GUID), all(f.order2), `{"id":1}`},
		{"latest", validate.Message{Payload: text(`{"id":1}`)}, validate.Latest(orders, 0), all(f.order2), `{"id":1}`},
		{"text", validate.Message{Payload: text(`{"id":1}`)}, validate.ByText(orders, f.order1.Source), all(f.order1), `{"id":1}`},
		{"by destination", validate.Message{Destination: "orders", Payload: text(`{"id":1}`)}, validate.Version(validate.ByDestination(), 1), all(f.order1), `{"id":1}`},
		{"other headers stay", validate.Message{Headers: []validate.Header{{Name: "x", Value: 7}}, Payload: text(`{"id":1}`)}, validate.Version(orders, 1), plus(all(f.order1), "x", 7), `{"id":1}`},
		{"a header that agrees stays as it is", validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: int64(1)}, {Name: "schemaGuid", Value: strings.ToUpper(f.order1.GUID.String())}}, Payload: text(`{"id":1}`)}, validate.Version(orders, 1), plus(all(f.order1), "schemaVersion", int64(1), "schemaGuid", strings.ToUpper(f.order1.GUID.String())), `{"id":1}`},
		{"protobuf, first message", validate.Message{Payload: []byte{8, 1}}, validate.Version(validate.Fixed("shop-value"), 1), plus(all(f.shop1), "schemaMessage", "acme.Order"), "\x08\x01"},
		{"protobuf, named message", validate.Message{Type: "acme.Refund", Payload: []byte{10, 1, 'x'}}, validate.Version(validate.Fixed("shop-value"), 1), plus(all(f.shop1), "schemaMessage", "acme.Refund"), "\x0a\x01x"},
		{"prefix", validate.Message{Payload: text(`{"id":1}`)}, validate.Version(orders, 1).WithPrefix(), all(f.order1), "\x00\x00\x00\x00\x01" + `{"id":1}`},
		{"prefix and indexes", validate.Message{Type: "acme.Refund", Payload: []byte{10, 1, 'x'}}, validate.Version(validate.Fixed("shop-value"), 1).WithPrefix(), plus(all(f.shop1), "schemaMessage", "acme.Refund"), "\x00\x00\x00\x00\x04\x02\x02\x0a\x01x"},
		{"binary header", validate.Message{Payload: text(`{"id":1}`)}, validate.Version(orders, 1).WithBinaryHeader(), plus(all(f.order1), "__value_schema_id", append([]byte{1}, f.order1.GUID[:]...)), `{"id":1}`},
		{"cloud event", validate.Message{Headers: []validate.Header{{Name: "cloudEvents_specversion", Value: "1.0"}}, Payload: text(`{"id":1}`)}, validate.Version(orders, 1), plus(all(f.order1), "cloudEvents_specversion", "1.0", "cloudEvents_dataschema", "urn:uuid:"+f.order1.GUID.String()), `{"id":1}`},
		{"key", validate.Message{IsKey: true, Payload: text(`{"id":1}`)}, validate.Version(orders, 1), map[string]any{
			"keySchemaSubject": "orders-value", "keySchemaVersion": "1", "keySchemaId": "1", "keySchemaGuid": f.order1.GUID.String(), "keySchemaType": "JSON", "messageId": "m-1",
		}, `{"id":1}`},
		{"tombstone", validate.Message{}, validate.Version(orders, 1), all(f.order1), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, _ := open(t, f.shelf, validate.Options{})
			tt.m.MessageID = "m-1"
			for _, round := range []string{"first", "stamped again"} {
				if err := v.BeforePublish(ctx, &tt.m, &tt.pin); err != nil {
					t.Fatalf("%s: %v", round, err)
				}
				if d := cmp.Diff(tt.want, headerMap(tt.m.Headers)); d != "" {
					t.Errorf("%s: %s", round, d)
				}
				if string(tt.m.Payload) != tt.sent {
					t.Errorf("%s: payload %q, want %q", round, tt.m.Payload, tt.sent)
				}
			}
			framed := validate.Plain
			if strings.HasPrefix(tt.name, "prefix") {
				framed = validate.Confluent
			}
			if o := v.BeforeConsume(ctx, &tt.m, &validate.Expect{Framing: framed}); o.Verdict != validate.Accept {
				t.Errorf("what was stamped is not accepted: %s %s (%v)", o.Verdict, o.Reason, o.Err)
			}
		})
	}
}

func TestPublishRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture()
	orders := validate.Fixed("orders-value")
	good := text(`{"id":1}`)
	one := validate.Version(orders, 1)
	routes, err := validate.ByRoutingKey(validate.Route{Pattern: "order.#", Subject: "orders-value"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		m      validate.Message
		pin    validate.Pin
		reason validate.Reason
		is     error
		says   string
	}{
		{"invalid payload", validate.Message{Payload: text(`{"id":"x"}`)}, one, validate.PayloadInvalid, validate.ErrPermanent, "/id"},
		{"unreadable payload", validate.Message{Payload: text(`{`)}, one, validate.PayloadUnreadable, validate.ErrPermanent, ""},
		{"empty payload", validate.Message{Payload: []byte{}}, one, validate.PayloadUnreadable, validate.ErrPermanent, ""},
		{"unknown version", validate.Message{Payload: good}, validate.Version(orders, 9), validate.VersionUnknown, validate.ErrPermanent, "orders-value"},
		{"version 0", validate.Message{Payload: good}, validate.Version(orders, 0), validate.VersionUnknown, validate.ErrPermanent, ""},
		{"unknown subject", validate.Message{Payload: good}, validate.Latest(validate.Fixed("nobody"), 0), validate.SubjectUnknown, validate.ErrPermanent, "nobody"},
		{"unknown guid", validate.Message{Payload: good}, validate.GUID(orders, schemas.GUID{1: 1}), validate.SchemaUnknown, validate.ErrPermanent, ""},
		{"unknown text", validate.Message{Payload: good}, validate.ByText(orders, schemas.Source{Type: schemas.JSON, Text: `{}`}), validate.SchemaUnknown, validate.ErrPermanent, ""},
		{"empty pin", validate.Message{Payload: good}, validate.Pin{}, validate.SubjectMismatch, validate.ErrPermanent, ""},
		{"no destination", validate.Message{Payload: good}, validate.Version(validate.ByDestination(), 1), validate.SubjectMismatch, validate.ErrPermanent, "destination"},
		{"no route", validate.Message{RoutingKey: "bill.paid", Payload: good}, validate.Version(routes, 1), validate.SubjectMismatch, validate.ErrPermanent, "bill.paid"},
		{"no type", validate.Message{Payload: good}, validate.Version(validate.ByType(), 1), validate.SubjectMismatch, validate.ErrPermanent, "Message.Type"},
		{"another version is stamped", validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: "2"}}, Payload: good}, one, validate.IdentityConflict, validate.ErrPermanent, "schemaVersion"},
		{"another subject is stamped", validate.Message{Headers: []validate.Header{{Name: "schemaSubject", Value: "other"}}, Payload: good}, one, validate.IdentityConflict, validate.ErrPermanent, "other"},
		{"another guid is stamped", validate.Message{Headers: []validate.Header{{Name: "schemaGuid", Value: f.order2.GUID.String()}}, Payload: good}, one, validate.IdentityConflict, validate.ErrPermanent, ""},
		{"another binary header", validate.Message{Headers: []validate.Header{{Name: "__value_schema_id", Value: append([]byte{1}, f.order2.GUID[:]...)}}, Payload: good}, one, validate.IdentityConflict, validate.ErrPermanent, ""},
		{"another dataschema", validate.Message{Headers: []validate.Header{{Name: "ce_dataschema", Value: "urn:uuid:" + f.order2.GUID.String()}}, Payload: good}, one, validate.IdentityConflict, validate.ErrPermanent, "dataschema"},
		{"a dataschema of another version", validate.Message{Headers: []validate.Header{{Name: "ce_dataschema", Value: "http://r/subjects/orders-value/versions/2"}}, Payload: good}, one, validate.IdentityConflict, validate.ErrPermanent, "dataschema"},
		{"malformed header", validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: 1.5}}, Payload: good}, one, validate.HeaderMalformed, validate.ErrPermanent, ""},
		{"message id too long", validate.Message{MessageID: strings.Repeat("m", 256), Payload: good}, one, validate.HeaderMalformed, validate.ErrPermanent, "256"},
		{"two message ids", validate.Message{MessageID: "a", Headers: []validate.Header{{Name: "messageId", Value: "b"}}, Payload: good}, one, validate.IdentityConflict, validate.ErrPermanent, ""},
		{"no such message", validate.Message{Type: "acme.Nope", Payload: []byte{8, 1}}, validate.Version(validate.Fixed("shop-value"), 1).WithPrefix(), validate.PayloadInvalid, validate.ErrPermanent, "acme.Nope"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, _ := open(t, f.shelf, validate.Options{})
			before := append([]validate.Header(nil), tt.m.Headers...)
			payload := string(tt.m.Payload)
			err := v.BeforePublish(ctx, &tt.m, &tt.pin)
			var e *validate.Error
			if !errors.As(err, &e) || e.Reason != tt.reason || !errors.Is(err, tt.is) {
				t.Fatalf("%v, want %s", err, tt.reason)
			}
			if !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), tt.reason.String()) {
				t.Errorf("%q does not say %q", err, tt.says)
			}
			if d := cmp.Diff(before, tt.m.Headers); d != "" || string(tt.m.Payload) != payload {
				t.Errorf("the refused message was changed: %s", d)
			}
		})
	}
}

func TestPublishInAnOutage(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, c := open(t, f.shelf, validate.Options{})
	known := validate.Version(validate.Fixed("orders-value"), 1)
	latest := validate.Latest(validate.Fixed("orders-value"), 0)
	publish := func(p validate.Pin) error {
		return v.BeforePublish(ctx, &validate.Message{Payload: text(`{"id":1}`)}, &p)
	}
	for _, p := range []validate.Pin{known, latest} {
		if err := publish(p); err != nil {
			t.Fatal(err)
		}
	}
	f.fail(schemas.ErrUnreachable)
	unknown := validate.Version(validate.Fixed("orders-value"), 2)
	if err := publish(unknown); !errors.Is(err, validate.ErrUnavailable) || errors.Is(err, validate.ErrPermanent) {
		t.Errorf("an unknown schema: %v", err)
	}
	c.pass(23 * 60 * 60 * 1e9)
	if err := publish(known); err != nil {
		t.Errorf("a known version after 23 h: %v", err)
	}
	if err := publish(latest); err != nil {
		t.Errorf("latest after 23 h: %v", err)
	}
	c.pass(2 * 60 * 60 * 1e9)
	if err := publish(known); err != nil {
		t.Errorf("a known version after 25 h: %v", err)
	}
	if err := publish(latest); !errors.Is(err, validate.ErrUnavailable) {
		t.Errorf("latest after 25 h: %v", err)
	}
}

func TestMessageIDs(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, _ := open(t, f.shelf, validate.Options{})
	pin := validate.Version(validate.Fixed("orders-value"), 1)
	seen := map[string]bool{}
	for range 100 {
		m := &validate.Message{Payload: text(`{"id":1}`)}
		if err := v.BeforePublish(ctx, m, &pin); err != nil {
			t.Fatal(err)
		}
		if m.MessageID == "" || seen[m.MessageID] || headerMap(m.Headers)["messageId"] != m.MessageID {
			t.Fatalf("message id %q", m.MessageID)
		}
		seen[m.MessageID] = true
	}
	m := &validate.Message{Headers: []validate.Header{{Name: "messageId", Value: "mine"}}, Payload: text(`{"id":1}`)}
	if err := v.BeforePublish(ctx, m, &pin); err != nil || m.MessageID != "mine" {
		t.Errorf("an id in the header: %q, %v", m.MessageID, err)
	}
}

// A payload that is more than a bus is for is published, and warned of once a
// minute.
func TestLargePayloads(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		limit int
		bytes int
		want  int // warnings for two messages, and one more a minute later
	}{
		{"at the limit", 0, 256 << 10, 0},
		{"above", 0, 256<<10 + 1, 2},
		{"of one's own", 1000, 1001, 2},
		{"never", -1, 1 << 20, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			large := 0
			f := newFixture()
			v, clock := open(t, f.shelf, validate.Options{LargePayload: tt.limit, Logger: slog.New(slog.NewTextHandler(&log, nil)), Observe: func(e validate.Event) {
				if e.Large {
					large++
				}
			}})
			pin := validate.Version(validate.Fixed("orders-value"), 1)
			publish := func() {
				body := `{"id":1` + strings.Repeat(" ", tt.bytes-len(`{"id":1}`)) + `}`
				if err := v.BeforePublish(ctx, &validate.Message{Destination: "orders", Payload: text(body)}, &pin); err != nil {
					t.Fatal(err)
				}
			}
			publish()
			publish()
			clock.pass(time.Minute)
			publish()
			if got := strings.Count(log.String(), "clients/claim"); got != tt.want {
				t.Errorf("%d warnings: %s", got, log.String())
			}
			if tt.want > 0 != (large == 3) || tt.want == 0 && large != 0 {
				t.Errorf("%d events say large", large)
			}
		})
	}
}

func TestViolationsAreBounded(t *testing.T) {
	t.Parallel()
	s := newShelf()
	s.put("a", schemas.JSON, `{"type":"array","items":{"type":"integer"}}`)
	v, _ := open(t, s, validate.Options{})
	pin := validate.Version(validate.Fixed("a"), 1)
	list := "[" + strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("x", 400)+`",`, 2000), ",") + "]"
	err := v.BeforePublish(ctx, &validate.Message{Payload: text(list)}, &pin)
	var e *validate.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	size := 0
	for _, one := range e.Violations {
		size += len(one.Payload) + len(one.Schema) + len(one.Rule) + len(one.Text)
	}
	if n := len(e.Violations); n == 0 || n > 50 || size > 16<<10 {
		t.Errorf("%d violations of %d bytes", n, size)
	}
	if len(err.Error()) > 4<<10 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}
