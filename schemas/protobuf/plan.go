package protobuf

import (
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// fate says what becomes of a writer's field for the reader.
type fate struct {
	to *field // nil: the reader has no field of that number
	// astray: the reader has the field of that name under another number, so
	// the value is lost for it, or lands in another field.
	astray bool
	// gone: the writer's name is not among the reader's, so that the value is
	// dropped by design unless it lands in another field.
	gone bool
}

// pair is one message type of the writer against one of the reader.
type pair struct {
	writer, reader *message
	fates          []fate // by the index of the writer's field
}

func (p *pair) fate(f *field) fate { return p.fates[f.index] }

// fate finds what becomes of f. A field is what its number says, so that a
// rename is nothing; only when one of the two names lives on under another
// number has the field moved.
func fateOf(w, r *message, f *field) fate {
	to := r.find(f.number)
	if to != nil && to.name == f.name {
		return fate{to: to}
	}
	if r.byName()[f.name] != nil {
		return fate{to: to, astray: true}
	}
	if to != nil && w.byName()[to.name] != nil {
		return fate{to: to, astray: true, gone: true}
	}
	return fate{to: to}
}

func newPair(w, r *message) *pair {
	p := &pair{writer: w, reader: r, fates: make([]fate, len(w.fields))}
	for i, f := range w.fields {
		p.fates[i] = fateOf(w, r, f)
	}
	return p
}

// keepsOneofs tells whether no two fields that can stand together for the
// writer are members of one oneof for the reader.
func (p *pair) keepsOneofs() bool {
	from := map[int16]int16{}
	for _, f := range p.writer.fields {
		to := p.fate(f).to
		if to == nil || to.oneof < 0 {
			continue
		}
		other, ok := from[to.oneof]
		if ok && (other < 0 || f.oneof != other) {
			return false
		}
		from[to.oneof] = f.oneof
	}
	return true
}

type pairKey struct{ writer, reader *message }

// planCache remembers, for the writers that a schema met last, pairs of
// messages and whether a root pair can lose anything.
type planCache struct {
	mu      sync.RWMutex
	writers map[*tables]*plans
}

type plans struct {
	pairs map[pairKey]*pair
	named map[pairKey]*pair // as JSON pairs fields
	safe  map[pairKey]bool
}

// A cache keeps its writers alive, so it keeps few, and of each not more pairs
// than a large schema has.
const (
	mostWriters = 8
	mostPlans   = 4096
)

// of is what is remembered of a writer. The caller holds mu for writing.
func (c *planCache) of(wt *tables) *plans {
	if p := c.writers[wt]; p != nil {
		return p
	}
	if c.writers == nil || len(c.writers) >= mostWriters {
		c.writers = map[*tables]*plans{}
	}
	p := &plans{pairs: map[pairKey]*pair{}, named: map[pairKey]*pair{}, safe: map[pairKey]bool{}}
	c.writers[wt] = p
	return p
}

func (c *planCache) pair(wt *tables, w, r *message) *pair {
	key := pairKey{w, r}
	c.mu.RLock()
	known := c.writers[wt]
	var p *pair
	if known != nil {
		p = known.pairs[key]
	}
	c.mu.RUnlock()
	if p != nil {
		return p
	}
	p = newPair(w, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if known = c.of(wt); len(known.pairs) < mostPlans {
		known.pairs[key] = p
	}
	return p
}

// pairNamed is pair for the JSON mapping.
func (c *planCache) pairNamed(wt *tables, w, r *message) *pair {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.of(wt)
	key := pairKey{w, r}
	p := known.named[key]
	if p == nil {
		if p = pairByName(w, r); len(known.named) < mostPlans {
			known.named[key] = p
		}
	}
	return p
}

// lossless tells whether every payload that both sides read holds the same
// values for both: then nothing needs to be decoded to say so.
func (c *planCache) lossless(wt *tables, w, r *message) bool {
	key := pairKey{w, r}
	c.mu.RLock()
	safe, ok := false, false
	if known := c.writers[wt]; known != nil {
		safe, ok = known.safe[key]
	}
	c.mu.RUnlock()
	if ok {
		return safe
	}
	safe = c.explore(wt, w, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.of(wt); len(known.safe) < mostPlans {
		known.safe[key] = safe
	}
	return safe
}

func (c *planCache) explore(wt *tables, w, r *message) bool {
	seen := map[pairKey]bool{{w, r}: true}
	for todo := []pairKey{{w, r}}; len(todo) > 0; {
		key := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if len(seen) > mostPlans {
			return false
		}
		p := c.pair(wt, key.writer, key.reader)
		if !p.keepsOneofs() {
			return false
		}
		for _, f := range p.writer.fields {
			fate := p.fate(f)
			switch {
			case fate.astray:
				return false
			case fate.to == nil:
				continue
			case f.isMap != fate.to.isMap || f.repeated && !fate.to.repeated || !keeps(f, fate.to):
				return false
			}
			if f.sub != nil {
				if next := (pairKey{f.sub, fate.to.sub}); !seen[next] {
					seen[next] = true
					todo = append(todo, next)
				}
			}
		}
	}
	return true
}

// keeps tells whether every value of the writer's kind is the same value for
// the reader: the "=" cells of the table of kinds. What a closed enum or a
// UTF-8 string of the reader refuses shows in the payload.
//
// Source: protobuf compatibility, B.1.
func keeps(w, r *field) bool {
	if (w.sub == nil) != (r.sub == nil) || w.wire != r.wire {
		return false
	}
	if w.kind == r.kind || w.sub != nil {
		return true
	}
	switch w.kind {
	case protoreflect.Int32Kind:
		return r.kind == protoreflect.Int64Kind || r.kind == protoreflect.EnumKind
	case protoreflect.EnumKind:
		return r.kind == protoreflect.Int64Kind || r.kind == protoreflect.Int32Kind
	case protoreflect.Uint32Kind:
		return r.kind == protoreflect.Int64Kind || r.kind == protoreflect.Uint64Kind
	case protoreflect.BoolKind:
		switch r.kind {
		case protoreflect.Int32Kind, protoreflect.Int64Kind, protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.EnumKind:
			return true
		default:
			return false
		}
	case protoreflect.Sint32Kind:
		return r.kind == protoreflect.Sint64Kind
	case protoreflect.StringKind:
		return r.kind == protoreflect.BytesKind
	case protoreflect.BytesKind:
		return r.kind == protoreflect.StringKind
	default:
		return false
	}
}
