#!/bin/sh
# Puts a cartorio where the gate finds it, and names it in the output `binary`:
# one that is there, a release whose digest was told, or one built from the very
# commit of this action.
set -eu

fail() {
  printf '::error title=Cartório::%s\n' "$1"
  exit 2
}

folder=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/cartorio-binary
mkdir -p "$folder"

if [ -n "${IN_BINARY:-}" ]; then
  binary=$(command -v -- "$IN_BINARY") || fail "binary: $IN_BINARY is no program here"
elif [ -n "${IN_VERSION:-}" ]; then
  case ${IN_SHA256:-} in
  *[0-9a-fA-F]*) ;;
  *) fail "version: $IN_VERSION needs sha256 beside it: a download is run only when its digest is the one that was told" ;;
  esac
  ending=
  case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  MINGW* | MSYS* | CYGWIN*) os=windows ending=.exe ;;
  *) fail "version: there is no release for $(uname -s): leave version out to build from source" ;;
  esac
  case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "version: there is no release for $(uname -m): leave version out to build from source" ;;
  esac
  binary=$folder/cartorio$ending
  url=$IN_DOWNLOAD_URL/$IN_VERSION/cartorio-$os-$arch$ending
  curl --fail --silent --show-error --location --retry 3 --max-time 300 --output "$binary" "$url" ||
    fail "downloading $url: see above"
  if command -v sha256sum >/dev/null; then
    digest=$(sha256sum <"$binary")
  else
    digest=$(shasum -a 256 <"$binary")
  fi
  digest=${digest%% *}
  known=
  for told in $IN_SHA256; do
    [ "$(printf %s "$told" | tr A-F a-f)" != "$digest" ] || known=yes
  done
  if [ -z "$known" ]; then
    rm -f "$binary"
    fail "sha256: $url has the digest $digest, which is not the one that was told: it was not run"
  fi
  chmod +x "$binary"
else
  command -v go >/dev/null ||
    fail 'building from source needs Go: add actions/setup-go before this step, or give version and sha256'
  binary=$folder/cartorio
  # In a folder of its own the action is at the commit that `uses:` names.
  (cd "$GITHUB_ACTION_PATH/.." && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$binary" ./cmd/cartorio) ||
    fail 'building from source: see above'
fi

"$binary" version | head -n 1
printf 'binary=%s\n' "$binary" >>"$GITHUB_OUTPUT"
