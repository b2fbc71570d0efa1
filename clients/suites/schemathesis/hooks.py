"""Makes schemathesis ask about things that exist.

Generated names and texts hardly ever meet a subject, an id or a schema that
parses, so most answers would be the same few refusals. Half of the generated
values are replaced by ones of a registry that this file fills first; the choice
depends on the generated value alone, so a failing case can be repeated.

CARTORIO_URL names the server.
"""

import hashlib
import json
import os
import urllib.error
import urllib.request

import schemathesis

USER = {"type": "record", "name": "User", "namespace": "fuzz", "fields": [{"name": "id", "type": "long"}]}
WITH_MAIL = {**USER, "fields": USER["fields"] + [{"name": "mail", "type": "string", "default": ""}]}
BREAKING = {**USER, "fields": USER["fields"] + [{"name": "mail", "type": "string"}]}
TAGGED = {**USER, "fields": [{"name": "id", "type": "long", "confluent:tags": ["PII"]}]}
OBJECT = {"type": "object", "properties": {"id": {"type": "integer"}}, "additionalProperties": False}
PROTO = 'syntax = "proto3";\npackage fuzz;\n\nmessage User {\n  int64 id = 1;\n}\n'
DESCRIPTOR = "Cgp1c2VyLnByb3RvEgRmdXp6IhIKBFVzZXISCgoCaWQYASABKANiBnByb3RvMw=="

BODIES = [
    {"schema": json.dumps(USER)},
    {"schema": json.dumps(WITH_MAIL), "schemaType": "AVRO"},
    {"schema": json.dumps(BREAKING), "schemaType": "AVRO"},
    {"schema": json.dumps(TAGGED), "schemaType": "AVRO", "metadata": {"properties": {"owner": "fuzz"}, "tags": {"User": ["PII"]}}},
    {"schema": json.dumps(OBJECT), "schemaType": "JSON"},
    {"schema": json.dumps({**OBJECT, "properties": {}}), "schemaType": "JSON"},
    {"schema": PROTO, "schemaType": "PROTOBUF"},
    {"schema": PROTO.replace("int64", "string"), "schemaType": "PROTOBUF"},
    {"schema": DESCRIPTOR, "schemaType": "PROTOBUF"},
    {
        "schema": json.dumps({"type": "record", "name": "Wrapper", "namespace": "fuzz", "fields": [{"name": "user", "type": "User"}]}),
        "references": [{"name": "fuzz.User", "subject": "fuzz-a", "version": 1}],
    },
    {"schema": json.dumps(USER), "ruleSet": {"domainRules": [{"name": "positive", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "message.id > 0"}]}},
    {"schema": "{", "schemaType": "AVRO"},
]
SUBJECTS = ["fuzz-a", "fuzz-b", "fuzz-json", "fuzz-proto", ":.fuzz:a", ":.fuzz:", "fuzz/a b", "fuzz-gone", "fuzz-new"]
VERSIONS = ["1", "2", "3", "-1", "latest", "0", "99"]
GUIDS = ["00000000-0000-0000-0000-000000000000"]
LEVELS = ["NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FULL", "FULL_TRANSITIVE", "full"]


def call(method, path, body=None):
    request = urllib.request.Request(os.environ["CARTORIO_URL"] + path, method=method, data=None if body is None else json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as e:
        raise SystemExit(f"filling the registry: {method} {path}: {e.code} {e.read().decode()}") from e


def fill():
    for subject, body in (
        ("fuzz-a", BODIES[0]), ("fuzz-a", BODIES[1]), ("fuzz-b", BODIES[9]), ("fuzz-json", BODIES[4]), ("fuzz-proto", BODIES[6]),
        (":.fuzz:a", BODIES[0]), ("fuzz%2Fa%20b", BODIES[3]), ("fuzz-gone", BODIES[0]),
    ):
        answer = call("POST", f"/subjects/{subject}/versions", body)
        if answer["guid"] not in GUIDS:
            GUIDS.append(answer["guid"])
    call("DELETE", "/subjects/fuzz-gone")


fill()


def digest(value):
    return int.from_bytes(hashlib.sha256(repr(value).encode()).digest()[:8], "big")


def pick(value, choices, one_in=2):
    """One of the choices, or, every so often, the generated value itself."""
    d = digest(value)
    return value if d % one_in == 0 else choices[d // 7 % len(choices)]


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    if not isinstance(path_parameters, dict):
        return path_parameters
    known = {"subject": SUBJECTS, "version": VERSIONS, "id": ["1", "2", "3", "4", "5", "6", "99"], "guid": GUIDS, "context": [".", ".fuzz", "fuzz"]}
    return {k: pick(v, known[k], 4) if k in known else v for k, v in path_parameters.items()}


@schemathesis.hook
def map_query(context, query):
    if not isinstance(query, dict):
        return query
    known = {
        "subject": SUBJECTS, "subjectPrefix": ["", ":*:", ":.fuzz:", "fuzz"], "format": ["resolved", "serialized", "ignore_extensions", "default"],
        "findTags": ["*", "PII"], "key": ["owner"], "value": ["fuzz"], "reader": VERSIONS, "writer": VERSIONS,
    }
    return {k: pick(v, known[k]) if k in known else v for k, v in query.items()}


@schemathesis.hook
def map_body(context, body):
    if not isinstance(body, dict):
        return body
    path = context.operation.path
    if path.startswith("/mode"):
        # A registry that is read-only as a whole answers nothing else any more.
        modes = ["READWRITE", "IMPORT", "READWRITE"] + (["READONLY", "FORWARD"] if "{subject}" in path else [])
        return {**body, "mode": pick(body.get("mode"), modes, 8)} if "mode" in body else body
    if path.startswith("/config"):
        return {k: pick(v, LEVELS) if k.startswith("compatibility") and isinstance(v, str) else v for k, v in body.items()}
    if "schema" in body and digest(body) % 3:
        d = digest(body) // 3
        keep = {} if d % 2 else {k: v for k, v in body.items() if k not in ("schema", "schemaType", "references")}
        return {**keep, **BODIES[d // 2 % len(BODIES)]}
    return body


@schemathesis.hook
def before_call(context, case, kwargs):
    # Whatever the last case did to the whole registry, the next one finds it
    # writable nine times in ten.
    if case.path.startswith("/subjects") and digest(case.id) % 10 == 0:
        call("PUT", "/mode?force=true", {"mode": "READWRITE"})


@schemathesis.check
def raw_text(ctx, response, case):
    """A bare schema is text, whatever its label says."""
    if case.operation.path.endswith("/schema") and response.status_code == 200:
        text = response.content.decode("utf-8")
        assert text.strip(), "the schema is empty"


@schemathesis.check
def error_body(ctx, response, case):
    """Every refusal carries what all clients read, and a code that fits."""
    if response.status_code < 400 or case.method.upper() == "HEAD" or case.operation.path in ("/healthz", "/readyz"):
        return
    body = json.loads(response.content)
    code, message = body["error_code"], body["message"]
    assert isinstance(code, int) and str(code)[:3] == str(response.status_code), f"status {response.status_code} with error_code {code}"
    assert isinstance(message, str) and message, "the message is empty"
