package jsonschema

import (
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// outline tells what a file defines and needs. A .json file may be anything: it
// counts as a schema when it has $schema, or is named *.schema.json.
func outline(path, text string, limits schemas.Limits) (schemas.Outline, error) {
	root, err := jsontext.Parse(text, jsontext.SchemaOptions(limits))
	if err != nil {
		return schemas.Outline{}, err
	}
	out := schemas.Outline{Schema: root.Get("$schema") != nil || strings.HasSuffix(path, ".schema.json")}
	if root.Kind != jsontext.Object {
		out.Schema = out.Schema && root.Kind == jsontext.Bool
		return out, nil
	}
	out.Names = namesOf(root)
	l := newLoader(limits.OrDefault(), 0)
	d := &document{text: text, root: root}
	if err := l.add(d, Draft7); err != nil {
		return schemas.Outline{}, err
	}
	l.needs(root, d.main, &out)
	return out, nil
}

// needs collects the targets of $ref that lie outside the document, by first
// use, resolved against $id when there is one and without their fragments.
func (l *loader) needs(v *jsontext.Value, r *resource, out *schemas.Outline) {
	if own := l.owner[v]; own != nil {
		r = own
	}
	for i := range v.Members {
		m := &v.Members[i]
		if strings.HasSuffix(m.Name, "ef") && r.dialect.Knows(m.Name) && m.Value.Kind == jsontext.String && strings.HasPrefix(m.Name, "$") {
			address, _, _ := strings.Cut(m.Value.Text, "#")
			if address == "" {
				continue
			}
			target := resolve(r.uri, address)
			if l.resources[target] != nil || bundledDocument(target) != nil {
				continue
			}
			target = strings.TrimPrefix(target, home)
			if !slices.Contains(out.Needs, target) {
				out.Needs = append(out.Needs, target)
			}
		}
		k, known := keywordsByName[m.Name]
		if !known || k.shape == plain || r.dialect < k.since || r.dialect > k.until {
			continue
		}
		for _, sub := range subschemas(k.shape, m.Value) {
			l.needs(sub, r, out)
		}
	}
}
