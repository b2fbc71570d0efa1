package protobuf

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cartorio-registry/cartorio/schemas"
)

// comparer finds the values that a reader sees otherwise than the writer.
type comparer struct {
	plans  *planCache
	writer *tables
	reader *tables
	path   []step
	list   []schemas.Loss
	pairs  map[pairKey]*pair // of this payload, should the plans be full
	byName bool              // fields correspond by name first, as JSON carries them
}

func (c *comparer) lose(kind schemas.LossKind, at *field, in *tables, format string, args ...any) {
	if len(c.list) < mostLosses {
		c.list = append(c.list, schemas.Loss{
			Kind: kind, Payload: pointerOf(c.path), Schema: in.pointer(at.desc), Text: fmt.Sprintf(format, args...),
		})
	}
}

// messages compares what the writer put into a message with what the reader
// found there.
func (c *comparer) messages(w, r *node) {
	key := pairKey{w.m, r.m}
	p := c.pairs[key]
	if p == nil {
		if c.byName {
			p = c.plans.pairNamed(c.writer, w.m, r.m)
		} else {
			p = c.plans.pair(c.writer, w.m, r.m)
		}
		if c.pairs == nil {
			c.pairs = map[pairKey]*pair{}
		}
		c.pairs[key] = p
	}
	for e := w.first; e != nil; e = e.next {
		if len(c.list) >= mostLosses {
			return
		}
		c.path = append(c.path, step{e.f, -1})
		c.entry(p, e, r)
		c.path = c.path[:len(c.path)-1]
	}
}

func (c *comparer) entry(p *pair, e *entry, r *node) {
	fate := p.fate(e.f)
	// A map's key says something even when it is a zero.
	isKey := p.writer.isEntry && e.f.number == 1
	if fate.to == nil && !fate.astray || !isKey && !e.says() {
		return // dropped by design: the field is gone, its value among the unknown ones
	}
	if fate.gone {
		// It hurts only where it shows in another field.
		if got := r.get(fate.to); got == nil || !got.says() {
			return
		}
	}
	if fate.astray {
		if fate.to == nil {
			c.lose(schemas.Lost, e.f, c.writer, "the reader has field %s under another number than %d", e.f.name, e.f.number)
		} else {
			c.lose(schemas.Lost, fate.to, c.reader, "number %d is field %s for the writer and field %s for the reader", e.f.number, e.f.name, fate.to.name)
		}
		return
	}
	got := r.get(fate.to)
	if got == nil {
		if !isKey && e.isZero() && !fate.to.repeated && !fate.to.hasPresence() {
			return // the reader sees a zero as well
		}
		c.lose(schemas.Lost, fate.to, c.reader, "%s of the writer is not there for the reader: %s", e.f.kind, c.why(e, fate.to, r))
		return
	}
	c.values(e, got)
}

func (c *comparer) why(e *entry, to *field, r *node) string {
	if to.oneof >= 0 {
		for other := r.first; other != nil; other = other.next {
			if other.f.oneof == to.oneof {
				return fmt.Sprintf("%s of the same oneof came later", other.f.name)
			}
		}
	}
	if c.byName {
		return "it knows no such name"
	}
	if to.closed != nil {
		return "the closed enum does not declare the number"
	}
	if e.f.wire != to.wire || e.f.packable != to.packable {
		return "the field arrives in another wire type than the reader's and is set aside"
	}
	return "it was set aside"
}

func (c *comparer) values(w, r *entry) {
	switch {
	case w.f.repeated && r.f.repeated:
		c.lists(w, r)
	case w.f.repeated:
		n := w.count()
		if n > 1 {
			c.lose(schemas.Altered, r.f, c.reader, "%d elements of the writer are one value for the reader", n)
			return
		}
		c.element(w, r, 0, -1)
	case r.f.repeated:
		if n := r.count(); n > 0 {
			c.element(w, r, -1, n-1)
		}
	default:
		c.element(w, r, -1, -1)
	}
}

func (c *comparer) lists(w, r *entry) {
	if c.byName && w.f.isMap && r.f.isMap {
		c.maps(w, r)
		return
	}
	if w.f.packable != r.f.packable {
		c.lose(schemas.Altered, r.f, c.reader, "elements of type %s are read as elements of type %s", w.f.kind, r.f.kind)
		return
	}
	if n, m := w.count(), r.count(); n != m {
		kind := schemas.Altered
		if m < n && w.f.wire == r.f.wire {
			kind = schemas.Lost
		}
		c.lose(kind, r.f, c.reader, "%d elements of the writer are %d for the reader", n, m)
		return
	}
	for i := range w.count() {
		if len(c.list) >= mostLosses {
			return
		}
		c.path[len(c.path)-1].index = i
		c.element(w, r, i, i)
	}
	c.path[len(c.path)-1].index = -1
	if w.f.isMap && r.f.isMap && keys(r) < keys(w) {
		c.lose(schemas.Lost, r.f, c.reader, "%d keys of the writer are %d for the reader", keys(w), keys(r))
	}
}

// maps compares maps as JSON carries them: each key once, in no order.
func (c *comparer) maps(w, r *entry) {
	at := make(map[string]int, len(r.msgs))
	for i, one := range r.msgs {
		at[keyOf(one)] = i
	}
	again := w.overwritten()
	for i, one := range w.msgs {
		if len(c.list) >= mostLosses {
			return
		}
		if again[i] {
			continue
		}
		j, ok := at[keyOf(one)]
		if !ok {
			c.lose(schemas.Lost, r.f, c.reader, "a key of the writer is not there for the reader")
			continue
		}
		c.path[len(c.path)-1].index = i
		c.element(w, r, i, j)
		c.path[len(c.path)-1].index = -1
	}
}

// keys counts the distinct keys of a map.
func keys(e *entry) int {
	seen := map[string]bool{}
	for _, one := range e.msgs {
		seen[keyOf(one)] = true
	}
	return len(seen)
}

// element compares one value of each side; an index of -1 is the singular one.
func (c *comparer) element(w, r *entry, i, j int) {
	wm, rm := w.message(i), r.message(j)
	switch {
	case wm != nil && rm != nil:
		c.messages(wm, rm)
		return
	case wm != nil && r.f.class == classBytes && r.f.kind == protoreflect.BytesKind:
		return // the encoded message as opaque bytes
	case wm != nil:
		c.lose(schemas.Altered, r.f, c.reader, "a message of the writer is read as %s", r.f.kind)
		return
	case rm != nil:
		if len(w.bytes(i)) > 0 {
			c.lose(schemas.Altered, r.f, c.reader, "%s of the writer is read as a message", w.f.kind)
		}
		return
	}
	if isText(w.f) != isText(r.f) {
		c.lose(schemas.Altered, r.f, c.reader, "%s of the writer is read as %s", w.f.kind, r.f.kind)
		return
	}
	if isText(w.f) {
		if !bytes.Equal(w.bytes(i), r.bytes(j)) {
			c.lose(schemas.Altered, r.f, c.reader, "another value is read than was written")
		}
		return
	}
	a, b := w.number(i), r.number(j)
	if sameNumber(w.f, a, r.f, b) {
		return
	}
	kind := schemas.AlteredOutOfRange
	if w.f.wire != r.f.wire || otherMeaning(w.f.kind, r.f.kind) || c.byName && w.f.kind == protoreflect.EnumKind {
		kind = schemas.Altered
	}
	c.lose(kind, r.f, c.reader, "%s %s is read as %s %s", w.f.kind, scalarText(w.f, a), r.f.kind, scalarText(r.f, b))
}

func isText(f *field) bool {
	return f.kind == protoreflect.StringKind || f.kind == protoreflect.BytesKind
}

// otherMeaning tells whether two kinds of one wire type understand its bits
// differently: the "X" cells of the table of kinds.
//
// Source: protobuf compatibility, B.1.
func otherMeaning(w, r protoreflect.Kind) bool {
	zigzag := func(k protoreflect.Kind) bool {
		return k == protoreflect.Sint32Kind || k == protoreflect.Sint64Kind
	}
	return zigzag(w) != zigzag(r) && r != protoreflect.BoolKind || isFloat(w) != isFloat(r)
}

func isFloat(k protoreflect.Kind) bool {
	return k == protoreflect.FloatKind || k == protoreflect.DoubleKind
}

// sameNumber compares by value: the same bits of a float, the same integer, and
// for a bool 0 and 1.
func sameNumber(w *field, a uint64, r *field, b uint64) bool {
	if isFloat(w.kind) || isFloat(r.kind) {
		if w.kind == r.kind {
			return a == b
		}
		x, y := floatOf(w, a), floatOf(r, b)
		return x == y
	}
	// Signed forms are sign extended, so equal bits of one sign are equal.
	return a == b && (isSigned(w.kind) == isSigned(r.kind) || a <= math.MaxInt64)
}

func isSigned(k protoreflect.Kind) bool {
	switch k {
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind, protoreflect.BoolKind:
		return false
	default:
		return true
	}
}

func floatOf(f *field, v uint64) float64 {
	switch {
	case f.kind == protoreflect.FloatKind:
		return float64(math.Float32frombits(uint32(v)))
	case f.kind == protoreflect.DoubleKind:
		return math.Float64frombits(v)
	case isSigned(f.kind):
		return float64(int64(v))
	}
	return float64(v)
}

func scalarText(f *field, v uint64) string {
	switch {
	case f.kind == protoreflect.BoolKind:
		return strconv.FormatBool(v != 0)
	case isFloat(f.kind):
		return strconv.FormatFloat(floatOf(f, v), 'g', -1, 64)
	case isSigned(f.kind):
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatUint(v, 10)
}
