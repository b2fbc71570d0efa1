package avro_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// generateCrowd makes a pair whose unions are crowded with types that share a few
// names: by their namespaces and by their aliases, so that for much that is written
// a reader has several branches of the name.
func generateCrowd(r *rand.Rand) (old, next string) {
	g := &generator{r: r}
	root := g.crowd()
	next = root.String()
	changed := root.clone(map[*genType]*genType{})
	if g.chance(4) {
		changed = g.crowd()
	}
	for range g.r.IntN(4) {
		g.push(changed)
	}
	if old = changed.String(); g.chance(2) {
		return next, old
	}
	return old, next
}

var (
	crowdNames  = []string{"A", "B", "C"}
	crowdSpaces = []string{"", "", "a", "b"}
)

// crowd makes a few types of one kind, or of two, and the unions around them.
func (g *generator) crowd() *genType {
	kinds := []string{pick(g.r, []string{"fixed", "enum", "record"}), pick(g.r, []string{"fixed", "enum", "record"})}
	var types []*genType
	for range 2 + g.r.IntN(3) {
		t := &genType{kind: pick(g.r, kinds), name: pick(g.r, crowdNames), space: pick(g.r, crowdSpaces)}
		if slices.ContainsFunc(types, func(o *genType) bool { return o.full() == t.full() }) {
			continue
		}
		types = append(types, t)
		g.know(t)
		switch t.kind {
		case "fixed":
			t.size = 1 + g.r.IntN(3)
		case "enum":
			t.symbols = g.symbols()
			if g.chance(3) {
				t.def = t.symbols[0]
			}
		}
	}
	for _, t := range types {
		if t.kind == "record" {
			for i := range g.r.IntN(3) {
				t.fields = append(t.fields, &genField{name: fmt.Sprintf("f%d", i), typ: g.inCrowd(types)})
			}
		}
	}
	// A definition is used where it has a branch to itself as well.
	root := &genType{kind: "record", name: "Root"}
	for i := range 1 + g.r.IntN(3) {
		root.fields = append(root.fields, &genField{name: fmt.Sprintf("r%d", i), typ: g.inCrowd(types)})
	}
	if t := g.inCrowd(types); g.chance(3) {
		return t
	}
	return root
}

func (g *generator) symbols() []string {
	list := []string{"X", "Y", "Z"}
	g.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:1+g.r.IntN(3)]
}

// know gives a type the names of others for aliases.
func (g *generator) know(t *genType) {
	t.aliases = nil
	for range g.r.IntN(3) {
		alias := pick(g.r, crowdNames)
		if space := pick(g.r, crowdSpaces); space != "" {
			alias = space + "." + alias
		}
		if !slices.Contains(t.aliases, alias) {
			t.aliases = append(t.aliases, alias)
		}
	}
}

// inCrowd is a union of some of the types, mostly.
func (g *generator) inCrowd(types []*genType) *genType {
	switch g.r.IntN(8) {
	case 0:
		return pick(g.r, types)
	case 1:
		return &genType{kind: pick(g.r, primitiveKinds)}
	case 2:
		return &genType{kind: "array", items: g.inCrowd(types)}
	}
	u := &genType{kind: "union"}
	u.add(&genType{kind: "null"}) // so that there is an end
	for range 1 + g.r.IntN(4) {
		u.add(pick(g.r, types))
	}
	return u
}

// push changes one thing, and no name to one that is taken.
func (g *generator) push(root *genType) {
	types := root.all(nil)
	t := pick(g.r, types)
	switch {
	case t.kind == "union":
		if g.chance(2) {
			slices.Reverse(t.branches)
		} else if len(t.branches) > 1 {
			at := g.r.IntN(len(t.branches))
			t.branches = slices.Delete(t.branches, at, at+1)
		}
	case t.name == "":
		t.kind = map[string]string{"int": "long", "long": "float", "string": "bytes", "bytes": "string"}[t.kind]
		if t.kind == "" {
			*t = genType{kind: "int"}
		}
	case g.chance(3):
		name, space := pick(g.r, crowdNames), pick(g.r, crowdSpaces)
		if full := (&genType{name: name, space: space}).full(); !slices.ContainsFunc(types, func(o *genType) bool { return o.name != "" && o.full() == full }) {
			t.name, t.space = name, space
		}
	case g.chance(2):
		g.know(t)
	case t.kind == "fixed":
		t.size = 1 + g.r.IntN(3)
	case t.kind == "enum":
		t.symbols, t.def = g.symbols(), ""
		if g.chance(3) {
			t.def = t.symbols[0]
		}
	case len(t.fields) > 0:
		g.mutateRecord(t)
	}
}

// TestCrowdHunt draws pairs whose unions have several branches of one name: what
// is told of a branch has to be told of the one that a reader chooses. No referee
// chooses as we do there (avro-compat 13), so our own reader judges alone.
func TestCrowdHunt(t *testing.T) {
	t.Parallel()
	end, seed := duration(t, time.Second)
	h := newHunt(t)
	h.alone = true
	refused := 0
	for i := uint64(0); h.goesOn(i, end); i++ {
		r := rand.New(rand.NewPCG(seed, i))
		oldText, newText := generateCrowd(r)
		h.name = fmt.Sprintf("seed %d pair %d", seed, i)
		if !h.try(r, oldText, newText) {
			refused++
		}
	}
	h.told(seed)
	if refused > h.pairs {
		t.Errorf("of %d pairs %d are none", h.pairs+refused, refused)
	}
}
