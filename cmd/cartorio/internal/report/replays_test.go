package report_test

import (
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
)

// A run that recorded messages or a stale exception fail is not green anywhere.
func TestFailuresBesideFindings(t *testing.T) {
	t.Parallel()
	replay := compat.Replay{Schema: "schemas/o.avsc", Messages: 3, Accepted: 1, Refused: 2, Reasons: []compat.ReplayReason{{Outcome: "refused", Messages: 2, First: "bad.jsonl:2", Text: "no field id"}}}
	for form, want := range map[string]map[string][]string{
		"junit": {
			"refused": {`tests="1" failures="1" errors="0"`, "2 of 3 recorded messages would be refused", `type="messages.refused"`, "bad.jsonl:2"},
			"unread":  {`tests="1" failures="0" errors="1"`}, "changed": {`tests="1" failures="0"`, "<system-out>"}, "well": {`tests="1" failures="0" errors="0"`},
			"risk": {`tests="1" failures="1"`}, "stale": {`tests="1" failures="1"`, "ended &#xFFFD;"},
		},
		"gitlab": {
			"refused": {`"critical"`, `"schemas/o.avsc"`, "bad.jsonl:2"}, "unread": {`"major"`}, "changed": {`"minor"`}, "well": {"[]"}, "stale": {`"critical"`},
		},
		"github-actions": {
			"refused": {"::error file=schemas/o.avsc,", "%0A2, first bad.jsonl:2: no field id"}, "unread": {"::error "}, "changed": {"::warning "}, "stale": {"::error "},
		},
		"sarif": {
			"refused": {
				`"ruleId": "messages.refused"`, `"level": "error"`, `"uri": "schemas/o.avsc"`, `2 of 3 recorded messages would be refused\n2, first bad.jsonl:2: no field id`,
				"\"uri\": \"bad.jsonl\"\n        },\n        \"region\": {\n         \"startLine\": 2", "messages that were really sent", `"messages.refused"`,
			},
			"unread": {`"ruleId": "messages.unread"`}, "changed": {`"level": "warning"`}, "well": {`"results": []`}, "stale": {`"ruleId": "exceptions.stale"`},
		},
		"markdown": {
			"refused": {"## Cartório: compatible; recorded messages would be refused\n", "❌ **breaking** `schemas/o.avsc` `messages.refused`: 2 of 3 recorded messages would be refused\n- 2, first bad.jsonl:2: no field id\n"},
			"unread":  {"compatible; recorded messages were not judged", "❓"}, "changed": {"## Cartório: compatible\n", "⚠️"}, "well": {"## Cartório: compatible\n"},
			"stale": {"compatible; exceptions are out of date", "❌ **breaking** `exceptions.stale`"},
		},
		"html": {
			"refused": {"<h1>Cartório: compatible; recorded messages would be refused</h1>", "<code>schemas/o.avsc</code>", "2 of 3 recorded messages would be refused", "<dd>2, first bad.jsonl:2: no field id</dd>"},
			"unread":  {"recorded messages were not judged"}, "stale": {"exceptions are out of date"},
		},
	} {
		for kind, texts := range want {
			run := runOf(0, false)
			run.Document.Verdict = compat.Compatible
			one := replay
			switch kind {
			case "unread":
				one.Refused, one.Unread = 0, 2
			case "changed", "risk":
				one.Refused, one.Changed = 0, 2
			case "well":
				one.Refused, one.Accepted = 0, 3
			}
			if kind == "risk" {
				run.Fails = compat.Risk
			}
			if run.Document.Replays = []compat.Replay{one}; kind == "stale" {
				run.Document.Replays, run.Failing = nil, []string{"ended \x1b"}
			}
			text := write(t, form, run)
			for _, w := range texts {
				if !strings.Contains(text, strings.ReplaceAll(w, "&#xFFFD;", "\ufffd")) {
					t.Errorf("%s, %s: %s is missing:\n%s", form, kind, w, text)
				}
			}
		}
	}
}

// No form writes a control character of a schema's text as it is.
func TestNoControlCharacters(t *testing.T) {
	t.Parallel()
	run := runOf(1, true)
	for i := range run.Document.Findings {
		f := &run.Document.Findings[i]
		f.Message, f.Path, f.Head.File = "\x1b[31m\x00"+f.Message, "\x7f\u009b\x01", "a\x1b.avsc"
	}
	run.Document.Remarks = append(run.Document.Remarks, "\x1b]0;x\x07")
	run.Document.Compared[0].Subject = "\x1b"
	for _, form := range []string{"json", "jsonl", "github-actions", "gitlab", "junit", "sarif", "markdown", "html"} {
		if text := write(t, form, run); strings.ContainsAny(text, "\x00\x01\x07\x1b") {
			t.Errorf("%s: %q", form, text)
		}
	}
}
