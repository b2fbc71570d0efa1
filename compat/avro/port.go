package avro

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
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
	memory map[pair][]compat.Difference // nil while a pair is open: open counts as compatible
	path   []string
	failed *compat.Difference // the check itself failed
}

// check starts a new path, as the peer does for the branches of a union.
func (p *port) check(r, w *avro.Type) []compat.Difference {
	saved := p.path
	p.path = nil
	list := p.types(r, w)
	p.path = saved
	return list
}

// at runs the check of a part one step below the current place.
func (p *port) at(step string, r, w *avro.Type) []compat.Difference {
	p.path = append(p.path, step)
	list := p.types(r, w)
	p.path = p.path[:len(p.path)-1]
	return list
}

// types answers a pair, from memory when it was met before: then its faults
// appear again with the path of their first meeting (oddity 3).
func (p *port) types(r, w *avro.Type) []compat.Difference {
	if p.failed != nil {
		return nil
	}
	key := pairOf(r, w)
	if list, met := p.memory[key]; met {
		p.meter.Spend(len(list))
		return list
	}
	if !p.meter.Spend(1) {
		return nil
	}
	p.memory[key] = nil
	list := p.compute(r, w)
	p.memory[key] = list
	return list
}

func (p *port) compute(r, w *avro.Type) []compat.Difference {
	if r.Kind == w.Kind {
		switch r.Kind {
		case avro.Array:
			return p.at("items", r.Items, w.Items)
		case avro.Map:
			return p.at("values", r.Items, w.Items)
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
		var out []compat.Difference
		for i, branch := range w.Branches {
			out = merge(out, p.at(strconv.Itoa(i), r, branch))
		}
		return out
	}
	if r.Kind == avro.Union {
		causes, ok := p.anyBranch(r, w)
		if ok {
			return nil
		}
		return p.fault(missingBranch, "", "reader union lacking writer type: "+upper(w), r.Place(), w.Place(), causes...)
	}
	if promotes(w.Kind, r.Kind) {
		return nil
	}
	return p.mismatch(r.Kind, w.Kind, r.Place(), w.Place())
}

// unions: every branch of the writer must be readable by the reader's union;
// what is wrong inside a branch does not show (oddity 1).
func (p *port) unions(r, w *avro.Type) (out []compat.Difference) {
	for i, branch := range w.Branches {
		list := p.check(r, branch)
		if len(list) == 0 {
			continue
		}
		out = merge(out, p.fault(missingBranch, strconv.Itoa(i), "reader union lacking writer type: "+upper(branch), r.Place(), branch.Place(), list...))
	}
	return out
}

// anyBranch tells whether a branch of r can read w; if none can, what is wrong
// in the branches of w's kind.
func (p *port) anyBranch(r, w *avro.Type) (causes []compat.Difference, ok bool) {
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

func (p *port) names(r, w *avro.Type) []compat.Difference {
	if r.Named.Name == w.Named.Name || slices.Contains(r.Named.Aliases, w.Named.Full) {
		return nil
	}
	return p.fault(nameMismatch, "name", "expected: "+w.Named.Full, r.Named.Place(), w.Named.Place())
}

func (p *port) sizes(r, w *avro.Type) []compat.Difference {
	if r.Named.Size == w.Named.Size {
		return nil
	}
	return p.fault(fixedSizeMismatch, "size", fmt.Sprintf("expected: %d, found: %d", w.Named.Size, r.Named.Size), r.Named.Place(), w.Named.Place())
}

func (p *port) symbols(r, w *avro.Type) []compat.Difference {
	p.meter.Spend(len(w.Named.Symbols))
	missing := missingIn(r.Named, w.Named)
	if len(missing) == 0 || r.Named.HasDefault {
		return nil
	}
	slices.Sort(missing)
	return p.fault(missingSymbols, "symbols", "["+strings.Join(missing, ", ")+"]", r.Named.Place(), w.Named.Place())
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

func (p *port) fields(r, w *avro.Type) (out []compat.Difference) {
	index := fieldsByName{named: w.Named}
	p.path = append(p.path, "fields")
	for i, field := range r.Named.Fields {
		p.path = append(p.path, strconv.Itoa(i))
		match, count := index.matches(field)
		switch {
		case p.failed != nil:
		case count > 1:
			p.failed = &compat.Difference{
				Type: unexpectedException, Path: p.spell(), Reader: field.Place(), Writer: w.Named.Place(),
				Info: fmt.Sprintf("Reader record field %s matches multiple fields in writer record schema %s", field.Name, w.Named.Full),
			}
		case count == 1:
			out = merge(out, p.at("type", field.Type, match.Type))
		case field.Default != nil:
		case field.Type.Kind == avro.Enum && field.Type.Named.HasDefault:
			// Oddity 2: the peer compares the enum with the record.
			p.path = append(p.path, "type")
			out = merge(out, p.mismatch(avro.Enum, avro.Record, field.Place(), w.Named.Place()))
			p.path = p.path[:len(p.path)-1]
		default:
			out = merge(out, p.fault(missingDefault, "", field.Name, field.Place(), w.Named.Place()))
		}
		p.path = p.path[:len(p.path)-1]
	}
	p.path = p.path[:len(p.path)-1]
	return out
}

// fieldsByName finds fields; it makes an index only when a field is not where
// it was on the other side.
type fieldsByName struct {
	named *avro.Named
	index map[string]*avro.Field
}

func (f *fieldsByName) get(name string, hint int) *avro.Field {
	if hint < len(f.named.Fields) && f.named.Fields[hint].Name == name {
		return f.named.Fields[hint]
	}
	if f.index == nil {
		f.index = make(map[string]*avro.Field, len(f.named.Fields))
		for _, field := range f.named.Fields {
			f.index[field.Name] = field
		}
	}
	return f.index[name]
}

// matches finds the writer's field for a reader's field: by name, or by one of
// the reader's aliases. More than one match is the peer's failure; an alias that
// is the field's own name counts as a second one.
func (f *fieldsByName) matches(reader *avro.Field) (match *avro.Field, count int) {
	if match = f.get(reader.Name, reader.Index); match != nil {
		count = 1
	}
	for i, alias := range reader.Aliases {
		if slices.Contains(reader.Aliases[:i], alias) {
			continue
		}
		if other := f.get(alias, reader.Index); other != nil {
			match = other
			count++
		}
	}
	return match, count
}

func (p *port) mismatch(r, w avro.Kind, reader, writer schemas.Place) []compat.Difference {
	return p.fault(typeMismatch, "", fmt.Sprintf("reader type: %s not compatible with writer type: %s", strings.ToUpper(r.String()), strings.ToUpper(w.String())), reader, writer)
}

func (p *port) fault(kind, step, info string, reader, writer schemas.Place, causes ...compat.Difference) []compat.Difference {
	if step != "" {
		p.path = append(p.path, step)
		defer func() { p.path = p.path[:len(p.path)-1] }()
	}
	return []compat.Difference{{Type: kind, Path: p.spell(), Info: info, Reader: reader, Writer: writer, Causes: causes}}
}

func (p *port) spell() string { return "/" + strings.Join(p.path, "/") }

func upper(t *avro.Type) string { return strings.ToUpper(t.Kind.String()) }

// merge appends b to a without touching what memory holds.
func merge(a, b []compat.Difference) []compat.Difference {
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
