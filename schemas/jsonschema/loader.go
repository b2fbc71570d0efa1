package jsonschema

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema/regex"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// home is the base of a document that has no $id. Nothing is ever fetched from
// it or from anywhere else: it only makes relative names comparable.
const home = "mem://input/"

// document is one text: the schema's own, a referenced one or a meta-schema.
type document struct {
	name string // see Node.Document
	text string
	root *jsontext.Value
	main *resource

	index sync.Once
	lines []int // offset of each line's first byte
}

// position is schemas.PositionAt, quick for many offsets.
func (d *document) position(offset int) schemas.Position {
	d.index.Do(func() {
		d.lines = []int{0}
		for i := range len(d.text) {
			if d.text[i] == '\n' {
				d.lines = append(d.lines, i+1)
			}
		}
	})
	line := sort.SearchInts(d.lines, offset+1)
	return schemas.Position{Line: line, Column: offset - d.lines[line-1] + 1, Offset: offset}
}

// resource is a schema with a base address of its own, and what its anchors
// name. Embedded $id make further resources inside a document.
type resource struct {
	uri       string
	document  *document
	root      *jsontext.Value
	dialect   Dialect
	anchors   map[string]anchor
	around    *resource // of an embedded one
	recursive bool      // $recursiveAnchor: true

	outermost *Node            // of root, when recursive
	dynamic   map[string]*Node // of the dynamic anchors
}

type anchor struct {
	value   *jsontext.Value
	dynamic bool
}

// loader turns documents into nodes.
type loader struct {
	limits    schemas.Limits
	names     map[string]*document // declared references, by name as given
	resources map[string]*resource
	owner     map[*jsontext.Value]*resource // of every schema at a known place
	nodes     map[*jsontext.Value]*Node
	queue     []*Node
	spare     []Node      // nodes not given out yet: one allocation for many
	embeds    []*resource // the embedded ones of the first document
	problems  []problem
	pointers  int                                            // bytes of pointers in problems
	indexes   map[*jsontext.Value]map[string]*jsontext.Value // of large objects
	regexes   int                                            // what RE2 may still take, in instructions
	count     int                                            // schemas of the document at hand
	total     int                                            // schemas of all documents
	refused   bool                                           // the meta-schema refused something
	bundled   bool                                           // this is the loader of the meta-schemas themselves
	dynamic   bool                                           // some node has a dynamic reference
	formats   bool                                           // some node asserts a format
}

// problem is something wrong at a place of a document.
type problem struct {
	document *document
	offset   int
	pointer  schemas.Pointer
	summary  string
	detail   string
	shape    bool // a keyword's value is of the wrong shape: the meta-schema says so too
}

// closureDeclarations bounds the schemas of a whole closure, as a multiple of
// the limit for one text.
const closureDeclarations = 10

// bytesASchema is about how long a schema is inside a text, to make room for them.
const bytesASchema = 48

// newLoader is a loader for a text of some bytes and what it refers to.
func newLoader(limits schemas.Limits, bytes int) *loader {
	room := min(bytes/bytesASchema, 4_096)
	return &loader{
		limits:    limits,
		names:     map[string]*document{},
		resources: map[string]*resource{},
		owner:     make(map[*jsontext.Value]*resource, room),
		nodes:     make(map[*jsontext.Value]*Node, room),
		queue:     make([]*Node, 0, room),
		indexes:   map[*jsontext.Value]map[string]*jsontext.Value{},
		regexes:   100_000,
	}
}

const mostProblems = 50

func (l *loader) report(n *Node, keyword string, at *jsontext.Value, summary, detail string) {
	if l.pointers > mostPointers || len(l.problems) >= mostProblems {
		return
	}
	p := n.Pointer()
	if keyword != "" {
		p = p.Append(keyword)
	}
	l.pointers += len(p)
	l.problems = append(l.problems, problem{document: n.resource.document, offset: at.Start, pointer: p, summary: summary, detail: detail})
}

// note reports something about a value that has no node yet.
func (l *loader) note(d *document, v *jsontext.Value, p problem) {
	if l.pointers > mostPointers || len(l.problems) >= mostProblems {
		return
	}
	p.document, p.pointer = d, pointerTo(d.root, v)
	l.pointers += len(p.pointer)
	l.problems = append(l.problems, p)
}

// add takes a document in: its resources and anchors become known.
func (l *loader) add(d *document, fallback Dialect) error {
	dialect := fallback
	if s := d.root.Get("$schema"); s != nil && s.Kind == jsontext.String {
		dialect = dialectOf(s.Text)
	}
	base := home
	if d.name != "" {
		base = resolve(home, d.name)
	}
	r := &resource{uri: base, document: d, root: d.root, dialect: dialect, anchors: map[string]anchor{}}
	if id, ok := identity(d.root, dialect); ok {
		if u, _, _ := strings.Cut(id, "#"); u != "" {
			r.uri = resolve(base, u)
		}
	}
	d.main = r
	if _, taken := l.resources[r.uri]; !taken {
		l.resources[r.uri] = r
	}
	return l.scan(d.root, r, true)
}

// identity is the value of $id (id in draft-04).
func identity(v *jsontext.Value, d Dialect) (string, bool) {
	id := v.Get(d.idKeyword())
	if id == nil || id.Kind != jsontext.String {
		return "", false
	}
	return id.Text, true
}

// scan finds the resources and anchors of a schema and what is below it. Only
// known places count: an $id inside a const or under an unknown keyword is data.
func (l *loader) scan(v *jsontext.Value, r *resource, root bool) error {
	if v.Kind != jsontext.Object && v.Kind != jsontext.Bool {
		return nil
	}
	l.count++
	l.total++
	for _, c := range []struct{ found, most int }{{l.count, l.limits.Declarations}, {l.total, closureDeclarations * l.limits.Declarations}} {
		if c.most > 0 && c.found > c.most {
			return &schemas.LimitError{Limit: schemas.LimitDeclarations, Most: c.most, Found: c.found, Position: r.document.position(v.Start)}
		}
	}
	if !root {
		r = l.embedded(v, r)
	}
	l.owner[v] = r
	if r.dialect.IsModern() || v.Get("$ref") == nil {
		l.anchors(v, r)
	}
	for i := range v.Members {
		m := &v.Members[i]
		k, known := keywordsByName[m.Name]
		if !known || k.shape == plain || r.dialect < k.since || r.dialect > k.until {
			continue
		}
		for _, sub := range subschemas(k.shape, m.Value) {
			if err := l.scan(sub, r, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// subschemas lists the schemas in a keyword's value.
func subschemas(s shape, v *jsontext.Value) []*jsontext.Value {
	switch {
	case s == schema || s == schemaOrSet && v.Kind != jsontext.Array:
		return []*jsontext.Value{v}
	case (s == list || s == schemaOrSet) && v.Kind == jsontext.Array:
		return v.Items
	case (s == mapping || s == dependent) && v.Kind == jsontext.Object:
		out := make([]*jsontext.Value, len(v.Members))
		for i := range v.Members {
			out[i] = v.Members[i].Value
		}
		return out
	}
	return nil
}

// embedded is the resource that v begins, or the one that it is part of.
func (l *loader) embedded(v *jsontext.Value, r *resource) *resource {
	dialect := r.dialect
	if s := v.Get("$schema"); s != nil && s.Kind == jsontext.String {
		if _, has := identity(v, dialectOf(s.Text)); has {
			dialect = dialectOf(s.Text)
		}
	}
	if !dialect.IsModern() && v.Get("$ref") != nil {
		return r
	}
	id, ok := identity(v, dialect)
	if !ok {
		return r
	}
	u, _, _ := strings.Cut(id, "#")
	if u == "" {
		return r
	}
	inner := &resource{uri: resolve(r.uri, u), document: r.document, root: v, dialect: dialect, around: r, anchors: map[string]anchor{}}
	l.embeds = append(l.embeds, inner)
	if old, taken := l.resources[inner.uri]; !taken {
		l.resources[inner.uri] = inner
	} else if old.document == r.document {
		l.note(r.document, v, problem{
			offset:  v.Get(dialect.idKeyword()).Start,
			summary: fmt.Sprintf("the identifier %q stands on two schemas of this document", inner.uri),
			detail:  "a reference to it would be ambiguous; rename one",
		})
	}
	return inner
}

func (l *loader) anchors(v *jsontext.Value, r *resource) {
	put := func(name string, dynamic bool) {
		if old, taken := r.anchors[name]; taken && old.value != v {
			l.note(r.document, v, problem{
				offset:  v.Start,
				summary: fmt.Sprintf("the anchor %q stands on two schemas of one resource", name),
				detail:  "a reference to it would be ambiguous; rename one",
			})
			return
		}
		r.anchors[name] = anchor{v, dynamic || r.anchors[name].dynamic}
	}
	if !r.dialect.IsModern() {
		if id, ok := identity(v, r.dialect); ok {
			if _, fragment, has := strings.Cut(id, "#"); has && fragment != "" && fragment[0] != '/' {
				put(fragment, false)
			}
		}
		return
	}
	if a := v.Get("$anchor"); a != nil && a.Kind == jsontext.String {
		put(a.Text, false)
	}
	if a := v.Get("$dynamicAnchor"); r.dialect == Draft2020 && a != nil && a.Kind == jsontext.String {
		put(a.Text, true)
	}
	if a := v.Get("$recursiveAnchor"); r.dialect == Draft2019 && a != nil && a.Kind == jsontext.Bool && a.Bool && v == r.root {
		r.recursive = true
	}
}

// at is the node of a schema value; parent and step say how it was reached.
func (l *loader) at(v *jsontext.Value, r *resource, parent *Node, step ...string) *Node {
	if n := l.nodes[v]; n != nil {
		n.uses++
		return n
	}
	if own := l.owner[v]; own != nil {
		r = own
	}
	if len(l.spare) == 0 {
		l.spare = make([]Node, min(max(l.total-len(l.queue), 1), 64))
	}
	n := &l.spare[0]
	l.spare = l.spare[1:]
	*n = Node{
		Value: v, Dialect: r.dialect, resource: r, parent: parent, step: step, uses: 1,
		MaxLength: Unlimited, MaxItems: Unlimited, MaxProperties: Unlimited, MinContains: 1, MaxContains: Unlimited,
	}
	l.nodes[v] = n
	l.queue = append(l.queue, n)
	return n
}

// build fills the nodes that were asked for, and those that they need.
func (l *loader) build() error {
	for done := 0; done < len(l.queue); {
		for ; done < len(l.queue); done++ {
			if most := closureDeclarations * l.limits.Declarations; most > 0 && done > most {
				return &schemas.LimitError{Limit: schemas.LimitDeclarations, Most: most, Found: done}
			}
			l.fill(l.queue[done])
		}
		if l.dynamic {
			l.answers()
		}
	}
	return nil
}

// pattern compiles one, and reports it when it is broken.
func (l *loader) pattern(n *Node, keyword string, text string, at *jsontext.Value) *regex.Pattern {
	p, err := regex.CompileWithin(text, &l.regexes)
	if err != nil {
		l.report(n, keyword, at, fmt.Sprintf("the pattern %s cannot be read: %v", short(text), err), "patterns are ECMA-262 regular expressions")
		return nil
	}
	return p
}

// short quotes a text for a message.
func short(text string) string {
	const most = 80
	if len(text) > most {
		cut := most
		for cut > 0 && text[cut]&0xC0 == 0x80 {
			cut--
		}
		return strconv.Quote(text[:cut]) + "…"
	}
	return strconv.Quote(text)
}

func sortedMembers(v *jsontext.Value) []int {
	order := make([]int, len(v.Members))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(v.Members[a].Name, v.Members[b].Name) })
	return order
}
