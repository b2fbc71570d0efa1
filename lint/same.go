package lint

import (
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Same tells whether two schemas surely mean the same: they have one
// fingerprint, or each reads what the other wrote by every judge, and no change
// between them is more than a note.
func Same(before, after schemas.Schema, checkers []compat.Checker) bool {
	if before.Fingerprint() == after.Fingerprint() {
		return true
	}
	report := compat.Check(compat.Question{
		Next: after, History: []compat.Old{{Schema: before}}, Level: compat.Full, Policy: compat.Strict, VerdictPolicy: compat.Both, Checkers: checkers,
	})
	if report.Verdict() != compat.Compatible {
		return false
	}
	for _, c := range report.Compared {
		for _, f := range c.Findings {
			if f.Severity != compat.Note {
				return false
			}
		}
	}
	return true
}
