package protobuf

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// The directions, as they index a change's witnesses.
const (
	newReadsOld = 0
	oldReadsNew = 1
)

// The layers of payloads, in the order in which they are told.
var payloadLayers = [...]compat.Layer{compat.Wire, compat.JSONMapping}

// slot is a layer and a direction.
func slot(layer, direction int) int { return 2*layer + direction }

// differ compares two schemas.
type differ struct {
	old, next *model
	compiled  [2]schemas.Schema // as they were given
	meter     *compat.Meter
	proofs    *compat.Meter // of payloads tried
	changes   []compat.Change
	visits    []*visit
	known     map[messagePair]*visit
	enums     []*enumVisit
	knownEnum map[enumPair]*enumVisit
	failed    bool // out of budget
	brief     bool // nobody looks at payloads
	shown     int  // bytes of witnesses so far
	// collide tells, per direction, that two fields of a writer's message arrive
	// as one member of the reader's in JSON, by its JSON name and its own.
	collide [2]bool
}

type (
	messagePair struct{ old, next *message }
	enumPair    struct{ old, next *enum }
)

// visit is a pair of message types that some payload of one side is read with,
// and the way there.
type visit struct {
	o, n *message
	// elsewhere tells of either side that it stands in another text.
	elsewhere [2]bool
	pairs     []aligned
	gone      []*field // of the old side only
	come      []*field // of the new side only
	// live tells, per slot, whether a payload can get there at all, and from
	// how. A nil step is the root.
	live [4]bool
	from [4]*stepTo
}

// stepTo is a field on the way to a message type.
type stepTo struct {
	around *visit
	old    *field
	next   *field
}

// aligned is one field of both sides.
type aligned struct {
	o, n  *field
	moved bool // same name, another number
}

// renamed tells whether the field has one number and two names.
func (a aligned) renamed() bool { return a.o.name != a.n.name }

// enumVisit is a pair of enum types and a field that uses it.
type enumVisit struct {
	o, n      *enum
	elsewhere [2]bool
	live      [4]bool
	use       [4][2]*stepTo // the first field, and the first that a zero is written in
	list      bool          // only lists and maps use it
}

// sides gives writer and reader of a direction.
func sides[T any](o, n T, direction int) (writer, reader T) {
	if direction == newReadsOld {
		return o, n
	}
	return n, o
}

// align pairs the fields of two messages: by name, then by number where neither
// name lives on elsewhere.
func align(o, n *message) (pairs []aligned, gone, come []*field) {
	if len(o.fields) == len(n.fields) {
		same := true
		for i, f := range o.fields {
			if g := n.fields[i]; f.number != g.number || f.name != g.name {
				same = false
				break
			}
		}
		if same {
			pairs = make([]aligned, len(o.fields))
			for i, f := range o.fields {
				pairs[i] = aligned{o: f, n: n.fields[i]}
			}
			return pairs, nil, nil
		}
	}
	taken := make([]bool, len(n.fields))
	pairs = make([]aligned, 0, len(o.fields))
	for _, f := range o.fields {
		g := n.byField()[f.name]
		if g == nil {
			if g = n.withNumber(f.number); g != nil && o.byField()[g.name] != nil {
				g = nil
			}
		}
		if g == nil {
			gone = append(gone, f)
			continue
		}
		taken[g.index] = true
		pairs = append(pairs, aligned{f, g, f.number != g.number})
	}
	for i, g := range n.fields {
		if !taken[i] {
			come = append(come, g)
		}
	}
	return pairs, gone, come
}

// reach remembers that a pair of messages is read, and tells whether that is
// news.
func (d *differ) reach(o, n *message, live [4]bool, step *stepTo) bool {
	key := messagePair{o, n}
	v := d.known[key]
	news := v == nil
	if v == nil {
		v = &visit{o: o, n: n, elsewhere: [2]bool{d.old.isElsewhere(o.text), d.next.isElsewhere(n.text)}}
		d.known[key] = v
		d.visits = append(d.visits, v)
	}
	for s, on := range live {
		if w, _ := sides(o, n, s%2); on && !v.live[s] && !w.endless {
			v.live[s], v.from[s], news = true, step, true
		}
	}
	return news
}

// explore finds every pair of types that a payload may be read with.
func (d *differ) explore(queue []messagePair) {
	push := func(o, n *message, live [4]bool, step *stepTo) {
		if o.name == n.name && o.file != nil && n.file != nil && o.file.Same(n.file) {
			return // nothing can be different in it
		}
		if d.reach(o, n, live, step) {
			queue = append(queue, messagePair{o, n})
		}
	}
	for len(queue) > 0 {
		v := d.known[queue[0]]
		queue = queue[1:]
		if !d.meter.Spend(1 + len(v.o.fields) + len(v.n.fields)) {
			d.failed = true
			return
		}
		if v.pairs == nil {
			v.pairs, v.gone, v.come = align(v.o, v.n)
		}
		for _, a := range v.pairs {
			switch {
			case a.o.message != nil && a.n.message != nil:
				live, step := d.through(v, a), &stepTo{v, a.o, a.n}
				if live == ([4]bool{}) && a.o.message.local != a.n.message.local {
					continue
				}
				push(a.o.message, a.n.message, live, step)
			case a.o.enum != nil && a.n.enum != nil:
				d.use(a.o.enum, a.n.enum, d.through(v, a), &stepTo{v, a.o, a.n})
			}
		}
		for _, f := range v.gone {
			d.follow(v, f, newReadsOld, push)
		}
		for _, f := range v.come {
			d.follow(v, f, oldReadsNew, push)
		}
	}
}

// through tells in which slots the content of a field gets to the other side.
func (d *differ) through(v *visit, a aligned) (live [4]bool) {
	sameForm := (a.o.kind == protoreflect.GroupKind) == (a.n.kind == protoreflect.GroupKind)
	for dir := range 2 {
		w, r := sides(a.o, a.n, dir)
		_, rm := sides(v.o, v.n, dir)
		live[slot(0, dir)] = v.live[slot(0, dir)] && !a.moved && sameForm && (!w.packed || r.card.isMany())
		live[slot(1, dir)] = v.live[slot(1, dir)] && rm.byKey()[w.key] == r && jsonForm(w) == jsonForm(r)
	}
	return live
}

// jsonForm is the shape of a field's value in JSON.
func jsonForm(f *field) string {
	switch f.card {
	case mapped:
		return "object"
	case repeated:
		return "array"
	default:
		return "value"
	}
}

func (d *differ) use(o, n *enum, live [4]bool, step *stepTo) {
	key := enumPair{o, n}
	e := d.knownEnum[key]
	if e == nil {
		e = &enumVisit{o: o, n: n, list: true, elsewhere: [2]bool{d.old.isElsewhere(o.text), d.next.isElsewhere(n.text)}}
		d.knownEnum[key] = e
		d.enums = append(d.enums, e)
	}
	if step == nil {
		return
	}
	e.list = e.list && step.old.card.isMany()
	for s, on := range live {
		if !on {
			continue
		}
		if !e.live[s] {
			e.live[s], e.use[s][0] = true, step
		}
		w, _ := sides(step.old, step.next, s%2)
		m, _ := sides(step.around.o, step.around.n, s%2)
		if e.use[s][1] == nil && (w.card != implicit || m.isEntry) {
			e.use[s][1] = step
		}
	}
}

// changeCost is what telling a change takes, in steps: it holds the number of
// changes of one pair under what a machine bears.
const changeCost = 60

// told is what a change says about itself.
type told struct {
	old, next     schemas.Place
	elsewhere     [2]bool
	path          string
	text          string
	before, after string
	wire, json    compat.Effect
	source        compat.Effect
	witness       [4]*compat.Witness
}

// The effects of changes that hurt nobody, and of those of generated code.
var (
	reads     = compat.Effect{NewReadsOld: compat.Reads, OldReadsNew: compat.Reads}
	codeGone  = compat.Effect{NewReadsOld: compat.Refuses, OldReadsNew: compat.Reads}
	codeCome  = codeGone.Mirror()
	codeOther = compat.Effect{NewReadsOld: compat.Refuses, OldReadsNew: compat.Refuses}
)

func (t *told) set(layer, direction int, o compat.Outcome, w *compat.Witness) {
	e := &t.wire
	if layer == 1 {
		e = &t.json
	}
	if direction == newReadsOld {
		e.NewReadsOld = o
	} else {
		e.OldReadsNew = o
	}
	t.witness[slot(layer, direction)] = w
}

// calm is a told that hurts no payload.
func calm(old, next schemas.Place, path, text string) told {
	return told{old: old, next: next, path: path, text: text, wire: reads, json: reads, source: reads}
}

func (d *differ) report(rule *compat.Rule, t told) {
	if !d.meter.Spend(changeCost) {
		d.failed = true
		return
	}
	c := compat.Change{
		Rule: rule.ID, Old: t.old, New: t.next, Elsewhere: t.elsewhere, Path: t.path, Text: t.text,
		Before: t.before, After: t.after,
		Effects: map[compat.Layer]compat.Effect{compat.Wire: t.wire, compat.JSONMapping: t.json, compat.SourceCode: t.source},
	}
	for layer, name := range payloadLayers {
		if pair := [2]*compat.Witness{t.witness[slot(layer, 0)], t.witness[slot(layer, 1)]}; pair[0] != nil || pair[1] != nil {
			if c.Witness == nil {
				c.Witness = map[compat.Layer][2]*compat.Witness{}
			}
			c.Witness[name] = pair
		}
	}
	d.changes = append(d.changes, c)
}

// pathOf names a field by its message.
func pathOf(m *message, part string) string {
	if part == "" {
		return m.local
	}
	return m.local + "." + part
}

// within is told about something in the pair of v.
func (v *visit) within(old, next schemas.Place, part, format string, args ...any) told {
	t := calm(old, next, pathOf(v.o, part), fmt.Sprintf(format, args...))
	t.elsewhere = v.elsewhere
	return t
}

// compare tells the changes of one pair of messages.
func (d *differ) compare(v *visit) {
	if v.pairs == nil {
		v.pairs, v.gone, v.come = align(v.o, v.n)
	}
	pairs, gone, come := v.pairs, v.gone, v.come
	if !d.meter.Spend(1 + len(pairs)) {
		d.failed = true
		return
	}
	if v.o.same && v.n.same {
		return
	}
	// Where the keys are the same, one message tells for both; the new one has been
	// asked for its keys before, where it is compared with many.
	same := slices.EqualFunc(v.o.fields, v.n.fields, func(f, g *field) bool { return f.key == g.key })
	for dir := range d.collide {
		w, r := sides(v.o, v.n, dir)
		if same {
			w, r = v.n, v.n
		}
		if v.live[slot(1, dir)] && collides(w, r) {
			d.collide[dir] = true
		}
	}
	for _, a := range pairs {
		d.field(v, a)
	}
	for _, f := range gone {
		d.removed(v, f)
	}
	for _, f := range come {
		d.added(v, f)
	}
	if len(v.o.oneofs)+len(v.n.oneofs) > 0 {
		d.oneofs(v)
	}
	d.reservations(v)
	d.messageOptions(v)
}

// collides tells whether two fields of a writer's message are one for the
// reader's in JSON: a payload with both has a member twice.
func collides(w, r *message) bool {
	met, known := make([]bool, len(r.fields)), r.byKey()
	for _, f := range w.fields {
		if g := known[f.key]; g != nil {
			if met[g.index] {
				return true
			}
			met[g.index] = true
		}
	}
	return false
}

func (d *differ) messageOptions(v *visit) {
	if !slices.Equal(v.o.ranges, v.n.ranges) {
		split := func(m *message) (r reservation) {
			for i := 0; i < len(m.ranges); i += 2 {
				r.ranges = append(r.ranges, [2]int64{int64(m.ranges[i]), int64(m.ranges[i+1])})
			}
			r.tidy()
			return r
		}
		before, after := split(v.o), split(v.n)
		var lost, won []string
		for _, r := range before.ranges {
			for _, part := range minus(r, after.ranges) {
				lost = append(lost, rangeText(part))
			}
		}
		for _, r := range after.ranges {
			for _, part := range minus(r, before.ranges) {
				won = append(won, rangeText(part))
			}
		}
		if len(lost) > 0 {
			t := v.within(v.o.place, v.n.place, "", "%s can no longer be extended with %s", v.o.local, strings.Join(lost, ", "))
			t.before, t.source = strings.Join(lost, ", "), codeGone
			d.report(&rangeRemoved, t)
		}
		if len(won) > 0 {
			t := v.within(v.o.place, v.n.place, "", "%s can be extended with %s", v.o.local, strings.Join(won, ", "))
			t.after, t.source = strings.Join(won, ", "), codeCome
			d.report(&rangeAdded, t)
		}
	}
	if v.o.options != v.n.options {
		d.report(&optionChanged, v.within(v.o.place, v.n.place, "", "options of message %s changed", v.o.local))
	}
}
