package avro

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// run judges one payload. It holds nothing but numbers, so that a judgement
// allocates nothing.
type run struct {
	b     []byte
	depth int // most containers open at once
	steps int // left
}

// Results of a run besides the position reached.
const (
	failed    = -1 // refused or altered: the nodes tell how
	exhausted = -2
)

// judge runs over the whole payload and gives the position reached.
func (p *program) judge(b []byte, depth, steps int) int {
	r := run{b: b, depth: depth, steps: steps}
	return r.block(p.main, 0, 0)
}

// block runs one block at pos, inside depth open containers, and gives the
// position behind it.
func (r *run) block(blk *block, pos, depth int) int {
	if depth+blk.flat > r.depth {
		return failed
	}
	if r.steps -= len(blk.ops) + 1; r.steps < 0 {
		return exhausted
	}
	b := r.b
	for i := range blk.ops {
		o := &blk.ops[i]
		switch o.code {
		case opSkip:
			if len(b)-pos < o.n {
				return failed
			}
			pos += o.n
		case opBoolean:
			if pos >= len(b) || b[pos] > 1 {
				return failed
			}
			pos++
		case opInt:
			if pos < len(b) && b[pos] < 0x80 {
				pos++
				continue
			}
			if _, pos = readInt(b, pos); pos < 0 {
				return failed
			}
		case opLong:
			if pos < len(b) && b[pos] < 0x80 {
				pos++
				continue
			}
			if _, pos = readLong(b, pos); pos < 0 {
				return failed
			}
		case opString, opText:
			var n int
			if n, pos = readLength(b, pos); pos < 0 {
				return failed
			}
			if !utf8.Valid(b[pos : pos+n]) {
				return failed
			}
			pos += n
		case opBytes:
			var n int
			if n, pos = readLength(b, pos); pos < 0 {
				return failed
			}
			pos += n
		case opEnum:
			var n int64
			if n, pos = readInt(b, pos); pos < 0 || uint64(n) >= uint64(o.n) {
				return failed
			}
		case opSymbols:
			var n int64
			if n, pos = readInt(b, pos); pos < 0 || uint64(n) >= uint64(o.n) || o.more.symbols[n] < 0 {
				return failed
			}
		case opOptional:
			var n int64
			if n, pos = readLong(b, pos); pos < 0 || uint64(n) > 1 {
				return failed
			}
			if int(n) == o.n {
				continue
			}
			if pos = r.block(o.body, pos, depth+int(o.inside)); pos < 0 {
				return pos
			}
		case opUnion:
			var n int64
			if n, pos = readLong(b, pos); pos < 0 || uint64(n) >= uint64(o.n) {
				return failed
			}
			if pos = r.block(o.more.bodies[n], pos, depth+int(o.inside)); pos < 0 {
				return pos
			}
		case opArray, opMap:
			if pos = r.items(o, pos, depth+int(o.inside)+1); pos < 0 {
				return pos
			}
		case opCall:
			inside := depth + int(o.inside) + 1
			if inside > r.depth {
				return failed
			}
			if pos = r.block(o.body, pos, inside); pos < 0 {
				return pos
			}
		case opIntFloat:
			var n int64
			if n, pos = readInt(b, pos); pos < 0 || !exactFloat(n) {
				return failed
			}
		case opLongFloat:
			var n int64
			if n, pos = readLong(b, pos); pos < 0 || !exactFloat(n) {
				return failed
			}
		case opLongDouble:
			var n int64
			if n, pos = readLong(b, pos); pos < 0 || !exactDouble(n) {
				return failed
			}
		default:
			return failed
		}
	}
	return pos
}

// items runs over the blocks of an array or map.
func (r *run) items(o *op, pos, depth int) int {
	if depth > r.depth {
		return failed
	}
	for {
		var n, size int64
		if n, pos = readLong(r.b, pos); pos < 0 {
			return failed
		}
		if n == 0 {
			return pos
		}
		end := -1
		if n < 0 {
			if n = -n; n < 0 {
				return failed
			}
			if size, pos = readLong(r.b, pos); pos < 0 || size < 0 || size > int64(len(r.b)-pos) {
				return failed
			}
			end = pos + int(size)
		}
		switch {
		case o.code == opMap || o.n == 0:
			if n > int64(len(r.b)-pos) {
				return failed
			}
		default: // items of no width
			if depth+o.body.flat > r.depth {
				return failed
			}
			if n > int64(r.steps) {
				return exhausted
			}
			r.steps -= int(n)
			if len(o.body.ops) == 0 {
				n = 0
			}
		}
		for ; n > 0; n-- {
			if o.code == opMap {
				var length int
				if length, pos = readLength(r.b, pos); pos < 0 {
					return failed
				}
				if !utf8.Valid(r.b[pos : pos+length]) {
					return failed
				}
				pos += length
			}
			if pos = r.block(o.body, pos, depth); pos < 0 {
				return pos
			}
		}
		if end >= 0 && pos != end {
			return failed
		}
	}
}

// readLong reads a zigzag varint of at most 64 bits; the position is negative
// if there is none.
func readLong(b []byte, pos int) (int64, int) {
	if pos < len(b) && b[pos] < 0x80 {
		return int64(b[pos]>>1) ^ -int64(b[pos]&1), pos + 1
	}
	var raw uint64
	for shift := uint(0); pos < len(b); shift += 7 {
		c := b[pos]
		pos++
		if shift == 63 && c > 1 {
			return 0, failed
		}
		raw |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return int64(raw>>1) ^ -int64(raw&1), pos
		}
	}
	return 0, failed
}

// readInt reads a zigzag varint of at most 32 bits.
func readInt(b []byte, pos int) (int64, int) {
	if pos < len(b) && b[pos] < 0x80 {
		return int64(b[pos]>>1) ^ -int64(b[pos]&1), pos + 1
	}
	var raw uint32
	for shift := uint(0); pos < len(b); shift += 7 {
		c := b[pos]
		pos++
		if shift == 28 && c > 0x0f {
			return 0, failed
		}
		raw |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return int64(int32(raw>>1) ^ -int32(raw&1)), pos
		}
	}
	return 0, failed
}

// readLength reads the length of a text or of bytes that are all there.
func readLength(b []byte, pos int) (int, int) {
	n, pos := readLong(b, pos)
	if pos < 0 || n < 0 || n > int64(len(b)-pos) {
		return 0, failed
	}
	return int(n), pos
}

// exactFloat tells whether a float holds n exactly.
func exactFloat(n int64) bool {
	f := float32(n)
	return float64(f) < 1<<63 && int64(f) == n
}

// exactDouble tells whether a double holds n exactly.
func exactDouble(n int64) bool {
	f := float64(n)
	return f < 1<<63 && int64(f) == n
}

func readFloat(b []byte, pos int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(b[pos:]))
}

func readDouble(b []byte, pos int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(b[pos:]))
}
