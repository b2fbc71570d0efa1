package protobuf

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cartorio-registry/cartorio/schemas"
)

// step is one step of a pointer into the payload.
type step struct {
	f     *field
	index int // -1 when the field is not repeated
}

// decoder reads a payload to nodes and collects what is wrong.
type decoder struct {
	t       *tables
	b       []byte
	depth   int
	steps   int
	nodes   int
	most    int // violations
	unknown bool
	path    []step

	violations []schemas.Violation
	// losses are values that the schema itself sets aside: undeclared numbers
	// of closed enums, fields in another wire type.
	losses []schemas.Loss
	broken bool // the bytes make no sense from here on

	freeEntries []entry
	freeNodes   []node
	made        int
}

// maxNodes bounds the values that one payload may hold, each costing far more
// memory than the two bytes that it may be on the wire.
const maxNodes = 1 << 20

func (d *decoder) violate(kind schemas.ViolationKind, f *field, offset int, rule, text string) {
	if len(d.violations) >= d.most {
		return
	}
	v := schemas.Violation{Kind: kind, Payload: pointerOf(d.path), Offset: offset, Rule: rule, Text: text}
	if f != nil {
		v.Schema = d.t.pointer(f.desc)
	} else if len(d.path) > 0 {
		v.Schema = d.t.pointer(d.path[len(d.path)-1].f.desc)
	}
	d.violations = append(d.violations, v)
}

func (d *decoder) fail(offset int, rule, format string, args ...any) int {
	if !d.broken {
		d.violate(schemas.Unreadable, nil, offset, rule, fmt.Sprintf(format, args...))
		d.broken = true
	}
	return no
}

func (d *decoder) tooMuch(kind schemas.ViolationKind, offset int, rule, text string) int {
	if !d.broken {
		d.violate(kind, nil, offset, rule, text)
		d.broken = true
	}
	return no
}

// mostLosses bounds what is told of one payload.
const mostLosses = 50

// lose tells that a value of f is set aside.
func (d *decoder) lose(f *field, format string, args ...any) {
	if len(d.losses) >= mostLosses {
		return
	}
	d.push(f, -1)
	d.losses = append(d.losses, schemas.Loss{
		Kind: schemas.Lost, Payload: pointerOf(d.path), Schema: d.t.pointer(f.desc), Text: fmt.Sprintf(format, args...),
	})
	d.pop()
}

func pointerOf(path []step) schemas.Pointer {
	var p schemas.Pointer
	for _, s := range path {
		p = p.Append(s.f.json)
		if s.index >= 0 {
			p += schemas.Pointer("/" + strconv.Itoa(s.index))
		}
	}
	return p
}

func (d *decoder) push(f *field, index int) { d.path = append(d.path, step{f, index}) }
func (d *decoder) pop()                     { d.path = d.path[:len(d.path)-1] }

// message reads fields into n; see walker.walk for the arguments.
func (d *decoder) message(n *node, i, end int, group int32, depth int) int {
	if depth > d.depth {
		return d.tooMuch(schemas.TooLarge, i, "depth", fmt.Sprintf("the payload is nested deeper than %d levels", d.depth))
	}
	for i < end {
		start := i
		if len(d.violations) >= d.most {
			d.broken = true // nothing more would be told
			return no
		}
		if d.steps--; d.steps < 0 {
			return d.tooMuch(schemas.TooComplex, i, "steps", "the payload takes more steps than allowed")
		}
		tag, next := uvarint(d.b, i, end)
		if next < 0 {
			return d.fail(start, "varint", "the field tag is cut off or longer than 64 bits")
		}
		i = next
		number, wire := tag>>3, uint8(tag&7)
		if number < 1 || number > maxTag {
			return d.fail(start, "field-number", "field number %d is not between 1 and %d", number, maxTag)
		}
		if wire == wireEnd {
			if int32(number) != group {
				return d.fail(start, "end-group", "group %d ends where no such group is open", number)
			}
			return i
		}
		f := n.m.find(int32(number))
		switch {
		case f == nil:
			if d.unknown {
				d.violate(schemas.Invalid, nil, start, "unknown-field", fmt.Sprintf("message %s has no field %d", n.m.name, number))
			}
			i = d.skip(i, end, wire, int32(number), depth)
		case wire == f.wire:
			i = d.element(n, f, i, end, depth)
		case wire == wireBytes && f.packable:
			i = d.packed(n, f, i, end)
		default:
			if d.unknown {
				d.violate(schemas.Invalid, f, start, "wire-type", fmt.Sprintf("field %s has wire type %d, its type needs %d", f.name, wire, f.wire))
			}
			d.lose(f, "wire type %d instead of %d: the field is set aside as unknown", wire, f.wire)
			i = d.skip(i, end, wire, int32(number), depth)
		}
		if i < 0 {
			return no
		}
	}
	if group != 0 {
		return d.fail(i, "truncated", "group %d has no end", group)
	}
	return i
}

func (d *decoder) skip(i, end int, wire uint8, number int32, depth int) int {
	if wire > wireFixed32 {
		return d.fail(i, "wire-type", "wire type %d does not exist", wire)
	}
	next := skip(d.b, i, end, wire, number, d.depth-depth)
	if next >= 0 {
		return next
	}
	if next == deep {
		return d.tooMuch(schemas.TooLarge, i, "depth", fmt.Sprintf("the payload is nested deeper than %d levels", d.depth))
	}
	return d.fail(i, "truncated", "the value of field %d is cut off or malformed", number)
}

// length reads the length of a delimited value and answers its end.
func (d *decoder) length(f *field, i, end int) (from, stop int) {
	n, next := uvarint(d.b, i, end)
	if next < 0 {
		return 0, d.fail(i, "varint", "the length of field %s is cut off or longer than 64 bits", f.name)
	}
	if n > uint64(end-next) {
		return 0, d.fail(i, "truncated", "field %s has %d bytes, %d are left", f.name, n, end-next)
	}
	return next, next + int(n)
}

// element reads one element of a field in its own wire type.
func (d *decoder) element(n *node, f *field, i, end, depth int) int {
	switch f.class {
	case classVarint, classClosedEnum:
		v, next := uvarint(d.b, i, end)
		if next < 0 {
			return d.fail(i, "varint", "the value of field %s is cut off or longer than 64 bits", f.name)
		}
		d.scalar(n, f, v)
		return next
	case classFixed32:
		if end-i < 4 {
			return d.fail(i, "truncated", "field %s has 4 bytes, %d are left", f.name, end-i)
		}
		d.scalar(n, f, fixed(d.b[i:i+4]))
		return i + 4
	case classFixed64:
		if end-i < 8 {
			return d.fail(i, "truncated", "field %s has 8 bytes, %d are left", f.name, end-i)
		}
		d.scalar(n, f, fixed(d.b[i:i+8]))
		return i + 8
	case classGroup:
		sub := d.sub(n, f)
		if sub == nil {
			return no
		}
		i = d.message(sub, i, end, f.number, depth+1)
		d.pop()
		return i
	default: // delimited by their length
	}
	from, stop := d.length(f, i, end)
	if stop < 0 {
		return no
	}
	if f.class == classMessage {
		sub := d.sub(n, f)
		if sub == nil {
			return no
		}
		next := d.message(sub, from, stop, 0, depth+1)
		d.pop()
		if next < 0 {
			return no
		}
		return stop
	}
	if !d.spend(i) {
		return no
	}
	raw := d.b[from:stop]
	e := d.ensure(n, f)
	index := -1
	if f.repeated {
		index = len(e.raws)
		e.raws = append(e.raws, raw)
	} else {
		e.raw = raw
	}
	if f.class == classString && !utf8.Valid(raw) {
		d.push(f, index)
		d.violate(schemas.Unreadable, f, from, "utf8", fmt.Sprintf("field %s is a string and not valid UTF-8", f.name))
		d.pop()
	}
	return stop
}

func (d *decoder) spend(offset int) bool {
	if d.nodes++; d.nodes > maxNodes {
		d.tooMuch(schemas.TooComplex, offset, "steps", fmt.Sprintf("the payload holds more than %d values", maxNodes))
		return false
	}
	return true
}

// sub is the node to read a message field into; the path is one longer then.
func (d *decoder) sub(n *node, f *field) *node {
	if !d.spend(0) {
		return nil
	}
	e := d.ensure(n, f)
	if f.repeated {
		sub := d.newNode(f.sub)
		d.push(f, len(e.msgs))
		e.msgs = append(e.msgs, sub)
		return sub
	}
	if e.msg == nil {
		e.msg = d.newNode(f.sub)
	}
	d.push(f, -1)
	return e.msg
}

func (d *decoder) packed(n *node, f *field, i, end int) int {
	from, stop := d.length(f, i, end)
	if stop < 0 {
		return no
	}
	if from == stop || !d.spend(i) {
		return stop
	}
	size := 0
	switch f.class {
	case classFixed32:
		size = 4
	case classFixed64:
		size = 8
	default: // varints
	}
	if size > 0 && (stop-from)%size != 0 {
		return d.fail(from, "truncated", "the packed field %s has %d bytes, no multiple of %d", f.name, stop-from, size)
	}
	for i = from; i < stop; {
		if d.steps--; d.steps < 0 {
			return d.tooMuch(schemas.TooComplex, i, "steps", "the payload takes more steps than allowed")
		}
		if size > 0 {
			d.scalar(n, f, fixed(d.b[i:i+size]))
			i += size
			continue
		}
		v, next := uvarint(d.b, i, stop)
		if next < 0 {
			return d.fail(i, "varint", "an element of the packed field %s is cut off or longer than 64 bits", f.name)
		}
		d.scalar(n, f, v)
		i = next
	}
	return stop
}

func fixed(b []byte) uint64 {
	var v uint64
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// scalar stores one number; one that a closed enum does not declare goes to the
// unknown fields, as C++ and Java have it.
func (d *decoder) scalar(n *node, f *field, v uint64) {
	v = number(f.kind, v)
	if f.closed != nil && !f.closed.has(int32(v)) {
		d.lose(f, "%d is no value of the closed enum %s: it is set aside as unknown", int32(v), f.desc.Enum().FullName())
		if d.unknown {
			d.push(f, -1)
			d.violate(schemas.Invalid, f, -1, "enum", fmt.Sprintf("%d is no value of the closed enum %s", int32(v), f.desc.Enum().FullName()))
			d.pop()
		}
		return
	}
	e := d.ensure(n, f)
	if f.repeated {
		e.nums = append(e.nums, v)
	} else {
		e.num = v
	}
}

// number brings a wire value to the form of its kind: signed kinds are sign
// extended to 64 bits, unsigned ones cut to their width, floats are their bits.
func number(kind protoreflect.Kind, v uint64) uint64 {
	switch kind {
	case protoreflect.BoolKind:
		if v != 0 {
			return 1
		}
		return 0
	case protoreflect.Int32Kind, protoreflect.EnumKind, protoreflect.Sfixed32Kind:
		return uint64(int64(int32(v)))
	case protoreflect.Uint32Kind:
		return v & math.MaxUint32
	case protoreflect.Sint32Kind:
		v &= math.MaxUint32
		return uint64(int64(int32(uint32(v>>1) ^ -uint32(v&1))))
	case protoreflect.Sint64Kind:
		return v>>1 ^ -(v & 1)
	default:
		return v
	}
}

// required finds the fields that must be there and are not.
func (d *decoder) required(n *node) {
	if len(d.violations) >= d.most {
		return
	}
	for _, f := range n.m.musts {
		if n.get(f) == nil {
			d.violate(schemas.Invalid, f, -1, "required", fmt.Sprintf("required field %s of message %s is missing", f.name, n.m.name))
		}
	}
	if n.m.isEntry {
		if v := n.m.find(2); v != nil && v.sub != nil && n.get(v) == nil {
			d.push(v, -1)
			d.required(&node{m: v.sub})
			d.pop()
		}
	}
	for e := n.first; e != nil; e = e.next {
		if e.msg != nil {
			d.push(e.f, -1)
			d.required(e.msg)
			d.pop()
		}
		overwritten := e.overwritten()
		for i, sub := range e.msgs {
			if overwritten[i] {
				continue
			}
			d.push(e.f, i)
			d.required(sub)
			d.pop()
		}
	}
}
