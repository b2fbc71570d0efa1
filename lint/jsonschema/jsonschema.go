// Package jsonschema looks at JSON Schemas for what the language accepts and
// people seldom mean: keywords that mean nothing where they stand, objects that
// close too early, branches that nothing reaches, defaults that the schema
// itself refuses.
//
// It compares nothing. The rules are in rules.go, the texts and examples in
// rules/, the walk is [Linter].Look: it follows the text, so that a definition
// that nothing refers to is looked at as well.
package jsonschema

import (
	"embed"
	"slices"
	"strconv"

	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

//go:embed rules
var files embed.FS

// Linter looks at JSON Schemas.
var Linter = lint.Linter{Format: schemas.JSON, Rules: lint.WithExamples(files, listed()...), Look: look}

func listed() []lint.Rule {
	out := make([]lint.Rule, len(rules))
	for i, r := range rules {
		out[i] = r.Rule
	}
	return out
}

// rule is a rule and how it is looked for: once for the text, or once for each
// schema in it.
type rule struct {
	lint.Rule
	text func(*visit)
	part func(*visit, *part)
}

// part is one schema inside the text, as written.
type part struct {
	value   *jsontext.Value
	at      schemas.Pointer
	path    string // logical
	name    string // of the property that it is the schema of; empty for none
	dialect jsonschema.Dialect
	// branch tells that it judges the same value as the schema around it.
	branch bool
}

func (p *part) get(name string) *jsontext.Value { return p.value.Get(name) }

func (p *part) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return p.get(n) != nil })
}

// words are the members of the schema; nobody writes more keywords by hand.
func (p *part) words() []jsontext.Member {
	const most = 500
	return p.value.Members[:min(len(p.value.Members), most)]
}

// visit is one look at one schema.
type visit struct {
	lint.Room
	subject  lint.Subject
	schema   *jsonschema.Schema
	edit     jsontext.Editor
	places   map[schemas.Pointer]schemas.Place
	repeated []repeated
	refs     map[string]bool                      // as written
	nodes    map[schemas.Pointer]*jsonschema.Node // made when first asked for
	meant    map[string]bool                      // what references name; made when first asked for
	rule     string
}

type repeated struct {
	name   string
	offset int
}

func look(s lint.Subject) []lint.Remark {
	parsed, ok := s.Schema.(*jsonschema.Schema)
	if !ok {
		return nil
	}
	v := &visit{subject: s, schema: parsed, refs: map[string]bool{}}
	text := parsed.Source().Text
	root, err := jsontext.Parse(text, jsontext.Options{Duplicate: func(name string, offset int) { v.repeated = append(v.repeated, repeated{name, offset}) }})
	if err != nil {
		return nil // it was parsed before
	}
	v.edit, v.places = jsontext.Editor{Text: text, Root: root}, jsontext.PositionsOf(text, root)
	var parts []*part
	v.walk(&part{value: root, dialect: parsed.Root().Dialect}, &parts)
	for _, r := range rules {
		if !s.Wants(r.ID) {
			continue
		}
		v.rule = r.ID
		if r.text != nil {
			r.text(v)
		}
		if r.part == nil {
			continue
		}
		for _, p := range parts {
			if p.value.Kind == jsontext.Object {
				r.part(v, p)
			}
		}
	}
	return v.Sorted()
}

// shape is where schemas stand in the value of a keyword.
type shape uint8

const (
	itself shape = iota // the value
	several
	mapped
)

// holders are the keywords that hold schemas, and whether these judge the same
// value as the schema around them.
var holders = []struct {
	name   string
	shape  shape
	branch bool
}{
	{"additionalItems", itself, false},
	{"additionalProperties", itself, false},
	{"allOf", several, true},
	{"anyOf", several, true},
	{"contains", itself, false},
	{"contentSchema", itself, false},
	{"dependencies", mapped, true},
	{"dependentSchemas", mapped, true},
	{"else", itself, true},
	{"if", itself, true},
	{"items", itself, false},
	{"not", itself, true},
	{"oneOf", several, true},
	{"patternProperties", mapped, false},
	{"prefixItems", several, false},
	{"properties", mapped, false},
	{"propertyNames", itself, false},
	{"then", itself, true},
	{"unevaluatedItems", itself, false},
	{"unevaluatedProperties", itself, false},
	{"$defs", mapped, false},
	{"definitions", mapped, false},
}

// walk lists the schemas of the text, the outer before the inner.
func (v *visit) walk(p *part, out *[]*part) {
	if p.value.Kind != jsontext.Object && p.value.Kind != jsontext.Bool {
		return
	}
	*out = append(*out, p)
	if uri := p.get("$schema"); uri != nil && p.at != "" {
		return // an embedded document of another dialect: its own file's matter
	}
	for _, name := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if ref := p.get(name); ref != nil {
			v.refs[ref.Text] = true
		}
	}
	for _, h := range holders {
		value := p.get(h.name)
		if value == nil {
			continue
		}
		inside := func(value *jsontext.Value, at schemas.Pointer, path, name string) {
			v.walk(&part{value: value, at: at, path: path, name: name, dialect: p.dialect, branch: h.branch}, out)
		}
		at := p.at.Append(h.name)
		switch {
		case value.Kind == jsontext.Array && (h.shape == several || h.name == "items"):
			for i, item := range value.Items {
				inside(item, at.Append(strconv.Itoa(i)), joined(p.path, h.name+"["+strconv.Itoa(i)+"]"), p.name)
			}
		case h.shape == mapped && value.Kind == jsontext.Object:
			for _, m := range value.Members {
				step, name := m.Name, m.Name
				if h.name != "properties" {
					step, name = h.name+"."+m.Name, ""
				}
				inside(m.Value, at.Append(m.Name), joined(p.path, step), name)
			}
		case h.shape == itself:
			inside(value, at, joined(p.path, h.name), "")
		}
	}
}

func joined(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}

// say remarks on a member of a schema, or on the schema itself where it has none
// of that name.
func (v *visit) say(p *part, member, text, value string, edits ...jsontext.Edit) {
	at := p.at
	if p.get(member) != nil {
		at = p.at.Append(member)
	}
	v.Add(lint.Remark{Rule: v.rule, Place: v.places[at], Path: p.path, Text: text, Value: value, Edits: edits})
}
