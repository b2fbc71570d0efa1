package registry_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// counting is the fake format with a count of its parses, at once and in all.
type counting struct {
	schemas.Format
	now, most, all atomic.Int64
	hold           chan struct{} // parses wait for it when it is not nil
}

func newCounting() *counting {
	c := &counting{}
	c.Format = schemas.Format{Type: schemas.Avro, Parse: func(ctx context.Context, s schemas.Source, r schemas.Resolver, o schemas.ParseOptions) (schemas.Schema, error) {
		c.all.Add(1)
		now := c.now.Add(1)
		for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
		}
		if c.hold != nil {
			<-c.hold
		}
		defer c.now.Add(-1)
		f, err := parseFake(ctx, s, r, o)
		if err != nil {
			return nil, err
		}
		return f, nil
	}}
	return c
}

func (c *counting) options(o *registry.Options) { o.Formats = []schemas.Format{c.Format} }

func TestOneParseForMany(t *testing.T) {
	t.Parallel()
	c := newCounting()
	r := open(t, c.options)
	play(t, r, `register s "A x" => id 1 v1 new`)
	parses := c.all.Load()
	together(16, func(int) {
		if got := do(t.Context(), r, `register s "A x"`); got != "id 1 v1" {
			t.Error(got)
		}
	})
	if c.all.Load() != parses {
		t.Errorf("a known text was parsed %d times more", c.all.Load()-parses)
	}
	c.hold = make(chan struct{})
	close(c.hold)
	together(16, func(int) { do(t.Context(), r, `lookup s "A new"`) })
	if got := c.all.Load() - parses; got > 3 {
		t.Errorf("one text of 16 clients was parsed %d times", got)
	}
}

// A new schema is not compared with a whole history each time, although no parsed
// form of it is kept.
func TestLongHistoriesAreReadOnce(t *testing.T) {
	t.Parallel()
	c := newCounting()
	r := open(t, c.options, func(o *registry.Options) { o.Cache = -1 })
	play(t, r, `config s level=NONE => {level=NONE}`)
	const versions = 300
	for i := range versions {
		do(t.Context(), r, fmt.Sprintf(`register s "A f%d x y"`, i))
	}
	before := c.all.Load()
	play(t, r, `
		register s "A new x y" => id 301 v301 new
		register s "A newer x y" => id 302 v302 new
		lookup s "A x newest y" => 40403
		lookup s "A y f7 x" => id 8 v8
	`)
	if n := c.all.Load() - before; n > 20 {
		t.Errorf("four requests read %d texts", n)
	}
}

// spaced prints the fake format as another release might: its canonical texts
// are not those that are stored.
type spaced struct{ *fake }

func (s spaced) Canonical() string { return strings.Join(s.words, "  ") }

func (s spaced) Equivalent(other schemas.Schema) bool {
	o, ok := other.(spaced)
	return ok && s.fake.Equivalent(o.fake)
}

// After a start nothing is known of a history but its texts: a new schema is
// compared with those like it, and with some of the others.
func TestFirstLookAtALongHistory(t *testing.T) {
	t.Parallel()
	const versions, window = 1000, 64
	j := newShared()
	first := openOn(t, node{j})
	play(t, first, `config s level=NONE => {level=NONE}`)
	for i := range versions {
		do(t.Context(), first, fmt.Sprintf(`register s "A f%d x y"`, i))
	}
	for name, tt := range map[string]struct {
		likeness func(string) uint64
		print    func(*fake) schemas.Schema
		script   string
		least    int64 // texts that are read
		most     int64
	}{
		"those like it":     {schemas.Unordered, nil, `lookup s "A y f7 x" => id 8 v8`, 1, window + 10},
		"nothing like it":   {schemas.Unordered, nil, `lookup s "A f7 x" => 40403`, window, 2*window + 10},
		"each is read once": {schemas.Unordered, nil, strings.Repeat("lookup s \"A f7 x\" => 40403\n", 9), versions, versions + 30},
		"without likeness":  {nil, nil, `lookup s "A f7 x" => 40403`, versions, versions + 10},
		"printed anew, lately stored": {
			schemas.Unordered, func(f *fake) schemas.Schema { return spaced{f} },
			`lookup s "A f990 x y" => id 991 v991`, 1, window,
		},
		"printed anew, stored long ago": {
			schemas.Unordered, func(f *fake) schemas.Schema { return spaced{f} },
			strings.Repeat("lookup s \"A f7 x\" => 40403\n", 9) + `lookup s "A f7 x y" => id 8 v8`, versions, versions + 20,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCounting()
			parse := c.Parse
			c.Likeness = tt.likeness
			c.Parse = func(ctx context.Context, s schemas.Source, r schemas.Resolver, o schemas.ParseOptions) (schemas.Schema, error) {
				got, err := parse(ctx, s, r, o)
				if f, ok := got.(*fake); ok && tt.print != nil {
					got = tt.print(f)
				}
				return got, err
			}
			r := openOn(t, node{j}, c.options, func(o *registry.Options) { o.Cache = -1 })
			play(t, r, tt.script)
			if n := c.all.Load(); n < tt.least || n > tt.most {
				t.Errorf("%d texts are read, want %d to %d", n, tt.least, tt.most)
			}
		})
	}
}

// However many clients there are, no more texts are parsed at once than there
// are processors: each may need a good part of the memory.
func TestParsesAreBounded(t *testing.T) {
	t.Parallel()
	c := newCounting()
	r := open(t, c.options)
	together(64, func(i int) {
		do(t.Context(), r, fmt.Sprintf(`register s%d "A x%d y%d" normalize`, i, i, i))
	})
	if most := c.most.Load(); most > int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d texts were parsed at once on %d processors", most, runtime.GOMAXPROCS(0))
	}
	consistent(t, r, 64)
}

// A registry without a cache answers alike.
func TestCacheSizes(t *testing.T) {
	t.Parallel()
	for _, size := range []int{-1, 1, 700, 1 << 20} {
		c := newCounting()
		r := open(t, c.options, func(o *registry.Options) { o.Cache = size })
		for n := range 20 {
			play(t, r, fmt.Sprintf(`register s "A x%d?" => id %d v%d new`, n, n+1, n+1))
		}
		before := c.all.Load()
		play(t, r, `register s "A x0?" => id 1 v1`)
		switch parses := c.all.Load() - before; {
		case size > 10_000 && parses != 0:
			t.Errorf("a cache of %d bytes parsed again %d times", size, parses)
		case size <= 1 && parses == 0:
			t.Errorf("a cache of %d bytes kept a form", size)
		}
	}
}

// One text is held once, however many subjects have it.
func TestOneTextIsHeldOnce(t *testing.T) {
	const subjects, size = 2_000, 80_000
	r := open(t)
	text := "A " + strings.Repeat("x", size) + "?"
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	play(t, r, `register first "A x?" => id 1 v1 new`)
	before := heap()
	together(32, func(i int) {
		for n := i; n < subjects; n += 32 {
			if _, err := r.Register(t.Context(), inSubject(fmt.Sprint("subject-", n), text)); err != nil {
				t.Error(err)
			}
		}
	})
	// The goal is 5 MB for 8,000 subjects; the form, the text and a request's
	// copy of it come on top.
	if got, most := heap()-before, int64(5<<20*subjects/8_000+10*size); got > most {
		t.Errorf("%d subjects of one text hold %d bytes, want at most %d", subjects, got, most)
	}
	if list, err := r.SubjectsOf(t.Context(), 2, nil, registry.LiveOnly, registry.Page{}); err != nil || len(list) != subjects {
		t.Errorf("%d subjects use the id, %v", len(list), err)
	}
}
