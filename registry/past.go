package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Bounds of looking back: how many states of the past are kept whole, how many
// bytes of encoded ones, and how many events may lie between two of those.
const (
	mostPasts     = 2
	bytesOfPasts  = 32 << 20
	eventsPerPast = 25_000
)

// Moment is a point of the journal: a revision or, when Time is set, the last
// one before an event that is later than it.
type Moment struct {
	Revision Revision
	Time     time.Time
}

// Past is the registry as it stood at a revision. It is safe for many
// goroutines; its answers have the order and the errors of the registry's own.
type Past struct {
	state   *State
	dropped uint64    // how many texts had gone when it was folded
	good    Revision  // how long it is good: an erased text may come back
	latest  time.Time // of its events
	next    time.Time // of the event behind it; zero when there was none yet
}

// covers tells whether m is in p.
func (p *Past) covers(m Moment) bool {
	if m.Time.IsZero() {
		return p.state.revision == m.Revision
	}
	return !p.latest.After(m.Time) && p.next.After(m.Time)
}

// pasts are the states of the past that were asked for lately, and points from
// which others are reached.
type pasts struct {
	folding chan struct{} // one token: one fold at a time, however many ask
	every   int           // events between two encoded states

	mu     sync.Mutex
	whole  []*Past // the latest asked for last
	points []point
	size   int // bytes of points
}

// point is an encoded state of the past, and the latest time of its events.
type point struct {
	Snapshot
	latest time.Time
}

// keep remembers an encoded state. When they are too many bytes, every other one
// goes.
func (p *pasts) keep(one point) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, there := slices.BinarySearchFunc(p.points, one.Revision, func(a point, at Revision) int { return cmp.Compare(a.Revision, at) })
	if there || len(one.State) > bytesOfPasts {
		return
	}
	p.points = slices.Insert(p.points, i, one)
	p.size += len(one.State)
	for p.size > bytesOfPasts {
		rest := p.points[:0]
		p.size = 0
		for i, one := range p.points {
			if i%2 == 1 || i == len(p.points)-1 && len(rest) == 0 {
				rest = append(rest, one)
				p.size += len(one.State)
			}
		}
		clear(p.points[len(rest):])
		p.points = rest
	}
}

// before is the newest encoded state up to a moment, the empty one when there
// is none.
func (p *pasts) before(m Moment) point {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.points) - 1; i >= 0; i-- {
		if one := p.points[i]; m.includes(one.Revision, one.latest) {
			return one
		}
	}
	return point{}
}

// find answers a whole state, which then counts as asked for last. Once a text is
// gone, no state that may hold it is kept.
func (p *pasts) find(m Moment, now Revision, dropped uint64) *Past {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whole = slices.DeleteFunc(p.whole, func(one *Past) bool { return one.dropped != dropped || one.good < now })
	for i, one := range p.whole {
		if one.covers(m) {
			p.whole = append(slices.Delete(p.whole, i, i+1), one)
			return one
		}
	}
	return nil
}

func (p *pasts) add(one *Past) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.whole = append(p.whole, one); len(p.whole) > mostPasts {
		p.whole = slices.Delete(p.whole, 0, 1)
	}
}

// AsOf answers the registry as it stood at a moment. The journal's events are
// folded, without their texts, from the nearest kept state on, one fold at a time:
// at most 25,000 of them once that part of the past was visited, all up to the
// moment for the first visit, none for the present. At most two states are kept
// whole and 32 MiB of encoded ones, and nothing before anybody has asked.
//
// Errors: CodeRevisionUnknown for what is not there yet; CodeStore; that of ctx.
func (r *Registry) AsOf(ctx context.Context, m Moment) (*Past, error) {
	if err := r.catchUp(ctx); err != nil {
		return nil, err
	}
	switch end := r.Revision(); {
	case m.Time.IsZero() && m.Revision > end:
		return nil, revisionUnknown(m.Revision, end)
	case m.Time.After(r.now()):
		return nil, &Error{Code: CodeRevisionUnknown, Text: fmt.Sprintf("%s is in the future", m.Time.UTC().Format(time.RFC3339Nano))}
	}
	if past := r.pasts.find(m, r.Revision(), r.dropped()); past != nil {
		return past, nil
	}
	select {
	case r.pasts.folding <- struct{}{}:
		defer func() { <-r.pasts.folding }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	dropped, now := r.dropped(), r.Revision()
	if past := r.pasts.find(m, now, dropped); past != nil {
		return past, nil
	}
	past, err := r.foldTo(ctx, m, now)
	if err != nil {
		return nil, err
	}
	past.dropped, past.good = dropped, math.MaxUint64
	for _, t := range past.state.texts {
		if t.erased {
			past.good = now
			break
		}
	}
	r.pasts.add(past)
	return past, nil
}

// dropped tells how many texts have gone.
func (r *Registry) dropped() uint64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.state.dropped
}

func revisionUnknown(at, end Revision) error {
	return &Error{Code: CodeRevisionUnknown, Text: fmt.Sprintf("revision %d is not there: the newest is %d", at, end)}
}

// errEnough ends the reading of a journal.
var errEnough = errors.New("enough was read")

// includes tells whether a state of a revision, whose latest event is of a time,
// is before m or at it.
func (m Moment) includes(at Revision, latest time.Time) bool {
	if m.Time.IsZero() {
		return at <= m.Revision
	}
	return !latest.After(m.Time)
}

// foldTo folds the journal up to a moment, no further than end, behind which the
// registry does not hold the texts yet.
func (r *Registry) foldTo(ctx context.Context, m Moment, end Revision) (*Past, error) {
	from := r.pasts.before(m)
	if present := r.present(m); present != nil {
		from.Snapshot = *present
	}
	past := &Past{state: NewState(), latest: from.latest}
	if from.Revision > 0 {
		var err error
		if past.state, err = decodeState(from.State, r.remembered); err != nil {
			return nil, storeError("look at the past", err)
		}
	}
	state, kept := past.state, from.Revision
	if m.Time.IsZero() && state.revision == m.Revision {
		return past, nil
	}
	err := readEvents(ctx, r.journal, kept, func(record Record) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if record.Revision > end {
			return errEnough
		}
		latest := past.latest
		if record.Time.After(latest) {
			latest = record.Time
		}
		if !m.includes(record.Revision, latest) {
			past.next = record.Time
			return errEnough
		}
		if record.Event.Text != (Hash{}) {
			t, _ := r.remembered(record.Event.Text)
			record.Text, record.Erased = t.text, t.erased // the same bytes, held once
		}
		if err := state.Apply(record); err != nil {
			return err
		}
		past.latest = latest
		if int(state.revision-kept) >= r.pasts.every {
			kept = state.revision
			r.pasts.keep(point{Snapshot{Revision: kept, State: state.Encode()}, latest})
		}
		if m.Time.IsZero() && state.revision == m.Revision {
			return errEnough
		}
		return nil
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !errors.Is(err, errEnough):
		return nil, storeError("look at the past", err)
	case m.Time.IsZero() && state.revision != m.Revision:
		return nil, storeError("look at the past", fmt.Errorf("the journal ends at revision %d, before %d", state.revision, m.Revision))
	}
	return past, nil
}

// present is the state as it is, when m asks for that; nil for all else. It needs
// no event of the journal.
func (r *Registry) present(m Moment) *Snapshot {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if !m.Time.IsZero() || m.Revision != r.state.revision {
		return nil
	}
	return &Snapshot{Revision: r.state.revision, State: r.state.Encode()}
}

// remembered is a text as the state has it now; one that it has not is erased.
func (r *Registry) remembered(h Hash) (text, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if t := r.state.texts[h]; t != nil && !t.erased {
		return text{text: t.text}, true
	}
	return text{erased: true}, true
}

// Revision is the one that p stands at.
func (p *Past) Revision() Revision { return p.state.revision }

// Alias is [Registry.Alias] as of p.
func (p *Past) Alias(s schemas.Subject) schemas.Subject { return p.state.alias(filled(s)) }

// Aliases is [Registry.Aliases] as of p.
func (p *Past) Aliases() map[schemas.Subject][]schemas.Subject { return p.state.aliases() }

// Subjects is [Registry.Subjects] as of p.
func (p *Past) Subjects(_ context.Context, prefix schemas.Subject, d Deleted, page Page) ([]schemas.Subject, error) {
	return p.state.names(filled(prefix), d, page), nil
}

// Versions is [Registry.Versions] as of p.
func (p *Past) Versions(_ context.Context, s schemas.Subject, d Deleted, page Page) ([]schemas.Version, error) {
	return p.state.numbers(filled(s), d, page)
}

// Version is [Registry.Version] as of p. The text may be erased since.
func (p *Past) Version(_ context.Context, s schemas.Subject, v schemas.Version, deleted bool) (Stored, error) {
	if v == 0 || v < schemas.Latest {
		return Stored{}, badVersion(s, v)
	}
	return p.state.version(filled(s), v, deleted)
}

// ByID is [Registry.ByID] as of p. The text may be erased since.
func (p *Past) ByID(_ context.Context, number int32, subject *schemas.Subject) (Stored, error) {
	return p.state.byID(number, subject)
}

// ByGUID is [Registry.ByGUID] as of p. The text may be erased since.
func (p *Past) ByGUID(_ context.Context, g schemas.GUID) (Stored, error) { return p.state.byGUID(g) }

// List is [Registry.List] as of p. Texts may be erased since.
func (p *Past) List(_ context.Context, prefix schemas.Subject, d Deleted, latestOnly bool, rule string, page Page) ([]Stored, error) {
	return p.state.storedList(filled(prefix), d, latestOnly, rule, page), nil
}

// ConfigOf is [Registry.ConfigOf] as of p.
func (p *Past) ConfigOf(scope schemas.Subject) (Config, bool) {
	c, ok := p.state.configs[filled(scope)]
	return c, ok
}

// ConfigInForce is [Registry.ConfigInForce] as of p.
func (p *Past) ConfigInForce(scope schemas.Subject) Config {
	return p.state.configInForce(filled(scope))
}

// ModeOf is [Registry.ModeOf] as of p.
func (p *Past) ModeOf(scope schemas.Subject) (Mode, bool) {
	m, ok := p.state.modes[filled(scope)]
	return m, ok
}

// ModeInForce is [Registry.ModeInForce] as of p.
func (p *Past) ModeInForce(scope schemas.Subject) Mode { return p.state.modeInForce(filled(scope)) }

// MaxID is [Registry.MaxID] as of p.
func (p *Past) MaxID(c schemas.Context) int32 {
	if n := p.state.contexts[filled(schemas.Subject{Context: c}).Context]; n != nil {
		return n.high
	}
	return 0
}
