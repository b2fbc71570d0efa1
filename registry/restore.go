package registry

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Refused is a version that cannot be taken over, and why.
type Refused struct {
	Subject schemas.Subject
	Version schemas.Version
	ID      schemas.ID
	Err     error
}

// Error names the version and says why.
func (r *Refused) Error() string {
	return fmt.Sprintf("version %d of subject '%s' (id %s): %v", r.Version, r.Subject, r.ID, r.Err)
}

func (r *Refused) Unwrap() error { return r.Err }

// RestoreOptions shape Restore.
type RestoreOptions struct {
	// SkipRefused takes over the rest when some versions are refused.
	SkipRefused bool
	Actor       string
	Request     string
}

// Restore makes an empty registry hold h: versions with their numbers, ids,
// texts, times and deletions, the marks of what was permanently deleted,
// configs, modes and exceptions. It is one append: all of it, or nothing.
//
// Texts are kept byte for byte; GUIDs are computed anew. Each must be readable
// with the references that h holds. refused names those that are not, and then,
// without SkipRefused, nothing is written.
//
// Errors: CodeNotPermitted when the registry holds something; CodeSchemaInvalid
// when versions were refused and are not to be skipped; CodeRuleSetInvalid for a
// config that says the impossible; CodeStore.
func (r *Registry) Restore(ctx context.Context, h Holdings, o RestoreOptions) (refused []*Refused, err error) {
	occupied := &Error{Code: CodeNotPermitted, Text: "the registry holds something already: only an empty one can be filled as a whole"}
	r.mu.RLock()
	empty := r.state.isEmpty()
	r.mu.RUnlock()
	if !empty {
		return nil, occupied
	}
	wants, err := r.readHoldings(ctx, h)
	if err != nil {
		return nil, err
	}
	d := &decision{alone: true, actor: o.Actor, request: o.Request}
	events, texts, refused := restoring(d, h, wants)
	if len(refused) > 0 && !o.SkipRefused {
		return refused, &Error{Code: CodeSchemaInvalid, Text: fmt.Sprintf("%d versions cannot be taken over, so nothing was", len(refused)), Err: refused[0]}
	}
	settings, err := restoringSettings(d, h)
	if err != nil {
		return refused, err
	}
	d.build = func(b *batch) error {
		if !b.state.isEmpty() {
			return occupied
		}
		b.events, b.texts = append(events, settings...), texts
		return nil
	}
	for {
		if err := r.submit(ctx, &proposal{decision: d}); !errors.Is(err, errMoved) {
			return refused, err
		}
	}
}

// want is what a version to be restored stands for, or why it cannot be.
type want struct {
	*identity
	err error
}

// readHoldings reads every text, each distinct one once.
func (r *Registry) readHoldings(ctx context.Context, h Holdings) ([]want, error) {
	type place struct {
		subject schemas.Subject
		version schemas.Version
	}
	at := make(map[place]int, len(h.Versions))
	for i := range h.Versions {
		at[place{h.Versions[i].Subject, h.Versions[i].Version}] = i
	}
	resolver := schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		name := ref.Target(in)
		i, ok := at[place{name, ref.Version}]
		if !ok {
			return schemas.Resolved{}, fmt.Errorf("it does not come along: %w", schemas.ErrVersionUnknown)
		}
		return schemas.Resolved{Subject: name, Version: ref.Version, Source: h.Versions[i].Source}, nil
	})
	wants := make([]want, len(h.Versions))
	next := make(chan int)
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for i := range next {
				wants[i] = r.readHeld(ctx, &h.Versions[i], resolver)
			}
		})
	}
	for i := range h.Versions {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	readers.Wait()
	return wants, ctx.Err()
}

// readHeld finds what a version stands for.
func (r *Registry) readHeld(ctx context.Context, held *Held, from schemas.Resolver) (got want) {
	defer func() {
		if p := recover(); p != nil {
			got = want{err: fmt.Errorf("reading the text failed: %v", p)}
		}
	}()
	if err := writable(held.Subject); err != nil {
		return want{err: err}
	}
	format, ok := r.format(held.Source.Type)
	switch {
	case !ok:
		return want{err: fmt.Errorf("its schema type %q is none of %q", held.Source.Type, r.Types())}
	case held.Version < 1 || held.ID.Number < 1:
		return want{err: errors.New("numbers and ids start at 1")}
	}
	rules, err := tidyRules(held.Subject, held.RuleSet)
	if err != nil {
		return want{err: err}
	}
	metadata, source := tidyMetadata(held.Metadata), held.Source
	schema, err := format.Parse(ctx, source, from, schemas.ParseOptions{Mode: schemas.Stored, From: held.Subject.Context, Limits: r.limits})
	if err != nil {
		return want{err: parseError(err)}
	}
	id := &identity{
		guid: schemas.GUIDOf(source.Text, source.References, metadata, rules), kind: source.Type, hash: HashOf(source.Text),
		references: source.References, metadata: metadata, rules: rules,
	}
	if canonical := schema.Canonical(); canonical != source.Text {
		other := *id
		other.guid, other.hash = schemas.GUIDOf(canonical, source.References, metadata, rules), HashOf(canonical)
		id.canonical = other.hashOf()
	}
	return want{identity: id}
}

// restoring are the events of versions and marks, with the texts that they need.
func restoring(d *decision, h Holdings, wants []want) (events []Event, texts []Text, refused []*Refused) {
	entries := map[schemas.ID]*identity{}
	written := map[Hash]bool{}
	numbers := map[schemas.Subject]map[schemas.Version]bool{}
	hidden := map[schemas.Subject]map[schemas.Version][]schemas.Version{} // by the number that hides them
	soft := map[schemas.Subject][]schemas.Version{}
	var order []schemas.Subject // of the subjects in soft
	for i := range h.Versions {
		v, is := &h.Versions[i], wants[i]
		id := schemas.ID{Context: v.Subject.Context, Number: v.ID.Number}
		refuse := func(err error) { refused = append(refused, &Refused{v.Subject, v.Version, id, err}) }
		if is.err != nil {
			refuse(is.err)
			continue
		}
		if held := entries[id]; held == nil {
			entries[id] = is.identity
		} else if held.content() != is.content() {
			refuse(fmt.Errorf("its id stands for another schema already (GUID %s)", held.guid))
			continue
		} else {
			is.identity = held
		}
		if numbers[v.Subject] == nil {
			numbers[v.Subject] = map[schemas.Version]bool{}
		}
		if numbers[v.Subject][v.Version] {
			refuse(errors.New("it comes twice"))
			continue
		}
		numbers[v.Subject][v.Version] = true
		hides := hidden[v.Subject][v.Version]
		if len(hides) > 0 {
			slices.Sort(hides)
			events = append(events, d.by(KindVersionDeleted, deletedBody{V: bodyVersion, Context: id.Context, Subject: v.Subject.Name, Versions: hides}))
		}
		body := registeredBody{
			V: bodyVersion, Context: id.Context, Subject: v.Subject.Name, Version: v.Version, ID: id.Number, Type: is.kind, GUID: is.guid.String(),
			References: referencesToBody(is.references), Metadata: metadataToBody(is.metadata), RuleSet: ruleSetToBody(is.rules),
			Canonical: hashToBody(is.canonical), Hides: hides,
		}
		if !v.Time.IsZero() {
			body.Stored = v.Time.UnixMilli()
		}
		event := d.by(KindVersionRegistered, body)
		event.Text = is.hash
		events = append(events, event)
		if !written[is.hash] {
			written[is.hash] = true
			// The same bytes for all who share them: an id's first text is everyone's.
			texts = append(texts, Text{is.hash, v.Source.Text})
		}
		switch {
		case v.HiddenBy > v.Version:
			if hidden[v.Subject] == nil {
				hidden[v.Subject] = map[schemas.Version][]schemas.Version{}
			}
			hidden[v.Subject][v.HiddenBy] = append(hidden[v.Subject][v.HiddenBy], v.Version)
		case v.Deleted:
			if soft[v.Subject] == nil {
				order = append(order, v.Subject)
			}
			soft[v.Subject] = append(soft[v.Subject], v.Version)
		}
	}
	for _, s := range order {
		slices.Sort(soft[s])
		events = append(events, d.by(KindVersionDeleted, deletedBody{V: bodyVersion, Context: s.Context, Subject: s.Name, Versions: soft[s]}))
	}
	return append(events, restoringMarks(d, h, numbers)...), texts, refused
}

// restoringMarks are the events of what only the marks remember, one a context.
func restoringMarks(d *decision, h Holdings, numbers map[schemas.Subject]map[schemas.Version]bool) (events []Event) {
	subjects := map[schemas.Context][]subjectMarks{}
	for _, u := range h.Subjects {
		m := subjectMarks{Subject: u.Subject.Name, High: u.High}
		for _, g := range u.Gone {
			if !numbers[u.Subject][g.Version] {
				m.Gone = append(m.Gone, goneBody{g.Version, g.GUID.String(), g.Type})
			}
		}
		if len(m.Gone) > 0 || !numbers[u.Subject][u.High] {
			subjects[u.Subject.Context] = append(subjects[u.Subject.Context], m)
		}
	}
	for _, c := range h.Contexts {
		events = append(events, d.by(KindMarksSet, marksBody{V: bodyVersion, Context: c.Name, Listed: c.Listed, High: c.High, Subjects: subjects[c.Name]}))
	}
	return events
}

func restoringSettings(d *decision, h Holdings) (events []Event, err error) {
	for _, s := range h.Settings {
		if err := settable(s.Scope); err != nil {
			return nil, err
		}
		if s.Config != nil {
			c, err := s.Config.named()
			if err != nil {
				return nil, err
			}
			events = append(events, d.by(KindConfigSet, configBody{V: bodyVersion, Context: s.Scope.Context, Subject: s.Scope.Name, After: configToBody(c)}))
		}
		if s.Mode != "" {
			events = append(events, d.by(KindModeSet, modeBody{V: bodyVersion, Context: s.Scope.Context, Subject: s.Scope.Name, After: s.Mode}))
		}
	}
	for _, e := range h.Exceptions {
		events = append(events, d.by(KindExceptionSet, exceptionBody{V: bodyVersion, Context: e.Scope.Context, Subject: e.Scope.Name, Fingerprint: e.Fingerprint, Reason: e.Reason, Owner: e.Owner, Until: e.Until}))
	}
	return events, nil
}
