package protobuf

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cartorio-registry/cartorio/compat"
)

// field tells what is different in one field of both sides.
func (d *differ) field(v *visit, a aligned) {
	o, n := a.o, a.n
	if a.renamed() {
		t := v.within(o.place, n.place, o.name, "field %s was renamed to %s", o.name, n.name)
		t.before, t.after, t.source = o.name, n.name, codeOther
		d.keys(v, a, &t)
		d.report(&fieldRenamed, t)
	} else if o.key != n.key {
		t := v.within(o.place, n.place, o.name, "the JSON name of field %s changed from %s to %s", o.name, o.key, n.key)
		t.before, t.after = o.key, n.key
		d.keys(v, a, &t)
		d.report(&jsonNameChanged, t)
	}
	if a.moved {
		t := v.within(o.place, n.place, o.name, "field %s changed its number from %d to %d", o.name, o.number, n.number)
		t.before, t.after, t.source = fmt.Sprint(o.number), fmt.Sprint(n.number), codeOther
		for dir := range 2 {
			if v.live[slot(0, dir)] {
				w, r := sides(o, n, dir)
				d.values(&t, v, 0, dir, w, r)
			}
		}
		d.report(&fieldRenumbered, t)
	}
	d.shape(v, a)
	d.names(v, a)
	d.required(v, a)
	d.defaults(v, a)
	if o.card != n.card && !o.card.isMany() && !n.card.isMany() && o.card != required && n.card != required && (o.oneof == nil) == (n.oneof == nil) {
		t := v.within(o.place, n.place, o.name, "field %s was %s and is %s", o.name, o.card, n.card)
		t.before, t.after, t.source = o.card.String(), n.card.String(), codeOther
		d.report(&presenceChanged, t)
	}
	if o.packed != n.packed && o.card == repeated && n.card == repeated && packable(o.kind) && packable(n.kind) {
		d.report(&packedChanged, v.within(o.place, n.place, o.name, "the elements of field %s are %s now", o.name, map[bool]string{true: "packed", false: "no longer packed"}[n.packed]))
	}
	if o.kind == protoreflect.StringKind && n.kind == o.kind && o.checked != n.checked {
		rule, text, dir := &utf8Checked, "parsers now refuse text of field %s that is not UTF-8", newReadsOld
		if o.checked {
			rule, text, dir = &utf8Unchecked, "parsers no longer refuse text of field %s that is not UTF-8", oldReadsNew
		}
		t := v.within(o.place, n.place, o.name, text, o.name)
		if v.live[slot(0, dir)] && !a.moved {
			t.set(0, dir, compat.Rounds, nil)
		}
		d.report(rule, t)
	}
	if o.code != n.code {
		t := v.within(o.place, n.place, o.name, "field %s is generated as %s instead of %s", o.name, orPlain(n.code), orPlain(o.code))
		t.before, t.after, t.source = o.code, n.code, codeOther
		d.report(&fieldCodeChanged, t)
	}
	if o.options != n.options {
		d.report(&optionChanged, v.within(o.place, n.place, o.name, "options of field %s changed", o.name))
	}
}

func orPlain(code string) string {
	if code == "" {
		return "usual"
	}
	return code
}

func packable(k protoreflect.Kind) bool {
	t := wireType(k)
	return t != 2 && t != 3
}

// keys proves what JSON loses of a field because of its name.
func (d *differ) keys(v *visit, a aligned, t *told) {
	for dir := range 2 {
		w, r := sides(a.o, a.n, dir)
		_, rm := sides(v.o, v.n, dir)
		if v.live[slot(1, dir)] && rm.byKey()[w.key] != r {
			d.values(t, v, 1, dir, w, r)
		}
	}
}

// shape tells changes of kind, cardinality and encoding, with what the field's
// values become.
func (d *differ) shape(v *visit, a aligned) {
	o, n := a.o, a.n
	kindChanged := o.kind != n.kind && !bothMessages(o, n)
	encoding := o.kind != n.kind && bothMessages(o, n)
	many := o.card.isMany() != n.card.isMany()
	mapping := (o.card == mapped) != (n.card == mapped)
	if !kindChanged && !encoding && !many && !mapping {
		return
	}
	t := v.within(o.place, n.place, o.name, "")
	t.source = codeOther
	for dir := range 2 {
		w, r := sides(o, n, dir)
		_, rm := sides(v.o, v.n, dir)
		for layer := range payloadLayers {
			if !v.live[slot(layer, dir)] || layer == 0 && a.moved || layer == 1 && rm.byKey()[w.key] != r {
				continue
			}
			switch d.fit(v, layer, w, r) {
			case exact:
			case cast:
				t.set(layer, dir, compat.Rounds, nil)
			case untold:
				at, from, to := v, w, r
				if step := v.from[slot(layer, dir)]; v.o.isEntry && v.n.isEntry && (w.number == 1 || w.enum != nil && w.enum.isZero()) && step != nil {
					// Two keys may become one, which takes two entries to show. A value
					// that is nothing but zero takes the entry around it.
					at = step.around
					from, to = sides(step.old, step.next, dir)
				}
				d.values(&t, at, layer, dir, from, to)
			}
		}
	}
	switch {
	case kindChanged:
		t.before, t.after = typeText(o), typeText(n)
		t.text = fmt.Sprintf("field %s changed its type from %s to %s", o.name, t.before, t.after)
		d.report(&kindChangedRule, t)
	case mapping:
		t.before, t.after = typeText(o), typeText(n)
		rule, form := &becameMap, "field %s was %s and is %s"
		if o.card == mapped {
			rule = &noLongerMap
		}
		t.text = fmt.Sprintf(form, o.name, t.before, t.after)
		d.report(rule, t)
	case many:
		t.before, t.after = o.card.String(), n.card.String()
		rule := &becameRepeated
		if o.card.isMany() {
			rule = &becameSingular
		}
		t.text = fmt.Sprintf("field %s was %s and is %s", o.name, o.card, n.card)
		d.report(rule, t)
	default:
		t.before, t.after = encodingText(o), encodingText(n)
		t.text = fmt.Sprintf("the encoding of field %s changed from %s to %s", o.name, t.before, t.after)
		d.report(&encodingChanged, t)
	}
}

func bothMessages(o, n *field) bool { return o.message != nil && n.message != nil }

func encodingText(f *field) string {
	if f.kind == protoreflect.GroupKind {
		return "delimited, as a group"
	}
	return "length-prefixed"
}

// typeText is the type of a field as a text would say it.
func typeText(f *field) string {
	one := ""
	switch {
	case f.card == mapped:
		key, val := f.message.withNumber(1), f.message.withNumber(2)
		return "map<" + typeText(key) + ", " + typeText(val) + ">"
	case f.message != nil:
		one = f.message.local
	case f.enum != nil:
		one = f.enum.local
	default:
		one = f.kind.String()
	}
	if f.card == repeated {
		return "repeated " + one
	}
	return one
}

// fit says what is proved of the values of w that r reads.
func (d *differ) fit(v *visit, layer int, w, r *field) fit {
	f := d.wireFit(v, w, r)
	if layer == 1 {
		f = d.jsonFit(v, w, r)
	}
	if f == untold && w.enum != nil && w.card == implicit && w.enum.isZero() && !v.o.isEntry {
		return cast // no declared value is ever written, but in a map
	}
	return f
}

func (d *differ) wireFit(v *visit, w, r *field) fit {
	if w.card.isMany() && !r.card.isMany() {
		return untold
	}
	if w.message != nil && r.message != nil {
		if w.kind == r.kind {
			return exact
		}
		return untold
	}
	if v.o.isEntry && v.n.isEntry && w.number == 1 && w.kind != r.kind && wireFits[kindPair{w.kind, r.kind}] != exact {
		return untold // two keys may become one
	}
	// A packed list is read by its own element size alone.
	if w.card.isMany() && packable(w.kind) != packable(r.kind) {
		return untold
	}
	if w.kind == protoreflect.BytesKind && r.kind == protoreflect.StringKind && !r.checked {
		return exact // nobody looks whether the bytes are text
	}
	return scalarFit(wireFits, w, r)
}

func scalarFit(table map[kindPair]fit, w, r *field) fit {
	switch {
	case w.kind == r.kind:
		return exact
	case r.enum != nil && r.enum.closed && w.kind != protoreflect.EnumKind:
		if _, one := r.enum.names[1]; w.kind == protoreflect.BoolKind && one && len(r.enum.names[0]) > 0 {
			return table[kindPair{w.kind, r.kind}]
		}
		return untold // most numbers are not declared
	case w.enum != nil && isUnsigned(r.kind) && w.enum.isNatural() && table[kindPair{w.kind, r.kind}] == cast:
		return exact
	}
	return table[kindPair{w.kind, r.kind}]
}

func (d *differ) jsonFit(v *visit, w, r *field) fit {
	if jsonForm(w) != jsonForm(r) {
		return untold
	}
	if w.message != nil && r.message != nil {
		return exact
	}
	if v.o.isEntry && v.n.isEntry && w.number == 1 {
		if w.kind == r.kind {
			return exact
		}
		return keyFits[kindPair{w.kind, r.kind}]
	}
	return scalarFit(jsonFits, w, r)
}

// names tells that a field has a type of another name. What the types hold is
// compared as a pair of its own.
func (d *differ) names(v *visit, a aligned) {
	o, n := a.o, a.n
	before, after := "", ""
	switch {
	case bothMessages(o, n) && !o.message.isEntry && !n.message.isEntry:
		before, after = o.message.name, n.message.name
	case o.enum != nil && n.enum != nil:
		before, after = o.enum.name, n.enum.name
	}
	if before == after || d.samePackaging(o, n) {
		return
	}
	t := v.within(o.place, n.place, o.name, "the type of field %s is called %s and was called %s", o.name, after, before)
	t.before, t.after, t.source = before, after, codeOther
	if bothMessages(o, n) && (special[before] != "" || special[after] != "") && special[before] != special[after] {
		for dir := range 2 {
			w, r := sides(o, n, dir)
			_, rm := sides(v.o, v.n, dir)
			if v.live[slot(1, dir)] && rm.byKey()[w.key] == r && jsonForm(w) == jsonForm(r) {
				d.values(&t, v, 1, dir, w, r)
			}
		}
	}
	d.report(&typeRenamed, t)
}

// samePackaging tells whether two names differ only by the packages of the two
// files, which is told once.
func (d *differ) samePackaging(o, n *field) bool {
	var before, after scope
	switch {
	case o.message != nil:
		before, after = o.message.scope, n.message.scope
	default:
		before, after = o.enum.scope, n.enum.scope
	}
	return before.local == after.local && before.pack == d.old.pack && after.pack == d.next.pack
}

// special are the messages whose JSON is no object of their fields.
//
// Source: protobuf compatibility, B.7.
var special = map[string]string{
	"google.protobuf.Any": "any", "google.protobuf.Timestamp": "timestamp", "google.protobuf.Duration": "duration",
	"google.protobuf.FieldMask": "mask", "google.protobuf.Struct": "struct", "google.protobuf.Value": "value",
	"google.protobuf.ListValue": "list", "google.protobuf.DoubleValue": "wrapper", "google.protobuf.FloatValue": "wrapper",
	"google.protobuf.Int64Value": "wrapper", "google.protobuf.UInt64Value": "wrapper", "google.protobuf.Int32Value": "wrapper",
	"google.protobuf.UInt32Value": "wrapper", "google.protobuf.BoolValue": "wrapper", "google.protobuf.StringValue": "wrapper",
	"google.protobuf.BytesValue": "wrapper",
}

func (d *differ) required(v *visit, a aligned) {
	o, n := a.o, a.n
	if v.o.isEntry && v.n.isEntry {
		return // what the value requires is told there
	}
	if (o.card == required) == (n.card == required) {
		if o.card == required && (a.moved || a.renamed() || o.key != n.key) {
			return // what is lost refuses the message; the witness of the name shows it
		}
		return
	}
	rule, dir := &becameRequired, newReadsOld
	if o.card == required {
		rule, dir = &noLongerRequired, oldReadsNew
	}
	t := v.within(o.place, n.place, o.name, "field %s was %s and is %s", o.name, o.card, n.card)
	t.before, t.after, t.source = o.card.String(), n.card.String(), codeOther
	w, _ := sides(o, n, dir)
	d.absent(&t, v, dir, w)
	d.report(rule, t)
}

// absent proves that a message without a field is refused; w is the field where
// the writer has it.
func (d *differ) absent(t *told, v *visit, dir int, w *field) {
	for layer := range payloadLayers {
		if v.live[slot(layer, dir)] {
			d.prove(t, v, layer, dir, w, nil, func(*filler) [][]byte { return [][]byte{nil} })
		}
	}
}

// removed and added tell fields of one side.
func (d *differ) removed(v *visit, f *field) {
	number := f.number
	rule, source := &fieldRemoved, codeGone
	switch {
	case f.card == required:
		rule = &requiredRemoved
	case v.n.reserved.has(int64(number)):
		rule = &fieldRetired
	}
	t := v.within(f.place, v.n.place, f.name, "field %s, number %d, was removed", f.name, number)
	t.before, t.source = typeText(f), source
	if f.card == required {
		d.absent(&t, v, oldReadsNew, nil)
	}
	d.landing(&t, v, f, newReadsOld)
	d.report(rule, t)
}

func (d *differ) added(v *visit, f *field) {
	rule := &fieldAdded
	switch {
	case f.card == required:
		rule = &requiredAdded
	case v.o.reserved.has(int64(f.number)):
		rule = &fieldRevived
	}
	t := v.within(v.o.place, f.place, f.name, "field %s, number %d, was added", f.name, f.number)
	t.after, t.source = typeText(f), codeCome
	if f.card == required {
		d.absent(&t, v, newReadsOld, nil)
	}
	d.landing(&t, v, f, oldReadsNew)
	d.report(rule, t)
}

// landing proves what happens where a field that the reader does not have
// arrives as another one: by a number or a JSON name that it took.
func (d *differ) landing(t *told, v *visit, f *field, dir int) {
	_, reader := sides(v.o, v.n, dir)
	if r := reader.withNumber(f.number); r != nil && v.live[slot(0, dir)] && mayLand(f, r) {
		d.values(t, v, 0, dir, f, r)
	}
	r := landsOn(v, f, dir)
	if r == nil {
		return
	}
	switch d.landingFit(v, f, r) {
	case exact:
	case cast:
		t.set(1, dir, compat.Rounds, nil)
	case untold:
		d.values(t, v, 1, dir, f, r)
	}
	if now, _ := sides(t.json.NewReadsOld, t.json.OldReadsNew, dir); !now.IsHard() {
		d.crowd(t, v, f, r, dir)
	}
}

// mayLand tells whether bytes of w are a value of r and not set aside.
func mayLand(w, r *field) bool {
	return wireType(w.kind) == wireType(r.kind) || w.packed || r.card == repeated && packable(r.kind)
}

// defaults tells that an absent field stands for another value.
func (d *differ) defaults(v *visit, a aligned) {
	o, n := a.o, a.n
	if o.fallback == n.fallback || o.card.isMany() || n.card.isMany() || o.kind != n.kind {
		return
	}
	if o.enum != nil && fallbackNumber(o) == fallbackNumber(n) {
		return
	}
	t := v.within(o.place, n.place, o.name, "an absent field %s means %s and meant %s", o.name, orZero(n.fallback), orZero(o.fallback))
	t.before, t.after = o.fallback, n.fallback
	for dir := range 2 {
		for layer := range payloadLayers {
			if v.live[slot(layer, dir)] {
				t.set(layer, dir, compat.Misleads, nil)
			}
		}
	}
	d.report(&defaultChanged, t)
}

func fallbackNumber(f *field) protoreflect.EnumNumber {
	if n, ok := f.enum.byName[f.fallback]; ok {
		return n
	}
	return f.enum.values[0].number
}

func orZero(s string) string {
	if s == "" {
		return "the usual default"
	}
	return fmt.Sprintf("%q", s)
}

func isUnsigned(k protoreflect.Kind) bool {
	return k == protoreflect.Uint32Kind || k == protoreflect.Uint64Kind
}

// isNatural tells whether no declared number is negative.
func (e *enum) isNatural() bool {
	for _, v := range e.values {
		if v.number < 0 {
			return false
		}
	}
	return true
}

// isZero tells whether zero is the only number declared.
func (e *enum) isZero() bool { return len(e.names) == 1 && e.values[0].number == 0 }
