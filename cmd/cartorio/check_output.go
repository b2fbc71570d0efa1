package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/report"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
)

// output is one form of the answer and where it goes; "" is stdout.
type output struct{ form, file string }

const textForm = "text"

// parseOutputs reads FORM and FORM=FILE. One form may go without a file: to
// stdout, or to file when that is given.
func parseOutputs(list []string, file string) ([]output, error) {
	var out []output
	free := 0
	for _, text := range list {
		form, to, has := strings.Cut(text, "=")
		if _, known := report.Named(form); !known && form != textForm {
			return nil, fmt.Errorf("--format %s is none of text, %s", form, strings.Join(report.Names(), ", "))
		}
		if has && to == "" {
			return nil, fmt.Errorf("--format %s names no file: write %s=FILE", text, form)
		}
		if !has {
			to = file
			free++
		}
		for _, o := range out {
			if o.file == to && to != "" {
				return nil, fmt.Errorf("--format: two forms go to %s", to)
			}
		}
		out = append(out, output{form, to})
	}
	if free > 1 {
		return nil, errors.New("--format: two forms go to stdout: write FORM=FILE for all but one")
	}
	if free == 0 && file != "" {
		return nil, errors.New("--output is of no use where every form has a file of its own")
	}
	return out, nil
}

// writeAll writes every form that was asked for.
func (a *app) writeAll(outputs []output, c checking, doc compat.Document, results []result) error {
	run := report.Run{
		Document: doc, Base: c.against, Path: platformPath(), Rules: checkers.Named(),
		Annotations: a.config.Gate.MaxAnnotations, Findings: c.maxFindings,
	}
	for _, r := range results {
		run.Reports = append(run.Reports, r.report)
	}
	if g := c.gate; g != nil {
		if g.failOn() == "risk" {
			run.Fails = compat.Risk
		}
		if c.strict && g.stale(doc) {
			run.Failing = g.exceptionRemarks(doc)
		}
	}
	for _, o := range outputs {
		if err := a.write(o.file, func(w io.Writer, colours bool) error {
			if o.form == textForm {
				return renderText(w, colours, report.Cut(doc, c.maxFindings), results, c.against)
			}
			form, _ := report.Named(o.form)
			if form.Name == "github-actions" && a.config.Gate.Annotations != nil && !*a.config.Gate.Annotations {
				return a.jobSummary(run)
			}
			// What was begun must be whole: a form that fails prints nothing.
			var b bytes.Buffer
			if err := form.Write(&b, run); err != nil {
				return err
			}
			if _, err := w.Write(b.Bytes()); err != nil {
				return err
			}
			if form.Name == "github-actions" {
				return a.jobSummary(run)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// jobSummary appends to the file that a runner shows beside the job, within what
// the platform takes together with what is there already.
func (a *app) jobSummary(run report.Run) error {
	file := os.Getenv("GITHUB_STEP_SUMMARY")
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // the runner names it
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // what Write answers is what counts
	there := int64(0)
	if info, err := f.Stat(); err == nil {
		there = info.Size()
	}
	room := report.MostSummary - int(min(there, report.MostSummary))
	if room < 4096 {
		a.say("the job summary is full: nothing was added to it")
		return nil
	}
	_, err = io.WriteString(f, report.Markdown(run, room))
	return err
}

// platformPath turns what a finding says of its file into a path from the
// repository's root, which is what platforms know; from here when there is no
// repository. A version of a registry is no file.
func platformPath() func(file string) string {
	here, err := filepath.Abs(".")
	root := repositoryRoot("")
	return func(file string) string {
		if isPast(file) {
			return ""
		}
		inside := false // of a repository, seen from its root
		if strings.HasPrefix(file, "git:") {
			if at := strings.LastIndexByte(file, ':'); at > len("git:") {
				file, inside = file[at+1:], true
			}
		} else if archive, p, ok := strings.Cut(file, ":"); ok {
			if _, _, is := archived(archive); is {
				file = p
			}
		}
		file = filepath.ToSlash(file)
		if err != nil || root == "" || inside {
			return path.Clean(file)
		}
		abs := filepath.FromSlash(file)
		if !filepath.IsAbs(abs) {
			abs = filepath.Join(here, abs)
		}
		if rel, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
		return path.Clean(file)
	}
}
