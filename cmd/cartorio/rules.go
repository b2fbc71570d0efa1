package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
)

func (a *app) rulesCommand() *cobra.Command {
	var format, of string
	var schema string
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List every rule that a finding can name",
		Long: `Lists the rules: what changed, in which direction a payload may be hurt and how,
and the names that other tools have for it. "cartorio explain RULE" tells more of
one.

--output-schema prints instead a JSON Schema: of the findings document that check,
diff and advise write with --format json, or, as --output-schema=config and
=exceptions, of cartorio.yaml and cartorio.exceptions.yaml, or, as =tests, of a file
of the command test.`,
		Example: `  cartorio rules
  cartorio rules --of avro --format json
  cartorio rules --output-schema > findings.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if schema != "" {
				text, ok := schemasOf()[schema]
				if !ok {
					return failf(exitUsage, "--output-schema %s is none of findings, config, exceptions, tests", schema)
				}
				return a.write("", func(w io.Writer, _ bool) error {
					_, err := w.Write(text)
					return err
				})
			}
			if of == "lint" {
				return a.printLints(format)
			}
			list, err := rulesOf(of)
			if err != nil {
				return fail(exitUsage, err)
			}
			return a.printRules(list, of, format)
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "text", "text, json or markdown")
	f.StringVar(&of, "of", "all", "all, avro, json, protobuf, schema for the rules of no format, or lint for those of the command lint")
	f.StringVar(&schema, "output-schema", "", "print the JSON Schema of `WHAT`: findings (the default), config, exceptions or tests")
	f.Lookup("output-schema").NoOptDefVal = "findings"
	oneOf(cmd, "format", "text", "json", "markdown")
	oneOf(cmd, "of", "all", "avro", "json", "protobuf", "schema", "lint")
	return cmd
}

// schemasOf are the published forms of what is written and read.
func schemasOf() map[string][]byte {
	return map[string][]byte{"findings": compat.DocumentSchema(), "config": config.Schema(), "exceptions": config.ExceptionsSchema(), "tests": config.TestsSchema()}
}

// rulesOf lists the rules whose ids have a prefix.
func rulesOf(prefix string) ([]compat.Rule, error) {
	switch prefix {
	case "all":
		return checkers.Rules(), nil
	case "avro", "json", "protobuf", "schema":
		return slices.DeleteFunc(checkers.Rules(), func(r compat.Rule) bool { return !strings.HasPrefix(r.ID, prefix+".") }), nil
	}
	return nil, errors.New("--of " + prefix + " is none of all, avro, json, protobuf, schema, lint")
}

func (a *app) printRules(list []compat.Rule, of, format string) error {
	switch format {
	case "json":
		entries := make([]compat.RuleEntry, 0, len(list))
		for _, r := range list {
			entries = append(entries, r.Entry())
		}
		return a.write("", func(w io.Writer, _ bool) error { return writeJSON(w, entries) })
	case "markdown":
		return a.write("", func(w io.Writer, _ bool) error {
			if of == "all" {
				_, err := w.Write(checkers.Markdown())
				return err
			}
			var b strings.Builder
			for _, r := range list {
				b.WriteString(checkers.Page(r))
			}
			_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n"))
			return err
		})
	case "text":
		return a.write("", func(w io.Writer, colours bool) error {
			var b strings.Builder
			for _, r := range list {
				e := r.Entry()
				hurts := "nobody"
				if len(e.Kinds) > 0 {
					hurts = e.Direction + ": " + strings.Join(e.Kinds, ", ")
				}
				fmt.Fprintf(&b, "%s\n    %s\n", paint(colours, bold, e.ID), e.Title)
				fmt.Fprintf(&b, "    hurts %s\n", hurts)
				if len(e.Aliases) > 0 {
					fmt.Fprintf(&b, "    also called %s\n", strings.Join(e.Aliases, ", "))
				}
			}
			_, err := io.WriteString(w, b.String())
			return err
		})
	}
	return failf(exitUsage, "--format %q is none of text, json, markdown", format)
}
