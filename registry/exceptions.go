package registry

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// mostExceptions is how many exceptions one scope may have.
const mostExceptions = 10_000

// LongestException is how long an exception may hold from now on.
const LongestException = 366 * 24 * time.Hour

var fingerprintForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// ExceptionsOf answers a scope's own exceptions, by fingerprint. What has ended
// is among them until it is taken out.
func (r *Registry) ExceptionsOf(scope schemas.Subject) []compat.Exception {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.state.exceptionsAt(filled(scope))
}

func (s *State) exceptionsAt(scope schemas.Subject) []compat.Exception {
	at := s.exceptions[scope]
	var list []compat.Exception
	for _, f := range slices.Sorted(maps.Keys(at)) {
		b := at[f]
		e := compat.Exception{Fingerprint: f, Reason: b.Reason, Owner: b.Owner, Source: "registry"}
		if b.Until != 0 {
			e.Until = time.UnixMilli(b.Until).UTC()
		}
		list = append(list, e)
	}
	return list
}

// accepted are the exceptions that count for a subject: its own, its context's
// and the registry's.
func (r *Registry) accepted(subject schemas.Subject) []compat.Exception {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if len(r.state.exceptions) == 0 {
		return nil
	}
	var list []compat.Exception
	for _, scope := range chain(filled(subject)) {
		list = append(list, r.state.exceptionsAt(scope)...)
	}
	return list
}

// SetExceptions makes list the exceptions of a scope; those that it had and list
// has not are cleared. All of it is one append; a list that changes nothing
// writes nothing. The subject need not exist.
//
// An exception ends within [LongestException]. Those that the scope has already
// stay as they are, also when they have ended, so that others can be changed
// beside them.
//
// Errors: CodeExceptionInvalid for an entry without fingerprint, reason or owner,
// for a new or changed one without an end or with one that has passed or is too
// far away, for one that stands there twice, and for too many; CodeSubjectInvalid.
func (r *Registry) SetExceptions(ctx context.Context, scope schemas.Subject, list []compat.Exception) error {
	scope = filled(scope)
	if err := settable(scope); err != nil {
		return err
	}
	want := map[string]exceptionBody{}
	for _, e := range list {
		b := exceptionBody{V: bodyVersion, Context: scope.Context, Subject: scope.Name, Fingerprint: e.Fingerprint, Reason: e.Reason, Owner: e.Owner}
		if !e.Until.IsZero() {
			b.Until = e.Until.UnixMilli()
		}
		wrong := ""
		switch _, twice := want[e.Fingerprint]; {
		case !fingerprintForm.MatchString(e.Fingerprint):
			wrong = fmt.Sprintf("fingerprint %q is not 32 hexadecimal digits", e.Fingerprint)
		case twice:
			wrong = "fingerprint " + e.Fingerprint + " stands there twice"
		case strings.TrimSpace(e.Reason) == "":
			wrong = "the exception for " + e.Fingerprint + " gives no reason"
		case strings.TrimSpace(e.Owner) == "":
			wrong = "the exception for " + e.Fingerprint + " names no owner"
		}
		if wrong != "" {
			return &Error{Code: CodeExceptionInvalid, Subject: scope, Text: wrong}
		}
		want[e.Fingerprint] = b
	}
	if len(want) > mostExceptions {
		return &Error{Code: CodeExceptionInvalid, Subject: scope, Text: fmt.Sprintf("%d exceptions, and %d are allowed", len(want), mostExceptions)}
	}
	return r.write(ctx, func() (*decision, error) {
		r.mu.RLock()
		defer r.mu.RUnlock()
		if err := r.state.lasts(scope, want, r.now()); err != nil {
			return nil, err
		}
		return r.state.reexcept(scope, want), nil
	})
}

// lasts refuses what would be set anew without an end within the year ahead.
func (s *State) lasts(scope schemas.Subject, want map[string]exceptionBody, now time.Time) error {
	have := s.exceptions[scope]
	for _, f := range slices.Sorted(maps.Keys(want)) {
		b, there := have[f]
		if b.V = bodyVersion; there && b == want[f] {
			continue
		}
		wrong, until := "", time.UnixMilli(want[f].Until).UTC()
		switch moment := until.Format(time.RFC3339); {
		case want[f].Until == 0:
			wrong = "has no end: until says when, at most a year ahead"
		case now.After(until):
			wrong = "ended on " + moment + ": until must lie ahead"
		case until.Sub(now) > LongestException:
			wrong = "ends on " + moment + ", more than a year away: an exception is looked at again within a year"
		}
		if wrong != "" {
			return &Error{Code: CodeExceptionInvalid, Subject: scope, Text: "the exception for " + f + " " + wrong}
		}
	}
	return nil
}

// reexcept decides what must be said so that a scope has the exceptions wanted;
// nil when it has them.
func (s *State) reexcept(scope schemas.Subject, want map[string]exceptionBody) *decision {
	d := s.decide(key{about: settings})
	have := s.exceptions[scope]
	var events []Event
	for _, f := range slices.Sorted(maps.Keys(have)) {
		if _, stays := want[f]; !stays {
			b := have[f]
			b.V = bodyVersion
			events = append(events, d.by(KindExceptionCleared, b))
		}
	}
	for _, f := range slices.Sorted(maps.Keys(want)) {
		b, there := have[f]
		if b.V = bodyVersion; !there || b != want[f] {
			events = append(events, d.by(KindExceptionSet, want[f]))
		}
	}
	if len(events) == 0 {
		return nil
	}
	d.build = func(b *batch) error {
		b.add(events...)
		b.touch(key{about: settings})
		return nil
	}
	return d
}
