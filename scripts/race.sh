#!/usr/bin/env bash
# Every test under the race detector, without brokers. The scripts of the command
# line are left out: they start hundreds of programs, each in a process of its own
# that shares no memory with another, and the hostile inputs, which are limits of
# time. Arguments go to `go test`.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
export CGO_ENABLED=1
mapfile -t packages < <("$go" list ./... | grep -v '/cmd/cartorio$')
"$go" test -race -timeout 30m "$@" "${packages[@]}"
"$go" test -race -timeout 30m -skip '^Test(Scripts|Hostile.*)$' "$@" ./cmd/cartorio
