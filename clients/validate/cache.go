package validate

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

type nameKind uint8

const (
	byGUID nameKind = iota + 1
	byID
	byVersion
	byLatest
	bySource
	byForeign
	byVerdict // of two fingerprints; only in a last-good file
)

// String is the kind's word, as [Asked] tells it.
func (k nameKind) String() string {
	switch k {
	case byGUID:
		return "guid"
	case byID:
		return "id"
	case byVersion:
		return "version"
	case byLatest:
		return "latest"
	case bySource:
		return "source"
	case byForeign:
		return "foreign"
	case byVerdict:
		return "verdict"
	}
	return "unknown"
}

// name is one way of asking for a schema. It is what lookups are cached by.
type name struct {
	kind    nameKind
	guid    schemas.GUID
	subject schemas.Subject // of an id: its context alone
	number  int32           // an id or a version
	print   schemas.Fingerprint
	foreign string
}

// parsed is a schema that was read once. Names, and bindings, point to it.
type parsed struct {
	schema schemas.Schema
	title  string // JSON Schema's title; its name for the strategies by type
	weight int
	used   int64       // when it served last, as far as evictions have looked
	hot    atomic.Bool // it has served since the last one looked
	names  map[name]bool
}

// use notes that p serves. It neither looks at the clock nor, mostly, writes what
// other processors read.
func (p *parsed) use() {
	if !p.hot.Load() {
		p.hot.Store(true)
	}
}

// record is what a name stands for.
type record struct {
	found   schemas.Found
	parsed  *parsed
	fetched time.Time
	stamped atomic.Pointer[stampTexts] // the newest, since a producer mostly has one
}

// sameSchema tells whether two records are of one schema. Two GUIDs decide;
// where one is not known the fingerprints do.
func (r *record) sameSchema(o *record) bool {
	if r.found.GUID != (schemas.GUID{}) && o.found.GUID != (schemas.GUID{}) {
		return r.found.GUID == o.found.GUID
	}
	return r.parsed.schema.Fingerprint() == o.parsed.schema.Fingerprint()
}

const (
	mostNegatives = 10_000
	mostBindings  = 10_000
	mostRecent    = 64
	nameWeight    = 256
)

// bindingKey is a whole identity, for one consumer.
type bindingKey struct {
	expect   *Expect
	identity string
}

type negative struct {
	err error
	at  time.Time
}

// cache holds records by name and parsed schemas by fingerprint, bounded in
// bytes, least recently used out first; and the bindings of whole identities,
// which are the hot path.
type cache struct {
	limit int

	mu        sync.RWMutex
	names     map[name]*record
	schemas   map[schemas.Fingerprint]*parsed
	bytes     int
	negatives map[name]negative

	bound    sync.RWMutex
	bindings map[bindingKey]*binding
	// recent are bindings met a moment ago, found by a comparison and no lock.
	recent [mostRecent]atomic.Pointer[recall]
	// sights are messages met a moment ago, found without collecting what they say.
	sights [mostSights]atomic.Pointer[sight]
}

// recall is an identity, in memory of its own, and what it is bound to.
type recall struct {
	identity identity
	binding  *binding
}

func (c *cache) open(limit int) {
	c.limit = limit
	c.names = map[name]*record{}
	c.schemas = map[schemas.Fingerprint]*parsed{}
	c.negatives = map[name]negative{}
	c.bindings = map[bindingKey]*binding{}
}

// binding finds what an identity is bound to, if that is still fresh.
func (c *cache) binding(id *identity, clock func() time.Time) *binding {
	var b *binding
	if r := c.recent[id.slot()].Load(); r != nil && r.identity == *id {
		b = r.binding
	} else {
		b = c.bindingOf(id)
	}
	if b == nil || b.isOver(clock) {
		return nil
	}
	if b.parsed != nil {
		b.parsed.use()
	}
	return b
}

// isOver tells whether a binding is to be made anew. A timer tells it: asking the
// clock for each message costs more than all that is compared here. A clock of
// the caller's is asked.
func (b *binding) isOver(clock func() time.Time) bool {
	if b.over != nil {
		return b.over.Load()
	}
	return clock().After(b.until)
}

// expire sets the timer. It holds on to nothing but the flag.
func (b *binding) expire(after time.Duration) {
	over := &atomic.Bool{}
	b.over = over
	time.AfterFunc(max(after, 0), func() { over.Store(true) })
}

// bindingOf looks among all bindings; what it finds is the next one's recent.
func (c *cache) bindingOf(id *identity) *binding {
	var room [384]byte
	text := id.append(room[:0])
	c.bound.RLock()
	b := c.bindings[bindingKey{id.expect, string(text)}] // the compiler makes no string for this
	c.bound.RUnlock()
	if b != nil {
		c.recent[id.slot()].Store(b.as)
	}
	return b
}

func (c *cache) bind(id *identity, b *binding) {
	key := bindingKey{id.expect, string(id.append(nil))}
	b.as = &recall{*id, b}
	c.bound.Lock()
	defer c.bound.Unlock()
	if len(c.bindings) >= mostBindings {
		clear(c.bindings)
	}
	c.bindings[key] = b
}

func (c *cache) unbind() {
	c.bound.Lock()
	defer c.bound.Unlock()
	clear(c.bindings)
	for i := range c.recent {
		c.recent[i].Store(nil)
	}
	for i := range c.sights {
		c.sights[i].Store(nil)
	}
}

func (c *cache) record(n name) *record {
	c.mu.RLock()
	defer c.mu.RUnlock()
	r := c.names[n]
	if r != nil {
		r.parsed.use()
	}
	return r
}

func (c *cache) negative(n name) (negative, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	neg, ok := c.negatives[n]
	return neg, ok
}

// refuse remembers that a name has no schema.
func (c *cache) refuse(n name, err error, now time.Time, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.negatives) >= mostNegatives {
		for k, neg := range c.negatives {
			if now.Sub(neg.at) >= keep {
				delete(c.negatives, k)
			}
		}
		if len(c.negatives) >= mostNegatives {
			clear(c.negatives)
		}
	}
	c.negatives[n] = negative{err, now}
}

// forget drops what a name stands for.
func (c *cache) forget(n name) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.names[n]; old != nil {
		delete(c.names, n)
		delete(old.parsed.names, n)
		c.bytes -= nameWeight
	}
}

// keep stores a record under a name, and gives the one stored: the parsed form
// is shared with every name of the same fingerprint.
func (c *cache) keep(n name, found schemas.Found, schema schemas.Schema, title string, now time.Time) *record {
	n.subject.Name, n.foreign = strings.Clone(n.subject.Name), strings.Clone(n.foreign)
	print := schema.Fingerprint()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.negatives, n)
	p := c.schemas[print]
	if p == nil {
		p = &parsed{schema: schema, title: title, weight: schema.Weight() + len(found.Source.Text), names: map[name]bool{}}
		c.schemas[print] = p
		c.bytes += p.weight
	}
	p.used = now.UnixNano()
	r := &record{found: found, parsed: p, fetched: now}
	c.put(n, r)
	for _, other := range n.besides(found) {
		c.put(other, r)
	}
	c.evict(p, now)
	return r
}

// besides are the names that an answer to n tells too, so that they need no
// question of their own. A GUID does not cover what references point to, so it
// is taken only where there are none.
func (n name) besides(found schemas.Found) []name {
	var out []name
	if found.ID.Number != 0 && n.kind != byID {
		out = append(out, name{kind: byID, subject: schemas.Subject{Context: found.ID.Context}, number: found.ID.Number})
	}
	if found.GUID != (schemas.GUID{}) && n.kind != byGUID && len(found.Source.References) == 0 {
		out = append(out, guidName(found.GUID, found.Subject.Context))
	}
	return out
}

func (c *cache) put(n name, r *record) {
	if old := c.names[n]; old != nil {
		delete(old.parsed.names, n)
	} else {
		c.bytes += nameWeight
	}
	c.names[n] = r
	r.parsed.names[n] = true
}

// evict makes room, and never drops the one that was just added: a schema
// beyond the bound would otherwise be parsed anew for each message.
func (c *cache) evict(newest *parsed, now time.Time) {
	if c.bytes > c.limit {
		for _, p := range c.schemas {
			if p.hot.Swap(false) {
				p.used = now.UnixNano()
			}
		}
	}
	for c.bytes > c.limit && len(c.schemas) > 1 {
		var oldest *parsed
		var at schemas.Fingerprint
		for print, p := range c.schemas {
			if p != newest && (oldest == nil || p.used < oldest.used) {
				oldest, at = p, print
			}
		}
		for n := range oldest.names {
			delete(c.names, n)
			c.bytes -= nameWeight
		}
		c.bytes -= oldest.weight
		delete(c.schemas, at)
		c.unbind() // bindings would keep it alive
	}
}

func (c *cache) size() (bytes, count int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.bytes, len(c.schemas)
}
