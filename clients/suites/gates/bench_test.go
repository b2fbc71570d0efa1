// Package gates measures the whole gate of a consumer, from a record's bytes and
// headers to the verdict, beside what two widely used Go clients need to decode
// the same record: Confluent's deserializers and franz-go's Serde. It is a module
// of its own, since the first needs cgo and both bring much that the product does
// not.
//
//	go test -run Ratios -v .
package gates

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/avrov2"
	confluentjson "github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/jsonschema"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/protobuf"
	"github.com/hamba/avro/v2"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/twmb/franz-go/pkg/sr"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// line and order are a medium event, user a small one.
type line struct {
	Sku   string  `avro:"sku" json:"sku"`
	Count int64   `avro:"count" json:"count"`
	Price float64 `avro:"price" json:"price"`
}

type order struct {
	ID       int64             `avro:"id" json:"id"`
	Customer string            `avro:"customer" json:"customer"`
	Currency string            `avro:"currency" json:"currency"`
	Note     *string           `avro:"note" json:"note"`
	Paid     bool              `avro:"paid" json:"paid"`
	Tags     []string          `avro:"tags" json:"tags"`
	Labels   map[string]string `avro:"labels" json:"labels"`
	Lines    []line            `avro:"lines" json:"lines"`
}

type user struct {
	ID   int64  `avro:"id" json:"id"`
	Name string `avro:"name" json:"name"`
}

const (
	orderAvro = `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"customer","type":"string"},{"name":"currency","type":"string"},
		{"name":"note","type":["null","string"],"default":null},{"name":"paid","type":"boolean"},{"name":"tags","type":{"type":"array","items":"string"}},
		{"name":"labels","type":{"type":"map","values":"string"}},{"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[
		{"name":"sku","type":"string"},{"name":"count","type":"long"},{"name":"price","type":"double"}]}}}]}`
	userAvro  = `{"type":"record","name":"User","fields":[{"name":"id","type":"long"},{"name":"name","type":"string"}]}`
	orderJSON = `{"type":"object","additionalProperties":false,"required":["id","customer","lines"],"properties":{"id":{"type":"integer"},
		"customer":{"type":"string","minLength":1},"currency":{"type":"string","pattern":"^[A-Z]{3}$"},"note":{"type":["null","string"]},"paid":{"type":"boolean"},
		"tags":{"type":"array","items":{"type":"string"}},"labels":{"type":"object","additionalProperties":{"type":"string"}},
		"lines":{"type":"array","minItems":1,"items":{"type":"object","required":["sku","count"],"properties":{"sku":{"type":"string"},"count":{"type":"integer","minimum":1},"price":{"type":"number"}}}}}}`
	userJSON  = `{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"name":{"type":"string"}}}`
	timeProto = "syntax = \"proto3\";\npackage google.protobuf;\noption go_package = \"google.golang.org/protobuf/types/known/timestamppb\";\nmessage Timestamp {\n  int64 seconds = 1;\n  int32 nanos = 2;\n}\n"
)

func medium() order {
	o := order{ID: 123456, Customer: "Grace Hopper", Currency: "BRL", Paid: true, Tags: []string{"a", "bb", "ccc"}, Labels: map[string]string{"region": "south", "tier": "gold"}}
	for range 10 {
		o.Lines = append(o.Lines, line{Sku: "SKU-0001", Count: 3, Price: 9.5})
	}
	return o
}

// shelf is the registry of our side: one schema, by id and by version.
type shelf struct{ found schemas.Found }

func (s shelf) ByGUID(context.Context, schemas.GUID) (schemas.Found, error) { return s.found, nil }
func (s shelf) ByID(context.Context, schemas.ID) (schemas.Found, error)     { return s.found, nil }
func (s shelf) Latest(context.Context, schemas.Subject) (schemas.Found, error) {
	return s.found, nil
}

func (s shelf) ByVersion(context.Context, schemas.Subject, schemas.Version) (schemas.Found, error) {
	return s.found, nil
}

func (s shelf) BySource(context.Context, schemas.Subject, schemas.Source) (schemas.Found, error) {
	return s.found, nil
}

// gate is one consumer: it judges or decodes one record, and is told so again.
type gate struct {
	name string
	run  func() error
}

// event is one kind of record and the gates that take it.
type event struct {
	name  string
	gates []gate
	// most is how large our share of the other's time may be: what was measured,
	// and a quarter more. goal is what the specification asks for.
	most, goal share
}

// share is a part of the time of another client.
type share struct{ confluent, franz float64 }

func (s share) of(other string) float64 {
	if other == "confluent" {
		return s.confluent
	}
	return s.franz
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// ours is Cartório's gate over the same bytes, by the headers that it stamps and
// by the prefix alone.
func ours(t schemas.Type, text string, payload []byte, framed []byte) []gate {
	subject := schemas.ParseSubject("t-value")
	found := schemas.Found{Subject: subject, Version: 1, ID: schemas.ID{Context: schemas.DefaultContext, Number: 1}, GUID: schemas.GUIDOf(text, nil, nil, nil), Source: schemas.Source{Type: t, Text: text}}
	v := validate.New(shelf{found}, formats.All...)
	pin := validate.Version(validate.Fixed("t-value"), 1)
	m := validate.Message{Destination: "t", Payload: payload}
	if err := v.BeforePublish(context.Background(), &m, &pin); err != nil {
		panic(err)
	}
	headers := &validate.Expect{Subject: validate.Fixed("t-value"), Reads: validate.MustReads("1")}
	prefix := &validate.Expect{Framing: validate.Confluent}
	bare := validate.Message{Destination: "t", Payload: framed}
	judge := func(m *validate.Message, e *validate.Expect) func() error {
		return func() error {
			o := v.BeforeConsume(context.Background(), m, e)
			return o.Err
		}
	}
	return []gate{{"ours, headers", judge(&m, headers)}, {"ours, prefix", judge(&bare, prefix)}}
}

func framed(payload []byte, indexes ...byte) []byte {
	return append(append(binary.BigEndian.AppendUint32([]byte{0}, 1), indexes...), payload...)
}

// confluent is a client over its own mock registry, which holds one schema.
func confluent(event, kind, text string) schemaregistry.Client {
	c := must(schemaregistry.NewClient(schemaregistry.NewConfig("mock://" + strings.NewReplacer(",", "", " ", "").Replace(event))))
	if id := must(c.Register("t-value", schemaregistry.SchemaInfo{Schema: text, SchemaType: kind}, false)); id != 1 {
		panic("another id")
	}
	return c
}

func avroEvent[T any](name, text string, value T, most share) event {
	schema := avro.MustParse(text)
	payload := must(avro.Marshal(schema, value))
	record := framed(payload)
	de := must(avrov2.NewDeserializer(confluent(name, "AVRO", text), serde.ValueSerde, avrov2.NewDeserializerConfig()))
	var s sr.Serde
	s.Register(1, new(T), sr.DecodeFn(func(b []byte, v any) error { return avro.Unmarshal(schema, b, v) }))
	gates := ours(schemas.Avro, text, payload, record)
	return event{name, append(
		gates,
		gate{"confluent", func() error { var v T; return de.DeserializeInto("t", record, &v) }},
		gate{"franz-go", func() error { var v T; return s.Decode(record, &v) }},
	), most, share{1.0 / 5, 1.0 / 2}}
}

func jsonEvent[T any](name, text string, value T, most share) event {
	payload := must(json.Marshal(value))
	record := framed(payload)
	conf := confluentjson.NewDeserializerConfig()
	conf.EnableValidation = true
	de := must(confluentjson.NewDeserializer(confluent(name, "JSON", text), serde.ValueSerde, conf))
	compiled := jsonschema.MustCompileString("t.json", text)
	var s sr.Serde
	s.Register(1, new(T), sr.DecodeFn(func(b []byte, v any) error {
		var doc any
		if err := json.Unmarshal(b, &doc); err != nil {
			return err
		}
		if err := compiled.Validate(doc); err != nil {
			return err
		}
		return json.Unmarshal(b, v)
	}))
	gates := ours(schemas.JSON, text, payload, record)
	return event{name, append(
		gates,
		gate{"confluent", func() error { var v T; return de.DeserializeInto("t", record, &v) }},
		gate{"franz-go", func() error { var v T; return s.Decode(record, &v) }},
	), most, share{1.0 / 25, 1.0 / 25}}
}

func protobufEvent() event {
	payload := must(proto.Marshal(&timestamppb.Timestamp{Seconds: 1767225600, Nanos: 5}))
	record := framed(payload, 0)
	de := must(protobuf.NewDeserializer(confluent("protobuf", "PROTOBUF", timeProto), serde.ValueSerde, protobuf.NewDeserializerConfig()))
	var s sr.Serde
	s.Register(1, &timestamppb.Timestamp{}, sr.Index(0), sr.DecodeFn(func(b []byte, v any) error { return proto.Unmarshal(b, v.(proto.Message)) }))
	gates := ours(schemas.Protobuf, timeProto, payload, record)
	return event{"Protobuf, small", append(
		gates,
		gate{"confluent", func() error { v := &timestamppb.Timestamp{}; return de.DeserializeInto("t", record, v) }},
		gate{"franz-go", func() error { v := &timestamppb.Timestamp{}; return s.Decode(record, v) }},
	), share{1 / 2.0, 2}, share{1.0 / 5, 1.0 / 2}}
}

func events() []event {
	return []event{
		avroEvent("Avro, small", userAvro, user{7, "Grace"}, share{1 / 2.2, 2.1}), avroEvent("Avro, medium", orderAvro, medium(), share{1 / 2.2, 1 / 1.3}),
		jsonEvent("JSON, small", userJSON, user{7, "Grace"}, share{1 / 7.0, 1 / 5.0}), jsonEvent("JSON, medium", orderJSON, medium(), share{1 / 13.0, 1 / 12.0}),
		protobufEvent(),
	}
}

func BenchmarkGates(b *testing.B) {
	for _, e := range events() {
		for _, g := range e.gates {
			b.Run(strings.ReplaceAll(e.name+"/"+g.name, ", ", " "), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := g.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// least is the time of one run, as it is when nobody else has the processor: the
// least of many short spans.
func least(t *testing.T, g gate) time.Duration {
	t.Helper()
	if err := g.run(); err != nil {
		t.Fatalf("%s: %v", g.name, err)
	}
	best := time.Duration(1<<63 - 1)
	const runs = 500
	for range 200 {
		began := time.Now()
		for range runs {
			_ = g.run()
		}
		best = min(best, time.Since(began))
	}
	return best / runs
}

// TestRatios holds the gate to its share of what others need to decode. They make
// a value of the program's own and look neither at its headers nor, but for JSON,
// at what the schema says beyond the form; the gate judges, and makes nothing.
func TestRatios(t *testing.T) {
	for _, e := range events() {
		times := map[string]time.Duration{}
		for _, g := range e.gates {
			times[g.name] = least(t, g)
		}
		for _, mine := range []string{"ours, headers", "ours, prefix"} {
			for _, other := range []string{"confluent", "franz-go"} {
				ratio := float64(times[mine]) / float64(times[other])
				t.Logf("%-16s %-14s %7d ns, %-9s %7d ns: 1/%.1f, the goal is 1/%.0f", e.name, mine, times[mine].Nanoseconds(), other, times[other].Nanoseconds(), 1/ratio, 1/e.goal.of(other))
				if most := e.most.of(other); ratio > most {
					t.Errorf("%s: %s needs 1/%.1f of %s, and 1/%.1f is the most", e.name, mine, 1/ratio, other, 1/most)
				}
			}
		}
	}
}
