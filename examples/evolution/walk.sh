#!/usr/bin/env bash
# Walks through a change while the queue has old messages, and prints what a
# reader would see: every command is run, every answer is what came.
#
#   walk.sh CARTORIO EXAMPLE     the two binaries
#
# It needs CARTORIO_REGISTRY_URL and CARTORIO_TEST_RABBITMQ; SHOP names the queue.
set -euo pipefail
cartorio=$(realpath "$1") example=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$cartorio" "$work/bin/cartorio"
ln -s "$example" "$work/bin/shop"
export PATH="$work/bin:$PATH" NO_COLOR=1 SHOP=${SHOP:-orders} BROKER=${CARTORIO_TEST_RABBITMQ%/} CARTORIO_REGISTRY_URL
cd "$work"
echo '{"type":"object","properties":{"id":{"type":"integer"},"total":{"type":"integer"}},"required":["id"],"additionalProperties":false}' > order-1.json
echo '{"type":"object","properties":{"id":{"type":"integer"},"total":{"type":"integer"},"note":{"type":"string"}},"required":["id"],"additionalProperties":false}' > order-2.json

# told leaves out times, places and names of this run.
told() {
  sed -E "s/$SHOP/orders/g; s/(oldest|newest) [0-9.]+[a-zµ]+( ago)?/\1 just now/g; s/[0-9.]+(µs|ms|s) ago/just now/g; s/^sent    [A-Z0-9]{26} /sent    … /; s/amqp:[^ #]*#/amqp:\/\/localhost#/g; s/[[:space:]]*$//"
}

# show runs a command and shows what it prints. One that fails ends the walk.
show() {
  printf '$ %s\n' "$*" | told
  if ! bash -c "$*" > out 2> err; then
    printf '%s: failed\n' "$*" >&2
    cat out err >&2
    exit 1
  fi
  told < out
}

show "cartorio register --subject $SHOP-value order-1.json"
show 'shop publish 1 3'
show "cartorio register --subject $SHOP-value order-2.json"
show 'shop consume 2 3'
show "cartorio dlq list \$BROKER#$SHOP.dead"
show "cartorio dlq replay \$BROKER#$SHOP.dead --reason version_unsupported --reads 1..2"
show 'shop consume 1..2 3'
show 'shop publish 2 2'
show 'shop publish 1 1'
show 'shop consume 1..2 2'
show "cartorio consumers $SHOP-value"
show "cartorio window $SHOP-value"
show "curl -s -X DELETE \$CARTORIO_REGISTRY_URL/subjects/$SHOP-value/versions/1; echo"
show 'shop consume 1..2 1'
