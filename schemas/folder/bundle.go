package folder

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Bundle is versions of a registry, with all that they refer to, in one file or
// folder: a validator works from it without a network. It is immutable, safe
// for use by many goroutines, and answers the look-ups of a validator.
//
// Everything in it is proved when it is opened: each text against its SHA-256,
// each version's GUID and fingerprint by computing them again, and the whole by
// a signature where one is asked for.
//
// Make one with [NewBundle] and [Bundle.Pack]; read one with [OpenBundle].
type Bundle struct {
	made    time.Time
	signer  []byte // ed25519 public key; nil when it is not signed
	entries []BundleEntry

	byVersion map[use]int
	byID      map[schemas.ID]int
	byGUID    map[schemas.GUID][]int
	bySubject map[schemas.Subject][]int
}

// BundleEntry is one version in a bundle.
type BundleEntry struct {
	schemas.Found
	// Fingerprint is the schema's own, computed when the bundle was made.
	Fingerprint schemas.Fingerprint
	// Latest tells that it was the subject's highest live version then.
	Latest bool
}

// use is a version of a subject.
type use struct {
	subject schemas.Subject
	version schemas.Version
}

// NewBundle makes a bundle of versions as a registry answered them; made is
// now. Fingerprints are computed here, and so are GUIDs that a registry left out.
// Two entries of one version count once.
//
// Errors: a version refers to one that is not there, or does not parse with the
// formats given; a registry's GUID that is not the text's.
func NewBundle(ctx context.Context, entries []BundleEntry, made time.Time, formats []schemas.Format) (*Bundle, error) {
	b := &Bundle{made: made.UTC().Truncate(time.Second)}
	seen := map[use]bool{}
	for _, e := range entries {
		e.Subject = inContext(e.Subject)
		if e.ID.Context == "" {
			e.ID.Context = e.Subject.Context
		}
		at := use{e.Subject, e.Version}
		if seen[at] {
			continue
		}
		seen[at] = true
		own := schemas.GUIDOf(e.Source.Text, e.Source.References, e.Metadata, e.RuleSet)
		if e.GUID != (schemas.GUID{}) && e.GUID != own {
			return nil, fmt.Errorf("bundle version %s of %s: the registry says GUID %s, and the text's is %s", e.Version, e.Subject, e.GUID, own)
		}
		e.GUID = own
		b.entries = append(b.entries, e)
	}
	b.index()
	for i := range b.entries {
		e := &b.entries[i]
		s, err := b.parse(ctx, e, formats)
		if err != nil {
			return nil, fmt.Errorf("bundle version %s of %s: %w", e.Version, e.Subject, err)
		}
		if s == nil {
			return nil, fmt.Errorf("bundle version %s of %s: its format %s is not known here", e.Version, e.Subject, e.Source.Type)
		}
		e.Fingerprint = s.Fingerprint()
	}
	return b, nil
}

func inContext(s schemas.Subject) schemas.Subject {
	if s.Context == "" {
		s.Context = schemas.DefaultContext
	}
	return s
}

// index sorts the entries, dependencies first, and names them.
func (b *Bundle) index() {
	slices.SortFunc(b.entries, func(x, y BundleEntry) int { return compareUses(use{x.Subject, x.Version}, use{y.Subject, y.Version}) })
	at := map[use]int{}
	for i, e := range b.entries {
		at[use{e.Subject, e.Version}] = i
	}
	ordered := make([]BundleEntry, 0, len(b.entries))
	done := make([]bool, len(b.entries))
	var add func(i int)
	add = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		e := b.entries[i]
		for _, ref := range e.Source.References {
			if j, ok := at[use{ref.Target(e.Subject.Context), ref.Version}]; ok {
				add(j)
			}
		}
		ordered = append(ordered, e)
	}
	for i := range b.entries {
		add(i)
	}
	b.entries = ordered
	b.byVersion, b.byID = map[use]int{}, map[schemas.ID]int{}
	b.byGUID, b.bySubject = map[schemas.GUID][]int{}, map[schemas.Subject][]int{}
	for i, e := range b.entries {
		b.byVersion[use{e.Subject, e.Version}] = i
		if _, taken := b.byID[e.ID]; !taken && e.ID.Number != 0 {
			b.byID[e.ID] = i
		}
		b.byGUID[e.GUID] = append(b.byGUID[e.GUID], i)
		b.bySubject[e.Subject] = append(b.bySubject[e.Subject], i)
	}
}

// parse reads an entry; nil without an error when its format is not given.
func (b *Bundle) parse(ctx context.Context, e *BundleEntry, formats []schemas.Format) (schemas.Schema, error) {
	for _, f := range formats {
		if f.Type == e.Source.Type {
			return f.Parse(ctx, e.Source, b, schemas.ParseOptions{Mode: schemas.Stored, From: e.Subject.Context})
		}
	}
	return nil, nil
}

// Made is when the bundle was made, in whole seconds.
func (b *Bundle) Made() time.Time { return b.made }

// Signer is the ed25519 public key that has signed the bundle; nil when nobody
// has. That it is a key one trusts is told by BundleOptions.Key alone.
func (b *Bundle) Signer() []byte { return slices.Clone(b.signer) }

// Entries are the versions, what is referred to before what refers to it.
func (b *Bundle) Entries() []BundleEntry { return slices.Clone(b.entries) }

// Resolve answers a reference from the bundle; with it a *Bundle is a
// [schemas.Resolver].
//
// Errors: ErrSubjectUnknown, ErrVersionUnknown.
func (b *Bundle) Resolve(ctx context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
	found, err := b.ByVersion(ctx, ref.Target(in), ref.Version)
	return schemas.Resolved{Subject: found.Subject, Version: found.Version, Source: found.Source}, err
}

// ByVersion gives a version of a subject, soft-deleted ones too.
//
// Errors: ErrSubjectUnknown, ErrVersionUnknown.
func (b *Bundle) ByVersion(_ context.Context, subject schemas.Subject, version schemas.Version) (schemas.Found, error) {
	subject = inContext(subject)
	if i, ok := b.byVersion[use{subject, version}]; ok {
		return b.entries[i].Found, nil
	}
	unknown := schemas.ErrVersionUnknown
	if len(b.bySubject[subject]) == 0 {
		unknown = schemas.ErrSubjectUnknown
	}
	return schemas.Found{}, fmt.Errorf("looking for version %s of %s in the bundle: %w", version, subject, unknown)
}

// Latest gives the version that was the highest live one when the bundle was
// made.
//
// Errors: ErrSubjectUnknown; ErrVersionUnknown when that one is not in it.
func (b *Bundle) Latest(_ context.Context, subject schemas.Subject) (schemas.Found, error) {
	subject = inContext(subject)
	list := b.bySubject[subject]
	for _, i := range list {
		if b.entries[i].Latest {
			return b.entries[i].Found, nil
		}
	}
	if len(list) == 0 {
		return schemas.Found{}, fmt.Errorf("looking for %s in the bundle: %w", subject, schemas.ErrSubjectUnknown)
	}
	return schemas.Found{}, fmt.Errorf("looking for the latest version of %s in the bundle, which does not hold it: %w", subject, schemas.ErrVersionUnknown)
}

// ByID gives the schema with an id; Subject and Version name one place where it
// is used.
//
// Errors: ErrSchemaUnknown.
func (b *Bundle) ByID(_ context.Context, id schemas.ID) (schemas.Found, error) {
	if id.Context == "" {
		id.Context = schemas.DefaultContext
	}
	if i, ok := b.byID[id]; ok {
		return b.entries[i].Found, nil
	}
	return schemas.Found{}, fmt.Errorf("looking for id %s in the bundle: %w", id, schemas.ErrSchemaUnknown)
}

// ByGUID gives the schema with a GUID, without subject, version and id. A GUID
// does not cover what references point to: one that means several things here is
// not known.
//
// Errors: ErrSchemaUnknown.
func (b *Bundle) ByGUID(_ context.Context, g schemas.GUID) (schemas.Found, error) {
	list := b.byGUID[g]
	if len(list) == 0 {
		return schemas.Found{}, fmt.Errorf("looking for GUID %s in the bundle: %w", g, schemas.ErrSchemaUnknown)
	}
	first := b.entries[list[0]]
	for _, i := range list[1:] {
		if b.entries[i].Fingerprint != first.Fingerprint {
			return schemas.Found{}, fmt.Errorf("looking for GUID %s in the bundle, where it means several schemas: %w", g, schemas.ErrSchemaUnknown)
		}
	}
	found := schemas.Found{GUID: g, Source: first.Source, Metadata: first.Metadata, RuleSet: first.RuleSet}
	found.Subject.Context = first.Subject.Context
	return found, nil
}

// BySource answers which version of a subject has the type, text and references
// given; the newest, where several have.
//
// Errors: ErrSubjectUnknown, ErrSchemaUnknown.
func (b *Bundle) BySource(_ context.Context, subject schemas.Subject, source schemas.Source) (schemas.Found, error) {
	subject = inContext(subject)
	list := b.bySubject[subject]
	if len(list) == 0 {
		return schemas.Found{}, fmt.Errorf("looking for %s in the bundle: %w", subject, schemas.ErrSubjectUnknown)
	}
	newest := -1
	for _, i := range list {
		s := b.entries[i].Source
		if s.Type == source.Type && s.Text == source.Text && slices.Equal(s.References, source.References) && (newest < 0 || b.entries[i].Version > b.entries[newest].Version) {
			newest = i
		}
	}
	if newest < 0 {
		return schemas.Found{}, fmt.Errorf("looking for a text of %s in the bundle: %w", subject, schemas.ErrSchemaUnknown)
	}
	return b.entries[newest].Found, nil
}
