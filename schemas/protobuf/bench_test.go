package protobuf_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

const event = `syntax = "proto3"; package shop;
message Event {
  string id = 1; int64 at = 2; Customer customer = 3; Status status = 4;
  optional string note = 5; repeated Item items = 6; map<string, string> labels = 7; bool paid = 8;
}
message Customer { string name = 1; string city = 2; optional string phone = 3; double rating = 4; }
message Item { string sku = 1; int32 count = 2; int64 cents = 3; string title = 4; repeated int32 sizes = 5; map<string, double> taxes = 6; }
enum Status { NEW = 0; PAID = 1; SENT = 2; }`

// payloads are one event with few, ten and many items.
func payloads(tb testing.TB, s *protobuf.Schema) map[string][]byte {
	tb.Helper()
	out := map[string][]byte{}
	for name, items := range map[string]int{"small": 0, "medium": 10, "large": 310} {
		var b strings.Builder
		for i := range items {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"sku":"SKU-%05d","count":%d,"cents":"%d","title":"Café com leite nº %d","sizes":[1,22,333],"taxes":{"icms":0.18}}`, i, i%7+1, 1999+i*131, i)
		}
		text := `{"id":"5f0c3b1e-7d1a-4c1e-9a57","at":"1764500000000","customer":{"name":"João da Silva","city":"São Paulo","rating":4.5},"status":"PAID","note":"deixar na portaria","labels":{"origem":"app"},"paid":true,"items":[` + b.String() + `]}`
		raw, err := s.FromJSON("shop.Event", []byte(text), schemas.ReadOptions{})
		if err != nil {
			tb.Fatal(err)
		}
		out[name] = raw
	}
	return out
}

var sizes = []string{"small", "medium", "large"}

func BenchmarkReads(b *testing.B) {
	s := parse(b, event)
	next := parse(b, strings.Replace(event, "bool paid = 8;", "bool paid = 8; int32 more = 9;", 1))
	message := dynamic(b, s)
	all := payloads(b, s)
	for _, size := range sizes {
		payload := schemas.Payload{Bytes: all[size]}
		b.Run(size+"/own", func(b *testing.B) {
			b.SetBytes(int64(len(payload.Bytes)))
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if r := s.Reads(s, payload, schemas.ReadOptions{}); !r.OK() {
					b.Fatal(r)
				}
			}
		})
		b.Run(size+"/later-version", func(b *testing.B) {
			b.SetBytes(int64(len(payload.Bytes)))
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if r := next.Reads(s, payload, schemas.ReadOptions{}); !r.OK() {
					b.Fatal(r)
				}
			}
		})
		b.Run(size+"/value", func(b *testing.B) {
			b.SetBytes(int64(len(payload.Bytes)))
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				s.Reads(s, payload, schemas.ReadOptions{Value: true})
			}
		})
		b.Run(size+"/dynamicpb", func(b *testing.B) {
			b.SetBytes(int64(len(payload.Bytes)))
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if err := proto.Unmarshal(payload.Bytes, message.New().Interface()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReadsRefused(b *testing.B) {
	s := parse(b, event)
	payload := schemas.Payload{Bytes: payloads(b, s)["medium"]}
	payload.Bytes = payload.Bytes[:len(payload.Bytes)-1]
	for name, o := range map[string]schemas.ReadOptions{"explained": {}, "verdict": {Verdict: true}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if r := s.Reads(s, payload, o); r.OK() {
					b.Fatal("it is read")
				}
			}
		})
	}
}

func BenchmarkToJSON(b *testing.B) {
	s := parse(b, event)
	payload := schemas.Payload{Bytes: payloads(b, s)["medium"]}
	message := dynamic(b, s)
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.ToJSON(payload, schemas.ReadOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("protojson", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m := message.New().Interface()
			if err := proto.Unmarshal(payload.Bytes, m); err != nil {
				b.Fatal(err)
			}
			if _, err := protojson.Marshal(m); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func fieldsText(n int) string {
	var b strings.Builder
	b.WriteString("syntax = \"proto3\";\npackage p;\n")
	for i := range n {
		if i%10 == 0 {
			if i > 0 {
				b.WriteString("}\n")
			}
			fmt.Fprintf(&b, "// M%d is a message.\nmessage M%d {\n", i/10, i/10)
		}
		fmt.Fprintf(&b, "  string field_%d = %d; // a field\n", i, i%10+1)
	}
	b.WriteString("}\n")
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		text := fieldsText(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				parse(b, text)
			}
		})
	}
	b.Run("references", func(b *testing.B) {
		known := registry{"money": proto3(`package common; message Money { int64 units = 1; }`)}
		source := proto3(`import "common/money.proto"; message A { common.Money m = 1; }`, ref("common/money.proto", "money"))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := protobuf.Parse(b.Context(), source, known, schemas.ParseOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkNormalized(b *testing.B) {
	s := parse(b, fieldsText(100))
	b.ReportAllocs()
	for b.Loop() {
		s.Normalized()
	}
}
