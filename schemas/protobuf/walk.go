package protobuf

import "unicode/utf8"

// walker judges a payload in one pass, builds nothing and allocates nothing. It
// says yes only when everything is plainly right; whatever else it meets – an
// error, or a rarity such as a required field in the second half of a split
// message – is left to the slow reader, which tells what it is.
type walker struct {
	b       []byte
	depth   int // levels allowed
	steps   int
	unknown bool // unknown fields are not allowed
}

// What stands in place of an index when there is none.
const (
	no    = -1 // not plainly right
	deep  = -2 // too many levels of groups
	wrong = -3 // the slow reader is sure to refuse it
)

// walk reads fields of m from b[i:end] and returns where it stopped: end, or,
// inside a group, behind the end tag of that number. It stops at the first doubt.
func (w *walker) walk(m *message, i, end int, group int32, depth int) int {
	if depth > w.depth {
		return wrong
	}
	b := w.b
	var seen uint64
	for i < end {
		if w.steps--; w.steps < 0 {
			return no
		}
		tag := uint64(b[i])
		i++
		if tag >= 0x80 {
			if tag, i = uvarint(b, i-1, end); i < 0 {
				return wrong
			}
		}
		number, wire := tag>>3, uint8(tag&7)
		if number-1 > maxTag-1 {
			return wrong
		}
		if wire == wireEnd {
			if int32(number) != group {
				return wrong
			}
			return w.done(m, seen, i)
		}
		var f *field
		if number < uint64(len(m.dense)) {
			f = m.dense[number]
		} else if len(m.sparse) > 0 {
			f = m.find(int32(number))
		}
		if f == nil {
			if w.unknown {
				return wrong
			}
			if i = skip(b, i, end, wire, int32(number), w.depth-depth); i < 0 {
				return wrong
			}
			continue
		}
		if wire != f.wire {
			if wire != wireBytes || !f.packable {
				return no
			}
			if i = w.packed(f, i, end); i < 0 {
				return i
			}
			continue
		}
		seen |= f.bit
		switch f.class {
		case classVarint:
			if i < end && b[i] < 0x80 {
				i++
			} else if _, i = uvarint(b, i, end); i < 0 {
				return wrong
			}
		case classFixed32:
			if i += 4; i > end {
				return wrong
			}
		case classFixed64:
			if i += 8; i > end {
				return wrong
			}
		case classClosedEnum:
			var v uint64
			if v, i = uvarint(b, i, end); i < 0 {
				return wrong
			}
			if !f.closed.has(int32(v)) {
				return no
			}
		case classGroup:
			if i = w.walk(f.sub, i, end, f.number, depth+1); i < 0 {
				return i
			}
		default:
			var n uint64
			if i < end && b[i] < 0x80 {
				n = uint64(b[i])
				i++
			} else if n, i = uvarint(b, i, end); i < 0 {
				return wrong
			}
			if n > uint64(end-i) {
				return wrong
			}
			stop := i + int(n)
			switch f.class {
			case classString:
				if !utf8.Valid(b[i:stop]) {
					return wrong
				}
			case classMessage:
				if got := w.walk(f.sub, i, stop, 0, depth+1); got < 0 {
					return got
				}
			default: // bytes are as they are
			}
			i = stop
		}
	}
	if group != 0 {
		return wrong
	}
	return w.done(m, seen, i)
}

func (w *walker) done(m *message, seen uint64, i int) int {
	if seen&m.required != m.required || len(m.musts) > 64 {
		return no
	}
	return i
}

// packed reads a block of elements.
func (w *walker) packed(f *field, i, end int) int {
	n, i := uvarint(w.b, i, end)
	if i < 0 || n > uint64(end-i) {
		return wrong
	}
	stop := i + int(n)
	switch f.class {
	case classFixed32:
		w.steps -= int(n / 4)
		if n%4 != 0 {
			return wrong
		}
	case classFixed64:
		w.steps -= int(n / 8)
		if n%8 != 0 {
			return wrong
		}
	case classClosedEnum:
		for i < stop {
			var v uint64
			w.steps--
			if v, i = uvarint(w.b, i, stop); i < 0 {
				return wrong
			}
			if !f.closed.has(int32(v)) {
				return no
			}
		}
	default:
		for i < stop {
			w.steps--
			if w.b[i] < 0x80 {
				i++
			} else if _, i = uvarint(w.b, i, stop); i < 0 {
				return wrong
			}
		}
	}
	if w.steps < 0 {
		return no
	}
	return stop
}

// uvarint reads a varint; the next index is negative when it is cut off or
// longer than 64 bits.
func uvarint(b []byte, i, end int) (uint64, int) {
	var v uint64
	for shift := 0; shift < 63; shift += 7 {
		if i >= end {
			return 0, no
		}
		c := b[i]
		i++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, i
		}
	}
	if i >= end || b[i] > 1 {
		return 0, no
	}
	return v | uint64(b[i])<<63, i + 1
}

// skip passes over the value of an unknown field; a group may hold levels more.
func skip(b []byte, i, end int, wire uint8, number int32, levels int) int {
	switch wire {
	case wireVarint:
		_, i = uvarint(b, i, end)
		return i
	case wireFixed32:
		i += 4
	case wireFixed64:
		i += 8
	case wireBytes:
		var n uint64
		if n, i = uvarint(b, i, end); i < 0 || n > uint64(end-i) {
			return no
		}
		return i + int(n)
	case wireStart:
		if levels < 1 {
			return deep
		}
		for {
			var tag uint64
			if tag, i = uvarint(b, i, end); i < 0 {
				return no
			}
			inner := tag >> 3
			if inner-1 > maxTag-1 {
				return no
			}
			if tag&7 == wireEnd {
				if int32(inner) != number {
					return no
				}
				return i
			}
			if i = skip(b, i, end, uint8(tag&7), int32(inner), levels-1); i < 0 {
				return i
			}
		}
	default:
		return no
	}
	if i > end {
		return no
	}
	return i
}
