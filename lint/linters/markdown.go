package linters

import (
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Kind says in a few words how a rule is looked for.
func Kind(r lint.Rule) string {
	kind := string(r.Severity)
	if r.Optional {
		kind += ", where it is asked for"
	}
	if r.Fixed != "" {
		kind += ", --fix mends it where the meaning stays"
	}
	return kind
}

// Page is one rule in Markdown, under a heading of its own.
func Page(r lint.Rule) string {
	language := map[schemas.Type]string{schemas.Avro: "json", schemas.JSON: "json", schemas.Protobuf: "proto"}[r.Format()]
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n%s (%s).\n\n%s\n\nInstead: %s\n", r.ID, strings.ToUpper(r.Title[:1])+r.Title[1:], Kind(r), r.Why, r.Instead)
	if len(r.Peers) > 0 {
		fmt.Fprintf(&b, "\nAlso called: %s.\n", strings.Join(r.Peers, ", "))
	}
	for _, part := range []struct{ title, text, path string }{{"Bad", r.Bad, r.Path}, {"Good", r.Good, r.GoodPath}, {"Bad, after `--fix`", r.Fixed, ""}} {
		if part.text == "" {
			continue
		}
		if part.path != "" {
			part.title += ", as `" + part.path + "`"
		}
		fmt.Fprintf(&b, "\n%s:\n\n```%s\n%s\n```\n", part.title, language, strings.TrimSpace(part.text))
	}
	return b.String()
}

// Markdown is docs/lint.md.
func Markdown() []byte {
	var b strings.Builder
	b.WriteString(`# What lint looks for

Made from the rules and their examples by ` + "`go test ./lint/linters -update`" + `; do not edit.

` + "`cartorio lint [PATH]`" + ` looks at schemas one by one and compares nothing. A **risk** is what
may hurt data or readers, and exits 1; a **note** is style, and exits 0 unless ` + "`--fail-on note`" + `.
` + "`cartorio explain RULE`" + ` prints one rule, ` + "`cartorio rules --of lint`" + ` lists them.

Which rules are looked for stands in ` + "`cartorio.yaml`" + `:

` + "```yaml" + `
lint:
  use: ["avro.*", json.unsatisfiable]  # these alone, optional ones too; all that are not optional without it
  except: [avro.doc-missing]
  ignore: ["vendor/**"]                # paths
severity:
  avro.money-as-float: breaking        # breaking, risk, note or off
` + "```" + `

` + "`--rule`" + ` narrows a run to some rules, ` + "`--all`" + ` adds the optional ones. The names that buf has for
its rules work as well. ` + "`--fix`" + ` writes files anew where a remark has a remedy that is proved
to change nothing: the fingerprint stays, or each schema reads all that the other writes, by the
reference registry's rules and by what happens to data.
`)
	for _, l := range All {
		fmt.Fprintf(&b, "\n## %s\n\n| rule | what | severity |\n|---|---|---|\n", map[schemas.Type]string{schemas.Avro: "Avro", schemas.JSON: "JSON Schema", schemas.Protobuf: "Protobuf"}[l.Format])
		for _, r := range l.Rules {
			fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", r.ID, strings.ReplaceAll(r.ID, ".", ""), strings.ReplaceAll(r.Title, "|", `\|`), Kind(r))
		}
		for _, r := range l.Rules {
			b.WriteString(Page(r))
		}
	}
	return []byte(b.String())
}
