package protobuf

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// port compares as the reference does: diff(original, update).
type port struct {
	original, update side
	meter            *compat.Meter
	list             []compat.Difference
	path             []string
	// done holds what was found in pairs of imported messages; a pair that is
	// still open counts as equal.
	done map[pair][]compat.Difference
}

type pair struct{ original, update *protobuf.Message }

func (p *port) add(kind string, original, update schemas.Place, info string) {
	if original == (schemas.Place{}) {
		original = p.original.whole
	}
	if update == (schemas.Place{}) {
		update = p.update.whole
	}
	p.list = append(p.list, compat.Difference{
		Type: kind, Path: "#/" + strings.Join(p.path, "/"), Info: info, Compatible: !incompatible(kind),
		Writer: original, Reader: update,
	})
}

// at runs fn one step deeper.
func (p *port) at(step string, fn func()) {
	p.path = append(p.path, step)
	fn()
	p.path = p.path[:len(p.path)-1]
}

func (p *port) files() []compat.Difference {
	original, update := p.original.file, p.update.file
	if original.Package != update.Package {
		p.add(packageChanged, schemas.Place{}, schemas.Place{}, original.Package+" → "+update.Package)
	}
	p.messages(original.Messages, update.Messages)
	p.enums(original.Enums, update.Enums)
	return p.list
}

// place is where an element stands, if in the schema's own text.
func place(s side, f *protobuf.File, at schemas.Place) schemas.Place {
	if f != s.schema.File() {
		return schemas.Place{}
	}
	return at
}

func (p *port) messages(original, update []*protobuf.Message) {
	// Map entries are no messages: they are the maps they stand for.
	entry := (*protobuf.Message).IsMapEntry
	original = slices.DeleteFunc(slices.Clone(original), entry)
	update = slices.DeleteFunc(slices.Clone(update), entry)
	now := map[string]int{}
	for i, m := range update {
		now[m.Name] = i
	}
	before := map[string]bool{}
	for i, m := range original {
		if before[m.Name] {
			continue
		}
		before[m.Name] = true
		p.at(m.Name, func() {
			j, ok := now[m.Name]
			if !ok {
				p.add(messageRemoved, place(p.original, m.File, m.Place), schemas.Place{}, m.Name)
				return
			}
			p.message(m, update[j])
			if i != j {
				p.add(messageMoved, place(p.original, m.File, m.Place), place(p.update, update[j].File, update[j].Place), "")
			}
		})
	}
	for _, m := range update {
		if !before[m.Name] {
			before[m.Name] = true
			p.at(m.Name, func() { p.add(messageAdded, schemas.Place{}, place(p.update, m.File, m.Place), m.Name) })
		}
	}
}

func (p *port) enums(original, update []*protobuf.Enum) {
	now := map[string]*protobuf.Enum{}
	for _, e := range update {
		now[e.Name] = e
	}
	before := map[string]bool{}
	for _, e := range original {
		before[e.Name] = true
		p.at(e.Name, func() {
			if other := now[e.Name]; other != nil {
				p.enum(e, other)
			} else {
				p.add(enumRemoved, place(p.original, e.File, e.Place), schemas.Place{}, e.Name)
			}
		})
	}
	for _, e := range update {
		if !before[e.Name] {
			p.at(e.Name, func() { p.add(enumAdded, schemas.Place{}, place(p.update, e.File, e.Place), e.Name) })
		}
	}
}

// enum compares values by number; of aliases the last one counts.
func (p *port) enum(original, update *protobuf.Enum) {
	if !p.meter.Spend(1 + len(original.Values) + len(update.Values)) {
		return
	}
	before, now := map[int32]*protobuf.EnumValue{}, map[int32]*protobuf.EnumValue{}
	for _, v := range original.Values {
		before[v.Number] = v
	}
	for _, v := range update.Values {
		now[v.Number] = v
	}
	for _, number := range numbers(before, now) {
		old, next := before[number], now[number]
		p.at(strconv.Itoa(int(number)), func() {
			switch {
			case next == nil:
				p.add(enumConstRemoved, place(p.original, original.File, old.Place), schemas.Place{}, old.Name)
			case old == nil:
				p.add(enumConstAdded, schemas.Place{}, place(p.update, update.File, next.Place), next.Name)
			case old.Name != next.Name:
				p.add(enumConstChanged, place(p.original, original.File, old.Place), place(p.update, update.File, next.Place), old.Name+" → "+next.Name)
			}
		})
	}
}

// numbers are the keys of both maps, ascending.
func numbers[V any](a, b map[int32]V) []int32 {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// member is a field and the oneof it is in.
type member struct {
	field *protobuf.Field
	oneof *protobuf.Oneof
}

// members are the fields of a message in ascending order of their numbers, of
// one number the last; groups are not seen.
func members(m *protobuf.Message) []member {
	out := make([]member, 0, len(m.Fields))
	for _, f := range m.Fields {
		out = append(out, member{field: f})
	}
	for _, o := range m.Oneofs {
		for _, f := range o.Fields {
			out = append(out, member{f, o})
		}
	}
	byNumber := func(a, b member) int { return cmp.Compare(a.field.Number, b.field.Number) }
	if !slices.IsSortedFunc(out, byNumber) {
		slices.SortStableFunc(out, byNumber)
	}
	kept := out[:0]
	for i, one := range out {
		if i+1 == len(out) || out[i+1].field.Number != one.field.Number {
			kept = append(kept, one)
		}
	}
	return kept
}

// withNumber finds a field among members; its field is nil for none.
func withNumber(list []member, number int32) member {
	i, ok := slices.BinarySearchFunc(list, number, func(m member, n int32) int { return cmp.Compare(m.field.Number, n) })
	if !ok {
		return member{}
	}
	return list[i]
}

func (p *port) message(original, update *protobuf.Message) {
	before, now := members(original), members(update)
	if !p.meter.Spend(1 + len(before) + len(now)) {
		return
	}
	p.exclusivity(original, update, before)
	p.oneofs(original, update)
	for i, j := 0, 0; i < len(before) || j < len(now); {
		var old, next member
		switch {
		case j == len(now) || i < len(before) && before[i].field.Number < now[j].field.Number:
			old = before[i]
			i++
		case i == len(before) || now[j].field.Number < before[i].field.Number:
			next = now[j]
			j++
		default:
			old, next = before[i], now[j]
			i, j = i+1, j+1
		}
		p.field(original, update, old, next, now)
	}
	p.messages(original.Messages, update.Messages)
	p.enums(original.Enums, update.Enums)
}

// exclusivity finds the oneofs of update that make fields exclude one another
// which could stand together before.
//
// Source: protobuf compatibility, A.6.
func (p *port) exclusivity(original, update *protobuf.Message, before []member) {
	for _, o := range update.Oneofs {
		top, from := 0, map[*protobuf.Oneof]bool{}
		for _, f := range o.Fields {
			old := withNumber(before, f.Number)
			switch {
			case old.field == nil:
			case old.oneof == nil:
				top++
			default:
				from[old.oneof] = true
			}
		}
		if top+len(from) < 2 {
			continue
		}
		kind := movedToExistingOneof
		if top > 1 {
			kind = multipleMovedToOneof
		}
		p.at(o.Name, func() {
			p.add(kind, place(p.original, original.File, original.Place), place(p.update, update.File, o.Place), o.Name)
		})
	}
}

func (p *port) oneofs(original, update *protobuf.Message) {
	if len(original.Oneofs)+len(update.Oneofs) == 0 {
		return
	}
	before, now := map[string]*protobuf.Oneof{}, map[string]*protobuf.Oneof{}
	for _, o := range original.Oneofs {
		before[o.Name] = o
	}
	for _, o := range update.Oneofs {
		now[o.Name] = o
	}
	all := maps.Clone(before)
	maps.Copy(all, now)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p.at(name, func() {
			switch old, next := before[name], now[name]; {
			case next == nil:
				p.add(oneofRemoved, place(p.original, original.File, old.Place), schemas.Place{}, name)
			case old == nil:
				p.add(oneofAdded, schemas.Place{}, place(p.update, update.File, next.Place), name)
			}
		})
	}
}

// field compares what has one number; a side without it has a nil field.
func (p *port) field(original, update *protobuf.Message, old, next member, now []member) {
	number := int32(0)
	if old.field != nil {
		number = old.field.Number
	} else {
		number = next.field.Number
	}
	step := strconv.Itoa(int(number))
	inOneof := func(o *protobuf.Oneof, fn func()) {
		if o == nil {
			fn()
			return
		}
		p.at(o.Name, fn)
	}
	switch {
	case next.field == nil:
		at := place(p.original, original.File, old.field.Place)
		switch {
		case old.oneof != nil && wholeOneofGone(old.oneof, update, now):
			// What is gone is the oneof, and that was told.
		case old.oneof != nil:
			inOneof(old.oneof, func() { p.at(step, func() { p.add(oneofFieldRemoved, at, schemas.Place{}, old.field.Name) }) })
		case p.original.label(original, old.field) == protobuf.Required:
			p.at(step, func() { p.add(requiredRemovedPeer, at, schemas.Place{}, old.field.Name) })
		default:
			p.at(step, func() { p.add(fieldRemovedPeer, at, schemas.Place{}, old.field.Name) })
		}
	case old.field == nil:
		at := place(p.update, update.File, next.field.Place)
		kind := fieldAddedPeer
		switch {
		case next.oneof != nil:
			kind = oneofFieldAdded
		case p.update.label(update, next.field) == protobuf.Required:
			kind = requiredAddedPeer
		}
		inOneof(next.oneof, func() { p.at(step, func() { p.add(kind, schemas.Place{}, at, next.field.Name) }) })
	default:
		from, to := place(p.original, original.File, old.field.Place), place(p.update, update.File, next.field.Place)
		if old.oneof != nil && next.oneof == nil {
			p.at(step, func() { p.add(oneofFieldToTop, from, to, next.field.Name) })
		}
		inOneof(next.oneof, func() {
			p.at(step, func() {
				if old.field.Name != next.field.Name {
					p.add(fieldNameChanged, from, to, old.field.Name+" → "+next.field.Name)
				}
				a, b := p.original.fieldTypeOf(original, old.field), p.update.fieldTypeOf(update, next.field)
				p.types(a, b, from, to)
				p.labels(a, b, p.original.label(original, old.field), p.update.label(update, next.field), from, to)
			})
		})
	}
}

// wholeOneofGone tells whether neither the name of o nor any of its numbers is
// left.
func wholeOneofGone(o *protobuf.Oneof, update *protobuf.Message, now []member) bool {
	for _, other := range update.Oneofs {
		if other.Name == o.Name {
			return false
		}
	}
	for _, f := range o.Fields {
		if withNumber(now, f.Number).field != nil {
			return false
		}
	}
	return true
}

func (p *port) types(a, b *fieldType, from, to schemas.Place) {
	change := func() string { return a.name + " → " + b.name }
	switch {
	case a.kind != b.kind:
		p.add(kindChanged, from, to, change())
	case a.kind == scalarKind:
		if a.group != b.group {
			p.add(scalarKindChanged, from, to, change())
		}
	case a.kind == mapKind:
		p.types(a.key, b.key, from, to)
		p.types(a.value, b.value, from, to)
	default:
		p.named(a, b, from, to)
	}
}

// labels compares labels: only where both texts have one, and only of scalars
// of one group.
//
// Source: protobuf compatibility, A.5.
func (p *port) labels(a, b *fieldType, old, next protobuf.Label, from, to schemas.Place) {
	if a.kind != scalarKind || b.kind != scalarKind || a.group != b.group {
		return
	}
	if old == protobuf.NoLabel || next == protobuf.NoLabel || old == next {
		return
	}
	kind := numericLabelChanged
	if a.group == "text" {
		kind = textLabelChanged
	}
	p.add(kind, from, to, old.String()+" → "+next.String())
}

// mostRepeated bounds the list: the peer repeats what it found in an imported
// message for each field of that type, which doubles at every import on the way.
const mostRepeated = 10_000

// named compares message types: by name, then by content unless both are local
// or come from one version.
//
// Source: protobuf compatibility, A.7.
func (p *port) named(a, b *fieldType, from, to schemas.Place) {
	change := a.name + " → " + b.name
	if !a.known || !b.known {
		if a.name != b.name {
			p.add(namedTypeChanged, from, to, change)
		}
		return
	}
	if a.symbol.LocalName() != b.symbol.LocalName() {
		p.add(namedTypeChanged, from, to, change)
		return
	}
	if p.sameOrigin(a.symbol.File, b.symbol.File) {
		return
	}
	found := p.content(a.symbol.Message, b.symbol.Message)
	if !slices.ContainsFunc(found, func(d compat.Difference) bool { return !d.Compatible }) {
		return
	}
	if len(p.list)+len(found) <= mostRepeated {
		p.list = append(p.list, found...)
	}
	p.add(namedTypeChanged, from, to, change)
}

func (p *port) sameOrigin(a, b *protobuf.File) bool {
	localA, localB := a == p.original.file, b == p.update.file
	switch {
	case localA || localB:
		return localA && localB
	}
	from, to := p.original.schema.OriginOf(a), p.update.schema.OriginOf(b)
	if from.Bundled && to.Bundled {
		return a == b
	}
	return from.Direct && to.Direct && from.Subject == to.Subject && from.Version == to.Version
}

// content compares two messages as a schema of their own would be.
func (p *port) content(original, update *protobuf.Message) []compat.Difference {
	key := pair{original, update}
	if found, ok := p.done[key]; ok {
		return found
	}
	p.done[key] = nil
	sub := &port{
		original: p.original, update: p.update, meter: p.meter, done: p.done,
		path: strings.Split(update.LocalName(), "."),
	}
	sub.message(original, update)
	p.done[key] = sub.list
	return sub.list
}
