package main

import (
	"path"
	"path/filepath"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// declarations are the subjects of the configuration, whose paths are seen from
// its folder.
type declarations struct {
	dir     string
	list    []config.Subject
	isThere bool            // a configuration
	context schemas.Context // of the subjects that name none; empty is the default one
}

func (a *app) declared() declarations {
	return declarations{filepath.Dir(a.config.Name), a.config.Subjects, a.config.Name != "", schemas.Context(a.config.Context)}
}

// from is the way from the configuration's folder to root; "" when there is none.
func (d declarations) from(root string) string {
	rel, err := relative(d.dir, orWord(root, "."))
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// under gives the declarations whose files lie under root, and those of many
// files at once.
func (d declarations) under(root string) (map[string]folder.Declaration, []folder.Family) {
	files := map[string]folder.Declaration{}
	var families []folder.Family
	from := d.from(root)
	for _, s := range d.list {
		if s.Files != "" {
			families = append(families, folder.Family{
				Match: func(p string) bool { return folder.Match(s.Files, path.Join(from, p)) }, Naming: folder.Naming(s.Name), Type: s.Type,
			})
			continue
		}
		if s.File == "" {
			continue // its settings alone are declared
		}
		rel, err := relative(orWord(root, "."), filepath.Join(d.dir, filepath.FromSlash(s.File)))
		if err == nil && filepath.IsLocal(rel) {
			files[filepath.ToSlash(rel)] = folder.Declaration{Subject: s.Name, Type: s.Type}
		}
	}
	return files, families
}

// of is what the configuration says of a file, p as seen from its folder; the
// zero value when it says nothing. A file's own entry wins over a glob.
func (d declarations) of(p, subject string) config.Subject {
	var found config.Subject
	for _, s := range d.list {
		switch {
		case s.Files == "" && (s.Name == subject || p != "" && s.File == p):
			return s
		case s.Files != "" && found.Files == "" && folder.Match(s.Files, p):
			found = s
		}
	}
	return found
}
