package jsonschema

import (
	"github.com/cartorio-registry/cartorio/schemas"
)

// Holds judges one JSON text by n alone, format as an annotation. decided is
// false when text is no payload, or when steps (0 for the default of a reading)
// ran out. Dynamic references are followed from n as if it were the outermost
// schema: see [Schema.IsDynamic].
func (n *Node) Holds(text string, steps int) (ok, decided bool) {
	e := readers.Get().(*evaluation)
	defer e.release()
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

// IsDynamic tells whether a dynamic reference of the schema may mean different
// nodes on different ways through it. Where only one resource declares its
// name, it never does.
func (s *Schema) IsDynamic() bool { return s.dynamic }

// AssertsFormat tells whether format is a keyword that a reader may assert here:
// drafts 4 to 7, and a format that is known.
func (n *Node) AssertsFormat() bool {
	return n.Format != "" && !n.Dialect.IsModern() && knowsFormat(n.Format)
}

// settle fixes the dynamic references whose name one resource alone declares:
// on every way through the schema they mean the same.
func (l *loader) settle() {
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
