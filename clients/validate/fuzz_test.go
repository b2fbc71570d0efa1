package validate_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// FuzzHeaders: whatever a message's headers and payload hold, there is a verdict
// with a reason; what is accepted has a schema; what a producer may stamp a
// consumer accepts.
func FuzzHeaders(f *testing.F) {
	shelf := newFixture()
	good := stamped(shelf.order1)
	for _, h := range good {
		value, _ := h.Value.(string)
		f.Add(h.Name, []byte(value), uint8(0), "schemaVersion", []byte("1"), uint8(4), uint8(0), []byte(`{"id":1}`))
	}
	f.Add("__value_schema_id", append([]byte{1}, shelf.shop1.GUID[:]...), uint8(1), "schemaMessage", []byte("acme.Refund"), uint8(0), uint8(1), []byte{10, 1, 'x'})
	f.Add("ce_dataschema", []byte("http://r/subjects/orders-value/versions/1"), uint8(0), "content-type", []byte("x"), uint8(0), uint8(2), []byte("\x00\x00\x00\x00\x01{}"))
	f.Add("apicurio.value.globalId", make([]byte, 8), uint8(1), "schemaId", []byte("00112233445566778899aabbccddeeff"), uint8(0), uint8(2), []byte{3, 0})
	f.Add("dlqOriginalDestination", []byte("orders"), uint8(0), "schemaVersion", []byte("2"), uint8(2), uint8(3), []byte(`{"data":{"id":1}}`))
	v, _ := open(f, shelf.shelf, validate.Options{})
	orders := validate.Fixed("orders-value")
	expects := []*validate.Expect{
		{},
		{Framing: validate.Confluent},
		{Framing: validate.Detect, Subject: orders},
		{Subject: validate.ByDestination(), Assume: 1},
		{Subject: orders, Reads: validate.MustReads("1"), Reader: 2},
		{Subject: validate.ByType(), Framing: validate.Detect},
	}
	pin := validate.Version(orders, 1)
	f.Fuzz(func(t *testing.T, name1 string, value1 []byte, kind1 uint8, name2 string, value2 []byte, kind2 uint8, mode uint8, payload []byte) {
		m := &validate.Message{
			Destination: "orders", RoutingKey: name1, Payload: payload, IsKey: mode&0x40 != 0,
			Headers: []validate.Header{{Name: name1, Value: valueOf(kind1, value1)}, {Name: name2, Value: valueOf(kind2, value2)}},
		}
		if mode&0x80 != 0 {
			m.ContentType = "application/cloudevents+json"
		}
		e := expects[int(mode)%len(expects)]
		for range 2 { // asked, then cached
			o := v.BeforeConsume(ctx, m, e)
			switch o.Verdict {
			case validate.Accept:
				if o.Writer == nil && !o.Tombstone {
					t.Fatalf("accepted without a schema: %+v", o)
				}
			case validate.Reject, validate.Hold:
				if o.Reason == validate.NoReason || o.Err == nil {
					t.Fatalf("%s without a reason: %+v", o.Verdict, o)
				}
				validate.DeadLetter{Reason: o.Reason, Err: o.Err, Violations: o.Violations}.Headers(m.Headers, 0)
			default:
				t.Fatalf("no verdict: %+v", o)
			}
		}
		m.IsKey, m.ContentType = false, ""
		err := v.BeforePublish(ctx, m, &pin)
		var bad *validate.Error
		switch {
		case err == nil:
			if o := v.BeforeConsume(ctx, m, expects[0]); o.Verdict != validate.Accept {
				t.Fatalf("stamped, and then %s %s (%v): %v", o.Verdict, o.Reason, o.Err, m.Headers)
			}
		case !errors.As(err, &bad) || errors.Is(err, validate.ErrPermanent) == errors.Is(err, validate.ErrUnavailable):
			t.Fatalf("neither permanent nor unavailable, or both: %v", err)
		}
	})
}

func valueOf(kind uint8, b []byte) any {
	var wide [8]byte
	copy(wide[:], b)
	n := binary.BigEndian.Uint64(wide[:])
	switch kind % 8 {
	case 0:
		return string(b)
	case 1:
		return b
	case 2:
		return int32(n)
	case 3:
		return int64(n)
	case 4:
		return n
	case 5:
		return float64(n)
	case 6:
		return n%2 == 0
	}
	return nil
}
