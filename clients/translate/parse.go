package translate

import (
	"fmt"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

const (
	mostText    = 1 << 20
	mostChanges = 10_000
	mostErrors  = 20
)

// Parse reads a mapping file, YAML or JSON. Members that are not known, values of
// another kind, paths that cannot be meant and two translations for one pair are
// errors, all of them with their line and column.
//
// Errors: schemas.SyntaxErrors.
func Parse(text []byte) (*Mapping, error) {
	r := reader{}
	if len(text) > mostText {
		return nil, schemas.SyntaxErrors{{Summary: fmt.Sprintf("the file has %d bytes, and %d are allowed", len(text), mostText)}}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, schemas.SyntaxErrors{{Summary: "the file is neither YAML nor JSON", Detail: err.Error()}}
	}
	if len(doc.Content) == 0 {
		return nil, schemas.SyntaxErrors{{Summary: "the file is empty", Detail: "a mapping with the members version and translations is expected"}}
	}
	m := r.mapping(doc.Content[0])
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	return m, nil
}

type reader struct {
	errs    schemas.SyntaxErrors
	changes int
}

func (r *reader) fail(n *yaml.Node, summary, detail string) {
	if len(r.errs) < mostErrors {
		r.errs = append(r.errs, schemas.SyntaxError{Position: schemas.Position{Line: n.Line, Column: n.Column}, Summary: summary, Detail: detail})
	}
}

// object reads the members of a mapping; nil when there is none. Unknown names
// are told.
func (r *reader) object(n *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		r.fail(n, what+" is a mapping", "write its members as name: value")
		return nil
	}
	out := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value):
			r.fail(key, fmt.Sprintf("%s has no member %q", what, key.Value), "it has "+list(known))
		case out[key.Value] != nil:
			r.fail(key, fmt.Sprintf("the member %q stands twice", key.Value), "")
		case value.Kind == yaml.AliasNode || value.Anchor != "":
			r.fail(value, "anchors and aliases are not read", "write the value out")
		default:
			out[key.Value] = value
		}
	}
	return out
}

func list(words []string) string {
	out := ""
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			out += " and "
		default:
			out += ", "
		}
		out += w
	}
	return out
}

// need gives a member that has to be there.
func (r *reader) need(n *yaml.Node, members map[string]*yaml.Node, what, name string) *yaml.Node {
	if members == nil {
		return nil
	}
	if m := members[name]; m != nil {
		return m
	}
	r.fail(n, fmt.Sprintf("%s needs the member %s", what, name), "")
	return nil
}

func (r *reader) text(n *yaml.Node, what string) string {
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || n.Value == "" {
		r.fail(n, what+" is a text", "put it into quotes if it looks like something else")
		return ""
	}
	return n.Value
}

func (r *reader) number(n *yaml.Node, what string) schemas.Version {
	if n == nil {
		return 0
	}
	v, err := strconv.ParseUint(n.Value, 10, 31)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil || v == 0 || n.Value[0] == '0' {
		r.fail(n, what+" is a version number", "write a whole number from 1")
		return 0
	}
	return schemas.Version(v)
}

func (r *reader) items(n *yaml.Node, what string) []*yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.fail(n, what+" is a list", "write one entry a line, with a dash before it")
		return nil
	}
	return n.Content
}

func (r *reader) mapping(n *yaml.Node) *Mapping {
	members := r.object(n, "a mapping file", "version", "translations")
	if v := r.need(n, members, "a mapping file", "version"); v != nil && v.Value != "1" {
		r.fail(v, fmt.Sprintf("the version %q of the file's form is not known", v.Value), "this program reads version 1")
	}
	m := &Mapping{}
	seen := map[string]bool{}
	for _, item := range r.items(r.need(n, members, "a mapping file", "translations"), "translations") {
		t := r.translation(item)
		name := fmt.Sprintf("%s from %d to %d", t.Subject, t.From, t.To)
		if t.From != 0 && t.To != 0 && seen[name] {
			r.fail(item, "there are two translations of "+name, "put their changes into one")
		}
		seen[name] = true
		m.Translations = append(m.Translations, t)
	}
	return m
}

func (r *reader) translation(n *yaml.Node) Translation {
	const what = "a translation"
	members := r.object(n, what, "subject", "from", "to", "steps")
	t := Translation{
		Subject: schemas.ParseSubject(r.text(r.need(n, members, what, "subject"), "subject")),
		From:    r.number(r.need(n, members, what, "from"), "from"),
		To:      r.number(r.need(n, members, what, "to"), "to"),
	}
	if t.From != 0 && t.To != 0 && t.To-t.From != 1 && t.From-t.To != 1 {
		r.fail(members["to"], fmt.Sprintf("a translation leads to the version next to its own, and %d is not next to %d", t.To, t.From), "write one translation for each version between; they are made one after the other")
	}
	for _, item := range r.items(r.need(n, members, what, "steps"), "steps") {
		if r.changes++; r.changes > mostChanges {
			r.fail(item, fmt.Sprintf("the file has over %d changes", mostChanges), "")
			break
		}
		if c, ok := r.change(item); ok {
			t.Changes = append(t.Changes, c)
		}
	}
	return t
}

// change reads one entry of steps: a mapping of one member, the change's name.
func (r *reader) change(n *yaml.Node) (Change, bool) {
	const names = "write one of rename, default, drop and cast"
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 {
		r.fail(n, "a step is a mapping of one member", names)
		return Change{}, false
	}
	key, value := n.Content[0], n.Content[1]
	if value.Kind == yaml.AliasNode || value.Anchor != "" {
		r.fail(value, "anchors and aliases are not read", "write the value out")
		return Change{}, false
	}
	before := len(r.errs)
	c := Change{Op: Op(key.Value)}
	var path *yaml.Node
	switch c.Op {
	case Drop:
		path = value
	case Rename:
		m := r.object(value, "rename", "path", "to")
		path = r.need(value, m, "rename", "path")
		c.To = r.text(r.need(value, m, "rename", "to"), "to")
	case Cast:
		m := r.object(value, "cast", "path", "to")
		path = r.need(value, m, "cast", "path")
		to := r.need(value, m, "cast", "to")
		if c.To = r.text(to, "to"); c.To != "" && !slices.Contains(casts, c.To) {
			r.fail(to, fmt.Sprintf("there is no cast to %q", c.To), "there are "+list(casts))
		}
	case Default:
		m := r.object(value, "default", "path", "value", "nulls")
		path = r.need(value, m, "default", "path")
		if v := r.need(value, m, "default", "value"); v != nil {
			c.Value = r.value(v, 0)
		}
		if null := m["nulls"]; null != nil {
			c.Nulls = null.Value == "true"
			if null.Tag != "!!bool" {
				r.fail(null, "nulls is true or false", "true also replaces a null by the value")
			}
		}
	case "jsonata", "JSONATA":
		r.fail(key, "jsonata is not executed: no engine for it was found that is kept up and bounds what an expression costs", names)
	default:
		r.fail(key, fmt.Sprintf("there is no step %q", key.Value), names)
	}
	if path != nil {
		r.path(&c, path)
	}
	return c, len(r.errs) == before
}

func (r *reader) path(c *Change, n *yaml.Node) {
	text := r.text(n, "a path")
	if text == "" {
		return
	}
	tokens, err := tokensOf(text)
	if err != nil {
		r.fail(n, fmt.Sprintf("%q is no path", text), err.Error())
		return
	}
	if tokens[len(tokens)-1] == "*" && c.Op != Cast {
		r.fail(n, fmt.Sprintf("%s needs the name of a member at the end of its path", c.Op), "only cast takes every value at once")
	}
	c.Path, c.tokens = schemas.Pointer(text), tokens
}

// value reads a default: what YAML and JSON have in common.
func (r *reader) value(n *yaml.Node, depth int) *jsontext.Value {
	out := &jsontext.Value{}
	switch {
	case depth > 64:
		r.fail(n, "the value is nested deeper than 64 levels", "")
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		r.fail(n, "anchors and aliases are not read", "write the value out")
	case n.Kind == yaml.SequenceNode:
		out.Kind = jsontext.Array
		for _, item := range n.Content {
			out.Items = append(out.Items, r.value(item, depth+1))
		}
	case n.Kind == yaml.MappingNode:
		out.Kind = jsontext.Object
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || out.Get(key.Value) != nil {
				r.fail(key, fmt.Sprintf("the member %q stands twice, or is no text", key.Value), "")
				continue
			}
			out.Members = append(out.Members, jsontext.Member{Name: key.Value, Value: r.value(n.Content[i+1], depth+1)})
		}
	case n.Tag == "!!str":
		out.Kind, out.Text = jsontext.String, n.Value
	case n.Tag == "!!null":
	case n.Tag == "!!bool":
		out.Kind, out.Bool = jsontext.Bool, n.Value == "true" || n.Value == "True" || n.Value == "TRUE"
	case (n.Tag == "!!int" || n.Tag == "!!float") && isNumber(n.Value):
		out.Kind, out.Text = jsontext.Number, n.Value
	default:
		r.fail(n, fmt.Sprintf("%s is no value of JSON", n.Value), "write numbers in decimal digits, and put texts into quotes")
	}
	return out
}
