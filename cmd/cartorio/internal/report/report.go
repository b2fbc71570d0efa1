// Package report writes what a comparison found in the forms that platforms
// read: annotations, code quality, test results, code scanning, pages.
//
// It decides nothing: verdicts, severities and acceptances come with the [Run].
// Every form is written whole or cut at a whole finding, says how much was cut,
// and depends on the run alone: no clock, no environment, no order of a map.
//
// Start with [Named].
package report

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"github.com/cartorio-registry/cartorio/compat"
)

// Run is all that a report is made of.
type Run struct {
	// Document is the whole run; the forms print its findings and remarks.
	Document compat.Document
	// Reports are what the document was made of, in its order; the forms that
	// group by subject read them.
	Reports []compat.Report
	// Base is what was compared with, as the user wrote it.
	Base string
	// Path turns the file of a finding into a path that a platform knows,
	// slash-separated, seen from the repository's root; empty for what is no
	// file there, such as a version of a registry. Nil leaves it as it is.
	Path func(file string) string
	// Rules are the rules that findings may name.
	Rules []compat.Rule
	// Annotations is how many annotations a step may make, at most 10; 0 means 10.
	Annotations int
	// Findings is how many findings a form may show; 0 means all that fit.
	Findings int
	// Alone tells that schemas were looked at one by one and nothing was compared.
	Alone bool
	// Failing are the remarks that fail the run, such as of an exception that has
	// ended where that is not allowed.
	Failing []string
	// Fails is the lowest severity that fails a test case; breaking when empty.
	Fails compat.Severity
	// Pages is the address where the rules are told to people, each under a heading
	// of its own; that of the rules of comparing when empty.
	Pages string
}

// Form is one way to write a run.
type Form struct {
	Name    string
	Aliases []string
	Write   func(w io.Writer, r Run) error
}

// Forms lists the forms but text, which belongs to the terminal.
func Forms() []Form {
	return []Form{
		{Name: "json", Write: writeJSON},
		{Name: "jsonl", Write: writeLines},
		{Name: "github-actions", Aliases: []string{"github"}, Write: writeGitHub},
		{Name: "gitlab-code-quality", Aliases: []string{"gitlab"}, Write: writeGitLab},
		{Name: "junit", Write: writeJUnit},
		{Name: "sarif", Write: writeSARIF},
		{Name: "markdown", Write: writeComment},
		{Name: "html", Write: writeHTML},
	}
}

// Named finds a form by its name or an alias.
func Named(name string) (Form, bool) {
	for _, f := range Forms() {
		if f.Name == name || slices.Contains(f.Aliases, name) {
			return f, true
		}
	}
	return Form{}, false
}

// Names lists the names and aliases of the forms.
func Names() []string {
	var list []string
	for _, f := range Forms() {
		list = append(append(list, f.Name), f.Aliases...)
	}
	return list
}

// item is a finding or a fault, as the forms that know only places and texts
// see it.
type item struct {
	rule, title, message string
	severity             string // breaking, risk, note or not checked
	accepted             *compat.Acceptance
	file, base           string // paths, of the head and of what was before; empty for none
	line, column         int
	endLine, endColumn   int
	fingerprint          string
	subject              string
	finding              *compat.Finding // nil for a fault
	lines                []string        // what else there is to say of what is no finding
	hurt                 string          // consumers, where a registry was asked
	recorded             []recorded      // messages that show it
}

const (
	breaking   = string(compat.SeverityBreaking)
	risk       = string(compat.Risk)
	note       = string(compat.Note)
	notChecked = "not checked"
)

// ruleNotChecked is the rule of what was not compared.
const ruleNotChecked = "schema.not-checked"

// fails tells whether a finding fails the test case that it is of.
func (r Run) fails(f *compat.Finding) bool {
	order := []compat.Severity{compat.SeverityBreaking, compat.Risk, compat.Note}
	return f.Accepted == nil && slices.Index(order, f.Severity) <= max(slices.Index(order, r.Fails), 0)
}

func (r Run) path(file string) string {
	if r.Path != nil {
		return r.Path(file)
	}
	return file
}

// items lists what is worth showing: what was not checked, then findings by
// severity, each in the document's order. The accepted ones come last.
func (r Run) items() []item {
	var list []item
	for _, c := range r.Document.Compared {
		if c.Verdict != compat.NotChecked {
			continue
		}
		faults := c.Faults
		if len(faults) == 0 {
			faults = []compat.Fault{{File: orElse(c.Head, c.Base), Message: c.Reason}}
		}
		for _, f := range faults {
			list = append(list, item{
				rule: ruleNotChecked, title: "not checked", message: f.Message, severity: notChecked, subject: c.Subject,
				file: orElse(r.path(f.File), r.path(c.Head)), line: f.Line, column: f.Column,
				fingerprint: compat.FileFingerprint(c.Format, "", ruleNotChecked, orElse(r.path(f.File), c.Subject)),
			})
		}
	}
	for i := range r.Document.Findings {
		f := &r.Document.Findings[i]
		if f.Override != nil && f.Override.Off {
			continue
		}
		at := f.Head
		if at.File == "" || at.Line == 0 && f.Base.Line > 0 && f.Head.File == f.Base.File {
			at = f.Base
			if f.Head.File != "" {
				at.File = f.Head.File
			}
		}
		list = append(list, item{
			rule: f.Rule, message: f.Message, severity: string(f.Severity), accepted: f.Accepted, subject: f.Subject,
			file: r.path(at.File), line: at.Line, column: at.Column, endLine: at.EndLine, endColumn: at.EndColumn,
			fingerprint: f.Fingerprint, finding: f,
		})
		last := &list[len(list)-1]
		if f.Base.File != "" {
			last.base = r.path(f.Base.File)
		}
		if last.severity == breaking && last.accepted == nil {
			last.hurt = r.hurts(f.Subject)
		}
	}
	slices.SortStableFunc(list, func(a, b item) int { return cmp.Compare(a.rank(), b.rank()) })
	return list
}

// shown cuts items to what may be shown.
func (r Run) shown() (list []item, hidden int) {
	list = r.everything()
	if r.Findings > 0 && len(list) > r.Findings {
		return list[:r.Findings], len(list) - r.Findings
	}
	return list, 0
}

func (i item) rank() int {
	if i.accepted != nil {
		return 4
	}
	return slices.Index([]string{notChecked, breaking, risk, note}, i.severity)
}

// label is the severity for people.
func (i item) label() string {
	if i.accepted != nil {
		return "accepted"
	}
	return i.severity
}

// describe is all that a person needs to know of an item, a line each.
func (i item) describe() []string {
	f := i.finding
	if f == nil {
		return i.lines
	}
	var lines []string
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, label+": "+text)
		}
	}
	if f.Accepted != nil {
		add("accepted", acceptance(f.Accepted))
	}
	if f.Override != nil {
		add("was", string(f.Override.From)+", changed by "+f.Override.Source)
	}
	add("path", f.Path)
	if f.Severity != compat.Note {
		add("direction", f.Direction)
		add("why", f.Why)
	}
	add("fix", f.Fix)
	add("hurts", i.hurt)
	if w := f.Witness; w != nil {
		add("witness", w.Sentence())
	}
	if f.Base.File != "" {
		add("base", place(f.Base.File, f.Base.Line, f.Base.Column))
	}
	add("fingerprint", f.Fingerprint)
	return lines
}

func acceptance(a *compat.Acceptance) string {
	text := a.Reason + " (" + a.Owner
	if a.Until != "" {
		text += ", until " + a.Until
	}
	return text + ")"
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// Cut shortens a document to the findings that may be shown and counts the
// others.
func Cut(d compat.Document, most int) compat.Document {
	if most > 0 && len(d.Findings) > most {
		d.Summary.Hidden = len(d.Findings) - most
		d.Findings = d.Findings[:most]
	}
	return d
}

func encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

func writeJSON(w io.Writer, r Run) error {
	e := encoder(w)
	e.SetIndent("", "  ")
	return e.Encode(Cut(r.Document, r.Findings))
}

// line is one line of the form jsonl: exactly one member is there.
type line struct {
	Compared *compat.Compared `json:"compared,omitempty"`
	Finding  *compat.Finding  `json:"finding,omitempty"`
	Replay   *compat.Replay   `json:"replay,omitempty"`
	Consumer *compat.Impact   `json:"consumer,omitempty"`
	Advice   *compat.Advice   `json:"advice,omitempty"`
	Run      *end             `json:"run,omitempty"`
}

// end closes the lines.
type end struct {
	Version int            `json:"version"`
	Tool    string         `json:"tool"`
	Verdict compat.Verdict `json:"verdict"`
	Summary compat.Summary `json:"summary"`
	Remarks []string       `json:"remarks,omitempty"`
}

// writeLines prints the document as one JSON object a line: what was compared,
// then the findings, what became of recorded messages, who reads the subjects, and
// what it all comes to.
func writeLines(w io.Writer, r Run) error {
	d := Cut(r.Document, r.Findings)
	var lines []line
	for i := range d.Compared {
		lines = append(lines, line{Compared: &d.Compared[i]})
	}
	for i := range d.Findings {
		lines = append(lines, line{Finding: &d.Findings[i]})
	}
	for i := range d.Replays {
		lines = append(lines, line{Replay: &d.Replays[i]})
	}
	for i := range d.Consumers {
		lines = append(lines, line{Consumer: &d.Consumers[i]})
	}
	for i := range d.Advice {
		lines = append(lines, line{Advice: &d.Advice[i]})
	}
	lines = append(lines, line{Run: &end{Version: d.Version, Tool: d.Tool, Verdict: d.Verdict, Summary: d.Summary, Remarks: d.Remarks}})
	e := encoder(w)
	for _, l := range lines {
		if err := e.Encode(l); err != nil {
			return err
		}
	}
	return nil
}
