#!/usr/bin/env bash
# Starts a registry in memory and brokers of its own, runs an example of examples/
# against them, and stops all. An example with a walk.sh is walked through by it.
#
#   scripts/example.sh NAME BROKER... [-- ARGUMENT...]
set -euo pipefail
cd "$(dirname "$0")/.."
name=${1:?usage: example.sh NAME BROKER... [-- ARGUMENT...]}
shift
brokers=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do brokers+=("$1"); shift; done
[ $# -eq 0 ] || shift
work=$(mktemp -d)
serving=
finish() {
  [ -z "$serving" ] || kill "$serving" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
go build -o "$work/cartorio" ./cmd/cartorio
go build -o "$work/example" "./examples/$name"
"$work/cartorio" serve --listen 127.0.0.1:0 --database sqlite::memory: > "$work/out" 2> "$work/log" &
serving=$!
for _ in $(seq 100); do
  CARTORIO_REGISTRY_URL=$(grep -so 'http://[^ ]*' "$work/out" || true)
  [ -n "$CARTORIO_REGISTRY_URL" ] && break
  kill -0 "$serving" 2>/dev/null || break
  sleep 0.1
done
if [ -z "$CARTORIO_REGISTRY_URL" ]; then
  echo 'the registry did not start:' >&2
  cat "$work/log" >&2
  exit 1
fi
export CARTORIO_REGISTRY_URL
program=("$work/example")
[ ! -x "examples/$name/walk.sh" ] || program=("examples/$name/walk.sh" "$work/cartorio" "$work/example")
scripts/brokers.sh run "${brokers[@]}" -- "${program[@]}" "$@"
