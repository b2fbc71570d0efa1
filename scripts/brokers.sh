#!/usr/bin/env bash
# Real brokers and databases for the tests, on free ports of the loopback, each
# with its data in a folder of its own that stop removes.
#
#   eval "$(scripts/brokers.sh start [NAME]...)"   start, and set what the tests read
#   eval "$(scripts/brokers.sh start --any)"       start what can be had; the rest is in CARTORIO_BROKERS_MISSING
#   eval "$(scripts/brokers.sh start --owner PID)" what a later start ends, if that process is gone by then
#   scripts/brokers.sh stop                        stop what that start began
#   scripts/brokers.sh restart NAME                stop one and start it on the same data and port
#   scripts/brokers.sh run [NAME]... -- COMMAND    start, run, stop; the command's exit code
#   scripts/brokers.sh sweep                       stop what is owned by processes that are gone
#   scripts/brokers.sh list                        the names
#
# start prints only `export` lines on standard output. CARTORIO_BROKERS names
# the folder; stop needs it. A package that is not installed is installed by apt
# when that is possible; what cannot be started is named loudly, and start exits
# 1, but for --any. A broker whose CARTORIO_TEST_NAME is set is not started.
#
# Each broker is a file brokers/NAME.sh with two functions: start_NAME FOLDER
# starts it with its data under FOLDER/NAME and prints `export` lines, of which
# one sets CARTORIO_TEST_NAME; stop_NAME FOLDER ends it, whatever was started.
# restart_NAME FOLDER may be there too, and prints what start_NAME does.
# Several start at once, so each takes its own ports. Whom they start they write
# down with record, and find again with recorded (processes.sh).
set -euo pipefail

say() { printf 'brokers: %s\n' "$*" >&2; }

# shellcheck source=scripts/processes.sh
. "$(dirname "${BASH_SOURCE[0]}")/processes.sh"

# await waits until a command succeeds, 90 seconds at most, or the process dies.
await() { # PID COMMAND...
  local pid=$1
  shift
  for _ in $(seq 900); do
    "$@" 2>/dev/null && return
    kill -0 "$pid" 2>/dev/null || return 1
    sleep 0.1
  done
  return 1
}

is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1"); } # PORT

# await_port waits until a port opens, or the process dies.
await_port() { await "$2" is_open "$1"; } # PORT PID

# need installs Debian packages when it can; one at a time does, since apt takes
# no two.
need() { # PACKAGE...
  dpkg -s "$@" >/dev/null 2>&1 && return
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    say "NOT AVAILABLE: not installed: as root, apt-get install $*"
    return 1
  fi
  say "installing $*"
  (
    flock 9
    dpkg -s "$@" >/dev/null 2>&1 && exit
    apt-get update -q >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@" >&2
  ) 9> "${TMPDIR:-/tmp}/cartorio-apt.lock" && return
  say "NOT AVAILABLE: apt could not install $*"
  return 1
}

all=()
for file in "$(dirname "${BASH_SOURCE[0]}")"/brokers/*.sh; do
  # shellcheck source=/dev/null
  . "$file"
  file=${file##*/}
  all+=("${file%.sh}")
done

# start_one starts a broker unless its setting is there, and leaves what it
# prints in a file.
start_one() { # FOLDER NAME
  local setting=CARTORIO_TEST_${2^^}
  [ -z "${!setting:-}" ] || return 0
  "start_$2" "$1" > "$1/$2.settings"
}

start() {
  local folder name any='' owner='' missing=()
  while :; do
    case ${1:-} in
      --any) any=1; shift ;;
      --owner) owner=${2:?--owner is followed by the id of a process}; shift 2 ;;
      *) break ;;
    esac
  done
  [ $# -gt 0 ] || set -- "${all[@]}"
  for name in "$@"; do
    if ! declare -F "start_$name" >/dev/null; then
      say "no broker is called $name; there are: ${all[*]}"
      return 64
    fi
  done
  sweep cartorio-brokers
  folder=$(mktemp -d "${TMPDIR:-/tmp}/cartorio-brokers.XXXXXX")
  [ -z "$owner" ] || record "$owner" "$folder/owner"
  ports=$folder/ports
  mkdir "$ports"
  local -A starting=()
  # What still starts is ended first, else it would start a broker after the stop.
  trap 'trap "" INT TERM HUP; kill "${starting[@]}" 2>/dev/null || true; wait; stop "$folder"; exit 130' INT TERM HUP
  for name in "$@"; do
    start_one "$folder" "$name" & starting[$name]=$!
  done
  for name in "$@"; do
    if ! wait "${starting[$name]}"; then
      stop_one "$folder" "$name"
      rm -f "$folder/$name.settings"
      missing+=("$name")
    fi
  done
  trap - INT TERM HUP
  if [ -z "$any" ] && [ ${#missing[@]} -gt 0 ]; then
    stop "$folder"
    return 1
  fi
  cat "$folder"/*.settings 2>/dev/null || true
  echo "export CARTORIO_BROKERS=$folder"
  echo "export CARTORIO_BROKERS_MISSING='${missing[*]-}'"
}

stop_one() { # FOLDER NAME
  [ ! -d "$1/$2" ] || "stop_$2" "$1"
}

stop() { # FOLDER
  local name
  case $1 in
    */cartorio-brokers.*) ;;
    *) say "not a folder of brokers: $1"; return 64 ;;
  esac
  [ -d "$1" ] || return 0
  for name in "${all[@]}"; do stop_one "$1" "$name" & done
  wait
  rm -rf "$1"
}

case ${1:-} in
  start) shift; start "$@" ;;
  stop)
    [ -n "${2:-${CARTORIO_BROKERS:-}}" ] || { say 'nothing to stop: CARTORIO_BROKERS is not set'; exit 64; }
    stop "${2:-$CARTORIO_BROKERS}"
    ;;
  run)
    shift
    names=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do names+=("$1"); shift; done
    [ $# -gt 1 ] || { say 'usage: brokers.sh run [BROKER]... -- COMMAND'; exit 64; }
    shift
    settings=$(mktemp)
    trap 'trap "" INT TERM HUP; rm -f "$settings"; stop_own cartorio-brokers' EXIT
    guard "$0" start --owner $$ ${names[@]+"${names[@]}"} > "$settings"
    # shellcheck source=/dev/null
    . "$settings"
    guard "$@"
    ;;
  restart)
    declare -F "restart_${2:-}" >/dev/null || { say "usage: brokers.sh restart NAME, of a broker that can: ${all[*]}"; exit 64; }
    [ -d "${CARTORIO_BROKERS:-}/$2" ] || { say "$2 was not started: CARTORIO_BROKERS names no folder of it"; exit 64; }
    "restart_$2" "$CARTORIO_BROKERS"
    ;;
  sweep) sweep cartorio-brokers ;;
  list) printf '%s\n' "${all[@]}" ;;
  *) sed -n '2,27s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac
