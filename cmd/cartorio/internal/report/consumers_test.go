package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/report"
	"github.com/cartorio-registry/cartorio/compat"
)

func impact(subject, consumer, environment string, answer compat.ImpactAnswer) compat.Impact {
	return compat.Impact{Subject: subject, Consumer: consumer, Environment: environment, Answer: answer, Reason: "no | field", Seen: "2026-11-29T08:00:00Z"}
}

// Every form tells who is hurt: in a section, or beside the break.
func TestConsumers(t *testing.T) {
	t.Parallel()
	run := runOf(2, false)
	run.Document.Consumers = []compat.Impact{
		impact("s00000", "billing", "prod", compat.ImpactBreaks), impact("s00000", "search", "", compat.ImpactRefuses), impact("s00000", "audit", "test", compat.ImpactNone),
		impact("s00001", "mail", "prod", compat.ImpactNone),
	}
	for form, want := range map[string][]string{
		"markdown": {
			"### Who reads it", "`s00000`: 2 of 3 consumers would not read on", "| billing | prod | would break | 2026-11-29 | no \\| field |", "| search |  | would refuse it |",
			"`s00001`: 0 of 1 consumer would not read on",
		},
		"html":           {"<h2>Who reads it</h2>", "<p>2 of 3 consumers would not read on</p>", `<td>billing</td><td data-l="Environment">prod</td><td data-l="What happens">would break</td><td data-l="Last message">2026-11-29</td>`},
		"github-actions": {"%0Ahurts: billing in prod would break, search would refuse it%0A"},
		"gitlab":         {"; hurts billing in prod would break, search would refuse it"},
		"junit":          {"hurts: billing in prod would break, search would refuse it"},
		"sarif":          {"hurts: billing in prod would break, search would refuse it"},
		"json":           {`"answer": "breaks"`, `"consumer": "mail"`},
		"jsonl":          {`{"consumer":{"subject":"s00000","consumer":"billing"`},
	} {
		text := write(t, form, run)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: %q is missing:\n%s", form, w, text)
			}
		}
		if n := strings.Count(text, "hurts"); form != "html" && n > 1 {
			t.Errorf("%s: %d findings tell of consumers, wanted the one of their subject", form, n)
		}
	}
}

// A thousand consumers drive no finding out of a comment, and are counted.
func TestManyConsumers(t *testing.T) {
	t.Parallel()
	run := runOf(3, false)
	for n := range 1000 {
		run.Document.Consumers = append(run.Document.Consumers, impact(fmt.Sprintf("s%05d", n%10), fmt.Sprintf("consumer-%d", n), strings.Repeat("prod", 20), compat.ImpactMayBreak))
	}
	text := write(t, "markdown", run)
	if n := len(text); n > report.MostComment || strings.Count(text, "**breaking**") != 3 || !strings.Contains(text, "**Further consumers are not shown.**") {
		t.Errorf("%d bytes, %d findings:\n%s", n, strings.Count(text, "**breaking**"), text[:2000])
	}
	for _, one := range report.Consumers(run.Document) {
		if len(one.Hurt) != 50 || one.More != 50 || !strings.Contains(one.Summary(), "100 of 100 consumers would not read on; 50 more are hurt than are listed") {
			t.Errorf("%s: %d listed, %d more: %s", one.Subject, len(one.Hurt), one.More, one.Summary())
		}
	}
	if text := write(t, "github-actions", run); !strings.Contains(text, "consumer-40 may break") && !strings.Contains(text, ", 95 more") {
		t.Errorf("no count of further consumers:\n%s", text)
	}
}
