package avro_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
	"github.com/linkedin/goavro/v2"
)

const eventSchema = `{"type":"record","name":"Event","namespace":"shop","fields":[
	{"name":"id","type":"string"},
	{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
	{"name":"kind","type":{"type":"enum","name":"Kind","symbols":["PLACED","PAID","SENT"]}},
	{"name":"customer","type":{"type":"record","name":"Customer","fields":[
		{"name":"name","type":"string"},
		{"name":"mail","type":["null","string"],"default":null},
		{"name":"age","type":["null","int"],"default":null},
		{"name":"vip","type":"boolean"}]}},
	{"name":"items","type":{"type":"array","items":{"type":"record","name":"Item","fields":[
		{"name":"sku","type":"string"},
		{"name":"count","type":"int"},
		{"name":"price","type":"double"},
		{"name":"note","type":["null","string"],"default":null},
		{"name":"tags","type":{"type":"map","values":"string"}}]}}},
	{"name":"total","type":"double"},
	{"name":"labels","type":{"type":"map","values":"string"}}]}`

func long(b []byte, v int64) []byte { return binary.AppendVarint(b, v) }

func text(b []byte, s string) []byte { return append(long(b, int64(len(s))), s...) }

func double(b []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
}

// eventPayload writes an event with so many items, by hand.
func eventPayload(items int) []byte {
	b := text(nil, "ord-00012345")
	b = long(b, 1764504016123)
	b = long(b, 1)
	b = text(b, "Zoë Nakagawa")
	b = text(long(b, 1), "zoe@example.com")
	b = long(long(b, 1), 41)
	b = append(b, 1)
	if items > 0 {
		b = long(b, int64(items))
		for i := range items {
			b = text(b, fmt.Sprintf("SKU-%06d", i*7919%1000000))
			b = long(b, int64(i%9+1))
			b = double(b, 9.5+float64(i))
			if i%2 == 0 {
				b = long(b, 0)
			} else {
				b = text(long(b, 1), "handle with care, größe M")
			}
			b = long(b, 1)
			b = text(b, "colour")
			b = text(b, "dark green")
			b = long(b, 0)
		}
	}
	b = long(b, 0)
	b = double(b, 123.75)
	b = long(b, 1)
	b = text(b, "source")
	b = text(b, "web")
	return long(b, 0)
}

func mustParse(t testing.TB, text string) *avro.Schema {
	t.Helper()
	s, err := avro.Parse(context.Background(), schemas.Source{Type: schemas.Avro, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return s
}

var payloadSizes = []struct {
	name  string
	items int
}{{"small", 0}, {"medium", 14}, {"large", 400}}

func BenchmarkReads(b *testing.B) {
	s := mustParse(b, eventSchema)
	for _, size := range payloadSizes {
		payload := schemas.Payload{Bytes: eventPayload(size.items)}
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(payload.Bytes)))
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if r := s.Reads(s, payload, schemas.ReadOptions{}); !r.OK() {
					b.Fatal(r.Violations)
				}
			}
		})
	}
}

func BenchmarkReadsRefused(b *testing.B) {
	s := mustParse(b, eventSchema)
	bytes := eventPayload(14)
	payload := schemas.Payload{Bytes: bytes[:len(bytes)-1]}
	for name, o := range map[string]schemas.ReadOptions{"explained": {}, "verdict": {Verdict: true}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if r := s.Reads(s, payload, o); r.OK() {
					b.Fatal("it was read")
				}
			}
		})
	}
}

func BenchmarkReadsOlderWriter(b *testing.B) {
	writer := mustParse(b, eventSchema)
	reader := mustParse(b, strings.Replace(eventSchema, `{"name":"total"`, `{"name":"currency","type":"string","default":"EUR"},{"name":"total"`, 1))
	payload := schemas.Payload{Bytes: eventPayload(14)}
	b.SetBytes(int64(len(payload.Bytes)))
	b.ReportAllocs()
	for b.Loop() {
		if r := reader.Reads(writer, payload, schemas.ReadOptions{}); !r.OK() {
			b.Fatal(r.Violations)
		}
	}
}

func BenchmarkReadsBesideGoavro(b *testing.B) {
	codec, err := goavro.NewCodec(mustParse(b, eventSchema).ParsingForm())
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range payloadSizes {
		payload := eventPayload(size.items)
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if _, rest, err := codec.NativeFromBinary(payload); err != nil || len(rest) > 0 {
					b.Fatal(err)
				}
			}
		})
	}
}

// wideSchema has so many fields of mixed types.
func wideSchema(fields int) string {
	types := []string{`"string"`, `"long"`, `["null","string"]`, `{"type":"long","logicalType":"timestamp-millis"}`, `{"type":"array","items":"int"}`, `"double"`}
	var b strings.Builder
	b.WriteString(`{"type":"record","name":"Wide","namespace":"shop","fields":[`)
	for i := range fields {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name":"field_%d","type":%s,"doc":"what field %d says"}`, i, types[i%len(types)], i)
	}
	b.WriteString(`]}`)
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	for _, fields := range []int{10, 100, 1000} {
		source := schemas.Source{Type: schemas.Avro, Text: wideSchema(fields)}
		b.Run(fmt.Sprint(fields), func(b *testing.B) {
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if _, err := avro.Parse(context.Background(), source, nil, schemas.ParseOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint(fields, "-goavro"), func(b *testing.B) {
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if _, err := goavro.NewCodec(source.Text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
