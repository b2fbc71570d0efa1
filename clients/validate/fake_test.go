package validate_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

var ctx = context.Background()

// shelf is a lookup in memory. It counts what it is asked.
type shelf struct {
	mu       sync.Mutex
	versions map[schemas.Subject][]schemas.Found
	next     int32
	down     error
	asked    []string
	gate     chan struct{} // when not nil, every question waits for it
}

func newShelf() *shelf { return &shelf{versions: map[schemas.Subject][]schemas.Found{}} }

// put registers a text and gives it as found.
func (s *shelf) put(subject string, t schemas.Type, text string, refs ...schemas.Reference) schemas.Found {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := schemas.ParseSubject(subject)
	f := schemas.Found{
		Subject: sub, Version: schemas.Version(len(s.versions[sub]) + 1), GUID: schemas.GUIDOf(text, refs, nil, nil),
		Source: schemas.Source{Type: t, Text: text, References: refs},
	}
	for _, list := range s.versions {
		for _, old := range list {
			if old.GUID == f.GUID && old.Subject.Context == sub.Context {
				f.ID = old.ID
			}
		}
	}
	if f.ID.Number == 0 {
		s.next++
		f.ID = schemas.ID{Context: sub.Context, Number: s.next}
	}
	s.versions[sub] = append(s.versions[sub], f)
	return f
}

// change replaces a version's place, as a registry that reuses numbers does.
func (s *shelf) change(f schemas.Found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions[f.Subject][f.Version-1] = f
}

func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = err
}

func (s *shelf) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

func (s *shelf) ask(what string) error {
	s.mu.Lock()
	gate := s.gate
	s.asked = append(s.asked, what)
	err := s.down
	s.mu.Unlock()
	if gate != nil {
		<-gate
	}
	return err
}

func (s *shelf) find(unknown error, is func(schemas.Found) bool) (schemas.Found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := int32(1); id <= s.next; id++ { // in the order of ids, never of the map
		for _, list := range s.versions {
			for _, f := range list {
				if f.ID.Number == id && is(f) {
					return f, nil
				}
			}
		}
	}
	return schemas.Found{}, fmt.Errorf("shelf: %w", unknown)
}

func (s *shelf) ByGUID(_ context.Context, g schemas.GUID) (schemas.Found, error) {
	if err := s.ask("guid " + g.String()); err != nil {
		return schemas.Found{}, err
	}
	f, err := s.find(schemas.ErrSchemaUnknown, func(f schemas.Found) bool { return f.GUID == g })
	f.Subject, f.Version, f.ID, f.Deleted = schemas.Subject{}, 0, schemas.ID{}, false
	return f, err
}

func (s *shelf) ByID(_ context.Context, id schemas.ID) (schemas.Found, error) {
	if err := s.ask("id " + id.String()); err != nil {
		return schemas.Found{}, err
	}
	return s.find(schemas.ErrSchemaUnknown, func(f schemas.Found) bool { return f.ID == id })
}

func (s *shelf) ByVersion(_ context.Context, sub schemas.Subject, v schemas.Version) (schemas.Found, error) {
	if err := s.ask(fmt.Sprintf("version %s %s", sub, v)); err != nil {
		return schemas.Found{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch list := s.versions[sub]; {
	case len(list) == 0:
		return schemas.Found{}, schemas.ErrSubjectUnknown
	case int(v) > len(list) || list[v-1].ID.Number == 0:
		return schemas.Found{}, schemas.ErrVersionUnknown
	default:
		return list[v-1], nil
	}
}

func (s *shelf) Latest(_ context.Context, sub schemas.Subject) (schemas.Found, error) {
	if err := s.ask("latest " + sub.String()); err != nil {
		return schemas.Found{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.versions[sub]
	for i := len(list) - 1; i >= 0; i-- {
		if !list[i].Deleted {
			return list[i], nil
		}
	}
	return schemas.Found{}, schemas.ErrSubjectUnknown
}

func (s *shelf) BySource(_ context.Context, sub schemas.Subject, source schemas.Source) (schemas.Found, error) {
	if err := s.ask("source in " + sub.String()); err != nil {
		return schemas.Found{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.versions[sub]) == 0 {
		return schemas.Found{}, schemas.ErrSubjectUnknown
	}
	for _, f := range s.versions[sub] {
		if f.Source.Text == source.Text {
			return f, nil
		}
	}
	return schemas.Found{}, schemas.ErrSchemaUnknown
}

// clock is time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// open makes a validator over a shelf, on a clock.
func open(t testing.TB, s validate.Lookup, o validate.Options) (*validate.Validator, *clock) {
	t.Helper()
	c := newClock()
	if o.Now == nil {
		o.Now = c.Now
	}
	v := validate.NewWith(s, o, avro.Format, jsonschema.Format, protobuf.Format)
	t.Cleanup(v.Close)
	return v, c
}

const (
	orderV1 = `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`
	orderV2 = `{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"}},"required":["id"]}`
	userV1  = `{"type":"record","name":"User","namespace":"acme","fields":[{"name":"id","type":"long"}]}`
	shopV1  = "syntax = \"proto3\";\npackage acme;\n\nmessage Order {\n  int64 id = 1;\n  message Line {\n    string sku = 1;\n  }\n}\nmessage Refund {\n  string why = 1;\n}\n"
)

func text(s string) []byte { return []byte(s) }

// stamped gives the headers that a message of f carries.
func stamped(f schemas.Found) []validate.Header {
	return []validate.Header{
		{Name: "schemaSubject", Value: f.Subject.String()},
		{Name: "schemaVersion", Value: f.Version.String()},
		{Name: "schemaId", Value: fmt.Sprint(f.ID.Number)},
		{Name: "schemaGuid", Value: f.GUID.String()},
		{Name: "schemaType", Value: string(f.Source.Type)},
	}
}

// without drops headers.
func without(list []validate.Header, names ...string) []validate.Header {
	var out []validate.Header
outer:
	for _, h := range list {
		for _, n := range names {
			if h.Name == n {
				continue outer
			}
		}
		out = append(out, h)
	}
	return out
}

// with sets a header, adding it when it is not there.
func with(list []validate.Header, name string, value any) []validate.Header {
	return append(without(list, name), validate.Header{Name: name, Value: value})
}

func formats() []schemas.Format {
	return []schemas.Format{avro.Format, jsonschema.Format, protobuf.Format}
}

var readOptions = schemas.ReadOptions{}.OrDefault()

func payload(o validate.Outcome) schemas.Payload {
	return schemas.Payload{Bytes: o.Payload, Message: o.Message}
}
