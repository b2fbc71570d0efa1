#!/bin/sh
# Keeps one comment on the pull request up to date: comment.sh FILE. What it could
# not do it says in one line on stdout; it never fails the step, since a comment is
# no verdict.
set -eu

file=$1
payload=${GITHUB_EVENT_PATH:-/dev/null}
api=${GITHUB_API_URL:-}

skip() {
  printf 'no comment was written: %s\n' "$1"
  exit 0
}

wanted=${IN_COMMENT:-}
[ "$wanted" != false ] || exit 0
command -v jq >/dev/null || skip 'jq is not installed'
[ -s "$payload" ] || exit 0
number=$(jq -r '.pull_request.number // empty' "$payload")
[ -n "$number" ] || exit 0 # a push has nothing to comment on
if [ -z "$wanted" ]; then
  says=$("$BINARY" doctor --format json 2>/dev/null | jq -r '[.settings[]? | select(.key == "gate.comment")][0].value // empty') || says=
  [ "$says" != false ] || exit 0
fi
command -v curl >/dev/null || skip 'curl is not installed'
[ -n "${IN_TOKEN:-}" ] || skip 'there is no token: this summary tells the same'

# The token goes through a file that only this user reads, never through arguments.
umask 077
scratch=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/cartorio-comment.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
printf 'header = "Authorization: Bearer %s"\n' "$IN_TOKEN" >"$scratch/curl"

# call METHOD URL [BODY] answers the status and leaves the body in $scratch/answer.
call() {
  method=$1 url=$2
  shift 2
  curl --silent --max-time 30 --retry 2 --config "$scratch/curl" --request "$method" \
    --header 'Accept: application/vnd.github+json' --header 'X-GitHub-Api-Version: 2022-11-28' \
    ${1:+--header 'Content-Type: application/json' --data-binary "@$1"} \
    --output "$scratch/answer" --write-out '%{http_code}' "$url" || true
}

refused() {
  case $1 in
  401 | 403 | 404)
    fork=$(jq -r '.pull_request.head.repo.fork // false' "$payload")
    if [ "$fork" = true ]; then
      skip "the token of a fork's pull request may not write (status $1): this summary tells the same"
    fi
    skip "the token may not write (status $1): give the job the permission pull-requests: write"
    ;;
  000) skip 'the API did not answer' ;;
  *) skip "the API answered with status $1" ;;
  esac
}

comments=$api/repos/$GITHUB_REPOSITORY/issues/$number/comments
marker=$(head -n 1 "$file")
found='' page=1
while [ "$page" -le 30 ]; do
  status=$(call GET "$comments?per_page=100&page=$page")
  [ "$status" = 200 ] || refused "$status"
  # A bot's comes first: a person may have copied the marker.
  found=$(jq -r --arg marker "$marker" 'map(select(.body | startswith($marker))) | (map(select(.user.type == "Bot")) + .)[0].id // empty' "$scratch/answer")
  [ -z "$found" ] || break
  [ "$(jq length "$scratch/answer")" -eq 100 ] || break
  page=$((page + 1))
done

jq -Rs '{body: .}' <"$file" >"$scratch/body"
if [ -n "$found" ]; then
  status=$(call PATCH "$api/repos/$GITHUB_REPOSITORY/issues/comments/$found" "$scratch/body")
else
  status=$(call POST "$comments" "$scratch/body")
fi
case $status in
2??) ;;
*) refused "$status" ;;
esac
