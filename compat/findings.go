package compat

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the published form of a document
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Severity is how much a finding matters to the question asked.
type Severity string

// The severities.
const (
	SeverityBreaking Severity = "breaking" // refuses the pair under the level and policy asked
	Risk             Severity = "risk"     // refuses nothing, but hurts somebody
	Note             Severity = "note"     // is there to be known
)

func (s Severity) rank() int {
	switch s {
	case SeverityBreaking:
		return 0
	case Risk:
		return 1
	case Note:
		return 2
	}
	return -1
}

// Location is a place in one of the two texts, for people and for annotations.
// Lines and columns count from 1, columns in bytes; 0 is not known.
type Location struct {
	Label     string `json:"label"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	Pointer   string `json:"pointer"`
	Text      string `json:"text,omitempty"` // the value there, short
	// Elsewhere tells that the pointer leads into a text that the schema refers
	// to; lines and columns are then not known.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// ShownWitness is a witness as a document shows it.
type ShownWitness struct {
	Value   string `json:"value"`             // JSON, for people
	Bytes   string `json:"bytes"`             // the payload, base64
	Hex     string `json:"hex"`               // the same, for eyes
	Message string `json:"message,omitempty"` // Protobuf's full name
	Writer  string `json:"writer"`            // "old" or "new"
	Reader  string `json:"reader"`            // the side that fails
	Layer   string `json:"layer"`
	Text    string `json:"text"` // what the failing side says

	// Kind is how the reader hurts the value; Unhurt where that is not known.
	Kind Kind `json:"-"`
}

// Sentence is the witness in words: the value, and what becomes of it.
func (w ShownWitness) Sentence() string {
	value := w.Value
	if value == "" {
		value = "bytes " + w.Hex
	}
	text := strings.TrimSpace(w.Message + " " + value)
	fate := "fails under the " + w.Reader + " one"
	switch w.Kind {
	case Lost:
		fate = "loses a value under the " + w.Reader + " one"
	case Altered, AlteredOutOfRange:
		fate = "reads as another value under the " + w.Reader + " one"
	case MeaningOnly:
		fate = "stands for something else under the " + w.Reader + " one"
	case Unhurt, Refused:
	}
	return text + ", written with the " + w.Writer + " schema, " + fate + ": " + w.Text
}

// Finding is what people see: a change, joined with the differences it
// explains, or a difference that no change explains.
type Finding struct {
	Rule        string        `json:"rule"`
	Aliases     []string      `json:"aliases"` // the peer's names
	Severity    Severity      `json:"severity"`
	Direction   string        `json:"direction"` // backward, forward or both
	Format      schemas.Type  `json:"format"`
	Subject     string        `json:"subject"`
	Path        string        `json:"path"` // logical
	Base        Location      `json:"base"`
	Head        Location      `json:"head"`
	Message     string        `json:"message"`
	Why         string        `json:"why"`
	Fix         string        `json:"fix"`
	Witness     *ShownWitness `json:"witness"`
	Fingerprint string        `json:"fingerprint"`
	Accepted    *Acceptance   `json:"accepted"`
	// Override tells that the configuration of a gate shows the finding as more
	// or less than it is; nil where it does not. It changes no verdict.
	Override *Override `json:"override,omitempty"`
	// Repairs are ways out that were checked, the nearest first; only where they
	// were asked for.
	Repairs []Repair `json:"repairs,omitempty"`
	// Also is the fingerprint that the finding has by another name of its subject;
	// an exception may have that one. Empty for none.
	Also string `json:"-"`
}

// Override is a severity that a configuration changed.
type Override struct {
	From   Severity `json:"from"`          // what the comparison says
	Off    bool     `json:"off,omitempty"` // not shown to people at all
	Source string   `json:"source"`        // where the configuration says so
}

// Fault is one thing that kept a pair from being compared. Line and column count
// from 1; 0 is not known.
type Fault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

// Compared is one compared pair of a document.
type Compared struct {
	Subject       string       `json:"subject"`
	Format        schemas.Type `json:"format"`
	Base          string       `json:"base"`
	Head          string       `json:"head"`
	Version       int          `json:"version,omitempty"` // of the old side, in a registry
	Level         string       `json:"level"`             // or the category that replaced it
	Policy        string       `json:"policy"`
	VerdictPolicy string       `json:"verdict_policy"`
	Direction     string       `json:"direction"`
	Verdict       Verdict      `json:"verdict"`
	Reason        string       `json:"reason,omitempty"` // why it was not checked
	Faults        []Fault      `json:"faults,omitempty"` // the same, with places
}

// Summary counts a document.
type Summary struct {
	Compared   int `json:"compared"`
	Compatible int `json:"compatible"`
	Breaking   int `json:"breaking"`    // pairs
	NotChecked int `json:"not_checked"` // pairs
	Breaks     int `json:"breaks"`      // findings, without the accepted ones
	Risks      int `json:"risks"`
	Notes      int `json:"notes"`
	Accepted   int `json:"accepted"`
	// Lowered are the breaks that a configuration shows as less than they are;
	// Off are findings of any severity that it does not show, counted nowhere else.
	Lowered int `json:"lowered,omitempty"`
	Off     int `json:"off,omitempty"`
	Hidden  int `json:"hidden,omitempty"` // findings that were cut from this document
}

// Document is the findings of one run, the same for command line, API and
// pages. Its order depends on the reports alone.
type Document struct {
	Version  int        `json:"version"` // of this form
	Tool     string     `json:"tool"`
	Verdict  Verdict    `json:"verdict"`
	Compared []Compared `json:"compared"`
	Findings []Finding  `json:"findings"`
	Summary  Summary    `json:"summary"`
	Advice   []Advice   `json:"advice,omitempty"` // where it was asked for
	// Remarks are what a person should know beside the findings: exceptions that
	// have ended, patterns that match nothing.
	Remarks []string `json:"remarks,omitempty"`
	Replays []Replay `json:"replays,omitempty"` // where recorded messages were run
	// Consumers are those that a registry knows to read the subjects, where it was
	// asked.
	Consumers []Impact `json:"consumers,omitempty"`
}

// Replay is what one schema makes of recorded messages; the counts of outcomes
// add up to Messages.
type Replay struct {
	Subject  string `json:"subject"`
	Schema   string `json:"schema"` // the file
	Messages int    `json:"messages"`
	Accepted int    `json:"accepted"`
	Refused  int    `json:"refused"` // by the new schema, and not by the one before
	Changed  int    `json:"changed"` // accepted, and read as another value
	Already  int    `json:"already"` // refused by the schema before as well
	Mended   int    `json:"mended"`  // refused by the schema before, and accepted by the new one as its own
	Unread   int    `json:"unread"`  // the recording holds no payload there
	// Reasons tell why, the most frequent first.
	Reasons []ReplayReason `json:"reasons"`
}

// ReplayReason is why messages were not accepted as they are.
type ReplayReason struct {
	Outcome  string `json:"outcome"` // refused, changed, already or unread
	Rule     string `json:"rule"`    // of the reader: a keyword, a step of resolution
	Schema   string `json:"schema"`  // place in the schema, a JSON Pointer
	Messages int    `json:"messages"`
	Text     string `json:"text"`    // of the first one
	First    string `json:"first"`   // where the first one is recorded
	Payload  string `json:"payload"` // place in the first one, a JSON Pointer
}

//go:embed findings.schema.json
var documentSchema []byte

// DocumentSchema is the JSON Schema (draft 2020-12) that every [Document]
// written as JSON fits.
func DocumentSchema() []byte { return slices.Clone(documentSchema) }

// NewDocument gathers reports in the order given. One pair that was not checked
// makes the whole not checked, since a partial answer is none; and where no
// schema had one to be compared with, nothing was compared.
func NewDocument(tool string, reports ...Report) Document {
	d := Document{Version: 1, Tool: tool, Verdict: NothingCompared, Compared: []Compared{}, Findings: []Finding{}}
	for _, r := range reports {
		if r.Level == None && len(r.Compared) == 0 { // which asks nothing of any pair
			d.Verdict = Compatible
		}
		for _, c := range r.Compared {
			if !c.OneSided && d.Verdict == NothingCompared {
				d.Verdict = Compatible
			}
			level := r.Level.String()
			if r.Category != "" {
				level = r.Category
			}
			d.Compared = append(d.Compared, Compared{
				Subject: r.Subject, Format: r.Format, Base: labelOf(c.Old), Head: r.Label,
				Version: max(int(c.Old.Version), 0), Level: level, Policy: r.Policy.String(),
				VerdictPolicy: r.VerdictPolicy.String(), Direction: directionOf(r.Level.AsksBackward(), r.Level.AsksForward()),
				Verdict: c.Verdict, Reason: c.Reason, Faults: c.Faults,
			})
			d.Findings = append(d.Findings, c.Findings...)
			d.Summary.Compared++
			switch c.Verdict {
			case Compatible:
				d.Summary.Compatible++
			case Breaking:
				d.Summary.Breaking++
			case NotChecked:
				d.Summary.NotChecked++
			case NothingCompared: // no pair says so
			}
		}
	}
	for _, f := range d.Findings {
		if f.Override != nil && f.Override.From == SeverityBreaking && f.Accepted == nil {
			d.Summary.Lowered++
		}
		switch {
		case f.Accepted != nil:
			d.Summary.Accepted++
		case f.Override != nil && f.Override.Off:
			d.Summary.Off++
		case f.Severity == SeverityBreaking:
			d.Summary.Breaks++
		case f.Severity == Risk:
			d.Summary.Risks++
		case f.Severity == Note:
			d.Summary.Notes++
		}
	}
	switch {
	case d.Summary.NotChecked > 0:
		d.Verdict = NotChecked
	case d.Summary.Breaking > 0:
		d.Verdict = Breaking
	}
	return d
}

func labelOf(o Old) string {
	if o.Label == "" && o.Version > 0 {
		return o.Version.String()
	}
	return o.Label
}

func directionOf(backward, forward bool) string {
	switch {
	case backward && !forward:
		return "backward"
	case forward && !backward:
		return "forward"
	}
	return "both"
}

// fingerprintOf identifies a finding by what it is about. No index, line,
// wording or version goes in, so that it is the same after the next push, in
// the gate and on the server.
func fingerprintOf(format schemas.Type, subject, rule, path, before, after string) string {
	h := sha256.New()
	for _, part := range []string{string(format), subject, rule, path, before, after} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// identify gives f the fingerprints that it has for q.
func (q Question) identify(f *Finding, before, after string) {
	of := func(subject string) string { return fingerprintOf(f.Format, subject, f.Rule, f.Path, before, after) }
	f.Fingerprint = of(cmp.Or(q.Identity, q.Subject))
	if q.Also != "" {
		f.Also = of(q.Also)
	}
}

// Has tells whether a fingerprint is one of the finding's.
func (f *Finding) Has(fingerprint string) bool {
	return fingerprint != "" && (f.Fingerprint == fingerprint || f.Also == fingerprint)
}

// FileFingerprint is the fingerprint of a finding about a whole file: as that of
// a change that has no values.
func FileFingerprint(format schemas.Type, subject, rule, path string) string {
	return fingerprintOf(format, subject, rule, path, "", "")
}

func locate(label string, p schemas.Place, text string) Location {
	return Location{
		Label: label, Line: p.Position.Line, Column: p.Position.Column,
		EndLine: p.End.Line, EndColumn: p.End.Column, Pointer: string(p.Pointer), Text: text,
	}
}

func show(w *Witness, d direction, layer Layer, kind Kind) *ShownWitness {
	if w == nil {
		return nil
	}
	if w.Kind != Unhurt {
		kind = w.Kind
	}
	s := &ShownWitness{
		Value: w.JSON, Bytes: base64.StdEncoding.EncodeToString(w.Bytes), Hex: hex.EncodeToString(w.Bytes),
		Message: w.Message, Writer: "old", Reader: "new", Layer: layer.String(), Text: w.Text, Kind: kind,
	}
	if d == oldReadsNew {
		s.Writer, s.Reader = "new", "old"
	}
	return s
}

// sortFindings puts what refuses first; within a severity the order of the
// texts stays. Findings are large, so each is moved once.
func sortFindings(list []Finding) {
	sorted := true
	for i := 1; i < len(list) && sorted; i++ {
		sorted = list[i-1].Severity.rank() <= list[i].Severity.rank()
	}
	if sorted {
		return
	}
	out := make([]Finding, 0, len(list))
	for rank := Severity("").rank(); rank <= Note.rank(); rank++ {
		for i := range list {
			if list[i].Severity.rank() == rank {
				out = append(out, list[i])
			}
		}
	}
	copy(list, out)
}
