package validate_test

import (
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
)

// BenchmarkBeforeConsume is the hot path: header, schema, verdict, all cached.
func BenchmarkBeforeConsume(b *testing.B) {
	f := newFixture()
	for _, bm := range []struct {
		name string
		m    validate.Message
		e    validate.Expect
	}{
		{"avro", validate.Message{Headers: stamped(f.user1), Payload: []byte{2}}, validate.Expect{Subject: validate.Fixed("users-value"), Reads: validate.MustReads("1")}},
		{"avro, headers as bytes", validate.Message{Headers: asBytes(stamped(f.user1)), Payload: []byte{2}}, validate.Expect{Subject: validate.Fixed("users-value"), Reads: validate.MustReads("1")}},
		{"json", validate.Message{Headers: stamped(f.order1), Payload: text(`{"id":1}`)}, validate.Expect{Subject: validate.Fixed("orders-value")}},
		{"protobuf", validate.Message{Headers: stamped(f.shop1), Payload: []byte{8, 1}}, validate.Expect{}},
		{"prefix", validate.Message{Payload: append([]byte{0, 0, 0, 0, byte(f.user1.ID.Number)}, 2)}, validate.Expect{Framing: validate.Confluent}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			v := validate.New(f.shelf, formats()...)
			defer v.Close()
			if o := v.BeforeConsume(ctx, &bm.m, &bm.e); o.Verdict != validate.Accept {
				b.Fatal(o.Err)
			}
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				o := v.BeforeConsume(ctx, &bm.m, &bm.e)
				if o.Verdict != validate.Accept || !o.Cached {
					b.Fatal(o.Err)
				}
			}
		})
		b.Run(bm.name+"/check alone", func(b *testing.B) {
			v := validate.New(f.shelf, formats()...)
			defer v.Close()
			o := v.BeforeConsume(ctx, &bm.m, &bm.e)
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if !o.Writer.Reads(o.Writer, payload(o), readOptions).OK() {
					b.Fatal()
				}
			}
		})
	}
}

// asBytes gives headers as Kafka has them.
func asBytes(list []validate.Header) []validate.Header {
	out := make([]validate.Header, len(list))
	for i, h := range list {
		out[i] = validate.Header{Name: h.Name, Value: []byte(h.Value.(string))}
	}
	return out
}

// BenchmarkRefused is a message whose payload is refused, beside one that is not.
func BenchmarkRefused(b *testing.B) {
	s := newShelf()
	avro := s.put("users-value", schemas.Avro, `{"type":"record","name":"User","fields":[{"name":"a","type":"string"},{"name":"b","type":"string"},{"name":"c","type":"boolean"}]}`)
	json := s.put("orders-value", schemas.JSON, `{"type":"object","properties":{"id":{"type":"integer"},"lines":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"},"n":{"type":"integer","minimum":1}},"required":["sku","n"],"additionalProperties":false}}},"required":["id"]}`)
	shop := s.put("shop-value", schemas.Protobuf, "syntax = \"proto3\"; message Order { int64 id = 1; string a = 2; string b = 3; }")
	line := `{"sku":"aaaaaaaa","n":3},`
	for _, bm := range []struct {
		name      string
		of        schemas.Found
		good, bad []byte
	}{
		{"avro", avro, []byte("\x08aaaa\x08bbbb\x01"), []byte("\x08aaaa\x08bbbb\x07")},
		{"json", json, text(`{"id":1,"lines":[` + strings.Repeat(line, 9) + line[:len(line)-1] + `]}`), text(`{"id":1,"lines":[` + strings.Repeat(line, 9) + `{"sku":"aaaaaaaa","n":0}]}`)},
		{"json, every line", json, text(`{"id":1,"lines":[` + strings.Repeat(line, 9) + line[:len(line)-1] + `]}`), text(`{"id":1,"lines":[` + strings.Repeat(`{"sku":"aaaaaaaa","n":0},`, 9) + `{"sku":"aaaaaaaa","n":0}]}`)},
		{"protobuf", shop, []byte("\x08\x01\x12\x04aaaa\x1a\x04bbbb"), []byte("\x08\x01\x12\x04aaaa\x1a\x04b\xffbb")},
	} {
		v := validate.New(s, formats()...)
		defer v.Close()
		brief := validate.NewWith(s, validate.Options{Read: schemas.ReadOptions{Verdict: true}}, formats()...)
		defer brief.Close()
		e := &validate.Expect{}
		for _, one := range []struct {
			name    string
			v       *validate.Validator
			payload []byte
			want    validate.Verdict
		}{{"valid", v, bm.good, validate.Accept}, {"refused", v, bm.bad, validate.Reject}, {"refused without reasons", brief, bm.bad, validate.Reject}} {
			m := validate.Message{Headers: stamped(bm.of), Payload: one.payload}
			b.Run(bm.name+"/"+one.name, func(b *testing.B) {
				b.ReportAllocs()
				defer costtest.Processor(b)()
				for b.Loop() {
					if o := one.v.BeforeConsume(ctx, &m, e); o.Verdict != one.want {
						b.Fatal(o.Verdict, o.Reason, o.Err)
					}
				}
			})
		}
	}
}

// TestHeadersAsBytesAreNotKept changes a message's memory after it was judged.
func TestHeadersAsBytesAreNotKept(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, _ := open(t, f.shelf, validate.Options{})
	e := &validate.Expect{}
	var outcomes []validate.Outcome
	for range 3 {
		h := asBytes(with(stamped(f.shop1), "schemaMessage", "acme.Refund"))
		o := v.BeforeConsume(ctx, &validate.Message{Headers: h, Payload: []byte{10, 1, 'x'}}, e)
		outcomes = append(outcomes, o)
		for _, one := range h {
			clear(one.Value.([]byte))
		}
	}
	for i, o := range outcomes {
		if o.Verdict != validate.Accept || o.Message != "acme.Refund" || o.Subject != f.shop1.Subject {
			t.Errorf("message %d: %s %q %q: %v", i, o.Verdict, o.Message, o.Subject, o.Err)
		}
	}
	if n := len(f.questions()); n > 3 {
		t.Errorf("%d questions for one identity", n)
	}
}

func TestCachedLookupAllocatesNothing(t *testing.T) {
	f := newFixture()
	v := validate.New(f.shelf, formats()...)
	defer v.Close()
	for _, tt := range []struct {
		name string
		m    validate.Message
		e    validate.Expect
	}{
		{"avro", validate.Message{Headers: stamped(f.user1), Payload: []byte{2}}, validate.Expect{Subject: validate.Fixed("users-value")}},
		{"headers as bytes", validate.Message{Headers: asBytes(stamped(f.user1)), Payload: []byte{2}}, validate.Expect{Subject: validate.Fixed("users-value")}},
		{"by prefix", validate.Message{Payload: append([]byte{0, 0, 0, 0, byte(f.user1.ID.Number)}, 2)}, validate.Expect{Framing: validate.Confluent}},
		{"protobuf by prefix", validate.Message{Payload: append([]byte{0, 0, 0, 0, byte(f.shop1.ID.Number)}, 0, 8, 1)}, validate.Expect{Framing: validate.Confluent}},
	} {
		first := v.BeforeConsume(ctx, &tt.m, &tt.e)
		alone := testing.AllocsPerRun(200, func() { first.Writer.Reads(first.Writer, payload(first), readOptions) })
		whole := testing.AllocsPerRun(200, func() { v.BeforeConsume(ctx, &tt.m, &tt.e) })
		if whole > alone {
			t.Errorf("%s: %v allocations, and the check alone has %v", tt.name, whole, alone)
		}
	}
}

// BenchmarkBeforePublish stamps a message whose schema is known.
func BenchmarkBeforePublish(b *testing.B) {
	f := newFixture()
	v := validate.New(f.shelf, formats()...)
	defer v.Close()
	pin := validate.Version(validate.Fixed("users-value"), 1)
	b.ReportAllocs()
	for b.Loop() {
		m := validate.Message{Payload: []byte{2}, MessageID: "m-1"}
		if err := v.BeforePublish(ctx, &m, &pin); err != nil {
			b.Fatal(err)
		}
	}
}
