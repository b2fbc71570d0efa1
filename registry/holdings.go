package registry

import (
	"encoding/json"
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Holdings are everything that a registry's state holds: what moves when a
// registry moves. What they point to is shared: it must not be changed.
type Holdings struct {
	// Contexts are the default one first, then by name.
	Contexts []HeldContext
	// Subjects are those that ever had a version, by qualified text.
	Subjects []HeldSubject
	// Versions are by qualified subject, then number; [Registry.Restore] takes
	// any order in which a number comes before the one that hides it.
	Versions []Held
	// Settings are by qualified scope, without scopes that say nothing.
	Settings []Setting
	// Exceptions are by qualified scope, then fingerprint.
	Exceptions []HeldException
}

// HeldContext is what a context remembers.
type HeldContext struct {
	Name schemas.Context
	// Listed tells whether the list of contexts has it.
	Listed bool
	// High is the highest id ever given, 0 for none.
	High int32
}

// HeldSubject is what a subject remembers beside its versions.
type HeldSubject struct {
	Subject schemas.Subject
	// High is the highest number ever given.
	High schemas.Version
	// Gone are the numbers that were permanently deleted, ascending.
	Gone []Gone
}

// Gone is what is left of a version that was permanently deleted.
type Gone struct {
	Version schemas.Version
	GUID    schemas.GUID
	Type    schemas.Type
}

// Held is a version, soft-deleted or not. HiddenBy is the number of the version
// that took its place when it was registered again; 0 for none.
type Held struct {
	schemas.Found
	HiddenBy schemas.Version
}

// Setting is what a scope says of itself: a config, a mode, or both. An empty
// subject name is the context; the default context's is the global scope.
type Setting struct {
	Scope  schemas.Subject
	Config *Config
	Mode   Mode
}

// HeldException is one accepted finding of a scope.
type HeldException struct {
	Scope       schemas.Subject
	Fingerprint string
	Reason      string
	Owner       string
	Until       int64 // milliseconds since 1970; 0 is for ever
}

// Holdings gives everything that the registry holds at one moment.
func (r *Registry) Holdings() Holdings {
	r.mu.RLock()
	defer r.mu.RUnlock()
	s := r.state
	var h Holdings
	for _, n := range s.spaces() {
		h.Contexts = append(h.Contexts, HeldContext{n.name, n.listed || n.name == schemas.DefaultContext, n.high})
		for _, u := range n.subjects {
			if u.high == 0 {
				continue // only referred to
			}
			held := HeldSubject{Subject: u.subject(), High: u.high}
			for number, at := range u.gone {
				held.Gone = append(held.Gone, Gone{number, at.guid, s.types[at.kind]})
			}
			slices.SortFunc(held.Gone, func(a, b Gone) int { return int(a.Version) - int(b.Version) })
			h.Subjects = append(h.Subjects, held)
		}
	}
	slices.SortFunc(h.Subjects, func(a, b HeldSubject) int { return compareText(a.Subject.String(), b.Subject.String()) })
	h.Versions = make([]Held, 0, s.versions)
	for _, u := range s.subjects() {
		for i := range u.versions {
			v := &u.versions[i]
			held := Held{Found: s.stored(u, v).Found}
			if v.hidden() {
				held.HiddenBy = v.gone
			}
			h.Versions = append(h.Versions, held)
		}
	}
	h.Settings = s.heldSettings()
	for _, e := range s.settingsBody().Exceptions {
		h.Exceptions = append(h.Exceptions, HeldException{schemas.Subject{Context: e.Context, Name: e.Subject}, e.Fingerprint, e.Reason, e.Owner, e.Until})
	}
	return h
}

func (s *State) heldSettings() []Setting {
	var scopes []schemas.Subject
	for scope := range s.configs {
		scopes = append(scopes, scope)
	}
	for scope := range s.modes {
		if _, both := s.configs[scope]; !both {
			scopes = append(scopes, scope)
		}
	}
	slices.SortFunc(scopes, func(a, b schemas.Subject) int { return compareText(a.String(), b.String()) })
	list := make([]Setting, 0, len(scopes))
	for _, scope := range scopes {
		held := Setting{Scope: scope, Mode: s.modes[scope]}
		if c, ok := s.configs[scope]; ok {
			held.Config = &c
		}
		list = append(list, held)
	}
	return list
}

// isEmpty tells whether nothing was ever kept in s.
func (s *State) isEmpty() bool {
	for _, n := range s.contexts {
		if n.high > 0 {
			return false
		}
		for _, u := range n.subjects {
			if u.high > 0 {
				return false
			}
		}
	}
	return len(s.configs) == 0 && len(s.modes) == 0 && len(s.exceptions) == 0
}

// MarshalJSON writes the members that c has, by the names of the wire's update
// form ("compatibility" is the level).
func (c Config) MarshalJSON() ([]byte, error) { return encodeBody(configToBody(c)), nil }

// UnmarshalJSON reads what MarshalJSON writes. Members that are unknown are
// ignored; a level or policy that is unknown is an error.
func (c *Config) UnmarshalJSON(data []byte) error {
	var m configMembers
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	got, err := configFromBody(&m)
	if err == nil {
		*c = got
	}
	return err
}

// Equal tells whether two configs say the same.
func (c Config) Equal(d Config) bool { return c.equal(d) }
