package folder

import (
	"context"
	"fmt"

	"github.com/cartorio-registry/cartorio/schemas"
)

// A folder answers the look-ups of a validator: version 1 of every subject is
// the file. It knows neither ids nor GUIDs, which are a registry's to give, and
// answers that such a schema is unknown.

// ByVersion gives version 1 of a subject.
//
// Errors: ErrSubjectUnknown, ErrVersionUnknown; the entry's own error when its
// file cannot be used.
func (f *Folder) ByVersion(_ context.Context, subject schemas.Subject, version schemas.Version) (schemas.Found, error) {
	e, err := f.find(subject, version)
	if err != nil {
		return schemas.Found{}, err
	}
	if e.Err != nil {
		return schemas.Found{}, fmt.Errorf("looking for %s in the folder: %s: %w", subject, e.Path, e.Err)
	}
	return schemas.Found{Subject: e.Subject, Version: 1, Source: e.Source}, nil
}

// Latest gives version 1 of a subject.
//
// Errors: those of ByVersion.
func (f *Folder) Latest(ctx context.Context, subject schemas.Subject) (schemas.Found, error) {
	return f.ByVersion(ctx, subject, schemas.Latest)
}

// BySource answers whether the file of a subject has the text and type given.
//
// Errors: those of ByVersion, and ErrSchemaUnknown when it has another text.
func (f *Folder) BySource(ctx context.Context, subject schemas.Subject, source schemas.Source) (schemas.Found, error) {
	found, err := f.Latest(ctx, subject)
	if err != nil {
		return schemas.Found{}, err
	}
	if found.Source.Type != source.Type || found.Source.Text != source.Text {
		return schemas.Found{}, fmt.Errorf("looking for a text of %s in the folder: %w", subject, schemas.ErrSchemaUnknown)
	}
	return found, nil
}

// ByGUID knows none.
//
// Errors: ErrSchemaUnknown.
func (f *Folder) ByGUID(_ context.Context, g schemas.GUID) (schemas.Found, error) {
	return schemas.Found{}, fmt.Errorf("looking for GUID %s in a folder, which gives none: %w", g, schemas.ErrSchemaUnknown)
}

// ByID knows none.
//
// Errors: ErrSchemaUnknown.
func (f *Folder) ByID(_ context.Context, id schemas.ID) (schemas.Found, error) {
	return schemas.Found{}, fmt.Errorf("looking for id %s in a folder, which gives none: %w", id, schemas.ErrSchemaUnknown)
}
