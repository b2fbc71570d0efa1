package avro

import "github.com/cartorio-registry/cartorio/schemas"

// nearest keeps those of a walk's violations that stand nearer to a place of the
// reader's schema than all before them: a payload may be refused for thousands of
// reasons, of which one is looked for.
type nearest struct {
	at   schemas.Pointer
	best int // bytes that the nearest pointer so far has in common with at
	seen int
}

// ReadsNearest reads as [Schema.Reads] does and looks at as many violations, but
// tells only those that stand nearer to a place of s than every one before, so that
// the last is the nearest. seen counts all that were looked at.
func (s *Schema) ReadsNearest(writer *Schema, payload []byte, options schemas.ReadOptions, at schemas.Pointer) (got schemas.Reading, seen int) {
	o := options.OrDefault()
	if len(payload) <= o.Bytes {
		if p := s.programFor(writer); p.refused == nil {
			w := p.walker(payload, o)
			w.nearest = &nearest{at: at, best: -1}
			return w.run(p), w.nearest.seen
		}
	}
	got = s.Reads(writer, schemas.Payload{Bytes: payload}, options)
	return got, len(got.Violations)
}

// ReadsPart reads as [Schema.Reads] does with a value, but of each record of s that
// has the field part, the value holds that field alone.
func (s *Schema) ReadsPart(writer *Schema, payload []byte, options schemas.ReadOptions, part *Field) schemas.Reading {
	o := options.OrDefault()
	o.Value = true
	p := s.programFor(writer)
	if len(payload) > o.Bytes || p.refused != nil {
		return s.Reads(writer, schemas.Payload{Bytes: payload}, o)
	}
	w := p.walker(payload, o)
	w.part = part
	return w.run(p)
}

// isIn tells whether f is a field of a record.
func (f *Field) isIn(record *Named) bool {
	return f != nil && f.Index < len(record.Fields) && record.Fields[f.Index] == f
}

// takes tells whether a violation at a place is to be told; at is nil for one that
// has no place.
func (n *nearest) takes(at *spot) bool {
	n.seen++
	common := 0
	if at != nil {
		common = at.shared(n.at)
	}
	if common <= n.best {
		return false
	}
	n.best = common
	return true
}

// shared counts the leading bytes that p has in common with the pointer of s.
func (s *spot) shared(p schemas.Pointer) (n int) {
	var steps [32]string
	depth := 0
	for at := s; at != nil && at.up != nil; at = at.up {
		if depth == len(steps) {
			return sharedPrefix(s.Pointer(), p)
		}
		steps[depth] = at.step
		depth++
	}
	for ; depth > 0; depth-- {
		if n == len(p) || p[n] != '/' {
			return n
		}
		n++
		step := steps[depth-1]
		for i := range len(step) {
			switch {
			case step[i] == '~' || step[i] == '/': // which a pointer escapes
				return sharedPrefix(s.Pointer(), p)
			case n == len(p) || p[n] != step[i]:
				return n
			}
			n++
		}
	}
	return n
}

func sharedPrefix(a, b schemas.Pointer) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
