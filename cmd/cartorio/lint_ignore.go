package main

import (
	"fmt"
	"time"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// ignoring is what a schema says of its own remarks, and whether anything heeds it.
type ignoring struct {
	lint.Ignore
	until time.Time
	used  bool
}

// ended tells an ignore that no longer counts.
func (i *ignoring) ended(now time.Time) bool { return now.After(i.until) }

// accepting reads, of a text of one file, what it ignores, and answers what marks a
// finding as accepted where the text or the exceptions say so.
func (l *linter) accepting(label, configured string, e *folder.Entry) func(schemas.Source) ([]*ignoring, func(lint.Remark, lint.Rule, *compat.Finding) bool) {
	now := l.app.now()
	owner := orWord(l.app.declared().of(configured, e.Subject.String()).Owner, "said in the schema")
	return func(source schemas.Source) ([]*ignoring, func(lint.Remark, lint.Rule, *compat.Finding) bool) {
		var list []*ignoring
		for _, one := range lint.Ignores(source) {
			i := &ignoring{Ignore: one}
			if i.Wrong == "" {
				until, err := config.ParseUntil(i.Until)
				switch {
				case err != nil:
					i.Wrong = err.Error()
				case until.Sub(now) > config.LongestException:
					i.Wrong = "until " + i.Until + " is more than a year away: it is looked at again within a year"
				case !knownToLint(config.Entry{Text: i.Rule}):
					i.Wrong = "no rule of lint is called " + i.Rule + ": see cartorio rules --of lint"
				}
				i.until = until
			}
			list = append(list, i)
		}
		return list, func(r lint.Remark, rule lint.Rule, f *compat.Finding) bool {
			one := []compat.Finding{*f}
			compat.Accept(one, l.gate.inForce, now)
			*f = one[0]
			for _, i := range list {
				entry := config.Entry{Text: i.Rule}
				if i.Wrong != "" || i.ended(now) || !entry.Names(rule.ID, rule.Peers) || !i.Covers(r.Place) {
					continue
				}
				i.used = true
				if f.Accepted == nil {
					f.Accepted = &compat.Acceptance{
						Reason: i.Reason, Owner: owner, Until: i.until.UTC().Format(time.RFC3339),
						Source: fmt.Sprintf("%s, line %d", label, i.Position.Line),
					}
				}
			}
			return f.Accepted != nil
		}
	}
}

// vain tells of what a schema ignores to no effect, among the rules that were
// looked for.
func (l *linter) vain(label string, list []*ignoring, wanted map[string]lint.Rule) []string {
	var out []string
	for _, i := range list {
		at := fmt.Sprintf("%s:%d:%d: the ignore of %s", label, i.Position.Line, i.Position.Column, orWord(i.Rule, "a rule"))
		entry := config.Entry{Text: i.Rule}
		looked := false
		for _, r := range wanted {
			looked = looked || entry.Names(r.ID, r.Peers)
		}
		switch {
		case i.Wrong != "":
			out = append(out, at+" does not count: "+i.Wrong)
		case i.ended(l.app.now()):
			out = append(out, at+" ended on "+i.until.UTC().Format(time.DateOnly)+" and no longer counts: mend the schema, or extend it")
		case !i.used && looked:
			out = append(out, at+" is unused: nothing here is that rule's: take it out")
		}
	}
	return out
}
