#!/usr/bin/env bash
# Runs a command beside a server of this tree, which keeps its registry in
# memory and listens on a free port of the loopback.
#
#   scripts/server.sh run COMMAND [ARGUMENT]...
#
# CARTORIO_BINARY names a server that is built already. The command finds the
# address in CARTORIO_URL. The exit code is the command's; a server that died,
# panicked or did not stop cleanly makes it 1.
set -uo pipefail
cd "$(dirname "$0")/.."
say() { printf 'server: %s\n' "$*" >&2; }

if [ "${1:-}" != run ] || [ $# -lt 2 ]; then
  sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
  exit 64
fi
shift

home=$(mktemp -d "${TMPDIR:-/tmp}/cartorio-server.XXXXXX")
pid=
finish() {
  [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
  rm -rf "$home"
}
trap finish EXIT
trap 'exit 130' INT TERM

binary=${CARTORIO_BINARY:-$home/cartorio}
if [ -z "${CARTORIO_BINARY:-}" ]; then
  CGO_ENABLED=0 "${GO:-go}" build -o "$binary" ./cmd/cartorio || exit 1
fi
"$binary" serve --listen 127.0.0.1:0 --database sqlite::memory: > "$home/out" 2> "$home/log" < /dev/null &
pid=$!
for _ in $(seq 300); do
  CARTORIO_URL=$(grep -oE 'http://127\.0\.0\.1:[0-9]+' "$home/out") && break
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.1
done
if [ -z "${CARTORIO_URL:-}" ]; then
  say 'it did not start; it said:'
  cat "$home/out" "$home/log" >&2
  exit 1
fi
export CARTORIO_URL

"$@"
status=$?

kill -TERM "$pid" 2>/dev/null
wait "$pid"
stopped=$?
pid=
if [ $stopped -ne 0 ] || grep -qi 'panic' "$home/log"; then
  say "it ended with code $stopped; its log ends:"
  tail -40 "$home/log" >&2
  [ $status -ne 0 ] || status=1
fi
exit $status
