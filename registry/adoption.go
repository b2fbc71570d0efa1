package registry

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// adopt decides the import of a version: with the id and number it has in
// another registry, its text byte for byte, compared with nothing. Imports are
// judged one by one where nothing moves.
//
// Errors: CodeSchemaInvalid for a text that does not parse and for a number that
// is none; CodeNotPermitted where the id or the number stands for something
// else.
// Source: REST contract 5.4, 5.9 and 10.2; decision 5 of the specifications.
func (r *Registry) adopt(q Registration, v *view, try attempt, told *Stored, stamp *func() time.Time) (*decision, error) {
	number := q.Version
	if number == 0 || number == schemas.Latest {
		number = v.high + 1
	}
	switch {
	case strings.TrimSpace(q.Source.Text) == "":
		return nil, &Error{Code: CodeSchemaInvalid, Subject: q.Subject, Text: "schema is empty: an import brings its text along"}
	case try.err != nil:
		return nil, try.err
	case q.Version < schemas.Latest || v.high == math.MaxInt32 && q.Version <= 0:
		return nil, &Error{Code: CodeSchemaInvalid, Subject: q.Subject, Version: q.Version, Text: fmt.Sprintf("version %d of subject '%s' cannot be imported: versions are numbered from 1", int32(q.Version), q.Subject)}
	case *q.ID == 0:
		return nil, &Error{Code: CodeNotPermitted, Subject: q.Subject, Text: "id 0 cannot be imported: ids start at 1"}
	}
	source := schemas.Source{Type: q.Source.Type, Text: q.Source.Text, References: v.lenient.references}
	want := try.form.identity(q.Metadata, q.RuleSet)
	if source.Text != try.form.source.Text {
		want = &identity{
			guid: schemas.GUIDOf(source.Text, source.References, q.Metadata, q.RuleSet), kind: source.Type, hash: HashOf(source.Text),
			references: source.References, metadata: q.Metadata, rules: q.RuleSet, canonical: want.hashOf(),
		}
	}
	v.reads = append(v.reads, v.lenient.reads...)
	v.alone = true
	v.build = func(b *batch) error {
		return b.adopt(v.decision, q.Subject, number, *q.ID, source, want, told, stamp)
	}
	return v.decision, nil
}

// adopt adds an import to the batch, or answers the version that is there.
func (b *batch) adopt(d *decision, name schemas.Subject, number schemas.Version, id int32, source schemas.Source, want *identity, told *Stored, stamp *func() time.Time) error {
	refuse := func(format string, args ...any) error {
		return &Error{Code: CodeNotPermitted, Subject: name, Version: number, Text: fmt.Sprintf(format, args...)}
	}
	s := b.state
	var e *entry
	if n := s.contexts[name.Context]; n != nil {
		e = n.entries[id]
	}
	if e != nil {
		held := s.identity(e)
		if held.content() != want.content() {
			return refuse("id %d of context '%s' stands for another schema already (GUID %s)", id, name.Context, e.guid)
		}
		want, source = held, s.source(e)
	}
	u := s.subject(name)
	switch v := u.find(number); {
	case v != nil && v.entry != e:
		return refuse("version %d of subject '%s' is there already, with id %d", number, name, v.entry.id)
	case v != nil && v.live():
		*told = s.stored(u, v)
		return nil
	case v == nil && u != nil:
		if was, taken := u.gone[number]; taken && (was.guid != want.guid || s.types[was.kind] != want.kind) {
			return refuse("version %d of subject '%s' was another schema (GUID %s), and a number never stands for two", number, name, was.guid)
		}
	}
	if s.texts[want.hash] == nil {
		b.text(Text{want.hash, source.Text})
	}
	event := d.by(KindVersionRegistered, registeredBody{
		V: bodyVersion, Context: name.Context, Subject: name.Name, Version: number, ID: id, Type: want.kind, GUID: want.guid.String(),
		References: referencesToBody(want.references), Metadata: metadataToBody(want.metadata), RuleSet: ruleSetToBody(want.rules),
		Canonical: hashToBody(want.canonical),
	})
	event.Text = want.hash
	at := len(b.events)
	b.add(event)
	b.touch(key{versions, name})
	for _, ref := range want.references {
		b.touch(key{referrers, ref.Target(name.Context)})
	}
	*told = Stored{Fresh: true, Found: schemas.Found{
		Subject: name, Version: number, ID: schemas.ID{Context: name.Context, Number: id}, GUID: want.guid,
		Source: source, Metadata: want.metadata, RuleSet: want.rules,
	}}
	*stamp = func() time.Time { return b.events[at].Time }
	return nil
}
