package report_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/report"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// steering are the characters that no form for people may pass on: escape and
// its C1 sibling, delete, bell, return, those that turn the direction of writing,
// and separators of lines and paragraphs.
var steering = []rune{0x00, 0x07, 0x08, '\r', 0x1b, 0x7f, 0x85, 0x9b, 0x061c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069, 0x2028, 0x2029}

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                      "",
		"ação 注文 👩‍🚀":           "ação 注文 👩‍🚀",
		"a\nb\tc\rd":            `a\nb\tc\rd`,
		"\x1b[31mred":           `\u001b[31mred`,
		"order\u202ecsva.new":   `order\u202ecsva.new`,
		"x\u2066y\u061cz\u200f": `x\u2066y\u061cz\u200f`,
		"bad \x9b byte":         "bad \ufffd byte",
		"c1 \u009b":             `c1 \u009b`,
	} {
		if got := report.Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestHostileNamesSteerNobody puts each steering character into every text that
// others choose: subjects, files, consumers, reasons, owners, remarks. Forms for
// people write it out; those for machines keep it, by their own rules.
func TestHostileNamesSteerNobody(t *testing.T) {
	t.Parallel()
	for _, r := range steering {
		name := func(what string) string { return what + "<" + string(r) + ">" + what }
		run := hostileRun(name)
		for _, form := range report.Forms() {
			text := write(t, form.Name, run)
			switch form.Name {
			case "json", "jsonl", "sarif":
				var v any
				for l := range strings.SplitSeq(strings.TrimSpace(text), "\n{") {
					if !strings.HasPrefix(l, "{") {
						l = "{" + l
					}
					if err := json.Unmarshal([]byte(l), &v); err != nil {
						t.Errorf("%U: %s is no JSON: %v", r, form.Name, err)
					}
				}
				if !strings.Contains(fmt.Sprint(v), name("remark")) {
					t.Errorf("%U: %s loses a name", r, form.Name)
				}
			case "junit":
				if err := xml.Unmarshal([]byte(text), new(struct{})); err != nil {
					t.Errorf("%U: it is no XML: %v", r, err)
				}
			default:
				if form.Name == "gitlab-code-quality" {
					var list []struct{ Description string }
					if err := json.Unmarshal([]byte(text), &list); err != nil {
						t.Fatal(err)
					}
					text = fmt.Sprint(list)
				}
				if at := strings.IndexFunc(text, func(r rune) bool {
					return r != '\n' && (unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Bidi_Control, r))
				}); at >= 0 {
					t.Errorf("%U reaches %s: …%q", r, form.Name, text[max(0, at-40):min(len(text), at+20)])
				}
				if !utf8.ValidString(text) {
					t.Errorf("%U: %s is no UTF-8", r, form.Name)
				}
			}
		}
	}
}

// hostileRun is a run in which every text that is not ours is a hostile one.
func hostileRun(name func(string) string) report.Run {
	f := compat.Finding{
		Rule: "avro.field-added-without-default", Aliases: []string{name("alias")}, Severity: compat.SeverityBreaking, Direction: "backward", Format: schemas.Avro,
		Subject: name("subject"), Path: name("path"), Message: name("message"), Why: name("why"), Fix: name("fix"),
		Base:        compat.Location{Label: name("base"), File: name("base.avsc"), Line: 1, Column: 1},
		Head:        compat.Location{Label: name("head"), File: name("head.avsc"), Line: 3, Column: 5},
		Witness:     &compat.ShownWitness{Value: name("value"), Writer: "old", Reader: "new", Layer: "data", Text: name("text")},
		Fingerprint: fmt.Sprintf("%032x", 1),
	}
	accepted := f
	accepted.Fingerprint = fmt.Sprintf("%032x", 2)
	accepted.Accepted = &compat.Acceptance{Reason: name("reason"), Owner: name("owner"), Until: "2027-01-01T00:00:00Z", Source: name("source")}
	lowered := f
	lowered.Fingerprint, lowered.Severity = fmt.Sprintf("%032x", 3), compat.Risk
	lowered.Override = &compat.Override{From: compat.SeverityBreaking, Source: name("source")}
	reports := []compat.Report{of(f, compat.Breaking), of(accepted, compat.Compatible), of(lowered, compat.Compatible), {
		Subject: name("bad"), Label: name("bad.avsc"), Format: schemas.Avro, NotChecked: true,
		Compared: []compat.Comparison{{Verdict: compat.NotChecked, Reason: name("why"), Faults: []compat.Fault{{File: name("bad.avsc"), Line: 4, Column: 2, Message: name("fault")}}}},
	}}
	doc := compat.NewDocument("cartorio 1.2.3", reports...)
	doc.Remarks = []string{name("remark")}
	doc.Consumers = []compat.Impact{{Subject: name("subject"), Consumer: name("consumer"), Environment: name("environment"), Answer: compat.ImpactBreaks, Reason: name("reason"), Seen: name("seen")}}
	doc.Replays = []compat.Replay{{
		Subject: name("subject"), Schema: name("head.avsc"), Messages: 1, Refused: 1,
		Reasons: []compat.ReplayReason{{Outcome: "refused", Messages: 1, First: name("m.jsonl") + ":1", Text: name("text")}},
	}}
	return report.Run{Document: doc, Reports: reports, Base: name("base"), Failing: []string{name("failing")}}
}
