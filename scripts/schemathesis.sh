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
# It generates for some seconds before it asks; then a slow machine, too, sees
# tens of requests a second.
least=$((seconds > 11 ? seconds - 10 : 1))
if [ $status -eq 0 ] && [ "${cases:-0}" -ge $least ]; then
  printf 'schemathesis: %s requests in %s s, none answered wrongly\n' "$cases" "$seconds"
  exit 0
fi
cat "$home/out"
if [ $status -eq 0 ]; then
  printf 'schemathesis: only %s requests in %s s: that proves nothing\n' "${cases:-0}" "$seconds"
elif [ $status -eq 124 ]; then
  echo 'schemathesis: it did not end: a request hangs'
fi
exit 1
