package avro

import (
	"slices"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// pair is a reader's and a writer's type. Named types are known by their
// definition, others by their place, as the peer knows them by their object.
type pair struct {
	readerNamed, writerNamed *avro.Named
	reader, writer           *avro.Type
}

func pairOf(r, w *avro.Type) pair {
	p := pair{readerNamed: r.Named, writerNamed: w.Named}
	if r.Named == nil {
		p.reader = r
	}
	if w.Named == nil {
		p.writer = w
	}
	return p
}

// port is one run of the peer's check. It keeps the peer's order, its memory
// and its oddities; see the numbers.
//
// Source: avro-compat 3 and 4.
type port struct {
	meter  *compat.Meter
	memory map[pair]*faults   // nil while a pair is open: open counts as compatible
	named  map[uint64]*faults // the same, of two definitions, by their numbers
	path   []token
	base   int     // where the current path begins in path
	failed *faults // the check itself failed
}

// token is one step of a path: a word, or a number where the word is empty.
type token struct {
	word   string
	number int
}

func number(n int) token { return token{number: n} }

// check starts a new path, as the peer does for the branches of a union.
func (p *port) check(r, w *avro.Type) *faults {
	saved := p.base
	p.base = len(p.path)
	list := p.types(r, w)
	p.base = saved
	return list
}

// at runs the check of a part one step below the current place.
func (p *port) at(step token, r, w *avro.Type) *faults {
	p.path = append(p.path, step)
	list := p.types(r, w)
	p.path = p.path[:len(p.path)-1]
	return list
}

// types answers a pair, from memory when it was met before: then its faults
// appear again with the path of their first meeting (oddity 3).
func (p *port) types(r, w *avro.Type) *faults {
	if p.failed != nil {
		return nil
	}
	if !p.meter.Spend(1) {
		return nil
	}
	if r.Named == nil && w.Named == nil {
		return p.compute(r, w) // met once for each pair of records around it, and those are remembered
	}
	if r.Named != nil && w.Named != nil {
		return remembered(p, p.named, uint64(r.Named.Number)<<32|uint64(w.Named.Number), r, w)
	}
	return remembered(p, p.memory, pairOf(r, w), r, w)
}

func remembered[K comparable](p *port, memory map[K]*faults, key K, r, w *avro.Type) *faults {
	if list, met := memory[key]; met {
		return list
	}
	p.meter.Spend(1) // what is remembered costs memory too
	memory[key] = nil
	list := p.compute(r, w)
	memory[key] = list
	return list
}

func (p *port) compute(r, w *avro.Type) *faults {
	if r.Kind == w.Kind {
		switch r.Kind {
		case avro.Array:
			return p.at(token{word: "items"}, r.Items, w.Items)
		case avro.Map:
			return p.at(token{word: "values"}, r.Items, w.Items)
		case avro.Fixed:
			return merge(p.names(r, w), p.sizes(r, w))
		case avro.Enum:
			return merge(p.names(r, w), p.symbols(r, w))
		case avro.Record:
			return merge(p.names(r, w), p.fields(r, w))
		case avro.Union:
			return p.unions(r, w)
		default: // primitives
			return nil
		}
	}
	if w.Kind == avro.Union {
		var out *faults
		for i, branch := range w.Branches {
			out = merge(out, p.at(number(i), r, branch))
		}
		return out
	}
	if r.Kind == avro.Union {
		causes, ok := p.anyBranch(r, w)
		if ok {
			return nil
		}
		return p.fault(missingBranch, nowhere, r, w, causes)
	}
	if promotes(w.Kind, r.Kind) {
		return nil
	}
	return p.fault(typeMismatch, nowhere, r, w, nil)
}

// unions: every branch of the writer must be readable by the reader's union;
// what is wrong inside a branch does not show (oddity 1).
func (p *port) unions(r, w *avro.Type) (out *faults) {
	for i, branch := range w.Branches {
		list := p.check(r, branch)
		if list == nil {
			continue
		}
		out = merge(out, p.fault(missingBranch, number(i), r, branch, list))
	}
	return out
}

// anyBranch tells whether a branch of r can read w; if none can, what is wrong
// in the branches of w's kind.
func (p *port) anyBranch(r, w *avro.Type) (causes *faults, ok bool) {
	for _, branch := range r.Branches {
		if branch.Named == nil && w.Named == nil && branch.Kind != w.Kind {
			// Nothing of this pair is remembered or told, so it is not asked.
			if p.meter.Spend(1); promotes(w.Kind, branch.Kind) {
				return nil, true
			}
			continue
		}
		list := p.check(branch, w)
		if p.failed != nil || list == nil {
			return nil, true
		}
		if branch.Kind == w.Kind && (branch.Named == nil || namesMatch(branch.Named, w.Named)) {
			causes = merge(causes, list)
		}
	}
	return causes, false
}

func (p *port) names(r, w *avro.Type) *faults {
	if namesMatch(r.Named, w.Named) {
		return nil
	}
	return p.fault(nameMismatch, token{word: "name"}, r.Named, w.Named, nil)
}

func (p *port) sizes(r, w *avro.Type) *faults {
	if r.Named.Size == w.Named.Size {
		return nil
	}
	return p.fault(fixedSizeMismatch, token{word: "size"}, r.Named, w.Named, nil)
}

func (p *port) symbols(r, w *avro.Type) *faults {
	p.meter.Spend(len(w.Named.Symbols))
	if r.Named.HasDefault || len(missingIn(r.Named, w.Named)) == 0 {
		return nil
	}
	return p.fault(missingSymbols, token{word: "symbols"}, r.Named, w.Named, nil)
}

// missingIn lists the symbols of w that r lacks, in w's order.
func missingIn(r, w *avro.Named) (missing []string) {
	var known map[string]bool
	for i, symbol := range w.Symbols {
		if i < len(r.Symbols) && r.Symbols[i] == symbol {
			continue
		}
		if known == nil {
			known = make(map[string]bool, len(r.Symbols))
			for _, s := range r.Symbols {
				known[s] = true
			}
		}
		if !known[symbol] {
			missing = append(missing, symbol)
		}
	}
	return missing
}

func (p *port) fields(r, w *avro.Type) (out *faults) {
	index := fieldsByName{named: w.Named}
	p.path = append(p.path, token{word: "fields"})
	for i, field := range r.Named.Fields {
		p.path = append(p.path, number(i))
		match, count := index.matches(field)
		switch {
		case p.failed != nil:
		case count > 1:
			p.failed = p.fault(unexpectedException, nowhere, field, w.Named, nil)
		case count == 1:
			out = merge(out, p.at(token{word: "type"}, field.Type, match.Type))
		case field.Default != nil:
		case field.Type.Kind == avro.Enum && field.Type.Named.HasDefault:
			// Oddity 2: the peer compares the enum with the record.
			out = merge(out, p.at(token{word: "type"}, field.Type, w))
		default:
			out = merge(out, p.fault(missingDefault, nowhere, field, w.Named, nil))
		}
		p.path = p.path[:len(p.path)-1]
	}
	p.path = p.path[:len(p.path)-1]
	return out
}

// fieldsByName finds fields. Records of two versions mostly have their fields
// in one order, or in the opposite one, so it looks around the last one found.
type fieldsByName struct {
	named *avro.Named
	next  int
}

func (f *fieldsByName) get(name string) *avro.Field {
	fields := f.named.Fields
	for _, i := range [...]int{f.next, f.next + 1, f.next - 2} {
		if i >= 0 && i < len(fields) && fields[i].Name == name {
			f.next = i + 1
			return fields[i]
		}
	}
	field := f.named.Field(name)
	if field != nil {
		f.next = field.Index + 1
	}
	return field
}

// matches finds the writer's field for a reader's field: by name, or by one of
// the reader's aliases. More than one match is the peer's failure; an alias that
// is the field's own name counts as a second one.
func (f *fieldsByName) matches(reader *avro.Field) (match *avro.Field, count int) {
	if match = f.get(reader.Name); match != nil {
		count = 1
	}
	for i, alias := range reader.Aliases {
		if slices.Contains(reader.Aliases[:i], alias) {
			continue
		}
		if other := f.get(alias); other != nil {
			match = other
			count++
		}
	}
	return match, count
}

// nowhere is no step: the fault is at the place itself.
var nowhere = number(-1)

func (p *port) fault(kind string, step token, reader, writer placed, causes *faults) *faults {
	path := p.path[p.base:]
	p.meter.Spend(len(path))
	path = slices.Clip(slices.Clone(path))
	if step != nowhere {
		path = append(path, step)
	}
	return &faults{one: &fault{kind: kind, path: path, reader: reader, writer: writer, causes: causes}}
}

// promotes tells whether the specification lets a reader's kind take a writer's
// other kind.
func promotes(writer, reader avro.Kind) bool {
	switch reader {
	case avro.Long:
		return writer == avro.Int
	case avro.Float:
		return writer == avro.Int || writer == avro.Long
	case avro.Double:
		return writer == avro.Int || writer == avro.Long || writer == avro.Float
	case avro.Bytes:
		return writer == avro.String
	case avro.String:
		return writer == avro.Bytes
	default:
		return false
	}
}
