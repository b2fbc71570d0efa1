#!/bin/sh
# Builds what a release holds: release.sh [FOLDER] (dist). One static binary a
# system, cartorio-OS-ARCH[.exe], and SHA256SUMS over them. The bytes follow from
# the sources, VERSION, COMMIT and the version of Go alone: not from where the tree
# lies, the clock, the machine or its settings. So whoever builds a tag with the Go
# that `cartorio version` names can compare digests.
set -eu
out=${1:-dist}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."
go=${GO:-go}
targets=${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}
if [ -z "${VERSION:-}" ]; then
  VERSION=$(git describe --tags --always --dirty)
  COMMIT=$(git rev-parse HEAD)
  case $VERSION in
  *-dirty)
    echo 'release.sh: the tree differs from its commit: commit first, or say VERSION=… for a build of your own' >&2
    exit 1
    ;;
  esac
fi

# What a machine is set to must not be built in.
for name in GOFLAGS GOEXPERIMENT GOAMD64 GOARM64 GODEBUG GOFIPS140; do unset "$name"; done
# Of what go env -w wrote down counts only from where modules come and where they lie.
for name in GOCACHE GOMODCACHE GOPATH GOPROXY GOPRIVATE GONOPROXY GOSUMDB GONOSUMDB GOINSECURE GOVCS GOAUTH GOTOOLCHAIN; do
  value=$("$go" env "$name")
  [ -z "$value" ] || export "$name=$value"
done
export GOENV=off CGO_ENABLED=0 GOWORK=off GOAMD64=v1 GOARM64=v8.0
rm -f "$out"/cartorio-* "$out/SHA256SUMS"
names=
for target in $targets; do
  os=${target%/*} arch=${target#*/} ending=
  [ "$os" != windows ] || ending=.exe
  name=cartorio-$os-$arch$ending
  # Git's state would differ between a clone and an archive of the same commit.
  GOOS=$os GOARCH=$arch "$go" build -trimpath -buildvcs=false -mod=readonly \
    -ldflags "-s -w -X main.version=$VERSION -X main.commit=${COMMIT:-}" -o "$out/$name" ./cmd/cartorio
  names="$names $name"
done
cd "$out"
# shellcheck disable=SC2086 # these are several names, without blanks
if command -v sha256sum >/dev/null; then
  sha256sum $names
else
  shasum -a 256 $names
fi | LC_ALL=C sort -k 2 >SHA256SUMS
printf '%s, %s\n' "$VERSION" "$("$go" version)"
cat SHA256SUMS
