package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitops"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// desired is what the configuration and the files beside it declare. Only
// declared files are read.
//
// Errors: what is wrong with them, all of it, as exit code 2.
func (a *app) desired(ctx context.Context, exceptions, environment string) (gitops.Desired, error) {
	cfg := a.config
	var d gitops.Desired
	if cfg.Name == "" {
		return d, failf(exitNotCompared, "there is no %s from here to the repository's root: cartorio init or cartorio dump writes one", configName)
	}
	if len(cfg.Subjects) == 0 {
		return d, failf(exitNotCompared, "%s declares no subjects: list them under subjects", cfg.Name)
	}
	d.Scope = a.scope()
	d.At = a.now()
	g := a.newGate(checking{environment: environment})
	if err := g.readExceptions(exceptions); err != nil {
		return d, err
	}
	d.Exceptions = g.inForce
	root, err := os.OpenRoot(filepath.Dir(cfg.Name))
	if err != nil {
		return d, failf(exitNotCompared, "reading %s: %w", filepath.Dir(cfg.Name), bare(err))
	}
	defer root.Close() //nolint:errcheck // it was only read
	f, err := a.declaredFolder(ctx, root.FS())
	if err != nil {
		return d, err
	}
	for _, e := range f.Entries {
		if err := a.spareFile(filepath.Join(filepath.Dir(cfg.Name), filepath.FromSlash(e.Path))); err != nil {
			return d, err
		}
	}
	var wrong []string
	taken := make([]bool, len(f.Entries))
	for _, s := range cfg.Subjects {
		var entries []int
		for i := range f.Entries {
			if e := &f.Entries[i]; !taken[i] && (s.File == e.Path && s.File != "" || s.Files != "" && folder.Match(s.Files, e.Path)) {
				entries = append(entries, i)
				taken[i] = true
			}
		}
		slices.SortFunc(entries, func(x, y int) int { return strings.Compare(f.Entries[x].Path, f.Entries[y].Path) })
		for _, i := range entries {
			e := &f.Entries[i]
			// Listed references need no names to be found in other files.
			if e.Err != nil && (s.References == nil || e.Source.Text == "" || e.Source.Type == "") {
				wrong = append(wrong, describe(e.Path, e.Err)...)
				continue
			}
			one := settingsOf(s, cfg.Defaults)
			one.Name = e.Subject
			history, err := pastOf(root.FS(), s, e.Source.Type)
			if err != nil {
				wrong = append(wrong, err.Error())
			}
			newest := gitops.Declared{Path: e.Path, Source: e.Source, Metadata: s.Metadata, Missing: e.Missing}
			newest.Source.References = slices.Clone(e.Source.References)
			for k := range newest.Source.References {
				newest.Source.References[k].Version = 0 // the declared one, whatever its number
			}
			if s.References != nil {
				newest.Source.References, newest.Missing = s.References, nil
			}
			one.Versions = append(history, newest)
			for k := range one.Versions {
				one.Versions[k].Normalize = one.normalizes()
			}
			d.Subjects = append(d.Subjects, one.Subject)
		}
		if s.File == "" && s.Files == "" {
			one := settingsOf(s, config.Choices{})
			one.Name = inContextOf(s.Name, cfg.Context)
			d.Subjects = append(d.Subjects, one.Subject)
		}
	}
	if len(wrong) > 0 {
		return d, fail(exitNotCompared, errors.New(strings.Join(wrong, "\n")))
	}
	return d, nil
}

// declaredFolder reads the declared files.
func (a *app) declaredFolder(ctx context.Context, fsys fs.FS) (*folder.Folder, error) {
	cfg := a.config
	o := folder.Options{Formats: formats.All, Declared: map[string]folder.Declaration{}, Context: schemas.Context(cfg.Context)}
	var absent []string
	for _, s := range cfg.Subjects {
		switch {
		case s.Files != "":
			o.Families = append(o.Families, folder.Family{Match: func(p string) bool { return folder.Match(s.Files, p) }, Naming: folder.Naming(s.Name), Type: s.Type})
		case s.File == "":
		case !filepath.IsLocal(filepath.FromSlash(s.File)):
			return nil, failf(exitNotCompared, "%s, line %d: %s lies outside the folder of the configuration: move one of them", cfg.Name, s.Line, s.File)
		default:
			o.Declared[s.File] = folder.Declaration{Subject: s.Name, Type: s.Type}
			if _, err := fs.Stat(fsys, s.File); err != nil {
				absent = append(absent, s.File)
			}
			o.Only = append(o.Only, s.File)
		}
	}
	if len(absent) > 0 {
		verb := map[bool]string{true: "is", false: "are"}[len(absent) == 1]
		return nil, failf(exitNotCompared, "%s %s declared in the configuration and not there: correct the path, or take the subject out", strings.Join(absent, ", "), verb)
	}
	if len(o.Families) > 0 {
		o.Only = nil
		o.Skip = func(p string, isFolder bool) bool {
			_, declared := o.Declared[p]
			return !isFolder && !declared && !slices.ContainsFunc(o.Families, func(f folder.Family) bool { return f.Match(p) })
		}
	} else if o.Only == nil {
		o.Only = []string{}
	}
	f, err := folder.Open(ctx, fsys, o)
	if err != nil {
		return nil, failf(exitNotCompared, "reading what %s declares: %w", cfg.Name, err)
	}
	for _, s := range cfg.Subjects {
		if s.Files != "" && !slices.ContainsFunc(f.Entries, func(e folder.Entry) bool { return folder.Match(s.Files, e.Path) }) {
			return nil, failf(exitNotCompared, "%s, line %d: no file matches %s", cfg.Name, s.Line, s.Files)
		}
	}
	return f, nil
}

// wanted is a subject in the making.
type wanted struct{ gitops.Subject }

func settingsOf(s config.Subject, defaults config.Choices) wanted {
	settings := func(c config.Choices) gitops.Settings {
		return gitops.Settings{Level: c.Level, Policy: c.Policy, VerdictPolicy: c.VerdictPolicy, Normalize: c.Normalize}
	}
	w := wanted{gitops.Subject{Settings: settings(s.Choices), Defaults: settings(defaults), Mode: s.Mode}}
	w.Settings.Alias = s.Alias
	return w
}

func (w wanted) normalizes() bool {
	for _, choice := range []*bool{w.Settings.Normalize, w.Defaults.Normalize} {
		if choice != nil {
			return *choice
		}
	}
	return false
}

// pastOf reads the versions before the newest.
func pastOf(fsys fs.FS, s config.Subject, kind schemas.Type) ([]gitops.Declared, error) {
	var list []gitops.Declared
	for _, v := range s.History {
		text, err := readText(fsys, v.File)
		if err != nil {
			return nil, failf(exitNotCompared, "%s, of the history of %s: %w", v.File, s.Name, bare(err))
		}
		refs := v.References
		if refs == nil {
			refs = s.References
		}
		list = append(list, gitops.Declared{Path: v.File, Source: schemas.Source{Type: kind, Text: text, References: refs}, Metadata: v.Metadata})
	}
	return list, nil
}

// readText reads a schema of a history, within the limit of texts.
func readText(fsys fs.FS, name string) (string, error) {
	most := schemas.Limits{}.OrDefault().Text
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > int64(most) {
		return "", &schemas.LimitError{Limit: schemas.LimitText, Most: most, Found: int(info.Size())}
	}
	text, err := fs.ReadFile(fsys, name)
	return string(text), err
}

// inContextOf is a name of the configuration: in the context that is declared for
// all, unless it names one.
func inContextOf(name, context string) schemas.Subject {
	s := schemas.ParseSubject(name)
	if context != "" && !strings.HasPrefix(name, ":.") {
		s.Context = schemas.Context(context)
	}
	return s
}
