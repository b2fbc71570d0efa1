// Package lint is the vocabulary of looking at one schema: rules about what a
// format accepts and people seldom mean, or about what a house wants to look
// alike.
//
// It compares nothing (compat does) and knows no format: lint/avro,
// lint/jsonschema and lint/protobuf hold the rules, lint/linters lists them. A
// rule is a value and one example file; a remark is a rule, a place and, where
// nothing can change its meaning, the edits that mend it.
//
// Start with [Linter]; [Mend] applies edits that were proved.
package lint

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// Rule is one thing to look for, as data.
type Rule struct {
	ID       string          // kebab-case, prefixed by the format; no rule of compat has it
	Severity compat.Severity // Risk where data or readers may be hurt, Note for the rest
	Optional bool            // looked for only where it is asked for
	Peers    []string        // the names that other linters have for it
	Example
}

// Example is the text of a rule and the schemas that show it, from the rule's
// one file.
type Example struct {
	Title   string // one clause
	Why     string // why it matters
	Instead string // what to do
	Bad     string // a schema with exactly this remark of the rule
	Good    string // the same schema without it
	// Fixed is Bad after [Mend]; empty for a rule whose remarks have no edits.
	Fixed string
	// Path is where the example's file lies; empty where that does not matter.
	Path string
	// GoodPath is where the good one lies, if not there too.
	GoodPath string
}

// File is the name of the rule's example file.
func (r Rule) File() string {
	_, name, _ := strings.Cut(r.ID, ".")
	return name + ".txtar"
}

// Format is the one whose rule it is, by the prefix of its id.
func (r Rule) Format() schemas.Type {
	prefix, _, _ := strings.Cut(r.ID, ".")
	return schemas.Type(strings.ToUpper(prefix))
}

// Listed is the rule in the form in which documents list rules.
func (r Rule) Listed() compat.Rule {
	return compat.Rule{ID: r.ID, Mirror: r.ID, Peers: r.Peers, Example: compat.Example{Title: r.Title, Why: r.Why, Fix: r.Instead}}
}

// ParseExample reads an example file: a comment as that of a rule of compat, and
// the sections bad, good, fixed and path.
func ParseExample(text string) Example {
	_, sections := compat.Sections(text)
	head := compat.ParseExample(text)
	return Example{
		Title: head.Title, Why: head.Why, Instead: head.Fix,
		Bad: sections["bad"], Good: sections["good"], Fixed: sections["fixed"], Path: strings.TrimSpace(sections["path"]),
		GoodPath: strings.TrimSpace(sections["good-path"]),
	}
}

// WithExamples gives every rule the example of its file. A rule whose file is
// missing keeps an empty Example, which linttest refuses.
func WithExamples(files fs.FS, rules ...Rule) []Rule {
	out := slices.Clone(rules)
	for i := range out {
		if text, err := fs.ReadFile(files, "rules/"+out[i].File()); err == nil {
			out[i].Example = ParseExample(string(text))
		}
	}
	return out
}

// Subject is what a linter looks at.
type Subject struct {
	Schema schemas.Schema
	// Path is where the file lies, slash-separated; empty where that is not
	// known, and then nothing is said of it.
	Path string
	// Tagged are the logical paths that metadata outside the text tags.
	Tagged []string
	// Parse reads another text as if it stood in the place of Schema's. A rule
	// may ask it whether the text does without something; nil asks nothing.
	Parse func(text string) (schemas.Schema, error)
	// Wanted tells the rules to look for, by id; nil looks for all. What nobody
	// wants takes no room.
	Wanted func(rule string) bool
}

// Wants tells whether a rule is looked for.
func (s Subject) Wants(rule string) bool { return s.Wanted == nil || s.Wanted(rule) }

// Remark is a rule that something in a schema does not keep.
type Remark struct {
	Rule  string
	Place schemas.Place
	Path  string // logical: names, stable when things are inserted before it
	Text  string // what stands there, one clause
	Value string // what of it the fingerprint covers, beside rule and path
	// Edits mend it. They are proposals: whoever applies them proves first that
	// the meaning stays.
	Edits []jsontext.Edit
}

// Linter is the rules of one format and how they are looked for.
type Linter struct {
	Format schemas.Type
	Rules  []Rule
	// Look lists the remarks of the rules that are wanted in reading order, and at
	// most Most: where it lists as many there may be more.
	Look func(Subject) []Remark
}

// Most bounds the remarks of one schema: a megabyte of nonsense has as many.
const Most = 2000

// Room gathers remarks up to Most.
type Room struct{ List []Remark }

// Add takes a remark while there is room.
func (r *Room) Add(one Remark) {
	if len(r.List) < Most {
		r.List = append(r.List, one)
	}
}

// Sorted are the remarks by place, then by rule, each once.
func (r *Room) Sorted() []Remark {
	slices.SortStableFunc(r.List, func(a, b Remark) int {
		return cmp.Or(cmp.Compare(a.Place.Position.Offset, b.Place.Position.Offset), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Text, b.Text))
	})
	return slices.CompactFunc(r.List, func(a, b Remark) bool {
		return a.Rule == b.Rule && a.Place == b.Place && a.Text == b.Text
	})
}

// Plural is "1 field" or "2 fields".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + many
}
