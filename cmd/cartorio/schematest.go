package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/report"
)

// schemaTesting is what test was asked.
type schemaTesting struct {
	root, registry, format, output string
}

// testEndings are how files of tests are called.
var testEndings = []string{".schematest.yaml", ".schematest.yml", ".schematest.json"}

func (a *app) testCommand() *cobra.Command {
	var c schemaTesting
	cmd := &cobra.Command{
		Use:   "test [PATH...]",
		Short: "Run example messages against schemas, each with the verdict it should get",
		Long: `Runs the files of tests of each PATH: a file, or the files of a folder (default: the
current one) that end in .schematest.yaml, .yml or .json. One names a schema, other
versions of it if need be, and messages:

  version: 1
  schema: order.avsc                       # a file, git:REF#path=FILE, registry:SUBJECT
  versions: {v1: "git:v1.0#path=schemas/order.avsc"}
  tests:
    - {name: the least,   data: {id: 1}, expect: valid}
    - {name: a text,      data: {id: "1"}, expect: invalid, at: /id}
    - {name: a recording, file: order.bin, framing: confluent, expect: valid, versions: [v1, head]}
    - {name: old ones stay readable, data: {id: 1}, write: v1, read: head, expect: valid}

"cartorio rules --output-schema=tests" prints the JSON Schema of such a file. Exits 1
when a message gets another verdict than expected, 2 when a file, schema or message
could not be read.`,
		Example: `  cartorio test
  cartorio test order.schematest.yaml --format junit --output tests.xml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			return a.test(cmd.Context(), args, c)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.format, "format", "text", "text, json or junit")
	f.StringVar(&c.output, "output", "", "write to `FILE` instead of stdout")
	f.StringVar(&c.root, "root", "", "`FOLDER` in which references are found (default: the folder of the schema)")
	remoteFlags(cmd, &c.registry)
	oneOf(cmd, "format", "text", "json", "junit")
	return cmd
}

// tested is the document of a run.
type tested struct {
	Version int          `json:"version"`
	Tool    string       `json:"tool"`
	Passed  bool         `json:"passed"`
	Files   []testedFile `json:"files"`
	Counts  testCounts   `json:"summary"`
}

type testCounts struct {
	Passed    int `json:"passed"`
	Failed    int `json:"failed"`
	NotJudged int `json:"not_judged"`
}

// testedFile is what became of one file of tests.
type testedFile struct {
	File   string       `json:"file"`
	Schema string       `json:"schema"`
	Error  string       `json:"error,omitempty"` // why none of it was run
	Tests  []testedCase `json:"tests"`
}

// testedCase is what became of one message under one version, or between two.
type testedCase struct {
	Name    string             `json:"name"`
	Line    int                `json:"line"`
	Version string             `json:"version,omitempty"`
	Written string             `json:"write,omitempty"`
	Read    string             `json:"read,omitempty"`
	Expect  config.Expectation `json:"expect"`
	Got     config.Expectation `json:"got,omitempty"`
	Passed  bool               `json:"passed"`
	Reason  string             `json:"reason,omitempty"` // why it failed
	Error   string             `json:"error,omitempty"`  // why it was not judged
}

// title is the case in words.
func (c testedCase) title() string {
	switch {
	case c.Written != "":
		return fmt.Sprintf("%s (%s reads %s)", c.Name, c.Read, c.Written)
	case c.Version != config.HeadVersion:
		return fmt.Sprintf("%s (%s)", c.Name, c.Version)
	}
	return c.Name
}

func (a *app) test(ctx context.Context, args []string, c schemaTesting) error {
	if !slices.Contains([]string{"text", "json", "junit"}, c.format) {
		return failf(exitUsage, "--format %s is none of text, json, junit", c.format)
	}
	files, err := testFiles(args)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return failf(exitNotCompared, "no file of tests in %s: they end in %s", strings.Join(args, ", "), strings.Join(testEndings, ", "))
	}
	doc := tested{Version: 1, Tool: "cartorio " + readBuild().Version, Passed: true, Files: []testedFile{}}
	for _, name := range files {
		if err := ctx.Err(); err != nil {
			return failf(exitNotCompared, "testing: %w", err)
		}
		if err := a.spareFile(name); err != nil {
			return err
		}
		one := a.testFile(ctx, name, c)
		for _, t := range one.Tests {
			switch {
			case t.Error != "":
				doc.Counts.NotJudged++
			case t.Passed:
				doc.Counts.Passed++
			default:
				doc.Counts.Failed++
			}
		}
		if one.Error != "" {
			doc.Counts.NotJudged++
		}
		doc.Files = append(doc.Files, one)
	}
	doc.Passed = doc.Counts.Failed+doc.Counts.NotJudged == 0
	if err := a.write(c.output, func(w io.Writer, colours bool) error {
		switch c.format {
		case "json":
			return writeJSON(w, doc)
		case "junit":
			return report.JUnit(w, doc.suites())
		}
		return doc.render(w, colours)
	}); err != nil {
		return err
	}
	switch {
	case doc.Counts.NotJudged > 0:
		return fail(exitNotCompared, nil)
	case doc.Counts.Failed > 0:
		return fail(exitFindings, nil)
	}
	return nil
}

// mostTestFiles bounds how many files of tests one run reads.
const mostTestFiles = 10_000

// testFiles lists the files of tests of the arguments, sorted within each folder.
func testFiles(args []string) (list []string, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, failf(exitNotCompared, "reading %s: %w", arg, bare(err))
		}
		if !info.IsDir() {
			list = append(list, arg)
			continue
		}
		err = filepath.WalkDir(arg, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return failf(exitNotCompared, "reading %s: %w", name, bare(err))
			}
			base := d.Name()
			if d.IsDir() {
				if name != arg && (strings.HasPrefix(base, ".") || base == "node_modules") {
					return filepath.SkipDir
				}
				return nil
			}
			if d.Type().IsRegular() && slices.ContainsFunc(testEndings, func(e string) bool { return strings.HasSuffix(base, e) }) {
				list = append(list, name)
			}
			if len(list) > mostTestFiles {
				return failf(exitNotCompared, "%s holds more than %d files of tests", arg, mostTestFiles)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// suites are the files as JUnit knows them.
func (d tested) suites() (list []report.Suite) {
	for _, f := range d.Files {
		s := report.Suite{Name: filepath.ToSlash(f.File)}
		if f.Error != "" {
			s.Cases = append(s.Cases, report.Case{Name: "the file", File: s.Name, Error: f.Error})
		}
		for _, t := range f.Tests {
			s.Cases = append(s.Cases, report.Case{Name: t.title(), File: s.Name, Failure: t.Reason, Error: t.Error})
		}
		list = append(list, s)
	}
	return list
}

// render prints one line for each message that did not get what was expected,
// and a count for each file.
func (d tested) render(w io.Writer, colours bool) error {
	var b strings.Builder
	for _, f := range d.Files {
		at := plain(filepath.ToSlash(f.File))
		if f.Error != "" {
			for line := range strings.Lines(f.Error) {
				fmt.Fprintf(&b, "%s: %s: %s\n", paint(colours, bold, at), paint(colours, red, "not run"), plain(strings.TrimSuffix(line, "\n")))
			}
			continue
		}
		passed := 0
		for _, t := range f.Tests {
			where := paint(colours, bold, fmt.Sprintf("%s:%d", at, t.Line))
			switch {
			case t.Error != "":
				fmt.Fprintf(&b, "%s: %s: %s: %s\n", where, paint(colours, red, "not judged"), plain(t.title()), plain(t.Error))
			case !t.Passed:
				fmt.Fprintf(&b, "%s: %s: %s: %s\n", where, paint(colours, red, "failed"), plain(t.title()), plain(t.Reason))
			default:
				passed++
			}
		}
		fmt.Fprintf(&b, "%s: %d of %d passed\n", paint(colours, bold, at), passed, len(f.Tests))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// readTests reads a file of tests.
//
// Errors: one line for each fault.
func (a *app) readTests(name string) (config.Tests, error) {
	raw, err := a.payload(name)
	if err != nil {
		return config.Tests{}, err
	}
	tests, faults := config.ReadTests(raw)
	if len(faults) == 0 {
		return tests, nil
	}
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = fmt.Sprintf("line %d: %s", f.Line, f.Text)
	}
	return tests, errors.New(strings.Join(lines, "\n"))
}
