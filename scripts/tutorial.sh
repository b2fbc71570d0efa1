#!/usr/bin/env bash
# Writes docs/tutorial.md: every command in it is run, every answer is what came.
#   scripts/tutorial.sh [BINARY] > docs/tutorial.md
# Without BINARY it is built. A command whose exit code is not the one told here
# ends the script, so that the page is never written from a run that went otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
if [ $# -gt 0 ]; then
  ln -s "$(realpath "$1")" "$work/bin/cartorio"
else
  "${GO:-go}" build -o "$work/bin/cartorio" ./cmd/cartorio
fi

# Nothing of this machine may show: no settings, no colours, no dates.
unset "${!CARTORIO_@}" "${!GIT_@}" 2>/dev/null || true
export PATH="$work/bin:$PATH" NO_COLOR=1 GIT_CONFIG_GLOBAL="$work/none" GIT_CONFIG_SYSTEM="$work/none" \
  GIT_AUTHOR_NAME=you GIT_AUTHOR_EMAIL=you@example.com GIT_COMMITTER_NAME=you GIT_COMMITTER_EMAIL=you@example.com \
  GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z LC_ALL=C.UTF-8
mkdir "$work/shop"
cd "$work/shop"

say() { cat; echo; }

# show CODE COMMAND runs a command as a reader would, and shows what it prints.
show() {
  local want=$1 code=0
  shift
  printf '```console\n$ %s\n' "$*"
  bash -c "$*" 2>&1 | sed 's/[[:space:]]*$//' || code=$?
  if [ "$code" -ne "$want" ]; then
    printf '%s: exit code %s, %s was expected\n' "$*" "$code" "$want" >&2
    exit 1
  fi
  [ "$code" -eq 0 ] || printf '$ echo $?\n%s\n' "$code"
  printf '```\n\n'
}

# file NAME writes a file from stdin, and shows it.
file() {
  mkdir -p "$(dirname "$1")"
  # shellcheck disable=SC2016 # these are markdown's
  printf '`%s`:\n\n```%s\n' "$1" "${2:-json}"
  tee "$1"
  printf '```\n\n'
}

# edit NAME EXPRESSION changes a file with sed, and shows what changed.
edit() {
  sed -i "$2" "$1"
  printf '```diff\n'
  git diff -U0 -- "$1" | sed -n 's/^+++ b\//# /p; /^[-+]/{/^[-+][-+][-+]/!p}'
  printf '```\n\n'
}

say <<'X'
# From nothing to a gate on your pull requests

Five minutes of reading. You need git and the binary `cartorio`; no server, no account, no network. This page is written by `scripts/tutorial.sh`, which runs every command below.

## 1. A repository with schemas

Say a shop keeps the formats of its messages in a repository: an order as Avro, a shipment as Protobuf, a customer as JSON Schema.
X
file schemas/order.avsc <<'X'
{
  "type": "record",
  "name": "Order",
  "namespace": "shop",
  "fields": [
    {"name": "id", "type": "long"},
    {"name": "status", "type": {"type": "enum", "name": "Status", "symbols": ["OPEN", "PAID"], "default": "OPEN"}}
  ]
}
X
file schemas/shop/shipment.proto protobuf <<'X'
syntax = "proto3";
package shop;

message Shipment {
  string order = 1;
  int32 parcels = 2;
}
X
file schemas/customer.json <<'X'
{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "Customer",
  "type": "object",
  "properties": {
    "name": {"type": "string"},
    "age": {"type": "integer", "minimum": 0}
  },
  "required": ["name"],
  "additionalProperties": false
}
X
say <<'X'
Make it a repository and commit; the folder `.github` tells `init` the platform:
X
show 0 "mkdir .github && git init -q -b main && git add . && git commit -qm 'the schemas'"
say <<'X'
## 2. Switch the gate on

`init` looks at the repository and writes a configuration with comments, and a workflow where it sees which platform runs it (`--platform github` or `gitlab` says it).
X
show 0 cartorio init
show 0 "grep -v '^ *#' cartorio.yaml | grep ."
say <<'X'
Commit both:
X
show 0 "git add . && git commit -qm 'the gate'"
say <<'X'
The workflow names the same folder. Nothing has changed yet, and the gate says so:
X
show 0 cartorio check schemas
say <<'X'
## 3. A pull request that breaks consumers

On a branch, somebody adds a currency to the order and turns the number of parcels into a text.
X
show 0 'git checkout -q -b currency'
edit schemas/order.avsc 's|{"name": "id", "type": "long"},|&\n    {"name": "currency", "type": "string"},|'
edit schemas/shop/shipment.proto 's/int32 parcels/string parcels/'
show 0 "git commit -qam 'a currency'"
say <<'X'
Both look harmless in review. The gate compares with the commit where the branch began, read from git; nothing is checked out:
X
show 1 cartorio check schemas
say <<'X'
Exit code 1 fails the pull request. Each finding says at which line, why, what to do instead, and with a *witness* proves it: a message that the old schema wrote and the new one cannot read. In a pull request the same findings are annotations at the lines; the action of [ci/github.md](ci/github.md) adds one comment.

## 4. The repair

An order gets a default, so that new readers know what old orders mean. The shipment gets a new field beside the old one.
X
edit schemas/order.avsc 's|"currency", "type": "string"|&, "default": "EUR"|'
edit schemas/shop/shipment.proto 's|string parcels = 2;|int32 parcels = 2;\n  string parcel_list = 3;|'
show 0 "git commit -qam 'a currency that old orders have too'"
show 0 cartorio check schemas
say <<'X'
Notes are the changelog of what is compatible. The pull request passes.

## 5. A break that is meant

Nobody reads ages any more, and the customer loses them. Old customers still carry the member, and a closed object refuses it:
X
edit schemas/customer.json '/"age"/d; s|{"type": "string"},|{"type": "string"}|'
show 0 "git commit -qam 'no ages'"
show 1 cartorio check schemas
fingerprint=$({ cartorio check schemas --format text 2>/dev/null || true; } | sed -n 's/^ *fingerprint *//p' | head -n 1)
say <<'X'
When that is agreed, the one finding is accepted, with a reason, a name, and an end. The entry is reviewed like everything else in the pull request:
X
until=$(date -u -d '+90 days' +%F)
show 0 "cartorio except $fingerprint --reason 'no customer has an age since May' --owner team-shop --until $until" | sed "s/$until/2027-06-30/g"
show 0 "cartorio check schemas | grep -A 1 accepted" | sed "s/$until/2027-06-30/g"
say <<'X'
It stays in every report, marked, until its last day; the next change of the same schema needs its own entry.

## 6. Where to go on

- `cartorio explain avro.field-added-without-default` tells a rule with an example; `cartorio advise OLD NEW` says who must be deployed first.
- [ci/github.md](ci/github.md) has the action that annotates and comments; [ci/](ci/README.md) has GitLab, pre-commit, Jenkins, Azure, Bitbucket, Gradle, Maven and the images.
- [gate.md](gate.md) is the whole of `check`; [configuration.md](configuration.md) has every key.
X
