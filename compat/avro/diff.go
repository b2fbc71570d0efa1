package avro

import (
	"strconv"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// differ walks two schemas side by side and notes what is different. Every pair
// of definitions is looked at once, wherever and however often it is used.
type differ struct {
	old, next *avro.Schema
	meter     *compat.Meter
	byNew     *resolution // new reads old
	byOld     *resolution // old reads new
	seen      map[visit]bool
	known     map[identity]int // change → index; made when something is met again
	met       map[pair]bool    // definitions that were compared
	effects   map[compat.Effect]map[compat.Layer]compat.Effect
	effect    compat.Effect // the last one asked of effects
	shared    map[compat.Layer]compat.Effect
	*notes
	own    [2]map[*avro.Named]bool // what old's and new's own texts define
	steps  []step
	asked  [2]bool // is the whole pair to be proved or refuted, by direction?
	brief  bool    // no payload is looked at
	looked [2]int  // changes that a witness was looked for
	last   [2]reading
	shown  [2]int // bytes of witnesses so far
	heard  int    // violations looked at beyond the first few of each payload

	ambiguities int // fields that fit two of the other side
}

// visit is a pair of definitions, the directions in which one is read with the
// other, those in which no payload gets there, what is told of them, and what
// becomes of values whose name the other one does not know.
type visit struct {
	o, n        *avro.Named
	live, blind [2]bool
	unaligned   bool
	misnamed    compat.Effect
}

// hurt is where a witness has to reach, per direction, and what it has to hold
// there: a branch or symbol of the writer, or -1 for any telling value. A place
// that a direction never reads is not reached.
type hurt struct {
	reached [2]bool
	outcome [2]compat.Outcome // at the place
	step    [2]*step
	pick    [2]int
	types   [2]typePair
	moved   [2][]int // fields of old and of new that stand elsewhere on the other side
}

// reach takes the place for the directions that have none yet, or one where less
// is hurt.
func (h *hurt) reach(p place, e compat.Effect) {
	for d, outcome := range [2]compat.Outcome{newReadsOld: e.NewReadsOld, oldReadsNew: e.OldReadsNew} {
		if p.live[d] && !p.blind[d] && (!h.reached[d] || h.outcome[d].Combine(outcome) != h.outcome[d]) {
			h.reached[d], h.outcome[d], h.step[d], h.types[d] = true, outcome, p.step, typesOf(p)[d]
		}
	}
}

func newDiffer(old, next *avro.Schema, budget compat.Budget) *differ {
	meter := budget.Meter()
	return &differ{
		old: old, next: next, meter: meter,
		byNew: newResolution(budget.Meter(), newFinite(old, meter)),
		byOld: newResolution(budget.Meter(), newFinite(next, meter)),
		seen:  map[visit]bool{}, met: map[pair]bool{}, effects: map[compat.Effect]map[compat.Layer]compat.Effect{}, notes: books.Get().(*notes), own: [2]map[*avro.Named]bool{ownOf(old), ownOf(next)},
	}
}

// ownOf is nil when everything is the schema's own.
func ownOf(s *avro.Schema) map[*avro.Named]bool {
	own := s.Definitions()
	if len(own) == len(s.Known()) {
		return nil
	}
	set := make(map[*avro.Named]bool, len(own))
	for _, n := range own {
		set[n] = true
	}
	return set
}

// place is one aligned pair of types.
type place struct {
	o, n *avro.Type
	// byOld and byNew are what each side reads with here: the union around the
	// type, or the type itself.
	byOld, byNew *avro.Type
	path         path
	step         *step
	live         [2]bool // does new read old, old read new, at this place at all?
	blind        [2]bool // per direction: the writer has no payload of finite size that gets here
	again        bool    // may the pair have been met before?
	unaligned    bool    // is it told of hurts alone, as what is different is told of other pairs?
	elsewhere    [2]bool // is the place in a text that old, that new refers to?
}

// path is a logical path: the full name of the definition around, a field of
// it, and what is nested in there without a name. It starts anew at every
// definition, so that it is the same wherever that is used.
type path struct{ root, field, nested string }

func (p path) String() string {
	if p.field == "" {
		return p.root + p.nested
	}
	return p.root + "." + p.field + p.nested
}

// part is the pair one step below p.
func (d *differ) part(p place, o, n *avro.Type, path path, oldIndex, newIndex int) place {
	if len(d.steps) == cap(d.steps) {
		d.steps = make([]step, 0, 64) // the full ones stay where they are, since places point into them
	}
	d.steps = append(d.steps, step{up: p.step, old: oldIndex, new: newIndex})
	return place{o: o, n: n, byOld: o, byNew: n, path: path, live: p.live, blind: p.blind, again: p.again, unaligned: p.unaligned, elsewhere: p.elsewhere, step: &d.steps[len(d.steps)-1]}
}

// whole is what each side makes of everything the other has here.
func (d *differ) whole(p place) compat.Effect {
	return compat.Effect{NewReadsOld: d.byNew.of(p.byNew, p.o), OldReadsNew: d.byOld.of(p.byOld, p.n)}
}

// told is what a change says about itself.
type told struct {
	old, new      placed
	path          string
	text          string
	before, after string
	detail        string // tells changes of one rule at one place apart
	effect        compat.Effect
	pick          [2]int
	moved         [2][]int
}

// none says that any value of the writer shows the hurt.
var none = [2]int{-1, -1}

func (d *differ) report(rule *compat.Rule, p place, t told) {
	if !p.live[newReadsOld] {
		t.effect.NewReadsOld = compat.Reads
	}
	if !p.live[oldReadsNew] {
		t.effect.OldReadsNew = compat.Reads
	}
	if p.unaligned && t.effect == reads {
		return
	}
	key := identity{rule.ID, t.old, t.new, t.detail}
	if i, ok := d.find(key, p.again); ok {
		d.changes[i].Effects = d.onData(d.changes[i].Effects[compat.Data].Combine(t.effect))
		d.hurts[i].reach(p, t.effect)
		return
	}
	if t.path == "" {
		t.path = p.path.String()
	}
	if d.known != nil {
		d.known[key] = len(d.changes)
	}
	d.keys = append(d.keys, key)
	d.changes = append(d.changes, compat.Change{
		Rule: rule.ID, Old: t.old.Place(), New: t.new.Place(), Elsewhere: p.elsewhere, Path: t.path, Text: t.text, Before: t.before, After: t.after,
		Effects: d.onData(t.effect),
	})
	h := hurt{pick: t.pick, moved: t.moved}
	h.reach(p, t.effect)
	d.hurts = append(d.hurts, h)
}

// find looks for a change that was reported before. While every place is met for
// the first time there is none, and most pairs end so.
func (d *differ) find(key identity, again bool) (i int, ok bool) {
	if d.known == nil && again {
		d.known = make(map[identity]int, len(d.keys))
		for i, key := range d.keys {
			d.known[key] = i
		}
	}
	if d.known == nil {
		return 0, false
	}
	i, ok = d.known[key]
	return i, ok
}

// onData is an effect as changes hold it. Those of one pair share a few maps, and
// none is written to once it is made.
func (d *differ) onData(e compat.Effect) map[compat.Layer]compat.Effect {
	if d.shared != nil && d.effect == e {
		return d.shared
	}
	d.effect, d.shared = e, d.effects[e]
	if d.shared == nil {
		d.shared = map[compat.Layer]compat.Effect{compat.Data: e}
		d.effects[e] = d.shared
	}
	return d.shared
}

// reads is the effect of a change that hurts nobody.
var reads = compat.Effect{NewReadsOld: compat.Reads, OldReadsNew: compat.Reads}

// types compares an aligned pair.
func (d *differ) types(p place) {
	if !d.meter.Spend(1) {
		return
	}
	if p.o.Kind == avro.Union || p.n.Kind == avro.Union {
		d.unions(p)
		return
	}
	if p.o.Named != nil && p.n.Named != nil && p.o.Kind == p.n.Kind {
		d.named(p)
		return
	}
	if p.o.Kind == p.n.Kind {
		d.attributes(p, p.o, p.n, p.o.Attributes, p.n.Attributes, p.o.Logical, p.n.Logical)
	} else if !d.kinds(p) {
		return
	}
	d.logical(p, p.o, p.n, p.o.Logical, p.n.Logical)
	switch {
	case p.o.Kind != p.n.Kind:
	case p.o.Kind == avro.Array:
		p.path.nested += "[]"
		d.types(d.part(p, p.o.Items, p.n.Items, p.path, 0, 0))
	case p.o.Kind == avro.Map:
		p.path.nested += "{}"
		d.types(d.part(p, p.o.Items, p.n.Items, p.path, 0, 0))
	}
}

// kinds reports a pair of different kinds, and tells whether one promotes to
// the other, so that there is more to compare.
func (d *differ) kinds(p place) bool {
	t := told{old: p.o, new: p.n, before: word(p.o), after: word(p.n), pick: none, effect: d.whole(p)}
	rule := &typeChanged
	switch {
	case p.o.Kind == avro.String && p.n.Kind == avro.Bytes:
		rule, t.text = &stringToBytes, "a string became bytes; bytes that are no UTF-8 are damaged by old readers"
	case p.o.Kind == avro.Bytes && p.n.Kind == avro.String:
		rule, t.text = &bytesToString, "bytes became a string; bytes that are no UTF-8 are damaged by new readers"
	case promotes(p.o.Kind, p.n.Kind):
		rule, t.text = &typeWidened, t.before+" was widened to "+t.after
	case promotes(p.n.Kind, p.o.Kind):
		rule, t.text = &typeNarrowed, t.before+" was narrowed to "+t.after
	default:
		t.text = "the type changed from " + t.before + " to " + t.after
	}
	d.report(rule, p, t)
	return rule.ID != typeChanged.ID
}

// named compares two definitions of one kind.
func (d *differ) named(p place) {
	o, n := p.o.Named, p.n.Named
	key := visit{o, n, p.live, p.blind, p.unaligned, d.misnamed(p)}
	if d.seen[key] {
		return
	}
	d.seen[key] = true
	both := pair{readerNamed: n, writerNamed: o}
	p.again = p.again || d.met[both]
	d.met[both] = true
	p.blind[newReadsOld] = p.blind[newReadsOld] || d.byNew.finite.cost(p.o) >= huge
	p.blind[oldReadsNew] = p.blind[oldReadsNew] || d.byOld.finite.cost(p.n) >= huge
	p.path = path{root: n.Full}
	p.elsewhere = [2]bool{d.own[0] != nil && !d.own[0][o], d.own[1] != nil && !d.own[1][n]}
	d.names(p, key.misnamed)
	// A reader that refuses the name never gets to what is inside.
	p.live[newReadsOld] = p.live[newReadsOld] && namesMatch(n, o)
	p.live[oldReadsNew] = p.live[oldReadsNew] && namesMatch(o, n)
	d.doc(p, o, n, o.Doc, n.Doc)
	d.attributes(p, o, n, o.Attributes, n.Attributes, o.Logical, n.Logical)
	d.logical(p, o, n, o.Logical, n.Logical)
	switch o.Kind {
	case avro.Record:
		d.records(p)
	case avro.Enum:
		d.enums(p)
	case avro.Fixed:
		if o.Size != n.Size {
			d.report(&fixedSize, p, told{
				old: o, new: n, pick: none, before: strconv.Itoa(o.Size), after: strconv.Itoa(n.Size),
				text:   "the size of " + n.Full + " changed from " + strconv.Itoa(o.Size) + " to " + strconv.Itoa(n.Size) + " bytes",
				effect: compat.Effect{NewReadsOld: compat.Refuses, OldReadsNew: compat.Refuses},
			})
		}
	default: // only these three have names
	}
}

// misnamed is what becomes of the values of two definitions of which one does not
// know the other's name: another branch of the union around may take them.
func (d *differ) misnamed(p place) compat.Effect {
	e := reads
	if !namesMatch(p.n.Named, p.o.Named) {
		e.NewReadsOld = d.byNew.of(p.byNew, p.o)
	}
	if !namesMatch(p.o.Named, p.n.Named) {
		e.OldReadsNew = d.byOld.of(p.byOld, p.n)
	}
	return e
}

// names compares two full names and the aliases beside them.
func (d *differ) names(p place, misnamed compat.Effect) {
	o, n := p.o.Named, p.n.Named
	newKnows, oldKnows := has(n.Aliases, o.Full), has(o.Aliases, n.Full)
	if o.Full == n.Full && len(o.Aliases) == 0 && len(n.Aliases) == 0 {
		return
	}
	t := told{old: o, new: n, before: o.Full, after: n.Full, pick: none, effect: reads}
	if o.Name == n.Name {
		if o.Full != n.Full {
			t.text = o.Kind.String() + " " + o.Full + " moved to " + n.Full
			d.report(&namespaceChanged, p, t)
		}
	} else {
		rule := &typeRenamed
		t.effect = misnamed
		t.text = o.Kind.String() + " " + o.Full + " was renamed to " + n.Full
		switch {
		case newKnows && oldKnows:
			rule, t.text = &typeRenamedBoth, t.text+", and each side knows the other's name as an alias"
		case newKnows:
			rule, t.text = &typeRenamedAlias, t.text+", which lists the old name as an alias"
		case oldKnows:
			rule, t.text = &typeRenamedBack, t.text+", a name that the old schema lists as an alias"
		default:
			t.text += " without an alias"
		}
		d.report(rule, p, t)
	}
	before, after := without(o.Aliases, o.Full, n.Full), without(n.Aliases, o.Full, n.Full)
	if before != after {
		d.report(&typeAliases, p, told{
			old: o, new: n, before: before, after: after, effect: reads,
			text: "the aliases of " + n.Full + " changed from [" + before + "] to [" + after + "]",
		})
	}
}
