#!/usr/bin/env bash
# Runs every test against the real parts they need, and says loudly what could
# not run; with CI=true that is a failure. Arguments go to `go test`.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
go=${GO:-go}
missing=()
stop() { # FOLDER
  case $1 in
    */cartorio-brokers.*) scripts/brokers.sh stop "$1" ;;
    *) scripts/peers.sh stop "$1" ;;
  esac
}
# shellcheck source=scripts/processes.sh
. scripts/processes.sh

# Whatever ends this run ends what it started. What is killed outright is ended by
# the next run, which knows it by --owner.
finish() {
  trap '' INT TERM HUP
  stop_own cartorio-brokers
  stop_own cartorio-peers
  scripts/brokers.sh sweep # of tests that were ended
  rm -f "$settings"
}
settings=$(mktemp)
trap 'finish >/dev/null 2>&1' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

if guard scripts/brokers.sh start --any --owner $$ > "$settings"; then
  # shellcheck source=/dev/null
  . "$settings"
else
  CARTORIO_BROKERS_MISSING=$(scripts/brokers.sh list)
fi
for name in $CARTORIO_BROKERS_MISSING; do
  missing+=("$name could not be started: no test on a real $name ran")
done
if [ -z "${CARTORIO_TEST_PEER:-}" ]; then
  if guard scripts/peers.sh start --owner $$ > "$settings"; then
    # shellcheck source=/dev/null
    . "$settings"
  else
    missing+=("a registry of another maker could not be started: no migration in from it and out to it was tried")
  fi
fi
if [ -z "${CARTORIO_TEST_CONNECT:-}" ] && [ -n "${CARTORIO_TEST_KAFKA:-}" ] && [ -n "${CARTORIO_TEST_POSTGRES:-}" ]; then
  CARTORIO_TEST_CONNECT=$(scripts/debezium.sh jars) || CARTORIO_TEST_CONNECT=
fi
if [ -n "${CARTORIO_TEST_CONNECT:-}" ]; then
  export CARTORIO_TEST_CONNECT
else
  missing+=("Kafka Connect with Debezium is not to be had, or Kafka and PostgreSQL are not: no outbox was read by Debezium")
fi
command -v git >/dev/null || missing+=("git is not installed: the tests of git: bases did not run")
outside=()
[ -n "${CARTORIO_CONFORMANCE:-}" ] || outside+=("CARTORIO_CONFORMANCE is not set: no outside case folder was run (the project's own cases were)")
[ -n "${CARTORIO_BUF:-}" ] || outside+=("CARTORIO_BUF is not set: the gate was not timed beside buf")
[ -n "${CARTORIO_TEST_IMAGE:-}" ] || outside+=("CARTORIO_TEST_IMAGE is not set: no image of the Dockerfile was built (make image builds both)")
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || outside+=("chromium is not installed: no page was laid out in a browser")
[ -n "${CARTORIO_TEST_PACKAGES:-}" ] || outside+=("CARTORIO_TEST_PACKAGES is not set: the snippets for pre-commit, Maven and Gradle were not run with those tools")

guard "$go" test -timeout 30m "$@" ./...
status=$?
# A module of its own, so that watermill stays out of the product's.
if (cd examples/watermill && "$go" mod download) >/dev/null 2>&1; then
  guard env -C examples/watermill "$go" test -timeout 5m "$@" ./... || status=1
else
  missing+=("the modules of watermill could not be fetched: examples/watermill was not compiled")
fi

if [ $# -eq 0 ]; then
  guard scripts/clients.sh || status=1 # it names by itself what it could not run
else
  outside+=("arguments were given for go test: the programs of clients/suites were left out")
fi

for m in ${missing[@]+"${missing[@]}"} ${outside[@]+"${outside[@]}"}; do
  printf '\nNOT RUN: %s\n' "$m"
done
if [ "${CI:-}" = true ] && [ ${#missing[@]} -gt 0 ]; then
  echo 'the tests above are part of CI: what they need must start' >&2
  [ $status -ne 0 ] || status=1
fi
exit $status
