package avro

import (
	"github.com/cartorio-registry/cartorio/schemas"
)

// Schema is a parsed Avro schema: the resolved graph of its types and the texts
// and fingerprints made from it. It is immutable and safe for use by many
// goroutines.
type Schema struct {
	source schemas.Source
	root   *Type
	// own are the definitions in the text itself, known those of the references
	// too; both in the order in which they became known.
	own, known []*Named
	// supplied holds the full names of the references' top-level types: the
	// canonical text names them and does not define them.
	supplied map[string]bool

	remarks []fault

	canonical   string
	fingerprint schemas.Fingerprint
	weight      int

	// Made when first asked for.
	normalized, equivalence, parsingForm func() string
	reading                              func() *program
	resolvers                            resolverCache
}

// Root is the type that the text is.
func (s *Schema) Root() *Type { return s.root }

// Definitions are the named types that the text itself defines, in reading
// order.
func (s *Schema) Definitions() []*Named { return s.own }

// Known are the named types that the text and everything it refers to define;
// Known()[i].Number is i.
func (s *Schema) Known() []*Named { return s.known }

// Lookup finds a named type by its full name; nil when there is none.
func (s *Schema) Lookup(full string) *Named {
	for _, n := range s.known {
		if n.Full == full {
			return n
		}
	}
	return nil
}

// Source is the text and the references that s was parsed from.
func (s *Schema) Source() schemas.Source { return s.source }

// Canonical is the registry's canonical text: compact, attributes in their
// fixed order, names relative to the enclosing namespace.
//
// Source: REST contract 5.1.1.
func (s *Schema) Canonical() string { return s.canonical }

// Fingerprint covers type, canonical text and references.
func (s *Schema) Fingerprint() schemas.Fingerprint { return s.fingerprint }

// Names are the full names that the text defines, in reading order.
func (s *Schema) Names() []string {
	names := make([]string, len(s.own))
	for i, n := range s.own {
		names[i] = n.Full
	}
	return names
}

// Weight estimates the bytes that the parsed form holds.
func (s *Schema) Weight() int { return s.weight }

// weigh estimates what the parsed form holds: the text and what was made of it,
// and the nodes of the graph with room for the compiled reading.
func (s *Schema) weigh() {
	const perType, perNamed, perField, perAttribute = 200, 350, 220, 120
	s.weight = 1000 + len(s.source.Text) + len(s.canonical)
	seen := map[*Named]bool{}
	documents := map[*document]bool{s.root.doc: true}
	var walk func(t *Type)
	walk = func(t *Type) {
		s.weight += perType + perAttribute*len(t.Attributes)
		switch t.Kind {
		case Array, Map:
			walk(t.Items)
		case Union:
			for _, b := range t.Branches {
				walk(b)
			}
		case Record, Enum, Fixed:
			n := t.Named
			if seen[n] {
				return
			}
			seen[n] = true
			if !documents[n.doc] { // a referenced text is held by its nodes
				documents[n.doc] = true
				s.weight += len(n.doc.text)
			}
			s.weight += perNamed + 50*(len(n.Symbols)+len(n.Aliases)) + perAttribute*len(n.Attributes)
			for _, f := range n.Fields {
				s.weight += perField + perAttribute*len(f.Attributes)
				walk(f.Type)
			}
		default: // the other kinds need nothing here
		}
	}
	walk(s.root)
}
