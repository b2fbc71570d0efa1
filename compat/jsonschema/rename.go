package jsonschema

import (
	"fmt"
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// renames finds the properties that look renamed: of all that went and came, one
// on each side alone says just that of its value. It does not matter in which
// order they stand, nor which side is the old one.
func (d *differ) renames(a, b *jsonschema.Node) map[string]string {
	gone, come := d.lone(a, b), d.lone(b, a)
	if len(gone) == 0 || len(come) == 0 {
		return nil
	}
	out := map[string]string{}
	for key, name := range gone {
		if other := come[key]; name != "" && other != "" {
			out[name] = other
		}
	}
	return out
}

// lone lists the properties that only a has, by what they say; empty for what
// several say.
func (d *differ) lone(a, b *jsonschema.Node) map[string]string {
	var out map[string]string
	for _, p := range a.Properties {
		if b.Property(p.Name) != nil {
			continue
		}
		key := d.meaning(p.Node)
		if key == "" {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		if _, met := out[key]; met {
			out[key] = ""
			continue
		}
		out[key] = p.Name
	}
	return out
}

// meaning is the text of a schema without what only people read; empty for one
// that says nothing.
func (d *differ) meaning(n *jsonschema.Node) string {
	if n.Boolean || n.Value.End-n.Value.Start > 1<<12 || !d.meter.Spend(1+(n.Value.End-n.Value.Start)/64) {
		return ""
	}
	bare := jsontext.Value{Kind: jsontext.Object}
	for _, m := range n.Value.Members {
		switch m.Name {
		case "title", "description", "$comment", "examples", "default", "deprecated":
		default:
			bare.Members = append(bare.Members, m)
		}
	}
	if len(bare.Members) == 0 {
		return ""
	}
	return strconv.Itoa(int(n.Dialect)) + string(bare.Append(nil, true))
}

// renamed tells of one.
func (d *differ) renamed(p pairing, was, is string) {
	at := pairing{p.old.Property(was), p.next.Property(is), p.path + "." + is}
	f := d.report(&propertyRenamed, at, was, is, fmt.Sprintf("the property %s looks renamed to %s", was, is))
	f.around = p
	f.members, f.misleads = []string{was, is}, true
	for i, n := range []*jsonschema.Node{p.old, p.next} {
		f.answers[i] = append(f.answers[i], answerOf([]*jsonschema.Node{at.old, at.next}[i], ""))
		for _, k := range []string{"additionalProperties", "unevaluatedProperties", "patternProperties", "required"} {
			f.answers[i] = append(f.answers[i], answerOf(n, k))
		}
	}
	d.remarks(at, false)
}
