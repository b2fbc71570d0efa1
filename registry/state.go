package registry

import (
	"slices"
	"strings"
	"sync"

	"github.com/cartorio-registry/cartorio/schemas"
)

// State is the fold of a journal's events: what is registered, under which
// numbers, with which levels and modes. It does no input or output and knows no
// clock. It is not safe for concurrent use while Apply runs.
//
// Its structs are kept small: a registry holds one entry per id, one version
// per number and one copy of each distinct text in memory.
type State struct {
	revision     Revision
	installation string
	contexts     map[schemas.Context]*namespace
	texts        map[Hash]*text
	guids        map[uint64]*entry // by the GUID's first eight bytes, chained
	canonical    map[Hash][]*entry // imported texts that are not canonical, by identity.canonical
	configs      map[schemas.Subject]Config
	modes        map[schemas.Subject]Mode
	exceptions   map[schemas.Subject]map[string]exceptionBody // by fingerprint
	settings     Revision                                     // when a config or mode last changed
	types        []schemas.Type                               // entry.kind is an index in it
	versions     int                                          // how many versions there are
	dropped      uint64                                       // how many texts have gone since the program started

	order   sync.Mutex
	ordered []*subject // those with versions, by qualified text; nil until asked for
}

// NewState is the state before the first event.
func NewState() *State {
	return &State{
		contexts:   map[schemas.Context]*namespace{},
		texts:      map[Hash]*text{},
		guids:      map[uint64]*entry{},
		canonical:  map[Hash][]*entry{},
		configs:    map[schemas.Subject]Config{},
		modes:      map[schemas.Subject]Mode{},
		exceptions: map[schemas.Subject]map[string]exceptionBody{},
	}
}

// Revision is the last event that was applied.
func (s *State) Revision() Revision { return s.revision }

// namespace is one context. Its marks outlive everything in it.
type namespace struct {
	name     schemas.Context
	listed   bool  // a schema was registered in it and it was not deleted since
	high     int32 // the highest id ever given
	entries  map[int32]*entry
	subjects map[string]*subject
}

// text is a schema text and the number of entries that have it. Of an erased one
// the bytes of its hash are left, by which it is found.
type text struct {
	text   string
	erased bool
	uses   int32
}

// entry is what an id stands for in a context.
type entry struct {
	space *namespace
	text  *text
	more  *attachments // nil when there are none
	next  *entry       // chain of State.guids
	uses  uses         // hidden numbers are not in it
	guid  schemas.GUID
	id    int32
	kind  uint8
}

// attachments are the parts of an entry that most do not have.
type attachments struct {
	references []schemas.Reference
	metadata   *schemas.Metadata
	rules      *schemas.RuleSet
	canonical  Hash // identity.canonical
}

// mark is what is left of a version that was permanently deleted: enough to tell
// whether an import brings it back.
type mark struct {
	guid schemas.GUID
	kind uint8
}

// subject is a line of versions. It stays when its last version is gone, for
// its mark of numbers.
type subject struct {
	space    *namespace
	name     string
	text     string    // qualified
	versions []version // by number
	high     schemas.Version
	changed  Revision                 // when its versions last changed
	referred Revision                 // when what refers to it last changed
	from     referredBy               // which entries reference a version
	gone     map[schemas.Version]mark // permanently deleted numbers
}

// version is one number of a subject.
type version struct {
	entry  *entry
	time   int64 // milliseconds since 1970
	number schemas.Version
	gone   schemas.Version // 0 live, softDeleted, or the number that hid this one
}

const softDeleted schemas.Version = -1

func (v *version) live() bool   { return v.gone == 0 }
func (v *version) hidden() bool { return v.gone > 0 }

// shows tells whether a list that wants d shows v.
func (v *version) shows(d Deleted) bool {
	switch d {
	case LiveOnly:
		return v.live()
	case DeletedOnly:
		return v.gone == softDeleted
	case WithDeleted, DeletedAsNegative:
		return !v.hidden()
	}
	return false
}

func (e *entry) references() []schemas.Reference {
	if e.more == nil {
		return nil
	}
	return e.more.references
}

func (e *entry) metadata() *schemas.Metadata {
	if e.more == nil {
		return nil
	}
	return e.more.metadata
}

func (e *entry) rules() *schemas.RuleSet {
	if e.more == nil {
		return nil
	}
	return e.more.rules
}

// space finds or makes a context.
func (s *State) space(c schemas.Context) *namespace {
	n := s.contexts[c]
	if n == nil {
		n = &namespace{name: c, entries: map[int32]*entry{}, subjects: map[string]*subject{}}
		s.contexts[c] = n
	}
	return n
}

// subject finds a subject that has a mark, or nil.
func (s *State) subject(name schemas.Subject) *subject {
	n := s.contexts[name.Context]
	if n == nil {
		return nil
	}
	return n.subjects[name.Name]
}

// makeSubject finds or makes a subject.
func (s *State) makeSubject(name schemas.Subject) *subject {
	n := s.space(name.Context)
	sub := n.subjects[name.Name]
	if sub == nil {
		sub = &subject{space: n, name: strings.Clone(name.Name)}
		sub.text = sub.name
		if n.name != schemas.DefaultContext {
			sub.text = name.String()
		}
		n.subjects[sub.name] = sub
	}
	return sub
}

func (u *subject) subject() schemas.Subject {
	return schemas.Subject{Context: u.space.name, Name: u.name}
}

// find answers the version with a number, hidden ones too, or nil. The pointer
// is good until the state changes.
func (u *subject) find(number schemas.Version) *version {
	if u == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(u.versions, number, func(v version, n schemas.Version) int { return int(v.number) - int(n) })
	if !ok {
		return nil
	}
	return &u.versions[i]
}

// latest is the highest live version, or nil.
func (u *subject) latest() *version {
	if u == nil {
		return nil
	}
	for i := len(u.versions) - 1; i >= 0; i-- {
		if u.versions[i].live() {
			return &u.versions[i]
		}
	}
	return nil
}

// has tells whether the subject has a version that d shows.
func (u *subject) has(d Deleted) bool {
	if u == nil {
		return false
	}
	for i := range u.versions {
		if u.versions[i].shows(d) {
			return true
		}
	}
	return false
}

// carrying is the newest version shown by d that has entry e, or nil.
func (u *subject) carrying(e *entry, d Deleted) *version {
	if u == nil {
		return nil
	}
	if at := e.uses.list(); len(at) < len(u.versions) {
		for i := len(at) - 1; i >= 0; i-- {
			if at[i].subject == u {
				if v := u.find(at[i].number); v.shows(d) {
					return v
				}
			}
		}
		return nil
	}
	for i := len(u.versions) - 1; i >= 0; i-- {
		if v := &u.versions[i]; v.entry == e && v.shows(d) {
			return v
		}
	}
	return nil
}

// subjects lists every subject that has versions, by qualified text. Readers
// may call it side by side; the list is not to be changed.
func (s *State) subjects() []*subject {
	s.order.Lock()
	defer s.order.Unlock()
	if s.ordered == nil {
		list := []*subject{}
		for _, n := range s.contexts {
			for _, u := range n.subjects {
				if len(u.versions) > 0 {
					list = append(list, u)
				}
			}
		}
		slices.SortFunc(list, func(a, b *subject) int { return compareText(a.text, b.text) })
		s.ordered = list
	}
	return s.ordered
}

// spaces lists the contexts, the default one first, then by name. Those that
// have only marks left are in it.
func (s *State) spaces() []*namespace {
	list := make([]*namespace, 0, len(s.contexts))
	for _, n := range s.contexts {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b *namespace) int {
		if a.name == schemas.DefaultContext {
			return -1
		}
		if b.name == schemas.DefaultContext {
			return 1
		}
		return compareText(string(a.name), string(b.name))
	})
	return list
}

// known finds the entry with identity want in a context: the smallest id, should
// an import have given several. The GUID only finds candidates: its formula
// does not mark where one part ends, and MD5 can be made to collide. A text that
// was imported in another layout is found by its canonical form.
func (s *State) known(c schemas.Context, want *identity) *entry {
	t := s.texts[want.hash]
	var best *entry
	for e := s.guids[guidKey(want.guid)]; e != nil; e = e.next {
		if t != nil && e.guid == want.guid && e.text == t && e.space.name == c && s.types[e.kind] == want.kind &&
			slices.Equal(e.references(), want.references) &&
			equalMetadata(e.metadata(), want.metadata) && equalRules(e.rules(), want.rules) &&
			(best == nil || e.id < best.id) {
			best = e
		}
	}
	if best == nil && len(s.canonical) > 0 {
		for _, e := range s.canonical[want.content()] {
			if e.space.name == c && (best == nil || e.id < best.id) {
				best = e
			}
		}
	}
	return best
}

// referrers lists the entries that reference a version and have a use that d
// shows outside the subject except (nil excludes none).
func (s *State) referrers(u *subject, number schemas.Version, d Deleted, except *subject) []*entry {
	if u == nil {
		return nil
	}
	var out []*entry
	for _, at := range u.from.of(number) {
		e := at.entry
		if slices.ContainsFunc(e.uses.list(), func(at use) bool {
			return at.subject != except && at.subject.find(at.number).shows(d)
		}) {
			out = append(out, e)
		}
	}
	return out
}

// kindOf finds or makes the index of a type.
func (s *State) kindOf(t schemas.Type) (uint8, bool) {
	i := slices.Index(s.types, t)
	if i < 0 {
		if len(s.types) == 256 {
			return 0, false
		}
		i = len(s.types)
		s.types = append(s.types, t)
	}
	return uint8(i), true
}
