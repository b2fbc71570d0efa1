package avro

// shape holds what can be said of types without looking at data.
type shape struct {
	endless map[*Named]bool // records that no finite value fits
	none    map[*Named]bool // records of zero bytes
}

// measure looks at everything that root reaches.
func measure(root *Type) shape {
	s := shape{endless: map[*Named]bool{}, none: map[*Named]bool{}}
	var records []*Named
	seen := map[*Named]bool{}
	var walk func(t *Type)
	walk = func(t *Type) {
		switch t.Kind {
		case Array, Map:
			walk(t.Items)
		case Union:
			for _, b := range t.Branches {
				walk(b)
			}
		case Record:
			if seen[t.Named] {
				return
			}
			seen[t.Named] = true
			for _, f := range t.Named.Fields {
				walk(f.Type)
			}
			records = append(records, t.Named) // those inside come first
		default: // the other kinds need nothing here
		}
	}
	walk(root)

	// A record ends when each of its fields does. Each field waits for the
	// record that it holds, or for one of those that its union holds.
	type clause struct {
		record *Named
		met    bool
	}
	open := make(map[*Named]int, len(records))
	waiting := map[*Named][]*clause{}
	var ready []*Named
	for _, r := range records {
		for _, f := range r.Fields {
			needs, ends := endings(f.Type)
			if ends {
				continue
			}
			open[r]++
			c := &clause{record: r}
			for _, need := range needs {
				waiting[need] = append(waiting[need], c)
			}
		}
		if open[r] == 0 {
			ready = append(ready, r)
		}
	}
	ended := map[*Named]bool{}
	for len(ready) > 0 {
		r := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		ended[r] = true
		for _, c := range waiting[r] {
			if c.met {
				continue
			}
			c.met = true
			if open[c.record]--; open[c.record] == 0 {
				ready = append(ready, c.record)
			}
		}
	}
	for _, r := range records {
		s.endless[r] = !ended[r]
		empty := ended[r]
		for _, f := range r.Fields {
			empty = empty && s.empty(f.Type)
		}
		s.none[r] = empty
	}
	return s
}

// endings tells whether a type has a finite value whatever the records are, or
// else which records it needs, one of them.
func endings(t *Type) (needs []*Named, ends bool) {
	switch t.Kind {
	case Record:
		return []*Named{t.Named}, false
	case Union:
		if len(t.Branches) == 0 {
			return nil, false
		}
		for _, b := range t.Branches {
			if b.Kind != Record {
				return nil, true
			}
			needs = append(needs, b.Named)
		}
		return needs, false
	default: // the other kinds need nothing here
	}
	return nil, true
}

// empty tells whether every value of t takes zero bytes.
func (s shape) empty(t *Type) bool {
	switch t.Kind {
	case Null:
		return true
	case Fixed:
		return t.Named.Size == 0
	case Record:
		return s.none[t.Named]
	default: // the other kinds need nothing here
	}
	return false
}
