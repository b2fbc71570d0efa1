package report

import (
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
)

// mostResults is how many results code scanning takes in one run.
const mostResults = 25_000

// pages is where the rules are told to people; each has a heading.
const pages = "https://github.com/cartorio-registry/cartorio/blob/main/docs/rules.md"

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	ColumnKind  string            `json:"columnKind"`
	Results     []sarifResult     `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Short   sarifText `json:"shortDescription"`
	Full    sarifText `json:"fullDescription"`
	Help    sarifText `json:"help"`
	HelpURI string    `json:"helpUri"`
}

type sarifText struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitempty"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level   string    `json:"level"`
	Message sarifText `json:"message"`
}

type sarifResult struct {
	RuleID       string             `json:"ruleId"`
	RuleIndex    int                `json:"ruleIndex"`
	Level        string             `json:"level"`
	Message      sarifText          `json:"message"`
	Locations    []sarifLocation    `json:"locations,omitempty"`
	Related      []sarifLocation    `json:"relatedLocations,omitempty"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	Properties   map[string]string  `json:"properties,omitempty"`
}

type sarifLocation struct {
	ID       *int          `json:"id,omitempty"`
	Physical sarifPhysical `json:"physicalLocation"`
	Message  *sarifText    `json:"message,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
	EndLine     int `json:"endLine,omitempty"`
	EndColumn   int `json:"endColumn,omitempty"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

// writeSARIF prints one run of SARIF 2.1.0. What is accepted is a suppressed
// result; what was cut is told as a notification.
func writeSARIF(w io.Writer, r Run) error {
	list, hidden := r.shown()
	if len(list) > mostResults {
		hidden += len(list) - mostResults
		list = list[:mostResults]
	}
	name, version, _ := strings.Cut(r.Document.Tool, " ")
	run := sarifRun{
		Tool:        sarifTool{Driver: sarifDriver{Name: name, Version: orElse(version, "dev"), InformationURI: strings.TrimSuffix(pages, "/blob/main/docs/rules.md"), Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{{Successful: r.Document.Verdict != compat.NotChecked}},
		ColumnKind:  "unicodeCodePoints",
		Results:     []sarifResult{},
	}
	rules := r.rules(list)
	index := map[string]int{}
	for n, rule := range rules {
		index[rule.ID] = n
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
	}
	for _, i := range list {
		run.Results = append(run.Results, i.result(index[i.rule]))
	}
	for _, text := range r.remarks() {
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{Level: "note", Message: sarifText{Text: text}})
	}
	if hidden > 0 {
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{Level: "warning", Message: sarifText{Text: plural(hidden, "more finding is", "more findings are") + " not shown"}})
	}
	e := encoder(w)
	e.SetIndent("", " ")
	return e.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// rules are those that the items name, by id.
func (r Run) rules(list []item) []sarifRule {
	var ids []string
	for _, i := range list {
		ids = append(ids, i.rule)
	}
	slices.Sort(ids)
	var out []sarifRule
	for _, id := range slices.Compact(ids) {
		rule, ok := compat.RuleByID(r.Rules, id)
		if !ok {
			// A peer's own type, which no rule of ours explains.
			rule = compat.Rule{ID: id, Example: compat.Example{Title: id, Why: "the reference registry refuses this change.", Fix: "undo the change, or ask for a level that allows it."}}
		}
		rule.ID = id
		help := rule.Title + ".\n\n" + rule.Why + "\n\nInstead: " + rule.Fix + "\n\nSee: cartorio explain " + id
		out = append(out, sarifRule{
			ID: id, Name: camel(id), Short: sarifText{Text: rule.Title}, Full: sarifText{Text: orElse(rule.Why, rule.Title)},
			Help:    sarifText{Text: help, Markdown: strings.ReplaceAll(help, "cartorio explain "+id, "`cartorio explain "+id+"`")},
			HelpURI: orElse(r.Pages, pages) + "#" + strings.ReplaceAll(id, ".", ""),
		})
	}
	return out
}

// camel is an id as the names of SARIF rules are written.
func camel(id string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(id, func(r rune) bool { return r == '.' || r == '-' || r == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func (i item) result(rule int) sarifResult {
	level := map[string]string{breaking: "error", notChecked: "error", risk: "warning", note: "note"}[i.severity]
	text := i.message
	for _, l := range i.describe() {
		text += "\n" + l
	}
	out := sarifResult{
		RuleID: i.rule, RuleIndex: rule, Level: level, Message: sarifText{Text: text},
		Fingerprints: map[string]string{"cartorio/v1": i.fingerprint},
		Properties:   map[string]string{"subject": i.subject},
	}
	if i.file != "" {
		out.Locations = []sarifLocation{{Physical: physical(i.file, i.line, i.column, i.endLine, i.endColumn)}}
	}
	if i.base != "" {
		zero, f := 0, i.finding
		out.Related = []sarifLocation{{
			ID: &zero, Message: &sarifText{Text: "before: " + place(f.Base.File, f.Base.Line, f.Base.Column)},
			Physical: physical(i.base, f.Base.Line, f.Base.Column, f.Base.EndLine, f.Base.EndColumn),
		}}
	}
	for n, m := range i.recorded {
		out.Related = append(out.Related, sarifLocation{ID: &n, Message: &sarifText{Text: m.text}, Physical: physical(m.file, m.line, 0, 0, 0)})
	}
	if i.accepted != nil {
		out.Suppressions = []sarifSuppression{{Kind: "external", Justification: acceptance(i.accepted)}}
	}
	return out
}

func physical(file string, line, column, endLine, endColumn int) sarifPhysical {
	p := sarifPhysical{Artifact: sarifArtifact{URI: (&url.URL{Path: file}).EscapedPath()}}
	p.Region = &sarifRegion{StartLine: max(line, 1), StartColumn: max(column, 0)}
	if line > 0 && endLine >= line {
		p.Region.EndLine = endLine
		if endLine > line || endColumn > column {
			p.Region.EndColumn = endColumn
		}
	}
	return p
}
