package validate_test

import (
	"testing"

	"github.com/cartorio-registry/cartorio/clients/validate"
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
			for b.Loop() {
				if !o.Writer.Reads(o.Writer, payload(o), readOptions).OK() {
					b.Fatal()
				}
			}
		})
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
