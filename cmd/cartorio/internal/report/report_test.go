package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/report"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// hostile is a text that every form must escape.
const hostile = "a<b>&\"'`|*_[x](y)\n::error::%0A,:\x01\u2028 @everyone <!-- --> ]]> é"

// runOf makes a run of n findings, each in a file of its own, after one of each
// other kind where full says so.
func runOf(n int, full bool) report.Run {
	var reports []compat.Report
	for i := range n {
		f := compat.Finding{
			Rule: "avro.field-added-without-default", Aliases: []string{"X"}, Severity: compat.SeverityBreaking, Direction: "backward", Format: schemas.Avro,
			Subject: fmt.Sprintf("s%05d", i), Path: "com.acme.Order.mail",
			Base:    compat.Location{Label: "git:main", File: fmt.Sprintf("git:main:schemas/s%05d.avsc", i), Line: 1, Column: 1, EndLine: 1, EndColumn: 9},
			Head:    compat.Location{Label: "schemas", File: fmt.Sprintf("schemas/s%05d.avsc", i), Line: 3, Column: 5, EndLine: 3, EndColumn: 30},
			Message: "field mail was added without a default", Why: "old payloads do not carry it.", Fix: "give it a default.",
			Witness:     &compat.ShownWitness{Value: `{"id":0}`, Bytes: "AA==", Hex: "00", Writer: "old", Reader: "new", Layer: "data", Text: "no default for mail"},
			Fingerprint: fmt.Sprintf("%032x", i+1),
		}
		reports = append(reports, of(f, compat.Breaking))
	}
	if full {
		risk := compat.Finding{
			Rule: "schema.removed", Aliases: []string{}, Severity: compat.Risk, Direction: "both", Format: schemas.JSON, Subject: "gone", Message: hostile, Path: hostile,
			Base: compat.Location{File: "git:main:schemas/gone.json", Line: 1, Column: 1}, Why: hostile, Fix: hostile, Fingerprint: fmt.Sprintf("%032x", 1<<30),
		}
		note := compat.Finding{
			Rule: "avro.doc-changed", Aliases: []string{}, Severity: compat.Note, Direction: "both", Format: schemas.Avro, Subject: "doc", Message: hostile,
			Head: compat.Location{File: "schemas/ü,:%.avsc", Line: 2, Column: 1, EndLine: 4, EndColumn: 2}, Fingerprint: fmt.Sprintf("%032x", 1<<31),
		}
		accepted := risk
		accepted.Severity, accepted.Fingerprint, accepted.Subject = compat.SeverityBreaking, fmt.Sprintf("%032x", 1<<32), "accepted"
		accepted.Accepted = &compat.Acceptance{Reason: hostile, Owner: "team-a", Until: "2027-01-01T00:00:00Z", Source: "cartorio.exceptions.yaml"}
		off := note
		off.Override, off.Message, off.Fingerprint = &compat.Override{From: compat.Risk, Off: true, Source: "cartorio.yaml, line 3"}, "nobody sees this", fmt.Sprintf("%032x", 1<<33)
		reports = append(reports, of(risk, compat.Compatible), of(note, compat.Compatible), of(accepted, compat.Compatible), of(off, compat.Compatible))
		reports = append(reports, compat.Report{
			Subject: "bad", Label: "schemas/bad.avsc", Format: schemas.Avro, NotChecked: true,
			Compared: []compat.Comparison{{Verdict: compat.NotChecked, Reason: hostile, Faults: []compat.Fault{{File: "schemas/bad.avsc", Line: 4, Column: 2, Message: hostile}}}},
		})
	}
	doc := compat.NewDocument("cartorio 1.2.3", reports...)
	if full {
		doc.Remarks = []string{hostile}
	}
	return report.Run{
		Document: doc, Reports: reports, Base: "git:main", Rules: checkers.Rules(),
		Path: func(file string) string { return strings.TrimPrefix(file, "git:main:") },
	}
}

func of(f compat.Finding, v compat.Verdict) compat.Report {
	return compat.Report{
		Subject: f.Subject, Label: f.Head.File, Format: f.Format, Level: compat.Backward, Compatible: v == compat.Compatible,
		Compared: []compat.Comparison{{Old: compat.Old{Label: f.Base.File}, Verdict: v, Findings: []compat.Finding{f}}},
	}
}

func write(t *testing.T, name string, r report.Run) string {
	t.Helper()
	form, ok := report.Named(name)
	if !ok {
		t.Fatalf("there is no form %s", name)
	}
	var b, again bytes.Buffer
	if err := form.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	if len(r.Reports) > 100 {
		return b.String()
	}
	if err := form.Write(&again, r); err != nil || again.String() != b.String() {
		t.Errorf("%s: two runs differ (%v)", name, err)
	}
	return b.String()
}

var sizes = map[string]report.Run{"empty": runOf(0, false), "one of each": runOf(1, true), "many": runOf(many, true)}

func compile(t *testing.T, name string, text []byte) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///"+name, bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func fits(t *testing.T, s *jsonschema.Schema, text string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("it is no JSON: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Error("something follows the document")
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%#v", err)
	}
}

// What a platform would refuse, its published schema refuses.
func TestFormsFitTheirSchemas(t *testing.T) {
	t.Parallel()
	for form, schema := range map[string][]byte{
		"sarif": file(t, "sarif-2.1.0.json"), "gitlab-code-quality": file(t, "gitlab-code-quality.json"), "json": compat.DocumentSchema(),
	} {
		compiled, ours := compile(t, form+".json", schema), parse(t, string(schema))
		for size, run := range sizes {
			t.Run(form+"/"+size, func(t *testing.T) {
				text := write(t, form, run)
				reads(t, ours, text)
				// The referee takes long for ten thousand findings; it has seen one of each.
				if size != "many" {
					fits(t, compiled, text)
				}
			})
		}
	}
}

func parse(t *testing.T, text string) schemas.Schema {
	t.Helper()
	format, _ := formats.Named(schemas.JSON)
	s, err := format.Parse(t.Context(), schemas.Source{Type: schemas.JSON, Text: text}, nil, schemas.ParseOptions{Mode: schemas.Stored})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// reads validates with our own validator, which is quick.
func reads(t *testing.T, s schemas.Schema, text string) {
	t.Helper()
	r := s.Reads(s, schemas.Payload{Bytes: []byte(text)}, schemas.ReadOptions{Bytes: 64 << 20, Steps: 1 << 30, Violations: 3})
	for _, v := range r.Violations {
		t.Errorf("%s at %s: %s", v.Rule, v.Payload, v.Text)
	}
}

func TestSARIFRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := compile(t, "sarif.json", file(t, "sarif-2.1.0.json"))
	text := strings.Replace(write(t, "sarif", runOf(1, false)), `"level": "error"`, `"level": "breaking"`, 1)
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	if s.Validate(v) == nil {
		t.Error("the schema takes a level that SARIF does not know")
	}
	ours := parse(t, string(file(t, "sarif-2.1.0.json")))
	if ours.Reads(ours, schemas.Payload{Bytes: []byte(text)}, schemas.ReadOptions{}).OK() {
		t.Error("our validator takes a level that SARIF does not know")
	}
}

func TestLinesAreTheDocument(t *testing.T) {
	t.Parallel()
	root := map[string]any{}
	if err := json.Unmarshal(compat.DocumentSchema(), &root); err != nil {
		t.Fatal(err)
	}
	defs := root["$defs"].(map[string]any)
	schema := func(def string) *jsonschema.Schema {
		text, err := json.Marshal(map[string]any{"$schema": root["$schema"], "$defs": defs, "$ref": "#/$defs/" + def})
		if err != nil {
			t.Fatal(err)
		}
		return compile(t, def+".json", text)
	}
	kinds := map[string]*jsonschema.Schema{"finding": schema("finding"), "compared": schema("compared"), "run": nil}
	run := sizes["one of each"]
	seen := map[string]int{}
	for l := range strings.Lines(write(t, "jsonl", run)) {
		var v map[string]any
		if err := json.Unmarshal([]byte(l), &v); err != nil || len(v) != 1 {
			t.Fatalf("%q: %v", l, err)
		}
		for kind, value := range v {
			s, known := kinds[kind]
			if !known {
				t.Errorf("a line is a %s", kind)
			}
			seen[kind]++
			if s == nil {
				continue
			}
			if err := s.Validate(value); err != nil {
				t.Errorf("%#v", err)
			}
		}
	}
	if seen["run"] != 1 || seen["finding"] != len(run.Document.Findings) || seen["compared"] != len(run.Document.Compared) {
		t.Errorf("the lines are %v", seen)
	}
}

// junit follows Jenkins' schema: which elements may stand where, which
// attributes they must have, and that counts add up.
func TestJUnitFitsItsSchema(t *testing.T) {
	t.Parallel()
	type element struct {
		children, must, may string
		text                bool
	}
	rules := map[string]element{
		"testsuites": {children: "testsuite", must: "name tests failures errors"},
		"testsuite":  {children: "testcase", must: "name tests failures errors skipped time"},
		"testcase":   {children: "error failure system-out", must: "name classname time", may: "file"},
		"error":      {must: "message type", text: true},
		"failure":    {must: "message type", text: true},
		"system-out": {text: true},
	}
	for size, run := range sizes {
		text := write(t, "junit", run)
		d := xml.NewDecoder(strings.NewReader(text))
		var stack []string
		count := map[string]int{}
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", size, err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				name := token.Name.Local
				rule, known := rules[name]
				if !known {
					t.Fatalf("%s: element %s", size, name)
				}
				if len(stack) == 0 && name != "testsuites" || len(stack) > 0 && !strings.Contains(rules[stack[len(stack)-1]].children, name) {
					t.Errorf("%s: %s stands inside %v", size, name, stack)
				}
				has := map[string]bool{}
				for _, a := range token.Attr {
					has[a.Name.Local] = true
					if !strings.Contains(rule.must+" "+rule.may, a.Name.Local) {
						t.Errorf("%s: %s has an attribute %s", size, name, a.Name.Local)
					}
				}
				for _, must := range strings.Fields(rule.must) {
					if !has[must] {
						t.Errorf("%s: %s lacks %s", size, name, must)
					}
				}
				stack = append(stack, name)
				count[name]++
			case xml.EndElement:
				stack = stack[:len(stack)-1]
			case xml.CharData:
				if len(stack) > 0 && !rules[stack[len(stack)-1]].text && strings.TrimSpace(string(token)) != "" {
					t.Errorf("%s: text inside %v", size, stack)
				}
			}
		}
		head := fmt.Sprintf(`tests="%d" failures="%d" errors="%d"`, count["testcase"], count["failure"], count["error"])
		if !strings.Contains(text[:200], head) {
			t.Errorf("%s: the head is not %s: %s", size, head, text[:200])
		}
		if count["testcase"] == 0 {
			t.Errorf("%s: no case at all", size)
		}
	}
}

func TestAnnotationsAreFewAndSaySo(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 0, 1: 1, 10: 10, 11: 10, 25: 10, many: 10} {
		text := write(t, "github-actions", runOf(n, false))
		if got := strings.Count(text, "\n"); got != want {
			t.Errorf("%d findings give %d annotations, want %d", n, got, want)
		}
		for l := range strings.Lines(text) {
			if !strings.HasPrefix(l, "::error ") {
				t.Errorf("stdout holds %q", l)
			}
		}
		if n > 10 && !strings.Contains(text, fmt.Sprintf("%d findings in all", n)) {
			t.Errorf("the total of %d is not told:\n%s", n, text)
		}
	}
	run := runOf(25, false)
	run.Annotations = 3
	if got := strings.Count(write(t, "github-actions", run), "\n"); got != 3 {
		t.Errorf("%d annotations where 3 are allowed", got)
	}
}

func TestAnnotationsEscape(t *testing.T) {
	t.Parallel()
	text := write(t, "github-actions", sizes["one of each"])
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, "::error ") && !strings.HasPrefix(l, "::warning ") && !strings.HasPrefix(l, "::notice ") {
			t.Errorf("a text of a schema began a line: %q", l)
		}
	}
	if !strings.Contains(text, "file=schemas/ü%2C%3A%25.avsc,line=2,endLine=4,") {
		t.Errorf("the name of a file is not escaped:\n%s", text)
	}
}

func TestMarkdownFits(t *testing.T) {
	t.Parallel()
	for n, run := range map[int]report.Run{0: sizes["empty"], 25: runOf(25, false), many: sizes["many"]} {
		comment, summary := write(t, "markdown", run), report.Markdown(run, report.MostSummary)
		if len(comment) > 64<<10 || len(summary) > 1<<20 {
			t.Errorf("%d findings: comment %d bytes, summary %d", n, len(comment), len(summary))
		}
		if !strings.HasPrefix(comment, report.Marker+"\n") {
			t.Error("a comment does not begin with its marker")
		}
		for name, text := range map[string]string{"comment": comment, "summary": summary} {
			if strings.Count(text, "<details>") != strings.Count(text, "</details>") {
				t.Errorf("%s: a fold is not closed", name)
			}
			shown := strings.Count(text, "`schemas/s")
			if strings.Count(text, "fingerprint: `") < shown {
				t.Errorf("%s of %d: a finding was cut in its middle", name, n)
			}
			if shown < n && !strings.Contains(text, fmt.Sprintf("%d more findings are not shown", len(run.Document.Findings)-1*b2i(n == many)+b2i(n == many)-shown)) && !strings.Contains(text, "not shown") {
				t.Errorf("%s of %d shows %d and does not say so", name, n, shown)
			}
		}
		if n == 25 && strings.Count(summary, "`schemas/s") != 25 {
			t.Errorf("the summary of 25 findings shows %d", strings.Count(summary, "`schemas/s"))
		}
	}
}

// TestSummaryCountsWhatWasCompared: what is new, gone or not checked is none of the
// pairs that were compared.
func TestSummaryCountsWhatWasCompared(t *testing.T) {
	t.Parallel()
	pair := compat.Compared{Base: "git:main:a.avsc", Head: "a.avsc", Verdict: compat.Compatible}
	fresh := compat.Compared{Head: "b.avsc", Verdict: compat.Compatible}
	gone := compat.Compared{Base: "git:main:c.avsc", Verdict: compat.Compatible}
	open := compat.Compared{Head: "d.avsc", Verdict: compat.NotChecked}
	for want, compared := range map[string][]compat.Compared{
		"1 pair compared with registry:.":                                             {pair},
		"0 pairs compared with registry:, 2 new.":                                     {fresh, fresh},
		"2 pairs compared with registry:, 1 new, 1 removed; 1 not checked, 3 breaks.": {pair, fresh, gone, open, pair},
	} {
		run := report.Run{Base: "registry:", Document: compat.Document{Verdict: compat.Compatible, Compared: compared}}
		if len(compared) > 2 {
			run.Document.Summary = compat.Summary{NotChecked: 1, Breaks: 3}
		}
		for _, form := range []string{"markdown", "html"} {
			if got := write(t, form, run); !strings.Contains(got, want) {
				t.Errorf("%s does not say %q:\n%s", form, want, got)
			}
		}
	}
}

// A schema that was looked at alone was compared with nothing, and no page calls it
// compatible.
func TestPageOfSchemasAlone(t *testing.T) {
	t.Parallel()
	run := report.Run{Alone: true, Document: compat.Document{Verdict: compat.NothingCompared, Compared: []compat.Compared{{Subject: "order", Head: "order.avsc", Level: "NONE", Verdict: compat.Compatible}}}}
	if got := write(t, "html", run); strings.Contains(got, "Compared") || strings.Contains(got, "compatible") {
		t.Errorf("the page tells of a comparison:\n%s", got)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestTextOfSchemasIsNoMarkup(t *testing.T) {
	t.Parallel()
	run := sizes["one of each"]
	md := write(t, "markdown", run)
	for _, bad := range []string{"<b>", " @everyone", "\n::error", "[x](y)", "<!-- -->"} {
		if n := strings.Count(md, bad); n > strings.Count(md, "`"+bad) && !inCode(md, bad) {
			t.Errorf("markdown holds %q", bad)
		}
	}
	page := write(t, "html", run)
	for _, bad := range []string{"<b>", "<!-- -->", "<script", "http://", "https://"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if strings.Contains(md+page, "nobody sees this") {
		t.Error("a finding that is off is shown")
	}
}

// inCode tells whether every place of bad lies in a code span.
func inCode(md, bad string) bool {
	for l := range strings.Lines(md) {
		if at := strings.Index(l, bad); at >= 0 && strings.Count(l[:at], "``") == 0 {
			return false
		}
	}
	return true
}

// Entries that a merge request would collapse are one entry.
func TestGitLabHasNoEqualFingerprints(t *testing.T) {
	t.Parallel()
	run := runOf(2, false)
	run.Document.Findings = append(run.Document.Findings, run.Document.Findings...)
	var list []struct{ Fingerprint string }
	if err := json.Unmarshal([]byte(write(t, "gitlab", run)), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0] == list[1] {
		t.Errorf("%v", list)
	}
}

func TestFewerFindings(t *testing.T) {
	t.Parallel()
	for _, name := range report.Names() {
		run := runOf(50, false)
		run.Findings = 7
		text := write(t, name, run)
		for i := range 50 {
			if there := strings.Contains(text, fmt.Sprintf("schemas/s%05d.avsc", i)); there && i >= 7 && name != "json" && name != "jsonl" && name != "html" && name != "junit" {
				t.Errorf("%s shows finding %d of 7", name, i)
			}
		}
	}
}

func TestEveryRuleOfAReportIsExplained(t *testing.T) {
	t.Parallel()
	for _, f := range []string{"schema.not-checked", "schema.version-not-raised", "schema.stability-lowered", "messages.refused", "messages.changed", "messages.unread", "exceptions.stale"} {
		if _, ok := compat.RuleByID(checkers.Rules(), f); !ok {
			t.Errorf("%s has no rule", f)
		}
	}
}
