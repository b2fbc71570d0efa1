package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// sample is a run with one of everything that a report can hold.
func sample() (compat.Document, []result) {
	old := &folder.Entry{Path: "order.avsc"}
	next := &folder.Entry{Path: "order.avsc"}
	breaking := compat.Finding{
		Rule: "avro.field-added-without-default", Aliases: []string{"READER_FIELD_MISSING_DEFAULT_VALUE"}, Severity: compat.SeverityBreaking,
		Direction: "backward", Format: schemas.Avro, Subject: "order", Path: "com.acme.Order.mail",
		Base:    compat.Location{Label: "git:main", File: "git:main:schemas/order.avsc", Line: 1, Column: 1},
		Head:    compat.Location{Label: "schemas", File: "schemas/order.avsc", Line: 3, Column: 5},
		Message: "field mail was added without a default", Why: "old payloads do not carry it", Fix: "give it a default",
		Witness:     &compat.ShownWitness{Value: `{"id":0}`, Hex: "00", Writer: "old", Reader: "new", Text: "no default for mail"},
		Fingerprint: "a85f6ab320947f5e",
	}
	accepted := breaking
	accepted.Accepted = &compat.Acceptance{Reason: "nobody reads it", Owner: "team-a", Until: "2027-01-01T00:00:00Z"}
	note := compat.Finding{
		Rule: "avro.doc-changed", Severity: compat.Note, Head: compat.Location{File: "schemas/order.avsc", Line: 1, Column: 2}, Message: "doc \x1b[31mchanged\n\u202eback",
	}
	risk := compat.Finding{
		Rule: "schema.removed", Severity: compat.Risk, Direction: "both", Base: compat.Location{File: "git:main:schemas/gone.avsc", Line: 1, Column: 1}, Message: "the schema was removed",
	}
	results := []result{
		{
			pair:   folder.Pairing{Old: old, New: next},
			report: compat.Report{Label: "schemas/order.avsc", Compared: []compat.Comparison{{Verdict: compat.Breaking, Findings: []compat.Finding{breaking, accepted, note}}}},
		},
		{pair: folder.Pairing{Old: old}, report: compat.Report{Compared: []compat.Comparison{{Verdict: compat.Compatible, Findings: []compat.Finding{risk}}}}},
		{
			pair:   folder.Pairing{Old: old, New: next},
			broken: schemas.SyntaxErrors{{Position: schemas.Position{Line: 4, Column: 2}, Summary: "a comma is missing"}, {Position: schemas.Position{Line: 9, Column: 1}, Summary: "the text ends"}},
			where:  "schemas/bad.avsc",
			report: compat.Report{Label: "schemas/bad.avsc", Compared: []compat.Comparison{{Verdict: compat.NotChecked, Reason: "x"}}},
		},
		{
			pair:   folder.Pairing{Old: old, New: next},
			broken: errors.New("it needs com.acme.Money"),
			report: compat.Report{Label: "schemas/need.avsc", Compared: []compat.Comparison{{Verdict: compat.NotChecked, Reason: "it needs com.acme.Money"}}},
		},
	}
	var reports []compat.Report
	for _, r := range results {
		reports = append(reports, r.report)
	}
	return compat.NewDocument("cartorio test", reports...), results
}

func TestRenderText(t *testing.T) {
	t.Parallel()
	doc, results := sample()
	for name, colours := range map[string]bool{"plain": false, "colours": true} {
		var b bytes.Buffer
		if err := renderText(&b, colours, doc, results, "git:main"); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", "render-"+name+".txt")
		if *update {
			if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
		if !colours && strings.Contains(b.String(), "\x1b") {
			t.Error("a plain report holds an escape character")
		}
	}
}

func TestColoursAreForTerminals(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if wantsColours(&bytes.Buffer{}) || wantsColours(null) {
		t.Error("colours go to what is no terminal")
	}
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this machine has no pseudo-terminals: %v", err)
	}
	defer master.Close()
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	if !wantsColours(master) {
		t.Error("a terminal gets no colours")
	}
	t.Setenv("NO_COLOR", "1")
	if wantsColours(master) {
		t.Error("NO_COLOR is not obeyed")
	}
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	if wantsColours(master) {
		t.Error("a dumb terminal gets colours")
	}
}

func TestPlural(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 notes", 1: "1 note", 2: "2 notes"} {
		if got := plural(n, "note", "notes"); got != want {
			t.Errorf("plural(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestLowered(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Old readers fail.": "old readers fail.", "JSON has none.": "JSON has none.", "Avro resolves.": "Avro resolves.", "A reader": "a reader",
		"already": "already", "": "", "É": "É",
	} {
		if got := lowered(text); got != want {
			t.Errorf("lowered(%q) = %q, want %q", text, got, want)
		}
	}
}
