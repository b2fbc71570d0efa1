package registry

import (
	"context"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Stored is a version as it stands. Fresh tells that a registration stored it
// just now (its answer then shows neither time nor deletion). What it points to
// is shared: it must not be changed.
type Stored struct {
	schemas.Found
	Fresh bool
	// ByContent tells that a look-up found it by its content hash: the answer
	// then shows neither time nor deletion.
	ByContent bool
	// Erased tells that the text is gone since: only a look at the past meets
	// such a version.
	Erased bool
}

// source is an entry's, without a copy; an erased text is empty.
func (s *State) source(e *entry) schemas.Source {
	source := schemas.Source{Type: s.types[e.kind], Text: e.text.text, References: e.references()}
	if e.text.erased {
		source.Text = ""
	}
	return source
}

// stored is a version as it stands.
func (s *State) stored(u *subject, v *version) Stored {
	e := v.entry
	return Stored{Erased: e.text.erased, Found: schemas.Found{
		Subject: u.subject(), Version: v.number,
		ID: schemas.ID{Context: e.space.name, Number: e.id}, GUID: e.guid,
		Source: s.source(e), Metadata: e.metadata(), RuleSet: e.rules(),
		Deleted: !v.live(), Time: time.UnixMilli(v.time).UTC(),
	}}
}

// answer asks the state. Where others write to the journal too, what is not
// found is looked for once more after reading the journal to its end.
func answer[T any](ctx context.Context, r *Registry, ask func(*State) (T, error)) (T, error) {
	r.mu.RLock()
	got, err := ask(r.state)
	r.mu.RUnlock()
	if err == nil || !r.shared {
		return got, err
	}
	if err := r.catchUp(ctx); err != nil {
		return got, err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return ask(r.state)
}

func subjectUnknown(s schemas.Subject) error {
	return &Error{Code: CodeSubjectUnknown, Subject: s, Text: "Subject '" + s.String() + "' not found."}
}

func versionUnknown(s schemas.Subject, v schemas.Version) error {
	return &Error{Code: CodeVersionUnknown, Subject: s, Version: v, Text: "Version " + v.String() + " not found."}
}

func schemaUnknown(what string) error {
	return &Error{Code: CodeSchemaUnknown, Text: "Schema " + what + "not found"}
}
