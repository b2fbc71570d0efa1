package protobuf

import (
	"bytes"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// node is a message as it was decoded, with protobuf's rules for fields that
// come more than once: the last scalar wins, messages merge, a oneof keeps its
// last member.
type node struct {
	m           *message
	first, last *entry
	entries     int
	byField     map[*field]*entry // once there are many entries
}

// entry is one field of a node. Of the members that hold values, only those of
// the field's kind are used.
type entry struct {
	f    *field
	next *entry // in order of first appearance
	num  uint64 // scalar: see number
	raw  []byte // string, bytes
	msg  *node
	nums []uint64
	raws [][]byte
	msgs []*node // of a map: its entries, in order
}

func (n *node) get(f *field) *entry {
	if n.byField != nil {
		return n.byField[f]
	}
	for e := n.first; e != nil; e = e.next {
		if e.f == f {
			return e
		}
	}
	return nil
}

// drop takes away the member of a oneof that another one replaces.
func (n *node) drop(oneof int16) {
	var before *entry
	for e := n.first; e != nil; before, e = e, e.next {
		if e.f.oneof != oneof {
			continue
		}
		if before == nil {
			n.first = e.next
		} else {
			before.next = e.next
		}
		if n.last == e {
			n.last = before
		}
		n.entries--
		delete(n.byField, e.f)
		return
	}
}

// ensure is the entry of f in n, made if need be.
func (d *decoder) ensure(n *node, f *field) *entry {
	if e := n.get(f); e != nil {
		return e
	}
	if f.oneof >= 0 {
		n.drop(f.oneof)
	}
	e := d.newEntry(f)
	if n.last == nil {
		n.first = e
	} else {
		n.last.next = e
	}
	n.last = e
	n.entries++
	const many = 16
	switch {
	case n.byField != nil:
		n.byField[f] = e
	case n.entries > many:
		n.byField = map[*field]*entry{}
		for e := n.first; e != nil; e = e.next {
			n.byField[e.f] = e
		}
	}
	return e
}

// newEntry and newNode take from blocks that grow, since a payload needs many.
func (d *decoder) newEntry(f *field) *entry {
	if len(d.freeEntries) == 0 {
		d.freeEntries = make([]entry, min(256, 8+d.made))
	}
	e := &d.freeEntries[0]
	d.freeEntries = d.freeEntries[1:]
	d.made++
	e.f = f
	return e
}

func (d *decoder) newNode(m *message) *node {
	if len(d.freeNodes) == 0 {
		d.freeNodes = make([]node, min(256, 4+d.made))
	}
	n := &d.freeNodes[0]
	d.freeNodes = d.freeNodes[1:]
	d.made++
	n.m = m
	return n
}

// count is how many elements a repeated entry has.
func (e *entry) count() int { return len(e.nums) + len(e.raws) + len(e.msgs) }

// says tells whether a field holds more than what its absence would mean.
func (e *entry) says() bool {
	switch {
	case e.f.repeated:
		return e.count() > 0
	case e.f.hasPresence():
		return true
	}
	return !e.isZero()
}

// isZero tells whether a singular entry holds the zero of a scalar.
func (e *entry) isZero() bool {
	return !e.f.repeated && e.msg == nil && e.num == 0 && len(e.raw) == 0
}

func (e *entry) message(i int) *node {
	if i < 0 {
		return e.msg
	}
	if i < len(e.msgs) {
		return e.msgs[i]
	}
	return nil
}

func (e *entry) bytes(i int) []byte {
	if i < 0 {
		return e.raw
	}
	if i < len(e.raws) {
		return e.raws[i]
	}
	return nil
}

func (e *entry) number(i int) uint64 {
	if i < 0 {
		return e.num
	}
	if i < len(e.nums) {
		return e.nums[i]
	}
	return 0
}

// overwritten are the entries of a map whose key comes again; nil for none.
func (e *entry) overwritten() map[int]bool {
	if !e.f.isMap || len(e.msgs) < 2 {
		return nil
	}
	var out map[int]bool
	last := make(map[string]int, len(e.msgs))
	for i, one := range e.msgs {
		key := keyOf(one)
		if j, ok := last[key]; ok {
			if out == nil {
				out = map[int]bool{}
			}
			out[j] = true
		}
		last[key] = i
	}
	return out
}

// keyOf is an entry's key as text.
func keyOf(n *node) string {
	f := n.m.find(1)
	e := n.get(f)
	if e == nil {
		e = &entry{f: f}
	}
	if f.class == classString || f.class == classBytes {
		return string(e.raw)
	}
	return scalarText(f, e.num)
}

// value builds what the reader sees, as ReadOptions.Value wants it: members by
// JSON key, enum values by name where they have one.
func (n *node) value() map[string]any {
	out := make(map[string]any, n.entries)
	for e := n.first; e != nil; e = e.next {
		switch {
		case e.f.isMap:
			m := make(map[string]any, len(e.msgs))
			for _, one := range e.msgs {
				f := one.m.find(2)
				v := one.get(f)
				if v == nil {
					v = &entry{f: f}
					if f.sub != nil {
						v.msg = &node{m: f.sub}
					}
				}
				m[keyOf(one)] = v.value(-1)
			}
			out[e.f.json] = m
		case e.f.repeated:
			list := make([]any, e.count())
			for i := range list {
				list[i] = e.value(i)
			}
			out[e.f.json] = list
		case e.says():
			out[e.f.json] = e.value(-1)
		}
	}
	return out
}

func (e *entry) value(i int) any {
	if m := e.message(i); m != nil {
		return m.value()
	}
	f := e.f
	v := e.number(i)
	switch {
	case f.kind == protoreflect.StringKind:
		return string(e.bytes(i))
	case f.kind == protoreflect.BytesKind:
		return bytes.Clone(e.bytes(i))
	case f.kind == protoreflect.BoolKind:
		return v != 0
	case f.kind == protoreflect.EnumKind:
		if d := f.desc.Enum().Values().ByNumber(protoreflect.EnumNumber(int32(v))); d != nil {
			return string(d.Name())
		}
		return int64(v)
	case isFloat(f.kind):
		return floatOf(f, v)
	case isSigned(f.kind):
		return int64(v)
	}
	return v
}
