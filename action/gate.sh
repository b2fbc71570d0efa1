#!/bin/sh
# Compares the schemas of this change with what was there before, and tells the
# runner in its own ways: at most ten annotations, a job summary, one comment on
# the pull request, outputs. It works without a token and says what it skipped.
set -eu

here=${GITHUB_ACTION_PATH:-$(dirname "$0")}
binary=$IN_BINARY
work=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/cartorio.XXXXXX")
runner_summary=${GITHUB_STEP_SUMMARY:-/dev/null}
unset GITHUB_STEP_SUMMARY
payload=${GITHUB_EVENT_PATH:-/dev/null}
most_annotations=10
most_comment=65000 # of the 65,536 that a comment may have
worst=0

# In a job with a container the checkout belongs to somebody else; git reads it
# when it is told that this is meant.
settings=${GIT_CONFIG_COUNT:-0}
export "GIT_CONFIG_KEY_$settings=safe.directory" "GIT_CONFIG_VALUE_$settings=${GITHUB_WORKSPACE:-$PWD}"
export GIT_CONFIG_COUNT=$((settings + 1))

: >"$work/annotations" && : >"$work/summary.md" && : >"$work/lines.md"

# told prints what others wrote into schemas, and keeps the runner from reading
# commands in it.
told() {
  stop=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  printf '::stop-commands::%s\n' "$stop"
  cat "$@"
  printf '\n::%s::\n' "$stop"
}

# line adds one short line to the end of summary and comment.
line() { printf '\n- %s\n' "$1" >>"$work/lines.md"; }

# escaped makes a text the data of a workflow command.
escaped() { sed 's/%/%25/g' | tr -d '\r' | awk 'NR > 1 { printf "%%0A" } { printf "%s", $0 }'; }

# event answers a member of the event; empty without it, or without jq.
event() {
  command -v jq >/dev/null && [ -s "$payload" ] || return 0
  jq -r "$1 // empty" "$payload"
}

# worse keeps the highest exit code: what could not be done wins over findings.
worse() { [ "$1" -le "$worst" ] || worst=$1; }

# base sets against, and brings what the comparison needs into a shallow clone.
base() {
  branch='' commit=''
  case ${IN_AGAINST:-} in
  config) against='' && return ;;
  ?*) against=$IN_AGAINST && return ;;
  esac
  if [ -n "${GITHUB_BASE_REF:-}" ]; then
    branch=$GITHUB_BASE_REF
  else
    commit=$(event '.merge_group.base_sha // .before' | grep -v '^0*$') || commit=''
    [ -n "$commit" ] || branch=$(event .repository.default_branch)
  fi
  if [ -n "$branch" ]; then
    against="git:merge-base(origin/$branch)"
  elif [ -n "$commit" ]; then
    against="git:$commit"
  else
    against='' # cartorio.yaml may know; check says what is missing
  fi
  if [ "$(git rev-parse --is-shallow-repository 2>/dev/null)" = true ]; then
    git fetch --quiet --no-tags --unshallow origin || true
  fi
  if [ -n "$branch" ] && ! git rev-parse --quiet --verify "refs/remotes/origin/$branch^{commit}" >/dev/null; then
    git fetch --quiet --no-tags origin "+refs/heads/$branch:refs/remotes/origin/$branch" || true
  fi
  if [ -n "$commit" ] && ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
    git fetch --quiet --no-tags origin "$commit" || true # a forced push left it behind
  fi
}

# touched keeps the annotations, as warnings, of the files that this change touched:
# what was there before is in the summary, and not this change's fault.
touched() {
  from=$commit
  [ -z "$branch" ] || from=$(git merge-base HEAD "origin/$branch" 2>/dev/null) || from=''
  git -c core.quotePath=false diff --name-only "${from:-HEAD}" >"$work/touched" 2>/dev/null || : >"$work/touched"
  sed 's/^::error /::warning /' | awk -v list="$work/touched" '
    BEGIN { while ((getline name < list) > 0) known[name] = 1 }
    match($0, /file=[^,:]*/) && substr($0, RSTART + 5, RLENGTH - 5) in known'
}

# findings NAME MODE ARGS... runs check or lint: both know the same forms.
findings() {
  name=$1 mode=$2
  shift 2
  status=0
  # They keep the whole summary under a million bytes, with what is there; that
  # leaves 48 KB for what is added here, since one above 1 MiB is refused whole.
  GITHUB_STEP_SUMMARY="$work/summary.md" "$binary" "$name" "$@" \
    --format "text=$work/$name.txt" --format "json=$work/$name.json" \
    --format "markdown=$work/$name.md" --format "github-actions=$work/$name.annotations" \
    >"$work/$name.out" 2>"$work/$name.err" || status=$?
  printf '== cartorio %s: exit code %s\n' "$name" "$status"
  for f in err txt; do
    [ ! -s "$work/$name.$f" ] || told "$work/$name.$f"
  done
  if [ "$mode" = warn ] && [ "$status" -eq 1 ]; then
    [ ! -s "$work/$name.annotations" ] || touched <"$work/$name.annotations" >>"$work/annotations"
    line "\`cartorio $name\` has findings; they do not fail this step"
    status=0
  elif [ -s "$work/$name.annotations" ]; then
    cat "$work/$name.annotations" >>"$work/annotations"
  fi
  [ -s "$work/$name.json" ] || failed "$name" "$status"
  worse "$status"
}

# failed tells of a command that ended without its answer.
failed() {
  [ "$2" -ne 0 ] || return 0
  printf '::error title=Cartório::%s\n' "$({ printf 'cartorio %s: exit code %s\n' "$1" "$2" && tail -n 20 "$work/$1.err" | head -c 4000; } | escaped)" >>"$work/annotations"
  {
    printf '\n## Cartório: %s could not answer\n\nExit code %s.\n\n' "$1" "$2"
    tail -n 20 "$work/$1.err" | head -c 4000 | sed 's/^/    /'
  } >>"$work/summary.md"
}

# plain NAME MODE FAILS ARGS... runs fmt or plan. FAILS is the exit code that is an answer.
plain() {
  name=$1 mode=$2 answer=$3
  shift 3
  status=0
  "$binary" "$name" "$@" >"$work/$name.txt" 2>"$work/$name.err" || status=$?
  printf '== cartorio %s: exit code %s\n' "$name" "$status"
  told "$work/$name.err" "$work/$name.txt"
  if [ "$status" -ne 0 ] && [ "$status" -ne "$answer" ] && [ "$status" -ne 1 ]; then
    failed "$name" "$status"
    worse "$status"
    return
  fi
  if [ "$name" = plan ]; then
    {
      # shellcheck disable=SC2016 # these are markdown's
      printf '\n<details><summary>Plan for %s</summary>\n\n````text\n' "$IN_ENVIRONMENT"
      # shellcheck disable=SC2016
      head -c 20000 "$work/plan.txt" | sed 's/````/` ` ` `/g'
      printf '\n````\n\n</details>\n'
    } >>"$work/summary.md"
    case $status in
    0) line "plan for \`$IN_ENVIRONMENT\`: nothing would change" ;;
    1)
      line "plan for \`$IN_ENVIRONMENT\`: the registry would refuse it; the job summary shows it"
      worse 1
      ;;
    *) line "plan for \`$IN_ENVIRONMENT\`: it would change; the job summary shows it" ;;
    esac
  elif [ "$status" -ne 0 ]; then
    # shellcheck disable=SC2016
    line 'some files are not formatted: run `cartorio fmt`'
    kind=warning
    if [ "$mode" != warn ]; then
      kind=error
      worse 1
    fi
    printf '::%s title=Cartório::%s\n' "$kind" "$({ echo 'some files are not formatted: run cartorio fmt' && head -n 20 "$work/fmt.txt"; } | escaped)" >>"$work/annotations"
  fi
}

# knows says whether this cartorio has a command.
knows() {
  # What is unknown is answered with the help of the whole.
  ! "$binary" "$1" --help 2>/dev/null | grep -q "^  cartorio $1 .*\[flags\]" || return 0
  line "\`cartorio $1\` was skipped: this version does not have it"
  return 1
}

# choice NAME VALUE refuses a value that nothing would be done with.
choice() {
  case $2 in
  true | warn | false) ;;
  *)
    printf '::error title=Cartório::%s: "%s" is none of true, warn, false\n' "$1" "$(printf %s "$2" | escaped)"
    exit 64
    ;;
  esac
}

# either NAME VALUE is the same for what may be left open.
either() {
  case $2 in
  '' | true | false) ;;
  *)
    printf '::error title=Cartório::%s: "%s" is none of true, false\n' "$1" "$(printf %s "$2" | escaped)"
    exit 64
    ;;
  esac
}

choice lint "${IN_LINT:-warn}"
choice fmt "${IN_FMT:-warn}"
either comment "${IN_COMMENT:-}"
either impact "${IN_IMPACT:-}"

case ${IN_COMMENT_KEY:-} in
*[!A-Za-z0-9._/-]*)
  echo '::error title=Cartório::comment-key: letters, digits and ._/- are what it may have'
  exit 64
  ;;
esac

base
set --
[ -z "$against" ] || set -- "$@" --against "$against"
[ -z "${IN_FAIL_ON:-}" ] || set -- "$@" --fail-on "$IN_FAIL_ON"
[ -z "${IN_ENVIRONMENT:-}" ] || set -- "$@" --environment "$IN_ENVIRONMENT"
# Who reads what is a registry's to know: one that is named is asked.
impact=${IN_IMPACT:-}
[ -n "$impact" ] || [ -z "${IN_ENVIRONMENT:-}" ] || impact=true
if [ "$impact" = true ]; then
  if "$binary" check --help 2>/dev/null | grep -q '^ *--impact'; then
    set -- "$@" --impact
  else
    # shellcheck disable=SC2016
    line 'who reads what changed was not asked: this version has no `cartorio check --impact`'
  fi
fi
newline='
'
set -f
IFS=$newline
for argument in ${IN_ARGS:-}; do set -- "$@" "$argument"; done
unset IFS
set +f
findings check true "$@" ${IN_PATH:+"$IN_PATH"}
[ "${IN_LINT:-warn}" = false ] || ! knows lint || findings lint "${IN_LINT:-warn}" ${IN_PATH:+"$IN_PATH"}
[ "${IN_FMT:-warn}" = false ] || ! knows fmt || plain fmt "${IN_FMT:-warn}" 1 --check ${IN_PATH:+"$IN_PATH"}
[ -z "${IN_ENVIRONMENT:-}" ] || ! knows plan || plain plan true 3 --detailed-exitcode --environment "$IN_ENVIRONMENT"

# The runner drops what is above ten without a word: the last one tells of the rest.
all=$(wc -l <"$work/annotations")
if [ "$all" -gt "$most_annotations" ]; then
  grep -v '^::[a-z]* title=Cartório::[0-9]* findings in all' "$work/annotations" | head -n $((most_annotations - 1)) || true
  kind=error
  [ "$worst" -ne 0 ] || kind=warning
  totals=$(sed -n 's/^::[a-z]* title=Cartório::\([0-9]* findings in all ([^)]*)\).*/\1/p' "$work/annotations" | tr '\n' ' ')
  printf '::%s title=Cartório::%s are annotated of more: %sthe job summary has all\n' "$kind" $((most_annotations - 1)) "${totals:+$totals; }"
else
  cat "$work/annotations"
fi

verdict=not_checked breaking=0 json=
if [ -s "$work/check.json" ]; then
  json=$work/check.json
  # Two spaces begin the members of the document itself.
  verdict=$(sed -n 's/^  "verdict": "\([a-z_]*\)".*/\1/p' "$json" | head -n 1)
  breaking=$(sed -n 's/^    "breaks": \([0-9]*\).*/\1/p' "$json" | head -n 1)
fi
printf 'verdict=%s\nbreaking=%s\njson=%s\n' "$verdict" "${breaking:-0}" "$json" >>"$GITHUB_OUTPUT"

if [ "$verdict" = breaking ] && [ "${breaking:-0}" -gt 0 ]; then
  # shellcheck disable=SC2016 # these are markdown's
  line 'to accept a break that hurts nobody: `cartorio except FINGERPRINT --reason "why" --owner WHO --until YYYY-MM-DD`, and commit `cartorio.exceptions.yaml`. No label does it'
fi

# The comment is check's own, with what else was run in single lines.
if [ -s "$work/check.md" ]; then
  cat "$work/check.md" "$work/lines.md" >"$work/comment.md"
else
  { echo '<!-- cartorio check -->' && cat "$work/summary.md" "$work/lines.md"; } >"$work/comment.md"
fi
if [ "$(wc -c <"$work/comment.md")" -gt "$most_comment" ]; then
  # The check leaves room for single lines, but not for any number of them.
  { cat "$work/check.md" && printf '\n- more is in the job summary\n'; } >"$work/comment.md"
fi
[ -z "${IN_COMMENT_KEY:-}" ] || sed -i.old "1s|.*|<!-- cartorio check $IN_COMMENT_KEY -->|" "$work/comment.md"
skipped=$(BINARY=$binary sh "$here/comment.sh" "$work/comment.md") || true
[ -z "$skipped" ] || { printf '%s\n' "$skipped" && line "$skipped"; }

# Each step has a summary of its own, so what stands in it is what was put here.
cat "$work/summary.md" "$work/lines.md" >>"$runner_summary"
exit "$worst"
