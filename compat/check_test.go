package compat_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

func TestLevelsAskTheirDirections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		level compat.Level
		want  []string
	}{
		{compat.None, nil},
		{compat.Backward, []string{"n<b"}},
		{compat.Forward, []string{"b<n"}},
		{compat.Full, []string{"b<n", "n<b"}},
		{compat.BackwardTransitive, []string{"n<b", "n<a"}},
		{compat.ForwardTransitive, []string{"b<n", "a<n"}},
		{compat.FullTransitive, []string{"b<n", "n<b", "a<n", "n<a"}},
	} {
		t.Run(c.level.String(), func(t *testing.T) {
			t.Parallel()
			s := &script{}
			r := compat.Check(s.ask(c.level, "n", "b", "a"))
			if !r.Compatible || r.NotChecked || len(r.Messages) > 0 {
				t.Errorf("got %+v, want compatible", r)
			}
			if diff := cmp.Diff(c.want, s.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEmptyHistoryIsCompatible(t *testing.T) {
	t.Parallel()
	s := &script{}
	if r := compat.Check(s.ask(compat.FullTransitive, "n")); !r.Compatible || r.Verdict() != compat.Compatible {
		t.Errorf("got %+v", r)
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	const version, text = "{oldSchemaVersion: 2}", "{oldSchema: 'b'}"
	end := func(level string) string { return "{validateFields: 'false', compatibility: '" + level + "'}" }
	entry := func(reader, writer, path string) string {
		return fmt.Sprintf("{errorType:'MISSING', description:'The %s schema does not fit the %s schema at path '%s'', additionalInfo:'x'}", reader, writer, path)
	}
	both := map[string][]compat.Difference{"n<b": {missing("/1")}, "b<n": {missing("/2"), {Type: "FINE", Compatible: true}}}
	for _, c := range []struct {
		name      string
		level     compat.Level
		reference map[string][]compat.Difference
		want      []string
	}{
		{"backward", compat.Backward, both, []string{entry("new", "old", "/1"), version, text, end("BACKWARD")}},
		{"forward", compat.Forward, both, []string{entry("old", "new", "/2"), version, text, end("FORWARD")}},
		{"full collects forward first", compat.Full, both, []string{entry("old", "new", "/2"), entry("new", "old", "/1"), version, text, end("FULL")}},
		{
			"full that fails forward alone names no version", compat.Full,
			map[string][]compat.Difference{"b<n": {missing("/2")}},
			[]string{entry("old", "new", "/2"), end("FULL")},
		},
		{
			"transitive stops at the first failure", compat.BackwardTransitive,
			map[string][]compat.Difference{"n<a": {missing("/3")}, "n<b": {missing("/1")}},
			[]string{entry("new", "old", "/1"), version, text, end("BACKWARD_TRANSITIVE")},
		},
		{
			"transitive goes on to older versions", compat.BackwardTransitive,
			map[string][]compat.Difference{"n<a": {missing("/3")}},
			[]string{entry("new", "old", "/3"), "{oldSchemaVersion: 1}", "{oldSchema: 'a'}", end("BACKWARD_TRANSITIVE")},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &script{reference: c.reference}
			r := compat.Check(s.ask(c.level, "n", "b", "a"))
			if r.Compatible || r.NotChecked || r.Verdict() != compat.Breaking {
				t.Errorf("got %+v, want breaking", r)
			}
			if diff := cmp.Diff(c.want, r.Messages); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLongSchemaIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 20_000)
	s := &script{reference: map[string][]compat.Difference{"n<" + long: {missing("/")}}}
	r := compat.Check(s.ask(compat.Backward, "n", long))
	got := r.Messages[2]
	if want := "{oldSchema: '" + strings.Repeat("é", 5<<10) + "...'}"; got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

func TestOtherFormat(t *testing.T) {
	t.Parallel()
	for level, compatible := range map[compat.Level]bool{compat.None: true, compat.Backward: false, compat.Forward: false, compat.Full: false, compat.FullTransitive: false} {
		s := &script{}
		q := s.ask(level, "n")
		q.History = []compat.Old{{Label: "1", Version: 1, Schema: fake{schemas.JSON, "{}"}}}
		r := compat.Check(q)
		if r.Compatible != compatible || r.NotChecked {
			t.Errorf("%s: got %+v", level, r)
		}
		if compatible {
			continue
		}
		if !strings.HasPrefix(r.Messages[0], "Incompatible because of different schema type") || strings.Contains(r.Messages[1], "schema type") {
			t.Errorf("%s: messages %q", level, r.Messages)
		}
		if f := r.Compared[0].Findings; len(f) != 1 || f[0].Rule != "schema.format-changed" || f[0].Severity != compat.SeverityBreaking {
			t.Errorf("%s: findings %+v", level, f)
		}
	}
}

func TestNotCheckedIsNeverCompatible(t *testing.T) {
	t.Parallel()
	budget := fmt.Errorf("%w: the comparison takes more than 5 steps", compat.ErrNotChecked)
	for _, policy := range []compat.VerdictPolicy{compat.Reference, compat.Sound, compat.Both} {
		for name, q := range map[string]func() compat.Question{
			"the reference has no answer": func() compat.Question {
				s := &script{failing: map[string]error{"n<b": budget}}
				return s.ask(compat.Full, "n", "b")
			},
			"no checker": func() compat.Question {
				s := &script{}
				q := s.ask(compat.Backward, "n", "b")
				q.Checkers = nil
				return q
			},
			"a checker without a reference": func() compat.Question {
				s := &script{}
				q := s.ask(compat.Backward, "n", "b")
				q.Checkers[0].Reference = nil
				return q
			},
			"a checker that panics": func() compat.Question {
				s := &script{}
				q := s.ask(compat.Backward, "n", "b")
				q.Checkers[0].Reference = func(_, _ schemas.Schema, _ compat.Policy, _ compat.Budget) ([]compat.Difference, error) {
					panic("index out of range")
				}
				return q
			},
			"an old version that did not parse": func() compat.Question {
				s := &script{}
				q := s.ask(compat.Backward, "n", "b")
				q.History[0].Schema = nil
				return q
			},
		} {
			t.Run(policy.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				question := q()
				question.VerdictPolicy = policy
				r := compat.Check(question)
				if r.Compatible || !r.NotChecked || r.Verdict() != compat.NotChecked {
					t.Errorf("got %+v, want not checked", r)
				}
				if len(r.Messages) == 0 || !strings.HasPrefix(r.Messages[0], "{errorType:'NOT_CHECKED', ") {
					t.Errorf("messages %q", r.Messages)
				}
				if r.Compared[0].Reason == "" {
					t.Error("no reason is given")
				}
			})
		}
	}
}

func TestEqualSchemas(t *testing.T) {
	t.Parallel()
	s := &script{same: true}
	if r := compat.Check(s.ask(compat.Full, "n", "n")); !r.Compatible || len(s.asked) > 0 {
		t.Errorf("got %+v after asking %q, want compatible without a question", r, s.asked)
	}
	s = &script{reference: map[string][]compat.Difference{"n<n": {missing("/")}}}
	if r := compat.Check(s.ask(compat.Backward, "n", "n")); r.Compatible {
		t.Error("a checker that refuses a schema beside itself was not asked")
	}
}

// TestVerdictPolicies crosses what the reference says with what happens to data.
func TestVerdictPolicies(t *testing.T) {
	t.Parallel()
	refusing := map[string][]compat.Difference{"n<b": {missing("/")}}
	hurting := map[string][]compat.Change{"b>n": {{Rule: "avro.lost", Path: "R.f", Text: "lost", Effects: compat.OnData(compat.Alters, compat.Reads)}}}
	for _, c := range []struct {
		name      string
		reference map[string][]compat.Difference
		whole     compat.Outcome
		changes   map[string][]compat.Change
		want      [3]compat.Verdict // REFERENCE, SOUND, BOTH
		risks     [3]int
	}{
		{"both say yes", nil, compat.Reads, nil, [3]compat.Verdict{compat.Compatible, compat.Compatible, compat.Compatible}, [3]int{}},
		{"the reference says no", refusing, compat.Reads, nil, [3]compat.Verdict{compat.Breaking, compat.Compatible, compat.Breaking}, [3]int{0, 1, 0}},
		{"data breaks", nil, compat.Alters, hurting, [3]compat.Verdict{compat.Compatible, compat.Breaking, compat.Breaking}, [3]int{1, 0, 0}},
		{"data breaks and nothing is to blame", nil, compat.Refuses, nil, [3]compat.Verdict{compat.Compatible, compat.Breaking, compat.Breaking}, [3]int{1, 0, 0}},
		{"both say no", refusing, compat.Alters, hurting, [3]compat.Verdict{compat.Breaking, compat.Breaking, compat.Breaking}, [3]int{1, 1, 0}},
		{"the truth is open", nil, compat.Undecided, nil, [3]compat.Verdict{compat.Compatible, compat.NotChecked, compat.NotChecked}, [3]int{1, 1, 1}},
		{"the truth is open and the reference says no", refusing, compat.Undecided, nil, [3]compat.Verdict{compat.Breaking, compat.NotChecked, compat.Breaking}, [3]int{1, 2, 1}},
		{"data is rounded", nil, compat.Rounds, map[string][]compat.Change{"b>n": {{Rule: "avro.lost", Effects: compat.OnData(compat.Rounds, compat.Reads)}}}, [3]compat.Verdict{compat.Compatible, compat.Compatible, compat.Compatible}, [3]int{1, 1, 1}},
		{"a node refuses what the whole does not", nil, compat.Reads, map[string][]compat.Change{"b>n": {{Rule: "avro.lost", Effects: compat.OnData(compat.Refuses, compat.Reads)}}}, [3]compat.Verdict{compat.Compatible, compat.Compatible, compat.Compatible}, [3]int{}},
		{"the other direction breaks", nil, compat.Reads, map[string][]compat.Change{"b>n": {{Rule: "avro.lost", Effects: compat.OnData(compat.Reads, compat.Refuses)}}}, [3]compat.Verdict{compat.Compatible, compat.Compatible, compat.Compatible}, [3]int{}},
	} {
		for i, policy := range []compat.VerdictPolicy{compat.Reference, compat.Sound, compat.Both} {
			t.Run(c.name+"/"+policy.String(), func(t *testing.T) {
				t.Parallel()
				s := &script{reference: c.reference, changes: c.changes, effects: map[string]compat.Effect{"b>n": {NewReadsOld: c.whole, OldReadsNew: compat.Reads}}}
				q := s.ask(compat.Backward, "n", "b")
				q.VerdictPolicy = policy
				r := compat.Check(q)
				if r.Verdict() != c.want[i] {
					t.Errorf("got %s, want %s: %q", r.Verdict(), c.want[i], r.Messages)
				}
				if r.Risks != c.risks[i] {
					t.Errorf("got %d risks, want %d: %+v", r.Risks, c.risks[i], r.Compared[0].Findings)
				}
				if (len(r.Messages) == 0) != r.Compatible {
					t.Errorf("messages %q beside %s", r.Messages, r.Verdict())
				}
			})
		}
	}
}

func TestLayers(t *testing.T) {
	t.Parallel()
	s := &script{}
	q := s.ask(compat.Backward, "n", "b")
	q.VerdictPolicy = compat.Sound
	q.Checkers[0].Layer = compat.Wire
	q.Checkers[0].Truth = func(_, _ schemas.Schema, _ compat.Budget) (map[compat.Layer]compat.Effect, []compat.Change) {
		return map[compat.Layer]compat.Effect{
			compat.Wire:        {NewReadsOld: compat.Reads, OldReadsNew: compat.Reads},
			compat.JSONMapping: {NewReadsOld: compat.Refuses, OldReadsNew: compat.Reads},
		}, nil
	}
	for _, c := range []struct {
		layers []compat.Layer
		want   compat.Verdict
	}{
		{nil, compat.Compatible},
		{[]compat.Layer{compat.Wire, compat.JSONMapping}, compat.Breaking},
		{[]compat.Layer{compat.SourceCode}, compat.NotChecked},
	} {
		q.Layers = c.layers
		if got := compat.Check(q).Verdict(); got != c.want {
			t.Errorf("layers %v: got %s, want %s", c.layers, got, c.want)
		}
	}
}

// explainedPair is a break that a change explains, at places in both texts.
func explainedPair() *script {
	d := missing("/fields/1")
	d.Reader, d.Writer = place("/fields/1", 30), place("", 0)
	return &script{
		reference: map[string][]compat.Difference{"n<b": {d}},
		effects:   map[string]compat.Effect{"b>n": {NewReadsOld: compat.Refuses, OldReadsNew: compat.Reads}},
		changes: map[string][]compat.Change{"b>n": {
			{Rule: "avro.lost", Path: "R", Text: "beside it", Old: place("", 0), New: place("/fields/0", 10), Effects: compat.OnData(compat.Reads, compat.Reads)},
			{
				Rule: "avro.gone", Path: "R.f", Text: "f is gone", Old: place("", 0), New: place("/fields/1", 30), Before: "int",
				Effects: compat.OnData(compat.Refuses, compat.Reads),
				Witness: map[compat.Layer][2]*compat.Witness{compat.Data: {{JSON: `{"a":1}`, Bytes: []byte{2}, Text: "no f"}}},
			},
		}},
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	r := compat.Check(explainedPair().ask(compat.Backward, "n", "b"))
	if want := "{errorType:'MISSING', description:'The new schema does not fit the old schema at path '/fields/1' (avro.gone)', additionalInfo:'x'}"; r.Messages[0] != want {
		t.Errorf("message\n%s\nwant\n%s", r.Messages[0], want)
	}
	got := compat.NewDocument("cartorio", r)
	fingerprint := got.Findings[0].Fingerprint
	if len(fingerprint) != 32 {
		t.Errorf("fingerprint %q", fingerprint)
	}
	other := got.Findings[1].Fingerprint
	want := compat.Document{
		Version: 1, Tool: "cartorio", Verdict: compat.Breaking,
		Compared: []compat.Compared{{
			Subject: "orders", Format: schemas.Avro, Base: "1", Head: "new.avsc", Version: 1, Level: "BACKWARD", Policy: "STRICT",
			VerdictPolicy: "REFERENCE", Direction: "backward", Verdict: compat.Breaking,
		}},
		Findings: []compat.Finding{
			{
				Rule: "avro.gone", Aliases: []string{"MISSING"}, Severity: compat.SeverityBreaking, Direction: "backward", Format: schemas.Avro,
				Subject: "orders", Path: "R.f", Message: "f is gone", Why: "because", Fix: "put it back", Fingerprint: fingerprint,
				Base:    compat.Location{Label: "1", Line: 1, Column: 1, EndLine: 1, EndColumn: 5, Text: "int"},
				Head:    compat.Location{Label: "new.avsc", Line: 1, Column: 31, EndLine: 1, EndColumn: 35, Pointer: "/fields/1"},
				Witness: &compat.ShownWitness{Value: `{"a":1}`, Bytes: "Ag==", Hex: "02", Writer: "old", Reader: "new", Layer: "data", Text: "no f", Kind: compat.Refused},
			},
			{
				Rule: "avro.lost", Aliases: []string{}, Severity: compat.Note, Direction: "both", Format: schemas.Avro, Subject: "orders", Path: "R",
				Message: "beside it", Fingerprint: other,
				Base: compat.Location{Label: "1", Line: 1, Column: 1, EndLine: 1, EndColumn: 5},
				Head: compat.Location{Label: "new.avsc", Line: 1, Column: 11, EndLine: 1, EndColumn: 15, Pointer: "/fields/0"},
			},
		},
		Summary: compat.Summary{Compared: 1, Breaking: 1, Breaks: 1, Notes: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

// TestFingerprintStaysTheSame: places and wording may move, what it is about may
// not.
func TestFingerprintStaysTheSame(t *testing.T) {
	t.Parallel()
	fingerprint := func(change func(*compat.Change), subject string) string {
		s := explainedPair()
		change(&s.changes["b>n"][1])
		q := s.ask(compat.Backward, "n", "b")
		q.Subject = subject
		f := compat.Check(q).Compared[0].Findings
		return f[slices.IndexFunc(f, func(f compat.Finding) bool { return f.Rule != "avro.lost" && f.Message != "" && f.Path == "R.f" })].Fingerprint
	}
	base := fingerprint(func(*compat.Change) {}, "orders")
	if got := fingerprint(func(c *compat.Change) { c.Text, c.New = "other words", place("/fields/1", 700) }, "orders"); got != base {
		t.Error("wording or position changes the fingerprint")
	}
	if got := fingerprint(func(c *compat.Change) { c.Before = "long" }, "orders"); got == base {
		t.Error("another value has the same fingerprint")
	}
	if got := fingerprint(func(*compat.Change) {}, "invoices"); got == base {
		t.Error("another subject has the same fingerprint")
	}
}

func TestHiddenCauseExplains(t *testing.T) {
	t.Parallel()
	s := explainedPair()
	inner := s.reference["n<b"][0]
	s.reference["n<b"] = []compat.Difference{{
		Type: "BRANCH", Path: "/1", Reader: place("/fields/7", 90), Writer: place("/fields/7", 90), Causes: []compat.Difference{inner},
	}}
	r := compat.Check(s.ask(compat.Backward, "n", "b"))
	if f := r.Compared[0].Findings[0]; f.Rule != "avro.gone" || !slices.Equal(f.Aliases, []string{"BRANCH"}) {
		t.Errorf("got %+v", f)
	}
}

func TestExceptions(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	first := compat.Check(explainedPair().ask(compat.Backward, "n", "b"))
	fingerprint := first.Compared[0].Findings[0].Fingerprint
	for _, c := range []struct {
		name      string
		exception compat.Exception
		want      compat.Verdict
	}{
		{"accepted", compat.Exception{Fingerprint: fingerprint, Reason: "no reader is left", Owner: "ana", Until: now.Add(time.Hour)}, compat.Compatible},
		{"without an end", compat.Exception{Fingerprint: fingerprint}, compat.Compatible},
		{"ended", compat.Exception{Fingerprint: fingerprint, Until: now.Add(-time.Second)}, compat.Breaking},
		{"another finding's", compat.Exception{Fingerprint: "0"}, compat.Breaking},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q := explainedPair().ask(compat.Backward, "n", "b")
			q.At, q.Exceptions = now, []compat.Exception{c.exception}
			r := compat.Check(q)
			if r.Verdict() != c.want {
				t.Errorf("got %s, want %s", r.Verdict(), c.want)
			}
			f := r.Compared[0].Findings[0]
			if f.Rule != "avro.gone" || f.Severity != compat.SeverityBreaking || (f.Accepted != nil) != (c.want == compat.Compatible) {
				t.Errorf("the break is not kept as it was: %+v", f)
			}
			if d := compat.NewDocument("cartorio", r); (d.Summary.Accepted == 1) != (c.want == compat.Compatible) || d.Verdict != c.want {
				t.Errorf("summary %+v", d.Summary)
			}
		})
	}
}

// TestExceptionAcceptsNoDoubt: what was not checked cannot be accepted.
func TestExceptionAcceptsNoDoubt(t *testing.T) {
	t.Parallel()
	s := explainedPair()
	s.effects["b>n"] = compat.Effect{NewReadsOld: compat.Undecided, OldReadsNew: compat.Reads}
	q := s.ask(compat.Backward, "n", "b")
	q.VerdictPolicy = compat.Both
	for _, f := range compat.Check(q).Compared[0].Findings {
		q.Exceptions = append(q.Exceptions, compat.Exception{Fingerprint: f.Fingerprint})
	}
	if r := compat.Check(q); r.Verdict() != compat.NotChecked {
		t.Errorf("got %s", r.Verdict())
	}
}

func TestDocumentVerdict(t *testing.T) {
	t.Parallel()
	fine := compat.Check((&script{}).ask(compat.Backward, "n", "b"))
	breaking := compat.Check(explainedPair().ask(compat.Backward, "n", "b"))
	open := compat.Check((&script{failing: map[string]error{"n<b": errors.New("no")}}).ask(compat.Backward, "n", "b"))
	for _, c := range []struct {
		reports []compat.Report
		want    compat.Verdict
	}{
		{nil, compat.NothingCompared},
		{[]compat.Report{compat.Check((&script{}).ask(compat.Backward, "n"))}, compat.NothingCompared},
		{[]compat.Report{{Compatible: true, Compared: []compat.Comparison{{OneSided: true, Verdict: compat.Compatible}}}}, compat.NothingCompared},
		{[]compat.Report{compat.Check((&script{}).ask(compat.None, "n", "b"))}, compat.Compatible},
		{[]compat.Report{fine}, compat.Compatible},
		{[]compat.Report{fine, breaking}, compat.Breaking},
		{[]compat.Report{open, breaking}, compat.NotChecked},
	} {
		if got := compat.NewDocument("cartorio", c.reports...); got.Verdict != c.want {
			t.Errorf("%d reports: got %s with %d compared, want %s", len(c.reports), got.Verdict, len(got.Compared), c.want)
		}
	}
}
