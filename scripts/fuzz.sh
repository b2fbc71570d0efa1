#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME each (20s unless set); `go test` runs one a call.
set -euo pipefail
cd "$(dirname "$0")/.."
count=0
while IFS=: read -r file target; do
  pkg=./$(dirname "$file")
  printf '%s %s\n' "$pkg" "$target"
  ${GO:-go} test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-20s}" "$pkg" | tail -n 3
  count=$((count + 1))
done < <(git ls-files '*_test.go' | xargs grep -oE '^func Fuzz[A-Za-z0-9_]+' /dev/null | sed 's/func //' | LC_ALL=C sort -u)
[ "$count" -gt 0 ] || { echo 'no fuzz target was found' >&2; exit 1; }
echo "$count fuzz targets ran"
