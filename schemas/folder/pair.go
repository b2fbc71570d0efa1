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
// those left, one name (Avro full name, $id, first message). Where two files
// claim one name none of them is paired, and each is answered with an error.
// Only selected entries take part.
func Pair(old, next *Folder) []Pairing {
	var out []Pairing
	oldLeft, newLeft := selected(old), selected(next)
	match := func(by func(*Entry) (string, bool)) {
		olds, news := group(oldLeft, by), group(newLeft, by)
		for _, k := range sortedKeys(news) {
			a, b := olds[k], news[k]
			if len(a) == 0 {
				continue
			}
			if len(a) == 1 && len(b) == 1 {
				out = append(out, Pairing{Old: a[0], New: b[0]})
			} else {
				err := fmt.Errorf("finding what the file was before: %s could each have been %s, by the name %s: keep the old path, or declare subjects",
					entryPaths(b), entryPaths(a), k[strings.IndexByte(k, ' ')+1:])
				for _, e := range b {
					out = append(out, Pairing{New: e, Err: err})
				}
				for _, e := range a {
					out = append(out, Pairing{Old: e, Err: err})
				}
			}
			for _, e := range a {
				delete(oldLeft, e.Path)
			}
			for _, e := range b {
				delete(newLeft, e.Path)
			}
		}
	}
	match(func(e *Entry) (string, bool) { return "subject " + e.Subject.String(), e.Declared })
	match(func(e *Entry) (string, bool) { return "path " + e.Path, true })
	match(func(e *Entry) (string, bool) {
		name := knownAs(e)
		return string(e.Source.Type) + " " + plainName(name), name != "" && !errors.Is(e.Err, ErrNoChecker)
	})
	for _, e := range newLeft {
		out = append(out, Pairing{New: e})
	}
	for _, e := range oldLeft {
		p := Pairing{Old: e}
		if _, there := slices.BinarySearch(next.Others, e.Path); there {
			p.Err = errors.New("finding the file: it is still there and no longer recognizable as a schema")
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Pairing) int {
		if c := strings.Compare(a.Path(), b.Path()); c != 0 {
			return c
		}
		return boolInt(a.New == nil) - boolInt(b.New == nil)
	})
	return out
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

func group(left map[string]*Entry, by func(*Entry) (string, bool)) map[string][]*Entry {
	out := map[string][]*Entry{}
	for _, p := range sortedKeys(left) {
		if k, ok := by(left[p]); ok {
			out[k] = append(out[k], left[p])
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
