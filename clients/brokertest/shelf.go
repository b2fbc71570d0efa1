package brokertest

import (
	"context"
	"sync"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// Shelf is a lookup within the process that may be down. It has the texts that it
// was made of, as versions of their subjects and with the ids 1, 2 and so on.
type Shelf struct {
	list []schemas.Found

	mu   sync.Mutex
	down error
}

var _ validate.Lookup = (*Shelf)(nil)

// NewShelf has the versions of orders-value.
func NewShelf(texts ...string) *Shelf {
	s := &Shelf{}
	for _, text := range texts {
		s.Add("orders-value", text)
	}
	return s
}

// Add adds a JSON schema as the next version of a subject.
func (s *Shelf) Add(subject, text string) {
	version := schemas.Version(1)
	for _, f := range s.list {
		if f.Subject.String() == subject {
			version++
		}
	}
	s.list = append(s.list, schemas.Found{
		Subject: schemas.ParseSubject(subject), Version: version, ID: schemas.ID{Context: schemas.DefaultContext, Number: int32(len(s.list) + 1)}, //nolint:gosec // few
		GUID: schemas.GUIDOf(text, nil, nil, nil), Source: schemas.Source{Type: schemas.JSON, Text: text},
	})
}

// Fail has every question answered with err, until it is nil.
func (s *Shelf) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = err
}

// Validator asks the shelf.
func (s *Shelf) Validator() *validate.Validator { return validate.New(s, formats.All...) }

// find gives the last one that is it.
func (s *Shelf) find(unknown error, is func(*schemas.Found) bool) (schemas.Found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return schemas.Found{}, s.down
	}
	for i := len(s.list) - 1; i >= 0; i-- {
		if is(&s.list[i]) {
			return s.list[i], nil
		}
	}
	return schemas.Found{}, unknown
}

// ByGUID is a lookup's.
func (s *Shelf) ByGUID(_ context.Context, g schemas.GUID) (schemas.Found, error) {
	return s.find(schemas.ErrSchemaUnknown, func(f *schemas.Found) bool { return f.GUID == g })
}

// ByID is a lookup's.
func (s *Shelf) ByID(_ context.Context, id schemas.ID) (schemas.Found, error) {
	return s.find(schemas.ErrSchemaUnknown, func(f *schemas.Found) bool { return f.ID == id })
}

// ByVersion is a lookup's.
func (s *Shelf) ByVersion(_ context.Context, sub schemas.Subject, v schemas.Version) (schemas.Found, error) {
	return s.find(schemas.ErrVersionUnknown, func(f *schemas.Found) bool { return f.Subject == sub && f.Version == v })
}

// Latest is a lookup's.
func (s *Shelf) Latest(_ context.Context, sub schemas.Subject) (schemas.Found, error) {
	return s.find(schemas.ErrSubjectUnknown, func(f *schemas.Found) bool { return f.Subject == sub })
}

// BySource is a lookup's.
func (s *Shelf) BySource(_ context.Context, sub schemas.Subject, source schemas.Source) (schemas.Found, error) {
	return s.find(schemas.ErrSchemaUnknown, func(f *schemas.Found) bool { return f.Subject == sub && f.Source.Text == source.Text })
}
