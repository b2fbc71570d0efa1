package avro

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// fieldPairs aligns the fields of two records, or the branches of two unions.
type fieldPairs struct {
	ofOld, ofNew []int     // index on the other side, or -1
	byNew, byOld *matching // records: who fills whom when new reads old, when old reads new
}

func (f *fieldPairs) join(i, j int) { f.ofOld[i], f.ofNew[j] = j, i }

func unpaired(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = -1
	}
	return list
}

// align pairs fields by name, then where a reader fills one from the other by an
// alias, and last where one was taken away and another of the same type stands
// in its place: that is a rename. Every step treats the two sides alike.
func (d *differ) align(o, n *avro.Named) *fieldPairs {
	f := &fieldPairs{
		ofOld: unpaired(len(o.Fields)), ofNew: unpaired(len(n.Fields)),
		byNew: d.byNew.match(n, o), byOld: d.byOld.match(o, n),
	}
	byOld := d.byOld.fieldsOf(o)
	for j, field := range n.Fields {
		if match := byOld.get(field.Name); match != nil {
			f.join(match.Index, j)
		}
	}
	type candidate struct{ i, j int }
	var aliased []candidate
	for j, field := range n.Fields {
		if f.ofNew[j] < 0 && len(field.Aliases) > 0 {
			if source := f.byNew.source[j]; source != nil && f.ofOld[source.Index] < 0 {
				aliased = append(aliased, candidate{source.Index, j})
			}
		}
	}
	for i, field := range o.Fields {
		if f.ofOld[i] < 0 && len(field.Aliases) > 0 {
			if source := f.byOld.source[i]; source != nil && f.ofNew[source.Index] < 0 {
				aliased = append(aliased, candidate{i, source.Index})
			}
		}
	}
	slices.SortFunc(aliased, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.i+a.j, b.i+b.j), cmp.Compare(min(a.i, a.j), min(b.i, b.j)), cmp.Compare(a.i, b.i))
	})
	for _, c := range aliased {
		if f.ofOld[c.i] < 0 && f.ofNew[c.j] < 0 {
			f.join(c.i, c.j)
		}
	}
	d.guessRenames(f, o, n)
	return f
}

// guessRenames pairs leftover fields that stand equally far behind the same
// pair of kept fields and have the same type.
func (d *differ) guessRenames(f *fieldPairs, o, n *avro.Named) {
	type anchor struct{ i, j, after int }
	left := map[anchor]int{}
	at := anchor{-1, -1, 0}
	for i := range o.Fields {
		if j := f.ofOld[i]; j >= 0 {
			at = anchor{i, j, 0}
			continue
		}
		at.after++
		left[at] = i
	}
	if len(left) == 0 {
		return
	}
	at = anchor{-1, -1, 0}
	var pairs [][2]int
	for j := range n.Fields {
		if i := f.ofNew[j]; i >= 0 {
			at = anchor{i, j, 0}
			continue
		}
		at.after++
		if i, ok := left[at]; ok && d.alike(o.Fields[i].Type, n.Fields[j].Type) {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	for _, p := range pairs {
		f.join(p[0], p[1])
	}
}

// alike tells whether two types are spelled the same, definitions by name.
func (d *differ) alike(o, n *avro.Type) bool {
	d.meter.Spend(1)
	switch {
	case o.Kind != n.Kind || o.Logical != n.Logical:
		return false
	case o.Named != nil:
		return o.Named.Full == n.Named.Full
	case o.Items != nil:
		return d.alike(o.Items, n.Items)
	}
	return slices.EqualFunc(o.Branches, n.Branches, d.alike)
}

func (d *differ) records(p place) {
	o, n := p.o.Named, p.n.Named
	if !d.meter.Spend(len(o.Fields) + len(n.Fields)) {
		return
	}
	pairs := d.align(o, n)
	for j, field := range n.Fields {
		if i := pairs.ofNew[j]; i >= 0 {
			d.fields(p, pairs, o.Fields[i], field)
		} else {
			d.added(p, pairs.byNew, field)
		}
	}
	for i, field := range o.Fields {
		if pairs.ofOld[i] < 0 {
			d.removed(p, pairs.byOld, field)
		}
	}
	d.crossed(p, pairs)
	if !ascending(pairs.ofOld) {
		d.report(&fieldsReordered, p, told{
			old: o, new: n, effect: reads, moved: [2][]int{elsewhere(pairs.ofOld), elsewhere(pairs.ofNew)},
			text: "the fields of " + n.Full + " stand in another order",
		})
	}
}

// elsewhere lists the indexes that are paired with another one.
func elsewhere(list []int) (moved []int) {
	for i, other := range list {
		if other >= 0 && other != i {
			moved = append(moved, i)
		}
	}
	return moved
}

// crossed compares the fields that fill each other in one direction only, and
// were aligned with others: aliases of the two sides may cross.
func (d *differ) crossed(p place, pairs *fieldPairs) {
	o, n := p.o.Named, p.n.Named
	pair := func(i, j, direction int) {
		inner := d.part(p, o.Fields[i].Type, n.Fields[j].Type, path{root: n.Full, field: n.Fields[j].Name}, i, j)
		inner.live[1-direction], inner.again = false, true
		d.types(inner)
	}
	for j := range n.Fields {
		if source := pairs.byNew.source[j]; source != nil && pairs.ofNew[j] != source.Index && !pairs.byNew.isAmbiguous(n.Fields[j]) {
			pair(source.Index, j, newReadsOld)
		}
	}
	for i := range o.Fields {
		if source := pairs.byOld.source[i]; source != nil && pairs.ofOld[i] != source.Index && !pairs.byOld.isAmbiguous(o.Fields[i]) {
			pair(i, source.Index, oldReadsNew)
		}
	}
}

// ascending tells whether the numbers that are not negative only ever grow.
func ascending(list []int) bool {
	last := -1
	for _, n := range list {
		if n < 0 {
			continue
		}
		if n < last {
			return false
		}
		last = n
	}
	return true
}

// added reports a field that only the new record has.
func (d *differ) added(p place, m *matching, field *avro.Field) {
	o, n := p.o.Named, p.n.Named
	t := told{
		old: o, new: field, path: n.Full + "." + field.Name, after: word(field.Type), pick: none,
		effect: compat.Effect{NewReadsOld: d.byNew.field(m, field), OldReadsNew: compat.Reads},
	}
	rule := &fieldAddedBare
	switch {
	case field.Default == nil:
		t.text = "field " + field.Name + " was added without a default"
	case d.byNew.usable(field):
		rule, t.text = &fieldAdded, "field "+field.Name+" was added with a default"
		t.effect.NewReadsOld = compat.Reads
	default:
		rule, t.text = &fieldAddedBroken, "field "+field.Name+" was added with a default that is no value of its type"
	}
	d.report(rule, p, t)
}

// removed reports a field that only the old record has.
func (d *differ) removed(p place, m *matching, field *avro.Field) {
	n := p.n.Named
	t := told{
		old: field, new: n, path: n.Full + "." + field.Name, before: word(field.Type), pick: none,
		effect: compat.Effect{NewReadsOld: compat.Reads, OldReadsNew: d.byOld.field(m, field)},
	}
	rule := &fieldRemovedBare
	switch {
	case field.Default == nil:
		t.text = "field " + field.Name + ", which had no default, was removed"
	case d.byOld.usable(field):
		rule, t.text = &fieldRemoved, "field "+field.Name+", which had a default, was removed"
		t.effect.OldReadsNew = compat.Reads
	default:
		rule, t.text = &fieldRemovedBroken, "field "+field.Name+", whose default is no value of its type, was removed"
	}
	d.report(rule, p, t)
}

// fields compares an aligned pair of fields.
func (d *differ) fields(p place, pairs *fieldPairs, o, n *avro.Field) {
	inner := d.part(p, o.Type, n.Type, path{root: p.n.Named.Full, field: n.Name}, o.Index, n.Index)
	if o.Name != n.Name {
		inner.live = d.renamed(inner, pairs, o, n)
	}
	d.defaults(inner, o, n)
	before, after := without(o.Aliases, o.Name, n.Name), without(n.Aliases, o.Name, n.Name)
	if byNew, byOld := pairs.byNew.isAmbiguous(n), pairs.byOld.isAmbiguous(o); byNew || byOld {
		whole := inner
		whole.live = p.live // it is refused whatever the names say
		d.ambiguous(whole, byNew, byOld, o, n)
		inner.live = [2]bool{inner.live[newReadsOld] && !byNew, inner.live[oldReadsNew] && !byOld}
	} else if before != after {
		d.report(&fieldAliases, inner, told{
			old: o, new: n, before: before, after: after, effect: reads,
			text: "the aliases of field " + n.Name + " changed from [" + before + "] to [" + after + "]",
		})
	}
	if o.Order != n.Order {
		d.report(&fieldOrder, inner, told{
			old: o, new: n, before: o.Order.String(), after: n.Order.String(), effect: reads,
			text: "the sort order of field " + n.Name + " changed from " + o.Order.String() + " to " + n.Order.String(),
		})
	}
	d.doc(inner, o, n, o.Doc, n.Doc)
	d.attributes(inner, o, n, o.Attributes, n.Attributes, avro.Logical{}, avro.Logical{})
	d.types(inner)
}

// renamed reports a pair of fields with different names, and tells in which
// directions one still fills the other.
func (d *differ) renamed(p place, pairs *fieldPairs, o, n *avro.Field) (live [2]bool) {
	newKnows, oldKnows := pairs.byNew.source[n.Index] == o, pairs.byOld.source[o.Index] == n
	t := told{
		old: o, new: n, before: o.Name, after: n.Name, pick: none, effect: reads,
	}
	if !newKnows {
		t.effect.NewReadsOld = gap(d.byNew, pairs.byNew, n)
	}
	if !oldKnows {
		t.effect.OldReadsNew = gap(d.byOld, pairs.byOld, o)
	}
	rule, how := &fieldRenamed, " without an alias"
	switch {
	case newKnows && oldKnows:
		rule, how = &fieldRenamedBoth, ", and each side knows the other's name as an alias"
	case newKnows:
		rule, how = &fieldRenamedAlias, ", which lists the old name as an alias"
	case oldKnows:
		rule, how = &fieldRenamedBack, ", a name that the old schema lists as an alias"
	case t.effect.NewReadsOld == compat.Loses && t.effect.OldReadsNew == compat.Loses:
		rule, how = &fieldRenamedLost, " without an alias; both have defaults, which take the value's place in silence"
	}
	t.text = "field " + o.Name + " was renamed to " + n.Name + how
	d.report(rule, p, t)
	return [2]bool{p.live[newReadsOld] && newKnows, p.live[oldReadsNew] && oldKnows}
}

// ambiguous reports a field whose aliases name a second field of the other side.
func (d *differ) ambiguous(p place, byNew, byOld bool, o, n *avro.Field) {
	d.ambiguities++
	t := told{
		old: o, new: n, effect: reads, pick: none,
		before: without(o.Aliases), after: without(n.Aliases),
		text: "field " + n.Name + " fits two fields of the other side, by its name and its aliases",
	}
	if byNew {
		t.effect.NewReadsOld = compat.Refuses
	}
	if byOld {
		t.effect.OldReadsNew = compat.Refuses
	}
	d.report(&fieldAmbiguous, p, t)
}

// gap is what a reader's field becomes whose renamed counterpart does not fill
// it: refused, or the default in place of the value. Where another field fills it
// nothing is missing, and [differ.crossed] tells what becomes of that one's value;
// where two would, [differ.ambiguous] does.
func gap(s *resolution, m *matching, field *avro.Field) compat.Outcome {
	switch {
	case m.source[field.Index] != nil:
		return compat.Reads
	case s.usable(field):
		return compat.Loses
	}
	return compat.Refuses
}

// defaults compares what a field becomes where the other side lacks it.
func (d *differ) defaults(p place, o, n *avro.Field) {
	if o.Default == nil && n.Default == nil {
		return
	}
	if o.Default != nil && n.Default != nil && sameValue(o.Default, n.Default) {
		return
	}
	t := told{old: o, new: n, effect: reads}
	switch {
	case o.Default == nil:
		t.after = short(n.Default.String())
		t.text = "field " + n.Name + " was given the default " + t.after
		d.report(&fieldDefaultAdded, p, t)
	case n.Default == nil:
		t.before = short(o.Default.String())
		t.text = "field " + n.Name + " lost its default " + t.before
		d.report(&fieldDefaultRemoved, p, t)
	default:
		t.before, t.after = short(o.Default.String()), short(n.Default.String())
		t.text = "the default of field " + n.Name + " changed from " + t.before + " to " + t.after
		d.report(&fieldDefaultChanged, p, t)
	}
}

// enums compares symbols and their default.
func (d *differ) enums(p place) {
	o, n := p.o.Named, p.n.Named
	if !d.meter.Spend(len(o.Symbols) + len(n.Symbols)) {
		return
	}
	index := make(map[string]int, len(n.Symbols))
	for j, symbol := range n.Symbols {
		index[symbol] = j
	}
	order, kept := make([]int, 0, len(o.Symbols)), make(map[string]bool, len(o.Symbols))
	for i, symbol := range o.Symbols {
		if j, ok := index[symbol]; ok {
			order = append(order, j)
			kept[symbol] = true
			continue
		}
		t := told{
			old: enumSymbol{o, i}, new: n, path: n.Full + "." + symbol, before: symbol, pick: [2]int{i, -1},
			text:   "symbol " + symbol + " was removed from enum " + n.Full,
			effect: compat.Effect{NewReadsOld: compat.Refuses, OldReadsNew: compat.Reads},
		}
		rule := &symbolRemoved
		if n.HasDefault {
			rule, t.effect.NewReadsOld = &symbolRemovedUnder, compat.Alters
			t.text += "; new readers see its default " + n.Default + " instead"
		}
		d.report(rule, p, t)
	}
	for j, symbol := range n.Symbols {
		if kept[symbol] {
			continue
		}
		t := told{
			old: o, new: enumSymbol{n, j}, path: n.Full + "." + symbol, after: symbol, pick: [2]int{-1, j},
			text:   "symbol " + symbol + " was added to enum " + n.Full,
			effect: compat.Effect{NewReadsOld: compat.Reads, OldReadsNew: compat.Refuses},
		}
		rule := &symbolAdded
		if o.HasDefault {
			rule, t.effect.OldReadsNew = &symbolAddedUnder, compat.Alters
			t.text += "; old readers see its default " + o.Default + " instead"
		}
		d.report(rule, p, t)
	}
	if !ascending(order) {
		d.report(&symbolsReordered, p, told{
			old: o, new: n, effect: misleads,
			text: "the symbols of enum " + n.Full + " stand in another order, which changes how they sort and what a reader without the writer's schema sees",
		})
	}
	if o.HasDefault == n.HasDefault && o.Default == n.Default {
		return
	}
	t := told{old: o, new: n, before: o.Default, after: n.Default, effect: reads}
	switch {
	case !o.HasDefault && n.HasDefault:
		t.text = "enum " + n.Full + " was given the default " + n.Default
		d.report(&enumDefaultAdded, p, t)
	case o.HasDefault && !n.HasDefault:
		t.text = "enum " + n.Full + " lost its default " + o.Default
		d.report(&enumDefaultRemoved, p, t)
	default:
		t.text = "the default of enum " + n.Full + " changed from " + o.Default + " to " + n.Default
		d.report(&enumDefaultChanged, p, t)
	}
}

// enumSymbol is one symbol of an enum.
type enumSymbol struct {
	enum  *avro.Named
	index int
}

// Place is the enum's, with the symbol's own pointer.
func (s enumSymbol) Place() schemas.Place {
	p := s.enum.Place()
	p.Pointer = p.Pointer.Append("symbols").Append(strconv.Itoa(s.index))
	return p
}
