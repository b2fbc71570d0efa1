package main

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/avrov2"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/jsonschema"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/protobuf"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// message is one file of an exchange; see ../exchange/README.md.
type message struct {
	Client  string `json:"client"`
	Format  string `json:"format"`
	Message string `json:"message"`
	Framing string `json:"framing"`
	Value   []byte `json:"value"`
	Header  []byte `json:"header,omitempty"`
}

type exchange struct {
	url, folder     string
	avsc, json      string
	proto           protoreflect.FileDescriptor
	values          map[string]map[string]json.RawMessage
	descriptorInFit error
}

func openExchange(url, folder string) *exchange {
	at := os.Getenv("CARTORIO_SUITES")
	if at == "" {
		at = ".."
	}
	read := func(name string) string {
		return string(must(os.ReadFile(filepath.Join(at, "exchange", name))))
	}
	x := &exchange{url: url, folder: folder, avsc: strings.TrimSpace(read("order.avsc")), json: strings.TrimSpace(read("order.schema.json"))}
	x.proto = must(compile(map[string]string{"order.proto": read("order.proto")}, "order.proto"))
	if err := json.Unmarshal([]byte(read("values.json")), &x.values); err != nil {
		panic(err)
	}
	want := must(proto.MarshalOptions{Deterministic: true}.Marshal(generated(x.proto)))
	if got := strings.TrimSpace(read("order.proto.b64")); got != base64.StdEncoding.EncodeToString(want) {
		x.descriptorInFit = fmt.Errorf("order.proto.b64 is not the descriptor of order.proto, which is %s", base64.StdEncoding.EncodeToString(want))
	}
	return x
}

// write puts the agreed values into the folder, in both framings.
func (x *exchange) write(s *suite) {
	s.run("the descriptor for the others is that of order.proto", func() error { return x.descriptorInFit })
	c := newClient(x.url)
	for _, framing := range []string{"prefix", "header"} {
		s.run("write Avro, "+framing, func() error {
			id, err := c.Register("exchange-avro-value", schemaregistry.SchemaInfo{Schema: x.avsc}, false)
			conf := avrov2.NewSerializerConfig()
			conf.AutoRegisterSchemas, conf.UseLatestVersion = false, true
			ser := must(avrov2.NewSerializer(c, serde.ValueSerde, conf))
			frame(&ser.BaseSerializer, framing)
			var order Order
			err2 := json.Unmarshal(x.values["avro"]["example.exchange.Order"], &order)
			headers, value, err3 := ser.SerializeWithHeaders("exchange-avro", &order)
			return all(err, err2, err3, x.put("avro", "example.exchange.Order", framing, headers, value), carries(framing, value, id))
		})
		s.run("write JSON, "+framing, func() error {
			id, err := c.Register("exchange-json-value", schemaregistry.SchemaInfo{Schema: x.json, SchemaType: "JSON"}, false)
			conf := jsonschema.NewSerializerConfig()
			conf.AutoRegisterSchemas, conf.UseLatestVersion, conf.EnableValidation = false, true, true
			ser := must(jsonschema.NewSerializer(c, serde.ValueSerde, conf))
			frame(&ser.BaseSerializer, framing)
			var order Order
			err2 := json.Unmarshal(x.values["json"]["Order"], &order)
			headers, value, err3 := ser.SerializeWithHeaders("exchange-json", &order)
			return all(err, err2, err3, x.put("json", "Order", framing, headers, value), carries(framing, value, id))
		})
		for name, want := range x.values["protobuf"] {
			s.run("write Protobuf "+name+", "+framing, func() error {
				// Normalized, the text this client sends and the descriptor that
				// others send are one schema.
				conf := protobuf.NewSerializerConfig()
				conf.NormalizeSchemas = true
				ser := must(protobuf.NewSerializer(c, serde.ValueSerde, conf))
				frame(&ser.BaseSerializer, framing)
				m := dynamicpb.NewMessage(x.message(name))
				if err := protojson.Unmarshal(want, m); err != nil {
					return err
				}
				headers, value, err := ser.SerializeWithHeaders("exchange-protobuf", m)
				return all(err, x.put("protobuf", name, framing, headers, value))
			})
		}
	}
}

func (x *exchange) put(format, name, framing string, headers []kafka.Header, value []byte) error {
	m := message{Client: "confluent-kafka-go", Format: format, Message: name, Framing: framing, Value: value}
	if err := framed(framing, headers, value); err != nil {
		return err
	}
	if framing == "header" {
		m.Header = headers[0].Value
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(x.folder, strings.Join([]string{m.Client, format, name, framing, "json"}, ".")), b, 0o644)
}

// read decodes every message of the folder; the ids of one format must be one.
func (x *exchange) read(s *suite) {
	files := must(filepath.Glob(filepath.Join(x.folder, "*.json")))
	slices.Sort(files)
	if len(files) == 0 {
		s.run("messages to read", func() error { return fmt.Errorf("%s holds none", x.folder) })
	}
	ids, guids := map[string]int{}, map[string]string{}
	for _, file := range files {
		var m message
		if err := json.Unmarshal(must(os.ReadFile(file)), &m); err != nil {
			panic(err)
		}
		s.run("read "+filepath.Base(file), func() error {
			var got any
			var err error
			var headers []kafka.Header
			if m.Framing == "header" {
				headers = []kafka.Header{{Key: "__value_schema_id", Value: m.Header}}
			}
			c := newClient(x.url)
			switch m.Format {
			case "avro":
				de := must(avrov2.NewDeserializer(c, serde.ValueSerde, avrov2.NewDeserializerConfig()))
				var order Order
				err, got = de.DeserializeWithHeadersInto("exchange-avro", headers, m.Value, &order), &order
			case "json":
				conf := jsonschema.NewDeserializerConfig()
				conf.EnableValidation = true
				de := must(jsonschema.NewDeserializer(c, serde.ValueSerde, conf))
				var order map[string]any
				err, got = de.DeserializeWithHeadersInto("exchange-json", headers, m.Value, &order), &order
			case "protobuf":
				de := must(protobuf.NewDeserializer(c, serde.ValueSerde, protobuf.NewDeserializerConfig()))
				de.MessageFactory = func(_, name string) (any, error) {
					if name != m.Message {
						return nil, fmt.Errorf("the indexes say %s, the message is %s", name, m.Message)
					}
					return dynamicpb.NewMessage(x.message(name)), nil
				}
				var v any
				if v, err = de.DeserializeWithHeaders("exchange-protobuf", headers, m.Value); err == nil {
					return x.sameProto(m.Message, v.(proto.Message), m, ids, guids)
				}
			default:
				return fmt.Errorf("unknown format %q", m.Format)
			}
			if err != nil {
				return err
			}
			return all(sameJSON(got, x.values[m.Format][m.Message]), oneIdentity(m, ids, guids))
		})
	}
}

func (x *exchange) sameProto(name string, got proto.Message, m message, ids map[string]int, guids map[string]string) error {
	want := dynamicpb.NewMessage(x.message(name))
	if err := protojson.Unmarshal(x.values["protobuf"][name], want); err != nil {
		return err
	}
	if !proto.Equal(got, want) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return oneIdentity(m, ids, guids)
}

// oneIdentity wants every message of a format to name the same schema.
func oneIdentity(m message, ids map[string]int, guids map[string]string) error {
	if m.Framing == "header" {
		g := fmt.Sprintf("%x", m.Header[1:17])
		if guids[m.Format] == "" {
			guids[m.Format] = g
		}
		return equal("GUID", g, guids[m.Format])
	}
	if ids[m.Format] == 0 {
		ids[m.Format] = prefixID(m.Value)
	}
	return equal("id", prefixID(m.Value), ids[m.Format])
}

func (x *exchange) message(full string) protoreflect.MessageDescriptor {
	at := x.proto.Messages()
	var m protoreflect.MessageDescriptor
	for _, part := range strings.Split(strings.TrimPrefix(full, "example.exchange."), ".") {
		if m = at.ByName(protoreflect.Name(part)); m == nil {
			panic("order.proto has no message " + full)
		}
		at = m.Messages()
	}
	return m
}

func sameJSON(got any, want json.RawMessage) error {
	b, err := json.Marshal(got)
	if err != nil {
		return err
	}
	var a, w any
	return all(json.Unmarshal(b, &a), json.Unmarshal(want, &w), equal("value", a, w))
}

func carries(framing string, value []byte, id int) error {
	if framing == "header" {
		return nil
	}
	return equal("id", prefixID(value), id)
}

func prefixID(value []byte) int {
	if len(value) < 5 {
		return 0
	}
	return int(binary.BigEndian.Uint32(value[1:5]))
}

// generated is the descriptor as generators embed it: without the JSON names
// that follow from the fields' names.
func generated(file protoreflect.FileDescriptor) *descriptorpb.FileDescriptorProto {
	p := protodesc.ToFileDescriptorProto(file)
	var strip func([]*descriptorpb.DescriptorProto)
	strip = func(messages []*descriptorpb.DescriptorProto) {
		for _, m := range messages {
			for _, f := range m.Field {
				f.JsonName = nil
			}
			strip(m.NestedType)
		}
	}
	strip(p.MessageType)
	return p
}

// compile turns texts into descriptors, as generated code would hold them.
func compile(texts map[string]string, root string) (protoreflect.FileDescriptor, error) {
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(texts)})}
	files, err := compiler.Compile(context.Background(), slices.Sorted(maps.Keys(texts))...)
	if err != nil {
		return nil, err
	}
	// The compiler's own results carry source positions; plain descriptors are
	// what a program links.
	return protodesc.NewFile(protodesc.ToFileDescriptorProto(files.FindFileByPath(root)), files.AsResolver())
}
