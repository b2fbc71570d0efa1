package registry

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Registration is a request to store a version.
type Registration struct {
	Subject   schemas.Subject
	Source    schemas.Source  // an empty Text takes text, type and references of the latest live version
	Version   schemas.Version // 0: next; -1: compare with the latest only; N: must be the next
	ID        *int32          // only in IMPORT and FORWARD; negative is none
	Normalize bool
	Force     bool              // skips the comparison
	Metadata  *schemas.Metadata // nil: that of the latest live version; empty: none
	RuleSet   *schemas.RuleSet  // likewise

	// AddTags and RemoveTags change the inline tags of parts of the text;
	// PropagateTags takes over those of the latest version.
	AddTags, RemoveTags []schemas.Tagged
	PropagateTags       bool
}

// tidy is q with its metadata and rules in the form in which they are compared
// and stored.
//
// Errors: CodeRuleSetInvalid.
func (q Registration) tidy() (Registration, error) {
	q.Subject = filled(q.Subject)
	q.Metadata = tidyMetadata(q.Metadata)
	var err error
	q.RuleSet, err = tidyRules(q.Subject, q.RuleSet)
	return q, err
}

func (q Registration) hasID() bool { return q.ID != nil && *q.ID >= 0 }

// settle answers the version that q asks for, given that found has its content:
// found itself, or with an id and a number the live version of that number if it
// is the same schema. It is nil when q asks for something else.
//
// Source: REST contract 5.4, step 2.
func (r *Registry) settle(q Registration, found *Stored) *Stored {
	switch {
	case found == nil || q.hasID() && *q.ID != found.ID.Number:
		return nil
	case q.Version == 0 || q.Version == schemas.Latest, q.hasID() && q.Version == found.Version:
		return found
	case !q.hasID():
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	u := r.state.subject(q.Subject)
	if v := u.find(q.Version); v != nil && v.live() && v.entry.id == found.ID.Number && v.entry.guid == found.GUID {
		other := r.state.stored(u, v)
		return &other
	}
	return nil
}

// Register stores a version, or answers the one that is already there. Once it
// has answered, the version is durable.
//
// Errors: CodeSubjectInvalid, CodeSchemaInvalid, CodeSchemaTooLarge,
// CodeIncompatible with a report, CodeNotPermitted, CodeRuleSetInvalid,
// CodeStore; that of ctx, when it ends first: the version may then be stored or
// not, and registering it again answers it.
// Source: REST contract 5.4.
func (r *Registry) Register(ctx context.Context, q Registration) (Stored, error) {
	q, err := q.tidy()
	if err != nil {
		return Stored{}, err
	}
	if err := writable(q.Subject); err != nil {
		return Stored{}, err
	}
	// Most registrations are of what is there: they wait for nobody.
	// What cannot be is judged again where others write too: this node may not
	// have read yet what it refers to.
	if found, _, err := r.settled(ctx, q, r.view(q), false); found != nil || err != nil && !r.shared {
		return orZero(found), err
	}
	done, err := r.turns.take(ctx, q.Subject)
	if err != nil {
		return Stored{}, err
	}
	defer done()
	return r.registerNow(ctx, q)
}

// registerNow is Register for whoever has the subject's turn; q is tidy.
func (r *Registry) registerNow(ctx context.Context, q Registration) (Stored, error) {
	var told Stored
	var stamp func() time.Time
	err := r.write(ctx, func() (*decision, error) {
		stamp = nil
		return r.register(ctx, q, &told, &stamp)
	})
	if err != nil {
		return Stored{}, err
	}
	if stamp != nil {
		told.Time = stamp()
	}
	return told, nil
}

// view is what the state says about a subject at one moment.
type view struct {
	*decision
	config Config
	mode   Mode
	high   schemas.Version
	latest *Stored
	lenient,
	strict pins
}

// pins are the references of a request as they are pinned, or why they cannot be.
type pins struct {
	references []schemas.Reference
	reads      []key
	err        error
}

func (r *Registry) view(q Registration) *view {
	r.mu.RLock()
	defer r.mu.RUnlock()
	s := r.state
	v := &view{
		decision: s.decide(key{about: settings}, key{versions, q.Subject}),
		config:   s.configInForce(q.Subject), mode: s.modeInForce(q.Subject),
	}
	if u := s.subject(q.Subject); u != nil {
		v.high = u.high
		if latest := u.latest(); latest != nil {
			found := s.stored(u, latest)
			v.latest = &found
		}
	}
	pin := func(live bool) (p pins) {
		p.references, p.reads, p.err = s.pin(q.Subject.Context, q.Source.References, live)
		return p
	}
	v.lenient = pin(false)
	v.strict = v.lenient
	if v.validates() {
		v.strict = pin(true)
	}
	return v
}

// validates tells whether new texts are read strictly and soft-deleted
// references refused.
func (v *view) validates() bool {
	return !v.imports() && (v.config.ValidateNewSchemas == nil || *v.config.ValidateNewSchemas)
}

// imports tells whether versions come with the ids of another registry, and as
// they are there.
func (v *view) imports() bool { return v.mode == Import || v.mode == Forward }

func (v *view) reading(q Registration) reading {
	how := reading{mode: schemas.Stored, in: q.Subject.Context, normalize: !v.imports() && (q.Normalize || isTrue(v.config.Normalize))}
	if v.validates() {
		how.mode = schemas.New
	}
	return how
}

// attempt is a source as it would be stored, or why it may not be stored anew.
type attempt struct {
	form *form
	err  error
}

// settled answers what q asks for if it is there already (step 2). What is there
// was right once, so it is looked for as stored texts are read; how it reads as
// a new one is told beside. Without thorough only the same content counts, not
// what is equivalent to it: that is cheap, however many versions there are.
func (r *Registry) settled(ctx context.Context, q Registration, v *view, thorough bool) (*Stored, attempt, error) {
	if strings.TrimSpace(q.Source.Text) == "" {
		return nil, attempt{}, nil
	}
	if v.lenient.err != nil {
		return nil, attempt{}, v.lenient.err
	}
	how := v.reading(q)
	try := r.attempt(ctx, q, v, how)
	f := try.form
	if try.err != nil {
		q.Source.References = v.lenient.references
		how.mode = schemas.Stored
		var err error
		if f, err = r.form(ctx, q.Source, how); err != nil {
			return nil, attempt{}, firstOf(try.err, err)
		}
	}
	if v.merges() || q.retags() {
		return nil, try, nil // what is asked for is known only when it is merged
	}
	var err error
	latestOnly := q.Version == schemas.Latest
	found := r.findIdentity(q.Subject, f.identity(q.Metadata, q.RuleSet), LiveOnly, latestOnly)
	if found == nil && thorough {
		found, err = r.findEquivalent(ctx, q.Subject, f, q.Metadata, q.RuleSet, LiveOnly, latestOnly)
	}
	if err != nil {
		return nil, try, err
	}
	return r.settle(q, found), try, nil
}

// firstOf prefers what the strict reading said: it names more.
func firstOf(strict, lenient error) error {
	if strict != nil {
		return strict
	}
	return lenient
}

// attempt reads q as something new.
func (r *Registry) attempt(ctx context.Context, q Registration, v *view, how reading) attempt {
	if v.strict.err != nil {
		return attempt{err: v.strict.err}
	}
	if how.mode == schemas.New && len(q.Source.Text) > r.limits.Text {
		return attempt{err: parseError(&schemas.LimitError{Limit: schemas.LimitText, Most: r.limits.Text, Found: len(q.Source.Text)})}
	}
	q.Source.References = v.strict.references
	f, err := r.form(ctx, q.Source, how)
	if err == nil && isTrue(v.config.ValidateFields) && !v.imports() {
		err = validFields(q.Source)
	}
	return attempt{f, err}
}

// register decides a registration: what is to be written, or nothing and told is
// the answer. stamp is when the version was stored, once it is.
func (r *Registry) register(ctx context.Context, q Registration, told *Stored, stamp *func() time.Time) (*decision, error) {
	v := r.view(q)
	found, try, err := r.settled(ctx, q, v, true)
	if err != nil {
		return nil, err
	}
	if found != nil {
		*told = *found
		return nil, nil
	}
	if err := v.permits(q); err != nil {
		return nil, err
	}
	if v.imports() && q.retags() {
		return nil, &Error{Code: CodeNotPermitted, Subject: q.Subject, Text: fmt.Sprintf("%s is in mode %s: an import brings its text as it is, so its tags cannot be changed", named(q.Subject), v.mode)}
	}
	if v.imports() {
		return r.adopt(q, v, try, told, stamp)
	}
	if v.high == math.MaxInt32 {
		return nil, &Error{Code: CodeInternal, Subject: q.Subject, Text: "give a version", Err: fmt.Errorf("subject %q has used every number", q.Subject)}
	}
	next := v.high + 1
	if strings.TrimSpace(q.Source.Text) == "" {
		if try, err = r.again(ctx, q, v); err != nil {
			return nil, err
		}
	} else if try.err != nil {
		return nil, try.err
	}
	merged, metadata, rules := v.attached(q, next)
	f, err := r.retagged(ctx, q, v.latest, try.form, v.reading(q))
	if err != nil {
		return nil, err
	}
	if q.Version == 0 && (q.retags() || merged != q.Metadata || rules != q.RuleSet || v.merges() || strings.TrimSpace(q.Source.Text) == "") {
		found, err := r.find(ctx, q.Subject, f, merged, rules, LiveOnly, false)
		if err != nil {
			return nil, err
		}
		if found != nil {
			*told = *found
			return nil, nil
		}
	}
	if !q.Force {
		report, err := r.compare(ctx, q.Subject, f.schema, v.config, metadata)
		if err != nil {
			return nil, err
		}
		report = r.reserve(report, f, v.config, metadata, v.latest)
		if !report.Compatible {
			return nil, &Error{
				Code: CodeIncompatible, Subject: q.Subject, Report: &report,
				Text: fmt.Sprintf("schema being registered is incompatible with an earlier schema for subject %q", q.Subject.String()),
			}
		}
	}
	if q.Version > 0 && q.Version != next || q.Version < schemas.Latest {
		return nil, &Error{
			Code: CodeSchemaInvalid, Subject: q.Subject, Version: q.Version,
			Text: fmt.Sprintf("version %d of subject '%s' cannot be registered: the next version is %d", int32(q.Version), q.Subject, next),
		}
	}
	return r.store(v, q.Subject, next, f, f.identity(metadata, rules), told, stamp), nil
}

// permits refuses what the mode forbids (step 3).
func (v *view) permits(q Registration) error {
	if v.mode == ReadOnly || v.mode == ReadOnlyOverride {
		return &Error{Code: CodeNotPermitted, Subject: q.Subject, Text: fmt.Sprintf("%s is in mode %s: nothing new can be registered", named(q.Subject), v.mode)}
	}
	switch {
	case v.imports() && !q.hasID():
		return &Error{Code: CodeNotPermitted, Subject: q.Subject, Text: fmt.Sprintf("%s is in mode %s: what is new needs an id", named(q.Subject), v.mode)}
	case q.hasID() && !v.imports():
		return &Error{Code: CodeNotPermitted, Subject: q.Subject, Text: fmt.Sprintf("%s is in mode %s: id %d can be chosen in mode IMPORT only", named(q.Subject), v.mode, *q.ID)}
	}
	return nil
}

// again takes text, type and references of the latest live version (step 5).
func (r *Registry) again(ctx context.Context, q Registration, v *view) (attempt, error) {
	if v.latest == nil {
		return attempt{}, &Error{Code: CodeSchemaInvalid, Subject: q.Subject, Text: fmt.Sprintf("schema is empty, and subject '%s' has no version to take it from", q.Subject)}
	}
	f, err := r.form(ctx, v.latest.Source, reading{mode: schemas.Stored, in: q.Subject.Context})
	return attempt{form: f}, err
}

// merges tells whether the config in force adds something to what a request
// attaches.
func (v *view) merges() bool {
	c := v.config
	return !v.imports() && (c.DefaultMetadata != nil || c.OverrideMetadata != nil || c.DefaultRuleSet != nil || c.OverrideRuleSet != nil)
}

// attached are the metadata and rules that the version next gets: what the
// request leaves out comes from the latest, the config's defaults go under it
// and its overrides over it, and the managed property holds the number where
// numbers were asked for. merged is the metadata by which the same version is
// looked for: without the managed property, if only the latest brought it.
//
// Source: REST contract 5.7.
func (v *view) attached(q Registration, next schemas.Version) (merged, metadata *schemas.Metadata, rules *schemas.RuleSet) {
	metadata, rules = q.Metadata, q.RuleSet
	inherited := metadata == nil
	if v.latest != nil {
		metadata, rules = orElse(metadata, v.latest.Metadata), orElse(rules, v.latest.RuleSet)
	}
	metadata = mergeMetadata(mergeMetadata(v.config.DefaultMetadata, metadata), v.config.OverrideMetadata)
	rules = mergeRules(mergeRules(v.config.DefaultRuleSet, rules), v.config.OverrideRuleSet)
	rest, _, managed := withoutVersion(metadata)
	merged = metadata
	if managed && inherited {
		merged = rest
	}
	if managed || q.Version != 0 {
		metadata = withVersion(metadata, next)
	}
	return merged, metadata, rules
}

// store decides the event of a new version (steps 10 to 13).
func (r *Registry) store(v *view, name schemas.Subject, next schemas.Version, f *form, want *identity, told *Stored, stamp *func() time.Time) *decision {
	v.reads = append(v.reads, v.strict.reads...)
	hides := r.replaced(name, next, want)
	if len(hides) > 0 {
		v.reads = append(v.reads, key{referrers, name})
	}
	v.build = func(b *batch) error {
		id, err := b.id(name.Context, want)
		if err != nil {
			return err
		}
		source := f.source
		if e := b.state.known(name.Context, want); e != nil && e.more != nil && e.more.canonical != (Hash{}) {
			want, source = b.state.identity(e), b.state.source(e) // imported in another layout
		}
		if b.state.texts[want.hash] == nil {
			b.text(Text{want.hash, source.Text})
		}
		e := v.by(KindVersionRegistered, registeredBody{
			V: bodyVersion, Context: name.Context, Subject: name.Name, Version: next, ID: id, Type: want.kind, GUID: want.guid.String(),
			References: referencesToBody(want.references), Metadata: metadataToBody(want.metadata), RuleSet: ruleSetToBody(want.rules), Hides: hides,
		})
		e.Text = want.hash
		at := len(b.events)
		b.add(e)
		b.touch(key{versions, name})
		for _, ref := range want.references {
			b.touch(key{referrers, ref.Target(name.Context)})
		}
		*told = Stored{Fresh: true, Found: schemas.Found{
			Subject: name, Version: next, ID: schemas.ID{Context: name.Context, Number: id}, GUID: want.guid,
			Source: source, Metadata: want.metadata, RuleSet: want.rules,
		}}
		*stamp = func() time.Time { return b.events[at].Time }
		return nil
	}
	return v.decision
}

// replaced lists the soft-deleted versions of a subject that have the same id
// as the one to come and that nothing references: they are hidden (step 12).
func (r *Registry) replaced(name schemas.Subject, next schemas.Version, want *identity) []schemas.Version {
	r.mu.RLock()
	defer r.mu.RUnlock()
	u, e := r.state.subject(name), r.state.known(name.Context, want)
	if u == nil || e == nil {
		return nil
	}
	var list []schemas.Version
	for i := range u.versions {
		v := &u.versions[i]
		if v.entry == e && v.gone == softDeleted && v.number < next && len(r.state.referrers(u, v.number, WithDeleted, nil)) == 0 {
			list = append(list, v.number)
		}
	}
	return list
}

// Check compares a source with one version (v ≠ nil) or with what the level in
// force asks for (v == nil): exactly the comparison of a registration. It stores
// nothing and works in every mode. The latest version of a subject that has none
// is compatible with anything.
//
// Errors: CodeSchemaInvalid, CodeSchemaTooLarge; CodeVersionInvalid and
// CodeVersionUnknown for v.
// Source: REST contract 4.3.
func (r *Registry) Check(ctx context.Context, q Registration, v *schemas.Version) (compat.Report, error) {
	q, err := q.tidy()
	if err != nil {
		return compat.Report{}, err
	}
	if v != nil && (*v == 0 || *v < schemas.Latest) {
		return compat.Report{}, badVersion(q.Subject, *v)
	}
	if err := r.catchUp(ctx); err != nil {
		return compat.Report{}, err
	}
	now := r.view(q)
	if strings.TrimSpace(q.Source.Text) == "" {
		return compat.Report{}, &Error{Code: CodeSchemaInvalid, Subject: q.Subject, Text: "schema is empty"}
	}
	try := r.attempt(ctx, q, now, now.reading(q))
	if try.err != nil {
		return compat.Report{}, try.err
	}
	_, metadata, _ := now.attached(q, now.high+1)
	f, err := r.retagged(ctx, q, now.latest, try.form, now.reading(q))
	if err != nil {
		return compat.Report{}, err
	}
	if v == nil {
		report, err := r.compare(ctx, q.Subject, f.schema, now.config, metadata)
		return r.reserve(report, f, now.config, metadata, now.latest), err
	}
	old, err := answer(ctx, r, func(s *State) (Stored, error) {
		u := s.subject(q.Subject)
		at := u.find(*v)
		if *v == schemas.Latest {
			at = u.latest()
		}
		if at == nil || !at.live() {
			return Stored{}, versionUnknown(q.Subject, *v)
		}
		return s.stored(u, at), nil
	})
	if err != nil && *v != schemas.Latest {
		return compat.Report{}, err
	}
	var history []Stored
	before := &old
	if err != nil {
		before = nil
	} else if now.config.compares(metadata, old.Metadata) {
		history = []Stored{old}
	}
	report, err := r.compareWith(ctx, q.Subject, f.schema, now.config, history)
	return r.reserve(report, f, now.config, metadata, before), err
}
