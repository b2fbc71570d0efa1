package avro

import (
	"math"
	"sync"
)

// program is a resolution made ready: straight-line operations that judge a
// payload without building anything, and the nodes that explain a refusal or
// build a value, made when first asked for.
//
// Every operation takes at least one byte of the payload: what is zero bytes
// wide leaves no operation, so time is in proportion to the payload and only
// items of no width need counting.
type program struct {
	main    *block
	nodes   func() *node
	refused *refusal // nothing can be read at all
	shape   shape    // of the writer
}

// block is a straight line of operations.
type block struct {
	ops []op
	// flat is the most records that the line is inside of at once, besides those
	// around the block. They were opened in line, without an operation.
	flat int
}

type code uint8

const (
	opSkip       code = iota // n bytes of any content
	opBoolean                //
	opInt                    //
	opLong                   //
	opBytes                  //
	opString                 //
	opEnum                   // n symbols
	opOptional               // union of two, one of them null at index n: body is the other
	opUnion                  // n branches: bodies
	opArray                  // body; n is 1 if an item takes no bytes
	opMap                    // body; n is 1 if a value takes no bytes
	opCall                   // body, one record deeper than here
	opRefuse                 // not in any payload that can be read
	opSymbols                // enum whose symbol may be unknown to the reader: symbols
	opText                   // bytes read as text: must be UTF-8 or is altered
	opIntFloat               // int read as float: exact or altered
	opLongFloat              // long read as float
	opLongDouble             // long read as double
)

type op struct {
	code   code
	inside uint16 // records opened in line around the operation
	n      int
	body   *block
	more   *extra
}

type extra struct {
	bodies  []*block
	symbols []int
}

// mostInline bounds how large a record may be to be written in line, and how
// deep in-line records may nest.
const (
	mostInlineOps   = 24
	mostInlineDepth = 16
)

func compile(reader *Type) *program {
	return compileNodes(reader, func(s shape) *node { return identity(reader, s) })
}

func compilePair(reader, writer *Type) *program {
	return compileNodes(writer, func(s shape) *node { return resolve(reader, writer, s) })
}

func compileNodes(writer *Type, resolve func(shape) *node) *program {
	shape := measure(writer)
	p := &program{shape: shape, nodes: sync.OnceValue(func() *node { return resolve(shape) })}
	if writer.Kind == Record && shape.endless[writer.Named] {
		p.refused = &refusal{"endless", endlessText(writer.Named), &writer.spot}
		return p
	}
	root := resolve(shape)
	if root == nil {
		p.refused = &refusal{"steps", "the two schemas are too complex to resolve", nil}
		return p
	}
	c := compiler{shape: shape, records: map[*node]*block{}, open: map[*node]bool{}}
	p.main = c.block(root)
	return p
}

func endlessText(n *Named) string {
	return "no finite value fits the record " + quote(n.Full) + ": it contains itself without a way out"
}

type compiler struct {
	shape   shape
	records map[*node]*block
	open    map[*node]bool
}

func (c *compiler) block(n *node) *block {
	b := &block{}
	c.into(b, n, 0)
	b.ops = append([]op(nil), b.ops...) // no spare room: blocks live long
	return b
}

// widen adds to a skip that ends the block, if there is one and the sum is a
// number.
func (b *block) widen(width int) bool {
	if last := len(b.ops) - 1; last >= 0 && b.ops[last].code == opSkip && b.ops[last].n <= math.MaxInt-width {
		b.ops[last].n += width
		return true
	}
	return false
}

// into appends the operations that judge n.
func (c *compiler) into(b *block, n *node, inside int) {
	add := func(o op) {
		o.inside = uint16(inside)
		b.ops = append(b.ops, o)
	}
	skip := func(width int) {
		if width == 0 {
			return
		}
		if !b.widen(width) {
			add(op{code: opSkip, n: width})
		}
	}
	if n.act == actRefuse {
		add(op{code: opRefuse})
		return
	}
	if n.writer.Kind == Union {
		c.union(n, add)
		return
	}
	switch n.writer.Kind {
	case Null:
	case Boolean:
		add(op{code: opBoolean})
	case Int:
		if n.reader.Kind == Float {
			add(op{code: opIntFloat})
		} else {
			add(op{code: opInt})
		}
	case Long:
		switch n.reader.Kind {
		case Float:
			add(op{code: opLongFloat})
		case Double:
			add(op{code: opLongDouble})
		default:
			add(op{code: opLong})
		}
	case Float:
		skip(4)
	case Double:
		skip(8)
	case Bytes:
		if n.reader.Kind == String {
			add(op{code: opText})
		} else {
			add(op{code: opBytes})
		}
	case String:
		add(op{code: opString})
	case Fixed:
		skip(n.writer.Named.Size)
	case Enum:
		if n.symbols != nil {
			add(op{code: opSymbols, n: len(n.symbols), more: &extra{symbols: n.symbols}})
		} else {
			add(op{code: opEnum, n: len(n.writer.Named.Symbols)})
		}
	case Array, Map:
		o := op{code: opArray, body: c.block(n.items)}
		if n.writer.Kind == Map {
			o.code = opMap
		}
		if c.shape.empty(n.writer.Items) {
			o.n = 1
		}
		add(o)
	case Record:
		c.record(b, n, inside, add)
	default: // the other kinds need nothing here
	}
}

func (c *compiler) union(n *node, add func(op)) {
	if len(n.branches) == 2 {
		for i, branch := range n.branches {
			if branch.writer.Kind == Null && branch.act != actRefuse {
				add(op{code: opOptional, n: i, body: c.block(n.branches[1-i])})
				return
			}
		}
	}
	more := &extra{bodies: make([]*block, len(n.branches))}
	for i, branch := range n.branches {
		more.bodies[i] = c.block(branch)
	}
	add(op{code: opUnion, n: len(n.branches), more: more})
}

func (c *compiler) record(b *block, n *node, inside int, add func(op)) {
	if len(n.record.faults) > 0 || c.shape.endless[n.writer.Named] {
		add(op{code: opRefuse})
		return
	}
	body := c.records[n]
	if body == nil && !c.open[n] {
		c.open[n] = true
		fresh := &block{}
		c.records[n] = fresh // calls inside it find it before it is filled
		for _, f := range n.record.fields {
			c.into(fresh, f.node, 0)
		}
		fresh.ops = append([]op(nil), fresh.ops...)
		delete(c.open, n)
		body = fresh
	}
	if c.open[n] || len(body.ops) > mostInlineOps || len(body.ops) > 0 && inside+1+body.flat > mostInlineDepth {
		add(op{code: opCall, body: body})
		return
	}
	for _, o := range body.ops {
		o.inside += uint16(inside + 1)
		if o.code != opSkip || !b.widen(o.n) {
			b.ops = append(b.ops, o)
		}
	}
	b.flat = max(b.flat, inside+1+body.flat)
}
