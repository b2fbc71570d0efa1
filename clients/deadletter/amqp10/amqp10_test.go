package amqp10_test

import (
	"errors"
	"testing"
	"time"

	"github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/deadletter/amqp10"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// What a message has is kept on its way out of the box and back.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tt := range map[string]struct {
		m    *amqp.Message
		want func(m *amqp.Message) // what differs
	}{
		"data": {m: &amqp.Message{Data: [][]byte{[]byte("x")}}},
		"many sections": {m: &amqp.Message{Data: [][]byte{[]byte("x"), []byte("y")}}, want: func(m *amqp.Message) {
			m.Data = [][]byte{[]byte("xy")}
		}},
		"text": {m: &amqp.Message{Value: "x"}},
		"nothing": {m: &amqp.Message{}, want: func(m *amqp.Message) {
			m.Data = [][]byte{{}}
		}},
	} {
		in := tt.m
		in.Header = &amqp.MessageHeader{Durable: true, Priority: 7}
		in.ApplicationProperties = map[string]any{"messageId": "m", "number": int64(7), "bytes": []byte{0xff}}
		in.Properties = &amqp.MessageProperties{
			CorrelationID: "c", ReplyTo: text("answers"), Subject: text("s"), ContentType: text("text/x"), GroupID: text("k"),
		}
		want := *in
		if tt.want != nil {
			tt.want(&want)
		}
		received := *in
		p := *in.Properties
		p.CreationTime, p.To, p.MessageID = &created, text("orders"), uint64(9)
		received.Properties = &p
		l := amqp10.LetterOf(&received)
		if l.MessageID() != "m" || l.Message.MessageID != "9" || !l.Time.Equal(created) || l.Message.Destination != "orders" {
			t.Errorf("%s: %+v", name, l)
		}
		got, err := amqp10.MessageOf(l)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(&want, got, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".deliveryID" }, cmp.Ignore()), cmp.AllowUnexported(amqp.Message{})); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A body that is no payload is not sent as another.
func TestOtherBodies(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]*amqp.Message{"a number": {Value: int64(7)}, "a sequence": {Sequence: [][]any{{"x"}}}} {
		l := amqp10.LetterOf(m)
		if len(l.Message.Payload) != 0 {
			t.Errorf("%s: %q", name, l.Message.Payload)
		}
		if _, err := amqp10.MessageOf(l); !errors.Is(err, validate.ErrPermanent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A letter of another broker's export is data.
	l := amqp10.LetterOf(&amqp.Message{})
	l.Properties, l.Message.Payload = nil, []byte("x")
	l.Message.Headers = []validate.Header{{Name: "messageKey", Value: "k"}}
	m, err := amqp10.MessageOf(l)
	if err != nil || string(m.GetData()) != "x" || *m.Properties.GroupID != "k" {
		t.Errorf("%+v, %v", m, err)
	}
}
