package registry

import (
	"fmt"
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Apply folds the next event of the journal into s.
//
// Errors: an event that is not the next one, of an unknown kind or a newer
// form, or that contradicts what came before. The state is then not to be used
// any more.
func (s *State) Apply(r Record) error {
	c, err := decode(r)
	if err != nil {
		return err
	}
	return s.apply(c)
}

// change is a decoded event. Decoding needs no state, so that nobody has to
// wait for it.
type change struct {
	Record
	fold func(*State) error
}

func (s *State) apply(c change) error {
	if c.Revision != s.revision+1 {
		return fmt.Errorf("fold the journal: event %d follows event %d: the journal has a gap or was changed by hand", c.Revision, s.revision)
	}
	if err := c.fold(s); err != nil {
		return fmt.Errorf("fold event %d (%s): %w", c.Revision, c.Kind, err)
	}
	s.revision = c.Revision
	return nil
}

// decode reads the body of an event.
func decode(r Record) (change, error) {
	switch r.Kind {
	case KindInstalled:
		return decodeAs(r, func(s *State, b *installedBody) error { s.installation = b.Installation; return nil })
	case KindVersionRegistered:
		return decodeAs(r, func(s *State, b *registeredBody) error { return s.register(b, r) })
	case KindVersionDeleted, KindSubjectDeleted:
		return decodeAs(r, func(s *State, b *deletedBody) error { return s.delete(b, r) })
	case KindConfigSet, KindConfigCleared:
		return decodeAs(r, func(s *State, b *configBody) error { return s.configure(b, r) })
	case KindModeSet, KindModeCleared:
		return decodeAs(r, func(s *State, b *modeBody) error {
			set(s.modes, schemas.Subject{Context: b.Context, Name: b.Subject}, b.After, b.After != "")
			s.settings = r.Revision
			return nil
		})
	case KindContextDeleted:
		return decodeAs(r, func(s *State, b *contextBody) error { s.space(b.Context).listed = false; return nil })
	case KindMarksSet:
		return decodeAs(r, func(s *State, b *marksBody) error { return s.mark(b, r.Revision) })
	case KindExceptionSet, KindExceptionCleared:
		return decodeAs(r, func(s *State, b *exceptionBody) error {
			s.except(b, r.Kind == KindExceptionSet)
			s.settings = r.Revision
			return nil
		})
	}
	return change{}, fmt.Errorf("read event %d: its kind %q is unknown: use the program that wrote it, or a newer one", r.Revision, r.Kind)
}

func decodeAs[B any](r Record, fold func(*State, *B) error) (change, error) {
	var body B
	if err := decodeBody(r, &body); err != nil {
		return change{}, err
	}
	return change{r, func(s *State) error { return fold(s, &body) }}, nil
}

func set[K comparable, V any](m map[K]V, k K, v V, there bool) {
	if there {
		m[k] = v
	} else {
		delete(m, k)
	}
}

func (s *State) register(b *registeredBody, r Record) error {
	guid, err := schemas.ParseGUID(b.GUID)
	switch {
	case err != nil:
		return err
	case b.Version < 1 || b.ID < 1:
		return fmt.Errorf("version %d and id %d: both start at 1", b.Version, b.ID)
	}
	name := schemas.Subject{Context: b.Context, Name: b.Subject}
	e, err := s.enter(b, guid, r)
	if err != nil {
		return err
	}
	u := s.makeSubject(name)
	if v := u.find(b.Version); v != nil {
		if v.live() || v.entry != e {
			return fmt.Errorf("version %d of subject %q is already there", b.Version, name)
		}
		// An import brings a deleted version back.
		if v.hidden() {
			e.uses.add(use{u, v.number})
		}
		v.gone, v.time, u.changed, u.space.listed = 0, b.time(r), r.Revision, true
		s.referred(e, r.Revision)
		return nil
	}
	delete(u.gone, b.Version)
	for _, n := range b.Hides {
		v := u.find(n)
		if v == nil || v.gone != softDeleted {
			return fmt.Errorf("version %d of subject %q is to be hidden and is not soft-deleted", n, name)
		}
		v.gone = b.Version
		v.entry.uses.drop(use{u, n})
	}
	s.put(u, version{entry: e, time: b.time(r), number: b.Version}, r.Revision)
	s.referred(e, r.Revision) // anew, also when the id is an old one
	u.space.listed = true
	return nil
}

// time is when a version was stored, in this registry or in the one it came from.
func (b *registeredBody) time(r Record) int64 {
	if b.Stored != 0 {
		return b.Stored
	}
	return r.Time.UnixMilli()
}

// mark folds what another registry remembered. Counters only rise.
func (s *State) mark(b *marksBody, at Revision) error {
	n := s.space(b.Context)
	n.listed, n.high = n.listed || b.Listed, max(n.high, b.High)
	for _, m := range b.Subjects {
		if err := s.markSubject(b.Context, m, at); err != nil {
			return err
		}
	}
	return nil
}

// put adds a version to its subject, which knows its number as new.
func (s *State) put(u *subject, v version, at Revision) {
	if len(u.versions) == 0 {
		s.list(u)
	}
	i, _ := slices.BinarySearchFunc(u.versions, v.number, func(v version, n schemas.Version) int { return int(v.number) - int(n) })
	u.versions = slices.Insert(u.versions, i, v)
	u.high = max(u.high, v.number)
	u.changed = at
	s.versions++
	if !v.hidden() {
		v.entry.uses.add(use{u, v.number})
	}
}

// list adds u to the ordered subjects, if anyone has asked for them yet.
func (s *State) list(u *subject) {
	s.order.Lock()
	defer s.order.Unlock()
	if s.ordered != nil {
		i, _ := slices.BinarySearchFunc(s.ordered, u.text, func(a *subject, text string) int { return compareText(a.text, text) })
		s.ordered = slices.Insert(s.ordered, i, u)
	}
}

func (s *State) unlist(u *subject) {
	s.order.Lock()
	defer s.order.Unlock()
	if i := slices.Index(s.ordered, u); i >= 0 {
		s.ordered = slices.Delete(s.ordered, i, i+1)
	}
}

// enter finds the entry that an id stands for, or makes it.
func (s *State) enter(b *registeredBody, guid schemas.GUID, r Record) (*entry, error) {
	want := &identity{
		guid: guid, kind: b.Type, hash: r.Event.Text, references: referencesFromBody(b.References),
		metadata: metadataFromBody(b.Metadata), rules: ruleSetFromBody(b.RuleSet),
	}
	var err error
	if want.canonical, err = hashFromBody(b.Canonical); err != nil {
		return nil, err
	}
	n := s.space(b.Context)
	if e := n.entries[b.ID]; e != nil {
		if t := s.texts[want.hash]; t == nil || e.text != t || e.guid != guid {
			return nil, fmt.Errorf("id %d already stands for another schema", schemas.ID{Context: b.Context, Number: b.ID}.Number)
		}
		return e, nil
	}
	return s.makeEntry(n, b.ID, want, r.Text, r.Erased)
}

// makeEntry adds what an id stands for.
func (s *State) makeEntry(n *namespace, id int32, want *identity, body string, erased bool) (*entry, error) {
	kind, ok := s.kindOf(want.kind)
	if !ok {
		return nil, fmt.Errorf("type %q is the 257th", want.kind)
	}
	t := s.texts[want.hash]
	if t == nil {
		if erased {
			body = string(want.hash[:])
		}
		t = &text{text: body, erased: erased}
		s.texts[want.hash] = t
	} else if t.erased && !erased {
		t.text, t.erased = body, false
	}
	t.uses++
	e := &entry{space: n, text: t, guid: want.guid, id: id, kind: kind, next: s.guids[guidKey(want.guid)]}
	if len(want.references) > 0 || want.metadata != nil || want.rules != nil || want.canonical != (Hash{}) {
		e.more = &attachments{want.references, want.metadata, want.rules, want.canonical}
	}
	if want.canonical != (Hash{}) {
		s.canonical[want.canonical] = append(s.canonical[want.canonical], e)
	}
	s.guids[guidKey(e.guid)] = e
	n.entries[id] = e
	n.high = max(n.high, id)
	for _, ref := range want.references {
		s.makeSubject(ref.Target(n.name)).from.add(ref.Version, e)
	}
	return e, nil
}

// referred marks what e references as referred to anew.
func (s *State) referred(e *entry, at Revision) {
	for _, ref := range e.references() {
		if u := s.subject(ref.Target(e.space.name)); u != nil {
			u.referred = at
		}
	}
}

func (s *State) delete(b *deletedBody, r Record) error {
	name := schemas.Subject{Context: b.Context, Name: b.Subject}
	u := s.subject(name)
	for _, n := range b.Versions {
		v := u.find(n)
		switch {
		case v == nil || v.hidden():
			return fmt.Errorf("version %d of subject %q is not there", n, name)
		case b.Permanent && v.live():
			return fmt.Errorf("version %d of subject %q is not soft-deleted", n, name)
		case !b.Permanent && !v.live():
			return fmt.Errorf("version %d of subject %q is soft-deleted already", n, name)
		}
		s.referred(v.entry, r.Revision)
		if b.Permanent {
			s.remove(u, n)
		} else {
			v.gone = softDeleted
		}
	}
	if u != nil {
		u.changed = r.Revision
		if len(u.versions) == 0 {
			u.versions = nil
			s.unlist(u)
		}
	}
	return nil
}

// remove takes a version away for good, and the numbers that it hid. Only its
// subject's mark remembers it.
func (s *State) remove(u *subject, number schemas.Version) {
	v := u.find(number)
	if v == nil {
		return
	}
	e := v.entry
	if u.gone == nil {
		u.gone = map[schemas.Version]mark{}
	}
	u.gone[number] = mark{e.guid, e.kind}
	var hid []schemas.Version
	for i := range u.versions {
		if u.versions[i].gone == number {
			hid = append(hid, u.versions[i].number)
		}
	}
	for _, n := range hid {
		s.remove(u, n)
	}
	i := slices.IndexFunc(u.versions, func(v version) bool { return v.number == number })
	u.versions = slices.Delete(u.versions, i, i+1)
	s.versions--
	e.uses.drop(use{u, number})
	if len(e.uses.list()) == 0 && e.space.entries[e.id] == e {
		s.forget(e)
	}
}

// forget removes an entry that nothing carries any more. Hidden numbers carry
// nothing: their entry is that of the number that hid them.
func (s *State) forget(e *entry) {
	delete(e.space.entries, e.id)
	if e.more != nil && e.more.canonical != (Hash{}) {
		rest := slices.DeleteFunc(s.canonical[e.more.canonical], func(x *entry) bool { return x == e })
		set(s.canonical, e.more.canonical, rest, len(rest) > 0)
	}
	key := guidKey(e.guid)
	if s.guids[key] == e {
		set(s.guids, key, e.next, e.next != nil)
	} else {
		for p := s.guids[key]; p != nil; p = p.next {
			if p.next == e {
				p.next = e.next
				break
			}
		}
	}
	for _, ref := range e.references() {
		u := s.subject(ref.Target(e.space.name))
		if u != nil {
			u.from.drop(ref.Version, e)
		}
	}
	if e.text.uses--; e.text.uses == 0 {
		s.dropText(e.text)
	}
}

func (s *State) dropText(gone *text) {
	s.dropped++
	if gone.erased {
		delete(s.texts, Hash([]byte(gone.text)))
		return
	}
	delete(s.texts, HashOf(gone.text))
}

func (s *State) configure(b *configBody, r Record) error {
	c, err := configFromBody(b.After)
	if err != nil {
		return err
	}
	set(s.configs, schemas.Subject{Context: b.Context, Name: b.Subject}, c, b.After != nil)
	s.settings = r.Revision
	return nil
}

func (s *State) except(b *exceptionBody, there bool) {
	scope := schemas.Subject{Context: b.Context, Name: b.Subject}
	if s.exceptions[scope] == nil {
		s.exceptions[scope] = map[string]exceptionBody{}
	}
	set(s.exceptions[scope], b.Fingerprint, *b, there)
	if len(s.exceptions[scope]) == 0 {
		delete(s.exceptions, scope)
	}
}
