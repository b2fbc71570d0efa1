package validate

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/schemas"
)

// binding is what an identity stands for: one schema, and where it is used; or
// why there is none.
type binding struct {
	parsed         *parsed
	reader         *parsed
	translation    *translation
	tally          *tally // counts for the readers' report; nil when there is none
	subject        schemas.Subject
	version        schemas.Version
	id             schemas.ID
	guid           schemas.GUID
	typ            schemas.Type
	retired        bool
	foreignID      bool
	unknownVersion bool
	unverified     bool
	assumed        bool
	foreign        bool // another product's identity is among those that agree
	until          time.Time
	over           *atomic.Bool // until has come; nil: ask the clock
	failure        *failure
	message        string  // of the header schemaMessage
	as             *recall // in the cache
}

// String names the schema, for people.
func (b *binding) String() string {
	switch {
	case b.version != 0:
		return fmt.Sprintf("%s version %s (guid %s)", b.subject, b.version, b.guid)
	case b.guid != (schemas.GUID{}):
		return "guid " + b.guid.String()
	}
	return fmt.Sprintf("id %s", b.id)
}

// claim is one identity of a message, and what it turned out to be.
type claim struct {
	what    string // for people
	name    name
	foreign framing.Foreign
	record  *record
	err     error
}

// binder binds one identity. It lives for one message.
type binder struct {
	v       *Validator
	id      *identity
	x       *extra
	m       *Message
	subject schemas.Subject // the one expected or said; zero when neither
	guid    schemas.GUID    // of the header schemaGuid
	number  int32           // of the header schemaId
	version schemas.Version // of the header schemaVersion
	typ     schemas.Type
	claims  []claim
	asked   bool // a registry was asked
	until   time.Time
}

// bind finds what an identity stands for, asking the registry where needed.
func (v *Validator) bind(ctx context.Context, m *Message, id *identity, x *extra) (b *binding, cached bool) {
	if b := v.cache.binding(id, v.options.Now); b != nil {
		return b, true
	}
	// Copies, so that the two of the hot path stay on the stack, and what is kept
	// holds on to no message.
	return v.bindAnew(ctx, *m, id.clone(), *x)
}

func (v *Validator) bindAnew(ctx context.Context, m Message, id identity, x extra) (b *binding, cached bool) {
	now := v.options.Now()
	d := binder{v: v, id: &id, x: &x, m: &m, until: now.Add(v.options.VersionFresh)}
	b, f := d.bind(ctx)
	keep := x.foreign.Vendor == ""
	if f != nil {
		b = &binding{failure: f, until: now.Add(v.options.NotFound)}
		keep = keep && f.keeps()
		if f.reason == VersionUnsupported || f.reason == VersionRetired {
			b.tally = v.readers.of(id.expect, f.subject, f.version)
		}
	} else {
		b.until = d.until
		keep = keep && !b.unverified
		b.tally = v.readers.of(id.expect, b.subject, b.version)
	}
	b.message = id.message
	if keep {
		if v.wall {
			b.expire(b.until.Sub(now))
		}
		v.cache.bind(&id, b)
	}
	return b, !d.asked
}

// keeps tells whether the same identity fails the same way for a while, so that
// a stream of such messages asks nothing. What fails before anything is asked is
// not kept: its texts are as long as a sender likes.
func (f *failure) keeps() bool {
	switch f.reason {
	case IdentityConflict, SubjectMismatch, VersionUnsupported, VersionRetired:
		return true
	default:
		return false
	}
}

func (d *binder) bind(ctx context.Context) (*binding, *failure) {
	if f := d.read(); f != nil {
		return nil, f
	}
	if f := d.wantSubject(); f != nil {
		return nil, f
	}
	d.claim()
	assumed := false
	if len(d.claims) == 0 {
		assume := d.id.expect.Assume
		if assume == 0 || d.subject == (schemas.Subject{}) {
			return nil, d.missing()
		}
		assumed = true
		d.version = assume
		d.add("the assumed version", d.versionName(d.subject, assume))
	}
	b, f := d.agree(ctx, false)
	if f != nil && f.reason == IdentityConflict {
		// A cache may be older than a version that was deleted and another
		// registry's ids: asked once more, past it, before it is final.
		b, f = d.agree(ctx, true)
	}
	if f != nil {
		return nil, f
	}
	b.assumed = assumed
	if f := d.place(ctx, b); f != nil {
		return nil, f
	}
	return b, d.admit(ctx, b)
}

// read checks the grammar of what the headers say.
func (d *binder) read() *failure {
	var err error
	malformed := func() *failure { return &failure{reason: HeaderMalformed, err: err} }
	if d.id.guid != "" {
		if d.guid, err = framing.ParseGUID(d.id.guid); err != nil {
			return malformed()
		}
	}
	if d.id.id != "" {
		if d.number, err = framing.ParseID(d.id.id); err != nil {
			return malformed()
		}
	}
	if d.id.version != "" {
		if d.version, err = framing.ParseVersion(d.id.version); err != nil {
			return malformed()
		}
	}
	if d.id.typ != "" {
		if d.typ, err = framing.ParseType(d.id.typ); err != nil {
			return malformed()
		}
	}
	for _, one := range [...]struct{ header, text string }{{framing.SchemaSubject, d.id.subject}, {framing.SchemaMessage, d.id.message}} {
		if one.text != "" {
			if _, err = framing.ParseText(one.header, one.text); err != nil {
				return malformed()
			}
		}
	}
	return d.id.checkTexts(d.x)
}

// wantSubject settles the subject, as far as that goes before the schema is
// known: the expected one and the one that the message says are the same.
func (d *binder) wantSubject() *failure {
	if d.id.subject != "" {
		d.subject = schemas.ParseSubject(d.id.subject)
	}
	s := d.id.expect.Subject
	if s.kind == noStrategy || s.needsType() {
		return nil
	}
	want, err := s.subject(d.m, d.id.destination, "")
	if err != nil {
		return &failure{reason: SubjectMismatch, err: err}
	}
	return d.meet(want)
}

// meet compares the expected subject with the one that the message says.
func (d *binder) meet(want schemas.Subject) *failure {
	if d.id.subject != "" && d.subject != want {
		f := fail(SubjectMismatch, "the message says subject %s, and %s is expected here", d.subject, want)
		f.subject = d.subject
		return f
	}
	d.subject = want
	return nil
}

// claim lists the identities in the order in which they are looked up.
func (d *binder) claim() {
	context := d.subject.Context
	if context == "" {
		context = schemas.DefaultContext
	}
	if d.guid != (schemas.GUID{}) {
		d.add("schemaGuid", guidName(d.guid, context))
	}
	if d.id.binary.Form != 0 {
		d.add("the binary schema header", prefixName(d.id.binary, context))
	}
	if d.version != 0 && d.subject != (schemas.Subject{}) {
		d.add("schemaVersion", d.versionName(d.subject, d.version))
	}
	if d.number != 0 {
		d.add("schemaId", name{kind: byID, subject: schemas.Subject{Context: context}, number: d.number})
	}
	if d.id.prefix.Form != 0 {
		d.add("the payload's prefix", prefixName(d.id.prefix, context))
	}
	if d.id.dataschema != "" {
		if n, ok := parseDataschema(d.id.dataschema); ok {
			if n.kind == byGUID {
				n = guidName(n.guid, context)
			}
			d.add("dataschema", n)
		}
	}
	if d.x.foreign.Vendor != "" {
		if _, ok := foreignOf(d.v.lookup); ok {
			d.add(d.x.foreign.String(), name{kind: byForeign, foreign: d.x.foreign.String()})
		}
	}
}

func (d *binder) add(what string, n name) {
	for _, c := range d.claims {
		if c.name == n {
			return
		}
	}
	d.claims = append(d.claims, claim{what: what, name: n, foreign: d.x.foreign})
}

func (d *binder) versionName(s schemas.Subject, v schemas.Version) name {
	return name{kind: byVersion, subject: s, number: int32(v)}
}

// guidName asks for a GUID as seen from a context: what the schema's unqualified
// references mean depends on it, and the GUID does not cover that.
func guidName(g schemas.GUID, in schemas.Context) name {
	if in == schemas.DefaultContext {
		in = ""
	}
	return name{kind: byGUID, guid: g, subject: schemas.Subject{Context: in}}
}

func prefixName(p framing.Prefix, in schemas.Context) name {
	if p.Form == framing.ByGUID {
		return guidName(p.GUID, in)
	}
	return name{kind: byID, subject: schemas.Subject{Context: in}, number: p.ID}
}

// missing says that a message has no identity, and what it has instead.
func (d *binder) missing() *failure {
	text := "no header names the message's schema"
	if d.version != 0 {
		text = "schemaVersion is there and schemaSubject is not, and this consumer names no subject"
	}
	if near := nearMisses(d.m); len(near) > 0 {
		text += fmt.Sprintf("; header names are case-sensitive, and there is %s", near[0])
		for _, n := range near[1:] {
			text += ", " + n
		}
	}
	if d.id.dataschema != "" {
		text += fmt.Sprintf("; the dataschema %q is not of a registry", cut(d.id.dataschema, 100))
	}
	if d.x.foreign.Vendor != "" {
		text += "; there is " + d.x.foreign.String() + ", which the lookup does not know"
	}
	return &failure{reason: HeaderMissing, err: errors.New(text)}
}

// agree looks the claims up and compares what they turned out to be.
func (d *binder) agree(ctx context.Context, force bool) (*binding, *failure) {
	var first *claim     // the strongest that resolved
	var unknown *failure // the strongest that is unknown
	var open *failure    // the strongest that could not be asked
	for i := range d.claims {
		c := &d.claims[i]
		d.resolve(ctx, c, force)
		if c.err == nil {
			if first == nil {
				first = c
			}
			continue
		}
		f := &failure{reason: reasonOf(c.err), err: fmt.Errorf("look up %s: %w", c.what, c.err), subject: d.subject, version: d.version, name: c.name}
		switch {
		case f.reason.Verdict() == Hold && open == nil:
			open = f
		case f.reason.Verdict() == Reject && unknown == nil:
			unknown = f
		}
	}
	if first == nil || force && open != nil {
		if open != nil {
			return nil, open
		}
		if unknown == nil {
			return nil, d.missing()
		}
		return nil, unknown
	}
	b := &binding{unverified: open != nil}
	for i := range d.claims {
		c := &d.claims[i]
		if f := d.compare(first, c, b); f != nil {
			return nil, f
		}
	}
	// A GUID does not cover what references point to: where a version or an id
	// names the schema too, that one says which is meant.
	best := first
	if first.name.kind == byGUID && len(first.record.found.Source.References) > 0 {
		for i := range d.claims {
			if c := &d.claims[i]; c.err == nil && c.name.kind != byGUID {
				best = c
				break
			}
		}
	}
	for i := range d.claims {
		c := &d.claims[i]
		b.foreign = b.foreign || c.err == nil && c.name.kind == byForeign
	}
	d.describe(b, best)
	return b, nil
}

func (d *binder) resolve(ctx context.Context, c *claim, force bool) {
	r, cached, err := d.v.get(ctx, c.name, asking{force: force, foreign: c.foreign})
	c.record, c.err = r, err
	d.asked = d.asked || !cached
	if err == nil && c.name.kind == byVersion && d.v.options.Now().Sub(r.fetched) >= d.v.options.VersionFresh {
		// It is being refreshed; look again soon.
		d.until = d.v.options.Now().Add(time.Second)
	}
}

// compare holds one claim against the strongest that resolved.
func (d *binder) compare(first, c *claim, b *binding) *failure {
	if c.err != nil {
		switch reason := reasonOf(c.err); {
		case reason.Verdict() == Hold:
			return nil
		case c.name.kind == byGUID && first.record.found.GUID != (schemas.GUID{}):
			// The schema found has a GUID, and it is not this one.
			return d.conflict(first, c)
		case c.name.kind == byID:
			if !d.confirmed(first) && first.record.found.ID.Number != 0 {
				return d.conflict(first, c)
			}
			b.foreignID = true
		case c.name.kind == byVersion:
			b.unknownVersion = true
		}
		return nil
	}
	if first.record.sameSchema(c.record) {
		return nil
	}
	if c.name.kind == byID && d.confirmed(first) {
		// The GUID is the schema's own; the id was given by another registry.
		b.foreignID = true
		return nil
	}
	return d.conflict(first, c)
}

// confirmed tells whether the message's own GUID is that of c's schema.
func (d *binder) confirmed(c *claim) bool {
	if d.id.binary.Form == framing.ByGUID && d.id.binary.GUID == c.record.found.GUID {
		return true
	}
	return d.guid != (schemas.GUID{}) && d.guid == c.record.found.GUID
}

func (d *binder) conflict(first, c *claim) *failure {
	say := func(c *claim) string {
		switch {
		case c.err != nil:
			return c.what + " is unknown"
		case c.record.found.Version != 0:
			return fmt.Sprintf("%s is %s version %s (guid %s)", c.what, c.record.found.Subject, c.record.found.Version, c.record.found.GUID)
		}
		return fmt.Sprintf("%s is guid %s", c.what, c.record.found.GUID)
	}
	f := fail(IdentityConflict, "the message's identities name different schemas: %s, %s", say(first), say(c))
	f.subject, f.version = d.subject, d.version
	return f
}

func (d *binder) describe(b *binding, c *claim) {
	f := c.record.found
	b.parsed, b.guid, b.id, b.typ = c.record.parsed, f.GUID, f.ID, f.Source.Type
	for i := range d.claims {
		c := &d.claims[i]
		if c.err != nil {
			continue
		}
		if b.id.Number == 0 {
			b.id = c.record.found.ID
		}
		if b.guid == (schemas.GUID{}) {
			b.guid = c.record.found.GUID
		}
		if c.name.kind == byVersion {
			b.subject, b.version, b.retired = c.name.subject, schemas.Version(c.name.number), c.record.found.Deleted
		}
	}
}
