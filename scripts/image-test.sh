#!/usr/bin/env bash
# Builds the images of the Dockerfile with buildah, in a store of its own, and runs
# them as their users would: as the user they name, with the command they name.
#
#   scripts/image-test.sh            both images
#   scripts/image-test.sh scratch    the one that holds the binary alone
#   scripts/image-test.sh git        the one for pipelines
#   CARTORIO_IMAGE_BASES=pull scripts/image-test.sh   on the bases that the Dockerfile names
#
# Without pull no image registry is asked: this machine's Go stands for
# golang:1.26, and a Debian of debootstrap, kept in CARTORIO_CACHE
# (~/.cache/cartorio), for debian:stable-slim. It needs root, Linux and a machine
# with apt for what is not installed; what is missing is named, and exits 3.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
cache=${CARTORIO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/cartorio}
say() { printf 'image: %s\n' "$*" >&2; }
unavailable() { say "NOT AVAILABLE: $*"; exit 3; }
broken() { say "FAIL: $*"; exit 1; }

[ $# -gt 0 ] || set -- scratch git
for image in "$@"; do
  case $image in
    scratch | git) ;;
    *) sed -n '2,14s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
  esac
done
case $(uname -s)/$(id -u) in
  Linux/0) ;;
  *) unavailable 'containers are run without a daemon here, which needs Linux and root' ;;
esac

need() { # COMMAND PACKAGE
  command -v "$1" >/dev/null && return
  command -v apt-get >/dev/null || unavailable "$1 is not installed"
  say "installing $2"
  if ! { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$2"; } >&2; then
    unavailable "apt could not install $2"
  fi
}
need buildah buildah

home=$(mktemp -d "${TMPDIR:-/tmp}/cartorio-image.XXXXXX")
# A store of its own, and a driver that works inside of other containers too.
store() { buildah --storage-driver vfs --root "$home/store" --runroot "$home/run" "$@"; }
serving=
finish() {
  if [ -n "$serving" ]; then # buildah takes its mounts away when the server has ended
    kill -KILL "$(leaf "$serving")" 2>/dev/null || true
    wait "$serving" 2>/dev/null || true
  fi
  # What is mounted there is this machine's own.
  if grep -qF " $home/" /proc/self/mountinfo; then
    say "something is still mounted below $home: it is left there"
  else
    rm -rf "$home"
  fi
}
trap finish EXIT
trap 'exit 130' INT TERM

# standing_go makes what the first stage needs of golang:1.26: a shell and mkdir
# with their libraries. Go itself and its caches are mounted.
standing_go() {
  local base=$home/golang file
  mkdir -p "$base/tmp" "$base/root" "$base/etc"
  for file in /bin/sh /bin/mkdir; do
    { echo "$file"; ldd "$file" | grep -oE '/[^ ]+'; } | while read -r file; do
      mkdir -p "$base${file%/*}"
      cp -L "$file" "$base$file"
    done
  done
  cp -rL /etc/ssl /etc/resolv.conf /etc/passwd "$base/etc/"
  store from --name golang scratch >/dev/null
  store copy -q golang "$base/" / >/dev/null
  store config --env PATH=/usr/local/go/bin:/bin:/usr/bin --env GOPATH=/go --env GOCACHE=/go/cache --env HOME=/root golang
  for name in GOPROXY GONOSUMDB GOSUMDB GOFLAGS; do
    store config --env "$name=$("$go" env "$name")" golang
  done
  store commit -q --rm golang golang:1.26 >/dev/null
}

# standing_debian makes a Debian of this machine's own release, which reaches the
# packages that this machine reaches.
standing_debian() {
  local release base
  # shellcheck source=/dev/null
  release=$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME") || unavailable 'no Debian can be made on another system: CARTORIO_IMAGE_BASES=pull takes the named one'
  base=$cache/debian-$release.tar
  if [ ! -s "$base" ]; then
    need debootstrap debootstrap
    say "making a Debian $release"
    mkdir -p "$cache"
    debootstrap --variant=minbase "$release" "$home/debian" > "$home/debootstrap" 2>&1 || { tail -5 "$home/debootstrap" >&2; unavailable "debootstrap could not make a Debian $release"; }
    rm -rf "$home"/debian/var/cache/apt/archives/*.deb
    cp -r /etc/apt/sources.list* /etc/apt/apt.conf.d "$home/debian/etc/apt/"
    tar -C "$home/debian" -cf "$base.$$" . && mv "$base.$$" "$base"
    rm -rf "$home/debian"
  fi
  store from --name debian scratch >/dev/null
  store add -q debian "$base" / >/dev/null
  store commit -q --rm debian debian:stable-slim >/dev/null
}

# The Dockerfile's healthcheck is kept by Docker's format alone. The caches are this
# machine's: what is fetched and compiled is the same.
build() { # TAG ARGUMENT...
  local tag=$1 mounts=()
  shift
  if [ "${CARTORIO_IMAGE_BASES:-}" != pull ]; then
    mounts=(-v "$("$go" env GOROOT):/usr/local/go:ro" -v "$("$go" env GOCACHE):/go/cache" --pull-never)
  fi
  store build --isolation chroot --format docker -t "$tag" --build-arg VERSION=v9.9.9 ${mounts[@]+"${mounts[@]}"} \
    -v "$("$go" env GOMODCACHE):/go/pkg/mod" "$@" . > "$home/build" 2>&1 || { tail -30 "$home/build" >&2; broken "the Dockerfile does not build $tag"; }
}

# setting prints a setting of an image.
setting() { store inspect --type image --format "{{$2}}" "$1"; } # IMAGE FIELD

expect() { # WHAT WANT HAVE
  [ "$2" = "$3" ] || broken "$1 is '$3', want '$2'"
}

# in_image runs a command in a new container of an image, as the image's user, and
# leaves it in the name that is given.
in_image() { # NAME ARGUMENT...  with the options of buildah run before the command
  store run --isolation chroot "$@"
}
container() { store from -q --name "$1" "$2" >/dev/null; } # NAME IMAGE

# leaf prints the last descendant of a process: buildah's own are above the server.
leaf() { # PID
  local pid=$1 child
  while child=$(ps -o pid= --ppid "$pid" | head -1 | tr -d ' ') && [ -n "$child" ]; do pid=$child; done
  echo "$pid"
}

# try runs a command and checks its exit code and a text in what it says. Of twenty
# containers buildah 1.28 loses what one has said, all of it: that one is run again.
try() { # WHAT CODE TEXT COMMAND...
  local what=$1 code=$2 text=$3 out status
  shift 3
  for _ in 1 2 3 4 5; do
    status=0
    out=$("$@" 2>&1) || status=$?
    [ "$status" -eq "$code" ] || break
    grep -qF -- "$text" <<< "$out" && return
    ! grep -qvE '^$|^(subprocess exited with|Error: exit) status ' <<< "$out" || break
  done
  broken "$what: exit code $status, want $code and '$text'; it said:"$'\n'"$out"
}

schemas() { # FOLDER: two versions, of which the second breaks the first's data
  mkdir -p "$1/old" "$1/new"
  echo '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}' > "$1/old/order.avsc"
  echo '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"note","type":"string"}]}' > "$1/new/order.avsc"
  chmod -R a+rX "$1"
}

# serve starts the command of the image in a network of its own, where nothing else
# listens, and waits for its healthcheck.
serve() { # NAME COMMAND...
  local name=$1
  shift
  unshare --net -- sh -c 'ip link set lo up && exec "$@"' sh \
    buildah --storage-driver vfs --root "$home/store" --runroot "$home/run" run --isolation chroot "$name" -- "$@" > "$home/served" 2>&1 &
  serving=$!
  for _ in $(seq 100); do
    inside health -- /cartorio health > "$home/health" 2>&1 && return
    kill -0 "$serving" 2>/dev/null || break
    sleep 0.1
  done
  cat "$home/served" "$home/health" >&2
  broken 'the server of the image is not healthy'
}

# inside runs a command of another container in the network of the server.
inside() { # NAME ARGUMENT...
  nsenter --net="/proc/$serving/ns/net" -- buildah --storage-driver vfs --root "$home/store" --runroot "$home/run" run --isolation chroot "$@"
}

stop_server() {
  local pid status=0
  pid=$(leaf "$serving")
  expect 'the user of the server' 65532 "$(awk '/^Uid:/ {print $2}' "/proc/$pid/status")"
  kill -TERM "$pid"
  wait "$serving" || status=$?
  serving=
  expect 'the exit code of a server that was told to stop' 0 "$status"
}

test_scratch() {
  local root start
  build cartorio
  expect 'the command' '/cartorio serve ' "$(setting cartorio 'range .Docker.Config.Entrypoint}}{{.}} {{end}}{{range .Docker.Config.Cmd}}{{.}} {{end')"
  expect 'the user' 65532:65532 "$(setting cartorio .Docker.Config.User)"
  expect 'the volumes' 'map[/data:{}]' "$(setting cartorio .Docker.Config.Volumes)"
  expect 'the ports' 'map[8081/tcp:{}]' "$(setting cartorio .Docker.Config.ExposedPorts)"
  expect 'the healthcheck' '[CMD /cartorio health]' "$(setting cartorio .Docker.Config.Healthcheck.Test)"
  container health cartorio
  root=$(store mount health)
  expect 'what the image holds' 'cartorio data etc tmp' "$(cd "$root" && echo ./* | sed 's#\./##g')"
  expect 'the owner of the data' '65532 65532' "$(stat -c '%u %g' "$root/data" "$root/tmp" | sort -u)"
  [ -s "$root/etc/ssl/certs/ca-certificates.crt" ] || broken 'the image knows no authority of TLS'
  store umount health >/dev/null
  try 'version' 0 v9.9.9 in_image health -- /cartorio version

  schemas "$home/folders"
  container compare cartorio
  try 'comparing mounted folders' 1 avro.field-added-without-default in_image -v "$home/folders:/work:ro" --workingdir /work compare -- /cartorio check new --against old

  container server cartorio
  read -r -a start <<< "$(setting cartorio 'range .Docker.Config.Entrypoint}}{{.}} {{end}}{{range .Docker.Config.Cmd}}{{.}} {{end')"
  serve server "${start[@]}"
  container client cartorio
  try 'registering' 0 order inside -v "$home/folders:/schemas:ro" client -- /cartorio register --registry http://127.0.0.1:8081 /schemas/old/order.avsc
  stop_server
  serve server "${start[@]}" # on the data that it has
  try 'comparing with what was registered' 1 avro.field-added-without-default \
    inside -v "$home/folders:/schemas:ro" client -- /cartorio check /schemas/new/order.avsc --against registry:order --registry http://127.0.0.1:8081
  stop_server
  say "cartorio: $(store images --format '{{.Size}}' cartorio): built, registered, kept what it had, stopped"
}

test_git() {
  local repository=$home/repository
  build cartorio:git --target git
  expect 'the command' 'cartorio check ' "$(setting cartorio:git 'range .Docker.Config.Entrypoint}}{{.}} {{end}}{{range .Docker.Config.Cmd}}{{.}} {{end')"
  expect 'the user' 65532:65532 "$(setting cartorio:git .Docker.Config.User)"
  container pipeline cartorio:git
  try 'the user of a shell' 0 'uid=65532' in_image pipeline -- sh -c 'id && git --version && curl --version && jq --version && test -s /etc/ssl/certs/ca-certificates.crt'
  try 'version' 0 v9.9.9 in_image pipeline -- cartorio version

  # A checkout of another user, as pipelines mount it.
  schemas "$home/folders"
  mkdir -p "$repository/schemas"
  cp "$home/folders/old/order.avsc" "$repository/schemas/"
  git -C "$repository" init -q -b main
  git -C "$repository" add .
  git -C "$repository" -c user.name=a -c user.email=a@example.org commit -q -m one
  try 'the command alone' 64 'a git ref such as git:main' in_image -v "$repository:/work:ro" pipeline -- cartorio check
  try 'comparing a checkout with its branch' 0 '' in_image -v "$repository:/work:ro" pipeline -- cartorio check schemas --against git:main
  cp "$home/folders/new/order.avsc" "$repository/schemas/"
  try 'a break in a checkout' 1 avro.field-added-without-default in_image -v "$repository:/work:ro" pipeline -- cartorio check schemas --against git:main
  say "cartorio:git: $(store images --format '{{.Size}}' cartorio:git): built, judged a checkout of another user"
}

need ip iproute2
if [ "${CARTORIO_IMAGE_BASES:-}" != pull ]; then
  standing_go
  case " $* " in *' git '*) standing_debian ;; esac
fi
for image in "$@"; do "test_$image"; done
