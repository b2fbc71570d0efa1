#!/usr/bin/env bash
# Runs every test against the real parts they need, and says loudly what could
# not run. Arguments go to `go test`.
set -uo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
missing=()

if [ -z "${CARTORIO_TEST_RABBITMQ:-}" ]; then
  if settings=$(scripts/brokers.sh start rabbitmq); then
    eval "$settings"
    trap 'scripts/brokers.sh stop >/dev/null 2>&1' EXIT
  else
    missing+=("RabbitMQ could not be started: the tests of clients/rabbitmq and examples/rabbitmq on a real broker did not run")
  fi
fi
command -v git >/dev/null || missing+=("git is not installed: the tests of git: bases did not run")
[ -n "${CARTORIO_CONFORMANCE:-}" ] || missing+=("CARTORIO_CONFORMANCE is not set: no outside case folder was run (the project's own cases were)")

"$go" test "$@" ./...
status=$?

for m in ${missing[@]+"${missing[@]}"}; do
  printf '\nNOT RUN: %s\n' "$m"
done
exit $status
