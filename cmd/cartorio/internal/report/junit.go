package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/compat"
)

type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Suites   []suite  `xml:"testsuite"`
}

type suite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Time     string     `xml:"time,attr"`
	Cases    []testcase `xml:"testcase"`
}

type testcase struct {
	Name    string `xml:"name,attr"`
	Class   string `xml:"classname,attr"`
	File    string `xml:"file,attr,omitempty"`
	Time    string `xml:"time,attr"`
	Error   *fault `xml:"error"`
	Failure *fault `xml:"failure"`
	Out     string `xml:"system-out,omitempty"`
}

type fault struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit prints one suite for each subject and one case for each version
// that it was compared with. A run without any says so in a passing case, since
// an empty suite is shown as a failure to run.
func writeJUnit(w io.Writer, r Run) error {
	all := suites{Name: "cartorio"}
	at := map[string]int{}
	left := r.Findings
	for _, report := range r.Reports {
		for _, c := range report.Compared {
			n, there := at[report.Subject]
			if !there {
				n = len(all.Suites)
				at[report.Subject] = n
				all.Suites = append(all.Suites, suite{Name: clean(report.Subject), Time: "0"})
			}
			one := r.testcase(report, c, &left)
			s := &all.Suites[n]
			s.Cases = append(s.Cases, one)
			s.Tests++
			all.Tests++
			if one.Error != nil {
				s.Errors++
				all.Errors++
			} else if one.Failure != nil {
				s.Failures++
				all.Failures++
			}
		}
	}
	if s := r.besideSuite(); s.Tests > 0 {
		all.Suites = append(all.Suites, s)
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
	}
	if len(all.Suites) == 0 {
		all.Tests = 1
		all.Suites = []suite{{Name: "cartorio", Tests: 1, Time: "0", Cases: []testcase{{Name: "nothing to compare", Class: "cartorio", Time: "0"}}}}
	}
	return all.write(w)
}

func (s suites) write(w io.Writer) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// testcase is one comparison: an error when it was not checked, a failure when
// something breaks; risks and what was accepted are its output.
func (r Run) testcase(report compat.Report, c compat.Comparison, left *int) testcase {
	base := orElse(c.Old.Label, "nothing before it")
	if c.Old.Label == "" && c.Old.Version > 0 {
		base = "version " + c.Old.Version.String()
	}
	title, what := report.Subject+" against "+base, [2]string{"breaking change", "breaking changes"}
	if r.Alone {
		title, what = report.Subject, [2]string{"finding", "findings"}
	}
	out := testcase{Name: clean(title), Class: clean("cartorio." + orElse(strings.ToLower(string(report.Format)), "other")), File: clean(r.path(report.Label)), Time: "0"}
	var broken, other []string
	kind, hidden := "", 0
	for i := range c.Findings {
		f := &c.Findings[i]
		if f.Severity == compat.Note && f.Accepted == nil && !r.fails(f) || f.Override != nil && f.Override.Off {
			continue
		}
		if r.Findings > 0 && *left <= 0 {
			hidden++
			if r.fails(f) {
				kind = orElse(kind, f.Rule)
			}
			continue
		}
		*left--
		text := r.itemText(*f)
		if r.fails(f) {
			kind = orElse(kind, f.Rule)
			broken = append(broken, text)
		} else {
			other = append(other, text)
		}
	}
	if hidden > 0 {
		broken = append(broken, fmt.Sprintf("%d more not shown", hidden))
	}
	switch {
	case c.Verdict == compat.NotChecked:
		out.Error = &fault{Message: clean("not checked: " + c.Reason), Type: ruleNotChecked, Text: clean(strings.Join(append([]string{c.Reason}, broken...), "\n\n"))}
	case kind != "":
		out.Failure = &fault{Message: plural(len(broken), what[0], what[1]), Type: kind, Text: clean(strings.Join(broken, "\n\n"))}
	default:
		other = append(broken, other...)
	}
	out.Out = clean(strings.Join(other, "\n\n"))
	return out
}

func (r Run) itemText(f compat.Finding) string {
	i := item{finding: &f, severity: string(f.Severity), accepted: f.Accepted}
	if f.Severity == compat.SeverityBreaking && f.Accepted == nil {
		i.hurt = r.hurts(f.Subject)
	}
	at := f.Head
	if at.File == "" {
		at = f.Base
	}
	text := place(at.File, at.Line, at.Column) + ": " + i.label() + ": " + f.Rule + ": " + f.Message
	for _, l := range i.describe() {
		text += "\n  " + l
	}
	return text
}

func place(file string, line, column int) string {
	if line > 0 {
		return fmt.Sprintf("%s:%d:%d", file, line, column)
	}
	return file
}

// clean drops what XML cannot say: most control characters, and bytes that are
// no UTF-8.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
			return '\ufffd'
		}
		return r
	}, s)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
