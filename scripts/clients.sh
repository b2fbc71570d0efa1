#!/usr/bin/env bash
# Runs the programs of clients/suites, which use foreign clients as their users
# do, against a server of this tree. Every client first proves what it offers and
# writes messages; then each reads what all have written.
#
#   scripts/clients.sh              all of them, then a short fuzzing of the HTTP surface
#   scripts/clients.sh NAME...      some of: confluent-go franz-go python node java fuzz
#   scripts/clients.sh install [NAME]...
#
# Clients are installed by their own package managers, pinned, below
# CARTORIO_CACHE (~/.cache/cartorio), and kept there. What cannot be installed is
# named loudly, and fails the run only when CI=true.
set -uo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
suites=$PWD/clients/suites
cache=${CARTORIO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cartorio}/clients
all=(confluent-go franz-go python node java fuzz)
say() { printf 'clients: %s\n' "$*" >&2; }

only_install=
if [ "${1:-}" = install ]; then
  only_install=yes
  shift
fi
for name in "$@"; do
  case " ${all[*]} " in
    *" $name "*) ;;
    *) say "no suite is called $name; there are: ${all[*]}"; exit 64 ;;
  esac
done
# Everything but installing is done beside a server.
if [ -z "$only_install" ] && [ -z "${CARTORIO_URL:-}" ]; then
  exec scripts/server.sh run "$0" "$@"
fi

missing=()
installed=()

# debian installs packages when it can.
debian() { # PACKAGE...
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing $*"
    apt-get update -q >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@" >&2 && return
  fi
  say "apt could not install $*"
  return 1
}

# need sees to a command that may have to be installed.
need() { # COMMAND PACKAGE...
  command -v "$1" >/dev/null || debian "${@:2}"
}

# ready says whether a folder of the cache was made from just these files.
# Otherwise it is emptied, and made by the caller, who then calls made.
ready() { # FOLDER FILE...
  stamp=$(cat "${@:2}" | sha256sum)
  [ "$(cat "$1/.made" 2>/dev/null)" = "$stamp" ] && return
  rm -rf "$1"
  mkdir -p "$1"
  return 1
}
made() { echo "$stamp" > "$1/.made"; }

install_confluent-go() {
  need gcc gcc libc6-dev && (cd "$suites/confluent-go" && GOWORK=off CGO_ENABLED=1 "$go" build -o "$cache/confluent-go" .)
}

install_franz-go() {
  (cd "$suites/franz-go" && GOWORK=off CGO_ENABLED=0 "$go" build -o "$cache/franz-go" .)
}

# venv makes a virtual environment from a list of pinned packages.
venv() { # FOLDER LIST
  need python3 python3 python3-venv || return
  ready "$1" "$2" <(python3 --version) && return
  python3 -m venv "$1" 2>/dev/null || { debian python3-venv && python3 -m venv "$1"; } || return
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$2" >&2 && made "$1"
}

install_python() { venv "$cache/python" "$suites/python/requirements.txt"; }

install_fuzz() { venv "$cache/schemathesis" "$suites/schemathesis/requirements.txt"; }

install_node() {
  need node nodejs npm && need npm npm || return
  node -e 'process.exit(process.versions.node.split(".")[0] < 18 ? 1 : 0)' || { say "node is older than 18: $(node --version)"; return 1; }
  if ! ready "$cache/node" "$suites/node/package-lock.json" <(node --version); then
    cp "$suites/node/package.json" "$suites/node/package-lock.json" "$cache/node/"
    (cd "$cache/node" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2) && made "$cache/node" || return
  fi
  cp "$suites"/node/*.js "$cache/node/"
}

install_java() {
  need javac default-jdk-headless && need mvn maven || return
  ready "$cache/java" "$suites/java/pom.xml" "$suites"/java/src/main/java/suite/*.java && return
  cp -r "$suites/java/pom.xml" "$suites/java/src" "$cache/java/"
  (cd "$cache/java" && mvn -q -B compile >&2) && made "$cache/java"
}

# Each suite has the programs it runs, once to write and once to read. They end
# within seconds; one that hangs is ended, and then lacks its closing line.
program() { timeout 300 "$@"; }
run_confluent-go() { program "$cache/confluent-go" "$@"; }
run_franz-go() { program "$cache/franz-go" "$@"; }
run_python() {
  for script in run_confluent_kafka run_schema_registry_client; do
    program "$cache/python/bin/python" -B "$suites/python/$script.py" "$@"
  done
}
run_node() {
  (
    cd "$cache/node" || exit 1
    program node confluent.js "$@"
    for package in @kafkajs/confluent-schema-registry kafkajs-confluent-schema-registry-3; do
      program node kafkajs.js "$@" "$package"
    done
  )
}
run_java() {
  local classes="$cache/java/target/classes:$cache/java/target/lib/*"
  program java -cp "$classes" suite.Main confluent "$@"
  [ "$3" = read ] || program java -cp "$classes" suite.Main spring "$@"
}

# programs is how many closing lines a suite must print in a phase: a program
# that ends without one has failed, whatever else it said.
programs() { # NAME PHASE
  case $1/$2 in
    python/*) echo 2 ;;
    node/*) echo 3 ;;
    java/write) echo 2 ;;
    *) echo 1 ;;
  esac
}

mkdir -p "$cache"
[ $# -gt 0 ] || set -- "${all[@]}"
exec 9> "$cache/lock"
flock 9 # one installs at a time
for name in "$@"; do
  if "install_$name"; then installed+=("$name"); else missing+=("$name could not be installed: its suite did not run"); fi
done
flock -u 9
if [ -n "$only_install" ]; then
  [ ${#missing[@]} -eq 0 ] || printf 'clients: %s\n' "${missing[@]}" >&2
  exit $((${#missing[@]} > 0))
fi

export CARTORIO_SUITES=$suites
exchange=$(mktemp -d "${TMPDIR:-/tmp}/cartorio-exchange.XXXXXX")
trap 'rm -rf "$exchange"' EXIT
passed=0 failed=0
for phase in write read; do
  for name in ${installed[@]+"${installed[@]}"}; do
    [ "$name" != fuzz ] || continue
    out=$("run_$name" "$CARTORIO_URL" "$exchange" "$phase" 2> "$exchange.err")
    printf '%s\n' "$out"
    lines=0
    while read -r p f; do
      lines=$((lines + 1)) passed=$((passed + p)) failed=$((failed + f))
    done < <(sed -nE 's/^.*: ([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' <<< "$out")
    if [ "$lines" -ne "$(programs "$name" "$phase")" ]; then
      printf 'FAIL %s: a program of the suite ended in the middle of %s\n' "$name" "$phase"
      cat "$exchange.err"
      failed=$((failed + 1))
    fi
    rm -f "$exchange.err"
  done
done

case " ${installed[*]:-} " in
  *' fuzz '*)
    # A registry of its own, which the suites have not filled.
    if env -u CARTORIO_URL scripts/schemathesis.sh "$([ "${CI:-}" = true ] && echo 60 || echo 15)"; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
    fi
    ;;
esac

for m in ${missing[@]+"${missing[@]}"}; do
  printf '\nNOT RUN: %s\n' "$m"
done
printf 'clients: %d passed, %d failed\n' "$passed" "$failed"
if [ ${#missing[@]} -gt 0 ] && [ "${CI:-}" = true ]; then
  say 'the suites above are part of CI: what they need must be installed'
  exit 1
fi
[ "$failed" -eq 0 ]
