package validate_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// TestWhatWasSeenDecidesAsWhatIsRead judges messages that differ a little from one
// that was judged often, and holds them to a validator that has seen nothing.
func TestWhatWasSeenDecidesAsWhatIsRead(t *testing.T) {
	t.Parallel()
	f := newFixture()
	framed := func(id int32, rest string) []byte { return append([]byte{0, 0, 0, 0, byte(id)}, rest...) }
	plain := &validate.Expect{Subject: validate.Fixed("users-value"), Reads: validate.MustReads("1")}
	for _, tt := range []struct {
		name string
		m    validate.Message
		e    *validate.Expect
	}{
		{"avro", validate.Message{Headers: append(stamped(f.user1), validate.Header{Name: "messageId", Value: "m-1"}), Payload: []byte{2}}, plain},
		{"avro, as bytes", validate.Message{Headers: asBytes(stamped(f.user1)), Payload: []byte{2}}, plain},
		{"by destination", validate.Message{Destination: "users", Headers: with(stamped(f.user1), "dlqOriginalDestination", "users"), Payload: []byte{2}}, &validate.Expect{Subject: validate.ByDestination()}},
		{"json", validate.Message{Headers: stamped(f.order1), Payload: text(`{"id":1}`), ContentType: "application/json"}, &validate.Expect{Subject: validate.Fixed("orders-value")}},
		{"read by another version", validate.Message{Headers: stamped(f.order1), Payload: text(`{"id":1}`)}, &validate.Expect{Subject: validate.Fixed("orders-value"), Reader: 2}},
		{"a value", validate.Message{Headers: stamped(f.order1), Payload: text(`{"id":1}`)}, &validate.Expect{Value: true}},
		{"protobuf", validate.Message{Headers: with(stamped(f.shop1), "schemaMessage", "acme.Refund"), Payload: []byte{10, 1, 'x'}}, &validate.Expect{}},
		{"prefix", validate.Message{Payload: framed(f.user1.ID.Number, "\x02")}, &validate.Expect{Framing: validate.Confluent}},
		{"prefix, protobuf", validate.Message{Payload: framed(f.shop1.ID.Number, "\x00\x08\x01")}, &validate.Expect{Framing: validate.Confluent}},
		{"prefix, nested", validate.Message{Payload: framed(f.shop1.ID.Number, "\x02\x02\x0a\x01x")}, &validate.Expect{Framing: validate.Confluent}},
		{"prefix by guid", validate.Message{Payload: append(append([]byte{1}, f.user1.GUID[:]...), 2)}, &validate.Expect{Framing: validate.Confluent}},
		{"binary header", validate.Message{Headers: []validate.Header{{Name: "__value_schema_id", Value: append(append([]byte{1}, f.shop1.GUID[:]...), 0)}}, Payload: []byte{8, 1}}, &validate.Expect{Framing: validate.Confluent}},
		{"detect", validate.Message{Headers: stamped(f.order1), Payload: framed(f.order1.ID.Number, `{"id":1}`)}, &validate.Expect{Framing: validate.Detect}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fresh := func(m validate.Message) validate.Outcome {
				v := validate.New(f.shelf, formats()...)
				defer v.Close()
				return v.BeforeConsume(ctx, &m, tt.e)
			}
			if o := fresh(tt.m); o.Verdict != validate.Accept {
				t.Fatal(o.Err)
			}
			v := validate.New(f.shelf, formats()...)
			defer v.Close()
			for what, m := range changed(tt.m) {
				for range 3 {
					v.BeforeConsume(ctx, &tt.m, tt.e)
				}
				want := fresh(m)
				for range 2 {
					got := v.BeforeConsume(ctx, &m, tt.e)
					if said(got) != said(want) || !reflect.DeepEqual(got.Violations, want.Violations) || !reflect.DeepEqual(got.Value, want.Value) || string(got.Payload) != string(want.Payload) {
						t.Errorf("%s: %+v\nand with nothing seen before: %+v", what, said(got), said(want))
					}
				}
			}
		})
	}
}

// TestLongLooksAreNotKept judges messages with more headers than are worth keeping.
func TestLongLooksAreNotKept(t *testing.T) {
	f := newFixture()
	v := validate.New(f.shelf, formats()...)
	defer v.Close()
	m := validate.Message{Headers: stamped(f.user1), Payload: []byte{2}}
	for range 20_000 {
		m.Headers = append(m.Headers, validate.Header{Name: "x-header-of-somebody", Value: "1"})
	}
	e := &validate.Expect{}
	for range 3 {
		if o := v.BeforeConsume(ctx, &m, e); o.Verdict != validate.Accept {
			t.Fatal(o.Err)
		}
	}
	if n := testing.AllocsPerRun(100, func() { v.BeforeConsume(ctx, &m, e) }); n > 0 {
		t.Errorf("%v allocations for each message", n)
	}
}

type decision struct {
	Verdict   validate.Verdict
	Reason    validate.Reason
	GUID      [16]byte
	Message   string
	Err       string
	Version   int32
	Subject   string
	Tombstone bool
}

func said(o validate.Outcome) decision {
	d := decision{o.Verdict, o.Reason, o.GUID, o.Message, "", int32(o.Version), o.Subject.String(), o.Tombstone}
	if o.Verdict == validate.Hold && o.Reason.Verdict() == validate.Reject {
		d.Verdict = validate.Reject // an unknown name's grace depends on what was met before
	}
	if o.Err != nil {
		d.Err = o.Err.Error()
	}
	return d
}

// changed are messages that differ from m in one thing.
func changed(m validate.Message) map[string]validate.Message {
	out := map[string]validate.Message{"nothing": m}
	headers := func(what string, list []validate.Header) {
		c := m
		c.Headers = list
		out[what] = c
	}
	for i, h := range m.Headers {
		one := func(what string, to validate.Header) {
			list := slices.Clone(m.Headers)
			list[i] = to
			headers(h.Name+" "+what, list)
		}
		headers(h.Name+" left out", slices.Delete(slices.Clone(m.Headers), i, i+1))
		headers(h.Name+" twice", slices.Insert(slices.Clone(m.Headers), i, h))
		one("of nothing", validate.Header{Name: h.Name})
		one("empty", validate.Header{Name: h.Name, Value: ""})
		one("a number", validate.Header{Name: h.Name, Value: int64(7)})
		one("another", validate.Header{Name: h.Name, Value: "00000000-0000-0000-0000-000000000009"})
		one("of a higher number", validate.Header{Name: h.Name, Value: "2"})
		one("of another name", validate.Header{Name: "x-" + h.Name, Value: h.Value})
		one("of the key", validate.Header{Name: "keyS" + h.Name[1:], Value: h.Value})
		if s, ok := h.Value.(string); ok {
			one("as bytes", validate.Header{Name: h.Name, Value: []byte(s)})
		}
	}
	reversed := slices.Clone(m.Headers)
	slices.Reverse(reversed)
	headers("in reverse", reversed)
	headers("with another product's", append(slices.Clone(m.Headers), validate.Header{Name: "apicurio.value.globalId", Value: make([]byte, 8)}))
	for i := range m.Payload {
		for _, c := range []byte{0, 1, 2, 0xff} {
			c0 := m
			c0.Payload = slices.Clone(m.Payload)
			c0.Payload[i] = c
			out["byte "+string(rune('0'+i))+" as "+string(rune('0'+c))] = c0
		}
	}
	for what, edit := range map[string]func(*validate.Message){
		"no payload":          func(c *validate.Message) { c.Payload = nil },
		"an empty payload":    func(c *validate.Message) { c.Payload = []byte{} },
		"Azure's payload":     func(c *validate.Message) { c.Payload = text("\x00\x00\x00\x000123456789abcdef0123456789abcdef") },
		"another destination": func(c *validate.Message) { c.Destination += "x" },
		"another routing key": func(c *validate.Message) { c.RoutingKey += "x" },
		"the key":             func(c *validate.Message) { c.IsKey = true },
		"another type":        func(c *validate.Message) { c.ContentType = "application/x-avro" },
		"an event":            func(c *validate.Message) { c.ContentType = "application/cloudevents+json" },
	} {
		c := m
		edit(&c)
		out[what] = c
	}
	return out
}
