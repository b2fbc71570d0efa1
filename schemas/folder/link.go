package folder

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// linker finds which file answers which name, and an order in which every file
// stands behind what it refers to.
type linker struct {
	files  []*file
	byPath map[string]int
	// main and all are the files that are known by a name, and that define it
	// anywhere, per format.
	main, all map[key][]int
	uses      [][]int
	links     [][]link
}

// link is a reference: the name in the text and the file that answers.
type link struct {
	name string
	to   int
}

type key struct {
	format schemas.Type
	name   string
}

func newLinker(files []*file) *linker {
	l := &linker{files: files, byPath: map[string]int{}, main: map[key][]int{}, all: map[key][]int{}, uses: make([][]int, len(files)), links: make([][]link, len(files))}
	for i, f := range files {
		l.byPath[f.Path] = i
		for n, name := range f.Names {
			k := key{f.Source.Type, plainName(name)}
			if n == 0 {
				l.main[k] = append(l.main[k], i)
			}
			if !slices.Contains(l.all[k], i) {
				l.all[k] = append(l.all[k], i)
			}
		}
	}
	return l
}

// plainName drops the empty fragment that a $id may carry.
func plainName(name string) string { return strings.TrimSuffix(name, "#") }

// link fills References, uses and Missing, or Err where two files answer.
func (l *linker) link() {
	for i, f := range l.files {
		for _, need := range f.needs {
			found := l.answer(i, need)
			switch {
			case len(found) == 0:
				f.Missing = append(f.Missing, need)
				continue
			case len(found) > 1:
				if f.Err == nil {
					f.Err = fmt.Errorf("resolving %s: it is defined in %s: keep one of them", need, paths(l.pick(found)))
				}
				continue
			case found[0] == i:
				continue
			}
			to := l.files[found[0]]
			name := need
			if f.Source.Type == schemas.Avro {
				// One text per target: an Avro name may not be defined twice.
				if slices.Contains(l.uses[i], found[0]) {
					continue
				}
				name = to.Names[0]
			}
			if !slices.Contains(l.uses[i], found[0]) {
				l.uses[i] = append(l.uses[i], found[0])
			}
			l.links[i] = append(l.links[i], link{name, found[0]})
			f.Source.References = append(f.Source.References, schemas.Reference{Name: name, Subject: qualified(to.Subject, f.Subject.Context), Version: 1})
		}
	}
}

// clash marks the files in whose references, followed to the end, one name
// stands for two files: whoever resolves them would take the first for both.
func (l *linker) clash() {
	// Beyond as many files a closure is refused in any case.
	const most = 1_000
	for i, f := range l.files {
		named := map[string]int{}
		seen := map[int]bool{i: true}
		next := []int{i}
		for len(next) > 0 && len(seen) <= most {
			at := next[0]
			next = next[1:]
			for _, link := range l.links[at] {
				if other, taken := named[link.name]; taken && other != link.to && f.Err == nil {
					f.Err = fmt.Errorf("resolving %s: among what the file refers to it stands for %s: give the two different names", link.name, paths(l.pick([]int{other, link.to})))
				}
				named[link.name] = link.to
				if !seen[link.to] {
					seen[link.to] = true
					next = append(next, link.to)
				}
			}
		}
	}
}

// qualified writes a target as a reference of another context must see it.
func qualified(s schemas.Subject, from schemas.Context) string {
	if s.Context == from {
		return s.Name
	}
	return ":" + string(s.Context) + ":" + s.Name
}

func (l *linker) pick(list []int) []*file {
	out := make([]*file, len(list))
	for i, at := range list {
		out[i] = l.files[at]
	}
	return out
}

// answer lists the files that define what file i needs.
func (l *linker) answer(i int, need string) []int {
	switch l.files[i].Source.Type {
	case schemas.Protobuf:
		return l.importPath(i, need)
	case schemas.JSON:
		if found := l.main[key{schemas.JSON, plainName(need)}]; len(found) > 0 {
			return found
		}
		return l.relative(i, need)
	case schemas.Avro:
		return l.fullName(i, need)
	}
	return l.fullName(i, need)
}

// fullName looks for the file that is known by a name, else for one that
// defines it inside.
func (l *linker) fullName(i int, need string) []int {
	k := key{l.files[i].Source.Type, need}
	if found := l.main[k]; len(found) > 0 {
		return found
	}
	return l.all[k]
}

// importPath looks from the tree's root, as a Protobuf compiler would; then
// from each folder above the file, the nearest first, since a tree may hold
// several roots; then for the only file whose path ends so.
func (l *linker) importPath(i int, need string) []int {
	need = path.Clean(need)
	if at, ok := l.typed(need, schemas.Protobuf); ok {
		return []int{at}
	}
	for dir := path.Dir(l.files[i].Path); dir != "."; dir = path.Dir(dir) {
		if at, ok := l.typed(path.Join(dir, need), schemas.Protobuf); ok {
			return []int{at}
		}
	}
	var found []int
	for at, f := range l.files {
		if f.Source.Type == schemas.Protobuf && strings.HasSuffix(f.Path, "/"+need) {
			found = append(found, at)
		}
	}
	return found
}

// relative looks beside the file. An absolute target is followed when it lies
// beside the file's own $id.
func (l *linker) relative(i int, need string) []int {
	f := l.files[i]
	target, err := url.Parse(need)
	if err != nil {
		return nil
	}
	dir := path.Dir(f.Path)
	p := target.Path
	if target.IsAbs() || target.Host != "" {
		if len(f.Names) == 0 {
			return nil
		}
		own, err := url.Parse(f.Names[0])
		if err != nil || own.Scheme != target.Scheme || own.Host != target.Host || own.Path == "" || target.Opaque != "" {
			return nil
		}
		p = between(path.Dir(own.Path), target.Path)
	} else if strings.HasPrefix(p, "/") {
		dir, p = ".", strings.TrimPrefix(p, "/")
	}
	if p == "" {
		return nil
	}
	var found []int
	if at, ok := l.typed(path.Join(dir, p), schemas.JSON); ok {
		found = append(found, at)
	}
	// A target that was resolved against nothing has lost its "..": then the file
	// may lie in any folder above.
	if strings.Contains(f.Source.Text, "../"+p) && !strings.HasPrefix(p, "../") {
		for dir != "." {
			dir = path.Dir(dir)
			if at, ok := l.typed(path.Join(dir, p), schemas.JSON); ok {
				found = append(found, at)
			}
		}
	}
	return found
}

// between is the way from folder dir to file p, both absolute.
func between(dir, p string) string {
	up := ""
	for dir != "/" && dir != "." && !strings.HasPrefix(p, dir+"/") {
		dir = path.Dir(dir)
		up += "../"
	}
	return up + strings.TrimPrefix(strings.TrimPrefix(p, dir), "/")
}

func (l *linker) typed(p string, t schemas.Type) (int, bool) {
	at, ok := l.byPath[p]
	return at, ok && l.files[at].Source.Type == t
}

// ordered puts dependencies first, else keeps the order of paths, and marks
// circles.
func (l *linker) ordered() []Entry {
	const (
		fresh = iota
		open
		done
	)
	state := make([]uint8, len(l.files))
	place := make([]int, len(l.files))
	out := make([]Entry, 0, len(l.files))
	var stack []int
	var visit func(i int)
	visit = func(i int) {
		state[i] = open
		stack = append(stack, i)
		for _, to := range l.uses[i] {
			switch state[to] {
			case fresh:
				visit(to)
			case open:
				l.circle(stack[slices.Index(stack, to):])
			}
		}
		stack = stack[:len(stack)-1]
		state[i] = done
		place[i] = len(out)
		out = append(out, Entry{})
	}
	for i := range l.files {
		if state[i] == fresh {
			visit(i)
		}
	}
	for i, f := range l.files {
		for _, to := range l.uses[i] {
			f.Uses = append(f.Uses, place[to])
		}
		slices.Sort(f.Uses)
		out[place[i]] = f.Entry
	}
	return out
}

func (l *linker) circle(ring []int) {
	var way []string
	for _, at := range append(slices.Clone(ring), ring[0]) {
		way = append(way, l.files[at].Path)
	}
	const most = 8
	if len(way) > most {
		way = append(way[:most-1], "…", way[len(way)-1])
	}
	err := fmt.Errorf("ordering the files: references go in a circle, which a registry cannot store: %s", strings.Join(way, " → "))
	for _, at := range ring {
		if l.files[at].Err == nil {
			l.files[at].Err = err
		}
	}
}
