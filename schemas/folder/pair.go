package folder

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Pairing is a file of one tree and what it is in the other. Old is nil for a
// new file, New for one that is gone. Err says that the two cannot be told:
// then more than one file may be either side.
type Pairing struct {
	Old, New *Entry
	Err      error
}

// Moved tells whether both sides are there under different paths.
func (p Pairing) Moved() bool { return p.Old != nil && p.New != nil && p.Old.Path != p.New.Path }

// Path is where the pair is shown: the new path, else the old.
func (p Pairing) Path() string {
	if p.New != nil {
		return p.New.Path
	}
	return p.Old.Path
}

// Pair says which file of old is which of next, by path of the new side. Files
// are the same when they have one declared subject; else one path; else, among
// those left, one name (Avro full name, $id, first message); else one text.
// Where one folder's paths are subjects (see [Newest]), its subjects are those of
// the other. Where several files claim one name or text none of them is paired, and each is
// answered with an error; so are changed files of one format that no name tells
// apart from new ones. Only selected entries take part.
func Pair(old, next *Folder) []Pairing {
	m := matching{old: selected(old), next: selected(next), subjects: old.subjects || next.subjects}
	m.same()
	m.doubt()
	for _, e := range m.next {
		m.out = append(m.out, Pairing{New: e})
	}
	for _, e := range m.old {
		p := Pairing{Old: e}
		if _, there := slices.BinarySearch(next.Others, e.Path); there {
			p.Err = errors.New("finding the file: it is still there and no longer recognizable as a schema")
		}
		m.out = append(m.out, p)
	}
	slices.SortFunc(m.out, func(a, b Pairing) int {
		if c := strings.Compare(a.Path(), b.Path()); c != 0 {
			return c
		}
		return boolInt(a.New == nil) - boolInt(b.New == nil)
	})
	return m.out
}

// PairNew says what the selected files of next were in old, as Pair does, where
// next is not the whole of its tree: what of old is not among them is not gone.
func PairNew(old, next *Folder) []Pairing {
	m := matching{old: selected(old), next: selected(next), subjects: old.subjects || next.subjects}
	m.same()
	for _, e := range m.next {
		m.out = append(m.out, Pairing{New: e})
	}
	m.out = slices.DeleteFunc(m.out, func(p Pairing) bool { return p.New == nil })
	slices.SortFunc(m.out, func(a, b Pairing) int { return strings.Compare(a.Path(), b.Path()) })
	return m.out
}

// matching is the work of pairing: what is left on each side, by path, and what
// was decided.
type matching struct {
	old, next map[string]*Entry
	out       []Pairing
	subjects  bool // every subject is as good as a declared one
}

// same pairs what is known to be one file.
func (m *matching) same() {
	m.match(func(e *Entry) (string, string) { return e.Subject.String(), "the name " + e.Subject.String() }, func(e *Entry) bool { return e.Declared || m.subjects && e.Subject != (schemas.Subject{}) })
	m.match(func(e *Entry) (string, string) { return e.Path, "the path " + e.Path }, func(*Entry) bool { return true })
	m.match(func(e *Entry) (string, string) {
		name := plainName(knownAs(e))
		return string(e.Source.Type) + " " + name, "the name " + name
	}, func(e *Entry) bool { return knownAs(e) != "" && !errors.Is(e.Err, ErrNoChecker) })
	m.match(func(e *Entry) (string, string) { return string(e.Source.Type) + " " + e.Source.Text, "their text" },
		func(e *Entry) bool { return e.Source.Text != "" })
}

// match pairs what by gives one key; it also tells people what that key is.
func (m *matching) match(by func(*Entry) (key, said string), takes func(*Entry) bool) {
	olds, news := group(m.old, by, takes), group(m.next, by, takes)
	for _, k := range sortedKeys(news) {
		a, b := olds[k], news[k]
		switch {
		case len(a) == 0:
			continue
		case len(a) == 1 && len(b) == 1:
			m.out = append(m.out, Pairing{Old: a[0], New: b[0]})
		default:
			_, said := by(b[0])
			m.refuse(a, b, fmt.Errorf("finding what the file was before: %s could each have been %s, by %s: keep the old path, or declare subjects",
				entryPaths(b), entryPaths(a), said))
		}
		m.take(a, b)
	}
}

// doubt refuses the files of a format that have no name, where some are gone and
// some are new: one may be the other, moved and changed at once.
func (m *matching) doubt() {
	by := func(e *Entry) (string, string) { return string(e.Source.Type), "" }
	nameless := func(e *Entry) bool { return knownAs(e) == "" && !e.Declared && e.Err == nil }
	olds, news := group(m.old, by, nameless), group(m.next, by, nameless)
	for _, k := range sortedKeys(news) {
		a, b := olds[k], news[k]
		if len(a) == 0 {
			continue
		}
		m.refuse(a, b, fmt.Errorf("finding what the file was before: %s may be %s, moved and changed, and nothing in it tells: keep the old path, move the file in a change of its own, or declare its subject",
			entryPaths(b), entryPaths(a)))
		m.take(a, b)
	}
}

func (m *matching) refuse(old, next []*Entry, err error) {
	for _, e := range next {
		m.out = append(m.out, Pairing{New: e, Err: err})
	}
	for _, e := range old {
		m.out = append(m.out, Pairing{Old: e, Err: err})
	}
}

func (m *matching) take(old, next []*Entry) {
	for _, e := range old {
		delete(m.old, e.Path)
	}
	for _, e := range next {
		delete(m.next, e.Path)
	}
}

func selected(f *Folder) map[string]*Entry {
	out := map[string]*Entry{}
	for i := range f.Entries {
		if f.Entries[i].Selected {
			out[f.Entries[i].Path] = &f.Entries[i]
		}
	}
	return out
}

func group(left map[string]*Entry, by func(*Entry) (key, said string), takes func(*Entry) bool) map[string][]*Entry {
	out := map[string][]*Entry{}
	for _, p := range sortedKeys(left) {
		if e := left[p]; takes(e) {
			k, _ := by(e)
			out[k] = append(out[k], e)
		}
	}
	return out
}

func entryPaths(list []*Entry) string {
	files := make([]*file, len(list))
	for i, e := range list {
		files[i] = &file{Entry: Entry{Path: e.Path}}
	}
	return paths(files)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

var _ schemas.Resolver = (*Folder)(nil)
