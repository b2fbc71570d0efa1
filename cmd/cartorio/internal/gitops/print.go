package gitops

import (
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/report"
	"github.com/cartorio-registry/cartorio/compat"
)

// Line is a line of a plan for people, and how it may be coloured.
type Line struct {
	Mark string // the action, or what became of it
	Good bool
	Bad  bool
	Text string
	// More are indented below it.
	More []string
}

// Lines tells a plan step by step. Readable makes sentences of a registry's
// messages.
func (p *Plan) Lines(readable func([]string) []string) []Line {
	var out []Line
	for i := range p.Steps {
		s := &p.Steps[i]
		l := Line{Mark: string(s.Action), Text: s.title()}
		switch s.State {
		case Planned:
			l.Good = s.Action != Delete
			l.Bad = s.Action == Delete
		case Done:
			l.Good = true
			l.Mark = map[Action]string{Create: "created", Register: "registered", Delete: "deleted"}[s.Action]
			if l.Mark == "" {
				l.Mark = "set"
			}
		default:
			l.Bad = true
			l.Mark = strings.ReplaceAll(string(s.State), "_", "-")
		}
		for _, pin := range s.Pins {
			text := fmt.Sprintf("refers to %s version %s", pin.Subject, pin.Version)
			if pin.New && s.State != Done {
				text += " (of this plan)"
			}
			l.More = append(l.More, text)
		}
		if v := s.Verdict; v != nil && s.Action != Delete && s.State != Done {
			l.More = append(l.More, v.lines(readable)...)
		}
		l.More = append(l.More, s.Reason...)
		out = append(out, l)
	}
	return out
}

func (s *Step) title() string {
	switch s.Action {
	case Create, Register:
		text := fmt.Sprintf("%s version %s", s.Subject, s.Version)
		if s.ID != 0 {
			text += fmt.Sprintf(" id %d", s.ID)
		}
		text += " (" + s.Path + ")"
		if v := s.Verdict; v != nil && len(v.Compared) > 0 && v.Verdict == compat.Compatible && s.State == Planned {
			text += fmt.Sprintf(": compatible with %s at level %s", strings.Join(v.Compared, ", "), v.Level)
		}
		return text
	case Delete:
		word := "versions"
		if len(s.Deletes) == 1 {
			word = "version"
		}
		return fmt.Sprintf("%s: %s %s", s.Subject, word, strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Deletes), " ", ", "), "[]"))
	default:
	}
	var parts []string
	for _, c := range s.Changes {
		if c.From == "" {
			parts = append(parts, c.Name+" "+c.To)
			continue
		}
		parts = append(parts, c.Name+" "+c.From+" → "+c.To)
	}
	return s.Subject + ": " + strings.Join(parts, ", ")
}

// lines tell what is not simply compatible.
func (v *Verdict) lines(readable func([]string) []string) []string {
	var out []string
	if v.Verdict != compat.Compatible && len(v.Compared) > 0 {
		out = append(out, fmt.Sprintf("compared with %s at level %s", strings.Join(v.Compared, ", "), v.Level))
	}
	if v.Reason != "" {
		out = append(out, "not checked: "+v.Reason)
	}
	for _, f := range v.Findings {
		text := fmt.Sprintf("%s: %s: %s", f.Severity, f.Rule, f.Message)
		if f.Accepted != nil {
			text = fmt.Sprintf("accepted by %s until %s: %s: %s", f.Accepted.Owner, f.Accepted.Until, f.Rule, f.Message)
		}
		if f.Path != "" {
			text += " (" + f.Path + ")"
		}
		out = append(out, text)
		if f.Severity != compat.SeverityBreaking || f.Accepted != nil {
			continue
		}
		if f.Witness != nil {
			out = append(out, "  "+f.Witness.Sentence())
		}
		out = append(out, "  fingerprint "+f.Fingerprint)
	}
	for _, m := range readable(v.Messages) {
		// With what it compared is told beside the local answer.
		if !strings.HasPrefix(m, "compared with") {
			out = append(out, "registry: "+m)
		}
	}
	if v.Disagree {
		out = append(out, fmt.Sprintf("the registry answers %s, this cartorio %s", v.Registry, v.Local))
	}
	return out
}

// Summary is a plan in one sentence.
func (p *Plan) Summary() string {
	same := ""
	if p.Unchanged > 0 {
		same = fmt.Sprintf("%d as declared", p.Unchanged)
	}
	if p.IsEmpty() {
		return strings.TrimSuffix("no changes: "+same, ": ")
	}
	var parts []string
	add := func(n int, one, many string) {
		if n == 1 {
			parts = append(parts, "1 "+one)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(p.Count(Create), "subject to create", "subjects to create")
	add(p.Count(Register), "new version", "new versions")
	add(p.Count(Configure), "config change", "config changes")
	add(p.Count(SetMode), "mode change", "mode changes")
	add(p.Count(SetAlias), "alias", "aliases")
	add(p.Count(Except), "subject's exceptions to tell", "subjects' exceptions to tell")
	add(p.Count(Delete), "subject to delete", "subjects to delete")
	text := strings.Join(parts, ", ")
	blocked := 0
	for _, s := range p.Steps {
		if s.Code != 0 {
			blocked++
		}
	}
	if blocked > 0 {
		text += fmt.Sprintf("; %d cannot be done, so nothing would be", blocked)
	}
	if same != "" {
		text += "; " + same
	}
	return text
}

// Outcome is what was done in one sentence.
func (p *Plan) Outcome() string {
	counts := map[State]int{}
	for _, s := range p.Steps {
		counts[s.State]++
	}
	var parts []string
	for _, one := range []struct {
		state State
		word  string
	}{{Done, "done"}, {Failed, "failed"}, {Undone, "taken back"}, {Left, "left behind"}, {Skipped, "not begun"}} {
		if n := counts[one.state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, one.word))
		}
	}
	return "steps: " + strings.Join(parts, ", ")
}

// Markdown is a plan for a pull request, within most bytes: cut at a whole step,
// and what is cut is counted.
func (p *Plan) Markdown(readable func([]string) []string, most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Registry plan\n\n%s.\n", report.InMarkdown(p.Summary()))
	if !p.IsEmpty() {
		b.WriteString("\n| | step |\n|---|---|\n")
	}
	hidden := 0
	for _, l := range p.Lines(readable) {
		sign := "🟢"
		if l.Bad {
			sign = "🔴"
		}
		row := fmt.Sprintf("| %s %s | %s", sign, l.Mark, report.InMarkdown(l.Text))
		for _, more := range l.More {
			row += "<br>" + report.InMarkdown(strings.TrimSpace(more))
		}
		// The closing line must fit whatever is cut.
		if row += " |\n"; hidden > 0 || b.Len()+len(row) > most-200 {
			hidden++
			continue
		}
		b.WriteString(row)
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "\n**%d more steps are not shown.** `cartorio plan` prints all.\n", hidden)
	}
	for i, n := range p.Notes {
		text := "- " + report.InMarkdown(n) + "\n"
		if i == 0 {
			text = "\n" + text
		}
		if b.Len()+len(text) > most {
			break
		}
		b.WriteString(text)
	}
	return b.String()
}
