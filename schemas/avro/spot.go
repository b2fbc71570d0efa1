package avro

import (
	"sort"
	"strconv"
	"sync"

	"github.com/cartorio-registry/cartorio/schemas"
)

// document is one text and the index of its lines, made when first asked for.
type document struct {
	text  string
	once  sync.Once
	lines []int // offset of each line's first byte
}

func (d *document) position(offset int) schemas.Position {
	d.once.Do(func() {
		d.lines = []int{0}
		for i := 0; i < len(d.text); i++ {
			if d.text[i] == '\n' {
				d.lines = append(d.lines, i+1)
			}
		}
	})
	line := 1
	if len(d.lines) > 1 {
		line = sort.SearchInts(d.lines, offset+1)
	}
	return schemas.Position{Line: line, Column: offset - d.lines[line-1] + 1, Offset: offset}
}

// spot is where a node stands. It holds its last step and the node above it;
// pointers are spelled out on demand, since the pointers of a deep text would
// together grow with the square of its depth.
type spot struct {
	doc        *document
	up         *spot
	step       string
	start, end int
}

// at makes the spot of a member or item below s. An index is given as its
// digits: neither kind of token needs an escape unless it is a member's name.
func (s *spot) at(step string, start, end int) spot {
	return spot{doc: s.doc, up: s, step: step, start: start, end: end}
}

// Pointer leads from the root of the text that defines the node to the node.
// It points into that text, which for a referenced type is not the text that
// refers to it.
func (s *spot) Pointer() schemas.Pointer {
	var most [16]string
	steps, length := most[:0], 0
	for n := s; n != nil && n.up != nil; n = n.up {
		steps = append(steps, n.step)
		length += 1 + len(n.step)
	}
	var short [128]byte // most pointers are
	p := short[:0]
	if length > len(short) {
		p = make([]byte, 0, length)
	}
	for i := len(steps) - 1; i >= 0; i-- {
		p = appendToken(append(p, '/'), steps[i])
	}
	return schemas.Pointer(p)
}

// Place is the pointer and the positions of the node's first byte and of the
// byte behind its last.
func (s *spot) Place() schemas.Place {
	if s.doc == nil {
		return schemas.Place{Pointer: s.Pointer()}
	}
	return schemas.Place{Pointer: s.Pointer(), Position: s.doc.position(s.start), End: s.doc.position(s.end)}
}

// appendToken appends one token of a pointer, escaped.
func appendToken(dst []byte, token string) []byte {
	for i := 0; i < len(token); i++ {
		switch c := token[i]; c {
		case '~':
			dst = append(dst, '~', '0')
		case '/':
			dst = append(dst, '~', '1')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func index(i int) string { return strconv.Itoa(i) }
