#!/usr/bin/env bash
# Fuzzes the HTTP surface of a server of this tree from its own OpenAPI document
# for SECONDS (60). What must hold of every answer is clients/suites/schemathesis.
#
#   scripts/schemathesis.sh [SECONDS]
#
# A failing request is printed with the command that repeats it.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
case $seconds in
  *[!0-9]* | '') echo 'usage: schemathesis.sh [SECONDS]' >&2; exit 64 ;;
esac
if [ -z "${CARTORIO_URL:-}" ]; then
  exec scripts/server.sh run "$0" "$seconds"
fi

suite=$PWD/clients/suites/schemathesis
python=${CARTORIO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cartorio}/clients/schemathesis
scripts/clients.sh install fuzz
home=$(mktemp -d "${TMPDIR:-/tmp}/cartorio-schemathesis.XXXXXX")
trap 'rm -rf "$home"' EXIT

# It stops by itself; what still runs two minutes later hangs.
status=0
(
  cd "$home" # where it keeps what failed
  SCHEMATHESIS_HOOKS=hooks PYTHONPATH=$suite PYTHONDONTWRITEBYTECODE=1 timeout $((seconds + 120)) \
    "$python/bin/schemathesis" --config-file "$suite/schemathesis.toml" --no-color \
    run "$CARTORIO_URL/openapi.json" --max-time "$seconds" --warnings off > "$home/out" 2>&1
) || status=$?
cases=$(sed -nE 's/^ *([0-9]+) generated.*/\1/p' "$home/out")
if [ $status -eq 0 ] && [ "${cases:-0}" -gt 0 ]; then
  printf 'schemathesis: %s requests in %s s, none answered wrongly\n' "$cases" "$seconds"
  exit 0
fi
[ $status -ne 124 ] || echo 'schemathesis: it did not end: a request hangs'
cat "$home/out"
exit 1
