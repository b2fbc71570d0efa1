package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/avrov2"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/jsonschema"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/protobuf"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Order is the value that the Avro and JSON serializers carry.
type Order struct {
	ID    int64    `avro:"id" json:"id"`
	Buyer string   `avro:"buyer" json:"buyer"`
	Tags  []string `avro:"tags" json:"tags"`
	Note  *string  `avro:"note" json:"note"`
}

// serdeCases round-trips messages in each format, with the id in the value and
// the GUID in a header, registering by itself and not.
func serdeCases(s *suite, url string) {
	note := "paid"
	order := Order{ID: 7, Buyer: "Grace", Tags: []string{"a", "b"}, Note: &note}
	for _, framing := range []string{"prefix", "header"} {
		s.run("Avro, "+framing, func() error {
			c := newClient(url)
			ser := must(avrov2.NewSerializer(c, serde.ValueSerde, avrov2.NewSerializerConfig()))
			de := must(avrov2.NewDeserializer(newClient(url), serde.ValueSerde, avrov2.NewDeserializerConfig()))
			frame(&ser.BaseSerializer, framing)
			headers, value, err := ser.SerializeWithHeaders("go-avro-"+framing, &order)
			if err != nil {
				return err
			}
			var back Order
			return all(framed(framing, headers, value), de.DeserializeWithHeadersInto("go-avro-"+framing, headers, value, &back), equal("value", back, order))
		})
		s.run("JSON Schema, "+framing, func() error {
			conf := jsonschema.NewSerializerConfig()
			conf.EnableValidation = true
			ser := must(jsonschema.NewSerializer(newClient(url), serde.ValueSerde, conf))
			de := must(jsonschema.NewDeserializer(newClient(url), serde.ValueSerde, jsonschema.NewDeserializerConfig()))
			frame(&ser.BaseSerializer, framing)
			headers, value, err := ser.SerializeWithHeaders("go-json-"+framing, &order)
			if err != nil {
				return err
			}
			var back Order
			return all(framed(framing, headers, value), de.DeserializeWithHeadersInto("go-json-"+framing, headers, value, &back), equal("value", back, order))
		})
		s.run("Protobuf, "+framing, func() error {
			ser := must(protobuf.NewSerializer(newClient(url), serde.ValueSerde, protobuf.NewSerializerConfig()))
			de := must(protobuf.NewDeserializer(newClient(url), serde.ValueSerde, protobuf.NewDeserializerConfig()))
			frame(&ser.BaseSerializer, framing)
			in := &timestamppb.Timestamp{Seconds: 1767225600, Nanos: 5}
			headers, value, err := ser.SerializeWithHeaders("go-proto-"+framing, in)
			if err != nil {
				return err
			}
			back := &timestamppb.Timestamp{}
			err = de.DeserializeWithHeadersInto("go-proto-"+framing, headers, value, back)
			return all(framed(framing, headers, value), err, equal("value", proto.Equal(back, in), true))
		})
	}
	registrationCases(s, url, order)
	s.run("Avro with a reference", func() error { return referringRecord(url) })
	s.run("JSON Schema with a reference", func() error { return referringDocument(url) })
	s.run("Protobuf with an import", func() error { return importedMessage(url) })
}

// registrationCases are the settings that a careful producer uses: nothing is
// registered by the serializer, which writes by what the registry has.
func registrationCases(s *suite, url string, order Order) {
	text := must(avrov2.StructToSchema(reflect.TypeFor[Order]())).String()
	s.run("registration switched off refuses an unknown schema", func() error {
		conf := avrov2.NewSerializerConfig()
		conf.AutoRegisterSchemas = false
		ser := must(avrov2.NewSerializer(newClient(url), serde.ValueSerde, conf))
		_, err := ser.Serialize("go-off", &order)
		return refused(err, 40401)
	})
	s.run("registration switched off finds a known schema", func() error {
		c := newClient(url)
		id, err := c.Register("go-known-value", schemaregistry.SchemaInfo{Schema: text}, false)
		conf := avrov2.NewSerializerConfig()
		conf.AutoRegisterSchemas = false
		conf.NormalizeSchemas = true
		ser := must(avrov2.NewSerializer(newClient(url), serde.ValueSerde, conf))
		value, err2 := ser.Serialize("go-known", &order)
		return all(err, err2, equal("id", prefixID(value), id))
	})
	s.run("latest version", func() error {
		c := newClient(url)
		_, e1 := c.Register("go-latest-value", schemaregistry.SchemaInfo{Schema: text}, false)
		wider := strings.TrimSuffix(text, "]}") + `,{"name":"total","type":"long","default":0}]}`
		id, e2 := c.Register("go-latest-value", schemaregistry.SchemaInfo{Schema: wider}, false)
		conf := avrov2.NewSerializerConfig()
		conf.AutoRegisterSchemas = false
		conf.UseLatestVersion = true
		ser := must(avrov2.NewSerializer(newClient(url), serde.ValueSerde, conf))
		value, e3 := ser.Serialize("go-latest", &map[string]any{"id": int64(1), "buyer": "B", "tags": []any{}, "note": nil, "total": int64(9)})
		return all(e1, e2, e3, equal("id", prefixID(value), id))
	})
	s.run("a message of an unknown id is not read", func() error {
		de := must(avrov2.NewDeserializer(newClient(url), serde.ValueSerde, avrov2.NewDeserializerConfig()))
		var back Order
		return refused(de.DeserializeInto("go-avro-prefix", []byte{0, 0, 1, 0x86, 0xa1, 2}, &back), 40403)
	})
}

// referringRecord writes by the latest version, whose type is another subject's.
func referringRecord(url string) error {
	type user struct {
		ID int64 `avro:"id"`
	}
	type holder struct {
		User user `avro:"user"`
	}
	c := newClient(url)
	_, e1 := c.Register("go-serde-user", avro(userV1), false)
	_, e2 := c.Register("go-holder-value", schemaregistry.SchemaInfo{Schema: wrapper, References: []schemaregistry.Reference{{Name: "suite.go.User", Subject: "go-serde-user", Version: 1}}}, false)
	conf := avrov2.NewSerializerConfig()
	conf.AutoRegisterSchemas, conf.UseLatestVersion = false, true
	ser := must(avrov2.NewSerializer(c, serde.ValueSerde, conf))
	de := must(avrov2.NewDeserializer(newClient(url), serde.ValueSerde, avrov2.NewDeserializerConfig()))
	value, e3 := ser.Serialize("go-holder", &holder{user{7}})
	var back holder
	return all(e1, e2, e3, de.DeserializeInto("go-holder", value, &back), equal("value", back, holder{user{7}}))
}

// referringDocument does the same with a $ref, and has a payload refused by it.
func referringDocument(url string) error {
	c := newClient(url)
	_, e1 := c.Register("go-serde-id", typed("JSON", `{"$id":"http://example.com/id.json","type":"integer"}`), false)
	in := typed("JSON", `{"$id":"http://example.com/holder.json","type":"object","properties":{"id":{"$ref":"id.json"}}}`)
	in.References = []schemaregistry.Reference{{Name: "http://example.com/id.json", Subject: "go-serde-id", Version: 1}}
	_, e2 := c.Register("go-document-value", in, false)
	conf := jsonschema.NewSerializerConfig()
	conf.AutoRegisterSchemas, conf.UseLatestVersion, conf.EnableValidation = false, true, true
	ser := must(jsonschema.NewSerializer(c, serde.ValueSerde, conf))
	de := must(jsonschema.NewDeserializer(newClient(url), serde.ValueSerde, jsonschema.NewDeserializerConfig()))
	value, e3 := ser.Serialize("go-document", &map[string]any{"id": 7})
	var back map[string]any
	e4 := de.DeserializeInto("go-document", value, &back)
	_, err := ser.Serialize("go-document", &map[string]any{"id": "seven"})
	if err == nil {
		return errors.New("a text was taken for an integer")
	}
	return all(e1, e2, e3, e4, equal("value", back, map[string]any{"id": 7.0}))
}

// importedMessage writes a message whose file imports another: the serializer
// registers the import under a subject of its own and refers to it.
func importedMessage(url string) error {
	files := must(compile(map[string]string{
		"suite/money.proto": "syntax = \"proto3\";\npackage suite.go;\n\nmessage Money {\n  int64 cents = 1;\n}\n",
		"suite/bill.proto":  "syntax = \"proto3\";\npackage suite.go;\n\nimport \"suite/money.proto\";\n\nmessage Head {}\nmessage Bill {\n  Money total = 1;\n\n  message Row {\n    int32 line = 1;\n  }\n}\n",
	}, "suite/bill.proto"))
	bill := files.Messages().ByName("Bill")
	row := bill.Messages().ByName("Row")
	c := newClient(url)
	for _, want := range []struct {
		message protoreflect.MessageDescriptor
		indexes []byte
	}{{files.Messages().ByName("Head"), []byte{0}}, {bill, []byte{2, 2}}, {row, []byte{4, 2, 0}}} {
		ser := must(protobuf.NewSerializer(c, serde.ValueSerde, protobuf.NewSerializerConfig()))
		de := must(protobuf.NewDeserializer(newClient(url), serde.ValueSerde, protobuf.NewDeserializerConfig()))
		in := dynamicpb.NewMessage(want.message)
		if want.message == row {
			in.Set(row.Fields().ByName("line"), protoreflect.ValueOfInt32(3))
		}
		if want.message == bill {
			money := in.Mutable(bill.Fields().ByName("total")).Message()
			money.Set(money.Descriptor().Fields().ByName("cents"), protoreflect.ValueOfInt64(1250))
		}
		value, err := ser.Serialize("go-bill", in)
		if err != nil {
			return err
		}
		if err := equal("indexes of "+string(want.message.Name()), value[5:5+len(want.indexes)], want.indexes); err != nil {
			return err
		}
		back := dynamicpb.NewMessage(want.message)
		if err := de.DeserializeInto("go-bill", value, back); err != nil {
			return err
		}
		if !proto.Equal(in, back) {
			return fmt.Errorf("%s came back as %v", want.message.Name(), back)
		}
	}
	latest, err := c.GetLatestSchemaMetadata("go-bill-value")
	return all(err, equal("references", latest.References, []schemaregistry.Reference{{Name: "suite/money.proto", Subject: "suite/money.proto", Version: 1}}))
}

func frame(s *serde.BaseSerializer, framing string) {
	if framing == "header" {
		s.SchemaIDSerializer = serde.HeaderSchemaIDSerializer
	}
}

// framed says whether the id is where the framing puts it.
func framed(framing string, headers []kafka.Header, value []byte) error {
	if framing == "prefix" {
		return all(equal("headers", len(headers), 0), equal("magic byte", value[0], byte(0)))
	}
	if len(headers) != 1 || headers[0].Key != "__value_schema_id" || len(headers[0].Value) < 17 || headers[0].Value[0] != 1 {
		return fmt.Errorf("the header is %v", headers)
	}
	return nil
}
