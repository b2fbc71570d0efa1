package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
)

const (
	// MostComment bounds a comment on a pull request, in bytes: 64 KB are taken,
	// and a platform may add to them.
	MostComment = 65_000
	// MostSummary bounds a job summary, in bytes: one above 1 MiB is refused whole.
	MostSummary = 1_000_000
	// Marker begins a comment, so that the next run finds it and updates it.
	Marker = "<!-- cartorio check -->"
)

func writeComment(w io.Writer, r Run) error {
	_, err := io.WriteString(w, Marker+"\n"+Markdown(r, MostComment-len(Marker)-1))
	return err
}

// opened is how many findings stand open in markdown; the others are folded.
const opened = 5

// Markdown writes a run within most bytes, cut at a whole finding; what is cut
// is counted at the end.
func Markdown(r Run, most int) string {
	list, hidden := r.shown()
	var b strings.Builder
	fmt.Fprintf(&b, "## Cartório: %s\n\n%s\n", verdict(r), InMarkdown(summary(r)))
	for _, text := range r.remarks() {
		if b.Len() > most/4 { // they must not drive the findings out
			b.WriteString("\n- more remarks are in the log\n")
			break
		}
		b.WriteString("\n- " + InMarkdown(text) + "\n")
	}
	who := mdConsumers(r.Document, most/4)
	// The closing line must fit whatever is cut.
	room := most - 200 - len(who)
	open := false
	for n, i := range list {
		text := mdItem(i, n >= opened && i.finding != nil)
		if n == opened && len(list) > opened {
			text = fmt.Sprintf("\n<details><summary>%s</summary>\n", plural(len(list)-opened, "more finding", "more findings")) + text
		}
		if b.Len()+len(text) > room {
			hidden += len(list) - n
			break
		}
		if n == opened {
			open = true
		}
		b.WriteString(text)
	}
	if open {
		b.WriteString("\n</details>\n")
	}
	b.WriteString(who)
	if hidden > 0 {
		fmt.Fprintf(&b, "\n**%s not shown.** The form json holds all.\n", plural(hidden, "more finding is", "more findings are"))
	}
	return b.String()
}

// mdItem is one finding: a line, and what helps under it. brief leaves out what
// only the reader of one finding wants.
func mdItem(i item, brief bool) string {
	var b strings.Builder
	icon := map[string]string{breaking: "❌", notChecked: "❓", risk: "⚠️", note: "ℹ️"}[i.severity]
	if i.accepted != nil {
		icon = "☑️"
	}
	at := ""
	if i.file != "" {
		at = " " + mdCode(place(i.file, i.line, i.column))
	}
	fmt.Fprintf(&b, "\n%s **%s**%s %s: %s\n", icon, i.label(), at, mdCode(i.rule), InMarkdown(i.message))
	for _, l := range i.describe() {
		if i.finding == nil {
			fmt.Fprintf(&b, "- %s\n", InMarkdown(l))
			continue
		}
		label, text, _ := strings.Cut(l, ": ")
		switch {
		case label == "hurts": // the section about consumers says it once
		case brief && label != "accepted" && label != "was" && label != "path" && label != "fix" && label != "fingerprint":
		case label == "path" || label == "fingerprint" || label == "base" || label == "witness":
			fmt.Fprintf(&b, "- %s: %s\n", label, mdCode(text))
		default:
			fmt.Fprintf(&b, "- %s: %s\n", label, InMarkdown(text))
		}
	}
	return b.String()
}

var mdEscapes = strings.NewReplacer(
	"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"#", "\\#", "|", "\\|", "~", "\\~", "!", "\\!", "@", "&#64;", "\n", " ", "\r", " ", "\t", " ",
)

// InMarkdown keeps a text from being read as markup, from calling anybody, and
// from steering who reads it; it becomes one line.
func InMarkdown(s string) string { return mdEscapes.Replace(visible(s)) }

// mdCode is a text in a code span, whatever backticks it holds.
func mdCode(s string) string {
	s = strings.NewReplacer("\n", " ", "\r", " ").Replace(visible(s))
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || s == "" {
		s = " " + s + " "
	}
	return fence + s + fence
}

// verdict is the outcome in words, of the schemas and of what stands beside them.
func verdict(r Run) string {
	text := verdictOfSchemas(r)
	told := map[string]string{ruleRefused: "recorded messages would be refused", ruleUnread: "recorded messages were not judged", ruleStale: "exceptions are out of date"}
	for _, i := range r.beside() {
		if more := told[i.rule]; more != "" {
			text += "; " + more
			delete(told, i.rule)
		}
	}
	return text
}

func verdictOfSchemas(r Run) string {
	switch {
	case r.Document.Verdict == compat.NotChecked:
		return "not everything could be checked"
	case r.Alone && len(r.Document.Findings) == 0:
		return "nothing to say"
	case r.Alone:
		return counts(r.Document.Summary)
	case r.Document.Verdict == compat.NothingCompared:
		return "nothing was compared"
	case r.Document.Verdict == compat.Breaking && r.Document.Summary.Breaks == 0:
		return "breaking changes, allowed by the configuration"
	case r.Document.Verdict == compat.Breaking:
		return "breaking changes"
	}
	return "compatible"
}

func summary(r Run) string {
	// What stands on one side only, or could not be checked, was not compared.
	pairs, fresh, gone := 0, 0, 0
	for _, c := range r.Document.Compared {
		switch {
		case c.Verdict == compat.NotChecked:
		case c.Base == "":
			fresh++
		case c.Head == "":
			gone++
		default:
			pairs++
		}
	}
	text := plural(pairs, "pair", "pairs") + " compared"
	if r.Alone {
		text = plural(len(r.Document.Compared), "schema", "schemas") + " looked at"
	}
	if r.Base != "" {
		text += " with " + r.Base
	}
	if fresh > 0 && !r.Alone {
		text += fmt.Sprintf(", %d new", fresh)
	}
	if gone > 0 && !r.Alone {
		text += fmt.Sprintf(", %d removed", gone)
	}
	if c := counts(r.Document.Summary); c != "" {
		text += "; " + c
	}
	return text + "."
}

// counts tells what there is, in words.
func counts(s compat.Summary) string {
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, plural(n, one, many))
		}
	}
	add(s.NotChecked, "not checked", "not checked")
	add(s.Breaks, "break", "breaks")
	add(s.Risks, "risk", "risks")
	add(s.Notes, "note", "notes")
	add(s.Accepted, "accepted", "accepted")
	add(s.Lowered, "lowered by the configuration", "lowered by the configuration")
	add(s.Off, "switched off", "switched off")
	return strings.Join(parts, ", ")
}
