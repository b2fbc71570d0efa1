#!/usr/bin/env bash
# Kafka Connect with Debezium's connector for PostgreSQL, for the tests that run it.
#
#   export CARTORIO_TEST_CONNECT=$(scripts/debezium.sh jars)   the folder of the jars
#   scripts/debezium.sh test [ARGUMENT]...                     the suite alone, beside a Kafka and a PostgreSQL of its own
#
# The jars are those of clients/suites/debezium/pom.xml, 41 MB, fetched by Maven
# the first time and kept in CARTORIO_CACHE (~/.cache/cartorio). What is missing is
# named loudly; jars then exits 1. Arguments of test go to `go test`.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf 'debezium: %s\n' "$*" >&2; }

jars() {
  local pom=clients/suites/debezium/pom.xml cache libs part
  cache=${CARTORIO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cartorio}
  libs=$cache/debezium-$(sha256sum < "$pom" | cut -c1-12)
  if [ ! -d "$libs" ]; then
    for command in java mvn; do
      command -v "$command" >/dev/null || { say "NOT AVAILABLE: it needs $command, which is not installed"; return 1; }
    done
    say 'fetching Kafka Connect and Debezium'
    mkdir -p "$cache"
    part=$(mktemp -d "$libs.XXXXXX")
    if ! mvn -q -B -f "$pom" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$part/libs" >&2; then
      say 'NOT AVAILABLE: the jars could not be fetched'
      rm -rf "$part"
      return 1
    fi
    # Another may have been quicker; the jars are the same.
    mv -T "$part/libs" "$libs" 2>/dev/null || true
    rm -rf "$part"
  fi
  echo "$libs"
}

case ${1:-} in
  jars) jars ;;
  test) # the brokers first, which install Java and Maven where they can
    shift
    scripts/brokers.sh run kafka postgres -- scripts/debezium.sh beside "$@"
    ;;
  beside)
    shift
    CARTORIO_TEST_CONNECT=$(jars)
    export CARTORIO_TEST_CONNECT
    "${GO:-go}" test -count 1 -timeout 10m -v "$@" ./clients/suites/debezium
    ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac
