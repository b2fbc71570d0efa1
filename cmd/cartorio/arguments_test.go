package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestArgumentsOfALineOfUse(t *testing.T) {
	t.Parallel()
	for use, want := range map[string][]argument{
		"plan":                                  nil,
		"window SUBJECT":                        {{name: "SUBJECT"}},
		"lint [PATH]":                           {{name: "PATH", optional: true}},
		"fmt [PATH...]":                         {{name: "PATH", optional: true, many: true}},
		"validate SCHEMA DATA...":               {{name: "SCHEMA"}, {name: "DATA", many: true}},
		"inspect [FILE | ADDRESS]":              {{name: "FILE or ADDRESS", optional: true}},
		"check [HEAD] --against BASE":           {{name: "HEAD", optional: true}},
		"register [--subject A|B] PATH...":      {{name: "PATH", many: true}},
		"bundle --subject A[@V]... -o FILE":     nil,
		"except FINGERPRINT --reason TEXT -o X": {{name: "FINGERPRINT"}},
	} {
		if diff := cmp.Diff(want, argumentsOf(use), cmp.AllowUnexported(argument{})); diff != "" {
			t.Errorf("%s: %s", use, diff)
		}
	}
}

// TestEveryCommandSaysWhichArgumentIsWrong walks the whole tree: what is missing
// and what is too much is told in our words, by the names of the line of use.
func TestEveryCommandSaysWhichArgumentIsWrong(t *testing.T) {
	t.Parallel()
	complaint := func(args ...string) string {
		var out, complain bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &out, &complain); code != exitUsage {
			t.Errorf("%q: exit code %d, want %d", args, code, exitUsage)
		}
		if out.Len() > 0 {
			t.Errorf("%q writes %q to stdout", args, out.String())
		}
		text := complain.String()
		for _, foreign := range []string{"arg(s)", "unknown command", "accepts ", "requires ", "Usage:"} {
			if strings.Contains(text, foreign) {
				t.Errorf("%q: %q is in words of the library", args, text)
			}
		}
		if !strings.Contains(text, "\ncartorio: see: ") {
			t.Errorf("%q: %q does not say where to read on", args, text)
		}
		return text
	}
	a := &app{now: time.Now}
	root := a.root()
	few, many := 0, 0
	for _, cmd := range append(every(root), root) {
		if cmd.Args == nil { // fmt and test take any, topics are no commands
			continue
		}
		words := strings.Fields(cmd.CommandPath())[1:]
		list := argumentsOf(cmd.Use)
		var must []string
		for _, one := range list {
			if !one.optional {
				must = append(must, one.name)
			}
		}
		for n := range must {
			few++
			text := complaint(slices.Concat(words, slices.Repeat([]string{"x"}, n))...)
			if want := strings.Join(must[n:], " and "); !strings.HasPrefix(text, "cartorio: "+want+" ") || !strings.Contains(text, " missing: write "+cmd.CommandPath()+" ") {
				t.Errorf("%s with %d arguments: %q does not say that %s is missing", cmd.CommandPath(), n, text, want)
			}
		}
		full := slices.Repeat([]string{"x"}, len(list))
		if err := cmd.Args(cmd, full); err != nil {
			t.Errorf("%s refuses as many arguments as its line of use has: %v", cmd.CommandPath(), err)
		}
		over := append(full, "surplus")
		if slices.ContainsFunc(list, func(one argument) bool { return one.many }) {
			if err := cmd.Args(cmd, over); err != nil {
				t.Errorf("%s says that it takes any number, and: %v", cmd.CommandPath(), err)
			}
			continue
		}
		many++
		if text := complaint(append(slices.Clone(words), over...)...); !strings.Contains(text, `"surplus"`) {
			t.Errorf("%s: %q does not name what is too much", cmd.CommandPath(), text)
		}
	}
	if few < 15 || many < 25 {
		t.Errorf("%d commands were called with too little and %d with too much: is this the whole tree?", few, many)
	}
	if text := complaint("chekc"); !strings.HasPrefix(text, `cartorio: cartorio has no command "chekc": did you mean check?`) {
		t.Errorf("%q proposes nothing", text)
	}
}
