package avro

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas"
)

func (w *walk) bytes(n *node, what string) ([]byte, bool) {
	start := w.pos
	length, pos := readLong(w.b, w.pos)
	if pos < 0 {
		_, ok := w.unreadable(n, start, "varint", w.badVarint("the length of "+what, 64))
		return nil, ok
	}
	if length < 0 || length > int64(len(w.b)-pos) {
		_, ok := w.unreadable(n, start, "length", fmt.Sprintf("%s tells a length of %d bytes, where %d are left", what, length, len(w.b)-pos))
		return nil, ok
	}
	w.pos = pos + int(length)
	return w.b[pos:w.pos], true
}

func (w *walk) text(n *node, what string) ([]byte, bool) {
	start := w.pos
	b, ok := w.bytes(n, what)
	if ok && !utf8.Valid(b) {
		_, ok = w.unreadable(n, start, "utf8", what+" is not valid UTF-8")
	}
	return b, ok
}

func (w *walk) badVarint(what string, bits int) string {
	if bits == 64 {
		if _, pos := readLong(append(w.b[w.pos:len(w.b):len(w.b)], make([]byte, 10)...), 0); pos < 0 {
			return what + " is wider than 64 bits"
		}
		return "the payload ends inside " + what
	}
	if _, pos := readInt(append(w.b[w.pos:len(w.b):len(w.b)], make([]byte, 10)...), 0); pos < 0 {
		return what + " is wider than 32 bits"
	}
	return "the payload ends inside " + what
}

func (w *walk) truncated(n *node, width int) (any, bool) {
	return w.unreadable(n, w.pos, "truncated", fmt.Sprintf("%d bytes are needed for %s, %d are left", width, describe(n.writer), len(w.b)-w.pos))
}

// scalar reads a value without parts.
func (w *walk) scalar(n *node, start int) (any, bool) {
	left := len(w.b) - w.pos
	switch n.writer.Kind {
	case Null:
		return nil, true
	case Boolean:
		if left < 1 {
			return w.truncated(n, 1)
		}
		if w.b[w.pos] > 1 {
			return w.unreadable(n, start, "boolean", fmt.Sprintf("a boolean is the byte 0 or 1, not %d", w.b[w.pos]))
		}
		w.pos++
		return w.b[w.pos-1] == 1, true
	case Int:
		i, pos := readInt(w.b, w.pos)
		if pos < 0 {
			return w.unreadable(n, start, "varint", w.badVarint("an int", 32))
		}
		w.pos = pos
		return w.number(n, i), w.assert(n, start, i, nil)
	case Long:
		i, pos := readLong(w.b, w.pos)
		if pos < 0 {
			return w.unreadable(n, start, "varint", w.badVarint("a long", 64))
		}
		w.pos = pos
		return w.number(n, i), w.assert(n, start, i, nil)
	case Float:
		if left < 4 {
			return w.truncated(n, 4)
		}
		w.pos += 4
		if !w.building() {
			return nil, true
		}
		return float64(readFloat(w.b, start)), true
	case Double:
		if left < 8 {
			return w.truncated(n, 8)
		}
		w.pos += 8
		if !w.building() {
			return nil, true
		}
		return readDouble(w.b, start), true
	case Fixed:
		size := n.writer.Named.Size
		if left < size {
			return w.truncated(n, size)
		}
		w.pos += size
		return w.keep(w.b[start:w.pos]), w.assert(n, start, 0, w.b[start:w.pos])
	case Bytes:
		b, ok := w.bytes(n, "bytes")
		if !ok || n.reader.Kind != String {
			return w.keep(b), ok && w.assert(n, start, 0, b)
		}
		if !utf8.Valid(b) {
			w.lose(schemas.Altered, n, "bytes that are not UTF-8 are read as a text with replacement characters")
		}
		if !w.building() {
			return nil, true
		}
		return strings.ToValidUTF8(string(b), "\uFFFD"), true
	case String:
		b, ok := w.text(n, "a string")
		if !ok || n.reader.Kind == Bytes {
			return w.keep(b), ok
		}
		ok = w.assert(n, start, 0, b)
		if !w.building() {
			return nil, ok
		}
		return string(b), ok
	case Enum:
		return w.symbol(n, start)
	default: // the other kinds need nothing here
	}
	return nil, false
}

// keep copies bytes that become part of the value.
func (w *walk) keep(b []byte) any {
	if !w.building() {
		return nil
	}
	return append([]byte{}, b...)
}

// number turns an int or long into what the reader has.
func (w *walk) number(n *node, i int64) any {
	build := w.building()
	switch n.reader.Kind {
	case Float:
		if !exactFloat(i) {
			w.lose(schemas.AlteredOutOfRange, n, fmt.Sprintf("%d is read as %s", i, shortFloat(float64(float32(i)))))
		}
		if build {
			return float64(float32(i))
		}
	case Double:
		if !exactDouble(i) {
			w.lose(schemas.AlteredOutOfRange, n, fmt.Sprintf("%d is read as %s", i, shortFloat(float64(i))))
		}
		if build {
			return float64(i)
		}
	default:
		if build {
			return i
		}
	}
	return nil
}

// shortFloat spells a float that came from an integer, digit for digit.
func shortFloat(f float64) string {
	if math.Abs(f) < 1<<63 {
		return fmt.Sprint(int64(f))
	}
	return fmt.Sprintf("%.0f", f)
}

func (w *walk) symbol(n *node, start int) (any, bool) {
	symbols := n.writer.Named.Symbols
	i, pos := readInt(w.b, w.pos)
	if pos < 0 {
		return w.unreadable(n, start, "varint", w.badVarint("the index of a symbol", 32))
	}
	if i < 0 || i >= int64(len(symbols)) {
		return w.unreadable(n, start, "enum-index", fmt.Sprintf("the enum %s has %d symbols, the payload names symbol %d", quote(n.writer.Named.Full), len(symbols), i))
	}
	w.pos = pos
	if n.symbols == nil || n.symbols[i] >= 0 {
		if !w.building() {
			return nil, true
		}
		return symbols[i], true
	}
	reader := n.reader.Named
	if !reader.HasDefault {
		return nil, w.violate(schemas.Invalid, &n.reader.spot, start, "enum-symbol",
			fmt.Sprintf("the reader's enum %s has no symbol %s, and no default", quote(reader.Full), quote(symbols[i])))
	}
	w.lose(schemas.Altered, n, fmt.Sprintf("the symbol %s is read as the default %s", quote(symbols[i]), quote(reader.Default)))
	return reader.Default, true
}
