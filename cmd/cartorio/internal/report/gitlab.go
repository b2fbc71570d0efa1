package report

import (
	"io"
	"strings"
)

// issue is one entry of GitLab's code quality report.
type issue struct {
	Description string   `json:"description"`
	Check       string   `json:"check_name"`
	Fingerprint string   `json:"fingerprint"`
	Severity    string   `json:"severity"`
	Location    location `json:"location"`
}

type location struct {
	Path  string `json:"path"`
	Lines lines  `json:"lines"`
}

type lines struct {
	Begin int `json:"begin"`
	End   int `json:"end,omitempty"`
}

// writeGitLab prints the array that the merge request widget reads. Entries of
// one fingerprint would collapse there, so each is told once.
func writeGitLab(w io.Writer, r Run) error {
	list := r.everything()
	if r.Findings > 0 && len(list) > r.Findings {
		list = list[:r.Findings]
	}
	out := []issue{}
	seen := map[string]bool{}
	for _, i := range list {
		if seen[i.fingerprint] {
			continue
		}
		seen[i.fingerprint] = true
		severity := map[string]string{breaking: "critical", notChecked: "major", risk: "minor", note: "info"}[i.severity]
		text := i.label() + ": " + i.message
		if i.accepted != nil {
			severity = "info"
			text += ": " + acceptance(i.accepted)
		}
		if i.hurt != "" {
			text += "; hurts " + i.hurt
		}
		for _, line := range i.lines {
			text += "\n" + line
		}
		l := lines{Begin: max(i.line, 1)}
		if i.endLine > l.Begin {
			l.End = i.endLine
		}
		out = append(out, issue{
			Description: visible(text), Check: i.rule, Fingerprint: i.fingerprint, Severity: severity,
			Location: location{Path: strings.TrimPrefix(i.file, "./"), Lines: l},
		})
	}
	e := encoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}
