package transfer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Difference is one thing that two registries say differently.
type Difference struct {
	// Subject is the qualified text of a subject or scope; empty for a context.
	Subject string          `json:"subject,omitempty"`
	Version schemas.Version `json:"version,omitempty"`
	ID      int32           `json:"id,omitempty"`
	// What names the fact: version, id, guid, type, text, references, metadata,
	// ruleSet, deleted, hidden, config, mode, context, highestID,
	// highestVersion, gone, exception, text by id, text by guid, id by guid.
	What string `json:"what"`
	From string `json:"from"`
	To   string `json:"to"`
	// Extra tells that only the target has it: nothing was lost.
	Extra bool `json:"extra,omitempty"`
}

// String is one line.
func (d Difference) String() string {
	return Loss{d.Subject, d.Version, d.ID, fmt.Sprintf("%s: %s there, %s here", d.What, d.From, d.To)}.String()
}

const nothing = "none"

// Compare tells what to holds differently from from, as far as both tell it. It
// is sorted by name.
func Compare(from, to Gathered) []Difference {
	c := comparison{from: from, to: to, marked: from.Marked && to.Marked, out: []Difference{}}
	c.versions()
	c.settings()
	c.contexts()
	if c.marked {
		c.marks()
	}
	if from.Whole && to.Whole {
		c.exceptions()
	}
	slices.SortStableFunc(c.out, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Version, b.Version), cmp.Compare(a.What, b.What))
	})
	return c.out
}

type comparison struct {
	from, to Gathered
	marked   bool // both tell what they remember
	out      []Difference
}

func (c *comparison) differ(v *registry.Held, what, from, to string) {
	if from != to {
		c.out = append(c.out, Difference{Subject: v.Subject.String(), Version: v.Version, ID: v.ID.Number, What: what, From: from, To: to})
	}
}

func (c *comparison) versions() {
	there := byPlace(c.to.Versions)
	for i := range c.from.Versions {
		a := &c.from.Versions[i]
		b := there[placeOf(a)]
		if b == nil {
			if a.HiddenBy == 0 || c.to.Marked {
				c.differ(a, "version", describe(a), nothing)
			}
			continue
		}
		c.version(a, b)
	}
	here := byPlace(c.from.Versions)
	for i := range c.to.Versions {
		b := &c.to.Versions[i]
		if here[placeOf(b)] == nil && (b.HiddenBy == 0 || c.from.Marked) {
			c.out = append(c.out, Difference{Subject: b.Subject.String(), Version: b.Version, ID: b.ID.Number, What: "version", From: nothing, To: describe(b), Extra: true})
		}
	}
}

func (c *comparison) version(a, b *registry.Held) {
	c.differ(a, "id", strconv.Itoa(int(a.ID.Number)), strconv.Itoa(int(b.ID.Number)))
	if none := (schemas.GUID{}); a.GUID != none && b.GUID != none {
		c.differ(a, "guid", a.GUID.String(), b.GUID.String())
	}
	c.differ(a, "type", string(a.Source.Type), string(b.Source.Type))
	if a.Source.Text != b.Source.Text {
		c.differ(a, "text", excerpt(a.Source.Text, b.Source.Text), excerpt(b.Source.Text, a.Source.Text))
	}
	c.differ(a, "references", references(a), references(b))
	c.differ(a, "metadata", textOf(metadataFile(a.Metadata)), textOf(metadataFile(b.Metadata)))
	c.differ(a, "ruleSet", textOf(ruleSetFile(a.RuleSet)), textOf(ruleSetFile(b.RuleSet)))
	c.differ(a, "deleted", strconv.FormatBool(a.Deleted), strconv.FormatBool(b.Deleted))
	if c.marked {
		c.differ(a, "hidden", a.HiddenBy.String(), b.HiddenBy.String())
	}
	if c.from.Whole && c.to.Whole {
		if !a.Time.IsZero() {
			c.differ(a, "time", a.Time.UTC().Format("2006-01-02T15:04:05.000Z"), b.Time.UTC().Format("2006-01-02T15:04:05.000Z"))
		}
	}
}

func describe(v *registry.Held) string { return fmt.Sprintf("id %d", v.ID.Number) }

func references(v *registry.Held) string {
	if len(v.Source.References) == 0 {
		return nothing
	}
	var list []string
	for _, r := range v.Source.References {
		list = append(list, fmt.Sprintf("%s=%s@%s", r.Name, r.Target(v.Subject.Context), r.Version))
	}
	return fmt.Sprint(list)
}

// excerpt shows where a text begins to be another than other.
func excerpt(text, other string) string {
	at := 0
	for at < len(text) && at < len(other) && text[at] == other[at] {
		at++
	}
	from := max(0, at-10)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	to := min(len(text), at+30)
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return fmt.Sprintf("%d bytes, from byte %d %q", len(text), from, text[from:to])
}

func textOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil || string(text) == "null" {
		return nothing
	}
	return string(text)
}

func (c *comparison) settings() {
	type said struct{ config, mode string }
	read := func(list []registry.Setting) map[schemas.Subject]said {
		m := map[schemas.Subject]said{}
		for _, s := range tidySettings(slices.Clone(list)) {
			at := said{nothing, nothing}
			if s.Config != nil {
				at.config = textOf(s.Config)
			}
			if s.Mode != "" {
				at.mode = string(s.Mode)
			}
			m[s.Scope] = at
		}
		return m
	}
	a, b := read(c.from.Settings), read(c.to.Settings)
	scopes := map[schemas.Subject]bool{}
	for s := range a {
		scopes[s] = true
	}
	for s := range b {
		scopes[s] = true
	}
	for scope := range scopes {
		from, to := a[scope], b[scope]
		for _, d := range []Difference{{What: "config", From: from.config, To: to.config}, {What: "mode", From: from.mode, To: to.mode}} {
			d.From, d.To = cmp.Or(d.From, nothing), cmp.Or(d.To, nothing)
			if d.From != d.To {
				d.Subject, d.Extra = scopeName(scope), d.From == nothing
				c.out = append(c.out, d)
			}
		}
	}
}

// scopeName is how a scope is told to people.
func scopeName(scope schemas.Subject) string {
	if scope.IsContext() && (scope.Context == schemas.DefaultContext || scope.Context == "") {
		return ":.:"
	}
	return scope.String()
}

func (c *comparison) contexts() {
	there := map[schemas.Context]registry.HeldContext{}
	for _, b := range c.to.Contexts {
		there[b.Name] = b
	}
	for _, a := range c.from.Contexts {
		b := there[a.Name]
		name := scopeName(schemas.Subject{Context: a.Name})
		if a.Listed && !b.Listed && a.Name != schemas.DefaultContext {
			c.out = append(c.out, Difference{Subject: name, What: "context", From: "listed", To: nothing})
		}
		if b.High < a.High {
			c.out = append(c.out, Difference{Subject: name, What: "highestID", From: strconv.Itoa(int(a.High)), To: strconv.Itoa(int(b.High))})
		}
	}
}

func (c *comparison) marks() {
	there := map[schemas.Subject]registry.HeldSubject{}
	for _, b := range c.to.Subjects {
		there[b.Subject] = b
	}
	for _, a := range c.from.Subjects {
		b := there[a.Subject]
		add := func(what, from, to string) {
			if from != to {
				c.out = append(c.out, Difference{Subject: a.Subject.String(), What: what, From: from, To: to})
			}
		}
		add("highestVersion", strconv.Itoa(int(a.High)), strconv.Itoa(int(b.High)))
		add("gone", fmt.Sprint(a.Gone), fmt.Sprint(b.Gone))
	}
}

func (c *comparison) exceptions() {
	for _, e := range c.from.Exceptions {
		if !slices.Contains(c.to.Exceptions, e) {
			c.out = append(c.out, Difference{Subject: scopeName(e.Scope), What: "exception", From: e.Fingerprint, To: nothing})
		}
	}
}
