package avro

import "slices"

// action is what reading does at one place of the writer's data.
type action uint8

const (
	actPlain  action = iota // the reader's kind is the writer's
	actWiden                // a primitive becomes the reader's kind
	actRefuse               // whatever was written here, the reader cannot take it
)

// node is the resolution of one writer type by one reader type. Where the
// reader has a union and the writer has none, reader is the branch chosen.
// Nodes of records are shared, so the graph may be circular.
type node struct {
	act    action
	writer *Type
	reader *Type    // nil where the value is skipped
	why    *refusal // actRefuse

	items    *node   // array, map
	branches []*node // writer's union, by index
	record   *recordNode
	symbols  []int // enum: reader's index by writer's, -1 for none; nil when equal
}

// recordNode is what a node of a record holds besides.
type recordNode struct {
	fields []step    // in the writer's order
	busy   []int     // those of fields that take bytes or may be refused
	absent []*Field  // reader's fields that are filled with their default
	faults []refusal // reader's fields that make every reading of the record fail
}

// step is one field of the writer's record; reader is nil when only the writer
// has it.
type step struct {
	node   *node
	writer *Field
	reader *Field
}

// refusal says why a reader cannot take what a writer wrote.
type refusal struct {
	rule string
	text string
	at   *spot // in the reader's schema
}

// mostResolveSteps bounds the resolution of two schemas: unions of many records
// against each other are quadratic.
const mostResolveSteps = 2_000_000

// resolver builds the nodes for a pair of schemas.
//
// Source: avro-compat 3 to 8.
type resolver struct {
	shape shape
	left  int
	nodes map[pair]*node
	// symbols are the maps of enum pairs met: one pair may stand in thousands of
	// fields, with thousands of symbols each.
	symbols map[pair][]int
	fits    fitting
	fill    filler
}

type pair struct{ reader, writer *Named }

// resolve answers how reader takes what writer wrote; nil when the budget is
// exhausted. shape is the writer's.
func resolve(reader, writer *Type, shape shape) *node {
	r := resolver{shape: shape, left: mostResolveSteps, nodes: map[pair]*node{}, symbols: map[pair][]int{}}
	r.fits = fitting{left: &r.left, memo: map[pair]bool{}, unions: unionIndexes{}}
	r.fill = filler{left: &r.left}
	n := r.resolve(reader, writer)
	if r.left <= 0 {
		return nil
	}
	return n
}

// identity is the resolution of a type by itself, without any look at aliases:
// what was written is read.
func identity(t *Type, shape shape) *node {
	if t.Kind.IsPrimitive() {
		return &node{writer: t, reader: t}
	}
	r := resolver{shape: shape, left: mostResolveSteps, nodes: map[pair]*node{}}
	n := r.same(t)
	if r.left <= 0 {
		return nil
	}
	return n
}

func (r *resolver) same(t *Type) *node {
	r.left--
	n := &node{writer: t, reader: t}
	switch t.Kind {
	case Array, Map:
		n.items = r.same(t.Items)
	case Union:
		n.branches = make([]*node, len(t.Branches))
		for i, b := range t.Branches {
			n.branches[i] = r.same(b)
		}
	case Record:
		key := pair{t.Named, t.Named}
		if known := r.nodes[key]; known != nil {
			return known
		}
		r.nodes[key] = n
		n.record = &recordNode{fields: make([]step, len(t.Named.Fields))}
		for i, f := range t.Named.Fields {
			n.record.fields[i] = step{writer: f, reader: f, node: r.same(f.Type)}
			if !r.shape.empty(f.Type) {
				n.record.busy = append(n.record.busy, i)
			}
		}
	default: // the other kinds need nothing here
	}
	return n
}

func refuse(reader, writer *Type, rule, text string) *node {
	return &node{act: actRefuse, writer: writer, reader: reader, why: &refusal{rule, text, &reader.spot}}
}

func (r *resolver) resolve(reader, writer *Type) *node {
	if r.left--; r.left <= 0 {
		return refuse(reader, writer, "steps", "the two schemas are too complex to resolve")
	}
	if writer.Kind == Union {
		n := &node{writer: writer, reader: reader, branches: make([]*node, len(writer.Branches))}
		for i, b := range writer.Branches {
			n.branches[i] = r.resolve(reader, b)
		}
		return n
	}
	if reader.Kind == Union {
		branch := r.choose(reader, writer)
		if branch == nil {
			return refuse(reader, writer, "union-branch", "no branch of the reader's union takes "+describe(writer))
		}
		return r.resolve(branch, writer)
	}
	if reader.Kind != writer.Kind {
		if promotes(reader.Kind, writer.Kind) {
			return &node{act: actWiden, writer: writer, reader: reader}
		}
		return refuse(reader, writer, "type", "the writer has "+describe(writer)+" where the reader expects "+describe(reader))
	}
	n := &node{writer: writer, reader: reader}
	if reader.Named != nil {
		r.left -= len(reader.Named.Aliases)
	}
	switch writer.Kind {
	case Array, Map:
		n.items = r.resolve(reader.Items, writer.Items)
	case Record:
		if !sameName(reader.Named, writer.Named) {
			return refuse(reader, writer, "name", misnamed(reader, writer))
		}
		key := pair{reader.Named, writer.Named}
		if known := r.nodes[key]; known != nil {
			return known
		}
		r.nodes[key] = n
		r.resolveFields(n)
	case Enum:
		if !sameName(reader.Named, writer.Named) {
			return refuse(reader, writer, "name", misnamed(reader, writer))
		}
		key := pair{reader.Named, writer.Named}
		known, met := r.symbols[key]
		if !met {
			r.left -= len(reader.Named.Symbols) + len(writer.Named.Symbols)
			known = mapSymbols(reader.Named, writer.Named)
			r.symbols[key] = known
		}
		n.symbols = known
	case Fixed:
		if !sameName(reader.Named, writer.Named) {
			return refuse(reader, writer, "name", misnamed(reader, writer))
		}
		if reader.Named.Size != writer.Named.Size {
			return refuse(reader, writer, "fixed-size", "the writer's "+quote(writer.Named.Full)+" has "+index(writer.Named.Size)+" bytes, the reader's "+index(reader.Named.Size))
		}
	default: // the other kinds need nothing here
	}
	return n
}

func (r *resolver) resolveFields(n *node) {
	reader, writer := n.reader.Named, n.writer.Named
	m := matchFields(reader, writer)
	r.left -= m.looks
	rec := &recordNode{fields: make([]step, len(writer.Fields))}
	n.record = rec
	for i, f := range writer.Fields {
		s := step{writer: f}
		if at := m.byWriter[i]; at >= 0 {
			s.reader = reader.Fields[at]
			s.node = r.resolve(s.reader.Type, f.Type)
		} else {
			s.node = r.same(f.Type) // skipped; pairs of one type with itself are the writer's alone
		}
		rec.fields[i] = s
		if !r.shape.empty(f.Type) || s.reader != nil && (s.node.act == actRefuse || f.Type.Kind == Record) {
			rec.busy = append(rec.busy, i)
		}
	}
	for i, f := range reader.Fields {
		switch {
		case m.ambiguous[i]:
			rec.faults = append(rec.faults, refusal{"field-ambiguous", "the reader's field " + quote(f.Name) + " stands for two fields of the writer, by its name and its aliases", &f.spot})
		case m.byReader[i] >= 0:
		case f.Default == nil:
			rec.faults = append(rec.faults, refusal{"field-missing", "the writer has no field " + quote(f.Name) + " and the reader has no default for it", &f.spot})
		default:
			if why := r.fill.check(f.Type, f.Default); why != "" {
				rec.faults = append(rec.faults, refusal{"default", "the default of the reader's field " + quote(f.Name) + " cannot be filled in: " + why, &f.spot})
			}
			rec.absent = append(rec.absent, f)
		}
	}
}

// matching tells which fields of two records belong together.
type matching struct {
	byReader  []int  // writer's index, or -1
	byWriter  []int  // reader's index, or -1
	ambiguous []bool // by reader's index: two fields of the writer fit
	looks     int    // names and aliases looked at
}

// matchFields pairs fields by name, then by the reader's aliases. A field of the
// writer serves one field of the reader: the one of its name, else the first
// that lists it.
func matchFields(reader, writer *Named) matching {
	m := matching{
		byReader: make([]int, len(reader.Fields)), byWriter: make([]int, len(writer.Fields)),
		ambiguous: make([]bool, len(reader.Fields)), looks: len(reader.Fields) + len(writer.Fields),
	}
	for i := range m.byWriter {
		m.byWriter[i] = -1
	}
	for i, f := range reader.Fields {
		m.byReader[i] = -1
		if w := writer.Field(f.Name); w != nil {
			m.byReader[i], m.byWriter[w.Index] = w.Index, i
		}
	}
	for i, f := range reader.Fields {
		m.looks += len(f.Aliases)
		for _, alias := range f.Aliases {
			w := writer.Field(alias)
			switch {
			case w == nil || w.Index == m.byReader[i]:
			case m.byReader[i] >= 0:
				m.ambiguous[i] = true
			case m.byWriter[w.Index] < 0:
				m.byReader[i], m.byWriter[w.Index] = w.Index, i
			}
		}
	}
	return m
}

// choose finds the branch of a reader's union for what is no union. Within the
// order of candidates the first counts that reads everything; if there is none
// at all, the first that reads something.
func (r *resolver) choose(union, writer *Type) *Type {
	list := r.fits.unions.candidates(union, writer)
	r.left -= len(list)
	if len(list) > 1 {
		for _, b := range list {
			if r.fits.all(b, writer) {
				return b
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// promotions lists what each kind may be read as, nearest first.
var promotions = map[Kind][]Kind{
	Int: {Long, Float, Double}, Long: {Float, Double}, Float: {Double},
	String: {Bytes}, Bytes: {String},
}

func promotes(reader, writer Kind) bool { return slices.Contains(promotions[writer], reader) }

// sameName tells whether a reader's type stands for a writer's: by simple name,
// or by an alias that is the writer's full name.
func sameName(reader, writer *Named) bool {
	return reader.Name == writer.Name || slices.Contains(reader.Aliases, writer.Full)
}

func mapSymbols(reader, writer *Named) []int {
	if slices.Equal(reader.Symbols, writer.Symbols) {
		return nil
	}
	at := make(map[string]int, len(reader.Symbols))
	for i, symbol := range reader.Symbols {
		at[symbol] = i
	}
	out := make([]int, len(writer.Symbols))
	for i, symbol := range writer.Symbols {
		if j, ok := at[symbol]; ok {
			out[i] = j
		} else {
			out[i] = -1
		}
	}
	return out
}

// describe names a type in a sentence.
func describe(t *Type) string {
	switch t.Kind {
	case Record, Enum, Fixed:
		return "the " + t.Kind.String() + " " + quote(t.Named.Full)
	case Array, Int:
		return "an " + t.Kind.String()
	case Null, Bytes:
		return t.Kind.String()
	default: // the other kinds need nothing here
	}
	return "a " + t.Kind.String()
}

func misnamed(reader, writer *Type) string {
	return "the writer has " + describe(writer) + ", the reader " + describe(reader) + ", which does not list that name as an alias"
}
