// Package registry is the domain: subjects, versions, ids, levels, modes and
// deletion. Its state is the fold of a journal of events; formats and checkers
// are handed to [Open] as values.
//
// It knows neither HTTP nor SQL.
package registry

import (
	"context"
	"errors"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Options are what a registry is made of beside its journal.
type Options struct {
	Formats  []schemas.Format
	Checkers []compat.Checker
	Limits   schemas.Limits
	Cache    int // bytes of parsed forms, 64 MiB
	Now      func() time.Time
}

// Registry is the one implementation; api, pages and commands speak to it.
type Registry struct{}

var errNotBuilt = errors.New("not built yet")

// Open folds the journal and serves it.
func Open(ctx context.Context, j Journal, o Options) (*Registry, error) { return nil, errNotBuilt }

// Close waits for the writes that were accepted and closes the journal.
func (r *Registry) Close() error { return errNotBuilt }

// Stored is a version as it stands. Fresh tells that a registration stored it
// just now (its answer then shows neither time nor deletion).
type Stored struct {
	schemas.Found
	Fresh bool
	// ByContent tells that a look-up found it by its content hash: the answer
	// then shows neither time nor deletion.
	ByContent bool
}

// Page cuts a list: Limit ≤ 0 means the default of the list.
type Page struct{ Offset, Limit int }

// Deleted chooses what a list shows of soft-deleted versions.
type Deleted uint8

// The choices.
const (
	LiveOnly Deleted = iota
	WithDeleted
	DeletedOnly
	DeletedAsNegative // versions only
)

// Types lists the wire names of the formats.
func (r *Registry) Types() []schemas.Type { return nil }

// Subjects lists subjects whose qualified text matches prefix, sorted.
// A prefix of AnyContext searches every context.
func (r *Registry) Subjects(ctx context.Context, prefix schemas.Subject, d Deleted, p Page) ([]schemas.Subject, error) {
	return nil, errNotBuilt
}

// Versions lists the version numbers of a subject, ascending.
func (r *Registry) Versions(ctx context.Context, s schemas.Subject, d Deleted, p Page) ([]schemas.Version, error) {
	return nil, errNotBuilt
}

// Version answers one version; schemas.Latest is the highest live one.
func (r *Registry) Version(ctx context.Context, s schemas.Subject, v schemas.Version, deleted bool) (Stored, error) {
	return Stored{}, errNotBuilt
}

// ByID answers a place where an id is used, by the rules of `subject=` (REST
// contract 4.1): nil means none was given.
func (r *Registry) ByID(ctx context.Context, number int32, subject *schemas.Subject) (Stored, error) {
	return Stored{}, errNotBuilt
}

// ByGUID answers the schema with a GUID: default context first, then by name.
func (r *Registry) ByGUID(ctx context.Context, g schemas.GUID) (Stored, error) {
	return Stored{}, errNotBuilt
}

// SubjectsOf lists the subjects that use an id.
func (r *Registry) SubjectsOf(ctx context.Context, number int32, subject *schemas.Subject, d Deleted, p Page) ([]schemas.Subject, error) {
	return nil, errNotBuilt
}

// VersionsOf lists one version per subject that uses an id, sorted by subject.
func (r *Registry) VersionsOf(ctx context.Context, number int32, subject *schemas.Subject, d Deleted, p Page) ([]Stored, error) {
	return nil, errNotBuilt
}

// List lists versions of many subjects, by subject then version.
func (r *Registry) List(ctx context.Context, prefix schemas.Subject, d Deleted, latestOnly bool, p Page) ([]Stored, error) {
	return nil, errNotBuilt
}

// ReferencedBy lists the ids of schemas that reference a version, ascending.
func (r *Registry) ReferencedBy(ctx context.Context, s schemas.Subject, v schemas.Version, deleted bool, p Page) ([]schemas.ID, error) {
	return nil, errNotBuilt
}

// Register stores a version, or answers the one that is already there.
func (r *Registry) Register(ctx context.Context, q Registration) (Stored, error) {
	return Stored{}, errNotBuilt
}

// Lookup answers "is this schema registered here?". It stores nothing.
func (r *Registry) Lookup(ctx context.Context, q Registration, deleted bool) (Stored, error) {
	return Stored{}, errNotBuilt
}

// Check compares a source with one version (v ≠ nil) or with what the level in
// force asks for (v == nil). It stores nothing and works in every mode.
func (r *Registry) Check(ctx context.Context, q Registration, v *schemas.Version) (compat.Report, error) {
	return compat.Report{}, errNotBuilt
}

// DeleteVersion deletes one version and answers its number.
func (r *Registry) DeleteVersion(ctx context.Context, s schemas.Subject, v schemas.Version, permanent bool) (schemas.Version, error) {
	return 0, errNotBuilt
}

// DeleteSubject deletes a subject and answers the versions that went.
func (r *Registry) DeleteSubject(ctx context.Context, s schemas.Subject, permanent bool) ([]schemas.Version, error) {
	return nil, errNotBuilt
}

// Config is what a scope says of itself; nil members say nothing. The members
// that come with the contract stage are refused until then (42210).
type Config struct {
	Level              *compat.Level
	Normalize          *bool
	ValidateFields     *bool
	ValidateNewSchemas *bool
	ValidateRules      *bool
	Policy             *compat.Policy        // compatibilityPolicy
	PolicyName         string                // STRICT, LENIENT or LOGICAL as it was set
	VerdictPolicy      *compat.VerdictPolicy // ours
}

// ConfigChange is a partial update: for each member keep, clear or set.
type ConfigChange struct {
	Set   Config
	Clear []string // wire names of the members to clear
}

// ConfigOf answers what a scope says of itself: ok is false when it says
// nothing. An empty subject name is the context; the default context's is the
// global one.
func (r *Registry) ConfigOf(scope schemas.Subject) (c Config, ok bool) { return Config{}, false }

// ConfigInForce answers the config that a scope ends up with; Level is never nil.
func (r *Registry) ConfigInForce(scope schemas.Subject) Config { return Config{} }

// SetConfig changes the config of a scope and answers the merged whole.
func (r *Registry) SetConfig(ctx context.Context, scope schemas.Subject, change ConfigChange) (Config, error) {
	return Config{}, errNotBuilt
}

// ClearConfig removes the config of a scope and answers what it was.
func (r *Registry) ClearConfig(ctx context.Context, scope schemas.Subject) (Config, error) {
	return Config{}, errNotBuilt
}

// Mode says what a scope allows.
type Mode string

// The modes of the wire.
const (
	ReadWrite        Mode = "READWRITE"
	ReadOnly         Mode = "READONLY"
	ReadOnlyOverride Mode = "READONLY_OVERRIDE"
	Import           Mode = "IMPORT"
	Forward          Mode = "FORWARD"
)

// ModeOf answers a scope's own mode.
func (r *Registry) ModeOf(scope schemas.Subject) (m Mode, ok bool) { return "", false }

// ModeInForce answers the mode that a scope ends up with.
func (r *Registry) ModeInForce(scope schemas.Subject) Mode { return ReadWrite }

// SetMode sets a scope's mode.
func (r *Registry) SetMode(ctx context.Context, scope schemas.Subject, m Mode, force bool) error {
	return errNotBuilt
}

// ClearMode removes a scope's mode and answers what it was.
func (r *Registry) ClearMode(ctx context.Context, scope schemas.Subject, recursive bool) (Mode, error) {
	return "", errNotBuilt
}

// Contexts lists the contexts, the default one first.
func (r *Registry) Contexts(prefix string, p Page) []schemas.Context { return nil }

// Installation is the random id that the registry was installed with.
func (r *Registry) Installation() string { return "" }

// Revision grows with every write: an answer made at a revision stays true
// while Revision says the same.
func (r *Registry) Revision() Revision { return 0 }

// MaxID is the highest id ever given in a context, 0 when there was none.
func (r *Registry) MaxID(c schemas.Context) int32 { return 0 }

// DeleteContext removes an empty context; an unknown one is no error.
//
// Errors: CodeContextNotEmpty while it has a subject, soft-deleted or not.
func (r *Registry) DeleteContext(ctx context.Context, c schemas.Context) error { return errNotBuilt }
