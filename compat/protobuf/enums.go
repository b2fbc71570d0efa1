package protobuf

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// within is told about something in a pair of enums.
func (e *enumVisit) within(old, next schemas.Place, part, format string, args ...any) told {
	path := e.o.local
	if part != "" {
		path += "." + part
	}
	t := calm(old, next, path, fmt.Sprintf(format, args...))
	t.elsewhere = e.elsewhere
	return t
}

// enum tells the changes of one pair of enums.
func (d *differ) enum(e *enumVisit) {
	o, n := e.o, e.n
	if !d.meter.Spend(1 + len(o.values) + len(n.values)) {
		d.failed = true
		return
	}
	if len(o.values) == len(n.values) && o.closed == n.closed && o.options == n.options && slices.EqualFunc(o.values, n.values, func(a, b value) bool {
		return a.name == b.name && a.number == b.number && a.options == b.options
	}) {
		d.enumReservations(e)
		return
	}
	d.renumberedValues(e)
	for _, v := range o.values {
		d.goneName(e, v)
	}
	for _, v := range n.values {
		d.comeName(e, v)
	}
	if o.values[0].number != n.values[0].number {
		t := e.within(o.values[0].place, n.values[0].place, "", "an absent field of enum %s means %s and meant %s", o.local, n.values[0].name, o.values[0].name)
		t.before, t.after = o.values[0].name, n.values[0].name
		for s, live := range e.live {
			if live && !e.list {
				t.set(s/2, s%2, compat.Misleads, nil)
			}
		}
		d.report(&firstValueChanged, t)
	}
	if o.closed != n.closed {
		rule, text, dir := &enumClosed, "enum %s is closed now: numbers that it does not declare are set aside", newReadsOld
		if o.closed {
			rule, text, dir = &enumOpened, "enum %s is open now: numbers that it does not declare are kept", oldReadsNew
		}
		t := e.within(o.place, n.place, "", text, o.local)
		t.source = codeOther
		for layer := range payloadLayers {
			if e.live[slot(layer, dir)] {
				t.set(layer, dir, compat.Rounds, nil)
			}
		}
		d.report(rule, t)
	}
	for _, v := range o.values {
		if i, lives := n.index[v.name]; lives && n.values[i].options != v.options {
			d.report(&optionChanged, e.within(v.place, n.values[i].place, v.name, "options of enum value %s changed", v.name))
		}
	}
	if o.options != n.options {
		d.report(&optionChanged, e.within(o.place, n.place, "", "options of enum %s changed", o.local))
	}
	d.enumReservations(e)
}

func (d *differ) enumReservations(e *enumVisit) {
	if len(e.o.reserved.ranges)+len(e.o.reserved.names)+len(e.n.reserved.ranges)+len(e.n.reserved.names) == 0 {
		return
	}
	explained := func(r reservation, other *enum) (out reservation) {
		for _, one := range r.ranges {
			start := one[0]
			for _, n := range sortedNumbers(other) {
				if k := int64(n); k >= start && k < one[1] {
					if k > start {
						out.ranges = append(out.ranges, [2]int64{start, k})
					}
					start = k + 1
				}
			}
			if start < one[1] {
				out.ranges = append(out.ranges, [2]int64{start, one[1]})
			}
		}
		for _, name := range r.names {
			if _, ok := other.byName[name]; !ok {
				out.names = append(out.names, name)
			}
		}
		return out
	}
	d.reserved(e.o.place, e.n.place, e.elsewhere, e.o.local,
		explained(e.o.reserved, e.n), e.o.reserved, explained(e.n.reserved, e.o), e.n.reserved)
}

func sortedNumbers(e *enum) []protoreflect.EnumNumber {
	list := make([]protoreflect.EnumNumber, 0, len(e.names))
	for n := range e.names {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

func (d *differ) renumberedValues(e *enumVisit) {
	for _, v := range e.o.values {
		number, ok := e.n.byName[v.name]
		if !ok || number == v.number {
			continue
		}
		i := e.n.index[v.name]
		t := e.within(v.place, e.n.values[i].place, v.name, "enum value %s changed its number from %d to %d", v.name, v.number, number)
		t.before, t.after, t.source = fmt.Sprint(v.number), fmt.Sprint(number), codeOther
		d.number(&t, e, v.number, newReadsOld)
		d.number(&t, e, number, oldReadsNew)
		e.taken(&t, v.name, v.number, newReadsOld)
		e.taken(&t, v.name, number, oldReadsNew)
		d.report(&valueRenumbered, t)
	}
}

// taken tells that the reader knows the number of a value by another value's name.
func (e *enumVisit) taken(t *told, name string, number protoreflect.EnumNumber, dir int) {
	_, r := sides(e.o, e.n, dir)
	if names := r.names[number]; e.live[slot(0, dir)] && len(names) > 0 && !slices.Contains(names, name) {
		t.set(0, dir, compat.Misleads, nil)
	}
}

// goneName tells of a name that only the old side has, and comeName of one that
// only the new side has. A name that took another's place is a rename, told
// once, of the first such pair of a number.
func (d *differ) goneName(e *enumVisit, v value) {
	if _, lives := e.n.byName[v.name]; lives {
		return
	}
	if to, ok := e.successor(v); ok {
		t := e.within(v.place, to.place, v.name, "enum value %s was renamed to %s", v.name, to.name)
		t.before, t.after, t.source = v.name, to.name, codeOther
		d.number(&t, e, v.number, newReadsOld)
		d.number(&t, e, v.number, oldReadsNew)
		d.report(&valueRenamed, t)
		return
	}
	rule, text := &valueRemoved, "enum value %s, number %d, was removed"
	if slices.ContainsFunc(e.n.names[v.number], func(name string) bool {
		return e.o.byName[name] == v.number && slices.Contains(e.o.names[v.number], name)
	}) {
		rule, text = &aliasRemoved, "the name %s of number %d was removed"
	}
	t := e.within(v.place, e.n.place, v.name, text, v.name, v.number)
	t.before, t.source = v.name, codeGone
	d.number(&t, e, v.number, newReadsOld)
	d.report(rule, t)
}

func (d *differ) comeName(e *enumVisit, v value) {
	if _, lived := e.o.byName[v.name]; lived {
		return
	}
	back := enumVisit{o: e.n, n: e.o}
	if from, ok := back.successor(v); ok {
		if again, ok := e.successor(from); ok && again.name == v.name {
			return // told as a rename
		}
	}
	rule, text := &valueAdded, "enum value %s, number %d, was added"
	if slices.ContainsFunc(e.o.names[v.number], func(name string) bool { return slices.Contains(e.n.names[v.number], name) }) {
		rule, text = &aliasAdded, "the name %s was added to number %d"
	}
	t := e.within(e.o.place, v.place, v.name, text, v.name, v.number)
	t.after, t.source = v.name, codeCome
	d.number(&t, e, v.number, oldReadsNew)
	d.report(rule, t)
}

// successor is the name that took the place of an old one: the names of its
// number that are gone and those that are new correspond in order.
func (e *enumVisit) successor(v value) (value, bool) {
	at := 0
	for _, name := range e.o.names[v.number] {
		if name == v.name {
			break
		}
		if _, lives := e.n.byName[name]; !lives {
			at++
		}
	}
	for _, w := range e.n.values {
		if w.number != v.number {
			continue
		}
		if _, lived := e.o.byName[w.name]; lived {
			continue
		}
		if at == 0 {
			return w, true
		}
		at--
	}
	return value{}, false
}

// number proves what becomes of one number that the writer declares.
func (d *differ) number(t *told, e *enumVisit, number protoreflect.EnumNumber, dir int) {
	w, r := sides(e.o, e.n, dir)
	name := w.names[number]
	if len(name) == 0 {
		return
	}
	to, known := r.byName[name[0]]
	hurts := [2]bool{r.closed && len(r.names[number]) == 0, !known || to != number}
	for layer := range payloadLayers {
		s := slot(layer, dir)
		if !e.live[s] || !hurts[layer] {
			continue
		}
		step := e.use[s][0]
		if number == 0 {
			step = e.use[s][1] // a zero that is not written hurts nobody
		}
		if step == nil {
			continue
		}
		wf, rf := sides(step.old, step.next, dir)
		d.prove(t, step.around, layer, dir, wf, rf, func(*filler) [][]byte {
			return [][]byte{appendScalar(nil, wf, protowire.AppendVarint(nil, uint64(int64(number))))}
		})
	}
}
