package avro

import (
	"github.com/cartorio-registry/cartorio/schemas"
)

// closureShare is how much larger than the limits of one text everything that a
// new text refers to may be, in bytes and in declarations.
const closureShare = 10

// references are the parsed texts of a closure, dependencies first.
type references []reference

type reference struct {
	top         string // full name of its top-level type; empty when it has none
	reach       []bool // by index: what it refers to, at any distance
	fingerprint schemas.Fingerprint
}

// parseClosure parses every referenced text as a stored one and makes its types
// known. The size of all of them is bounded for a new schema.
func parseClosure(closure []schemas.Dependency, names *vocabularyOfNames, limits schemas.Limits, mode schemas.Mode) (references, error) {
	var list references
	bytes := 0
	for i, d := range closure {
		fail := func(err error) error { return &schemas.ReferenceError{Reference: d.Reference, Err: err} }
		text := d.Resolved.Source.Text
		p := parser{doc: &document{text: text}, mode: schemas.Stored, names: names}
		if mode == schemas.New {
			if bytes += len(text); bytes > closureShare*limits.Text {
				return nil, fail(&schemas.LimitError{Limit: "bytes of all referenced texts together", Most: closureShare * limits.Text, Found: bytes})
			}
			p.most, p.counted = closureShare*limits.Declarations, names.counted
		}
		if d.Resolved.Source.Type != schemas.Avro && d.Resolved.Source.Type != "" {
			return nil, fail(schemas.SyntaxErrors{{Summary: "it is a schema of the type " + string(d.Resolved.Source.Type), Detail: "an Avro schema refers to Avro schemas only"}})
		}
		root, err := p.parse(limits)
		if err != nil {
			return nil, fail(err)
		}
		names.counted = p.counted
		r := reference{reach: make([]bool, i)}
		if root.Named != nil {
			r.top = root.Named.Full
		}
		for _, use := range d.Uses {
			r.reach[use] = true
			for far, reached := range list[use].reach {
				r.reach[far] = r.reach[far] || reached
			}
		}
		canonical := printer{supplied: list.supplied(r.reach)}.print(root)
		r.fingerprint = list.fingerprint(canonical, d.Resolved.Source.References, d.Uses)
		list = append(list, r)
	}
	return list, nil
}

// all is the reach of a text that refers to everything.
func (list references) all() []bool {
	reach := make([]bool, len(list))
	for i := range reach {
		reach[i] = true
	}
	return reach
}

// supplied are the names that a text with this reach writes and does not define.
func (list references) supplied(reach []bool) map[string]bool {
	names := map[string]bool{}
	for i, reached := range reach {
		if reached && list[i].top != "" {
			names[list[i].top] = true
		}
	}
	return names
}

// fingerprint is that of a text whose references stand at these indexes.
func (list references) fingerprint(canonical string, refs []schemas.Reference, direct []int) schemas.Fingerprint {
	labels := make([]string, len(refs))
	parts := make([]schemas.Fingerprint, len(refs))
	for i, ref := range refs {
		labels[i], parts[i] = ref.Name, list[direct[i]].fingerprint
	}
	return schemas.FingerprintOf(schemas.Avro, canonical, labels, parts)
}

// checkNesting refuses definitions that nest deeper than our own walks go: a
// chain of many referenced texts, each of them deep. Walks take stack in
// proportion.
func checkNesting(root *Type) error {
	const most = 200_000
	seen := map[*Named]bool{}
	var walk func(t *Type, depth int) bool
	walk = func(t *Type, depth int) bool {
		if depth > most {
			return false
		}
		switch t.Kind {
		case Array, Map:
			return walk(t.Items, depth+1)
		case Union:
			for _, b := range t.Branches {
				if !walk(b, depth+1) {
					return false
				}
			}
		case Record:
			if seen[t.Named] {
				return true
			}
			seen[t.Named] = true
			for _, f := range t.Named.Fields {
				if !walk(f.Type, depth+1) {
					return false
				}
			}
		default: // the other kinds need nothing here
		}
		return true
	}
	if !walk(root, 0) {
		return &schemas.LimitError{Limit: "nested definitions in the text and its references", Most: most, Found: most + 1}
	}
	return nil
}
