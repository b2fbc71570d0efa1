package jsonschema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	v5 "github.com/santhosh-tekuri/jsonschema/v5"
	v6 "github.com/santhosh-tekuri/jsonschema/v6"
)

// A judge is a second implementation: whether a schema takes a payload. judged is
// false where it cannot tell: it does not compile the schema, or panics.
type judge struct {
	name   string
	accept func(payload string) (ok, judged bool)
}

// judgesOf compiles a schema, with what it refers to, by both referees.
func judgesOf(text string, refs []reference) []judge {
	return []judge{{"v5", byV5(text, refs)}, {"v6", byV6(text, refs)}}
}

const home = "mem://input/schema.json"

func never(string) (ok, judged bool) { return false, false }

// guarded makes a panic an answer that is none: numbers of v5 and v6 overflow.
func guarded(accept func(payload string) (ok, judged bool)) func(string) (bool, bool) {
	return func(payload string) (ok, judged bool) {
		defer func() {
			if recover() != nil {
				ok, judged = false, false
			}
		}()
		return accept(payload)
	}
}

func byV5(text string, refs []reference) func(string) (bool, bool) {
	s, err := refereeWith(text, refs)
	if err != nil {
		return never
	}
	return guarded(func(payload string) (bool, bool) {
		d := json.NewDecoder(bytes.NewReader([]byte(payload)))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			return false, false
		}
		return s.Validate(v) == nil, true
	})
}

// refereeWith compiles a schema with the required library, which loads nothing.
func refereeWith(text string, refs []reference) (s *v5.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the referee panicked: %v", p)
		}
	}()
	c := v5.NewCompiler()
	c.Draft = v5.Draft7
	c.LoadURL = func(address string) (io.ReadCloser, error) { return nil, fmt.Errorf("%s is not loaded", address) }
	if err := c.AddResource(home, strings.NewReader(text)); err != nil {
		return nil, err
	}
	for _, r := range refs {
		if err := c.AddResource("mem://input/"+r.Name, strings.NewReader(textOf(r.Schema))); err != nil {
			return nil, err
		}
	}
	return c.Compile(home)
}

func byV6(text string, refs []reference) func(string) (bool, bool) {
	s, err := compileV6(text, refs)
	if err != nil {
		return never
	}
	return guarded(func(payload string) (bool, bool) {
		v, err := v6.UnmarshalJSON(strings.NewReader(payload))
		if err != nil {
			return false, false
		}
		return s.Validate(v) == nil, true
	})
}

func compileV6(text string, refs []reference) (s *v6.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the referee panicked: %v", p)
		}
	}()
	c := v6.NewCompiler()
	c.DefaultDraft(v6.Draft7)
	c.UseLoader(v6.SchemeURLLoader{})
	for _, r := range append([]reference{{Name: "schema.json", Schema: json.RawMessage(text)}}, refs...) {
		doc, err := v6.UnmarshalJSON(strings.NewReader(textOf(r.Schema)))
		if err != nil {
			return nil, err
		}
		if err := c.AddResource("mem://input/"+r.Name, doc); err != nil {
			return nil, err
		}
	}
	return c.Compile(home)
}

// ledger names where the referees are known to disagree with our validator, and
// why: testdata/ledger.txt, a line "judge: word & word: reason". A disagreement of
// the judge on a pair of which one text has all the words is counted there, any
// other fails.
type ledger struct {
	lines []ledgerLine
}

type ledgerLine struct {
	judge, word, reason string
	used                int
}

func readLedger(t *testing.T) *ledger {
	t.Helper()
	text, err := os.ReadFile("testdata/ledger.txt")
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(line, ": ", 3)
		if len(parts) != 3 {
			t.Fatalf("ledger.txt: %q is not \"judge: word: reason\"", line)
		}
		l.lines = append(l.lines, ledgerLine{judge: parts[0], word: parts[1], reason: parts[2]})
	}
	return l
}

// excuses tells whether the ledger names a disagreement of a judge.
func (l *ledger) excuses(judge string, texts ...string) bool {
	for i := range l.lines {
		for _, text := range texts {
			has := func(word string) bool { return strings.Contains(text, word) }
			words := strings.Split(l.lines[i].word, " & ")
			if l.lines[i].judge == judge && !slices.ContainsFunc(words, func(word string) bool { return !has(word) }) {
				l.lines[i].used++
				return true
			}
		}
	}
	return false
}

// told logs what the ledger excused.
func (l *ledger) told(t *testing.T) {
	t.Helper()
	for _, line := range l.lines {
		if line.used > 0 {
			t.Logf("ledger: %s on %s, %d times: %s", line.judge, line.word, line.used, line.reason)
		}
	}
}
