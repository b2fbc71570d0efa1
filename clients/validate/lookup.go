package validate

import (
	"context"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Lookup answers which schema a name stands for. *sr.Client is one.
//
// Its errors wrap schemas.ErrSubjectUnknown, ErrVersionUnknown or
// ErrSchemaUnknown when it knows that there is none, ErrRefused when it does not
// let the caller ask, ErrUnintelligible when it gives an answer of another kind;
// everything else counts as ErrUnreachable: it could not be asked.
//
// A validator caches what a Lookup answers, so a Lookup caches nothing.
type Lookup interface {
	// ByGUID gives the schema with a GUID. Subject, Version and ID may be left
	// out of the answer.
	ByGUID(ctx context.Context, g schemas.GUID) (schemas.Found, error)
	// ByID gives the schema with an id; Subject and Version name one place
	// where it is used, or are left out.
	ByID(ctx context.Context, id schemas.ID) (schemas.Found, error)
	// ByVersion gives a version of a subject, soft-deleted ones too.
	ByVersion(ctx context.Context, s schemas.Subject, v schemas.Version) (schemas.Found, error)
	// Latest gives the highest version of a subject that is not deleted.
	Latest(ctx context.Context, s schemas.Subject) (schemas.Found, error)
	// BySource answers which version of a subject a schema is, soft-deleted
	// ones too. It registers nothing.
	BySource(ctx context.Context, s schemas.Subject, source schemas.Source) (schemas.Found, error)
}

// ForeignLookup is a Lookup that knows identities of other products. Without
// one, a message with nothing else has no identity: nothing is guessed.
type ForeignLookup interface {
	Lookup
	// ByForeign gives the schema of a foreign identity.
	ByForeign(ctx context.Context, f framing.Foreign) (schemas.Found, error)
}
