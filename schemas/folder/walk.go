package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas"
)

// withoutFormat are the endings of schema languages that we know by sight.
var withoutFormat = []string{".avdl", ".avpr", ".capnp", ".fbs", ".graphql", ".graphqls", ".gql", ".thrift", ".xsd"}

// file is an entry in the making.
type file struct {
	Entry
	needs      []string
	extensions []string
}

type reader struct {
	fsys    fs.FS
	options Options
	folder  *Folder
	files   []*file
	buffer  []byte // for reading one file after the other
	nodes   int
	bytes   int64
}

func (r *reader) read(ctx context.Context) error {
	declared := map[string]bool{}
	if r.options.Only != nil {
		for _, p := range r.options.Only {
			if err := r.one(p); err != nil {
				return err
			}
		}
	} else if err := fs.WalkDir(r.fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("reading the folder: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.nodes++; r.nodes > r.options.Nodes {
			return fmt.Errorf("reading the folder: it holds more than %d files and folders: name a smaller folder", r.options.Nodes)
		}
		if !utf8.ValidString(p) {
			return r.unnamed(p, d.IsDir())
		}
		if r.options.Skip != nil && p != "." && r.options.Skip(p, d.IsDir()) {
			r.folder.Skipped++
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if p != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			r.folder.Links = append(r.folder.Links, p)
			return r.link(p)
		}
		return r.one(p)
	}); err != nil {
		return err
	}
	for _, f := range r.files {
		declared[f.Path] = true
	}
	for _, p := range sortedKeys(r.options.Declared) {
		if !declared[p] {
			r.folder.Absent = append(r.folder.Absent, p)
		}
	}
	slices.Sort(r.folder.Others)
	slices.Sort(r.folder.Likely)
	slices.Sort(r.folder.Links)
	slices.Sort(r.folder.Unnamed)
	slices.SortFunc(r.files, func(a, b *file) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// errNotFollowed is the fault of a link that stands for a schema file.
var errNotFollowed = errors.New("it is a link or no regular file, and is not read: put the file itself here, or leave it out by its path")

// link keeps a link whose ending says that it is a schema, as one that cannot
// be used: a file turned into a link must not pass a check unseen.
func (r *reader) link(p string) error {
	_, declared := r.options.Declared[p]
	lower := strings.ToLower(path.Base(p))
	candidates := r.candidates(lower)
	if len(candidates) == 0 || !declared && strings.HasSuffix(lower, ".json") {
		return nil
	}
	f := &file{Entry: Entry{Path: p, Err: errNotFollowed}, extensions: candidates[0].Extensions}
	f.Source.Type = candidates[0].Type
	return r.keep(f)
}

// errUnnamed is the fault of a schema file that no path can name.
var errUnnamed = errors.New("its name is no UTF-8, so nothing can refer to it: rename it, or leave it out by a pattern")

// unnamed keeps a file that no path can name as one that cannot be used, and
// does not enter a folder of that kind.
func (r *reader) unnamed(p string, isFolder bool) error {
	shown := strings.Trim(strconv.QuoteToASCII(p), `"`)
	r.folder.Unnamed = append(r.folder.Unnamed, shown)
	if isFolder {
		return fs.SkipDir
	}
	lower := strings.ToLower(path.Base(p))
	candidates := r.candidates(lower)
	if len(candidates) == 0 || strings.HasSuffix(lower, ".json") {
		return nil
	}
	f := &file{Entry: Entry{Path: shown, Err: errUnnamed}, extensions: candidates[0].Extensions}
	f.Source.Type = candidates[0].Type
	return r.keep(f)
}

// family finds the family that a file belongs to.
func (r *reader) family(p string) (Family, bool) {
	for _, f := range r.options.Families {
		if f.Match(p) {
			return f, true
		}
	}
	return Family{}, false
}

// one looks at a file and keeps it as a schema or as another file.
func (r *reader) one(p string) error {
	declaration, declared := r.options.Declared[p]
	if family, ok := r.family(p); ok && !declared {
		declaration.Type, declared = family.Type, true
	}
	declared = declared || slices.Contains(r.options.Only, p) || slices.Contains(r.options.Under, p)
	lower := strings.ToLower(path.Base(p))
	candidates := r.candidates(lower)
	switch {
	case declaration.Type != "":
		i := slices.IndexFunc(r.options.Formats, func(f schemas.Format) bool { return f.Type == declaration.Type })
		if i < 0 {
			return fmt.Errorf("reading %s: it is declared as %s, which is not among the formats", p, declaration.Type)
		}
		candidates = r.options.Formats[i : i+1]
	case len(candidates) == 0 && slices.ContainsFunc(withoutFormat, func(x string) bool { return strings.HasSuffix(lower, x) }):
		f := &file{Entry: Entry{Path: p, Err: ErrNoChecker}}
		return r.keep(f)
	case len(candidates) == 0 && declared:
		return fmt.Errorf("reading %s: its ending does not tell the schema type: rename it to .avsc, .json or .proto, or declare its type", p)
	case len(candidates) == 0:
		r.folder.Others = append(r.folder.Others, p)
		return nil
	}
	// A .json file may be anything, so it must show that it is a schema.
	certain := declared || !strings.HasSuffix(lower, ".json")
	text, err := r.text(p)
	if err != nil && !errors.As(err, new(unusable)) {
		return err
	}
	if err != nil {
		if !certain {
			r.folder.Others = append(r.folder.Others, p)
			return nil
		}
		f := &file{Entry: Entry{Path: p, Err: err}, extensions: candidates[0].Extensions}
		f.Source.Type = candidates[0].Type
		return r.keep(f)
	}
	f := r.outline(p, text, candidates, certain)
	if f == nil {
		r.folder.Others = append(r.folder.Others, p)
		if isLikely(text) {
			r.folder.Likely = append(r.folder.Likely, p)
		}
		return nil
	}
	if r.bytes += int64(len(text)); r.bytes > r.options.Bytes {
		return fmt.Errorf("reading the folder: it holds more than %d bytes of schema text: name a smaller folder", r.options.Bytes)
	}
	return r.keep(f)
}

func (r *reader) keep(f *file) error {
	if len(r.files) == r.options.Files {
		return fmt.Errorf("reading the folder: it holds more than %d schema files: name a smaller folder", r.options.Files)
	}
	r.files = append(r.files, f)
	return nil
}

// candidates are the formats that a file's ending allows. JSON Schema is asked
// before Avro, since a text with $schema says plainly what it is.
func (r *reader) candidates(lower string) []schemas.Format {
	var out []schemas.Format
	anyJSON := strings.HasSuffix(lower, ".json")
	for _, f := range r.options.Formats {
		own := slices.ContainsFunc(f.Extensions, func(x string) bool { return strings.HasSuffix(lower, x) })
		if own || anyJSON && (f.Type == schemas.Avro || f.Type == schemas.JSON) {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b schemas.Format) int { return rank(a.Type) - rank(b.Type) })
	return out
}

func rank(t schemas.Type) int {
	if t == schemas.JSON {
		return 0
	}
	return 1
}

// outlined is what was asked about a file, and what it is.
type outlined struct {
	candidates []schemas.Type
	certain    bool
	limits     schemas.Limits
	file       file
}

// outline finds what a file is, from the folder beside where that was asked of the
// same text there.
func (r *reader) outline(p, text string, candidates []schemas.Format, certain bool) *file {
	o := outlined{certain: certain, limits: r.options.Limits}
	for _, c := range candidates {
		o.candidates = append(o.candidates, c.Type)
	}
	if b := r.options.Beside; b != nil {
		was, ok := b.outlines[p]
		if ok && was.file.Source.Text == text && was.certain == certain && was.limits == o.limits && slices.Equal(was.candidates, o.candidates) {
			f := was.file
			return &f
		}
	}
	f := outline(p, text, candidates, certain, r.options.Limits)
	if f != nil {
		o.file = *f
		r.folder.outlines[p] = o
	}
	return f
}

// outline asks each format what the text is. certain files that no format
// recognizes belong to the first one, with its error.
func outline(p, text string, candidates []schemas.Format, certain bool, limits schemas.Limits) *file {
	make := func(format schemas.Format, o schemas.Outline, err error) *file {
		f := &file{Entry: Entry{Path: p, Names: o.Names, Err: err}, needs: o.Needs, extensions: format.Extensions}
		f.Source = schemas.Source{Type: format.Type, Text: text}
		return f
	}
	var first *file
	for _, format := range candidates {
		o, err := format.Outline(p, text, limits)
		if err == nil && o.Schema && (len(o.Names) > 0 || format.Type != schemas.Avro || len(candidates) == 1) {
			return make(format, o, nil)
		}
		if first == nil {
			first = make(format, o, err)
		}
	}
	if certain || first.Err != nil && strings.Contains(text, `"$schema"`) {
		return first
	}
	return nil
}

// unusable wraps what is wrong with one file, as opposed to with the tree.
type unusable struct{ error }

func (u unusable) Unwrap() error { return u.error }

// text reads a file within the text limit, without a byte order mark.
func (r *reader) text(p string) (string, error) {
	f, err := r.fsys.Open(p)
	if err != nil {
		return "", fmt.Errorf("reading a schema file: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	most, size := r.options.Limits.Text, 0
	if info, err := f.Stat(); err == nil {
		if info.IsDir() {
			return "", fmt.Errorf("reading %s: it is a folder, where a file was expected", p)
		}
		if info.Size() > int64(most) {
			return "", unusable{&schemas.LimitError{Limit: schemas.LimitText, Most: most, Found: int(info.Size())}}
		}
		size = int(info.Size())
	}
	// The size is a hint: a file may grow while it is read.
	if len(r.buffer) <= size {
		r.buffer = make([]byte, max(2*size, 64<<10))
	}
	var read strings.Builder
	read.Grow(size)
	for {
		n, err := f.Read(r.buffer)
		read.Write(r.buffer[:n])
		if read.Len() > most {
			return "", unusable{&schemas.LimitError{Limit: schemas.LimitText, Most: most, Found: read.Len()}}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("reading a schema file: %w", err)
		}
	}
	// A byte order mark is about the file, not of the text.
	text := strings.TrimPrefix(read.String(), "\ufeff")
	if at := invalidUTF8(text); at >= 0 {
		return "", unusable{schemas.SyntaxErrors{{
			Position: schemas.PositionAt(text, at),
			Summary:  fmt.Sprintf("byte 0x%02X is not UTF-8 text", text[at]),
			Detail:   "a schema file must be UTF-8: convert it, or leave it out",
		}}}
	}
	return text, nil
}

func invalidUTF8(text string) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return -1
}

// name gives each file its subject; one subject has one file.
func (r *reader) name() {
	bySubject := map[schemas.Subject][]*file{}
	for _, f := range r.files {
		if errors.Is(f.Err, ErrNoChecker) {
			continue
		}
		if d := r.options.Declared[f.Path]; d.Subject != "" {
			f.Subject, f.Declared = schemas.ParseSubject(d.Subject), true
			f.Identity = f.Subject
		} else {
			naming := r.options.Naming
			if family, ok := r.family(f.Path); ok && family.Naming != "" {
				naming, f.Declared = family.Naming, true
			}
			if naming.IsFixed() && !f.Selected {
				naming = ""
			}
			s, err := naming.subjectOf(&f.Entry, f.extensions)
			if err != nil {
				if f.Err == nil {
					f.Err = err
				}
				continue
			}
			f.Subject, f.Identity = s, s
			if r.options.From != "" {
				whole := f.Entry
				whole.Path = path.Join(r.options.From, f.Path)
				f.Identity, _ = naming.subjectOf(&whole, f.extensions) // it has a name
			}
		}
		if r.options.Context != "" && f.Subject.Context == schemas.DefaultContext && !strings.HasPrefix(r.options.Declared[f.Path].Subject, ":") {
			f.Subject.Context, f.Identity.Context = r.options.Context, r.options.Context
		}
		bySubject[f.Subject] = append(bySubject[f.Subject], f)
	}
	for s, list := range bySubject {
		if len(list) < 2 {
			continue
		}
		for _, f := range list {
			if f.Err == nil {
				f.Err = fmt.Errorf("naming the files: %s all become subject %q: declare their subjects, or use another template such as {path}", paths(list), s)
			}
		}
	}
}

// narrow applies Include and Exclude and finds the patterns that match nothing.
func (r *reader) narrow() {
	used := map[string]bool{}
	hit := func(patterns []string, p string) bool {
		any := false
		for _, pattern := range patterns {
			if Match(pattern, p) {
				used[pattern] = true
				any = true
			}
		}
		return any
	}
	for _, f := range r.files {
		in := hit(r.options.Include, f.Path) || len(r.options.Include) == 0
		out := hit(r.options.Exclude, f.Path)
		f.Selected = in && !out && under(r.options.Under, f.Path)
	}
	for _, list := range [][]string{r.options.Include, r.options.Exclude} {
		for _, pattern := range list {
			if !used[pattern] {
				r.folder.Unmatched = append(r.folder.Unmatched, pattern)
			}
		}
	}
}

func under(list []string, p string) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(u string) bool {
		return u == "." || u == p || strings.HasPrefix(p, u+"/")
	})
}

// paths lists up to five files for a sentence.
func paths(list []*file) string {
	const most = 5
	var names []string
	for i, f := range list {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(list)-most))
			break
		}
		names = append(names, f.Path)
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
