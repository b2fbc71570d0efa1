#!/bin/sh
# Puts a cartorio where the gate finds it, and names it in the output `binary`:
# one that is there, a release whose digest was told, or one built from the very
# commit of this action.
set -eu

fail() {
  printf '::error title=Cartório::%s\n' "$1"
  exit 2
}

here=${GITHUB_ACTION_PATH:-$(dirname "$0")}
folder=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/cartorio-binary
mkdir -p "$folder"

if [ -n "${IN_BINARY:-}" ]; then
  binary=$(command -v -- "$IN_BINARY") || fail "binary: $IN_BINARY is no program here"
elif [ -n "${IN_VERSION:-}" ]; then
  binary=$(printf %s "${IN_SHA256:-}" | sh "$here/../deploy/install.sh" "$IN_VERSION" "$folder" "$IN_DOWNLOAD_URL" 2>"$folder.log") || {
    cat "$folder.log"
    fail "$(tail -n 1 "$folder.log")"
  }
else
  command -v go >/dev/null ||
    fail 'building from source needs Go: add actions/setup-go before this step, or give version and sha256'
  binary=$folder/cartorio
  # In a folder of its own the action is at the commit that `uses:` names.
  (cd "$here/.." && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$binary" ./cmd/cartorio) ||
    fail 'building from source: see above'
fi

"$binary" version | head -n 1
printf 'binary=%s\n' "$binary" >>"$GITHUB_OUTPUT"
