package checkers

import (
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

//go:generate go test -run ^TestMarkdown$ -count=1 . -update

// Markdown is the catalogue of all rules for people, docs/rules.md: what each
// change is, whom it hurts, what to do instead, and the pair that shows it.
func Markdown() []byte {
	var b strings.Builder
	b.WriteString(`# Rules

<!-- Made from the rules by go generate ./compat/checkers; change those, not this. -->

Each rule names one kind of change. *Backward* is the new schema reading what the old one wrote, *forward* the old one reading what the new one wrote. Whether a change refuses a pair depends on the level and on the verdict policy: under ` + "`REFERENCE`" + ` on what the reference registry says (its names are the aliases), under ` + "`SOUND`" + ` on what happens to data.

` + "`cartorio explain RULE`" + ` prints one of these, also by its alias; ` + "`cartorio rules --format json`" + ` has them all for machines.
`)
	var format schemas.Type = "none"
	for _, r := range Rules() {
		if f := r.Format(); f != format {
			format = f
			fmt.Fprintf(&b, "\n## %s\n\n| rule | what changed | may hurt | how | aliases |\n|---|---|---|---|---|\n", Heading(f))
			for _, row := range Rules() {
				if row.Format() == f {
					e := row.Entry()
					fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s | %s |\n", e.ID, anchor(e.ID), cell(e.Title), e.Direction, strings.Join(e.Kinds, ", "), cell(strings.Join(e.Aliases, " ")))
				}
			}
		}
		page(&b, r)
	}
	return []byte(b.String())
}

// Heading is how people call a format; the empty one is that of no format.
func Heading(t schemas.Type) string {
	switch t {
	case schemas.Avro:
		return "Avro"
	case schemas.JSON:
		return "JSON Schema"
	case schemas.Protobuf:
		return "Protobuf"
	}
	return "Every format"
}

// Page is one rule of the catalogue.
func Page(r compat.Rule) string {
	var b strings.Builder
	page(&b, r)
	return b.String()
}

func page(b *strings.Builder, r compat.Rule) {
	e := r.Entry()
	fmt.Fprintf(b, "\n### %s\n\n%s\n", e.ID, sentence(e.Title))
	if e.Why != "" {
		fmt.Fprintf(b, "\n%s\n", sentence(e.Why))
	}
	if e.Fix != "" {
		fmt.Fprintf(b, "\n**Instead:** %s\n", sentence(e.Fix))
	}
	var facts []string
	if len(e.Kinds) > 0 {
		fact := fmt.Sprintf("May hurt: %s (%s)", e.Direction, strings.Join(e.Kinds, ", "))
		if len(e.Layers) > 0 {
			fact += ", on " + strings.Join(e.Layers, ", ")
		}
		facts = append(facts, fact)
	} else if e.Format != "" {
		facts = append(facts, "May hurt: nobody")
	}
	if len(e.Aliases) > 0 {
		facts = append(facts, "Also called: "+strings.Join(e.Aliases, ", "))
	}
	if len(e.Was) > 0 {
		facts = append(facts, "Was called: "+strings.Join(e.Was, ", "))
	}
	if e.Mirror != "" && e.Mirror != e.ID {
		facts = append(facts, fmt.Sprintf("The other way round: [%s](#%s)", e.Mirror, anchor(e.Mirror)))
	}
	if len(facts) > 0 {
		fmt.Fprintf(b, "\n- %s\n", strings.Join(facts, "\n- "))
	}
	if e.Example == nil {
		return
	}
	language := "json"
	if e.Format == schemas.Protobuf {
		language = "proto"
	}
	for _, part := range []struct{ title, language, text string }{
		{"Before", language, e.Example.Old},
		{"After", language, e.Example.New},
		{"What breaks", "text", e.Example.Witness},
		{"Near to it, and not it", language, e.Example.Near},
	} {
		if text := strings.TrimRight(part.text, "\n"); text != "" {
			fence := fenceFor(text)
			fmt.Fprintf(b, "\n%s:\n\n%s%s\n%s\n%s\n", part.title, fence, part.language, text, fence)
		}
	}
}

// fenceFor is a fence that text does not contain.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

func anchor(id string) string { return strings.ReplaceAll(id, ".", "") }

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// sentence begins a text with a capital and ends it with a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	if word, _, _ := strings.Cut(text, " "); word == strings.ToLower(word) && text[0] >= 'a' && text[0] <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
