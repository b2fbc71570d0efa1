#!/usr/bin/env bash
# Lets messages flow over three real brokers at once for SOAK (20m), while
# consumers are killed at random and the registry goes away again and again, and
# counts: nothing lost, nothing twice, order by key, nothing healthy set aside.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARTORIO_SOAK=${SOAK:-20m}
scripts/brokers.sh run rabbitmq kafka activemq -- "${GO:-go}" test -run '^TestSoak$' -count 1 -v -timeout 0 ./examples/soak
