# shellcheck shell=bash
# RabbitMQ from the Debian package, with its STOMP plug-in. Sets
# CARTORIO_TEST_RABBITMQ, an amqp:// URL, and CARTORIO_TEST_RABBITMQ_STOMP,
# host:port.
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
  local server port dist epmd stomp home=$1/rabbitmq
  server=$(rabbitmq_server) || return 1
  for _ in 1 2 3; do # a port may be taken between the look and the start
    rm -rf "$home"
    mkdir -p "$home"
    port=$(free_port) && dist=$(free_port) && epmd=$(free_port) && stomp=$(free_port) || return 1
    cat > "$home/rabbitmq.conf" <<CONF
listeners.tcp.default = 127.0.0.1:$port
stomp.listeners.tcp.1 = 127.0.0.1:$stomp
log.console = true
log.console.level = warning
log.file = false
vm_memory_high_watermark.absolute = 256MB
disk_free_limit.absolute = 50MB
CONF
    echo '[rabbitmq_stomp].' > "$home/enabled_plugins"
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
    if await_port "$port" $! && await_port "$stomp" $!; then
      echo "export CARTORIO_TEST_RABBITMQ=amqp://guest:guest@127.0.0.1:$port/ CARTORIO_TEST_RABBITMQ_STOMP=127.0.0.1:$stomp"
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
