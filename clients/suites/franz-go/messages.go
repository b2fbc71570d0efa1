package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/linkedin/goavro/v2"
	"github.com/twmb/franz-go/pkg/sr"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
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

// order is the Avro record, in the form of goavro.
type order map[string]any

// document is the JSON message.
type document map[string]any

// The Protobuf messages have a Go type each, since a Serde chooses by type.
type (
	envelope struct{ proto.Message }
	purchase struct{ proto.Message }
	line     struct{ proto.Message }
)

// protobufs are the messages of order.proto with their indexes.
var protobufs = []struct {
	name  string
	wrap  func(proto.Message) any
	index []int
}{
	{"example.exchange.Envelope", func(m proto.Message) any { return envelope{m} }, []int{0}},
	{"example.exchange.Order", func(m proto.Message) any { return purchase{m} }, []int{1}},
	{"example.exchange.Order.Line", func(m proto.Message) any { return line{m} }, []int{1, 0}},
}

type exchange struct {
	c          *sr.Client
	folder     string
	avsc, json string
	text       string
	proto      protoreflect.FileDescriptor
	values     map[string]map[string]json.RawMessage
}

func openExchange(c *sr.Client, folder string) *exchange {
	at := os.Getenv("CARTORIO_SUITES")
	if at == "" {
		at = ".."
	}
	read := func(name string) string {
		return string(must(os.ReadFile(filepath.Join(at, "exchange", name))))
	}
	x := &exchange{c: c, folder: folder, avsc: strings.TrimSpace(read("order.avsc")), json: strings.TrimSpace(read("order.schema.json")), text: read("order.proto")}
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(map[string]string{"order.proto": x.text})}}
	x.proto = must(compiler.Compile(context.Background(), "order.proto")).FindFileByPath("order.proto")
	if err := json.Unmarshal([]byte(read("values.json")), &x.values); err != nil {
		panic(err)
	}
	return x
}

// serde registers the three schemas and everything that is written with them.
func (x *exchange) serde() (*sr.Serde, map[string]int, error) {
	ids := map[string]int{}
	for format, in := range map[string]sr.Schema{
		"avro": avro(x.avsc), "json": {Schema: x.json, Type: sr.TypeJSON}, "protobuf": {Schema: x.text, Type: sr.TypeProtobuf},
	} {
		at := ctx
		if format == "protobuf" { // as all who exchange register it
			at = sr.WithParams(ctx, sr.Normalize)
		}
		m, err := x.c.CreateSchema(at, "exchange-"+format+"-value", in)
		if err != nil {
			return nil, nil, err
		}
		ids[format] = m.ID
	}
	codec, err := goavro.NewCodec(x.avsc)
	if err != nil {
		return nil, nil, err
	}
	s := sr.NewSerde()
	s.Register(ids["avro"], order{}, sr.EncodeFn(func(v any) ([]byte, error) { return codec.BinaryFromNative(nil, encodable(v.(order))) }),
		sr.DecodeFn(func(b []byte, v any) error {
			native, _, err := codec.NativeFromBinary(b)
			if err == nil {
				*v.(*order) = decoded(native.(map[string]any))
			}
			return err
		}), sr.GenerateFn(func() any { return &order{} }))
	s.Register(ids["json"], document{}, sr.EncodeFn(json.Marshal), sr.DecodeFn(json.Unmarshal), sr.GenerateFn(func() any { return &document{} }))
	for _, p := range protobufs {
		empty := func() proto.Message { return dynamicpb.NewMessage(x.message(p.name)) }
		s.Register(ids["protobuf"], p.wrap(nil), sr.Index(p.index...), sr.EncodeFn(func(v any) ([]byte, error) { return proto.Marshal(v.(proto.Message)) }),
			sr.DecodeFn(func(b []byte, v any) error { return proto.Unmarshal(b, v.(proto.Message)) }), sr.GenerateFn(func() any { return empty() }))
	}
	return s, ids, nil
}

// encodable and decoded convert what goavro has a form of its own for: a value
// of a union names its branch.
func encodable(o order) map[string]any {
	m := maps.Clone(o)
	m["id"] = int64(o["id"].(float64))
	m["note"] = goavro.Union("string", o["note"])
	return m
}

func decoded(m map[string]any) order {
	m["note"] = m["note"].(map[string]any)["string"]
	return m
}

// write puts the agreed values into the folder. This client has no header form.
func (x *exchange) write(s *suite) {
	var serde *sr.Serde
	var ids map[string]int
	s.run("register what is exchanged", func() (err error) {
		serde, ids, err = x.serde()
		return err
	})
	put := func(format, name string, v any) error {
		value, err := serde.Encode(v)
		if err != nil {
			return err
		}
		id, _, err := serde.DecodeID(value)
		m := message{Client: "franz-go", Format: format, Message: name, Framing: "prefix", Value: value}
		return all(err, equal("id", id, ids[format]), os.WriteFile(filepath.Join(x.folder, strings.Join([]string{m.Client, format, name, m.Framing, "json"}, ".")), []byte(show(m)), 0o644))
	}
	s.run("write Avro", func() error {
		var o order
		return all(json.Unmarshal(x.values["avro"]["example.exchange.Order"], &o), put("avro", "example.exchange.Order", o))
	})
	s.run("write JSON", func() error {
		var d document
		return all(json.Unmarshal(x.values["json"]["Order"], &d), put("json", "Order", d))
	})
	for _, p := range protobufs {
		s.run("write Protobuf "+p.name, func() error {
			m := dynamicpb.NewMessage(x.message(p.name))
			return all(protojson.Unmarshal(x.values["protobuf"][p.name], m), put("protobuf", p.name, p.wrap(m)))
		})
	}
}

// read decodes every message with the id in its value, and finds the schema of
// those with a GUID in a header, which the Serde cannot read by itself.
func (x *exchange) read(s *suite) {
	serde, ids, err := x.serde()
	files := must(filepath.Glob(filepath.Join(x.folder, "*.json")))
	slices.Sort(files)
	if err != nil || len(files) == 0 {
		s.run("messages to read", func() error { return fmt.Errorf("%d messages in %s, and registering: %w", len(files), x.folder, err) })
		return
	}
	for _, file := range files {
		var m message
		if err := json.Unmarshal(must(os.ReadFile(file)), &m); err != nil {
			panic(err)
		}
		s.run("read "+filepath.Base(file), func() error {
			value := m.Value
			if m.Framing == "header" {
				if value, err = x.withPrefix(m, ids); err != nil {
					return err
				}
			}
			id, _, err := serde.DecodeID(value)
			if err := all(err, equal("id", id, ids[m.Format])); err != nil {
				return err
			}
			got, err := serde.DecodeNew(value)
			if err != nil {
				return err
			}
			if p, is := got.(proto.Message); is {
				want := dynamicpb.NewMessage(x.message(m.Message))
				return all(protojson.Unmarshal(x.values[m.Format][m.Message], want), equal("value", proto.Equal(p, want), true))
			}
			var a, w any
			return all(json.Unmarshal([]byte(show(got)), &a), json.Unmarshal(x.values[m.Format][m.Message], &w), equal("value", a, w))
		})
	}
}

// withPrefix does by hand what a consumer with this client does for a message
// in the header form: the GUID is looked up, its id goes before the data.
func (x *exchange) withPrefix(m message, ids map[string]int) ([]byte, error) {
	if len(m.Header) < 17 || m.Header[0] != 1 {
		return nil, fmt.Errorf("the header is %x", m.Header)
	}
	g := fmt.Sprintf("%x-%x-%x-%x-%x", m.Header[1:5], m.Header[5:7], m.Header[7:9], m.Header[9:11], m.Header[11:17])
	found, err := x.c.SchemaIDsByGUID(ctx, g)
	if err := all(err, equal("ids of the GUID", found, []sr.ContextID{{Context: ".", ID: ids[m.Format]}})); err != nil {
		return nil, err
	}
	h := new(sr.ConfluentHeader)
	value, err := h.AppendEncode(nil, found[0].ID, nil)
	return slices.Concat(value, m.Header[17:], m.Value), err
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
