#!/usr/bin/env bash
# Real brokers for the tests, on free ports of the loopback, each with its data
# in a folder of its own that stop removes.
#
#   eval "$(scripts/brokers.sh start [rabbitmq]...)"   start, and set what the tests read
#   scripts/brokers.sh stop                            stop what that start began
#   scripts/brokers.sh run [rabbitmq]... -- COMMAND    start, run, stop; the command's exit code
#
# start prints only `export` lines on standard output. CARTORIO_BROKERS names
# the folder; stop needs it. A broker that is not installed is installed by apt
# when that is possible, and otherwise named loudly; then start exits 1.
# RABBITMQ_SERVER may name a server script that is not Debian's.
set -euo pipefail

say() { printf 'brokers: %s\n' "$*" >&2; }

# free_port prints a port of the loopback that nobody listens on.
free_port() {
  local p
  for _ in $(seq 50); do
    p=$((20000 + RANDOM % 12000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null; then
      echo "$p"
      return
    fi
  done
  say 'found no free port between 20000 and 32000'
  return 1
}

# await_port waits until a port opens, or the process dies.
await_port() { # PORT PID
  for _ in $(seq 900); do
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
    kill -0 "$2" 2>/dev/null || return 1
    sleep 0.1
  done
  return 1
}

# end asks a process to stop, and insists after 15 seconds.
end() { # PID
  kill -TERM "$1" 2>/dev/null || return 0
  for _ in $(seq 150); do
    kill -0 "$1" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -KILL "$1" 2>/dev/null || true
}

# need installs a Debian package when it can.
need() { # PACKAGE
  dpkg -s "$1" >/dev/null 2>&1 && return
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing $1"
    apt-get update -q >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$1" >&2 && return
    say "NOT AVAILABLE: apt could not install $1"
  else
    say "NOT AVAILABLE: $1 is not installed; as root, apt-get install $1"
  fi
  return 1
}

# The wrapper in /usr/sbin would switch to the user rabbitmq, its home and the
# default ports; the script inside the package runs as whoever calls it.
rabbitmq_server() {
  if [ -n "${RABBITMQ_SERVER:-}" ]; then
    echo "$RABBITMQ_SERVER"
    return
  fi
  need rabbitmq-server || return 1
  dpkg -L rabbitmq-server | grep '/rabbitmq_server-.*/sbin/rabbitmq-server$'
}

start_rabbitmq() { # FOLDER
  local server port dist epmd home=$1/rabbitmq
  server=$(rabbitmq_server) || return 1
  for _ in 1 2 3; do # a port may be taken between the look and the start
    rm -rf "$home"
    mkdir -p "$home"
    port=$(free_port) && dist=$(free_port) && epmd=$(free_port) || return 1
    cat > "$home/rabbitmq.conf" <<CONF
listeners.tcp.default = 127.0.0.1:$port
log.console = true
log.console.level = warning
log.file = false
vm_memory_high_watermark.absolute = 256MB
disk_free_limit.absolute = 50MB
CONF
    echo '[].' > "$home/enabled_plugins"
    echo "$epmd" > "$home/epmd"
    (
      cd "$home"
      exec env HOME="$home" RABBITMQ_CONF_ENV_FILE=/dev/null RABBITMQ_CONFIG_FILE="$home/rabbitmq.conf" \
        RABBITMQ_ENABLED_PLUGINS_FILE="$home/enabled_plugins" RABBITMQ_MNESIA_BASE="$home/mnesia" RABBITMQ_LOG_BASE="$home/log" \
        RABBITMQ_PID_FILE="$home/pid" RABBITMQ_NODENAME="cartorio$port@localhost" RABBITMQ_DIST_PORT="$dist" \
        ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT="$epmd" \
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1} +S 2:2 +sbwt none' \
        setsid "$server"
    ) > "$home/out" 2>&1 < /dev/null &
    echo $! > "$home/shell"
    if await_port "$port" $!; then
      echo "export CARTORIO_TEST_RABBITMQ=amqp://guest:guest@127.0.0.1:$port/"
      return
    fi
    say "RabbitMQ did not open its port $port; its log ends:"
    tail -20 "$home/out" >&2
    stop_rabbitmq "$1"
  done
  say 'NOT AVAILABLE: RabbitMQ could not be started'
  return 1
}

stop_rabbitmq() { # FOLDER
  local home=$1/rabbitmq
  [ -d "$home" ] || return 0
  # The shell that was started is not the broker: its own file names the process.
  if [ -s "$home/pid" ]; then end "$(cat "$home/pid")"; fi
  if [ -s "$home/shell" ]; then end "$(cat "$home/shell")"; fi
  # epmd is a daemon of its own and outlives the broker.
  if [ -s "$home/epmd" ]; then epmd -port "$(cat "$home/epmd")" -kill >/dev/null 2>&1 || true; fi
}

# Every broker is one start_NAME and one stop_NAME.
all=(rabbitmq)

start() {
  local folder name
  folder=$(mktemp -d "${TMPDIR:-/tmp}/cartorio-brokers.XXXXXX")
  trap 'stop "$folder"; exit 130' INT TERM
  [ $# -gt 0 ] || set -- "${all[@]}"
  for name in "$@"; do
    if ! declare -F "start_$name" >/dev/null; then
      say "no broker is called $name; there are: ${all[*]}"
      stop "$folder"
      return 64
    fi
    "start_$name" "$folder" || { stop "$folder"; return 1; }
  done
  trap - INT TERM
  echo "export CARTORIO_BROKERS=$folder"
}

stop() { # FOLDER
  local name
  case $1 in
    */cartorio-brokers.*) ;;
    *) say "not a folder of brokers: $1"; return 64 ;;
  esac
  [ -d "$1" ] || return 0
  for name in "${all[@]}"; do "stop_$name" "$1"; done
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
    settings=$(start ${names[@]+"${names[@]}"})
    eval "$settings"
    trap 'stop "$CARTORIO_BROKERS"' EXIT
    "$@"
    ;;
  *) sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac
