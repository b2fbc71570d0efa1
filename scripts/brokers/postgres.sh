# shellcheck shell=bash
# PostgreSQL from the Debian package, with fsync on and a log that Debezium can
# read. Sets CARTORIO_TEST_POSTGRES, a postgres:// URL of a role that may create
# databases, and CARTORIO_TEST_POSTGRES_PID for tests that kill the server.
# POSTGRES_BIN may name another folder with initdb and postgres.

# postgres_bin prints the folder of initdb and postgres, the newest there is.
postgres_bin() {
  local found
  if [ -n "${POSTGRES_BIN:-}" ]; then
    echo "$POSTGRES_BIN"
    return
  fi
  found=$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort -V | tail -1)
  if [ ! -x "$found" ]; then
    need postgresql || return 1
    found=$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort -V | tail -1)
  fi
  echo "${found%/initdb}"
}

# as_postgres runs a command, which initdb and postgres refuse to be for root, as
# another user. It becomes the command, so that a process id is the command's.
as_postgres() {
  if [ "$(id -u)" != 0 ]; then exec "$@"; fi
  local user=postgres
  id "$user" >/dev/null 2>&1 || user=nobody
  exec setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups -- "$@"
}

# run_postgres starts the server on the data it has, and prints its settings.
run_postgres() { # FOLDER
  local bin port home=$1/postgres
  bin=$(cat "$home/bin") && port=$(cat "$home/port")
  (
    cd "$home/run"
    as_postgres setsid "$bin/postgres" -D "$home/run/data" -p "$port"
  ) >> "$home/out" 2>&1 < /dev/null &
  record $! "$home/pid"
  # The port opens before the server takes questions: after a crash it recovers first.
  if await $! "$bin/pg_isready" -q -h 127.0.0.1 -p "$port"; then
    echo "export CARTORIO_TEST_POSTGRES='postgres://cartorio:cartorio@127.0.0.1:$port/postgres?sslmode=disable'"
    echo "export CARTORIO_TEST_POSTGRES_PID=$!"
    return
  fi
  say "PostgreSQL did not answer on its port $port; its log ends:"
  tail -20 "$home/out" >&2
  return 1
}

start_postgres() { # FOLDER
  local bin port home=$1/postgres
  bin=$(postgres_bin) || return 1
  for _ in 1 2 3; do # a port may be taken between the look and the start
    rm -rf "$home"
    mkdir -p "$home/run"
    port=$(free_port) || return 1
    echo "$port" > "$home/port"
    echo "$bin" > "$home/bin"
    echo cartorio > "$home/password"
    if [ "$(id -u)" = 0 ]; then
      # The other user passes through the folder above and owns one inside.
      chmod 711 "$1" "$home"
      chown "$(id -u postgres 2>/dev/null || id -u nobody)" "$home/run"
    fi
    if ! (
      cd "$home/run"
      as_postgres "$bin/initdb" -D "$home/run/data" -U cartorio -A scram-sha-256 --pwfile "$home/password" -E UTF8 --locale C --no-sync --no-instructions
    ) > "$home/out" 2>&1; then
      say 'initdb failed; it said:'
      tail -20 "$home/out" >&2
      return 1
    fi
    cat > "$home/run/cartorio.conf" <<CONF
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
shared_buffers = 64MB
fsync = on
synchronous_commit = on
full_page_writes = on
wal_level = logical
CONF
    chmod 644 "$home/run/cartorio.conf"
    echo "include '$home/run/cartorio.conf'" >> "$home/run/data/postgresql.conf"
    run_postgres "$1" && return
    stop_postgres "$1"
  done
  say 'NOT AVAILABLE: PostgreSQL could not be started'
  return 1
}

stop_postgres() { # FOLDER
  local pid
  pid=$(recorded "$1/postgres/pid") || return 0
  # TERM alone would wait for every client to leave.
  kill -INT "$pid" 2>/dev/null || true
  end "$pid"
}

restart_postgres() { # FOLDER
  stop_postgres "$1"
  # The children of a server that was killed hold its memory for a moment.
  for _ in 1 2 3 4 5; do
    run_postgres "$1" && return
    sleep 1
  done
  return 1
}
