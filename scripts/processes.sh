# shellcheck shell=bash
# What scripts that start servers share. A process is told by its id and by when
# it began, since ids are given out again; none is ever looked for by its name.

# free_port prints a port of the loopback that nobody listens on. Of those that
# ask for one at once none gets another's: where ports names a folder, a port that
# was given out is written down there.
free_port() {
  local p
  for _ in $(seq 50); do
    p=$((20000 + RANDOM % 12000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null && { [ -z "${ports:-}" ] || mkdir "$ports/$p" 2>/dev/null; }; then
      echo "$p"
      return
    fi
  done
  say 'found no free port between 20000 and 32000'
  return 1
}

# stat_of prints fields of a process: its state, its session and when it began, in
# ticks since the machine did. It fails when there is no such process any more.
stat_of() { # PID
  local line field
  read -r line 2>/dev/null < "/proc/$1/stat" || return 1
  read -ra field <<< "${line##*) }" # the name before it may hold anything
  [ "${field[0]}" != Z ] || return 1
  echo "${field[0]} ${field[3]} ${field[19]}"
}

# born prints when a process began.
born() { # PID
  local fields
  fields=$(stat_of "$1") && echo "${fields##* }"
}

# record writes a process down.
record() { # PID FILE
  echo "$1 $(born "$1")" > "$2"
}

# recorded prints the id of a process that was written down, if it is still that
# one. A file with an id alone is believed.
recorded() { # FILE
  local pid began
  read -r pid began 2>/dev/null < "$1" || [ -n "${pid:-}" ] || return 1
  [ "${began:-$(born "$pid")}" = "$(born "$pid")" ] && echo "$pid"
}

# in_session prints the processes of a session, which is named by the id of who
# began it.
in_session() { # PID
  local file fields
  for file in /proc/[0-9]*/stat; do
    file=${file%/stat}
    if fields=$(stat_of "${file##*/}") && [[ $fields == *" $1 "* ]]; then echo "${file##*/}"; fi
  done
}

# end asks a process to stop, and insists after 15 seconds.
end() { # PID
  kill -TERM "$1" 2>/dev/null || return 0
  for _ in $(seq 150); do
    stat_of "$1" >/dev/null || return 0
    sleep 0.1
  done
  kill -KILL "$1" 2>/dev/null || true
}

# sweep stops what earlier runs left behind: the folders whose owner was written
# down and is gone. Those without an owner are whoever's who started them, and what
# another user has written down there is not believed.
sweep() { # PREFIX
  local folder
  for folder in "${TMPDIR:-/tmp}/$1".*; do
    if [ ! -O "$folder" ] || [ ! -s "$folder/owner" ] || recorded "$folder/owner" >/dev/null; then continue; fi
    say "ending what an interrupted run left in $folder"
    stop "$folder"
  done
}

# stop_own stops the folders whose owner is this script.
stop_own() { # PREFIX
  local folder
  for folder in "${TMPDIR:-/tmp}/$1".*; do
    if [ "$(recorded "$folder/owner" 2>/dev/null)" = $$ ]; then stop "$folder"; fi
  done
}

# end_group asks a command of guard to stop, and all that it has started. It is
# asked again: between fork and exec a shell's child takes a signal for its parent's.
end_group() { # PID
  trap '' INT TERM HUP
  kill -TERM -- "-$1" 2>/dev/null || return 0
  while stat_of "$1" >/dev/null; do
    sleep 0.2
    kill -TERM "$1" 2>/dev/null || true
  done
}

# guard runs a command in a group of its own and answers its exit code. Who is told
# to end meanwhile ends the group first, and then runs its own trap of EXIT. The
# command may not read from a terminal, whose it is not.
guard() { # COMMAND...
  local status=0 told=''
  trap 'told=130' INT # until it is known whom to end
  trap 'told=143' TERM HUP
  set -m # else the command would ignore SIGINT, and share our group
  "$@" &
  guarded=$!
  set +m
  trap 'end_group "$guarded"; exit 130' INT
  trap 'end_group "$guarded"; exit 143' TERM HUP
  if [ -n "$told" ]; then end_group "$guarded"; exit "$told"; fi
  wait "$guarded" || status=$?
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  return "$status"
}
