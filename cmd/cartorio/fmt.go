package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// formatting is what fmt was asked.
type formatting struct {
	root, format     string
	check            bool
	include, exclude []string
}

func (a *app) fmtCommand() *cobra.Command {
	var c formatting
	cmd := &cobra.Command{
		Use:   "fmt [PATH...]",
		Short: "Write schema files in the one layout that each format has",
		Long: `Writes the schema files of each PATH (default: the current folder) anew: two blanks
an indent, a member or statement a line. "-" lays out stdin, whose format --format
names, and prints it.

Nothing but white space changes: comments stay, order stays, each number and text is
spelled as it was. The fingerprint of every file is compared before it is written,
so a laid-out file registers as the version that it was.

With --check nothing is written: the files that would be are listed, and the exit
code is 1. It is 2 when a file could not be laid out.`,
		Example: `  cartorio fmt
  cartorio fmt --check schemas/
  cartorio fmt --format AVRO - < order.avsc`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			return a.format(cmd.Context(), args, c)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&c.check, "check", false, "write nothing; list what would be written, and exit 1")
	f.StringVar(&c.format, "format", "", "format of stdin: AVRO, JSON or PROTOBUF")
	f.StringVar(&c.root, "root", "", "`FOLDER` in which references are found (default: PATH, or the folder of a file)")
	f.StringSliceVar(&c.include, "path", nil, "lay out only what matches `PATTERN`")
	f.StringSliceVar(&c.exclude, "exclude-path", nil, "leave out what matches `PATTERN`")
	oneOf(cmd, "format", "AVRO", "JSON", "PROTOBUF")
	return cmd
}

func (a *app) format(ctx context.Context, args []string, c formatting) error {
	if err := checkPatterns(c.include, c.exclude); err != nil {
		return fail(exitUsage, err)
	}
	if slices.Contains(args, "-") {
		if len(args) > 1 {
			return failf(exitUsage, "stdin is laid out alone: name - without other paths")
		}
		return a.formatStdin(c)
	}
	if c.format != "" {
		return failf(exitUsage, "--format is for stdin: files are known by their names")
	}
	changed, wrong, seen := []string{}, 0, 0
	for _, arg := range args {
		head, err := openDisk(ctx, arg, reading{root: c.root, include: c.include, exclude: c.exclude, declared: a.declared(), gate: true})
		if err != nil {
			return err
		}
		list, failed, err := a.formatSide(ctx, head, c)
		head.close()
		if err != nil {
			return err
		}
		changed = append(changed, list...)
		wrong += failed
		seen += head.folder.Selected()
	}
	if err := a.write("", func(w io.Writer, _ bool) error {
		for _, name := range changed {
			if _, err := fmt.Fprintln(w, plain(name)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	what := "laid out anew"
	if c.check {
		what = "not laid out"
	}
	a.say("%s: %d %s", plural(seen, "schema", "schemas"), len(changed), what)
	switch {
	case wrong > 0:
		return fail(exitNotCompared, nil)
	case c.check && len(changed) > 0:
		return fail(exitFindings, nil)
	}
	return nil
}

// formatSide lays out the selected files of a tree, and lists those that change.
func (a *app) formatSide(ctx context.Context, head *side, c formatting) (changed []string, wrong int, err error) {
	if !head.isDisk() {
		return nil, 0, failf(exitUsage, "%s is no folder or file of this disk", head.label)
	}
	if err := unmatched(head, nil); err != nil {
		return nil, 0, err
	}
	if head.folder.Selected() == 0 {
		return nil, 0, failf(exitNotCompared, "%s holds no schema to lay out%s", head.label, head.jsonHint())
	}
	entries := make([]*folder.Entry, 0, len(head.folder.Entries))
	for i := range head.folder.Entries {
		if e := &head.folder.Entries[i]; e.Selected {
			entries = append(entries, e)
		}
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Path < entries[j].Path })
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, 0, failf(exitNotCompared, "laying out: %w", err)
		}
		text, err := layOut(ctx, head, e)
		if err != nil {
			for _, line := range describe(head.show(e.Path), err) {
				a.say("%s", line)
			}
			wrong++
			continue
		}
		if text == e.Source.Text {
			continue
		}
		if !c.check {
			if err := rewriteFile(filepath.Join(head.root, filepath.FromSlash(e.Path)), e.Source.Text, text); err != nil {
				a.say("writing %s: %v", head.show(e.Path), err)
				wrong++
				continue
			}
		}
		changed = append(changed, head.show(e.Path))
	}
	return changed, wrong, nil
}

// layOut is the text of a file in its format's layout, proved to be the same
// schema.
func layOut(ctx context.Context, head *side, e *folder.Entry) (string, error) {
	before, err := head.parse(ctx, e, schemas.New, nil)
	if err != nil {
		return "", err
	}
	format, _ := formats.Named(e.Source.Type)
	text, err := format.Layout(e.Source.Text)
	if err != nil || text == e.Source.Text {
		return text, err
	}
	variant := *e
	variant.Source.Text = text
	after, err := head.parse(ctx, &variant, schemas.New, nil)
	if err != nil || before.Fingerprint() != after.Fingerprint() {
		return "", fmt.Errorf("it cannot be laid out without another fingerprint, so it is left as it is")
	}
	return text, nil
}

// formatStdin lays out one text. What it refers to is not there, so it is not
// parsed.
func (a *app) formatStdin(c formatting) error {
	kind, err := schemas.ParseType(c.format)
	if c.format == "" || err != nil {
		return failf(exitUsage, "--format must say what stdin is: AVRO, JSON or PROTOBUF")
	}
	format, ok := formats.Named(kind)
	if !ok {
		return failf(exitUsage, "--format %s is none of AVRO, JSON, PROTOBUF", c.format)
	}
	raw, err := a.payload("-")
	if err != nil {
		return fail(exitNotCompared, err)
	}
	text, err := format.Layout(strings.TrimPrefix(string(raw), byteOrderMark))
	if err != nil {
		return fail(exitNotCompared, fmt.Errorf("%s", strings.Join(describe("stdin", err), "\n")))
	}
	if c.check {
		if text != string(raw) {
			return failf(exitFindings, "stdin is not laid out")
		}
		return nil
	}
	return a.write("", func(w io.Writer, _ bool) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
