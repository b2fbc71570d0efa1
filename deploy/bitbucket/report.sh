#!/bin/sh
# Tells Bitbucket the findings of `cartorio check --format sarif=FILE`: report.sh FILE.
# A report has at most 1,000 annotations, taken 100 at a time; it says how many
# findings there are. Inside a pipeline the proxy puts the credentials in.
set -eu
file=$1
[ -s "$file" ] || { echo "no report was made: $file is not there" && exit 0; }
api=${BITBUCKET_API:-http://api.bitbucket.org/2.0}
report=$api/repositories/$BITBUCKET_WORKSPACE/$BITBUCKET_REPO_SLUG/commit/$BITBUCKET_COMMIT/reports/cartorio
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

send() {
  curl --fail --silent --show-error --max-time 30 --proxy "${BITBUCKET_PROXY-http://localhost:29418}" --request "$1" \
    --header 'Content-Type: application/json' --data-binary "@$3" --output "$scratch/answer" "$2" || {
    echo 'no report was made: see above'
    exit 0 # a report is no verdict
  }
}

jq '[.runs[].results[]
  | . as $r
  | {external_id: ("cartorio-" + .partialFingerprints["cartorio/v1"]), annotation_type: "BUG",
     summary: ((.ruleId // "") + ": " + (.message.text | split("\n")[0]))[:450], details: .message.text[:2000],
     severity: (if (.suppressions // []) != [] then "LOW" else {error: "HIGH", warning: "MEDIUM"}[.level] // "LOW" end),
     path: .locations[0].physicalLocation.artifactLocation.uri, line: .locations[0].physicalLocation.region.startLine}
  | with_entries(select(.value != null))]' "$file" >"$scratch/all"
jq '{title: "Schemas", report_type: "BUG", reporter: "Cartório",
  result: (if any(.severity == "HIGH") then "FAILED" else "PASSED" end),
  details: "\(length) findings",
  data: [{title: "Breaking or not checked", type: "NUMBER", value: (map(select(.severity == "HIGH")) | length)},
         {title: "Risks", type: "NUMBER", value: (map(select(.severity == "MEDIUM")) | length)}]}' "$scratch/all" >"$scratch/report"
send PUT "$report" "$scratch/report"
from=0
count=$(jq 'length' "$scratch/all")
[ "$count" -le 1000 ] || count=1000
while [ "$from" -lt "$count" ]; do
  jq --argjson from "$from" --argjson count "$count" '.[$from:([$from + 100, $count] | min)]' "$scratch/all" >"$scratch/some"
  send POST "$report/annotations" "$scratch/some"
  from=$((from + 100))
done
