package registry

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/cartorio-registry/cartorio/schemas"
)

// form is a parsed source and what its identity needs. It is immutable.
type form struct {
	schema schemas.Schema
	source schemas.Source // as it is stored: canonical or normalized text, pinned references
	hash   Hash           // of source.Text
	guid   schemas.GUID   // without metadata and rules
	kin    func() kin
}

// identity is that of the form with metadata and rules.
func (f *form) identity(metadata *schemas.Metadata, rules *schemas.RuleSet) *identity {
	guid := f.guid
	if metadata != nil || rules != nil {
		guid = schemas.GUIDOf(f.source.Text, f.source.References, metadata, rules)
	}
	return &identity{guid: guid, kind: f.source.Type, hash: f.hash, references: f.source.References, metadata: metadata, rules: rules}
}

// forms keeps parsed forms by content, up to a number of bytes, the one used
// least lately going first.
//
// The key covers everything a form depends on. References are in it with the
// subject and number that they are pinned to: what a number stands for never
// changes, and numbers are never used twice.
type forms struct {
	most   int
	flight singleflight.Group

	mu   sync.Mutex
	size int
	byID map[Hash]*list.Element
	used list.List // of *kept, the latest in front
}

type kept struct {
	id     Hash
	form   *form
	weight int
}

func newForms(most int) *forms { return &forms{most: most, byID: map[Hash]*list.Element{}} }

func (f *forms) get(id Hash) *form {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.byID[id]
	if e == nil {
		return nil
	}
	f.used.MoveToFront(e)
	return e.Value.(*kept).form
}

func (f *forms) put(id Hash, what *form) {
	const overhead = 512 // the entry, the form, the references
	k := &kept{id: id, form: what, weight: what.schema.Weight() + len(what.source.Text) + overhead}
	f.mu.Lock()
	defer f.mu.Unlock()
	if k.weight > f.most || f.byID[id] != nil {
		return
	}
	f.byID[id] = f.used.PushFront(k)
	f.size += k.weight
	for f.size > f.most {
		last := f.used.Back()
		old := f.used.Remove(last).(*kept)
		delete(f.byID, old.id)
		f.size -= old.weight
	}
}

// reading says how a source is to be read.
type reading struct {
	mode      schemas.Mode
	in        schemas.Context
	normalize bool
}

// formID names the form of a source whose references are pinned.
func formID(s schemas.Source, how reading) Hash {
	buf := make([]byte, 0, 64+len(s.Text)+64*len(s.References))
	put := func(text string) {
		buf = binary.AppendUvarint(buf, uint64(len(text)))
		buf = append(buf, text...)
	}
	flags := byte(how.mode) << 1
	if how.normalize {
		flags |= 1
	}
	buf = append(buf, flags)
	put(string(s.Type))
	put(string(how.in))
	put(s.Text)
	for _, r := range s.References {
		put(r.Name)
		put(r.Subject)
		buf = binary.AppendUvarint(buf, uint64(r.Version))
	}
	return sha256.Sum256(buf)
}

// form parses a source whose references are pinned, or finds it parsed.
//
// Errors: CodeSchemaInvalid, CodeSchemaTooLarge, CodeInternal when a parser
// panics; that of ctx.
func (r *Registry) form(ctx context.Context, s schemas.Source, how reading) (*form, error) {
	return r.formOf(ctx, formID(s, how), s, how)
}

// formOf is form for whoever knows the form's id: to hash a long history is most
// of what looking it up costs.
func (r *Registry) formOf(ctx context.Context, id Hash, s schemas.Source, how reading) (*form, error) {
	if f := r.forms.get(id); f != nil {
		r.watch.hit.Add(1)
		return f, nil
	}
	r.watch.missed.Add(1)
	// Whoever waits for the same form must not lose it to the first one's end.
	ctx = context.WithoutCancel(ctx)
	got, err, _ := r.forms.flight.Do(string(id[:]), func() (any, error) {
		// Another flight may have landed since this one looked.
		if f := r.forms.get(id); f != nil {
			return f, nil
		}
		f, err := r.parse(ctx, s, how)
		if err != nil {
			return nil, err
		}
		r.forms.put(id, f)
		return f, nil
	})
	if err != nil {
		return nil, err
	}
	return got.(*form), nil
}

// parse reads a source and, where it is wanted, its normalized text.
func (r *Registry) parse(ctx context.Context, s schemas.Source, how reading) (*form, error) {
	schema, err := r.schema(ctx, s, how)
	if err != nil {
		return nil, err
	}
	f := &form{schema: schema, source: schemas.Source{Type: s.Type, Text: schema.Canonical(), References: s.References}}
	if how.normalize {
		// From here on the normalized text is the schema: it is what later
		// texts are equivalent to.
		f.source.Text, f.source.References = schema.Normalized()
		if f.source.Text != s.Text {
			if f.schema, err = r.schema(ctx, f.source, reading{mode: schemas.Stored, in: how.in}); err != nil {
				return nil, &Error{Code: CodeInternal, Text: "parse the schema's normalized text", Err: err}
			}
		}
	}
	format, _ := r.format(s.Type) // it has parsed the source
	f.kin = sync.OnceValue(func() kin { return kinOf(format, f.schema) })
	f.hash = HashOf(f.source.Text)
	f.guid = schemas.GUIDOf(f.source.Text, f.source.References, nil, nil)
	return f, nil
}

// schema asks the format. Only so many texts are read at once as there are
// processors: more would be no faster, and each may need much memory.
func (r *Registry) schema(ctx context.Context, s schemas.Source, how reading) (schemas.Schema, error) {
	defer r.work()()
	return r.understand(ctx, s, how)
}

// understand is schema for whoever has a processor already. A parser that panics is an
// error.
func (r *Registry) understand(ctx context.Context, s schemas.Source, how reading) (schema schemas.Schema, err error) {
	format, ok := r.format(s.Type)
	if !ok {
		return nil, &Error{Code: CodeSchemaInvalid, Text: fmt.Sprintf("schema type %q is none of %q", s.Type, r.Types())}
	}
	defer func() {
		if p := recover(); p != nil {
			schema, err = nil, &Error{Code: CodeInternal, Text: "parse the schema", Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	schema, err = format.Parse(ctx, s, r.resolver(), schemas.ParseOptions{Mode: how.mode, From: how.in, Limits: r.limits})
	if err != nil {
		return nil, parseError(err)
	}
	return schema, nil
}

// work waits for a processor and answers how to give it back.
func (r *Registry) work() (done func()) {
	r.working <- struct{}{}
	return func() { <-r.working }
}

// InForm is the text of a version in one of the other forms that its format
// has, such as "serialized". A name that the format does not know, and an empty
// one, is the text as it is.
//
// Errors: those of reading a stored text; CodeSchemaInvalid when the form cannot
// be had of it.
// Source: REST contract 5.1.4.
func (r *Registry) InForm(ctx context.Context, v Stored, name string) (string, error) {
	format, ok := r.format(v.Source.Type)
	if !ok || !slices.Contains(format.Forms, name) {
		return v.Source.Text, nil
	}
	f, err := r.form(ctx, v.Source, reading{mode: schemas.Stored, in: v.Subject.Context})
	if err != nil {
		return "", err
	}
	text, err := format.Form(f.schema, name)
	if err != nil {
		return "", &Error{Code: CodeSchemaInvalid, Subject: v.Subject, Version: v.Version, Text: fmt.Sprintf("version %d of subject '%s' cannot be shown as %s", v.Version, v.Subject, name), Err: err}
	}
	return text, nil
}

func (r *Registry) format(t schemas.Type) (schemas.Format, bool) {
	for _, f := range r.formats {
		if f.Type == t {
			return f, true
		}
	}
	return schemas.Format{}, false
}

// parseError gives what a format says its code.
func parseError(err error) error {
	var ours *Error
	var limit *schemas.LimitError
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &limit) && limit.Limit == schemas.LimitText:
		return &Error{Code: CodeSchemaTooLarge, Text: "schema is too large", Err: err}
	}
	return &Error{Code: CodeSchemaInvalid, Text: "schema is invalid", Err: err}
}
