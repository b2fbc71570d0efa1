"""Proves that python-schema-registry-client works against a registry: its
client and its message serializers for Avro and JSON Schema. It has no Protobuf,
no modes and no header form.

    run_schema_registry_client.py URL EXCHANGE write   every case, then writes
    run_schema_registry_client.py URL EXCHANGE read    reads what all wrote
"""

import asyncio
import json

import httpx
from schema_registry.client import AsyncSchemaRegistryClient, SchemaRegistryClient, schema
from schema_registry.client.errors import ClientError
from schema_registry.serializers import AvroMessageSerializer, JsonMessageSerializer

from suite import Exchange, Suite, arguments, contains, equal

USER_V1 = '{"type":"record","name":"User","namespace":"suite.psrc","fields":[{"name":"id","type":"long"}]}'
USER_V2 = USER_V1[:-2] + ',{"name":"mail","type":"string","default":""}]}'
USER_BAD = USER_V1[:-2] + ',{"name":"mail","type":"string"}]}'
JSON_V1 = '{"type":"object","properties":{"id":{"type":"integer"}},"additionalProperties":false}'
JSON_BAD = '{"type":"object","properties":{"id":{"type":"string"}},"additionalProperties":false}'

url, folder, phase = arguments()


def new_client():
    """What a program writes; a new one has empty caches."""
    return SchemaRegistryClient(url=url, auth=httpx.BasicAuth("user", "secret"))


def refused(status, code, call, *args, **kwargs):
    try:
        got = call(*args, **kwargs)
    except ClientError as e:
        equal("HTTP status", e.http_code, status)
        if code:
            equal("error code", e.server_traceback["error_code"], code)
        return e
    raise AssertionError(f"got {got!r}, want an error with status {status}")


def cases(s):
    c = new_client()
    subject = "psrc-user-value"
    v1, v2, bad = (schema.AvroSchema(t) for t in (USER_V1, USER_V2, USER_BAD))
    id = c.register(subject, v1)

    @s.case("register and look up")
    def _():
        equal("again", new_client().register(subject, USER_V1), id)
        equal("elsewhere", new_client().register("psrc-user-copy", v1), id)
        equal("by id", new_client().get_by_id(id).raw_schema, json.loads(USER_V1))
        latest = new_client().get_schema(subject)
        equal("latest", (latest.schema_id, latest.version, latest.subject), (id, 1, subject))
        found = new_client().check_version(subject, v1)
        equal("by text", (found.schema_id, found.version), (id, 1))
        uses = [(u.subject, u.version) for u in c.get_schema_subject_versions(id)]
        equal("uses", uses, [("psrc-user-copy", 1), (subject, 1)])

    @s.case("unknown things are not found")
    def _():
        equal("id", c.get_by_id(99999), None)
        equal("subject", c.get_schema("psrc-nothing"), None)
        equal("version", c.get_schema(subject, 77), None)
        equal("text", c.check_version(subject, bad), None)
        equal("versions", c.get_versions("psrc-nothing"), [])

    @s.case("compatibility")
    def _():
        equal("compatible", c.test_compatibility(subject, v2), True)
        equal("breaking", c.test_compatibility(subject, bad, version=1), False)
        told = c.test_compatibility(subject, bad, verbose=True)
        equal("verbose", told["is_compatible"], False)
        contains("messages", " ".join(told["messages"]), "errorType:'READER_FIELD_MISSING_DEFAULT_VALUE'")
        refused(409, None, c.register, subject, bad)

    @s.case("second version and lists")
    def _():
        c.register(subject, v2)
        equal("versions", c.get_versions(subject), [1, 2])
        equal("first", new_client().get_schema(subject, 1).schema.raw_schema, json.loads(USER_V1))
        contains("subjects", c.get_subjects(), subject)

    @s.case("levels")
    def _():
        equal("global", c.get_compatibility(), "BACKWARD")
        refused(404, 40408, c.get_compatibility, "psrc-level")
        equal("set", c.update_compatibility("FULL_TRANSITIVE", "psrc-level"), True)
        equal("got", c.get_compatibility("psrc-level"), "FULL_TRANSITIVE")

    @s.case("JSON Schema")
    def _():
        id = c.register("psrc-json", JSON_V1, schema_type="JSON")
        equal("by id", new_client().get_by_id(id).raw_schema, json.loads(JSON_V1))
        equal("breaking", c.test_compatibility("psrc-json", JSON_BAD, schema_type="JSON"), False)

    @s.case("the asynchronous client")
    def _():
        async def go():
            a = AsyncSchemaRegistryClient(url=url)
            return await a.register(subject, v1), (await a.get_schema(subject, 1)).schema_id

        equal("ids", asyncio.run(go()), (id, id))

    @s.case("delete")
    def _():
        equal("version", c.delete_version(subject, 2), 2)
        equal("versions", c.get_versions(subject), [1])
        equal("subject", c.delete_subject(subject), [1])
        equal("gone", new_client().get_schema(subject), None)


def round_trips(s):
    @s.case("Avro round trip")
    def _():
        order = {"id": 7, "buyer": "Grace", "tags": ["a", "b"], "note": "paid"}
        value = AvroMessageSerializer(new_client()).encode_record_with_schema("psrc-avro-value", schema.AvroSchema(Exchange.shared("order.avsc")), order)
        equal("value", AvroMessageSerializer(new_client()).decode_message(value), order)

    @s.case("JSON round trip, and a payload that its schema refuses")
    def _():
        serializer = JsonMessageSerializer(new_client())
        text = schema.JsonSchema(Exchange.shared("order.schema.json"))
        value = serializer.encode_record_with_schema("psrc-json-value", text, {"id": 7, "buyer": "Grace"})
        equal("value", JsonMessageSerializer(new_client()).decode_message(value), {"id": 7, "buyer": "Grace"})
        try:
            serializer.encode_record_with_schema("psrc-json-value", text, {"id": "seven", "buyer": "Grace"})
        except Exception as e:  # noqa: BLE001 - the validator's own error
            contains("reason", str(e), "'seven' is not of type 'integer'")
        else:
            raise AssertionError("a text was taken for an integer")


def write(s, x):
    for format, name, serializer, text in (
        ("avro", "example.exchange.Order", AvroMessageSerializer, schema.AvroSchema(x.shared("order.avsc"))),
        ("json", "Order", JsonMessageSerializer, schema.JsonSchema(x.shared("order.schema.json"))),
    ):

        @s.case("write " + format)
        def _():
            value = serializer(new_client()).encode_record_with_schema(f"exchange-{format}-value", text, x.values[format][name])
            x.put("python-schema-registry-client", format, name, "prefix", value)


def read(s, x):
    found = [m for m in x.messages() if m["format"] != "protobuf" and m["framing"] == "prefix"]

    @s.case("there is something to read")
    def _():
        equal("messages", len(found) > 0, True)

    for m in found:

        @s.case("read " + m["file"])
        def _():
            serializer = {"avro": AvroMessageSerializer, "json": JsonMessageSerializer}[m["format"]]
            equal("value", serializer(new_client()).decode_message(m["value"]), x.values[m["format"]][m["message"]])


exchange = Exchange(folder)
if phase == "read":
    suite = Suite("python-schema-registry-client reads")
    read(suite, exchange)
else:
    suite = Suite("python-schema-registry-client")
    cases(suite)
    round_trips(suite)
    write(suite, exchange)
suite.end()
