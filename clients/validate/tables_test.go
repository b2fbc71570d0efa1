package validate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// TestReasons is the classification table, complete: a new reason without a row
// fails here.
func TestReasons(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"header_missing": "reject", "header_malformed": "reject", "header_conflict": "reject", "identity_conflict": "reject", "subject_mismatch": "reject",
		"subject_unknown": "reject", "version_unknown": "reject", "schema_unknown": "reject", "version_unsupported": "reject", "version_retired": "reject",
		"payload_unreadable": "reject", "payload_invalid": "reject", "payload_too_large": "reject", "payload_too_complex": "reject", "translation_failed": "reject",
		"registry_unreachable": "hold", "registry_refused": "hold alarm", "registry_unintelligible": "hold alarm", "schema_unparsable": "hold alarm",
		"handler_rejected": "reject", "handler_panicked": "reject", "attempts_exhausted": "reject",
		"claim_missing": "reject", "claim_invalid": "reject", "claim_unreachable": "hold",
	}
	got := map[string]string{}
	for r := validate.NoReason + 1; r.String() != "unknown"; r++ {
		got[r.String()] = r.Verdict().String()
		if r.Alarms() {
			got[r.String()] += " alarm"
		}
		if back, ok := validate.ParseReason(r.String()); !ok || back != r {
			t.Errorf("ParseReason(%q) = %v, %v", r, back, ok)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, ok := validate.ParseReason(""); ok {
		t.Error("no code is a reason")
	}
	for _, k := range []schemas.ViolationKind{schemas.Unreadable, schemas.Invalid, schemas.TooLarge, schemas.TooComplex} {
		if _, ok := validate.ParseReason(k.String()); !ok {
			t.Errorf("the violation kind %s has no reason", k)
		}
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		has  []schemas.Version
		not  []schemas.Version
	}{
		{"3", []schemas.Version{3}, []schemas.Version{1, 2, 4}},
		{"1..3", []schemas.Version{1, 2, 3}, []schemas.Version{4, 0}},
		{"2..", []schemas.Version{2, 2147483647}, []schemas.Version{1}},
		{"1,3..4", []schemas.Version{1, 3, 4}, []schemas.Version{2, 5}},
		{"2147483647", []schemas.Version{2147483647}, []schemas.Version{2147483646}},
	} {
		r, err := validate.Reads(tt.text)
		if err != nil || r.String() != tt.text || r.IsAll() {
			t.Errorf("Reads(%q) = %v, %v", tt.text, r, err)
		}
		for _, v := range tt.has {
			if !r.Has(v) {
				t.Errorf("%s has not %d", tt.text, v)
			}
		}
		for _, v := range tt.not {
			if r.Has(v) {
				t.Errorf("%s has %d", tt.text, v)
			}
		}
	}
	for _, text := range []string{"", " 1", "1 ", "1 ..3", "0", "0..3", "..3", "3..1", "1..2..3", "1,", ",1", "1;2", "01", "+1", "-1", "a", "latest", "2147483648", "1...3", "1.3"} {
		if r, err := validate.Reads(text); err == nil {
			t.Errorf("Reads(%q) = %v", text, r)
		}
	}
	if all := (validate.Range{}); !all.Has(7) || !all.IsAll() || all.String() != "any" {
		t.Error("the zero Range is not every version")
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, _ := open(t, f.shelf, validate.Options{})
	for _, tt := range []struct {
		pattern, key string
		want         bool
	}{
		{"order.placed", "order.placed", true},
		{"order.placed", "order.placed.eu", false},
		{"order.*", "order.placed", true},
		{"order.*", "order", false},
		{"order.*", "order.placed.eu", false},
		{"order.#", "order", true},
		{"order.#", "order.placed.eu.42", true},
		{"#", "", true},
		{"#", "anything.at.all", true},
		{"*", "", false},
		{"#.eu", "order.placed.eu", true},
		{"#.eu", "order.placed.us", false},
		{"order.#.eu.*", "order.a.b.eu.x", true},
		{"order.#.eu.*", "order.eu", false},
		{"orders.>", "orders.placed.eu", true},
		{"#.#.#.#", "a.b", true},
		{"order.placed", "order..placed", false},
	} {
		s, err := validate.ByRoutingKey(validate.Route{Pattern: tt.pattern, Subject: "orders-value"})
		if err != nil {
			t.Fatal(err)
		}
		pin := validate.Version(s, 1)
		err = v.BeforePublish(ctx, &validate.Message{RoutingKey: tt.key, Payload: text(`{"id":1}`)}, &pin)
		if (err == nil) != tt.want {
			t.Errorf("%q and %q: %v", tt.pattern, tt.key, err)
		}
	}
	for _, routes := range [][]validate.Route{nil, {{Pattern: "a"}}, {{Subject: "a"}}} {
		if _, err := validate.ByRoutingKey(routes...); err == nil {
			t.Errorf("the routes %v are taken", routes)
		}
	}
	first, err := validate.ByRoutingKey(validate.Route{Pattern: "order.#", Subject: "orders-value"}, validate.Route{Pattern: "#", Subject: "other-value"})
	if err != nil {
		t.Fatal(err)
	}
	e := &validate.Expect{Subject: first}
	if o := v.BeforeConsume(ctx, &validate.Message{RoutingKey: "order.1", Headers: stamped(f.order1), Payload: text(`{"id":1}`)}, e); o.Verdict != validate.Accept {
		t.Errorf("the first route: %v", o.Err)
	}
	if o := v.BeforeConsume(ctx, &validate.Message{RoutingKey: "bill.1", Headers: stamped(f.order1), Payload: text(`{"id":1}`)}, e); o.Reason != validate.SubjectMismatch {
		t.Errorf("the second route: %s %s", o.Verdict, o.Reason)
	}
}

func TestDeadLetterHeaders(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	d := validate.DeadLetter{
		Reason: validate.PayloadInvalid, Err: errors.New("it is wrong"), Attempts: 0, FailedAt: at,
		Violations:  []schemas.Violation{{Payload: "/id", Schema: "/properties/id/type", Rule: "type", Text: "a string is no integer"}},
		Destination: "orders", RoutingKey: "order.placed", Queue: "orders.work", Consumer: "billing@host/1", Expected: "orders-value 1..2",
	}
	original := []validate.Header{{Name: "schemaVersion", Value: int32(1)}, {Name: "x", Value: []any{true}}, {Name: "x", Value: "again"}, {Name: "dlqOwn", Value: "of an older version"}, {Name: "dlquery", Value: "not ours"}}
	got := d.Headers(original, 0)
	want := map[string]any{
		"schemaVersion": int32(1), "x": "stands twice", "dlquery": "not ours",
		"dlqReason": "payload_invalid", "dlqClass": "permanent", "dlqError": "it is wrong", "dlqAttempts": "1",
		"dlqDetail":        `[{"pointer":"/id","schema":"/properties/id/type","rule":"type","text":"a string is no integer"}]`,
		"dlqFirstFailedAt": "2026-11-30T12:00:00Z", "dlqFailedAt": "2026-11-30T12:00:00Z",
		"dlqOriginalDestination": "orders", "dlqOriginalRoutingKey": "order.placed", "dlqOriginalQueue": "orders.work",
		"dlqConsumer": "billing@host/1", "dlqExpected": "orders-value 1..2",
	}
	if diff := cmp.Diff(want, headerMap(got)); diff != "" {
		t.Error(diff)
	}
	if d := cmp.Diff(original[:3], got[:3]); d != "" {
		t.Errorf("the original headers: %s", d)
	}

	// It fails again, elsewhere and later.
	again := validate.DeadLetter{Reason: validate.AttemptsExhausted, Exhausted: true, Attempts: 6, FailedAt: at.Add(time.Hour), Destination: "orders.DLT", RoutingKey: "x", Queue: "y"}
	second := headerMap(again.Headers(append(got, validate.Header{Name: "dlqReplays", Value: "2"}), 0))
	for name, value := range map[string]any{
		"dlqReason": "attempts_exhausted", "dlqClass": "exhausted", "dlqAttempts": "6", "dlqFirstFailedAt": "2026-11-30T12:00:00Z", "dlqFailedAt": "2026-11-30T13:00:00Z",
		"dlqOriginalDestination": "orders", "dlqOriginalRoutingKey": "order.placed", "dlqOriginalQueue": "orders.work", "dlqReplays": "2", "dlqError": nil, "dlqDetail": nil,
	} {
		if second[name] != value {
			t.Errorf("the second time %s is %v, want %v", name, second[name], value)
		}
	}
}

func TestDeadLetterIsCut(t *testing.T) {
	t.Parallel()
	var many []schemas.Violation
	for n := range 500 {
		many = append(many, schemas.Violation{Payload: schemas.Pointer(fmt.Sprintf("/%d", n)), Text: strings.Repeat("é", 100)})
	}
	d := validate.DeadLetter{
		Reason: validate.HandlerPanicked, Err: errors.New(strings.Repeat("é", 100_000)), Trace: strings.Repeat("ß", 100_000), Violations: many,
		Destination: strings.Repeat("d", 1000), RoutingKey: strings.Repeat("k", 1000), Queue: "\xff\xfe", Consumer: strings.Repeat("c", 1000), Expected: strings.Repeat("e", 1000),
		FailedAt: time.Unix(0, 0),
	}
	for _, total := range []int{0, 24 << 10, 12 << 10, 4 << 10, 1} {
		size := 0
		for _, h := range d.Headers(nil, total) {
			value, ok := h.Value.(string)
			if !ok || !utf8.ValidString(value) || len(value) > 8<<10 {
				t.Errorf("%s: %d bytes, valid %v", h.Name, len(value), utf8.ValidString(value))
			}
			size += len(h.Name) + len(value)
			if h.Name == "dlqDetail" {
				var list []map[string]string
				if err := json.Unmarshal([]byte(value), &list); err != nil || len(list) == 0 {
					t.Errorf("the cut detail is no JSON: %v", err)
				}
			}
		}
		if limit := max(total, 4<<10); total != 0 && size > limit {
			t.Errorf("%d bytes for a total of %d", size, total)
		}
		if total == 0 && size > 24<<10 {
			t.Errorf("%d bytes by default", size)
		}
	}
}
