package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/registry/transfer"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// movingEnd is one end of a move: a registry, a database file, or files.
type movingEnd struct {
	text   string
	client *sr.Client // of a registry
	path   string     // of all else
	kind   endKind
}

type endKind uint8

const (
	placeRegistry endKind = iota
	placeDatabase
	placeTopic
	placeFiles
)

const topicPrefix = "topic:"

const placesHelp = `A place is the http:// or https:// URL of a registry, sqlite:PATH for a database
of Cartório (it may be being served while it is read, not while it is filled), a
folder or a .tar.gz archive that export wrote, or, to read from, topic:FILE for a
dump of a _schemas topic (topic:- is stdin): the console consumer's lines with
keys, kcat -J, or {"key":…,"value":…} a line.`

// credentialsOf are the variables that hold what a registry asks for.
func credentialsOf(prefix string) (user, password, token string) {
	return prefix + "_USER", prefix + "_PASSWORD", prefix + "_TOKEN"
}

// parsePlace reads a place; prefix begins the variables of its credentials.
func parsePlace(text, prefix string) (*movingEnd, error) {
	p := &movingEnd{text: text}
	switch scheme, _, _ := strings.Cut(text, ":"); scheme {
	case "http", "https":
		if first, _, _ := strings.Cut(text, ","); strings.Contains(first, "@") {
			if u, err := url.Parse(first); err != nil || u.User != nil {
				user, password, token := credentialsOf(prefix)
				return nil, failf(exitUsage, "credentials do not belong into a URL, where every process of the machine sees them: set %s and %s, or %s", user, password, token)
			}
		}
		user, password, token := credentialsOf(prefix)
		o := sr.Options{URLs: strings.Split(text, ","), User: os.Getenv(user), Password: os.Getenv(password), Timeout: time.Minute, Answer: 1 << 30}
		for i := range o.URLs {
			o.URLs[i] = strings.TrimSpace(o.URLs[i])
		}
		if secret := os.Getenv(token); secret != "" {
			o.Token = sr.StaticToken(secret)
		}
		var err error
		if p.client, err = sr.New(o); err != nil {
			return nil, fail(exitUsage, err)
		}
	case "sqlite", "postgres", "postgresql":
		path, err := databasePath(text)
		if err != nil {
			return nil, fail(exitUsage, err)
		}
		if path == sqlite.Memory {
			return nil, failf(exitUsage, "a database in memory cannot be moved: nothing of it outlives its process")
		}
		p.kind, p.path = placeDatabase, path
	case "topic":
		p.kind, p.path = placeTopic, strings.TrimPrefix(text, topicPrefix)
	default:
		p.kind, p.path = placeFiles, text
	}
	return p, nil
}

func (p *movingEnd) close() {
	if p.client != nil {
		p.client.Close()
	}
}

// gather reads everything that is there.
func (a *app) gather(ctx context.Context, p *movingEnd, pace transfer.Pace) (transfer.Gathered, error) {
	var g transfer.Gathered
	var err error
	switch p.kind {
	case placeRegistry:
		g, err = transfer.FromRegistry(ctx, p.client, pace)
	case placeDatabase:
		g, err = gatherDatabase(ctx, p.path)
	case placeTopic:
		in := a.in
		if p.path != "-" {
			f, err := os.Open(p.path)
			if err != nil {
				return g, failf(exitNotCompared, "reading the topic dump: %w", bare(err))
			}
			defer f.Close() //nolint:errcheck // it was only read
			in = f
		}
		g, err = transfer.FromTopic(ctx, in)
	case placeFiles:
		g, err = gatherFiles(ctx, p.path)
	}
	if err != nil {
		return g, moveError("reading "+p.text, err)
	}
	return g, nil
}

func gatherFiles(ctx context.Context, path string) (transfer.Gathered, error) {
	info, err := os.Stat(path)
	if err != nil {
		return transfer.Gathered{}, bare(err)
	}
	if info.IsDir() {
		return transfer.FromFolder(ctx, os.DirFS(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return transfer.Gathered{}, bare(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	in := bufio.NewReaderSize(f, 1<<16)
	if head, err := in.Peek(2); err != nil || head[0] != 0x1f || head[1] != 0x8b {
		return transfer.Gathered{}, errors.New("it is neither a folder nor a .tar.gz archive: a dump of a topic is named topic:" + path)
	}
	return transfer.FromArchive(ctx, in)
}

func gatherDatabase(ctx context.Context, path string) (g transfer.Gathered, err error) {
	r, err := openReadOnly(ctx, path)
	if err != nil {
		return g, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return transfer.FromHeld(r), nil
}

// openReadOnly folds a database that may be being served.
func openReadOnly(ctx context.Context, path string) (*registry.Registry, error) {
	j, err := sqlite.OpenReadOnly(path)
	if err != nil {
		return nil, err
	}
	return registry.Open(ctx, j, registry.Options{Formats: formats.All, Checkers: allCheckers(), Snapshot: -1})
}

// fillDatabase fills an empty database; what it refuses is in the report. One
// that was not there is not there after an error either.
func fillDatabase(ctx context.Context, path string, g transfer.Gathered, o transfer.Options) (report transfer.Report, err error) {
	report = transfer.Report{Steps: []transfer.Step{}, Losses: append([]transfer.Loss{}, g.Losses...)}
	if o.DryRun {
		return report, nil
	}
	_, there := os.Lstat(path)
	j, err := sqlite.Open(path)
	if err != nil {
		return report, err
	}
	if errors.Is(there, os.ErrNotExist) {
		defer func() {
			if err != nil {
				for _, suffix := range []string{"", "-wal", "-shm"} {
					_ = os.Remove(path + suffix) // the error that is told is the first
				}
			}
		}()
	}
	r, err := registry.Open(ctx, j, registry.Options{Formats: formats.All, Checkers: allCheckers()})
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	g.Versions = transfer.InOrder(g.Versions)
	refused, err := r.Restore(ctx, g.Holdings, registry.RestoreOptions{SkipRefused: o.Renumber})
	for _, v := range refused {
		report.Losses = append(report.Losses, transfer.Loss{Subject: v.Subject.String(), Version: v.Version, ID: v.ID.Number, What: v.Err.Error()})
	}
	return report, err
}

// writeFiles exports to a folder, or to an archive by its name.
func (a *app) writeFiles(ctx context.Context, path string, g transfer.Gathered) error {
	if !isArchive(path) {
		if err := transfer.ToFolder(ctx, path, g); err != nil {
			return fail(exitNotCompared, err)
		}
		return nil
	}
	if err := replaceable(path); err != nil {
		return failf(exitNotCompared, "export to %s: %w", path, err)
	}
	return a.write(path, func(w io.Writer, _ bool) error { return transfer.ToArchive(ctx, w, g) })
}

// replaceable refuses a file that holds anything but an export.
func replaceable(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil // what is wrong with it, writing will tell
	}
	f, err := os.Open(path)
	if err != nil {
		return bare(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	if !transfer.IsArchive(f) {
		return errors.New("the file is there already and is no export: choose another")
	}
	return nil
}

func isArchive(path string) bool {
	return strings.HasSuffix(path, ".tar.gz") || strings.HasSuffix(path, ".tgz")
}

// moveError gives an error of a move its exit code.
func moveError(what string, err error) error {
	var f *failure
	if errors.As(err, &f) {
		return err
	}
	return failf(codeOf(err), "%s: %w", what, err)
}

// paceFlags bound what registries are asked.
func paceFlags(cmd *cobra.Command, p *transfer.Pace) {
	cmd.Flags().IntVar(&p.PerSecond, "rate", 2000, "requests a second to each registry")
	cmd.Flags().IntVar(&p.Parallel, "parallel", 8, "requests under way at once")
}

func checkPace(p transfer.Pace) error {
	if p.PerSecond < 1 || p.Parallel < 1 {
		return failf(exitUsage, "--rate and --parallel must be above zero: found %d and %d", p.PerSecond, p.Parallel)
	}
	return nil
}

// counted is what a gathered registry is to a person.
func counted(g transfer.Gathered) string {
	return fmt.Sprintf("%s in %s", countOf(len(g.Versions), "version"), countOf(subjectsIn(g), "subject"))
}

// subjectsIn counts the subjects that have versions.
func subjectsIn(g transfer.Gathered) int {
	subjects := map[schemas.Subject]bool{}
	for i := range g.Versions {
		subjects[g.Versions[i].Subject] = true
	}
	return len(subjects)
}

func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
