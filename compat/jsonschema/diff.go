package jsonschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// differ walks two schemas side by side and tells what is different at each
// place. It does not ask whether that hurts: witnesses do (see blame.go).
type differ struct {
	meter   *compat.Meter
	met     map[[2]*jsonschema.Node]bool
	changes []finding
	seen    int // of changes: those that were seen in the texts
	depth   int
}

// finding is a change and the keywords, on both sides, whose refusal it answers
// for.
type finding struct {
	compat.Change
	rule *compat.Rule
	pair pairing
	// around is the pair of schemas that a listed part belongs to; else pair.
	around pairing
	// answers are what may refuse because of it: old and new side.
	answers [2][]answer
	// members, when there are any, are those that the change is about; its
	// keywords speak of others too.
	members []string
	// misleads tells that values stay and may stand for something else.
	misleads bool
}

// answer is a keyword of a node, or the whole node where the keyword is empty,
// with its schema pointer as violations show it.
type answer struct {
	node    *jsonschema.Node
	keyword string
	pointer string
}

func answerOf(n *jsonschema.Node, keyword string) answer {
	if keyword == "" {
		return answer{n, "", where(n)}
	}
	return answer{n, keyword, where(n, keyword)}
}

// mostChanges bounds the list: nobody reads more.
const mostChanges = 1_000

// pairing is one place on both sides.
type pairing struct {
	old, next *jsonschema.Node
	path      string
}

func where(n *jsonschema.Node, tokens ...string) string {
	p := n.Pointer()
	for _, t := range tokens {
		p = p.Append(t)
	}
	if name := n.Document(); name != "" {
		return name + "#" + string(p)
	}
	return string(p)
}

// report adds a change about keywords of both nodes.
func (d *differ) report(rule *compat.Rule, p pairing, before, after, text string, keywords ...string) *finding {
	d.meter.Spend(4)
	if len(d.changes) >= mostChanges {
		return &finding{}
	}
	f := finding{rule: rule, pair: p, around: p, Change: compat.Change{
		Rule: rule.ID, Old: p.old.Place(), New: p.next.Place(), Elsewhere: [2]bool{p.old.Document() != "", p.next.Document() != ""},
		Path: p.path, Text: text, Before: clipped(before), After: clipped(after),
	}}
	for i, n := range []*jsonschema.Node{p.old, p.next} {
		for _, k := range keywords {
			f.answers[i] = append(f.answers[i], answerOf(n, k))
			if len(keywords) == 1 {
				*[]*schemas.Place{&f.Old, &f.New}[i] = n.PlaceOf(k)
			}
		}
	}
	d.changes = append(d.changes, f)
	return &d.changes[len(d.changes)-1]
}

func clipped(text string) string {
	const most = 120
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func shown(v *jsontext.Value) string {
	if v == nil {
		return ""
	}
	if v.End-v.Start > 4_000 {
		return v.Kind.String()
	}
	return v.String()
}

// nodes compares one place.
func (d *differ) nodes(p pairing) {
	if p.old == p.next {
		return
	}
	if p.old != behind(p.old) || p.next != behind(p.next) {
		d.remarks(p, true) // beside a reference, where they are the place's own
	}
	p.old, p.next = behind(p.old), behind(p.next)
	key := [2]*jsonschema.Node{p.old, p.next}
	if d.met[key] || p.old == p.next || !d.meter.Spend(1) || d.depth >= deepestGoals {
		return
	}
	d.met[key] = true
	if sameMeaning(p.old, p.next) {
		return
	}
	d.depth++
	defer func() { d.depth-- }()
	if len(p.path) > 4_000 {
		p.path = p.path[:4_000]
	}
	if p.old.Dialect != p.next.Dialect && p.path == "$" {
		d.report(&dialectChanged, p, p.old.Dialect.URI(), p.next.Dialect.URI(),
			fmt.Sprintf("the dialect changed from %s to %s", p.old.Dialect.URI(), p.next.Dialect.URI()))
	}
	d.remarks(p, false)
	if shape(p.old) != shape(p.next) {
		before, after := shape(p.old), shape(p.next)
		d.report(&combinationChanged, p, before, after, fmt.Sprintf("the schema is put together in another way: %s, formerly %s", after, before))
		return
	}
	if d.types(p) {
		return
	}
	d.values(p)
	d.scalars(p)
	d.arrays(p)
	d.objects(p)
	d.combined(p)
}

// mostSpelt bounds the texts that are compared as they are written, in bytes: a
// text that refers is looked at on every level of it.
const mostSpelt = 1 << 16

// sameSpelling tells at sight, and without an allocation, that two nodes are the
// same: written alike in one dialect, without references. An escape could hide
// one.
func sameSpelling(a, b *jsonschema.Node) bool {
	if a.Dialect != b.Dialect || a.Value.End-a.Value.Start != b.Value.End-b.Value.Start || a.Value.End-a.Value.Start > mostSpelt {
		return false
	}
	text := a.Spelling()
	return text == b.Spelling() && strings.IndexByte(text, '\\') < 0 && !strings.Contains(text, `ef"`)
}

// sameMeaning tells at sight that two nodes are the same: equal text in one
// dialect without references.
func sameMeaning(a, b *jsonschema.Node) bool {
	if sameSpelling(a, b) {
		return true
	}
	size := a.Value.End - a.Value.Start
	if a.Dialect != b.Dialect || size > 1<<12 || b.Value.End-b.Value.Start > 2*size+64 {
		return false
	}
	x, y := string(a.Value.Append(nil, true)), string(b.Value.Append(nil, true))
	return x == y && !strings.Contains(x, `ef"`)
}

// shape says by which in-place keywords a node is put together.
func shape(n *jsonschema.Node) string {
	var words []string
	for _, w := range []struct {
		name string
		has  bool
	}{
		{"$ref", n.Ref != nil}, {"$dynamicRef", n.Dynamic != nil}, {"allOf", len(n.AllOf) > 0}, {"anyOf", len(n.AnyOf) > 0}, {"oneOf", len(n.OneOf) > 0},
	} {
		if w.has {
			words = append(words, w.name)
		}
	}
	if words == nil {
		return "plain"
	}
	return strings.Join(words, " and ")
}

const everyKind = jsonschema.KindNull | jsonschema.KindBoolean | jsonschema.KindInteger | jsonschema.KindNumber | jsonschema.KindString | jsonschema.KindArray | jsonschema.KindObject

// kindsAllowed reads type, and the boolean schemas, as a set of kinds; a number
// includes the integers.
func kindsAllowed(n *jsonschema.Node) jsonschema.Kinds {
	if yes, ok := n.Always(); ok {
		if yes {
			return everyKind
		}
		return 0
	}
	if !n.HasType {
		return everyKind
	}
	k := n.Types
	if k&jsonschema.KindNumber != 0 {
		k |= jsonschema.KindInteger
	}
	return k
}

func kindWords(k jsonschema.Kinds) string {
	if k == everyKind {
		return "anything"
	}
	if k == 0 {
		return "nothing"
	}
	if k&jsonschema.KindNumber != 0 {
		k &^= jsonschema.KindInteger
	}
	return strings.Join(k.Names(), ", ")
}

// types compares the kinds allowed; true when nothing else is left to compare,
// since no kind is allowed on both sides.
func (d *differ) types(p pairing) bool {
	a, b := kindsAllowed(p.old), kindsAllowed(p.next)
	if a == b {
		return false
	}
	before, after := kindWords(a), kindWords(b)
	rule, verb := &typeChanged, "changed"
	switch a & b {
	case b:
		rule, verb = &typeNarrowed, "narrowed"
	case a:
		rule, verb = &typeWidened, "widened"
	default: // neither holds the other
	}
	f := d.report(rule, p, before, after, fmt.Sprintf("the type %s from %s to %s", verb, before, after), "type")
	for i, n := range []*jsonschema.Node{p.old, p.next} {
		if yes, ok := n.Always(); ok && !yes {
			f.answers[i] = append(f.answers[i], answerOf(n, ""))
		}
	}
	return a&b == 0
}

// allowed lists the canonical texts of enum or const, sorted; nil when any value
// is allowed.
func allowed(n *jsonschema.Node) []string {
	if !n.HasEnum && n.Const == nil {
		return nil
	}
	members := n.Enum
	if !n.HasEnum {
		members = []*jsontext.Value{n.Const}
	}
	out := make([]string, 0, len(members))
	for _, v := range members {
		out = append(out, canonicalText(v))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// canonicalText is one text per value: 1 and 1.0 are one value.
func canonicalText(v *jsontext.Value) string {
	switch v.Kind {
	case jsontext.Number:
		return string(jsonschema.ParseNumber(v.Text).Canonical(nil))
	case jsontext.Array:
		var parts []string
		for _, item := range v.Items {
			parts = append(parts, canonicalText(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case jsontext.Object:
		var parts []string
		for i := range v.Members {
			parts = append(parts, stringValue(v.Members[i].Name).String()+":"+canonicalText(v.Members[i].Value))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	default:
		return v.String()
	}
}

func includes(all, some []string) bool {
	for _, s := range some {
		if _, ok := slices.BinarySearch(all, s); !ok {
			return false
		}
	}
	return true
}

func (d *differ) values(p pairing) {
	a, b := allowed(p.old), allowed(p.next)
	if a == nil && b == nil || a != nil && b != nil && slices.Equal(a, b) {
		return
	}
	d.meter.Spend((len(a) + len(b)) / 4)
	written := func(n *jsonschema.Node) string {
		if n.HasEnum {
			return shown(n.Keyword("enum"))
		}
		return shown(n.Const)
	}
	before, after := written(p.old), written(p.next)
	switch {
	case a == nil:
		d.report(&enumNarrowed, p, before, after, "the values were narrowed to a list", "enum", "const")
	case b == nil:
		d.report(&enumWidened, p, before, after, "the list of values was dropped", "enum", "const")
	case includes(a, b):
		d.report(&enumNarrowed, p, before, after, "values were removed from the list", "enum", "const")
	case includes(b, a):
		d.report(&enumWidened, p, before, after, "values were added to the list", "enum", "const")
	default:
		d.report(&enumChanged, p, before, after, "the list of values changed", "enum", "const")
	}
}
