package avro

import (
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// outline tells what a file defines and which full names it needs from
// elsewhere. A file that does not end in .avsc may be anything: it is a schema
// if it is an object with the type record, error, enum or fixed and a name, and
// has no $schema.
func outline(path, text string, limits schemas.Limits) (schemas.Outline, error) {
	sure := strings.HasSuffix(path, ".avsc")
	if !sure && !looksLikeAvro(text, limits) {
		return schemas.Outline{}, nil
	}
	limits = limits.OrDefault()
	names := &vocabularyOfNames{defined: map[string]*Named{}}
	p := parser{doc: &document{text: text}, mode: schemas.New, names: names, limits: limits, most: limits.Declarations, lenient: true}
	if _, err := p.parse(limits); err != nil {
		return schemas.Outline{}, err
	}
	out := schemas.Outline{Schema: true}
	for _, n := range p.own {
		out.Names = append(out.Names, n.Full)
	}
	seen := map[string]bool{}
	for _, w := range p.waiting {
		if p.lookup(w.name, w.namespace) != nil {
			continue
		}
		if need := fullName(splitName(w.name, w.namespace)); !seen[need] {
			seen[need] = true
			out.Needs = append(out.Needs, need)
		}
	}
	return out, nil
}

func looksLikeAvro(text string, limits schemas.Limits) bool {
	o := jsontext.SchemaOptions(limits)
	o.Comments = true
	v, err := jsontext.Parse(text, o)
	if err != nil || v.Kind != jsontext.Object || v.Get("$schema") != nil {
		return false
	}
	name, word := v.Get("name"), v.Get("type")
	if name == nil || name.Kind != jsontext.String || word == nil || word.Kind != jsontext.String {
		return false
	}
	switch word.Text {
	case "record", "error":
		return v.Get("fields") != nil
	case "enum":
		return v.Get("symbols") != nil
	case "fixed":
		return v.Get("size") != nil
	}
	return false
}
