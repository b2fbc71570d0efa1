package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// registering is what register was asked.
type registering struct {
	registry, subject, root, format string
	dryRun, normalize               bool
	normalizeSaid                   bool // nearer than by the configuration's subjects
	include, exclude, references    []string
}

func (a *app) registerCommand() *cobra.Command {
	var g registering
	cmd := &cobra.Command{
		Use:   "register [--registry URL] [--subject NAME|TEMPLATE] PATH...",
		Short: "Register a file, or all schemas of a folder in the order of their references",
		Long: `Registers every schema of the files and folders named: what is referred to first,
each reference pinned to the version that the registry answers. Registering the
same again changes nothing. Everything is read and, as far as the registry can
tell beforehand, checked before anything is registered. A file brings what it
refers to; a name that no file defines is what --reference says, else what the
subject's latest version refers to by it, else the subject that is called so.
What cartorio.yaml declares of a file counts: its subject, references, metadata and
normalize; a subject outside its scope is refused.

A subject is named by a template: {path} is the path in the folder with its
ending, {stem} without it, {name} the full name. The default is {path} for
Protobuf, which is its import path, and {stem} for the others.

` + remoteHelp,
		Example: `  cartorio register schemas/
  cartorio register --subject orders-value order.avsc
  cartorio register --subject '{name}' --dry-run schemas/
  cartorio register --reference common/money.proto=money-value@3 order.proto`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			g.normalizeSaid = cmd.Flags().Changed("normalize")
			return a.register(cmd.Context(), args, g)
		},
	}
	f := cmd.Flags()
	remoteFlags(cmd, &g.registry)
	f.StringVar(&g.subject, "subject", "", "`NAME` of the subject, or a template")
	f.StringVar(&g.root, "root", "", "`FOLDER` in which references are found and paths begin (default: PATH, or the folder of a file)")
	f.StringVar(&g.format, "format", "text", "text or json")
	f.BoolVar(&g.dryRun, "dry-run", false, "say what would happen and register nothing")
	f.BoolVar(&g.normalize, "normalize", false, "store the normalized form")
	f.StringSliceVar(&g.references, "reference", nil, "`NAME=SUBJECT@VERSION`: what a name that no file defines stands for; VERSION may be latest")
	f.StringSliceVar(&g.include, "path", nil, "register only what matches `PATTERN`, and what that refers to")
	f.StringSliceVar(&g.exclude, "exclude-path", nil, "leave out what matches `PATTERN`")
	oneOf(cmd, "format", "text", "json")
	return cmd
}

// registered is what became of one schema.
type registered struct {
	Subject string       `json:"subject"`
	Path    string       `json:"path"`
	Type    schemas.Type `json:"type"`
	Status  string       `json:"status"` // registered, existed, would-register, refused, failed, not-checked, skipped
	Version int          `json:"version,omitempty"`
	ID      int32        `json:"id,omitempty"`
	GUID    string       `json:"guid,omitempty"`
	Reason  []string     `json:"reason,omitempty"`
}

// The statuses.
const (
	statusRegistered = "registered"
	statusExisted    = "existed"
	statusWould      = "would-register"
	statusRefused    = "refused"
	statusFailed     = "failed"
	statusNotChecked = "not-checked"
	statusSkipped    = "skipped"
)

// job is one schema on its way.
type job struct {
	side   *side
	entry  *folder.Entry
	uses   map[string]*job // by reference name
	source schemas.Source
	pinned bool // every reference has its version
	// What the configuration declares of it.
	metadata  *schemas.Metadata
	normalize bool
	listed    bool // its references are listed, not found in the text
	done      registered
}

func (a *app) register(ctx context.Context, args []string, g registering) error {
	naming, err := folder.ParseNaming(g.subject)
	if err != nil {
		return fail(exitUsage, err)
	}
	if g.format != "text" && g.format != "json" {
		return failf(exitUsage, "--format %q is neither text nor json", g.format)
	}
	if err := checkPatterns(g.include, g.exclude); err != nil {
		return fail(exitUsage, err)
	}
	extra, err := parseReferences(g.references)
	if err != nil {
		return fail(exitUsage, err)
	}
	client, err := dial(g.registry, a.config.Auth)
	if err != nil {
		return err
	}
	defer client.Close()
	sides, err := a.toRegister(ctx, args, g, naming)
	if err != nil {
		return err
	}
	defer func() {
		for _, s := range sides {
			s.close()
		}
	}()
	p := plan{app: a, client: client, g: g, extra: extra}
	if err := p.gather(ctx, sides, naming); err != nil {
		return err
	}
	if err := p.prepare(ctx); err != nil {
		return err
	}
	p.foresee(ctx)
	switch {
	case g.dryRun:
	case p.worst == exitOK:
		p.carryOut(ctx)
	default:
		a.say("nothing was registered")
	}
	if err := a.write("", func(w io.Writer, colours bool) error { return p.print(w, colours) }); err != nil {
		return err
	}
	if p.worst != exitOK {
		return fail(p.worst, p.err)
	}
	return nil
}

// toRegister opens what the arguments name: each folder, and the files of one
// folder together.
func (a *app) toRegister(ctx context.Context, args []string, g registering, naming folder.Naming) ([]*side, error) {
	r := reading{root: g.root, naming: naming, include: g.include, exclude: g.exclude, declared: a.declared()}
	var sides []*side
	files := map[string]*side{}
	undo := func(err error) ([]*side, error) {
		for _, s := range sides {
			s.close()
		}
		return nil, err
	}
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err == nil && !info.IsDir() && g.root == "" {
			// Files that lie together may refer to each other.
			if s, ok := files[filepath.Dir(arg)]; ok {
				s.under = append(s.under, filepath.Base(arg))
				s.file = ""
				s.close()
				if s.close, err = s.again(ctx, r); err != nil {
					return undo(err)
				}
				continue
			}
		}
		s, err := openDisk(ctx, arg, r)
		if err != nil {
			return undo(err)
		}
		if s.file != "" {
			files[filepath.Dir(arg)] = s
		}
		sides = append(sides, s)
	}
	return sides, nil
}

// again reads the side's folder anew after its selection has grown.
func (s *side) again(ctx context.Context, r reading) (func(), error) {
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return func() {}, failf(exitNotCompared, "reading %s: %w", s.root, bare(err))
	}
	declared, families := r.declared.under(s.root)
	return func() { _ = root.Close() }, s.read(ctx, root.FS(), r, declared, families)
}

// parseReferences reads NAME=SUBJECT@VERSION.
func parseReferences(list []string) (map[string]schemas.Reference, error) {
	out := map[string]schemas.Reference{}
	for _, text := range list {
		name, target, ok := strings.Cut(text, "=")
		at := strings.LastIndexByte(target, '@')
		if !ok || name == "" || at <= 0 {
			return nil, fmt.Errorf("--reference %q is not NAME=SUBJECT@VERSION", text)
		}
		v, err := schemas.ParseVersion(target[at+1:])
		if err != nil {
			return nil, fmt.Errorf("--reference %q: %w", text, err)
		}
		out[name] = schemas.Reference{Name: name, Subject: target[:at], Version: v}
	}
	return out, nil
}

// plan is one run.
type plan struct {
	app    *app
	client *sr.Client
	g      registering
	extra  map[string]schemas.Reference
	jobs   []*job // dependencies first
	worst  int
	err    error
}

// gather lists what is to be registered: what is selected and all that it
// refers to.
func (p *plan) gather(ctx context.Context, sides []*side, naming folder.Naming) error {
	used := map[string]bool{}
	subjects := map[schemas.Subject]*job{}
	selected := 0
	var wrong []string
	for _, s := range sides {
		p.app.count(s)
		if lost := s.folder.Unmatched; len(lost) > 0 {
			return failf(exitNotCompared, "no schema under %s matches %s", s.label, strings.Join(lost, ", "))
		}
		if err := s.declaredAbsent(); err != nil {
			return err
		}
		selected += s.folder.Selected()
		wanted := make([]bool, len(s.folder.Entries))
		for i := len(wanted) - 1; i >= 0; i-- {
			e := &s.folder.Entries[i]
			if errors.Is(e.Err, folder.ErrNoChecker) {
				if e.Selected {
					p.app.say("%s is not registered: the registry has no such schema type", s.show(e.Path))
					selected--
				}
				continue
			}
			wanted[i] = wanted[i] || e.Selected
			if wanted[i] {
				for _, to := range e.Uses {
					wanted[to] = true
				}
			}
		}
		jobs := make([]*job, len(wanted))
		for i, want := range wanted {
			if !want {
				continue
			}
			e := &s.folder.Entries[i]
			j := &job{side: s, entry: e, uses: map[string]*job{}, source: e.Source}
			j.done = registered{Subject: e.Subject.String(), Path: s.show(e.Path), Type: e.Source.Type}
			jobs[i] = j
			for _, to := range e.Uses {
				for _, ref := range e.Source.References {
					if ref.Target(e.Subject.Context) == s.folder.Entries[to].Subject {
						j.uses[ref.Name] = jobs[to]
					}
				}
			}
			if other := subjects[e.Subject]; other != nil && sameFile(other.done.Path, j.done.Path) {
				// Named twice, as a folder and as a file in it.
				jobs[i] = other
				continue
			} else if other != nil && e.Err == nil {
				wrong = append(wrong, fmt.Sprintf("%s: it would become subject %q, which %s becomes too", j.done.Path, e.Subject, other.done.Path))
			}
			subjects[e.Subject] = j
			j.source.References = append([]schemas.Reference(nil), e.Source.References...)
			if text := p.declare(j); text != "" {
				wrong = append(wrong, text)
			}
			for _, need := range j.entry.Missing {
				if _, ok := p.extra[need]; ok {
					used[need] = true
				}
			}
			p.jobs = append(p.jobs, j)
		}
	}
	if selected == 0 {
		return failf(exitNotCompared, "there is no schema to register")
	}
	if naming.IsFixed() && selected > 1 {
		return failf(exitUsage, "--subject %s would give %d schemas one name: use a template such as {stem}", p.g.subject, selected)
	}
	for name := range p.extra {
		if !used[name] {
			return failf(exitUsage, "--reference %s: no schema needs that name from outside", name)
		}
	}
	if len(wrong) > 0 {
		return fail(exitNotCompared, errors.New(strings.Join(wrong, "\n")))
	}
	return p.link(ctx)
}

func sameFile(a, b string) bool {
	first, err := os.Stat(filepath.FromSlash(a))
	if err != nil {
		return false
	}
	second, err := os.Stat(filepath.FromSlash(b))
	return err == nil && os.SameFile(first, second)
}

// prepare finds in the registry what no file defines, and parses everything, so
// that nothing is registered when one text is wrong.
func (p *plan) prepare(ctx context.Context) error {
	var wrong []string
	for _, j := range p.jobs {
		e := *j.entry
		e.Source.References = j.source.References
		if err := outside(ctx, p.client, e.Subject, &e, p.extra); err != nil {
			return fail(codeOf(err), fmt.Errorf("%s: %w", j.done.Path, err))
		}
		if len(e.Missing) > 0 && e.Err == nil {
			wrong = append(wrong, fmt.Sprintf("%s: it needs %s, which no file defines and no subject of the registry is called: add the file, or say --reference NAME=SUBJECT@VERSION",
				j.done.Path, strings.Join(e.Missing, ", ")))
			continue
		}
		j.source.References = e.Source.References
		if _, err := j.side.parse(ctx, &e, schemas.New, remote{p.client}); err != nil {
			if code := codeOf(err); code == exitUnreachable || code == exitRefused {
				return fail(code, err)
			}
			wrong = append(wrong, describe(j.done.Path, err)...)
		}
	}
	if len(wrong) > 0 {
		return fail(exitNotCompared, errors.New(strings.Join(append(wrong, "nothing was registered"), "\n")))
	}
	return nil
}

// describe is one line for each thing that is wrong with a file.
func describe(path string, err error) []string {
	var list schemas.SyntaxErrors
	if !errors.As(err, &list) {
		return []string{path + ": " + plain(err.Error())}
	}
	var out []string
	for _, one := range list {
		at := path
		if one.Position.Line > 0 {
			at += ":" + one.Position.String()
		}
		one.Position = schemas.Position{}
		out = append(out, at+": "+plain(one.Error()))
	}
	return out
}
