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
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
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

	"github.com/cartorio-registry/cartorio/clients/suites/gates/eventpb"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// user is a tiny record, event one of the kind that the specification measures:
// records in records, an enum, texts that may be null, lists and maps.
type user struct {
	ID   int64  `avro:"id" json:"id"`
	Name string `avro:"name" json:"name"`
}

type customer struct {
	Name  string  `avro:"name" json:"name"`
	Email *string `avro:"email" json:"email"`
	City  *string `avro:"city" json:"city"`
}

type line struct {
	Sku        string            `avro:"sku" json:"sku"`
	Title      string            `avro:"title" json:"title"`
	Count      int64             `avro:"count" json:"count"`
	Price      float64           `avro:"price" json:"price"`
	Attributes map[string]string `avro:"attributes" json:"attributes"`
}

type event struct {
	ID       int64             `avro:"id" json:"id"`
	At       int64             `avro:"at" json:"at"`
	Kind     string            `avro:"kind" json:"kind"`
	Customer customer          `avro:"customer" json:"customer"`
	Note     *string           `avro:"note" json:"note"`
	Lines    []line            `avro:"lines" json:"lines"`
	Labels   map[string]string `avro:"labels" json:"labels"`
}

const (
	userAvro  = `{"type":"record","name":"User","fields":[{"name":"id","type":"long"},{"name":"name","type":"string"}]}`
	userJSON  = `{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"name":{"type":"string"}}}`
	eventAvro = `{"type":"record","name":"Event","fields":[{"name":"id","type":"long"},{"name":"at","type":"long"},{"name":"kind","type":{"type":"enum","name":"Kind","symbols":["UNSPECIFIED","CREATED","PAID"]}},
		{"name":"customer","type":{"type":"record","name":"Customer","fields":[{"name":"name","type":"string"},{"name":"email","type":["null","string"],"default":null},{"name":"city","type":["null","string"],"default":null}]}},
		{"name":"note","type":["null","string"],"default":null},{"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[{"name":"sku","type":"string"},{"name":"title","type":"string"},
		{"name":"count","type":"long"},{"name":"price","type":"double"},{"name":"attributes","type":{"type":"map","values":"string"}}]}}},{"name":"labels","type":{"type":"map","values":"string"}}]}`
	eventJSON = `{"type":"object","additionalProperties":false,"required":["id","at","kind","customer","lines"],"properties":{"id":{"type":"integer","minimum":1},"at":{"type":"integer"},
		"kind":{"enum":["UNSPECIFIED","CREATED","PAID"]},"customer":{"type":"object","required":["name"],"additionalProperties":false,"properties":{"name":{"type":"string","minLength":1},"email":{"type":["null","string"]},"city":{"type":["null","string"]}}},
		"note":{"type":["null","string"]},"lines":{"type":"array","minItems":1,"items":{"type":"object","required":["sku","count"],"additionalProperties":false,"properties":{"sku":{"type":"string","pattern":"^[A-Z]{3}-[0-9]+$"},"title":{"type":"string","maxLength":80},
		"count":{"type":"integer","minimum":1},"price":{"type":"number","minimum":0},"attributes":{"type":"object","additionalProperties":{"type":"string"}}}}},"labels":{"type":"object","additionalProperties":{"type":"string"}}}}`
	userProto = "syntax = \"proto3\";\npackage google.protobuf;\noption go_package = \"google.golang.org/protobuf/types/known/timestamppb\";\nmessage Timestamp {\n  int64 seconds = 1;\n  int32 nanos = 2;\n}\n"
)

//go:embed eventpb/event.proto
var eventProto string

// eventOf has so many lines: one for a small event, ten for a medium one.
func eventOf(lines int) event {
	city := "São Paulo"
	e := event{ID: 123456, At: 1767225600000, Kind: "PAID", Customer: customer{Name: "Grace Hopper", City: &city}, Labels: map[string]string{"region": "south"}}
	for range lines {
		e.Lines = append(e.Lines, line{Sku: "SKU-0001", Title: "Caneca azul de cerâmica", Count: 3, Price: 9.5, Attributes: map[string]string{"size": "M"}})
	}
	return e
}

// message is the same event as Protobuf has it.
func (e event) message() *eventpb.Event {
	m := &eventpb.Event{Id: e.ID, At: e.At, Kind: eventpb.Kind_KIND_PAID, Customer: &eventpb.Customer{Name: e.Customer.Name, City: e.Customer.City}, Labels: e.Labels}
	for _, l := range e.Lines {
		m.Lines = append(m.Lines, &eventpb.Line{Sku: l.Sku, Title: l.Title, Count: l.Count, Price: l.Price, Attributes: l.Attributes})
	}
	return m
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

// record is one kind of record and the gates that take it.
type record struct {
	name  string
	gates []gate
	// most is how large our share of the other's least time may be: what was
	// measured, and a quarter more. goal is what the specification asks for, of
	// processor time.
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
func ours(t schemas.Type, text, message string, payload, framed []byte) []gate {
	subject := schemas.ParseSubject("t-value")
	found := schemas.Found{Subject: subject, Version: 1, ID: schemas.ID{Context: schemas.DefaultContext, Number: 1}, GUID: schemas.GUIDOf(text, nil, nil, nil), Source: schemas.Source{Type: t, Text: text}}
	v := validate.New(shelf{found}, formats.All...)
	pin := validate.Version(validate.Fixed("t-value"), 1)
	m := validate.Message{Destination: "t", Payload: payload, Type: message}
	if err := v.BeforePublish(context.Background(), &m, &pin); err != nil {
		panic(err)
	}
	headers := &validate.Expect{Subject: validate.Fixed("t-value"), Reads: validate.MustReads("1")}
	prefix := &validate.Expect{Framing: validate.Confluent}
	bare := validate.Message{Destination: "t", Payload: framed}
	judge := func(m *validate.Message, e *validate.Expect) func() error {
		return func() error {
			o := v.BeforeConsume(context.Background(), m, e)
			if o.Verdict != validate.Accept {
				return fmt.Errorf("%s, %s: %w", o.Verdict, o.Reason, o.Err)
			}
			return nil
		}
	}
	return []gate{{"ours, headers", judge(&m, headers)}, {"ours, prefix", judge(&bare, prefix)}}
}

func framed(payload []byte, indexes ...byte) []byte {
	return append(append(binary.BigEndian.AppendUint32([]byte{0}, 1), indexes...), payload...)
}

// confluent is a client over its own mock registry, which holds one schema.
func confluent(name, kind, text string) schemaregistry.Client {
	c := must(schemaregistry.NewClient(schemaregistry.NewConfig("mock://" + strings.NewReplacer(",", "", " ", "").Replace(name))))
	if id := must(c.Register("t-value", schemaregistry.SchemaInfo{Schema: text, SchemaType: kind}, false)); id != 1 {
		panic("another id")
	}
	return c
}

func avroRecord[T any](name, text string, value T, most share) record {
	schema := avro.MustParse(text)
	payload := must(avro.Marshal(schema, value))
	framed := framed(payload)
	de := must(avrov2.NewDeserializer(confluent(name, "AVRO", text), serde.ValueSerde, avrov2.NewDeserializerConfig()))
	var s sr.Serde
	s.Register(1, new(T), sr.DecodeFn(func(b []byte, v any) error { return avro.Unmarshal(schema, b, v) }))
	return record{sized(name, payload), append(
		ours(schemas.Avro, text, "", payload, framed),
		gate{"confluent", func() error { var v T; return de.DeserializeInto("t", framed, &v) }},
		gate{"franz-go", func() error { var v T; return s.Decode(framed, &v) }},
	), most, share{1.0 / 5, 1.0 / 2}}
}

func jsonRecord[T any](name, text string, value T, most share) record {
	payload := must(json.Marshal(value))
	framed := framed(payload)
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
	return record{sized(name, payload), append(
		ours(schemas.JSON, text, "", payload, framed),
		gate{"confluent", func() error { var v T; return de.DeserializeInto("t", framed, &v) }},
		gate{"franz-go", func() error { var v T; return s.Decode(framed, &v) }},
	), most, share{1.0 / 25, 1.0 / 25}}
}

// protobufRecord takes the message by its indexes, other stands for those of the
// text.
func protobufRecord[T any, P interface {
	*T
	proto.Message
}](name, text string, value P, most share, indexes ...byte) record {
	payload := must(proto.Marshal(value))
	framed := framed(payload, indexes...)
	de := must(protobuf.NewDeserializer(confluent(name, "PROTOBUF", text), serde.ValueSerde, protobuf.NewDeserializerConfig()))
	path := []int{0}
	if len(indexes) > 1 {
		path[0] = int(indexes[1] / 2)
	}
	var s sr.Serde
	s.Register(1, P(new(T)), sr.Index(path...), sr.DecodeFn(func(b []byte, v any) error { return proto.Unmarshal(b, v.(proto.Message)) }))
	return record{sized(name, payload), append(
		ours(schemas.Protobuf, text, string(value.ProtoReflect().Descriptor().FullName()), payload, framed),
		gate{"confluent", func() error { return de.DeserializeInto("t", framed, P(new(T))) }},
		gate{"franz-go", func() error { return s.Decode(framed, P(new(T))) }},
	), most, share{1.0 / 5, 1.0 / 2}}
}

func sized(name string, payload []byte) string { return fmt.Sprintf("%s, %d B", name, len(payload)) }

func records() []record {
	small, medium := eventOf(1), eventOf(10)
	return []record{
		avroRecord("Avro, tiny", userAvro, user{7, "Grace"}, share{1 / 5.2, 1 / 1.2}),
		avroRecord("Avro, small", eventAvro, small, share{1 / 4.4, 1 / 2.1}),
		avroRecord("Avro, medium", eventAvro, medium, share{1 / 3.3, 1 / 2.5}),
		jsonRecord("JSON, tiny", userJSON, user{7, "Grace"}, share{1 / 10.5, 1 / 8.0}),
		jsonRecord("JSON, small", eventJSON, small, share{1 / 10.8, 1 / 9.8}),
		jsonRecord("JSON, medium", eventJSON, medium, share{1 / 11.5, 1 / 10.8}),
		protobufRecord("Protobuf, tiny", userProto, &timestamppb.Timestamp{Seconds: 1767225600, Nanos: 5}, share{1 / 4.8, 1 / 1.2}, 0),
		protobufRecord("Protobuf, small", eventProto, small.message(), share{1 / 6.4, 1 / 4.3}, 2, 4),
		protobufRecord("Protobuf, medium", eventProto, medium.message(), share{1 / 5.9, 1 / 5.3}, 2, 4),
	}
}

func BenchmarkGates(b *testing.B) {
	for _, e := range records() {
		for _, g := range e.gates {
			b.Run(strings.ReplaceAll(e.name+"/"+g.name, ", ", " "), func(b *testing.B) {
				b.ReportAllocs()
				defer costtest.Processor(b)()
				for b.Loop() {
					if err := g.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// spent is the processor time of one run, garbage that it makes included, and
// least the clock's when nobody else has the processor and nothing is collected.
type spent struct{ processor, least time.Duration }

const (
	rounds = 9
	spans  = 20
	span   = 2 * time.Millisecond
)

// measure runs all gates of a record in turn, round after round, and gives for
// each the median of its processor times and the least of its spans.
func measure(t *testing.T, gates []gate) map[string]spent {
	t.Helper()
	runs := make([]int, len(gates))
	for i, g := range gates {
		for began := time.Now(); time.Since(began) < 20*time.Millisecond; { // until all is compiled and cached
			if err := g.run(); err != nil {
				t.Fatalf("%s: %v", g.name, err)
			}
			runs[i]++
		}
		runs[i] = max(1, int(int64(runs[i])*int64(span)/int64(20*time.Millisecond)))
	}
	all := make([][]time.Duration, len(gates))
	out := map[string]spent{}
	for range rounds {
		for i, g := range gates {
			runtime.GC() // of what the one before left
			least := out[g.name].least
			from := costtest.Spent()
			for range spans {
				began := time.Now()
				for range runs[i] {
					_ = g.run()
				}
				if took := time.Since(began) / time.Duration(runs[i]); least == 0 || took < least {
					least = took
				}
			}
			all[i] = append(all[i], (costtest.Spent()-from)/time.Duration(spans*runs[i]))
			out[g.name] = spent{least: least}
		}
	}
	for i, g := range gates {
		slices.Sort(all[i])
		out[g.name] = spent{all[i][rounds/2], out[g.name].least}
	}
	return out
}

// TestRatios holds the gate to its share of what others need to decode. They make
// a value of the program's own and look neither at its headers nor, but for JSON,
// at what the schema says beyond the form; the gate judges, and makes nothing.
//
// The specification counts processor time, so that the collector's work counts,
// which runs beside what made the garbage. Before, the least of many short spans
// of the clock was compared: in it nothing is collected, and what decoding costs
// is told at half its price. Both are shown, the latter in brackets; it is what
// the limits are of, since the collector's share changes with all that runs beside.
// Before, too, "small" was a record of seven bytes, here "tiny"; the
// specification's is about a hundred.
func TestRatios(t *testing.T) {
	for _, e := range records() {
		times := measure(t, e.gates)
		for _, mine := range []string{"ours, headers", "ours, prefix"} {
			for _, other := range []string{"confluent", "franz-go"} {
				a, b := times[mine], times[other]
				ratio, least := float64(a.processor)/float64(b.processor), float64(a.least)/float64(b.least)
				t.Logf("%-22s %-13s %6d ns (%d), %-9s %6d ns (%d): 1/%.1f (1/%.1f), the goal is 1/%.0f", e.name, mine, a.processor.Nanoseconds(), a.least.Nanoseconds(),
					other, b.processor.Nanoseconds(), b.least.Nanoseconds(), 1/ratio, 1/least, 1/e.goal.of(other))
				if most := e.most.of(other); least > most {
					t.Errorf("%s: %s needs 1/%.1f of %s, and 1/%.1f is the most", e.name, mine, 1/least, other, 1/most)
				}
			}
		}
	}
}
