"""The serializers of Python's confluent-kafka: own round trips, and the
messages that all clients exchange."""

import base64
import json

from confluent_kafka.schema_registry import Schema, SchemaReference, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext, SerializationError
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

from suite import Exchange, contains, equal

VALUE_HEADER = "__value_schema_id"
ORDER = {"id": 7, "buyer": "Grace", "tags": ["a", "b"], "note": "paid"}


def messages_of(*files):
    """The classes of descriptors, as generated code would declare them."""
    pool = descriptor_pool.DescriptorPool()
    for f in files:
        pool.Add(f)
    return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


def framing_conf(framing, **conf):
    out = {k.replace("_", "."): v for k, v in conf.items()}
    if framing == "header":
        out["schema.id.serializer"] = header_schema_id_serializer
    return out


def context(topic, headers=None):
    return SerializationContext(topic, MessageField.VALUE, [] if headers is None else headers)


def framed(framing, ctx, value):
    if framing == "prefix":
        equal("headers", ctx.headers, [])
        equal("magic byte", value[0], 0)
        return None
    equal("headers", [k for k, _ in ctx.headers], [VALUE_HEADER])
    equal("header's first byte", ctx.headers[0][1][0], 1)
    return ctx.headers[0][1]


def cases(s, new_client, refused):
    avsc, schema = Exchange.shared("order.avsc").strip(), Exchange.shared("order.schema.json").strip()
    order_of = messages_of(exchange_file())
    for framing in ("prefix", "header"):

        @s.case(f"Avro, {framing}")
        def _():
            ctx = context(f"python-avro-{framing}")
            value = AvroSerializer(new_client(), avsc, conf=framing_conf(framing))(ORDER, ctx)
            framed(framing, ctx, value)
            equal("value", AvroDeserializer(new_client())(value, ctx), ORDER)

        @s.case(f"JSON Schema, {framing}")
        def _():
            ctx = context(f"python-json-{framing}")
            value = JSONSerializer(schema, new_client(), conf=framing_conf(framing))(ORDER, ctx)
            framed(framing, ctx, value)
            equal("value", JSONDeserializer(None, schema_registry_client=new_client())(value, ctx), ORDER)

        @s.case(f"Protobuf, {framing}")
        def _():
            ctx = context(f"python-proto-{framing}")
            cls = order_of("example.exchange.Order")
            message = cls(id=7, buyer="Grace", tags=["a"])
            value = ProtobufSerializer(cls, new_client(), framing_conf(framing))(message, ctx)
            framed(framing, ctx, value)
            equal("value", ProtobufDeserializer(cls, {}, new_client())(value, ctx), message)

    @s.case("Protobuf with an import")
    def _():
        money, bill = descriptor_pb2.FileDescriptorProto(), descriptor_pb2.FileDescriptorProto()
        json_format.ParseDict({"name": "python/money.proto", "package": "suite.python", "syntax": "proto3", "messageType": [
            {"name": "Money", "field": [{"name": "cents", "number": 1, "label": "LABEL_OPTIONAL", "type": "TYPE_INT64"}]}]}, money)
        json_format.ParseDict({"name": "python/bill.proto", "package": "suite.python", "syntax": "proto3", "dependency": ["python/money.proto"], "messageType": [
            {"name": "Bill", "field": [{"name": "total", "number": 1, "label": "LABEL_OPTIONAL", "type": "TYPE_MESSAGE", "typeName": ".suite.python.Money"}]}]}, bill)
        cls = messages_of(money, bill)("suite.python.Bill")
        message = cls()
        message.total.cents = 1250
        ctx = context("python-bill")
        value = ProtobufSerializer(cls, new_client())(message, ctx)
        equal("value", ProtobufDeserializer(cls, {}, new_client())(value, ctx), message)
        latest = new_client().get_latest_version("python-bill-value").schema
        equal("references", [(r.name, r.subject, r.version) for r in latest.references], [("python/money.proto", "python/money.proto", 1)])
        equal("text", latest.schema_str, 'syntax = "proto3";\npackage suite.python;\n\nimport "python/money.proto";\n\nmessage Bill {\n  .suite.python.Money total = 1;\n}\n')
        serialized = new_client().get_latest_version("python-bill-value", fmt="serialized").schema
        got = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(serialized.schema_str))
        equal("descriptor", [(f.name, f.number, f.type_name) for f in got.message_type[0].field], [("total", 1, ".suite.python.Money")])
        c = new_client()
        equal("the served descriptor is the same schema", c.register_schema("python-bill-copy", serialized), int.from_bytes(value[1:5], "big"))

    @s.case("Avro with a reference")
    def _():
        user = '{"type":"record","name":"User","namespace":"suite.python","fields":[{"name":"id","type":"long"}]}'
        wrapper = '{"type":"record","name":"Wrapper","namespace":"suite.python","fields":[{"name":"user","type":"User"}]}'
        new_client().register_schema("python-serde-user", Schema(user, "AVRO"))
        schema = Schema(wrapper, "AVRO", [SchemaReference("suite.python.User", "python-serde-user", 1)])
        value = AvroSerializer(new_client(), schema)({"user": {"id": 7}}, context("python-wrapper"))
        equal("value", AvroDeserializer(new_client())(value, context("python-wrapper")), {"user": {"id": 7}})

    @s.case("JSON Schema with a reference")
    def _():
        new_client().register_schema("python-serde-id", Schema('{"$id":"http://example.com/id.json","type":"integer"}', "JSON"))
        schema = Schema(
            '{"$id":"http://example.com/holder.json","type":"object","properties":{"id":{"$ref":"id.json"}}}', "JSON",
            [SchemaReference("http://example.com/id.json", "python-serde-id", 1)],
        )
        serializer = JSONSerializer(schema, new_client())
        value = serializer({"id": 7}, context("python-holder"))
        equal("value", JSONDeserializer(None, schema_registry_client=new_client())(value, context("python-holder")), {"id": 7})
        try:
            serializer({"id": "seven"}, context("python-holder"))
        except SerializationError as e:
            contains("reason", str(e), "'seven' is not of type 'integer'")
        else:
            raise AssertionError("a text was taken for an integer")

    @s.case("registration switched off refuses an unknown schema")
    def _():
        refused(40401, AvroSerializer(new_client(), avsc, conf={"auto.register.schemas": False}), ORDER, context("python-off"))

    @s.case("registration switched off finds a known schema")
    def _():
        id = new_client().register_schema("python-known-value", Schema(avsc, "AVRO"))
        value = AvroSerializer(new_client(), avsc, conf={"auto.register.schemas": False})(ORDER, context("python-known"))
        equal("id", int.from_bytes(value[1:5], "big"), id)

    @s.case("latest version")
    def _():
        wider = json.loads(avsc)
        wider["fields"].append({"name": "total", "type": "long", "default": 0})
        c = new_client()
        c.register_schema("python-latest-value", Schema(avsc, "AVRO"))
        id = c.register_schema("python-latest-value", Schema(json.dumps(wider), "AVRO"))
        value = AvroSerializer(new_client(), None, conf={"auto.register.schemas": False, "use.latest.version": True})({**ORDER, "total": 9}, context("python-latest"))
        equal("id", int.from_bytes(value[1:5], "big"), id)
        old = AvroDeserializer(new_client(), avsc)(value, context("python-latest"))
        equal("read with the old schema", old, ORDER)

    @s.case("a message of an unknown id is not read")
    def _():
        refused(40403, AvroDeserializer(new_client()), b"\0\0\1\x86\xa1\2", context("python-avro-prefix"))


def exchange_file():
    return descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(Exchange.shared("order.proto.b64")))


def write(s, new_client, x):
    avsc, schema = x.shared("order.avsc").strip(), x.shared("order.schema.json").strip()
    message_of = messages_of(exchange_file())
    for framing in ("prefix", "header"):

        def put(format, name, serializer, value):
            ctx = context(f"exchange-{format}")
            encoded = serializer(value, ctx)
            x.put("confluent-kafka-python", format, name, framing, encoded, framed(framing, ctx, encoded))

        @s.case(f"write Avro, {framing}")
        def _():
            name = "example.exchange.Order"
            put("avro", name, AvroSerializer(new_client(), avsc, conf=framing_conf(framing)), x.values["avro"][name])

        @s.case(f"write JSON, {framing}")
        def _():
            put("json", "Order", JSONSerializer(schema, new_client(), conf=framing_conf(framing)), x.values["json"]["Order"])

        for name, value in x.values["protobuf"].items():

            @s.case(f"write Protobuf {name}, {framing}")
            def _():
                cls = message_of(name)
                serializer = ProtobufSerializer(cls, new_client(), framing_conf(framing, normalize_schemas=True))
                put("protobuf", name, serializer, json_format.ParseDict(value, cls()))


def read(s, new_client, x):
    message_of = messages_of(exchange_file())
    found = x.messages()

    @s.case("there is something to read")
    def _():
        equal("messages", len(found) > 0, True)

    for m in found:

        @s.case("read " + m["file"])
        def _():
            ctx = context(f"exchange-{m['format']}", [(VALUE_HEADER, m["header"])] if m["header"] else None)
            want = x.values[m["format"]][m["message"]]
            if m["format"] == "avro":
                got = AvroDeserializer(new_client())(m["value"], ctx)
            elif m["format"] == "json":
                got = JSONDeserializer(None, schema_registry_client=new_client())(m["value"], ctx)
            else:
                cls = message_of(m["message"])
                got = ProtobufDeserializer(cls, {}, new_client())(m["value"], ctx)
                want = json_format.ParseDict(want, cls())
            equal("value", got, want)
