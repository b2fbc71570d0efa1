package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Read is one thing that a consumer told of a subject: a declaration when
// Version is 0, else a version of which messages came under it.
type Read struct {
	Subject               schemas.Subject
	Consumer, Environment string
	// Accepts is the range that was declared, empty for any; Pinned is the version
	// that payloads are read with, 0 for the writer's own. A consumer may declare
	// several, as two of its builds do that run side by side: each counts while it is
	// told, see [ReadersOverlap].
	Accepts string
	Pinned  schemas.Version
	Version schemas.Version
	// At is when the declaration was last told, or when the newest message of the
	// version came; milliseconds, UTC.
	At time.Time
	// Accepted and Rejected count messages, of a declaration only.
	Accepted, Rejected uint64
}

// ReaderStore keeps what consumers read, beside the journal: reports are no
// events, and losing them loses no schema. A [Journal] that is one too keeps
// them for its registry.
type ReaderStore interface {
	// AddReads keeps all or nothing: counts are added, At only rises. Rows beyond
	// most are not begun; it answers how many of the reads that concerns.
	AddReads(ctx context.Context, reads []Read, most int) (left int, err error)
	// Reads gives what was told since a moment, of one subject or, when its name is
	// empty, of all.
	Reads(ctx context.Context, s schemas.Subject, since time.Time) ([]Read, error)
	// ForgetReads drops what was last told before a moment.
	ForgetReads(ctx context.Context, before time.Time) error
}

// Bounds of what is kept of readers.
const (
	// ReadersExpire is how long a consumer is known that tells nothing any more.
	ReadersExpire = 30 * 24 * time.Hour
	// ReadersOverlap is how long a declaration counts beside a later one of the same
	// consumer, since it was last told: builds of a rolling deploy run side by side.
	ReadersOverlap = time.Hour
	// MostReads bounds what one report may say, in declarations and versions.
	MostReads = 10_000

	mostReadRows   = 200_000
	longestReader  = 255 // bytes of a consumer's or environment's name
	longestAccepts = 255
	forgetEvery    = time.Hour
)

// Reader is what one consumer declares of a subject, and what came of it.
type Reader struct {
	Consumer, Environment string
	Subject               schemas.Subject
	Accepts               string
	Pinned                schemas.Version
	// Uses are the versions of which messages came, ascending.
	Uses []Use
	// Told is when the consumer last said so.
	Told               time.Time
	Accepted, Rejected uint64
}

// Use is a version of which messages came to a consumer, the newest at Seen.
type Use struct {
	Version schemas.Version
	Seen    time.Time
}

// Seen is when the newest message came; zero when none did.
func (r *Reader) Seen() time.Time {
	var at time.Time
	for _, u := range r.Uses {
		if u.Seen.After(at) {
			at = u.Seen
		}
	}
	return at
}

// ReportReadership keeps what a consumer tells. What is told of subjects and
// versions that the registry never had is passed over, and so is what there is
// no more room for: it answers how many reads were kept, and how many
// declarations and versions were not.
//
// Errors: CodeReaderInvalid; CodeStore.
func (r *Registry) ReportReadership(ctx context.Context, told schemas.Readership) (kept, passed int, err error) {
	if r.readers == nil {
		return 0, 0, readersUnkept()
	}
	if err := checkReadership(&told); err != nil {
		return 0, 0, err
	}
	if err := r.catchUp(ctx); err != nil {
		return 0, 0, err
	}
	now := r.now().UTC().Truncate(time.Millisecond)
	var reads []Read
	r.mu.RLock()
	for _, one := range told.Reads {
		one.Subject = filled(one.Subject)
		u := r.state.subject(one.Subject)
		if u == nil || u.high == 0 || one.Pinned > u.high {
			passed++
			continue
		}
		at := one.Seen.UTC().Truncate(time.Millisecond)
		if one.Seen.IsZero() || at.After(now) {
			at = now
		}
		base := Read{Subject: one.Subject, Consumer: told.Consumer, Environment: told.Environment, Accepts: one.Accepts, Pinned: one.Pinned}
		declared := base
		declared.At, declared.Accepted, declared.Rejected = now, one.Accepted, one.Rejected
		reads = append(reads, declared)
		for _, v := range one.Versions {
			if v > u.high {
				passed++
				continue
			}
			used := base
			used.Version, used.At = v, at
			reads = append(reads, used)
		}
		kept++
	}
	r.mu.RUnlock()
	if len(reads) == 0 {
		return kept, passed, nil
	}
	left, err := r.readers.AddReads(ctx, reads, mostReadRows)
	if err != nil {
		return 0, 0, storeError("keep what a consumer reads", err)
	}
	if left > 0 {
		r.log.Warn("there are more readers than are kept", "consumer", told.Consumer, "rows", mostReadRows)
		passed += left
	}
	if last := r.forgot.Load(); now.UnixMilli()-last > forgetEvery.Milliseconds() && r.forgot.CompareAndSwap(last, now.UnixMilli()) {
		if err := r.readers.ForgetReads(ctx, now.Add(-ReadersExpire)); err != nil {
			r.log.Warn("readers that expired were not dropped", "error", err)
		}
	}
	return kept, passed, nil
}

func checkReadership(told *schemas.Readership) error {
	refuse := func(format string, args ...any) error {
		return &Error{Code: CodeReaderInvalid, Text: "a report of what is read: " + fmt.Sprintf(format, args...)}
	}
	for _, one := range []struct{ what, text string }{{"consumer", told.Consumer}, {"environment", told.Environment}} {
		switch {
		case len(one.text) > longestReader:
			return refuse("the %s has %d bytes, and %d are allowed", one.what, len(one.text), longestReader)
		case !utf8.ValidString(one.text) || hasControl(one.text):
			return refuse("the %s is no plain text: it has control characters or is not UTF-8", one.what)
		}
	}
	if strings.TrimSpace(told.Consumer) == "" {
		return refuse("the consumer has no name: name the group or service")
	}
	total := 0
	for i, one := range told.Reads {
		total += 1 + len(one.Versions)
		switch {
		case one.Subject.Name == "":
			return refuse("reads/%d names no subject", i)
		case len(one.Accepts) > longestAccepts:
			return refuse("reads/%d: accepts has %d bytes, and %d are allowed", i, len(one.Accepts), longestAccepts)
		case one.Pinned < 0:
			return refuse("reads/%d: pinned is %d: versions count from 1", i, one.Pinned)
		}
		if err := checkAccepts(one.Accepts); err != nil {
			return refuse("reads/%d: accepts: %v", i, err)
		}
		for _, v := range one.Versions {
			if v < 1 {
				return refuse("reads/%d: version %d: versions count from 1", i, v)
			}
		}
	}
	if total > MostReads {
		return refuse("it tells of %d declarations and versions, and %d are allowed: send it in parts", total, MostReads)
	}
	return nil
}

// checkAccepts refuses a declaration that nothing could judge a version by: a
// consumer would stand in the way of every deployment until it expires.
func checkAccepts(text string) error {
	if text == "" || text == "any" {
		return nil
	}
	version, compatible := strings.CutPrefix(text, "compatible with ")
	spans, err := schemas.ParseSpans(version)
	if err == nil && compatible && version != spans[0].From.String() {
		err = fmt.Errorf("%q names no single version, such as compatible with 3", text)
	}
	return err
}

// readersUnkept is the answer of a registry whose journal keeps no readers.
func readersUnkept() error {
	return &Error{Code: CodeReaderInvalid, Text: "this database keeps no readers"}
}

// ReadersOf lists what consumers read of a subject, by environment, consumer and
// declaration; those that told nothing for [ReadersExpire] are forgotten, and so
// is a declaration that a later one has replaced for [ReadersOverlap].
//
// Errors: CodeSubjectUnknown for a subject that never was; CodeStore.
func (r *Registry) ReadersOf(ctx context.Context, s schemas.Subject) ([]Reader, error) {
	s = filled(s)
	known := func() bool {
		r.mu.RLock()
		defer r.mu.RUnlock()
		u := r.state.subject(s)
		return u != nil && u.high > 0
	}
	if !known() {
		if err := r.catchUp(ctx); err != nil {
			return nil, err
		}
		if !known() {
			return nil, &Error{Code: CodeSubjectUnknown, Subject: s, Text: fmt.Sprintf("subject '%s' not found", s)}
		}
	}
	return r.readersOf(ctx, s)
}

// Readers lists what consumers read of all subjects, by subject and as
// [Registry.ReadersOf] has them.
//
// Errors: CodeStore.
func (r *Registry) Readers(ctx context.Context) ([]Reader, error) {
	return r.readersOf(ctx, schemas.Subject{})
}

func (r *Registry) readersOf(ctx context.Context, s schemas.Subject) ([]Reader, error) {
	if r.readers == nil {
		return nil, nil
	}
	now := r.now()
	reads, err := r.readers.Reads(ctx, s, now.Add(-ReadersExpire))
	if err != nil {
		return nil, storeError("look for readers", err)
	}
	return inForce(gatherReaders(reads), now), nil
}

// gatherReaders joins the versions with their declarations. A version whose
// declaration has gone is told with no more than itself.
func gatherReaders(reads []Read) []Reader {
	slices.SortFunc(reads, func(a, b Read) int {
		return cmp.Or(compareText(a.Subject.String(), b.Subject.String()), compareText(a.Environment, b.Environment), compareText(a.Consumer, b.Consumer),
			compareText(a.Accepts, b.Accepts), cmp.Compare(a.Pinned, b.Pinned), cmp.Compare(a.Version, b.Version))
	})
	var list []Reader
	for i := range reads {
		one := &reads[i]
		last := len(list) - 1
		if last < 0 || list[last].Subject != one.Subject || list[last].Environment != one.Environment || list[last].Consumer != one.Consumer ||
			list[last].Accepts != one.Accepts || list[last].Pinned != one.Pinned {
			list = append(list, Reader{Consumer: one.Consumer, Environment: one.Environment, Subject: one.Subject, Accepts: one.Accepts, Pinned: one.Pinned})
			last++
		}
		to := &list[last]
		if one.At.After(to.Told) {
			to.Told = one.At
		}
		if one.Version == 0 {
			to.Accepted, to.Rejected = one.Accepted, one.Rejected
			continue
		}
		to.Uses = append(to.Uses, Use{one.Version, one.At})
	}
	return list
}

// inForce leaves out the declarations that were not told for [ReadersOverlap]
// while the same consumer told another later: the build that made them has gone.
// The list is as gatherReaders has it.
func inForce(list []Reader, now time.Time) []Reader {
	type reads struct {
		consumer, environment string
		subject               schemas.Subject
	}
	of := func(r *Reader) reads { return reads{r.Consumer, r.Environment, r.Subject} }
	latest := map[reads]time.Time{}
	for i := range list {
		if one := &list[i]; one.Told.After(latest[of(one)]) {
			latest[of(one)] = one.Told
		}
	}
	return slices.DeleteFunc(list, func(r Reader) bool {
		return r.Told.Before(latest[of(&r)]) && now.Sub(r.Told) >= ReadersOverlap
	})
}

// readerStore is what a journal keeps readers in; nil when it does not.
func readerStore(j Journal) ReaderStore {
	s, _ := j.(ReaderStore)
	return s
}
