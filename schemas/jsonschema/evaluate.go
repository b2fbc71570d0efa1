package jsonschema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema/regex"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// evaluation judges a value on its tape. It spends steps; when they run out, out is set
// and no answer means anything any more.
//
// It goes over the value twice at most: first for the answer alone, leaving at
// the first violation; then, after a refusal, to collect the violations.
type evaluation struct {
	tape
	steps   int
	out     bool
	formats bool
	dynamic bool
	verdict bool // a refusal is not explained
	depth   int

	// Memoising costs more than it saves on an ordinary pair, so it begins when
	// steps is below memoFrom.
	memoFrom int
	memo     map[memoKey]memoEntry
	scopes   map[scope]*scope

	// skip holds values that are not judged: embedded schemas of another
	// dialect, while a schema is held to its meta-schema.
	skip map[int32]bool

	collect    bool
	brief      bool // while collecting: do not look into alternatives
	deep       bool // while collecting: tell also what each alternative refuses
	most       int
	scratch    []byte
	violations []schemas.Violation
	pointers   int // bytes of pointers collected
	path       []string
}

// mostPointers bounds the bytes of pointers in one answer: a hostile name of
// half a megabyte must not be told fifty times.
const mostPointers = 1 << 16

// stop tells whether there is no reason to look further after a violation.
func (e *evaluation) stop() bool { return !e.collect || e.out || len(e.violations) >= e.most }

type memoKey struct {
	node  *Node
	value int32
	scope *scope
	marks bool
}

type memoEntry struct {
	ok    bool
	marks *marks
}

// scope is the chain of schema resources entered, innermost first. It is kept
// only when the schema has dynamic references.
type scope struct {
	resource *resource
	outer    *scope
	depth    int
}

// deepestNodes bounds the recursion over nodes that judge one value.
const deepestNodes = 20_000

func (e *evaluation) spend(n int) bool {
	if e.steps -= n; e.steps < 0 {
		e.out = true
	}
	return !e.out
}

// enter adds r to the chain when it can be an answer: the outermost one that
// declares a name is, so a second time adds nothing.
func (e *evaluation) enter(r *resource, outer *scope) *scope {
	if !e.dynamic || r.outermost == nil && len(r.dynamic) == 0 {
		return outer
	}
	depth := 1
	if outer != nil {
		depth = outer.depth + 1
		e.spend(outer.depth / 8)
	}
	for s := outer; s != nil; s = s.outer {
		if s.resource == r {
			return outer
		}
	}
	s := scope{r, outer, depth}
	if known := e.scopes[s]; known != nil {
		return known
	}
	if e.scopes == nil {
		e.scopes = map[scope]*scope{}
	}
	e.scopes[s] = &s
	return &s
}

// node judges v by n. m collects what was evaluated, for the unevaluated
// keywords around; nil when nobody asks.
func (e *evaluation) node(n *Node, v int32, s *scope, m *marks) bool {
	if e.skip != nil && e.skip[v] {
		return true
	}
	if e.depth >= deepestNodes {
		e.out = true
	}
	if !e.spend(1) || e.collect && e.stop() {
		return false
	}
	if n.Boolean {
		return n.Value.Bool || e.fail(n, "", v, "nothing is allowed here")
	}
	s = e.enter(n.resource, s)
	if n.uses < 2 || e.steps >= e.memoFrom {
		e.depth++
		ok := e.judge(n, v, s, m)
		e.depth--
		return ok
	}
	return e.remember(n, v, s, m)
}

// remember is judge with a memo.
func (e *evaluation) remember(n *Node, v int32, s *scope, m *marks) bool {
	e.depth++
	defer func() { e.depth-- }()
	if e.collect {
		// A remembered yes needs no second look; only a no has more to tell.
		own := m.fresh()
		if e.quietly(n, v, s, own) {
			m.joinIf(own)
			return true
		}
		return !e.out && len(e.violations) < e.most && e.judge(n, v, s, m)
	}
	key := memoKey{n, v, s, m != nil}
	entry, known := e.memo[key]
	if !known {
		if m != nil {
			entry.marks = &marks{}
		}
		entry.ok = e.judge(n, v, s, entry.marks)
		if e.out {
			return false
		}
		if e.memo == nil {
			e.memo = map[memoKey]memoEntry{}
		}
		e.memo[key] = entry
	}
	if entry.ok && m != nil {
		m.join(entry.marks)
	}
	return entry.ok
}

// judge is node without boolean schemas and memo.
func (e *evaluation) judge(n *Node, v int32, s *scope, outer *marks) bool {
	m := outer
	if n.UnevaluatedItems != nil && e.tokens[v].kind == jsontext.Array || n.UnevaluatedProperties != nil && e.tokens[v].kind == jsontext.Object {
		m = &marks{}
	}
	ok := e.anyKind(n, v)
	if !ok && !e.collect {
		return false
	}
	switch e.tokens[v].kind {
	case jsontext.Number:
		ok = e.number(n, v) && ok
	case jsontext.String:
		ok = e.string(n, v) && ok
	case jsontext.Array:
		ok = (ok || e.collect) && e.array(n, v, s, m) && ok
	case jsontext.Object:
		ok = (ok || e.collect) && e.object(n, v, s, m) && ok
	default: // null and the booleans have no keywords of their own
	}
	if !ok && !e.collect || e.out {
		return false
	}
	if !n.isAlone {
		if ok = e.combined(n, v, s, m) && ok; !ok && !e.collect {
			return false
		}
	}
	if m != outer {
		ok = e.unevaluated(n, v, s, m) && ok
		if ok && outer != nil {
			outer.join(m)
		}
	}
	return ok && !e.out
}

// fail notes a violation, when they are collected, and is always false.
func (e *evaluation) fail(n *Node, keyword string, v int32, format string, args ...any) bool {
	if e.collect && !e.stop() {
		var room [128]byte
		p := room[:0]
		for _, token := range e.path {
			p = appendToken(p, token)
		}
		rule := keyword
		if rule == "" {
			rule = "false"
		}
		e.violations = append(e.violations, schemas.Violation{
			Kind: schemas.Invalid, Payload: schemas.Pointer(p), Schema: n.where(keyword), Offset: e.offset(v), Rule: rule,
			Text: fmt.Sprintf(format, args...),
		})
		if e.pointers += len(p); e.pointers > mostPointers {
			e.most = len(e.violations)
		}
	}
	return false
}

// under judges the value of a member or item.
func (e *evaluation) under(n *Node, v int32, s *scope, name string, index int) bool {
	if !e.collect {
		return e.node(n, v, s, nil)
	}
	if index >= 0 {
		name = strconv.Itoa(index)
	}
	e.path = append(e.path, name)
	ok := e.node(n, v, s, nil)
	e.path = e.path[:len(e.path)-1]
	return ok
}

// quietly judges without collecting.
func (e *evaluation) quietly(n *Node, v int32, s *scope, m *marks) bool {
	collect := e.collect
	e.collect = false
	ok := e.node(n, v, s, m)
	e.collect = collect
	return ok
}

func (e *evaluation) anyKind(n *Node, v int32) bool {
	ok := true
	if n.HasType && !e.holds(n.Types, v) {
		ok = e.collect && e.fail(n, "type", v, "the value is %s, not %s", e.kindText(v), strings.Join(n.Types.Names(), " or "))
	}
	if n.constant == nil || !ok && !e.collect {
		return ok
	}
	if !e.spend(e.size(v) / 16) {
		return false
	}
	if allowed := e.isConstant(n, v); allowed || !e.collect {
		return ok && allowed
	}
	switch {
	case n.Const != nil && !n.HasEnum:
		return e.fail(n, "const", v, "the value is not the one that is allowed, %s", shortValue(n.Const))
	case len(n.Enum) == 0:
		return e.fail(n, "enum", v, "no value at all is allowed")
	}
	return e.fail(n, "enum", v, "the value is none of %s", choices(n.Enum))
}

// isConstant tells whether a value is one of an enum, or the const.
func (e *evaluation) isConstant(n *Node, v int32) bool {
	if n.texts != nil {
		return e.tokens[v].kind == jsontext.String && n.texts[e.content(v)]
	}
	e.scratch = e.appendCanonical(e.scratch[:0], v)
	return n.constant[string(e.scratch)]
}

// holds tells whether a value is of one of the kinds. A number without a
// fraction is an integer in every draft.
func (e *evaluation) holds(k Kinds, v int32) bool {
	switch t := &e.tokens[v]; t.kind {
	case jsontext.Null:
		return k&KindNull != 0
	case jsontext.Bool:
		return k&KindBoolean != 0
	case jsontext.Number:
		return k&KindNumber != 0 || k&KindInteger != 0 && (t.yes || isInteger(e.content(v)))
	case jsontext.String:
		return k&KindString != 0
	case jsontext.Array:
		return k&KindArray != 0
	default:
		return k&KindObject != 0
	}
}

func (e *evaluation) kindText(v int32) string {
	return kindWords(e.tokens[v].kind, e.text[e.tokens[v].start:e.tokens[v].end])
}

func kindText(v *jsontext.Value) string { return kindWords(v.Kind, v.Text) }

func kindWords(kind jsontext.Kind, number string) string {
	switch kind {
	case jsontext.Number:
		if isInteger(number) {
			return "an integer"
		}
		return "a number"
	case jsontext.Null:
		return "null"
	case jsontext.Array, jsontext.Object:
		return "an " + kind.String()
	default:
		return "a " + kind.String()
	}
}

// choices lists what an enum allows, or how much.
func choices(members []*jsontext.Value) string {
	const most = 120
	var texts []string
	size := 0
	for _, m := range members {
		if size += m.End - m.Start; size > most {
			return fmt.Sprintf("the %d that are allowed", len(members))
		}
		texts = append(texts, m.String())
	}
	return strings.Join(texts, ", ")
}

func shortValue(v *jsontext.Value) string {
	if v.End-v.Start > 200 {
		return kindText(v)
	}
	return v.String()
}

func (e *evaluation) number(n *Node, v int32) bool {
	if n.Minimum == nil && n.Maximum == nil && n.ExclusiveMinimum == nil && n.ExclusiveMaximum == nil && n.MultipleOf == nil {
		return true
	}
	text := e.content(v)
	if !e.spend(1 + len(text)/16) {
		return false
	}
	x, ok := operand{text: text, small: parseSmall(text)}, true
	if n.Minimum != nil && x.compare(n.Minimum) < 0 {
		ok = e.fail(n, "minimum", v, "the number is below %s", n.Minimum.Text)
	}
	if n.Maximum != nil && x.compare(n.Maximum) > 0 {
		ok = e.fail(n, "maximum", v, "the number is above %s", n.Maximum.Text)
	}
	if n.ExclusiveMinimum != nil && x.compare(n.ExclusiveMinimum) <= 0 {
		ok = e.fail(n, "exclusiveMinimum", v, "the number is not above %s", n.ExclusiveMinimum.Text)
	}
	if n.ExclusiveMaximum != nil && x.compare(n.ExclusiveMaximum) >= 0 {
		ok = e.fail(n, "exclusiveMaximum", v, "the number is not below %s", n.ExclusiveMaximum.Text)
	}
	if n.MultipleOf != nil {
		if !e.spend((len(text) + len(n.MultipleOf.Text)) / 4) {
			return false
		}
		if !x.isMultipleOf(n.MultipleOf) {
			ok = e.fail(n, "multipleOf", v, "the number is no multiple of %s", n.MultipleOf.Text)
		}
	}
	return ok
}

func (e *evaluation) string(n *Node, v int32) bool {
	if n.MinLength == 0 && n.MaxLength == Unlimited && n.Pattern == nil && (n.Format == "" || !e.formats) {
		return true
	}
	text, ok := e.content(v), true
	if n.MinLength > 0 || n.MaxLength < Unlimited {
		if !e.spend(len(text) / 64) {
			return false
		}
		count := utf8.RuneCountInString(text)
		if count < n.MinLength {
			ok = e.fail(n, "minLength", v, "the string has %d characters, under %d", count, n.MinLength)
		}
		if count > n.MaxLength {
			ok = e.fail(n, "maxLength", v, "the string has %d characters, over %d", count, n.MaxLength)
		}
	}
	if n.Pattern != nil && (ok || e.collect) && !e.matches(n.Pattern, text) {
		ok = e.fail(n, "pattern", v, "the string does not match %s", short(n.Pattern.String()))
	}
	if e.formats && n.Format != "" && (ok || e.collect) {
		if !e.spend(len(text) / 16) {
			return false
		}
		if !hasFormat(n.Format, text) {
			ok = e.fail(n, "format", v, "the string has not the format %s", short(n.Format))
		}
	}
	return ok
}

// matches runs a pattern. A broken one has been reported when the schema was
// read; it matches nothing.
func (e *evaluation) matches(p *regex.Pattern, s string) bool {
	if p == nil {
		return false
	}
	ok, decided := p.Match(s, &e.steps)
	if !decided {
		e.out = true
	}
	return ok && decided
}
