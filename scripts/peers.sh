#!/usr/bin/env bash
# A second registry for the tests: Apicurio, behind its Confluent-compatible API,
# on a free port of the loopback, with its data in memory.
#
#   eval "$(scripts/peers.sh start)"   start, and set what the tests read
#   eval "$(scripts/peers.sh start --owner PID)"  what a later start ends, if that process is gone by then
#   scripts/peers.sh stop              stop what that start began
#   scripts/peers.sh run -- COMMAND    start, run, stop; the command's exit code
#
# start prints only `export` lines on standard output. CARTORIO_PEERS names the
# folder; stop needs it. The program comes from Maven Central and stays in the
# local Maven repository, unpacked in ~/.cache/cartorio. What is missing is named
# loudly, and start then exits 1.
set -euo pipefail

# The newest line that runs on Java 17, which Debian 12 has.
version=3.0.9
cache=${XDG_CACHE_HOME:-$HOME/.cache}/cartorio/apicurio-$version

say() { printf 'peers: %s\n' "$*" >&2; }

# shellcheck source=scripts/processes.sh
. "$(dirname "${BASH_SOURCE[0]}")/processes.sh"

# fetch unpacks the program once; a second start finds it whole or not at all.
fetch() {
  [ -d "$cache" ] && return
  command -v mvn >/dev/null || { say 'NOT AVAILABLE: Apicurio comes by mvn, which is not installed'; return 1; }
  local file=${MAVEN_REPOSITORY:-$HOME/.m2/repository}/io/apicurio/apicurio-registry-app/$version/apicurio-registry-app-$version-all.tar.gz
  if [ ! -s "$file" ]; then
    say "fetching Apicurio $version"
    mvn -q -B dependency:get -Dtransitive=false -Dartifact="io.apicurio:apicurio-registry-app:$version:tar.gz:all" >&2 || { say 'NOT AVAILABLE: Apicurio could not be fetched'; return 1; }
  fi
  mkdir -p "${cache%/*}"
  local part
  part=$(mktemp -d "$cache.XXXXXX")
  tar -xzf "$file" -C "$part" || { rm -rf "$part"; say "NOT AVAILABLE: $file does not unpack"; return 1; }
  mv -T "$part" "$cache" 2>/dev/null || rm -rf "$part" # another was faster
}

# answer prints the first line that the registry answers, or nothing.
answer() { # PORT
  {
    exec 3<>"/dev/tcp/127.0.0.1/$1" && printf 'GET /apis/ccompat/v7/subjects HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' >&3 && timeout 10 head -1 <&3
  } 2>/dev/null || true
}

start() {
  local owner=
  if [ "${1:-}" = --owner ]; then owner=${2:?--owner is followed by the id of a process}; fi
  sweep cartorio-peers
  command -v java >/dev/null || { say 'NOT AVAILABLE: Apicurio needs Java 17, which is not installed'; return 1; }
  fetch || return 1
  local folder port url
  folder=$(mktemp -d "${TMPDIR:-/tmp}/cartorio-peers.XXXXXX")
  trap 'trap "" INT TERM HUP; stop "$folder"; exit 130' INT TERM HUP
  [ -z "$owner" ] || record "$owner" "$folder/owner"
  port=$(free_port) || { rm -rf "$folder"; return 1; }
  (
    cd "$folder"
    exec env QUARKUS_HTTP_HOST=127.0.0.1 QUARKUS_HTTP_PORT="$port" \
      setsid java -Xmx400m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.io.tmpdir="$folder" -jar "$cache/apicurio-registry-app-$version-runner.jar"
  ) > "$folder/out" 2>&1 < /dev/null &
  record $! "$folder/pid"
  url=http://127.0.0.1:$port/apis/ccompat/v7
  for _ in $(seq 1200); do
    if [[ $(answer "$port") == *' 200 '* ]]; then
      echo "export CARTORIO_TEST_PEER=$url"
      echo "export CARTORIO_PEERS=$folder"
      return
    fi
    recorded "$folder/pid" >/dev/null || break
    sleep 0.1
  done
  say "NOT AVAILABLE: Apicurio did not answer at $url; its log ends:"
  tail -20 "$folder/out" >&2
  stop "$folder"
  return 1
}

stop() { # FOLDER
  case $1 in
    */cartorio-peers.*) ;;
    *) say "not a folder of peers: $1"; return 64 ;;
  esac
  [ -d "$1" ] || return 0
  local pid
  ! pid=$(recorded "$1/pid") || end "$pid"
  rm -rf "$1"
}

case ${1:-} in
  start) shift; start "$@" ;;
  stop)
    [ -n "${2:-${CARTORIO_PEERS:-}}" ] || { say 'nothing to stop: CARTORIO_PEERS is not set'; exit 64; }
    stop "${2:-$CARTORIO_PEERS}"
    ;;
  run)
    shift
    [ $# -gt 1 ] && [ "$1" = -- ] || { say 'usage: peers.sh run -- COMMAND'; exit 64; }
    shift
    settings=$(mktemp)
    trap 'trap "" INT TERM HUP; rm -f "$settings"; stop_own cartorio-peers' EXIT
    guard "$0" start --owner $$ > "$settings"
    # shellcheck source=/dev/null
    . "$settings"
    guard "$@"
    ;;
  *) sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac
