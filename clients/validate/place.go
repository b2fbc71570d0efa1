package validate

import (
	"context"
	"fmt"

	"github.com/cartorio-registry/cartorio/schemas"
)

// recordName is the full name that the strategies by type use.
func (b *binding) recordName(message string) string {
	switch {
	case b.typ == schemas.JSON:
		return b.parsed.title
	case b.typ == schemas.Protobuf && message != "":
		return message
	}
	if b.typ == schemas.Protobuf {
		if m, ok := b.parsed.schema.(schemas.Messages); ok {
			name, _ := m.MessageAt([]int{0})
			return name
		}
	}
	if names := b.parsed.schema.Names(); len(names) > 0 {
		return names[0]
	}
	return ""
}

// place finds the subject and the version that the schema is used as.
func (d *binder) place(ctx context.Context, b *binding) *failure {
	if s := d.id.expect.Subject; s.needsType() {
		want, err := s.subject(d.m, d.id.destination, b.recordName(d.id.message))
		if err != nil {
			return &failure{reason: SubjectMismatch, err: err}
		}
		if f := d.meet(want); f != nil {
			return f
		}
	}
	if b.version != 0 && b.subject == d.subject {
		return nil
	}
	var found schemas.Found
	for i := range d.claims {
		c := &d.claims[i]
		if c.err != nil || c.record.found.Version == 0 {
			continue
		}
		if c.record.found.Subject == d.subject {
			found = c.record.found
			break
		}
		// Where a GUID is used is nobody's question: it may be in many places.
		if found.Version == 0 && c.name.kind != byGUID {
			found = c.record.found
		}
	}
	switch {
	case d.subject == (schemas.Subject{}) || found.Subject == d.subject && found.Version != 0:
		b.subject, b.version, b.retired = found.Subject, found.Version, found.Deleted
		return nil
	case b.unknownVersion || b.unverified && d.version != 0:
		// The number is what the message says; nothing here knows better.
		b.subject, b.version = d.subject, d.version
		return nil
	}
	source := b.parsed.schema.Source()
	n := name{kind: bySource, subject: d.subject, print: printOf(source)}
	r, cached, err := d.v.get(ctx, n, asking{source: source})
	d.asked = d.asked || !cached
	if err != nil {
		f := &failure{reason: reasonOf(err), err: fmt.Errorf("look for the schema in the subject %s: %w", d.subject, err), subject: d.subject, name: n}
		if f.reason == SchemaUnknown {
			f.reason = SubjectMismatch
			f.err = fmt.Errorf("the schema (%s) is not one of the subject %s: %w", b, d.subject, err)
		}
		return f
	}
	// A GUID covers metadata too, which the question left out; what the data means
	// is in the fingerprint.
	if r.parsed.schema.Fingerprint() != b.parsed.schema.Fingerprint() {
		return fail(SubjectMismatch, "the schema (%s) is not one of the subject %s, whose version %s is like it", b, d.subject, r.found.Version)
	}
	b.subject, b.version, b.retired = d.subject, r.found.Version, r.found.Deleted
	return nil
}

// admit asks whether this consumer takes the version, and gets its reader.
func (d *binder) admit(ctx context.Context, b *binding) *failure {
	e := d.id.expect
	refuse := func(f *failure) *failure {
		f.subject, f.version = b.subject, b.version
		return f
	}
	if d.typ != "" && d.typ != b.typ {
		return refuse(fail(IdentityConflict, "the header schemaType says %s, and the schema is %s", d.typ, b.typ))
	}
	if b.retired && e.RefuseRetired {
		return refuse(fail(VersionRetired, "version %s of %s is soft-deleted, and this consumer refuses such", b.version, b.subject))
	}
	if f := d.support(ctx, b); f != nil {
		return refuse(f)
	}
	if e.Reader == 0 {
		return nil
	}
	r, f := d.own(ctx, b.subject, e.Reader, "the reader's version")
	if f != nil {
		return refuse(f)
	}
	b.reader = r.parsed
	return nil
}

// support asks whether the version is declared, or can be translated into one
// that is.
func (d *binder) support(ctx context.Context, b *binding) *failure {
	e := d.id.expect
	if e.Reads.Has(b.version) {
		return nil
	}
	if b.version == 0 {
		return fail(VersionUnsupported, "this consumer reads versions %s, and the message does not tell which it is: name the consumer's subject", e.Reads)
	}
	unsupported := fail(VersionUnsupported, "this consumer reads versions %s of %s, and the message is of version %s", e.Reads, b.subject, b.version)
	if n := e.Reads.compatible; n != 0 {
		f := d.canRead(ctx, b, n)
		if f == nil || f.reason != VersionUnsupported {
			return f
		}
		unsupported = f
	}
	way := e.path(b.subject, b.version, e.Reads.Has)
	if way == nil {
		return unsupported
	}
	t := &translation{steps: way, to: way[len(way)-1].To}
	var f *failure
	if t.target, f = d.own(ctx, b.subject, t.to, "the version that messages are translated to"); f != nil {
		return f
	}
	b.translation = t
	return nil
}
