"""Proves that Python's confluent-kafka works against a registry: its REST
client and its serializers for Avro, JSON Schema and Protobuf.

    run_confluent_kafka.py URL EXCHANGE write   every case, then writes messages
    run_confluent_kafka.py URL EXCHANGE read    reads what all clients wrote
"""

from confluent_kafka.schema_registry import (
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    Rule,
    RuleKind,
    RuleMode,
    RuleSet,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    ServerConfig,
)
from confluent_kafka.schema_registry.error import SchemaRegistryError

import confluent_messages
from suite import Exchange, Suite, arguments, contains, equal

USER_V1 = '{"type":"record","name":"User","namespace":"suite.python","fields":[{"name":"id","type":"long"}]}'
USER_V2 = USER_V1[:-2] + ',{"name":"mail","type":"string","default":""}]}'
USER_BAD = USER_V1[:-2] + ',{"name":"mail","type":"string"}]}'
USER_ODD = '{ "namespace" : "suite.python", "name":"User","type":"record",  "fields":[{"type":"long","name":"id"}]}'
WRAPPER = '{"type":"record","name":"Wrapper","namespace":"suite.python","fields":[{"name":"user","type":"User"}]}'
JSON_V1 = '{"type":"object","properties":{"id":{"type":"integer"}},"additionalProperties":false}'
JSON_BAD = '{"type":"object","properties":{"id":{"type":"string"}},"additionalProperties":false}'
PROTO_V1 = 'syntax = "proto3";\npackage suite.python;\n\nmessage User {\n  int64 id = 1;\n}\n'
PROTO_BAD = PROTO_V1.replace("int64", "string")

url, folder, phase = arguments()


def new_client(at=url):
    """What a program writes; a new one has empty caches."""
    return SchemaRegistryClient({"url": at, "basic.auth.user.info": "user:secret"})


def refused(code, call, *args, **kwargs):
    try:
        got = call(*args, **kwargs)
    except SchemaRegistryError as e:
        equal("error code", e.error_code, code)
        return e
    raise AssertionError(f"got {got!r}, want an error with code {code}")


def avro(text):
    return Schema(text, "AVRO")


def registry_cases(s):
    c = new_client()
    subject = "python-user-value"
    first = c.register_schema_full_response(subject, avro(USER_V1))

    @s.case("register")
    def _():
        equal("version", first.version, 1)
        equal("GUID", len(first.guid), 36)
        again = new_client().register_schema_full_response(subject, avro(USER_ODD))
        equal("again", (again.schema_id, again.version, again.guid), (first.schema_id, 1, first.guid))
        equal("normalized elsewhere", new_client().register_schema("python-user-normal", avro(USER_ODD), True), first.schema_id)

    @s.case("look up by id and GUID")
    def _():
        equal("by id", new_client().get_schema(first.schema_id).schema_str, USER_V1)
        equal("within a subject", new_client().get_schema(first.schema_id, subject_name=subject).schema_type, "AVRO")
        equal("by GUID", new_client().get_schema_by_guid(first.guid).schema_str, USER_V1)
        equal("subjects", c.get_subjects_by_schema_id(first.schema_id), ["python-user-normal", subject])
        # The subject of this call chooses the context of the id; it filters nothing.
        equal("versions", [(v.subject, v.version) for v in c.get_schema_versions(first.schema_id, subject_name=subject)], [("python-user-normal", 1), (subject, 1)])

    @s.case("look up by text, version and latest")
    def _():
        found = new_client().lookup_schema(subject, avro(USER_ODD))
        equal("by text", (found.schema_id, found.version), (first.schema_id, 1))
        equal("by version", new_client().get_version(subject, 1).schema.schema_str, USER_V1)
        latest = new_client().get_latest_version(subject)
        equal("latest", (latest.version, latest.subject, latest.schema_id), (1, subject, first.schema_id))

    @s.case("a bearer token is let pass")
    def _():
        bearer = {"bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": "token", "bearer.auth.logical.cluster": "lsrc-1", "bearer.auth.identity.pool.id": "pool-1"}
        equal("latest", SchemaRegistryClient({"url": url, **bearer}).get_latest_version(subject).schema_id, first.schema_id)

    @s.case("unknown things have their codes")
    def _():
        refused(40403, c.get_schema, 99999)
        refused(40401, c.get_latest_version, "python-nothing")
        refused(40402, c.get_version, subject, 77)
        refused(42202, c.get_version, subject, 0)
        refused(40403, c.lookup_schema, subject, avro('"bytes"'))
        refused(40401, c.lookup_schema, "python-nothing", avro(USER_V1))
        refused(40403, c.get_schema_by_guid, "00000000-0000-0000-0000-000000000000")
        refused(42201, c.register_schema, "python-invalid", avro('{"type":"record"}'))

    @s.case("compatibility")
    def _():
        equal("compatible", c.test_compatibility(subject, avro(USER_V2)), True)
        equal("breaking", c.test_compatibility(subject, avro(USER_BAD), version=1, verbose=True), False)
        equal("all versions", c.test_compatibility_all_versions(subject, avro(USER_BAD), verbose=True), False)
        e = refused(409, c.register_schema, subject, avro(USER_BAD))
        equal("HTTP status", e.http_status_code, 409)
        contains("message", e.error_message, "READER_FIELD_MISSING_DEFAULT_VALUE")

    @s.case("second version and lists")
    def _():
        equal("version", c.register_schema_full_response(subject, avro(USER_V2)).version, 2)
        equal("versions", c.get_versions(subject), [1, 2])
        equal("page", c.get_versions(subject, offset=1, limit=1), [2])
        equal("latest", new_client().get_latest_version(subject).version, 2)
        equal("subjects", c.get_subjects(subject_prefix="python-user"), ["python-user-normal", subject])
        equal("types", sorted(c.get_schema_types()), ["AVRO", "JSON", "PROTOBUF"])

    for kind, name, text, bad in (("JSON", "python-json", JSON_V1, JSON_BAD), ("PROTOBUF", "python-proto", PROTO_V1, PROTO_BAD)):

        @s.case(f"register and check {kind}")
        def _():
            got = new_client().get_schema(c.register_schema(name, Schema(text, kind)))
            equal("schema", (got.schema_type, got.schema_str), (kind, text))
            equal("breaking", c.test_compatibility(name, Schema(bad, kind)), False)
            refused(409, c.register_schema, name, Schema(bad, kind))


def governance_cases(s):
    c = new_client()

    @s.case("levels")
    def _():
        refused(40408, c.get_compatibility, "python-level")
        # This client's set_compatibility answers the whole object, get_compatibility the level.
        equal("set", c.set_compatibility("python-level", "FULL"), {"compatibility": "FULL"})
        equal("got", c.get_compatibility("python-level"), "FULL")
        equal("global", c.get_compatibility(), "BACKWARD")
        refused(42203, c.set_compatibility, "python-level", "SIDEWAYS")

    @s.case("config members")
    def _():
        c.set_config("python-config", ServerConfig(compatibility=ConfigCompatibilityLevel.NONE, compatibility_group="major"))
        got = c.get_config("python-config")
        equal("config", (got.compatibility_level, got.compatibility_group), (ConfigCompatibilityLevel.NONE, "major"))
        c.delete_config("python-config")
        refused(40408, c.get_config, "python-config")

    @s.case("modes")
    def _():
        refused(40409, c.get_mode, "python-mode")
        equal("set", c.update_mode("python-mode", "READONLY"), "READONLY")
        refused(42205, c.register_schema, "python-mode", avro(USER_V1))
        equal("got", c.get_mode("python-mode"), "READONLY")
        c.delete_mode("python-mode")
        refused(40409, c.get_mode, "python-mode")
        equal("global", c.get_global_mode(), "READWRITE")

    @s.case("references")
    def _():
        refs = [SchemaReference("suite.python.User", "python-ref-user", 1)]
        c.register_schema("python-ref-user", avro(USER_V1))
        id = c.register_schema("python-ref-wrapper", Schema(WRAPPER, "AVRO", refs))
        equal("references", new_client().get_schema(id).references, refs)
        equal("referenced by", c.get_referenced_by("python-ref-user", 1), [id])
        refused(42206, c.delete_version, "python-ref-user", 1)
        refused(42201, c.register_schema, "python-ref-none", Schema(WRAPPER, "AVRO", [SchemaReference("suite.python.User", "python-nothing", 1)]))

    @s.case("metadata and rules")
    def _():
        rule = Rule("positiveId", None, RuleKind.CONDITION, RuleMode.WRITE, "CEL", None, None, "message.id > 0", None, None, False)
        metadata = Metadata(None, MetadataProperties({"owner": "payments & co"}), None)
        id = c.register_schema("python-meta", Schema(USER_V1, "AVRO", [], metadata, RuleSet(None, [rule])))
        # This client encodes the words of a metadata search twice; the first
        # word that needs no encoding is the one to search with.
        c.register_schema("python-meta", Schema(USER_V1, "AVRO", [], Metadata(None, MetadataProperties({"team": "red"}), None)))
        found = c.get_latest_with_metadata("python-meta", {"team": "red"})
        equal("metadata", found.schema.metadata.properties.properties, {"team": "red"})
        got = new_client().get_schema(id)
        equal("properties", got.metadata.properties.properties, {"owner": "payments & co"})
        equal("rules", [(r.name, r.kind, r.mode, r.type, r.expr) for r in got.rule_set.domain_rules], [("positiveId", RuleKind.CONDITION, RuleMode.WRITE, "CEL", "message.id > 0")])
        refused(40403, c.get_latest_with_metadata, "python-meta", {"owner": "nobody"})

    @s.case("contexts")
    def _():
        c.register_schema(":.python:user-value", avro(USER_V1))
        contains("contexts", c.get_contexts(), ".python")
        inside = new_client(url + "/contexts/.python")
        equal("subjects", inside.get_subjects(), [":.python:user-value"])
        equal("latest", inside.get_latest_version("user-value").schema.schema_str, USER_V1)

    @s.case("subjects with odd names")
    def _():
        for name in ("python/a b", "python:ü%2F", "python+plus"):
            c.register_schema(name, avro(USER_V1))
            equal("latest of " + name, new_client().get_latest_version(name).subject, name)


def deletion_cases(s):
    c = new_client()
    subject = "python-user-value"

    @s.case("delete a version")
    def _():
        refused(40407, c.delete_version, subject, 2, permanent=True)
        equal("soft", c.delete_version(subject, 2), 2)
        refused(40402, new_client().get_version, subject, 2)
        equal("hidden", new_client().get_version(subject, 2, deleted=True).schema.schema_str, USER_V2)
        equal("deleted only", c.get_versions(subject, deleted_only=True), [2])
        refused(40406, c.delete_version, subject, 2)
        equal("hard", c.delete_version(subject, 2, permanent=True), 2)
        refused(40402, new_client().get_version, subject, 2, deleted=True)

    @s.case("delete a subject")
    def _():
        refused(40405, c.delete_subject, subject, permanent=True)
        equal("soft", c.delete_subject(subject), [1])
        refused(40404, c.delete_subject, subject)
        refused(40401, c.get_versions, subject)
        equal("deleted only", c.get_subjects(subject_prefix=subject, deleted_only=True), [subject])
        equal("hard", c.delete_subject(subject, permanent=True), [1])
        refused(40401, c.delete_subject, subject)


exchange = Exchange(folder)
if phase == "read":
    suite = Suite("confluent-kafka (Python) reads")
    confluent_messages.read(suite, new_client, exchange)
else:
    suite = Suite("confluent-kafka (Python)")
    registry_cases(suite)
    governance_cases(suite)
    deletion_cases(suite)
    confluent_messages.cases(suite, new_client, refused)
    confluent_messages.write(suite, new_client, exchange)
suite.end()
