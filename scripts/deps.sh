#!/usr/bin/env bash
# Prints the modules that are linked into the binary, one a line with its version.
set -euo pipefail
cd "$(dirname "$0")/.."
CGO_ENABLED=0 GOOS=linux GOARCH=amd64 ${GO:-go} list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}' ./cmd/cartorio | LC_ALL=C sort -u
