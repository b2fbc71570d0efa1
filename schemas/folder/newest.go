package folder

import (
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Newest shows the newest version that a bundle has of each subject as a folder,
// so that it can be compared with one: an entry's path is its subject, which a
// declaration could not say better. Of options Formats, Include, Exclude and Limits
// count.
//
// Resolve of the folder answers none of its references, which are pinned to
// versions: the bundle's own does.
func Newest(b *Bundle, options Options) (*Folder, error) {
	o := options.orDefault()
	for _, list := range [][]string{o.Include, o.Exclude} {
		for _, p := range list {
			if err := CheckPattern(p); err != nil {
				return nil, err
			}
		}
	}
	r := reader{options: o, folder: &Folder{subjects: true}}
	for subject, list := range b.bySubject {
		newest := slices.MaxFunc(list, func(x, y int) int { return int(b.entries[x].Version - b.entries[y].Version) })
		e := b.entries[newest]
		f := &file{Entry: Entry{Path: subject.String(), Subject: subject, Identity: subject, Declared: true, Source: e.Source}}
		known := slices.IndexFunc(o.Formats, func(f schemas.Format) bool { return f.Type == e.Source.Type })
		if known < 0 {
			f.Err = ErrNoChecker
		} else if outline, err := o.Formats[known].Outline(f.Path, e.Source.Text, o.Limits); err != nil {
			f.Err = err
		} else {
			f.Names = outline.Names
		}
		r.files = append(r.files, f)
	}
	slices.SortFunc(r.files, func(a, b *file) int { return strings.Compare(a.Path, b.Path) })
	r.narrow()
	for _, f := range r.files {
		r.folder.Entries = append(r.folder.Entries, f.Entry)
	}
	r.folder.index()
	return r.folder, nil
}
