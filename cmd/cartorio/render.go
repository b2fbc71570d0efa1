package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/report"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// writeJSON prints a document: indented, <, > and & as they are.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// The colours of the severities, as SGR codes.
const (
	red    = "1;31"
	yellow = "33"
	blue   = "34"
	green  = "32"
	dim    = "2"
	bold   = "1"
)

func colourOf(s compat.Severity) string {
	switch s {
	case compat.SeverityBreaking:
		return red
	case compat.Risk:
		return yellow
	case compat.Note:
		return blue
	}
	return blue
}

// text prints a document for people: one line for each finding, in the form
// "file:line:column: severity: rule: message" that editors understand, what
// helps below it, and one line of counts at the end.
type text struct {
	b       strings.Builder
	colours bool
}

func renderText(w io.Writer, colours bool, doc compat.Document, results []result, against string) error {
	t := &text{colours: colours}
	t.replays(doc.Replays)
	if against == "" {
		_, err := io.WriteString(w, t.b.String())
		return err
	}
	left := len(doc.Findings) // the others were cut
	for _, r := range results {
		for _, c := range r.report.Compared {
			if c.Verdict == compat.NotChecked {
				t.notChecked(r, c)
			}
			for _, f := range c.Findings {
				if left--; left >= 0 && (f.Override == nil || !f.Override.Off) {
					t.finding(f, r.report.Label)
				}
			}
		}
	}
	if n := doc.Summary.Hidden; n > 0 {
		fmt.Fprintf(&t.b, "%s not shown: --max-findings 0 shows all\n", plural(n, "more finding is", "more findings are"))
	}
	t.readers(doc)
	t.summary(doc, results, against)
	_, err := io.WriteString(w, t.b.String())
	return err
}

func (t *text) paint(code, text string) string { return paint(t.colours, code, text) }

// notChecked prints why a pair was not compared, one line for each thing that
// is wrong with a text.
func (t *text) notChecked(r result, c compat.Comparison) {
	where := plain(orWord(r.where, orWord(r.report.Label, c.Old.Label)))
	head := t.paint(red, "not checked") + ": "
	var list schemas.SyntaxErrors
	if r.broken != nil && errors.As(r.broken, &list) {
		for _, one := range list {
			at := where
			if one.Position.Line > 0 {
				at += fmt.Sprintf(":%d:%d", one.Position.Line, one.Position.Column)
			}
			one.Position = schemas.Position{}
			fmt.Fprintf(&t.b, "%s: %s%s\n", t.paint(bold, at), head, plain(one.Error()))
		}
		return
	}
	fmt.Fprintf(&t.b, "%s: %s%s\n", t.paint(bold, where), head, plain(c.Reason))
}

// finding prints one finding of a pair whose new side is label.
func (t *text) finding(f compat.Finding, label string) {
	severity := t.paint(colourOf(f.Severity), string(f.Severity))
	if f.Accepted != nil {
		severity = t.paint(dim, "accepted")
	}
	fmt.Fprintf(&t.b, "%s: %s: %s: %s\n", t.paint(bold, place(f)), severity, f.Rule, plain(f.Message))
	if f.Accepted != nil {
		until := ""
		if f.Accepted.Until != "" {
			until = ", until " + f.Accepted.Until
		}
		t.line("accepted", fmt.Sprintf("%s (%s%s)", f.Accepted.Reason, f.Accepted.Owner, until))
	}
	if f.Override != nil {
		t.line("was", string(f.Override.From)+", changed by "+f.Override.Source)
	}
	if f.Severity == compat.Note && f.Override == nil {
		if !strings.HasPrefix(f.Fix, "nothing ") || strings.Contains(f.Fix, ";") {
			t.line("fix", f.Fix)
		}
		return
	}
	t.line("path", f.Path)
	switch {
	case label == "" || f.Head.File == "" || f.Head.File == label:
	case f.Rule == ruleStability || f.Rule == rulePartitionKey:
		t.line("schema", label) // the place is in the configuration
	default:
		t.line("seen in", label+", which refers to it")
	}
	switch f.Direction {
	case "backward":
		t.line("direction", "backward: the new schema reads what the old one wrote")
	case "forward":
		t.line("direction", "forward: the old schema reads what the new one wrote")
	case "both":
		t.line("direction", "both")
	}
	t.line("why", lowered(f.Why))
	t.line("fix", f.Fix)
	if w := f.Witness; w != nil {
		t.line("witness", w.Sentence())
		if w.Value != "" && w.Hex != "" && f.Format != schemas.JSON {
			t.line("bytes", w.Hex)
		}
	}
	if f.Base.File != "" && f.Head.File != "" && f.Head.Line > 0 {
		t.line("base", located(f.Base))
	}
	if len(f.Aliases) > 0 {
		t.line("also called", strings.Join(f.Aliases, ", "))
	}
	t.line("fingerprint", f.Fingerprint)
}

// lowered begins a sentence as the lines around it begin, unless its first word
// is a name or an abbreviation.
func lowered(sentence string) string {
	first, _, _ := strings.Cut(sentence, " ")
	if len(first) > 1 && strings.ToLower(first[1:]) != first[1:] || slices.Contains([]string{"Avro", "Protobuf", "Confluent", "Java", "Kafka"}, first) {
		return sentence
	}
	return strings.ToLower(sentence[:min(1, len(sentence))]) + sentence[min(1, len(sentence)):]
}

// line prints one detail; long texts stay on one line so that they can be
// searched for.
func (t *text) line(label, value string) {
	if value == "" {
		return
	}
	fmt.Fprintf(&t.b, "    %s %s\n", t.paint(dim, fmt.Sprintf("%-11s", label)), plain(value))
}

// summary prints the counts, those that are not zero.
func (t *text) summary(doc compat.Document, results []result, against string) {
	compared, fresh, gone := 0, 0, 0
	for _, r := range results {
		switch {
		case r.report.NotChecked && r.broken == nil && r.pair.Err == nil:
		case r.broken == nil && r.pair.Err == nil && (r.pair.Old != nil || r.old) && r.pair.New != nil:
			compared++
		case r.pair.Err != nil || r.broken != nil:
		case r.pair.Old == nil && !r.old:
			fresh++
		case r.pair.New == nil:
			gone++
		}
	}
	s := doc.Summary
	if t.b.Len() > 0 {
		t.b.WriteByte('\n')
	}
	var counts []string
	count := func(n int, word string) {
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, word))
		}
	}
	if doc.Verdict == compat.NothingCompared {
		// What was not compared is not called compatible.
		t.b.WriteString(t.paint(yellow, "nothing compared") + ": ")
		if fresh > 0 {
			counts = append(counts, plural(fresh, "new schema", "new schemas"))
		}
	} else {
		colour, verdict := red, strings.ReplaceAll(string(doc.Verdict), "_", " ")
		if doc.Verdict == compat.Compatible {
			colour = green
		}
		fmt.Fprintf(&t.b, "%s: ", t.paint(colour, verdict))
		counts = append(counts, plural(compared, "schema compared", "schemas compared")+" with "+plain(against))
		count(fresh, "new")
	}
	count(gone, "removed")
	count(s.Breaking, "breaking")
	count(s.NotChecked, "not checked")
	t.b.WriteString(strings.Join(counts, ", "))
	separator := "; "
	for _, part := range []struct {
		n         int
		one, many string
	}{{s.Breaks, "break", "breaks"}, {s.Risks, "risk", "risks"}, {s.Notes, "note", "notes"}, {s.Accepted, "accepted", "accepted"}, {s.Lowered, "lowered by the configuration", "lowered by the configuration"}, {s.Off, "switched off", "switched off"}} {
		if part.n > 0 {
			t.b.WriteString(separator + plural(part.n, part.one, part.many))
			separator = ", "
		}
	}
	t.b.WriteByte('\n')
}

// place is where a finding is shown: in the head, or in the base when the head
// has no such file.
func place(f compat.Finding) string {
	if f.Head.File == "" {
		return located(f.Base)
	}
	return located(f.Head)
}

func located(l compat.Location) string {
	at := plain(l.File)
	if l.Line > 0 {
		at += fmt.Sprintf(":%d:%d", l.Line, l.Column)
	}
	return at
}

// plain keeps a text from a schema or a file name from steering the terminal or
// breaking the line.
func plain(s string) string { return report.Plain(s) }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func dirOf(file string) string { return filepath.Dir(file) }

// replays prints what became of recorded messages.
func (t *text) replays(list []compat.Replay) {
	for i, line := range replayRemarks(list) {
		t.b.WriteString(plain(line) + "\n")
		for n, reason := range list[i].Reasons {
			if n == mostShownReasons {
				fmt.Fprintf(&t.b, "    %d more reasons\n", len(list[i].Reasons)-mostShownReasons)
				break
			}
			fmt.Fprintf(&t.b, "    %s\n", plain(fmt.Sprintf("%d %s, first %s: %s", reason.Messages, reason.Outcome, orWord(reason.First, "of many"), reason.Text)))
		}
	}
}
