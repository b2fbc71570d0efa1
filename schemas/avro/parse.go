package avro

import (
	"context"
	"fmt"
	"sort"
	"sync"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// deepest is how deep brackets may nest in the canonical text, also where
// settable limits do not hold: jsontext reads nothing deeper back. The canonical
// text nests deeper than the text sent where definitions move to a first use.
const deepest = 10_000

// Parse reads source and everything that it refers to.
//
// The references' names are labels only: every referenced text is parsed,
// dependencies first, and all the types that it defines become known.
//
// Errors: schemas.SyntaxErrors with all faults of the text, in reading order;
// *schemas.LimitError; *schemas.ReferenceError.
// Source: avro-compat 14 and 16.
func Parse(ctx context.Context, source schemas.Source, resolver schemas.Resolver, options schemas.ParseOptions) (*Schema, error) {
	limits := options.Limits.OrDefault()
	if options.Mode == schemas.New && len(source.Text) > limits.Text {
		return nil, &schemas.LimitError{Limit: schemas.LimitText, Most: limits.Text, Found: len(source.Text)}
	}
	closure, direct, err := schemas.Closure(ctx, source, options.From, resolver, limits)
	if err != nil {
		return nil, err
	}
	s := &Schema{source: source}
	names := &vocabularyOfNames{defined: map[string]*Named{}}
	references, err := parseClosure(closure, names, limits, options.Mode)
	if err != nil {
		return nil, err
	}
	s.supplied = references.supplied(references.all())

	p := parser{doc: &document{text: source.Text}, mode: options.Mode, names: names, limits: limits}
	if options.Mode == schemas.New {
		p.most = limits.Declarations
	}
	if s.root, err = p.parse(limits); err != nil {
		return nil, err
	}
	s.own, s.known, s.remarks = p.own, names.list, p.remarks
	if err := checkNesting(s.root); err != nil {
		return nil, err
	}
	s.canonical = printer{supplied: s.supplied, room: len(source.Text)}.print(s.root)
	most := deepest
	if options.Mode == schemas.New {
		most = limits.Depth
	}
	if depth := openBrackets(s.canonical); depth > most {
		return nil, &schemas.LimitError{Limit: schemas.LimitDepth, Most: most, Found: depth}
	}
	s.fingerprint = references.fingerprint(s.canonical, source.References, direct)
	s.weigh()
	s.normalized = sync.OnceValue(s.makeNormalized)
	s.equivalence = sync.OnceValue(s.makeEquivalence)
	s.parsingForm = sync.OnceValue(s.makeParsingForm)
	s.reading = sync.OnceValue(func() *program { return compile(s.root) })
	return s, nil
}

// vocabularyOfNames holds the definitions that are known while a text and its
// references are parsed.
type vocabularyOfNames struct {
	defined map[string]*Named
	list    []*Named
	counted int // declarations of all referenced texts so far
}

// parser reads one text.
type parser struct {
	doc    *document
	mode   schemas.Mode
	limits schemas.Limits
	names  *vocabularyOfNames

	most, counted int // declarations; most 0 is no limit
	limit         *schemas.LimitError

	faults  []fault
	further int // faults that are not listed
	remarks []fault
	own     []*Named
	open    map[string]bool // definitions that are not closed yet
	broken  map[string]bool // definitions with a faulty name
	waiting []waiting       // names used before their definition
	unions  []*Type
	fields  []*Field // fields with a default
	repeats []repeat
	lenient bool // unknown names are no fault: outlining
}

// waiting is a use of a name that was not known when it was read.
type waiting struct {
	use       *Type
	name      string // as written
	namespace string // enclosing
	hint      string
}

// repeat is a second definition of a name. Where it stands the first is used,
// once the two are known to be equal.
type repeat struct {
	use           *Type
	first, second *Named
}

// fault is one thing wrong, placed by offset until all are known.
type fault struct {
	at              *spot
	summary, detail string
}

// mostFaults bounds the list: a megabyte of nonsense has as many faults.
const mostFaults = 1000

func (p *parser) fail(at *spot, detail, format string, a ...any) {
	if len(p.faults) >= mostFaults {
		p.further++
		return
	}
	p.faults = append(p.faults, fault{at, fmt.Sprintf(format, a...), detail})
}

// placed puts faults in reading order.
func placed(faults []fault) schemas.SyntaxErrors {
	sort.SliceStable(faults, func(i, j int) bool { return faults[i].at.start < faults[j].at.start })
	out := make(schemas.SyntaxErrors, len(faults))
	for i, f := range faults {
		out[i] = f.placed()
	}
	return out
}

func (f fault) placed() schemas.SyntaxError {
	place := f.at.Place()
	return schemas.SyntaxError{Position: place.Position, Pointer: place.Pointer, Summary: f.summary, Detail: f.detail}
}

// declare counts n declarations and tells whether there may be more.
func (p *parser) declare(n int, at *spot) bool {
	if p.limit != nil {
		return false
	}
	p.counted += n
	if p.most > 0 && p.counted > p.most {
		p.limit = &schemas.LimitError{Limit: schemas.LimitDeclarations, Most: p.most, Found: p.counted, Position: p.doc.position(at.start)}
		return false
	}
	return true
}

// parse reads the text, resolves its names and, for a new schema, checks its
// defaults.
func (p *parser) parse(limits schemas.Limits) (*Type, error) {
	var o jsontext.Options
	if p.mode == schemas.New {
		o = jsontext.SchemaOptions(limits)
	}
	// The reference implementation reads comments, and the last of two members
	// with one name.
	o.Comments = true
	o.Duplicate = func(name string, offset int) {
		at := &spot{doc: p.doc, start: offset, end: offset}
		p.remarks = append(p.remarks, fault{at, "the member " + quote(name) + " is given twice", "only the last one counts; remove the other"})
	}
	v, err := jsontext.Parse(p.doc.text, o)
	if err != nil {
		return nil, err
	}
	p.open, p.broken = map[string]bool{}, map[string]bool{}
	root := p.parseType(v, "", spot{doc: p.doc, start: v.Start, end: v.End})
	p.resolve()
	if p.limit == nil && len(p.faults) == 0 && !p.lenient {
		p.checkUnions()
		p.checkRepeats()
	}
	if p.limit == nil && len(p.faults) == 0 && p.mode == schemas.New && !p.lenient {
		p.checkDefaults()
	}
	if p.limit != nil {
		return nil, p.limit
	}
	if len(p.faults) > 0 {
		list := placed(p.faults)
		if p.further > 0 {
			list = append(list, schemas.SyntaxError{
				Position: p.doc.position(len(p.doc.text)),
				Summary:  fmt.Sprintf("%d further faults are not listed", p.further), Detail: "correct these first",
			})
		}
		return nil, list
	}
	return root, nil
}
