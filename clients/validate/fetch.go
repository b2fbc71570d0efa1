package validate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/schemas"
)

// flightTime bounds one question to the registry with its parse, retries of the
// lookup included. The one who waits may give up earlier.
const flightTime = 30 * time.Second

// asking says how a name is asked for.
type asking struct {
	fresh time.Duration // overrides how long a latest is fresh; 0: the option
	force bool          // past the cache
	// foreign is the identity behind a name of kind byForeign, source the text
	// behind one of kind bySource.
	foreign framing.Foreign
	source  schemas.Source
}

// get gives what n stands for: from the cache, or from the registry. cached
// tells that nobody had to be asked.
func (v *Validator) get(ctx context.Context, n name, a asking) (r *record, cached bool, err error) {
	if r, stale, err := v.known(n, a); r != nil || err != nil {
		if stale {
			v.refresh(n, a)
		}
		return r, true, err
	}
	r, err = v.fly(ctx, n, a)
	return r, false, err
}

// known answers from the cache: a record, or why there is none; neither when the
// registry has to be asked. stale tells that it is to be asked beside.
func (v *Validator) known(n name, a asking) (r *record, stale bool, err error) {
	if a.force {
		return nil, false, nil
	}
	now := v.options.Now()
	if r := v.cache.record(n); r != nil {
		fresh, limit := v.freshness(n, a)
		age := now.Sub(r.fetched)
		if fresh < 0 || age < fresh {
			return r, false, nil
		}
		if limit < 0 || age < limit {
			return r, true, nil
		}
	}
	if neg, ok := v.cache.negative(n); ok {
		age := now.Sub(neg.at)
		if age < graceAsk || age < v.options.NotFound && !v.graces.isActive(n) {
			return nil, false, neg.err
		}
	}
	return nil, false, nil
}

// freshness is how long a record of kind n serves without question, and how
// long at all; negative: for ever.
func (v *Validator) freshness(n name, a asking) (fresh, limit time.Duration) {
	switch n.kind {
	case byGUID:
		return -1, -1
	case byID:
		if !v.options.ReusedIDs {
			return -1, -1
		}
	case byLatest:
		fresh = v.options.LatestFresh
		if a.fresh > 0 {
			fresh = a.fresh
		}
		return fresh, max(v.options.MaxStale, fresh)
	default:
	}
	return v.options.VersionFresh, -1
}

// refresh asks for n in the background; the old answer serves meanwhile.
func (v *Validator) refresh(n name, a asking) {
	if v.circuit.isOpen(v.options.Now()) || !v.renewing.begin(n) {
		return
	}
	go func() {
		defer v.renewing.end(n)
		_, _ = v.fly(v.background, n, a)
	}()
}

// fly asks for n once for everybody who waits for it.
func (v *Validator) fly(ctx context.Context, n name, a asking) (*record, error) {
	done := v.flights.DoChan(fmt.Sprintf("%v", n), func() (any, error) {
		// Those who join must not fall with the one who came first.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flightTime)
		defer cancel()
		defer context.AfterFunc(v.background, cancel)()
		// Another flight may have landed between the look and the start.
		if r, stale, err := v.known(n, a); !stale && (r != nil || err != nil) {
			return r, err
		}
		return v.ask(ctx, n, a)
	})
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", schemas.ErrUnreachable, ctx.Err())
	case res := <-done:
		if res.Err != nil {
			return nil, res.Err
		}
		return res.Val.(*record), nil
	}
}

func (v *Validator) ask(ctx context.Context, n name, a asking) (*record, error) {
	if err := v.circuit.admit(v.options.Now()); err != nil {
		return v.lastGood(ctx, n, a, err)
	}
	start := v.options.Now()
	found, err := v.look(ctx, n, a)
	if err != nil && reasonOf(err) == RegistryUnreachable && !errors.Is(err, schemas.ErrUnreachable) {
		err = fmt.Errorf("%w: %w", schemas.ErrUnreachable, err)
	}
	v.answered(ctx, n.kind.String(), err, start)
	now := v.options.Now()
	if err != nil {
		if reasonOf(err).hasGrace() {
			v.cache.forget(n)
			v.cache.refuse(n, err, now, v.options.NotFound)
			return nil, err
		}
		return v.lastGood(ctx, n, a, err)
	}
	from := found
	if from.Subject.Context == "" {
		from.Subject.Context = n.subject.Context
	}
	schema, err := v.parse(ctx, from)
	if err != nil {
		if reasonOf(err) == SchemaUnparsable {
			v.cache.refuse(n, err, now, v.options.NotFound)
		}
		return nil, err
	}
	v.options.LastGood.put(n, found, now)
	return v.cache.keep(n, found, schema, titleOf(found.Source), v.options.Now()), nil
}

// lastGood answers with what the registry said in an earlier life, when it cannot
// be asked now. It is then as old as it is, and asked again like what is stale.
func (v *Validator) lastGood(ctx context.Context, n name, a asking, why error) (*record, error) {
	r, ok := v.options.LastGood.get(n)
	if !ok || a.force || reasonOf(why).Verdict() != Hold {
		return nil, why
	}
	if _, limit := v.freshness(n, a); limit >= 0 && v.options.Now().Sub(r.at) >= limit {
		return nil, why
	}
	from := r.found
	if from.Subject.Context == "" {
		from.Subject.Context = n.subject.Context
	}
	schema, err := v.parse(ctx, from)
	if err != nil {
		return nil, why
	}
	return v.cache.keep(n, r.found, schema, titleOf(r.found.Source), r.at), nil
}

func (v *Validator) look(ctx context.Context, n name, a asking) (schemas.Found, error) {
	switch n.kind {
	case byGUID:
		f, err := v.lookup.ByGUID(ctx, n.guid)
		if f.GUID == (schemas.GUID{}) {
			f.GUID = n.guid
		}
		return f, err
	case byID:
		id := schemas.ID{Context: n.subject.Context, Number: n.number}
		f, err := v.lookup.ByID(ctx, id)
		if f.ID.Number == 0 {
			f.ID = id
		}
		return f, err
	case byVersion:
		return v.lookup.ByVersion(ctx, n.subject, schemas.Version(n.number))
	case byLatest:
		return v.lookup.Latest(ctx, n.subject)
	case bySource:
		f, err := v.lookup.BySource(ctx, n.subject, a.source)
		if f.Source.Text == "" {
			f.Source = a.source
		}
		return f, err
	case byForeign:
		if l, ok := foreignOf(v.lookup); ok {
			return l.ByForeign(ctx, a.foreign)
		}
	case byVerdict: // no name of a schema
	}
	return schemas.Found{}, fmt.Errorf("look up %v: %w", n, schemas.ErrSchemaUnknown)
}

// parse reads a stored schema and, through the lookup, what it refers to.
func (v *Validator) parse(ctx context.Context, found schemas.Found) (schemas.Schema, error) {
	format, ok := v.format(found.Source.Type)
	if !ok {
		return nil, &parseError{fmt.Errorf("the validator was made without the format %s: hand it to validate.New", found.Source.Type)}
	}
	resolver := schemas.ResolverFunc(func(ctx context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		f, err := v.reference(ctx, name{kind: byVersion, subject: ref.Target(in), number: int32(ref.Version)})
		return schemas.Resolved{Subject: f.Subject, Version: f.Version, Source: f.Source}, err
	})
	schema, err := format.Parse(ctx, found.Source, resolver, schemas.ParseOptions{Mode: schemas.Stored, From: found.Subject.Context})
	if err != nil {
		return nil, &parseError{err}
	}
	return schema, nil
}

// reference looks up a version that a schema refers to.
func (v *Validator) reference(ctx context.Context, n name) (schemas.Found, error) {
	r, kept := v.options.LastGood.get(n)
	if kept && v.circuit.isOpen(v.options.Now()) {
		return r.found, nil
	}
	f, err := v.lookup.ByVersion(ctx, n.subject, schemas.Version(n.number))
	switch {
	case err == nil:
		v.options.LastGood.put(n, f, v.options.Now())
	case kept && reasonOf(err).Verdict() == Hold:
		return r.found, nil
	}
	return f, err
}

// titleOf is the title of a JSON Schema, its name for the strategies by type.
func titleOf(s schemas.Source) string {
	if s.Type != schemas.JSON {
		return ""
	}
	var top struct {
		Title string `json:"title"`
	}
	if json.Unmarshal([]byte(s.Text), &top) != nil {
		return ""
	}
	return top.Title
}

// printOf is a source's own fingerprint, by which BySource answers are cached.
func printOf(s schemas.Source) schemas.Fingerprint {
	text := fmt.Appendf(nil, "%q%q", s.Type, s.Text)
	for _, r := range s.References {
		text = fmt.Appendf(text, "%q%q%d", r.Name, r.Subject, r.Version)
	}
	return sha256.Sum256(text)
}
