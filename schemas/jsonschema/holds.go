package jsonschema

import (
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Holds judges one JSON text by n alone, format as an annotation. decided is
// false when text is no payload, or when steps (0 for the default of a reading)
// ran out. Dynamic references are followed from n as if it were the outermost
// schema: see [Schema.IsDynamic].
func (n *Node) Holds(text string, steps int) (ok, decided bool) {
	return n.holds(text, steps, false)
}

// HoldsAsserting is Holds where formats are asserted.
func (n *Node) HoldsAsserting(text string, steps int) (ok, decided bool) {
	return n.holds(text, steps, true)
}

func (n *Node) holds(text string, steps int, formats bool) (ok, decided bool) {
	e := readers.Get().(*evaluation)
	defer e.release()
	e.formats = formats
	if err := e.scan(text, schemas.ReadOptions{}.OrDefault().Depth, schemas.DefaultLimits()); err != nil {
		return false, false
	}
	if steps <= 0 {
		steps = stepsBase + stepsPerByte*len(text)
	}
	e.steps, e.memoFrom = steps, steps-10_000-len(text)
	ok = e.node(n, 0, nil, nil)
	return ok && !e.out, !e.out
}

// mostRefusals bounds what Refusals tells.
const mostRefusals = 200

// Refusals is why the schema refuses one JSON text, format as an annotation: the
// violations of a reading and, behind that of a union of which no alternative
// fits, those of each alternative. None where text fits, is no payload, or takes
// more than steps (0 for the default of a reading).
func (s *Schema) Refusals(text string, steps int) []schemas.Violation {
	e := readers.Get().(*evaluation)
	defer e.release()
	if s.Err() != nil || e.scan(text, schemas.ReadOptions{}.OrDefault().Depth, schemas.DefaultLimits()) != nil {
		return nil
	}
	if steps <= 0 {
		steps = stepsBase + stepsPerByte*len(text)
	}
	e.deep, e.dynamic = true, s.dynamic
	list := e.run(s.root, steps, mostRefusals)
	if len(list) > 0 && list[0].Kind != schemas.Invalid {
		return nil
	}
	return list
}

// IsDynamic tells whether a dynamic reference of the schema may mean different
// nodes on different ways through it. Where only one resource declares its
// name, it never does.
func (s *Schema) IsDynamic() bool { return s.dynamic }

// AssertsFormats tells whether any part of the schema asserts a format, where
// its reader chooses so.
func (s *Schema) AssertsFormats() bool { return s.formats }

// AssertsFormat tells whether format is a keyword that a reader may assert here:
// drafts 4 to 7, and a format that is known.
func (n *Node) AssertsFormat() bool {
	return n.Format != "" && !n.Dialect.IsModern() && knowsFormat(n.Format)
}

// settle looks at all nodes for formats, and fixes the dynamic references whose name one resource alone declares:
// on every way through the schema they mean the same.
func (l *loader) settle() {
	l.formats = slices.ContainsFunc(l.queue, (*Node).AssertsFormat)
	for _, n := range l.queue {
		n.isAlone = n.Ref == nil && n.Dynamic == nil && len(n.AllOf) == 0 && len(n.AnyOf) == 0 && len(n.OneOf) == 0 && n.Not == nil && n.If == nil
	}
	if !l.dynamic {
		return
	}
	l.dynamic = false
	for _, n := range l.queue {
		if n.Dynamic == nil || n.Dynamic.Fixed {
			continue
		}
		declared := 0
		for _, r := range l.resources {
			if n.Dynamic.Recursive && r.recursive || !n.Dynamic.Recursive && r.dynamic[n.Dynamic.Anchor] != nil {
				declared++
			}
		}
		n.Dynamic.Fixed = declared == 1
		l.dynamic = l.dynamic || !n.Dynamic.Fixed
	}
}
