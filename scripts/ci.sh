#!/usr/bin/env bash
# What a pull request must pass, in the order of what fails soonest: lint,
# generated files, the tests, the tests under the race detector, a short hunt.
set -euo pipefail
cd "$(dirname "$0")/.."
step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }

step 'lint'
make --no-print-directory lint
step 'generated files'
make --no-print-directory gen
if [ -n "$(git status --porcelain)" ]; then
  git --no-pager diff --stat
  git status --short
  echo 'generated files differ from what is committed: run `make gen` and commit' >&2
  exit 1
fi
step 'static binary'
make --no-print-directory build
./cartorio version
step 'race'
make --no-print-directory race
step 'tests'
make --no-print-directory test
# Always the same pairs, which the long hunts have seen: a run must not fail by
# luck. `make hunt` without a seed draws anew.
step 'hunt'
CARTORIO_SEED=1 make --no-print-directory hunt HUNT=20s
step 'dearest hostile pairs'
CARTORIO_HUNT=1s "${GO:-go}" test -count 1 -timeout 10m -run Hostile ./compat/jsonschema
step 'done'
