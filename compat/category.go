package compat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// ParseCategory reads the name of a rule set that one of the checkers has, in
// any letter case, with hyphens or underscores. Empty is no category.
//
// Errors: any other text.
func ParseCategory(checkers []Checker, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	want := strings.ToUpper(strings.ReplaceAll(text, "-", "_"))
	var names []string
	for _, c := range checkers {
		if slices.Contains(c.CategoryNames, want) {
			return want, nil
		}
		names = append(names, c.CategoryNames...)
	}
	return "", fmt.Errorf("category %q is none of %s", text, strings.Join(names, ", "))
}

// categorized tells whether the category of q replaces the level: its format has
// rule sets.
func (q Question) categorized() bool {
	if q.Category == "" || q.Next == nil {
		return false
	}
	checker, ok := checkerFor(q.Checkers, q.Next.Source().Type)
	return ok && checker.Categories != nil
}

// byCategory answers one pair by a rule set: each difference refuses, whichever
// side reads. What happens to data is told beside it.
func (c Comparison) byCategory(q Question, checker Checker) (Comparison, []string) {
	list, err := categories(checker, c.Old.Schema, q)
	if err != nil {
		return c.notChecked(q, err)
	}
	q.VerdictPolicy = Reference
	c.Effects, c.Changes, err = truth(checker, c.Old.Schema, q.Next, q)
	j := judge{q: q, old: c.Old, checker: checker, layers: []Layer{checker.Layer}, c: &c}
	j.findings()
	j.open(err)
	var messages []string
	for _, d := range list {
		id := strings.ToLower(string(checker.Format)) + "." + strings.ReplaceAll(strings.ToLower(d.Type), "_", "-")
		f := j.finding(&Rule{ID: id}, d.Path, d.Writer, d.Reader, "", "")
		elsewhere(&f, d.Elsewhere)
		f.Aliases, f.Severity, f.Message = []string{d.Type}, SeverityBreaking, d.Info
		f.Why = fmt.Sprintf("the rule %s of the category %s forbids it, whatever it does to data.", d.Type, q.Category)
		f.Fix = "undo the change, or ask for a category that allows it."
		q.identify(&f, d.Info, "")
		c.Findings = append(c.Findings, f)
		messages = append(messages, Entry(d.Type, fmt.Sprintf("%s, at path '%s'", d.Info, d.Path), q.Category, id))
	}
	return c.conclude(q, nil, messages)
}

func categories(c Checker, old schemas.Schema, q Question) (list []Difference, err error) {
	defer func() {
		if p := recover(); p != nil {
			list, err = nil, fmt.Errorf("%w: the %s checker failed: %v", ErrNotChecked, c.Format, p)
		}
	}()
	return c.Categories(old, q.Next, q.Category)
}
