"""Makes schemathesis ask about things that exist.

Generated names and texts hardly ever meet a subject, an id or a schema that
parses, so most answers would be the same few refusals. Most of the generated
values are replaced by ones of a registry that this file fills first; the choice
depends on the generated value alone, and a failing case is printed as it was
sent.

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
IDS = []
LEVELS = ["NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FULL", "FULL_TRANSITIVE", "full"]


def call(method, path, body=None):
    request = urllib.request.Request(os.environ["CARTORIO_URL"] + path, method=method, data=None if body is None else json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


FILLED = (
    ("fuzz-a", BODIES[0]), ("fuzz-a", BODIES[1]), ("fuzz-b", BODIES[9]), ("fuzz-json", BODIES[4]), ("fuzz-proto", BODIES[6]),
    (":.fuzz:a", BODIES[0]), ("fuzz%2Fa%20b", BODIES[3]), ("fuzz-gone", BODIES[0]),
)


def fill(strict):
    """Registers what the lists above name, after whatever the fuzzing has set
    or deleted; the first time all of it must succeed."""
    for path in ["/mode?recursive=true", "/config"] + [f"/{kind}/{s}" for s, _ in FILLED for kind in ("mode", "config")]:
        attempt("DELETE", path)
    for subject, body in FILLED:
        answer = attempt("POST", f"/subjects/{subject}/versions", body)
        if answer is None and strict:
            raise SystemExit(f"filling the registry: {subject} was refused")
        if answer and answer["guid"] not in GUIDS and len(GUIDS) < 20:
            GUIDS.append(answer["guid"])
        if answer and answer["id"] not in IDS:
            IDS[:] = [*IDS, answer["id"]][-20:]
    attempt("DELETE", "/subjects/fuzz-gone")


def attempt(method, path, body=None):
    try:
        return call(method, path, body)
    except urllib.error.HTTPError as e:
        if e.code >= 500:
            raise SystemExit(f"{method} {path}: {e.code} {e.read().decode()}") from e
        return None


fill(strict=True)


def digest(value):
    return int.from_bytes(hashlib.sha256(repr(value).encode()).digest()[:8], "big")


def pick(value, choices, keep):
    """One of the choices, or, once in so many times, the generated value."""
    d = digest(value)
    return value if d % keep == 0 else choices[d // 7 % len(choices)]


def known(values, choices, keep):
    return {k: pick(v, choices[k], keep) if k in choices else v for k, v in values.items()}


def body_of(path, method, body):
    if path.startswith("/mode") and "mode" in body:
        # A registry that is read-only as a whole answers nothing else any more.
        modes = ["READWRITE", "IMPORT", "READWRITE"] + (["READONLY", "FORWARD"] if "{subject}" in path else [])
        return {**body, "mode": pick(body["mode"], modes, 8)}
    if path.startswith("/config"):
        return {k: pick(v, LEVELS, 2) if k.startswith("compatibility") and isinstance(v, str) else v for k, v in body.items()}
    d = digest(body)
    if path == "/api/v1/compare" and d % 4:
        side = BODIES[d // 4 % len(BODIES)]
        other = next(b for b in BODIES[d // 80 % len(BODIES) :] + BODIES if b.get("schemaType") == side.get("schemaType"))
        return {**body, "old": side, "new": other}
    if path.startswith(("/subjects", "/compatibility")) and not path.endswith("/tags") and d % 4:
        extra = {k: v for k, v in body.items() if k not in ("schema", "schemaType", "references")} if d % 8 == 1 else {}
        return {**extra, **BODIES[d // 8 % len(BODIES)]}
    return body


@schemathesis.hook
def before_call(context, case, kwargs):
    """Puts what exists in place of most of what was generated, whatever phase
    it comes from. One case in fifty finds the registry filled again."""
    path = case.operation.path
    if isinstance(case.path_parameters, dict):
        case.path_parameters = known(case.path_parameters, {"subject": SUBJECTS, "version": VERSIONS, "id": [str(i) for i in IDS], "guid": GUIDS, "context": [":.:", ".fuzz", "fuzz"]}, 5)
    if isinstance(case.query, dict):
        case.query = known(case.query, {
            "subject": SUBJECTS, "subjectPrefix": ["", ":*:", ":.fuzz:", "fuzz"], "format": ["resolved", "serialized", "ignore_extensions", "default"],
            "findTags": ["*", "PII"], "key": ["owner"], "value": ["fuzz"], "reader": ["old"], "writer": ["new"], "asOf": ["1", "5", "2031-01-01T00:00:00Z"],
            "offset": ["0", "1", "7"], "limit": ["0", "1", "100"], "after": ["0", "3"],
        }, 2)
    if isinstance(case.body, dict):
        case.body = body_of(path, case.method, case.body)
    if digest((path, case.method, case.path_parameters, case.body)) % 50 == 0:
        fill(strict=False)


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
