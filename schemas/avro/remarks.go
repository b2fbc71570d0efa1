package avro

import (
	"fmt"
	"sort"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// Remarks are what the rules accept and people seldom mean, in reading order:
// a member given twice, a logical type that is ignored, defaults that no reader
// can fill in, the text "null" for a nullable field, aliases that make a field
// ambiguous, a record that no finite value fits. Only the text itself is looked at, not its references.
//
// Source: avro-compat 8, 9, 10, 13 and 14.
func (s *Schema) Remarks() []schemas.SyntaxError {
	var list []schemas.SyntaxError
	for _, d := range s.Doubts() {
		list = append(list, d.SyntaxError)
	}
	return list
}

// Doubt is a remark and the class that it is of.
type Doubt struct {
	Kind DoubtKind
	schemas.SyntaxError
}

// DoubtKind is the class of a remark.
type DoubtKind uint8

// The classes.
const (
	MemberRepeated  DoubtKind = iota // a member is given twice
	LogicalUnknown                   // a logical type has no such name, or is no text
	LogicalUnfit                     // a logical type does not fit its base type
	LogicalOnField                   // a logical type stands beside the type, not in it
	DefaultUnusable                  // a default that no reader can fill in
	DefaultNullText                  // the text "null" as the default of a nullable field
	AliasAmbiguous                   // two fields answer to one name
	RecordEndless                    // no finite value fits
)

// Doubts are the remarks with their classes, in reading order.
func (s *Schema) Doubts() []Doubt {
	r := remarker{doc: s.root.doc, left: mostResolveSteps}
	for _, f := range s.remarks {
		r.list = append(r.list, doubt{MemberRepeated, f})
	}
	r.shape = measure(s.root)
	r.fill = filler{left: &r.left}
	r.ignored(s.root.Kind, s.root.Attributes, s.root.Logical, &s.root.spot)
	r.inside(s.root)
	for _, n := range s.own {
		if n.doc == r.doc {
			r.named(n)
		}
	}
	sort.SliceStable(r.list, func(i, j int) bool { return r.list[i].at.start < r.list[j].at.start })
	out := make([]Doubt, len(r.list))
	for i, d := range r.list {
		out[i] = Doubt{d.kind, d.placed()}
	}
	return out
}

type doubt struct {
	kind DoubtKind
	fault
}

type remarker struct {
	list  []doubt
	doc   *document
	shape shape
	fill  filler
	left  int
}

func (r *remarker) say(kind DoubtKind, at *spot, detail, format string, a ...any) {
	r.list = append(r.list, doubt{kind, fault{at, fmt.Sprintf(format, a...), detail}})
}

// inside looks at the unnamed types that t holds.
func (r *remarker) inside(t *Type) {
	switch t.Kind {
	case Array, Map:
		r.ignored(t.Items.Kind, t.Items.Attributes, t.Items.Logical, &t.Items.spot)
		r.inside(t.Items)
	case Union:
		for _, b := range t.Branches {
			r.ignored(b.Kind, b.Attributes, b.Logical, &b.spot)
			r.inside(b)
		}
	default: // the other kinds need nothing here
	}
}

func (r *remarker) named(n *Named) {
	r.ignored(n.Kind, n.Attributes, n.Logical, &n.spot)
	if r.shape.endless[n] {
		r.say(RecordEndless, &n.spot, "make one of the fields on the way back to it nullable, or an array", "%s", endlessText(n))
	}
	aliases := map[string]string{}
	for _, f := range n.Fields {
		for _, alias := range f.Aliases {
			if other, ok := aliases[alias]; ok {
				r.say(AliasAmbiguous, &f.spot, "only one of the two is filled", "the fields %s and %s list the same alias %s", quote(other), quote(f.Name), quote(alias))
			}
			aliases[alias] = f.Name
			if alias != f.Name && n.Field(alias) != nil {
				r.say(AliasAmbiguous, &f.spot, "data that has both fields cannot be resolved", "the field %s lists the name of its sibling %s as an alias", quote(f.Name), quote(alias))
			}
		}
		for _, a := range f.Attributes {
			if a.Name == "logicalType" {
				at := f.of("logicalType", a.Value)
				r.say(LogicalOnField, &at, `write it inside the type: "type": {"type": …, "logicalType": …}`, "the logical type on the field %s means nothing", quote(f.Name))
			}
		}
		if f.Default != nil && f.Default.Kind == jsontext.String && f.Default.Text == "null" && nullable(f.Type) {
			at := f.of("default", f.Default)
			r.say(DefaultNullText, &at, "write null without quotes if that is meant", "the default of field %s is the text \"null\", not null", quote(f.Name))
		}
		if f.Default != nil {
			if why := r.fill.check(f.Type, f.Default); why != "" {
				at := f.of("default", f.Default)
				r.say(DefaultUnusable, &at, "a reader that needs it will fail", "the default of field %s cannot be filled in: %s", quote(f.Name), why)
			}
		}
		r.ignored(f.Type.Kind, f.Type.Attributes, f.Type.Logical, &f.Type.spot)
		r.inside(f.Type)
	}
}

// ignored tells of a logical type that is not in force.
func (r *remarker) ignored(kind Kind, attributes []Attribute, logical Logical, at *spot) {
	if !logical.IsZero() {
		return
	}
	for _, a := range attributes {
		if a.Name != "logicalType" {
			continue
		}
		place := at.of("logicalType", a.Value)
		switch _, known := logicalBases[a.Value.Text]; {
		case a.Value.Kind != jsontext.String:
			r.say(LogicalUnknown, &place, "", "the logical type is no text and is ignored")
		case known:
			r.say(LogicalUnfit, &place, "see its conditions in the specification: base type, size, precision and scale", "the logical type %s does not fit this %s and is ignored", quote(a.Value.Text), kind)
		default:
			r.say(LogicalUnknown, &place, "", "the logical type %s is unknown and is ignored", quote(a.Value.Text))
		}
	}
}

func nullable(t *Type) bool {
	for _, b := range t.Branches {
		if b.Kind == Null {
			return true
		}
	}
	return false
}
