package avro

import (
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// walk reads a payload along the nodes of a resolution, keeping the way to
// every value, to tell what is wrong and to build what was asked for.
type walk struct {
	b        []byte
	pos      int
	o        schemas.ReadOptions
	steps    int
	skipping int // inside values that only the writer has
	path     []token
	shape    shape // of the writer
	fill     filler
	out      schemas.Reading
	nearest  *nearest // nil where all violations are told
	part     *Field   // of a reader's record: of that record nothing else is built
	beside   int      // inside of what is beside the part
}

func (p *program) walk(b []byte, o schemas.ReadOptions) schemas.Reading { return p.walker(b, o).run(p) }

func (p *program) walker(b []byte, o schemas.ReadOptions) *walk {
	w := &walk{b: b, o: o, steps: o.Steps, shape: p.shape}
	if w.steps == 0 {
		// A value takes memory for every step, an explanation takes none.
		w.steps = 1<<16 + 16*len(b)
		if o.Value {
			w.steps = 1<<16 + 3*len(b)
		}
	}
	w.fill = filler{left: &w.steps}
	return w
}

func (w *walk) run(p *program) schemas.Reading {
	n := p.nodes()
	value, ok := w.value(n, 0)
	if ok && w.pos < len(w.b) {
		w.path = nil
		w.unreadable(n, w.pos, "leftover", fmt.Sprintf("%s left over after the value: the payload was written with another schema", bytesAre(len(w.b)-w.pos)))
	}
	if w.out.OK() && w.o.Value {
		w.out.Value = value
	}
	return w.out
}

func bytesAre(n int) string {
	if n == 1 {
		return "1 byte is"
	}
	return fmt.Sprintf("%d bytes are", n)
}

// token is one step of the way to a value: a field, an item, or a key, which is
// a part of the payload until it has to be told.
type token struct {
	field string
	key   []byte
	index int // where neither is set
}

// pointer spells the way; long map keys are cut.
func (w *walk) pointer() schemas.Pointer {
	const most = 200
	var p []byte
	for _, t := range w.path {
		p = append(p, '/')
		switch {
		case t.field != "":
			p = appendToken(p, t.field)
		case t.key == nil:
			p = appendToken(p, index(t.index))
		case len(t.key) > most:
			p = appendToken(p, strings.ToValidUTF8(string(t.key[:most]), "")+"…")
		default:
			p = appendToken(p, string(t.key))
		}
	}
	return schemas.Pointer(p)
}

func (w *walk) violate(kind schemas.ViolationKind, at *spot, offset int, rule, text string) bool {
	if w.nearest != nil {
		place := at
		if w.skipping > 0 {
			place = nil
		}
		if !w.nearest.takes(place) {
			return w.nearest.seen < w.o.Violations
		}
	}
	v := schemas.Violation{Kind: kind, Payload: w.pointer(), Offset: offset, Rule: rule, Text: text}
	if at != nil && w.skipping == 0 {
		v.Schema = at.Pointer()
	}
	w.out.Violations = append(w.out.Violations, v)
	if w.nearest != nil {
		return w.nearest.seen < w.o.Violations
	}
	return len(w.out.Violations) < w.o.Violations
}

// unreadable ends the walk: behind bytes that are no value nothing is certain.
func (w *walk) unreadable(n *node, offset int, rule, text string) (any, bool) {
	w.violate(schemas.Unreadable, &n.reader.spot, offset, rule, text)
	return nil, false
}

func (w *walk) lose(kind schemas.LossKind, n *node, text string) {
	if w.skipping == 0 && len(w.out.Losses) < w.o.Violations {
		w.out.Losses = append(w.out.Losses, schemas.Loss{Kind: kind, Payload: w.pointer(), Schema: n.reader.Pointer(), Text: text})
	}
}

// value reads one value; false ends the walk.
func (w *walk) value(n *node, depth int) (any, bool) {
	if w.steps--; w.steps < 0 {
		w.out.Violations = append(w.out.Violations, tooComplex(w.pos))
		return nil, false
	}
	if n.act == actRefuse {
		if !w.violate(schemas.Invalid, n.why.at, w.pos, n.why.rule, n.why.text) {
			return nil, false
		}
		return w.skip(n.writer, depth)
	}
	start := w.pos
	switch n.writer.Kind {
	case Union:
		i, pos := readLong(w.b, w.pos)
		if pos < 0 {
			return w.unreadable(n, start, "varint", w.badVarint("the index of a union's branch", 64))
		}
		if i < 0 || i >= int64(len(n.branches)) {
			return w.unreadable(n, start, "union-index", fmt.Sprintf("the union has %d branches, the payload names branch %d", len(n.branches), i))
		}
		w.pos = pos
		return w.value(n.branches[i], depth)
	case Array, Map, Record:
		if depth >= w.o.Depth {
			w.violate(schemas.TooLarge, &n.reader.spot, start, "depth", fmt.Sprintf("the payload nests deeper than %d levels", w.o.Depth))
			return nil, false
		}
		switch n.writer.Kind {
		case Array:
			return w.array(n, depth+1)
		case Map:
			return w.mapping(n, depth+1)
		default: // the other kinds need nothing here
		}
		return w.record(n, depth+1)
	default: // the other kinds need nothing here
	}
	return w.scalar(n, start)
}

// skip reads over a value that is not to be taken.
func (w *walk) skip(writer *Type, depth int) (any, bool) {
	over := identity(writer, w.shape)
	if over == nil {
		return nil, false
	}
	w.skipping++
	_, ok := w.value(over, depth)
	w.skipping--
	return nil, ok
}

func (w *walk) record(n *node, depth int) (any, bool) {
	if w.shape.endless[n.writer.Named] {
		return w.unreadable(n, w.pos, "endless", endlessText(n.writer.Named))
	}
	rec := n.record
	for _, fault := range rec.faults {
		if !w.violate(schemas.Invalid, fault.at, w.pos, fault.rule, fault.text) {
			return nil, false
		}
	}
	build := w.building()
	whole := !build || !w.part.isIn(n.reader.Named)
	var out map[string]any
	switch {
	case build && whole:
		out = make(map[string]any, len(rec.fields)+len(rec.absent))
	case build:
		out = map[string]any{}
	}
	count := len(rec.busy)
	if build {
		count = len(rec.fields)
	}
	for i := range count {
		f := &rec.fields[i]
		if !build {
			f = &rec.fields[rec.busy[i]]
		}
		w.path = append(w.path, token{field: f.writer.Name})
		if f.reader == nil {
			w.skipping++
		}
		beside := !whole && f.reader != w.part
		if beside {
			w.beside++
		}
		value, ok := w.value(f.node, depth)
		if beside {
			w.beside--
		}
		if f.reader == nil {
			w.skipping--
		}
		if !ok {
			return nil, false
		}
		w.path = w.path[:len(w.path)-1]
		if build && f.reader != nil && !beside {
			out[f.reader.Name] = value
		}
	}
	if !build {
		return nil, true
	}
	for _, f := range rec.absent {
		value, ok := w.fill.value(f.Type, f.Default)
		if !ok {
			w.out.Violations = append(w.out.Violations, tooComplex(w.pos))
			return nil, false
		}
		if whole || f == w.part {
			out[f.Name] = value
		}
	}
	return out, true
}

func (w *walk) building() bool {
	return w.o.Value && w.skipping == 0 && w.beside == 0 && w.out.OK()
}

// counts reads the head of a block of items: how many follow, and the position
// behind them if it is told.
func (w *walk) counts(n *node) (count int64, end int, ok bool) {
	start := w.pos
	count, pos := readLong(w.b, w.pos)
	if pos < 0 {
		_, ok = w.unreadable(n, start, "varint", w.badVarint("the number of items", 64))
		return 0, -1, ok
	}
	w.pos = pos
	if count >= 0 {
		return count, -1, true
	}
	size, pos := readLong(w.b, w.pos)
	if count = -count; count < 0 || pos < 0 || size < 0 || size > int64(len(w.b)-pos) {
		_, ok = w.unreadable(n, start, "block-size", "a block of items tells a size that the payload does not have")
		return 0, -1, ok
	}
	w.pos = pos
	return count, pos + int(size), true
}

func (w *walk) enough(n *node, count int64, start int) bool {
	if count <= int64(len(w.b)-w.pos) {
		return true
	}
	w.unreadable(n, start, "block-count", fmt.Sprintf("a block of items tells %d of them, where %d bytes are left", count, len(w.b)-w.pos))
	return false
}

func (w *walk) array(n *node, depth int) (any, bool) {
	build := w.building()
	var out []any
	if build {
		out = []any{}
	}
	for at := 0; ; {
		start := w.pos
		count, end, ok := w.counts(n)
		if !ok {
			return nil, false
		}
		if count == 0 {
			return out, true
		}
		// Items of no width are bounded by the steps alone.
		if !w.noWidth(n.writer.Items) && !w.enough(n, count, start) {
			return nil, false
		}
		for ; count > 0; count-- {
			w.path = append(w.path, token{index: at})
			value, ok := w.value(n.items, depth)
			if !ok {
				return nil, false
			}
			w.path = w.path[:len(w.path)-1]
			if build {
				out = append(out, value)
			}
			at++
		}
		if end >= 0 && w.pos != end {
			return w.unreadable(n, start, "block-size", "a block of items tells another size than its items have")
		}
	}
}

func (w *walk) noWidth(t *Type) bool {
	return t.Kind == Null || t.Kind == Fixed && t.Named.Size == 0 || t.Kind == Record
}

func (w *walk) mapping(n *node, depth int) (any, bool) {
	build := w.building()
	var out map[string]any
	if build {
		out = map[string]any{}
	}
	for {
		start := w.pos
		count, end, ok := w.counts(n)
		if !ok {
			return nil, false
		}
		if count == 0 {
			return out, true
		}
		if !w.enough(n, count, start) {
			return nil, false
		}
		for ; count > 0; count-- {
			key, ok := w.text(n, "the key of a map")
			if !ok {
				return nil, false
			}
			w.path = append(w.path, token{key: key})
			value, ok := w.value(n.items, depth)
			if !ok {
				return nil, false
			}
			w.path = w.path[:len(w.path)-1]
			if build {
				out[string(key)] = value
			}
		}
		if end >= 0 && w.pos != end {
			return w.unreadable(n, start, "block-size", "a block of items tells another size than its items have")
		}
	}
}
