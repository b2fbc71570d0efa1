package protobuf

// nullValue is the enum that JSON writes as null.
const nullValue = "google.protobuf.NullValue"

// landsOn is the field of the reader that a JSON payload gives the values of f, a
// field that it does not have; nil for none.
func landsOn(v *visit, f *field, dir int) *field {
	_, reader := sides(v.o, v.n, dir)
	if !v.live[slot(1, dir)] {
		return nil
	}
	return reader.byKey()[f.key]
}

// follow reaches the types that the values of a field are read as where it lands
// on another one in JSON, if they are the same types: others are not compared,
// but tried.
func (d *differ) follow(v *visit, f *field, dir int, push func(o, n *message, live [4]bool, step *stepTo)) {
	r := landsOn(v, f, dir)
	if r == nil || jsonForm(f) != jsonForm(r) {
		return
	}
	var live [4]bool
	live[slot(1, dir)] = true
	at, w := v, f
	if f.card == mapped {
		// The entries of two maps are no message that anybody knows by name.
		o, n := sides(f, r, dir)
		at = &visit{o: o.message, n: n.message, live: live}
		at.from[slot(1, dir)] = &stepTo{v, o, n}
		w, r = f.message.withNumber(2), r.message.withNumber(2)
	}
	o, n := sides(w, r, dir)
	switch step := (&stepTo{at, o, n}); {
	case !areOne(w, r):
	case w.message != nil:
		push(o.message, n.message, live, step)
	default:
		d.use(o.enum, n.enum, live, step)
	}
}

// areOne tells whether two types are one that is compared as a pair of its own.
func areOne(w, r *field) bool {
	switch {
	case w.message != nil && r.message != nil:
		return w.message.local == r.message.local && special[w.message.name] == special[r.message.name]
	case w.enum != nil && r.enum != nil:
		return w.enum.local == r.enum.local && (w.enum.name == nullValue) == (r.enum.name == nullValue)
	}
	return false
}

// landingFit says what is proved of the values of a field that lands on another
// one in JSON.
func (d *differ) landingFit(v *visit, w, r *field) fit {
	if w.card != mapped || r.card != mapped {
		if (w.message != nil && r.message != nil || w.enum != nil && r.enum != nil) && !areOne(w, r) {
			return untold
		}
		return d.fit(v, 1, w, r)
	}
	keys := exact
	if from, to := w.message.withNumber(1), r.message.withNumber(1); from.kind != to.kind {
		keys = keyFits[kindPair{from.kind, to.kind}]
	}
	w, r = w.message.withNumber(2), r.message.withNumber(2)
	switch {
	case areOne(w, r):
		return keys
	case w.message != nil || r.message != nil || w.enum != nil && r.enum != nil:
		return untold
	}
	return min(keys, scalarFit(jsonFits, w, r))
}

// crowd proves what happens where a field lands in a oneof that another field of
// the writer's is read as a member of: who sets both sets the oneof twice.
func (d *differ) crowd(t *told, v *visit, f, r *field, dir int) {
	if r.oneof == nil {
		return
	}
	w, reader := sides(v.o, v.n, dir)
	for _, other := range w.fields {
		to := reader.byKey()[other.key]
		if to == nil || to == r || to.oneof != r.oneof || f.oneof != nil && f.oneof == other.oneof {
			continue
		}
		d.prove(t, v, 1, dir, nil, nil, func(b *filler) [][]byte {
			return [][]byte{b.minimal(b.minimal(nil, f, r), other, to)}
		})
		return
	}
}
