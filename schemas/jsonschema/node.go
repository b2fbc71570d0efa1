package jsonschema

import (
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema/regex"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// Kinds is a set of the kinds of JSON values; Integer is the whole numbers,
// which Float includes.
type Kinds uint8

// The kinds.
const (
	KindNull Kinds = 1 << iota
	KindBoolean
	KindInteger
	KindNumber
	KindString
	KindArray
	KindObject
)

var kindNames = [...]string{"null", "boolean", "integer", "number", "string", "array", "object"}

func kindNamed(name string) (Kinds, bool) {
	for i, n := range kindNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}

// Names lists the kinds in k as `type` spells them.
func (k Kinds) Names() []string {
	var out []string
	for i, n := range kindNames {
		if k&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return out
}

// Unlimited stands for an absent upper bound of a count, and for one too large
// to matter.
const Unlimited = 1 << 60

// Node is one schema: an object of keywords, or true or false. Keywords that
// the node's dialect does not know are absent, and in drafts 4 to 7 so is
// everything beside $ref. Nodes form a graph: $ref is an edge.
//
// Nodes are immutable once their Schema has been parsed.
type Node struct {
	Value   *jsontext.Value // as written
	Dialect Dialect
	Boolean bool // the node is true or false: see Value.Bool

	HasType bool
	Types   Kinds

	HasEnum bool
	Enum    []*jsontext.Value
	Const   *jsontext.Value

	// Minimum and the others are nil when absent. The boolean flags of draft-04
	// are folded in: a flagged minimum is an ExclusiveMinimum.
	Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum, MultipleOf *Number

	MinLength, MaxLength int // in code points
	Pattern              *regex.Pattern
	Format               string

	Prefix           []*Node // items as a list, or prefixItems
	HasPrefix        bool
	Items            *Node // what follows the prefix
	AdditionalItems  *Node // as written, drafts 4 to 2019-09; it asserts only as Items
	MinItems         int
	MaxItems         int
	UniqueItems      bool
	Contains         *Node
	MinContains      int
	MaxContains      int
	UnevaluatedItems *Node

	Properties            []Property
	PatternProperties     []PatternProperty
	AdditionalProperties  *Node
	PropertyNames         *Node
	Required              []string
	MinProperties         int
	MaxProperties         int
	DependentRequired     []DependentNames
	DependentSchemas      []Property
	UnevaluatedProperties *Node

	AllOf, AnyOf, OneOf []*Node
	Not, If, Then, Else *Node

	Ref     *Node
	Dynamic *DynamicRef

	resource *resource
	parent   *Node
	step     []string // from the parent: keyword, and name or index

	byName   map[string]int // places in Properties, when there are many
	required map[string]bool
	constant map[string]bool // canonical texts of enum or const
	texts    map[string]bool // the strings of enum or const, where they are all strings
	uses     int             // edges that lead here
	isAlone  bool            // surely no other node judges the same value for this one
}

// Property is a name and the schema for it.
type Property struct {
	Name string
	Node *Node
}

// PatternProperty is a pattern of names and the schema for them.
type PatternProperty struct {
	Pattern *regex.Pattern
	Node    *Node
}

// DependentNames says that with Name the members Needs must be there too.
type DependentNames struct {
	Name  string
	Needs []string
}

// DynamicRef is $dynamicRef or $recursiveRef: Target, or what the outermost
// schema resource entered on the way declares under the same name.
type DynamicRef struct {
	Target    *Node
	Anchor    string // $dynamicAnchor; empty for $recursiveRef
	Recursive bool
	Fixed     bool // Target is not dynamic: it is always the answer
}

// Pointer is the place of n in its own document.
func (n *Node) Pointer() schemas.Pointer {
	var room [128]byte
	return schemas.Pointer(n.appendPointer(room[:0]))
}

// appendPointer writes the pointer without a text for each step: a refused
// payload may name many.
func (n *Node) appendPointer(dst []byte) []byte {
	if n.parent == nil {
		return dst
	}
	dst = n.parent.appendPointer(dst)
	for _, token := range n.step {
		dst = appendToken(dst, token)
	}
	return dst
}

// appendToken appends one token of a pointer, escaped, behind its slash.
func appendToken(dst []byte, token string) []byte {
	dst = append(dst, '/')
	for i := range len(token) {
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

// Document is the reference name of the document that n stands in, empty for
// the schema's own text, and the address for a bundled meta-schema.
func (n *Node) Document() string { return n.resource.document.name }

// Place is where n stands in its own document.
func (n *Node) Place() schemas.Place {
	d := n.resource.document
	return schemas.Place{
		Pointer:  n.Pointer(),
		Position: d.position(n.Value.Start),
		End:      d.position(n.Value.End),
	}
}

// PlaceOf is where the value of one of n's members stands; n's own place when it
// has none of that name.
func (n *Node) PlaceOf(name string) schemas.Place {
	v := n.Value.Get(name)
	if v == nil {
		return n.Place()
	}
	d := n.resource.document
	return schemas.Place{Pointer: n.Pointer().Append(name), Position: d.position(v.Start), End: d.position(v.End)}
}

// Spelling is n's text as it was written.
func (n *Node) Spelling() string { return n.resource.document.text[n.Value.Start:n.Value.End] }

// where is the schema pointer that a violation shows: a place in another
// document is shown with that document's name in front of a "#".
func (n *Node) where(keyword string) schemas.Pointer {
	var room [128]byte
	p := room[:0]
	if name := n.Document(); name != "" {
		p = append(append(p, name...), '#')
	}
	p = n.appendPointer(p)
	if keyword != "" {
		p = appendToken(p, keyword)
	}
	return schemas.Pointer(p)
}

// Always tells whether n is a boolean schema, and which.
func (n *Node) Always() (value, ok bool) { return n.Value.Bool, n.Boolean }

// Keyword is the value of a keyword as written, nil when n has none or its
// dialect does not know it.
func (n *Node) Keyword(name string) *jsontext.Value {
	v := n.Value.Get(name)
	if v == nil || !n.Dialect.Knows(name) {
		return nil
	}
	return v
}

// Property finds the schema of a declared property, nil when there is none.
func (n *Node) Property(name string) *Node {
	if i := n.property(name, 0); i >= 0 {
		return n.Properties[i].Node
	}
	return nil
}

// property is the place of a declared property, -1 for none. It is looked for at
// next first: most writers keep the order of the schema.
func (n *Node) property(name string, next int) int {
	if next < len(n.Properties) && n.Properties[next].Name == name {
		return next
	}
	if n.byName != nil {
		if i, ok := n.byName[name]; ok {
			return i
		}
		return -1
	}
	for i := range n.Properties {
		if n.Properties[i].Name == name {
			return i
		}
	}
	return -1
}

// Requires tells whether required lists name.
func (n *Node) Requires(name string) bool { return n.required[name] }

// index makes the look-ups of a filled node quick.
func (n *Node) index() {
	if len(n.Properties) > 8 {
		n.byName = make(map[string]int, len(n.Properties))
		for i, p := range n.Properties {
			n.byName[p.Name] = i
		}
	}
	if len(n.Required) > 0 {
		n.required = make(map[string]bool, len(n.Required))
		for _, name := range n.Required {
			n.required[name] = true
		}
	}
	if n.HasEnum || n.Const != nil {
		n.constant = make(map[string]bool, len(n.Enum))
	}
	for _, v := range n.Enum {
		n.constant[string(appendCanonical(nil, v))] = true
	}
	defer n.indexTexts()
	if n.Const != nil {
		c := string(appendCanonical(nil, n.Const))
		if n.HasEnum && !n.constant[c] {
			n.constant = map[string]bool{}
			return
		}
		n.constant = map[string]bool{c: true}
	}
}

// indexTexts makes the look-ups of an enum or const of strings quick.
func (n *Node) indexTexts() {
	list := n.Enum
	if n.Const != nil {
		list = append(slices.Clip(list), n.Const)
	}
	if len(list) == 0 || slices.ContainsFunc(list, func(v *jsontext.Value) bool { return v.Kind != jsontext.String }) {
		return
	}
	n.texts = make(map[string]bool, len(list))
	for _, v := range list {
		n.texts[v.Text] = n.constant[string(appendCanonical(nil, v))]
	}
}

// appendCanonical appends one text per JSON value: values that are equal (1 and
// 1.0, members in any order) append equal texts.
func appendCanonical(dst []byte, v *jsontext.Value) []byte {
	switch v.Kind {
	case jsontext.Number:
		return ParseNumber(v.Text).Canonical(dst)
	case jsontext.String:
		return appendCanonicalString(append(dst, '"'), v.Text)
	case jsontext.Array:
		dst = append(dst, '[')
		for _, item := range v.Items {
			dst = append(appendCanonical(dst, item), ',')
		}
		return append(dst, ']')
	case jsontext.Object:
		dst = append(dst, '{')
		for _, i := range sortedMembers(v) {
			m := &v.Members[i]
			dst = appendCanonicalString(dst, m.Name)
			dst = append(appendCanonical(dst, m.Value), ',')
		}
		return append(dst, '}')
	default:
		return v.Append(dst, false)
	}
}
