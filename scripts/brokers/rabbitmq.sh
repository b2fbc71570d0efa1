# shellcheck shell=bash
# RabbitMQ from the Debian package, with its plug-ins for STOMP and management.
# Sets CARTORIO_TEST_RABBITMQ, an amqp:// URL, CARTORIO_TEST_RABBITMQ_STOMP,
# host:port, CARTORIO_TEST_RABBITMQ_MANAGEMENT, an http:// URL, and
# CARTORIO_TEST_RABBITMQ_PID for tests that pause the broker.
# RABBITMQ_SERVER may name a server script that is not Debian's.

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
  local port dist epmd stomp management home=$1/rabbitmq
  rabbitmq_server >/dev/null || return 1
  for _ in 1 2 3; do # a port may be taken between the look and the start
    rm -rf "$home"
    mkdir -p "$home"
    port=$(free_port) && dist=$(free_port) && epmd=$(free_port) && stomp=$(free_port) && management=$(free_port) || return 1
    cat > "$home/rabbitmq.conf" <<CONF
listeners.tcp.default = 127.0.0.1:$port
stomp.listeners.tcp.1 = 127.0.0.1:$stomp
management.tcp.ip = 127.0.0.1
management.tcp.port = $management
log.console = true
log.console.level = warning
log.file = false
vm_memory_high_watermark.absolute = 256MB
disk_free_limit.absolute = 50MB
CONF
    echo '[rabbitmq_stomp,rabbitmq_management].' > "$home/enabled_plugins"
    echo "$epmd" > "$home/epmd"
    echo "$port $dist $stomp $management" > "$home/ports"
    rabbitmq_run "$home" && return
    stop_rabbitmq "$1"
  done
  say 'NOT AVAILABLE: RabbitMQ could not be started'
  return 1
}

# rabbitmq_run starts the broker on the data that is there and prints its settings.
rabbitmq_run() { # HOME
  local server port dist stomp management shell
  server=$(rabbitmq_server) || return 1
  read -r port dist stomp management < "$1/ports"
  rm -f "$1/pid"
  (
    cd "$1"
    exec env HOME="$1" RABBITMQ_CONF_ENV_FILE=/dev/null RABBITMQ_CONFIG_FILE="$1/rabbitmq.conf" \
      RABBITMQ_ENABLED_PLUGINS_FILE="$1/enabled_plugins" RABBITMQ_MNESIA_BASE="$1/mnesia" RABBITMQ_LOG_BASE="$1/log" \
      RABBITMQ_PID_FILE="$1/pid" RABBITMQ_NODENAME="cartorio$port@localhost" RABBITMQ_DIST_PORT="$dist" \
      ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT="$(cat "$1/epmd")" \
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1} +S 2:2 +sbwt none' \
      setsid "$server"
  ) >> "$1/out" 2>&1 < /dev/null &
  shell=$!
  record "$shell" "$1/shell"
  if ! await_port "$port" "$shell" || ! await_port "$stomp" "$shell" || ! await_port "$management" "$shell"; then
    say "RabbitMQ did not open its port $port; its log ends:"
    tail -20 "$1/out" >&2
    return 1
  fi
  echo "export CARTORIO_TEST_RABBITMQ=amqp://guest:guest@127.0.0.1:$port/ CARTORIO_TEST_RABBITMQ_STOMP=127.0.0.1:$stomp CARTORIO_TEST_RABBITMQ_MANAGEMENT=http://guest:guest@127.0.0.1:$management CARTORIO_TEST_RABBITMQ_PID=$(cat "$1/pid")"
}

# restart_rabbitmq stops the broker if it runs and starts it on the same data and ports.
restart_rabbitmq() { # FOLDER
  local home=$1/rabbitmq
  rabbitmq_end "$home"
  rabbitmq_run "$home"
}

# rabbitmq_end ends the broker. The shell that was started may not be the broker,
# nor live as long: all are of the session that it began, and what the broker's own
# file names is asked first, so that it stops cleanly.
rabbitmq_end() { # HOME
  local shell pid
  [ -s "$1/shell" ] || return 0
  read -r shell _ < "$1/shell"
  for pid in $(cat "$1/pid" 2>/dev/null) "$shell" $(in_session "$shell"); do
    [[ " $(in_session "$shell" | tr '\n' ' ')" == *" $pid "* ]] || continue
    kill -CONT "$pid" 2>/dev/null || true # a test may have paused it
    end "$pid"
  done
}

stop_rabbitmq() { # FOLDER
  local home=$1/rabbitmq
  [ -d "$home" ] || return 0
  rabbitmq_end "$home"
  # epmd is a daemon of its own and outlives the broker.
  if [ -s "$home/epmd" ]; then epmd -port "$(cat "$home/epmd")" -kill >/dev/null 2>&1 || true; fi
}
