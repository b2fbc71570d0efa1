package avro

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// The peer's kinds. The last one is ours for its "unexpected exception".
const (
	nameMismatch        = "NAME_MISMATCH"
	fixedSizeMismatch   = "FIXED_SIZE_MISMATCH"
	missingSymbols      = "MISSING_ENUM_SYMBOLS"
	missingDefault      = "READER_FIELD_MISSING_DEFAULT_VALUE"
	typeMismatch        = "TYPE_MISMATCH"
	missingBranch       = "MISSING_UNION_BRANCH"
	unexpectedException = "UNEXPECTED_EXCEPTION"
)

// mostDifferences is how many differences one answer holds. A fault met again is
// told again, so that a small text could fill any memory; past this many the
// rest is left out, which changes no verdict.
const mostDifferences = 1_000

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
	memory map[pair][]fault // nil while a pair is open: open counts as compatible
	path   []token
	base   int    // where the current path begins in path
	failed *fault // the check itself failed
}

// fault is a difference before it is spelled out: most are tried and dropped in
// the branches of unions.
type fault struct {
	kind           string
	path           []token
	info           string // empty for kinds that follow from the types
	reader, writer placed
	causes         []fault
}

// difference spells f out.
func (f fault) difference() compat.Difference {
	d := compat.Difference{Type: f.kind, Path: spellPath(f.path), Info: f.info, Reader: f.reader.Place(), Writer: f.writer.Place()}
	if f.info == "" {
		r, w := upper(f.reader), upper(f.writer)
		d.Info = "reader union lacking writer type: " + w
		if f.kind == typeMismatch {
			d.Info = "reader type: " + r + " not compatible with writer type: " + w
		}
	}
	d.Causes = differences(f.causes)
	return d
}

func differences(list []fault) []compat.Difference {
	if len(list) == 0 {
		return nil
	}
	out := make([]compat.Difference, len(list))
	for i, f := range list {
		out[i] = f.difference()
	}
	return out
}

// token is one step of a path: a word, or a number where the word is empty.
type token struct {
	word   string
	number int
}

func number(n int) token { return token{number: n} }

// check starts a new path, as the peer does for the branches of a union.
func (p *port) check(r, w *avro.Type) []fault {
	saved := p.base
	p.base = len(p.path)
	list := p.types(r, w)
	p.base = saved
	return list
}

// at runs the check of a part one step below the current place.
func (p *port) at(step token, r, w *avro.Type) []fault {
	p.path = append(p.path, step)
	list := p.types(r, w)
	p.path = p.path[:len(p.path)-1]
	return list
}

// types answers a pair, from memory when it was met before: then its faults
// appear again with the path of their first meeting (oddity 3).
func (p *port) types(r, w *avro.Type) []fault {
	if p.failed != nil {
		return nil
	}
	if !p.meter.Spend(1) {
		return nil
	}
	if r.Named == nil && w.Named == nil {
		return p.compute(r, w) // met once for each pair of records around it, and those are remembered
	}
	key := pairOf(r, w)
	if list, met := p.memory[key]; met {
		p.meter.Spend(len(list))
		return list
	}
	p.memory[key] = nil
	list := p.compute(r, w)
	p.memory[key] = list
	return list
}

func (p *port) compute(r, w *avro.Type) []fault {
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
		}
		return nil // primitives
	}
	if w.Kind == avro.Union {
		var out []fault
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
		return p.fault(missingBranch, nowhere, "", r, w, causes...)
	}
	if promotes(w.Kind, r.Kind) {
		return nil
	}
	return p.fault(typeMismatch, nowhere, "", r, w)
}

// unions: every branch of the writer must be readable by the reader's union;
// what is wrong inside a branch does not show (oddity 1).
func (p *port) unions(r, w *avro.Type) (out []fault) {
	for i, branch := range w.Branches {
		list := p.check(r, branch)
		if len(list) == 0 {
			continue
		}
		out = merge(out, p.fault(missingBranch, number(i), "", r, branch, list...))
	}
	return out
}

// anyBranch tells whether a branch of r can read w; if none can, what is wrong
// in the branches of w's kind.
func (p *port) anyBranch(r, w *avro.Type) (causes []fault, ok bool) {
	for _, branch := range r.Branches {
		list := p.check(branch, w)
		if p.failed != nil || len(list) == 0 {
			return nil, true
		}
		if branch.Kind == w.Kind {
			causes = merge(causes, list)
		}
	}
	return causes, false
}

func (p *port) names(r, w *avro.Type) []fault {
	if r.Named.Name == w.Named.Name || slices.Contains(r.Named.Aliases, w.Named.Full) {
		return nil
	}
	return p.fault(nameMismatch, token{word: "name"}, "expected: "+w.Named.Full, r.Named, w.Named)
}

func (p *port) sizes(r, w *avro.Type) []fault {
	if r.Named.Size == w.Named.Size {
		return nil
	}
	return p.fault(fixedSizeMismatch, token{word: "size"}, fmt.Sprintf("expected: %d, found: %d", w.Named.Size, r.Named.Size), r.Named, w.Named)
}

func (p *port) symbols(r, w *avro.Type) []fault {
	p.meter.Spend(len(w.Named.Symbols))
	missing := missingIn(r.Named, w.Named)
	if len(missing) == 0 || r.Named.HasDefault {
		return nil
	}
	slices.Sort(missing)
	return p.fault(missingSymbols, token{word: "symbols"}, "["+strings.Join(missing, ", ")+"]", r.Named, w.Named)
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

func (p *port) fields(r, w *avro.Type) (out []fault) {
	index := fieldsByName{named: w.Named}
	p.path = append(p.path, token{word: "fields"})
	for i, field := range r.Named.Fields {
		p.path = append(p.path, number(i))
		match, count := index.matches(field)
		switch {
		case p.failed != nil:
		case count > 1:
			p.failed = &fault{
				kind: unexpectedException, path: slices.Clone(p.path[p.base:]), reader: field, writer: w.Named,
				info: fmt.Sprintf("Reader record field %s matches multiple fields in writer record schema %s", field.Name, w.Named.Full),
			}
		case count == 1:
			out = merge(out, p.at(token{word: "type"}, field.Type, match.Type))
		case field.Default != nil:
		case field.Type.Kind == avro.Enum && field.Type.Named.HasDefault:
			// Oddity 2: the peer compares the enum with the record.
			out = merge(out, p.at(token{word: "type"}, field.Type, w))
		default:
			out = merge(out, p.fault(missingDefault, nowhere, field.Name, field, w.Named))
		}
		p.path = p.path[:len(p.path)-1]
	}
	p.path = p.path[:len(p.path)-1]
	return out
}

// fieldsByName finds fields. Records of two versions mostly have their fields
// in one order, so it looks behind the last one found first, and makes an index
// only when that keeps failing.
type fieldsByName struct {
	named  *avro.Named
	index  map[string]*avro.Field
	next   int
	misses int
}

func (f *fieldsByName) get(name string) *avro.Field {
	fields := f.named.Fields
	for i := f.next; i < len(fields) && i < f.next+2; i++ {
		if fields[i].Name == name {
			f.next = i + 1
			return fields[i]
		}
	}
	if f.index == nil && f.misses < 4 {
		f.misses++
		field := f.named.Field(name)
		if field != nil {
			f.next = field.Index + 1
		}
		return field
	}
	if f.index == nil {
		f.index = make(map[string]*avro.Field, len(fields))
		for _, field := range fields {
			f.index[field.Name] = field
		}
	}
	field := f.index[name]
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

func (p *port) fault(kind string, step token, info string, reader, writer placed, causes ...fault) []fault {
	path := p.path[p.base:]
	p.meter.Spend(len(path))
	path = slices.Clip(slices.Clone(path))
	if step != nowhere {
		path = append(path, step)
	}
	return []fault{{kind: kind, path: path, info: info, reader: reader, writer: writer, causes: causes}}
}

func spellPath(path []token) string {
	if len(path) == 0 {
		return "/"
	}
	var b []byte
	for _, t := range path {
		b = append(b, '/')
		if t.word != "" {
			b = append(b, t.word...)
		} else {
			b = strconv.AppendInt(b, int64(t.number), 10)
		}
	}
	return string(b)
}

func upper(t placed) string {
	if t, ok := t.(*avro.Type); ok {
		return strings.ToUpper(t.Kind.String())
	}
	return ""
}

// merge appends b to a without touching what memory holds.
func merge(a, b []fault) []fault {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	if room := mostDifferences - len(a); len(b) > room {
		b = b[:max(room, 0)]
	}
	return append(a[:len(a):len(a)], b...)
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
	}
	return false
}

// message writes a difference in the words that the reference registry has for
// it, with our rule behind the sentence.
func message(d compat.Difference, reader, writer, rule string) string {
	var text string
	switch d.Type {
	case nameMismatch:
		text = fmt.Sprintf("The name of the schema has changed (path '%s')", d.Path)
	case fixedSizeMismatch:
		text = fmt.Sprintf("The size of FIXED type field at path '%s' in the %s schema does not match with the %s schema", d.Path, reader, writer)
	case missingSymbols:
		text = fmt.Sprintf("The %s schema is missing enum symbols '%s' at path '%s' in the %s schema", reader, d.Info, d.Path, writer)
	case missingDefault:
		text = fmt.Sprintf("The field '%s' at path '%s' in the %s schema has no default value and is missing in the %s schema", d.Info, d.Path, reader, writer)
	case typeMismatch:
		text = fmt.Sprintf("The type (path '%s') of a field in the %s schema does not match with the %s schema", d.Path, reader, writer)
	case missingBranch:
		text = fmt.Sprintf("The %s schema is missing a type inside a union field at path '%s' in the %s schema", reader, d.Path, writer)
	case unexpectedException:
		text = fmt.Sprintf("Unexpected exception during compatibility check at path '%s'", d.Path)
	default:
		return compat.Message(d, reader, writer, rule)
	}
	return compat.Entry(d.Type, text, d.Info, rule)
}
