// Package gitops makes a registry what a repository declares: it compares both,
// says what is to be done, and does it.
//
// It knows the rules of that and no file: what is declared comes in as
// [Desired], and the registry is asked through a small port, so that any
// registry that speaks the contract will do. Planning and applying are one
// engine: [Apply] does the steps that [Make] found and finds none of its own.
//
// Start with [Make].
package gitops

import (
	"context"
	"path"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Registry is what a plan needs of a registry. A *sr.Client is one.
type Registry interface {
	Version(context.Context, schemas.Subject, schemas.Version, sr.VersionOptions) (schemas.Found, error)
	Versions(context.Context, schemas.Subject, sr.Deleted, sr.Page) ([]schemas.Version, error)
	Lookup(context.Context, schemas.Subject, sr.Registration, bool) (schemas.Found, error)
	CheckAll(context.Context, schemas.Subject, sr.Registration, bool) (sr.Compatibility, error)
	Register(context.Context, schemas.Subject, sr.Registration) (schemas.Found, error)
	Config(context.Context, schemas.Subject, bool) (sr.Config, error)
	SetConfig(context.Context, schemas.Subject, sr.Config, ...string) (sr.Config, error)
	ClearConfig(context.Context, schemas.Subject) (sr.Config, error)
	Mode(context.Context, schemas.Subject, bool) (string, error)
	SetMode(context.Context, schemas.Subject, string, bool) (string, error)
	ClearMode(context.Context, schemas.Subject, bool) (string, error)
	Exceptions(context.Context, schemas.Subject) ([]sr.Exception, error)
	SetExceptions(context.Context, schemas.Subject, []sr.Exception) error
	Readers(context.Context, schemas.Subject) ([]schemas.Readership, error)
	Subjects(context.Context, string, sr.Deleted, sr.Page) ([]schemas.Subject, error)
	ReferencedBy(context.Context, schemas.Subject, schemas.Version, bool, sr.Page) ([]int32, error)
	VersionsOf(context.Context, schemas.ID, sr.Deleted, sr.Page) ([]sr.Use, error)
	DeleteSubject(context.Context, schemas.Subject, bool) ([]schemas.Version, error)
	DeleteVersion(context.Context, schemas.Subject, schemas.Version, bool) (schemas.Version, error)
}

// Desired is what a repository declares.
type Desired struct {
	Subjects []Subject // in the order of the file
	Scope    Scope
	// Exceptions are those in force At this moment, here.
	Exceptions []compat.Exception
	At         time.Time
}

// Subject is one declared subject.
type Subject struct {
	Name schemas.Subject
	// Versions are its schemas, the newest last; none where the subject is owned
	// and registered elsewhere.
	Versions []Declared
	// Settings are its own; Defaults count where nothing nearer says otherwise:
	// what the registry has in force is enough for them.
	Settings, Defaults Settings
	Mode               string // empty is not said
}

// Declared is one version as a file has it.
type Declared struct {
	Path string // for people
	// Source has references of version 0 where they follow: to the version that
	// the declared subject gets, else to the latest.
	Source   schemas.Source
	Metadata *schemas.Metadata // nil is not said
	// Missing are names that the text needs and no declared file defines.
	Missing []string
	// Normalize registers the normalized form, and compares by it.
	Normalize bool
}

// Settings are members of a config; empty is not said.
type Settings struct {
	Level, Policy, VerdictPolicy, Alias string
	Normalize                           *bool
}

// Scope is what of a registry a repository owns: the subjects of a context whose
// names begin with Prefix or match Pattern, a glob. One that begins with a context
// (":.eu:shop.") is about that one. The zero value is no scope.
type Scope struct {
	Context         schemas.Context
	Prefix, Pattern string
}

// IsSet tells whether there is a scope.
func (s Scope) IsSet() bool { return s.Prefix != "" || s.Pattern != "" }

// Owns tells whether a subject is inside.
func (s Scope) Owns(name schemas.Subject) bool {
	in, text := s.inside()
	if filled(name).Context != in {
		return false
	}
	if s.Pattern != "" {
		// A slash in a subject separates nothing.
		ok, err := path.Match(strings.ReplaceAll(text, "/", "\x00"), strings.ReplaceAll(name.Name, "/", "\x00"))
		return err == nil && ok
	}
	return strings.HasPrefix(name.Name, text)
}

// inside is the context that the scope is about, and what names in it are like.
func (s Scope) inside() (schemas.Context, string) {
	text := s.Prefix
	if s.Pattern != "" {
		text = s.Pattern
	}
	if strings.HasPrefix(text, ":.") {
		named := schemas.ParseSubject(text)
		return named.Context, named.Name
	}
	return filled(schemas.Subject{Context: s.Context}).Context, text
}

// String is the scope as the configuration has it.
func (s Scope) String() string {
	if s.Pattern != "" {
		return "pattern " + s.Pattern
	}
	return "prefix " + s.Prefix
}

// Search is the prefix by which a registry lists what may be inside; not all of
// that is.
func (s Scope) Search() string {
	in, text := s.inside()
	if i := strings.IndexAny(text, `*?[\`); s.Pattern != "" && i >= 0 {
		text = text[:i]
	}
	return schemas.Subject{Context: in, Name: text}.String()
}

func filled(s schemas.Subject) schemas.Subject {
	if s.Context == "" {
		s.Context = schemas.DefaultContext
	}
	return s
}
