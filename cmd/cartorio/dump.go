package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
)

// dumping is what dump was asked.
type dumping struct {
	registry, environment, prefix, context string
	all, force                             bool
}

func (a *app) dumpCommand() *cobra.Command {
	var d dumping
	cmd := &cobra.Command{
		Use:   "dump [FOLDER]",
		Short: "Write cartorio.yaml and schema files from a registry",
		Long: `Writes what a registry has as cartorio.yaml and one file per subject, so that plan
finds nothing to do, and apply makes an empty registry alike. Texts are laid out for
people; references, levels, modes, aliases and metadata stand in cartorio.yaml. With
--all-versions older versions are written too, under schemas/.history.

Files that are there are not overwritten without --force. What cartorio.yaml cannot
say (ids, deleted versions, contract rules) is told and left out: export and
migrate keep everything.

` + remoteHelp,
		Example: `  cartorio dump
  cartorio dump --prefix shop. shop/
  cartorio dump --context .eu --all-versions eu/`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			address, err := a.environment(d.environment)
			if err != nil {
				return err
			}
			if address != "" && !explicit(cmd, "registry") {
				d.registry = address
			}
			return a.dump(cmd.Context(), dir, d)
		},
	}
	f := cmd.Flags()
	remoteFlags(cmd, &d.registry)
	f.StringVar(&d.environment, "environment", "", "`NAME` of an environment of cartorio.yaml: its registry")
	f.StringVar(&d.prefix, "prefix", "", "only subjects whose names begin with `TEXT`; it becomes the scope")
	f.StringVar(&d.context, "context", "", "subjects of the context `NAME` instead of the default one")
	f.BoolVar(&d.all, "all-versions", false, "write every version that is not deleted, not only the newest")
	f.BoolVar(&d.force, "force", false, "overwrite files that are there")
	for _, name := range []string{"prefix", "context", "all-versions", "force"} {
		keyed(cmd, name, "", "CARTORIO_DUMP_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
	return cmd
}

// dump is one run.
type dump struct {
	app    *app
	client *sr.Client
	in     schemas.Context
	all    bool
	doc    dumpedFile
	files  map[string]string // by path
	taken  map[string]bool   // paths in lower case
	latest map[schemas.Subject]schemas.Version
	// imported is how other Protobuf files call the file of a subject: it has to
	// lie there for tools that know no registry.
	imported map[schemas.Subject]string
	count    int
}

func (a *app) dump(ctx context.Context, dir string, asked dumping) error {
	in, err := schemas.ParseContext(asked.context)
	if err != nil {
		return failf(exitUsage, "--context: %w", err)
	}
	client, err := dial(asked.registry, a.config.Auth)
	if err != nil {
		return err
	}
	defer client.Close()
	d := &dump{
		app: a, client: client, in: in, all: asked.all, files: map[string]string{}, taken: map[string]bool{},
		latest: map[schemas.Subject]schemas.Version{}, imported: map[schemas.Subject]string{}, doc: dumpedFile{Version: 1},
	}
	if in != schemas.DefaultContext {
		d.doc.Registry = &dumpedRegistry{Context: string(in)}
	}
	if asked.prefix != "" {
		d.doc.Scope = &dumpedScope{Prefix: asked.prefix}
	}
	if err := d.read(ctx, asked.prefix); err != nil {
		return fail(codeOf(err), err)
	}
	if len(d.doc.Subjects) == 0 {
		return failf(exitNotCompared, "the registry has no subject to write: check --prefix and --context")
	}
	text, err := d.doc.bytes()
	if err != nil {
		return fail(exitNotCompared, err)
	}
	d.files[configName] = string(text)
	if err := d.write(dir, asked.force); err != nil {
		return failf(exitNotCompared, "writing to %s: %w", dir, err)
	}
	a.say("wrote %s: %s, %s", filepath.ToSlash(filepath.Join(dir, configName)), plural(len(d.doc.Subjects), "subject", "subjects"), plural(d.count, "version", "versions"))
	return nil
}

// read asks for everything, subject by subject.
func (d *dump) read(ctx context.Context, prefix string) error {
	list, err := d.client.Subjects(ctx, schemas.Subject{Context: d.in, Name: prefix}.String(), sr.LiveOnly, sr.Page{})
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b schemas.Subject) int { return strings.Compare(a.String(), b.String()) })
	newest := make([]schemas.Found, 0, len(list))
	for _, s := range list {
		found, err := d.client.Version(ctx, s, schemas.Latest, sr.VersionOptions{})
		switch {
		case unknown(err):
			continue // it was deleted in the meantime
		case err != nil:
			return err
		case found.Subject != s:
			d.app.say("%s stands for %s: versions of its own are not written", s, found.Subject)
			d.latest[s] = 0
		default:
			d.latest[s] = found.Version
		}
		found.Subject = s
		newest = append(newest, found)
		for _, r := range found.Source.References {
			if target := r.Target(s.Context); found.Source.Type == schemas.Protobuf && d.imported[target] == "" {
				d.imported[target] = r.Name
			}
		}
	}
	if err := d.defaults(ctx); err != nil {
		return err
	}
	for _, found := range newest {
		if err := d.subject(ctx, found); err != nil {
			return fmt.Errorf("reading %s: %w", found.Subject, err)
		}
	}
	return d.aliases(ctx, prefix)
}

// defaults are what all subjects inherit, where that is not what a new registry
// has anyway.
func (d *dump) defaults(ctx context.Context) error {
	scope := schemas.Subject{Context: d.in}
	config, err := d.client.Config(ctx, scope, true)
	if err != nil {
		if codeOf(err) == exitNotCompared {
			return nil
		}
		return err
	}
	c := dumpedChoices{Policy: config.Policy, VerdictPolicy: config.VerdictPolicy}
	if config.Level != "BACKWARD" {
		c.Level = config.Level
	}
	if c != (dumpedChoices{}) {
		d.doc.Defaults = &c
	}
	return nil
}

// subject writes one down: its newest version, older ones where they are asked
// for, and what it says itself.
func (d *dump) subject(ctx context.Context, newest schemas.Found) error {
	s := newest.Subject
	one := dumpedSubject{Name: s.Name}
	if d.latest[s] != 0 {
		one.File = d.pathOf(s, newest.Source.Type)
		if newest.Source.Type == schemas.JSON {
			one.Type = schemas.JSON // a .json file may be anything
		}
		one.References = d.references(newest)
		one.Metadata = dumpedMetadataOf(newest.Metadata)
		d.keep(one.File, newest)
		if d.all {
			if err := d.history(ctx, newest, &one); err != nil {
				return err
			}
		}
	}
	config, err := d.client.Config(ctx, s, false)
	if err != nil && codeOf(err) != exitNotCompared {
		return err
	}
	if err == nil {
		one.dumpedChoices = dumpedChoices{Level: config.Level, Policy: config.Policy, VerdictPolicy: config.VerdictPolicy}
		one.Normalize, one.Alias = config.Normalize, config.Alias
		if lost := otherMembers(config); len(lost) > 0 {
			d.app.say("%s: %s of its config cannot be written: only export and migrate keep that", s, strings.Join(lost, ", "))
		}
	}
	mode, err := d.client.Mode(ctx, s, false)
	switch {
	case err != nil && codeOf(err) != exitNotCompared:
		return err
	case err == nil && (mode == "READWRITE" || mode == "READONLY" || mode == "READONLY_OVERRIDE"):
		one.Mode = mode
	case err == nil && mode != "":
		d.app.say("%s: its mode %s is not written: it is for migrations", s, mode)
	}
	d.doc.Subjects = append(d.doc.Subjects, one)
	return nil
}

// otherMembers names the members of a config that cartorio.yaml does not have.
func otherMembers(c sr.Config) []string {
	var list []string
	for _, m := range []struct {
		name string
		set  bool
	}{
		{"compatibilityGroup", c.Group != ""},
		{"defaultMetadata", c.DefaultMetadata != nil},
		{"overrideMetadata", c.OverrideMetadata != nil},
		{"defaultRuleSet", c.DefaultRuleSet != nil},
		{"overrideRuleSet", c.OverrideRuleSet != nil},
		{"validateFields", c.ValidateFields != nil},
		{"validateNewSchemas", c.ValidateNewSchemas != nil},
		{"validateRules", c.ValidateRules != nil},
		{"aliasForDeks", c.AliasForDEKs != ""},
	} {
		if m.set {
			list = append(list, m.name)
		}
	}
	return list
}

// history writes the versions before the newest.
func (d *dump) history(ctx context.Context, newest schemas.Found, one *dumpedSubject) error {
	list, err := d.client.Versions(ctx, newest.Subject, sr.LiveOnly, sr.Page{})
	if err != nil {
		return err
	}
	stem := strings.TrimPrefix(strings.TrimSuffix(one.File, path.Ext(one.File)), dumpFolder+"/")
	for i, v := range list {
		if int(v) != i+1 {
			d.app.say("%s lacks version %d: another registry would number the later ones anew, so only export and migrate keep them", newest.Subject, i+1)
			break
		}
	}
	for _, v := range list {
		if v >= newest.Version {
			break
		}
		found, err := d.client.Version(ctx, newest.Subject, v, sr.VersionOptions{})
		if err != nil {
			return err
		}
		if found.Source.Type != newest.Source.Type {
			d.app.say("%s: version %s is %s, and the newest is %s: it is not written", newest.Subject, v, found.Source.Type, newest.Source.Type)
			continue
		}
		file := fmt.Sprintf("%s/.history/%s/%s%s", dumpFolder, stem, v, dumpEndings[found.Source.Type])
		h := dumpedVersion{File: file, Metadata: dumpedMetadataOf(found.Metadata), References: dumpedReferences{}}
		for _, r := range found.Source.References {
			h.References = append(h.References, dumpedReference{r.Name, r.Subject, int(r.Version)})
		}
		d.keep(file, found)
		one.History = append(one.History, h)
	}
	return nil
}

// references are written with the number that is pinned, unless it is the newest:
// then they follow.
func (d *dump) references(f schemas.Found) dumpedReferences {
	var list dumpedReferences
	for _, r := range f.Source.References {
		target := r.Target(f.Subject.Context)
		ref := dumpedReference{Name: r.Name, Subject: r.Subject}
		newest, here := d.latest[target]
		if !here || newest != r.Version {
			ref.Version = int(r.Version)
		}
		if here && newest != r.Version && !d.all {
			d.app.say("%s refers to version %s of %s, whose newest is %s: on an empty registry only --all-versions has both", f.Subject, r.Version, target, newest)
		}
		list = append(list, ref)
	}
	return list
}

// keep notes a text to be written.
func (d *dump) keep(file string, f schemas.Found) {
	d.files[file] = laidOut(f.Source)
	d.count++
	if f.RuleSet != nil {
		d.app.say("%s version %s: its contract rules are not written: only export and migrate keep them", f.Subject, f.Version)
	}
}

// aliases adds the subjects that only stand for others, where the registry lists
// them.
func (d *dump) aliases(ctx context.Context, prefix string) error {
	const page = 1000
	known := map[string]bool{}
	for _, s := range d.doc.Subjects {
		known[s.Name] = true
	}
	var found []dumpedSubject
	for offset := 0; ; offset += page {
		list, err := d.client.List(ctx, sr.ListOptions{Prefix: schemas.Subject{Context: d.in}.String(), LatestOnly: true, Aliases: true, Page: sr.Page{Offset: offset, Limit: page}})
		if err != nil {
			if errors.Is(err, schemas.ErrUnreachable) || errors.Is(err, schemas.ErrRefused) {
				return err
			}
			break // an older registry lists no aliases, or nothing at all
		}
		for _, l := range list {
			for _, text := range l.Aliases {
				s := schemas.ParseSubject(text)
				if s.Context != d.in || known[s.Name] || !strings.HasPrefix(s.Name, prefix) {
					continue
				}
				known[s.Name] = true
				target := l.Subject.Name
				if l.Subject.Context != d.in {
					target = l.Subject.String()
				}
				found = append(found, dumpedSubject{Name: s.Name, Alias: target})
			}
		}
		if len(list) < page {
			break
		}
	}
	slices.SortFunc(found, func(a, b dumpedSubject) int { return strings.Compare(a.Name, b.Name) })
	d.doc.Subjects = append(d.doc.Subjects, found...)
	return nil
}

// write puts the files down, the configuration last.
func (d *dump) write(dir string, force bool) error {
	var names []string
	for name := range d.files {
		if name != configName {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = append(names, configName)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // each file was written whole
	for _, name := range names {
		has, err := root.ReadFile(filepath.FromSlash(name))
		if err == nil && !force && string(has) != d.files[name] {
			return fmt.Errorf("%s is there and says something else: choose another folder, or say --force", name)
		}
	}
	for _, name := range names {
		at := filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(at, []byte(d.files[name]), 0o644); err != nil {
			return err
		}
	}
	return nil
}
