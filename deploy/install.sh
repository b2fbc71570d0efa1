#!/bin/sh
# Brings a released cartorio to a machine that runs pipelines:
#   sh install.sh VERSION FOLDER [URL] <SHA256SUMS
# SHA256SUMS, of the release, belongs into the repository: nothing is run whose
# digest was not there before. It prints the path of the binary and nothing else;
# what went wrong is on stderr, with exit code 2. URL is where releases are;
# VERSION/cartorio-OS-ARCH is added.
set -eu

fail() {
  printf '%s\n' "$1" >&2
  exit 2
}

[ $# -ge 2 ] || fail 'usage: install.sh VERSION FOLDER [URL] <SHA256SUMS'
version=$1 folder=$2
releases=${3:-https://github.com/cartorio-registry/cartorio/releases/download}
digests=$(cat)
case $digests in
*[0-9a-fA-F]*) ;;
*) fail "version: $version needs sha256 beside it: a download is run only when its digest is the one that was told" ;;
esac
ending=
case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
MINGW* | MSYS* | CYGWIN*) os=windows ending=.exe ;;
*) fail "version: there is no release for $(uname -s): build from source" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "version: there is no release for $(uname -m): build from source" ;;
esac
mkdir -p "$folder"
binary=$folder/cartorio$ending
url=$releases/$version/cartorio-$os-$arch$ending
curl --fail --silent --show-error --location --retry 3 --max-time 300 --output "$binary.part" "$url" || {
  rm -f "$binary.part"
  fail "downloading $url: see above"
}
if command -v sha256sum >/dev/null; then
  digest=$(sha256sum <"$binary.part")
else
  digest=$(shasum -a 256 <"$binary.part")
fi
digest=${digest%% *}
for told in $digests; do
  if [ "$(printf %s "$told" | tr A-F a-f)" = "$digest" ]; then
    chmod +x "$binary.part"
    mv "$binary.part" "$binary"
    printf '%s\n' "$binary"
    exit
  fi
done
rm -f "$binary.part"
fail "sha256: $url has the digest $digest, which is not the one that was told: it was not run"
