package registry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Bounds of one append: how many decisions it gathers, and about how many
// bytes of text.
const (
	mostInBatch  = 512
	bytesInBatch = 4 << 20
)

// optimistic is how often a decision is made outside the committer before it is
// made inside, where nothing can move.
const optimistic = 6

// errMoved says that something a decision has read is not so any more.
var errMoved = errors.New("what was decided upon has changed")

// about names a part of the state that a decision can depend on.
type about uint8

const (
	settings  about = iota // every config and mode
	versions               // of one subject
	referrers              // of one subject
)

// key is a part of the state. subject is zero for settings.
type key struct {
	about   about
	subject schemas.Subject
}

// changed is the revision at which a part of the state last changed.
func (s *State) changed(k key) Revision {
	if k.about == settings {
		return s.settings
	}
	u := s.subject(k.subject)
	switch {
	case u == nil:
		return 0
	case k.about == versions:
		return u.changed
	}
	return u.referred
}

// decision is something to be written, and what it depends on.
type decision struct {
	at    Revision // the state it was made from
	reads []key
	alone bool // it must not share an append with another
	build func(*batch) error

	actor, request string
}

// decide begins a decision on s as it stands.
func (s *State) decide(reads ...key) *decision { return &decision{at: s.revision, reads: reads} }

// by is an event of the decision's author. Actor, request and time are filled
// in when the batch is built.
func (d *decision) by(kind string, body any) Event {
	return Event{Kind: kind, Body: encodeBody(body)}
}

// batch is one append in the making, on top of a state that does not move.
type batch struct {
	state   *State
	events  []Event
	texts   []Text
	erase   []Hash
	size    int
	touched map[key]struct{}
	high    map[schemas.Context]int32
	fresh   map[freshID]int32
}

type freshID struct {
	space    schemas.Context
	identity Hash
}

func newBatch(s *State) *batch {
	return &batch{state: s, touched: map[key]struct{}{}, high: map[schemas.Context]int32{}, fresh: map[freshID]int32{}}
}

func (b *batch) add(events ...Event) {
	for i := range events {
		b.size += len(events[i].Body)
	}
	b.events = append(b.events, events...)
}

func (b *batch) text(t Text) {
	b.texts = append(b.texts, t)
	b.size += len(t.Text)
}

func (b *batch) touch(k key) { b.touched[k] = struct{}{} }

// moved tells whether anything that d has read is not so any more.
func (b *batch) moved(d *decision) bool {
	for _, k := range d.reads {
		if _, ok := b.touched[k]; ok || b.state.changed(k) > d.at {
			return true
		}
	}
	return false
}

// id gives the id of an identity: the one it has in the context, the one that
// this batch has given it, or the next.
//
// Errors: CodeInternal when a context has given out every id there is.
func (b *batch) id(c schemas.Context, want *identity) (int32, error) {
	if e := b.state.known(c, want); e != nil {
		return e.id, nil
	}
	name := freshID{c, want.hashOf()}
	if id, ok := b.fresh[name]; ok {
		return id, nil
	}
	high, ok := b.high[c]
	if !ok {
		if n := b.state.contexts[c]; n != nil {
			high = n.high
		}
	}
	if high == math.MaxInt32 {
		return 0, &Error{Code: CodeInternal, Text: "give an id", Err: fmt.Errorf("context %q has given out every id up to %d", c, high)}
	}
	high++
	b.high[c], b.fresh[name] = high, high
	return high, nil
}

// proposal is a decision on its way to the committer.
type proposal struct {
	*decision
	sync bool // only read the journal to its end
	try  bool // only find out whether the journal takes writes
	done chan error
}

// write decides and commits, and decides again when what was read has moved. A
// nil decision means that there is nothing to write.
func (r *Registry) write(ctx context.Context, decide func() (*decision, error)) error {
	if err := r.catchUp(ctx); err != nil {
		return err
	}
	for range optimistic {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := decide()
		if err != nil || d == nil {
			return err
		}
		d.of(ctx)
		if err := r.submit(ctx, &proposal{decision: d}); !errors.Is(err, errMoved) {
			return err
		}
	}
	// Others are always faster: decide where nobody can be.
	inside := &decision{alone: true}
	inside.of(ctx)
	inside.build = func(b *batch) error {
		d, err := decide()
		if err != nil || d == nil {
			return err
		}
		return d.build(b)
	}
	for {
		if err := r.submit(ctx, &proposal{decision: inside}); !errors.Is(err, errMoved) {
			return err
		}
	}
}

// submit hands a proposal to the committer and waits for its end. When ctx ends
// first the write may still happen.
func (r *Registry) submit(ctx context.Context, p *proposal) error {
	p.done = make(chan error, 1)
	r.gate.RLock()
	if r.closed {
		r.gate.RUnlock()
		return &Error{Code: CodeStore, Text: "the registry is closing: send the request again later"}
	}
	r.proposals <- p
	r.gate.RUnlock()
	select {
	case err := <-p.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// catchUp reads the journal to its end when others write to it too: what a
// client has registered elsewhere must be found here.
func (r *Registry) catchUp(ctx context.Context) error {
	if !r.shared {
		return nil
	}
	return r.submit(ctx, &proposal{sync: true})
}

// commit is the one goroutine that writes. It gathers what waits into one
// append, so that many clients share one wait for the disk.
func (r *Registry) commit() {
	defer close(r.committed)
	for first := range r.proposals {
		waiting := []*proposal{first}
	gather:
		for len(waiting) < mostInBatch {
			select {
			case p, ok := <-r.proposals:
				if !ok {
					break gather
				}
				waiting = append(waiting, p)
			default:
				break gather
			}
		}
		for len(waiting) > 0 {
			waiting = r.append(waiting)
		}
	}
}

// append writes the first proposals of the list in one append and answers them;
// it returns the others.
func (r *Registry) append(list []*proposal) (rest []*proposal) {
	b := newBatch(r.state)
	var in []*proposal
	for len(list) > 0 {
		p := list[0]
		if p.sync || p.try {
			if len(in) > 0 {
				break
			}
			if p.sync {
				p.done <- r.read()
			} else {
				p.done <- r.tryWriting()
			}
			list = list[1:]
			continue
		}
		if len(in) > 0 && (p.alone || in[0].alone || b.size > bytesInBatch) {
			break
		}
		list = list[1:]
		if err := r.build(b, p); err != nil {
			p.done <- err
			continue
		}
		in = append(in, p)
	}
	if len(in) == 0 {
		return list
	}
	err := r.persist(b)
	for _, p := range in {
		p.done <- err
	}
	r.snapshotIfDue()
	return list
}

// build adds a proposal to the batch, or nothing.
func (r *Registry) build(b *batch, p *proposal) (err error) {
	if b.moved(p.decision) {
		return errMoved
	}
	events, texts, erase, size := len(b.events), len(b.texts), len(b.erase), b.size
	defer func() {
		if p := recover(); p != nil {
			err = &Error{Code: CodeInternal, Text: "write to the journal", Err: fmt.Errorf("panic: %v", p)}
		}
		if err != nil {
			b.events, b.texts, b.erase, b.size = b.events[:events], b.texts[:texts], b.erase[:erase], size
		}
	}()
	if err := p.build(b); err != nil {
		return err
	}
	now := r.now().UTC().Truncate(time.Millisecond)
	for i := events; i < len(b.events); i++ {
		e := &b.events[i]
		e.Time, e.Actor, e.Request = now, p.actor, p.request
		if e.Actor == "" {
			e.Actor = anonymous
		}
	}
	return nil
}

// anonymous is the actor of every event until there are users.
const anonymous = "anonymous"

// persist makes a batch durable and applies it.
func (r *Registry) persist(b *batch) error {
	if len(b.events) == 0 {
		return nil
	}
	if err := r.Err(); err != nil {
		return err
	}
	after := r.state.revision
	began := time.Now() // not r.now: it is a duration, whatever the time
	end, err := r.journal.Append(r.life, after, Batch{Events: b.events, Texts: b.texts, Erase: b.erase})
	r.watch.appended(time.Since(began), len(b.events), err != nil)
	if err == nil || errors.Is(err, ErrMoved) {
		r.proves()
	} else {
		r.refused.Store(true)
	}
	switch {
	case errors.Is(err, ErrMoved):
		if err := r.read(); err != nil {
			return err
		}
		return errMoved
	case err != nil:
		return storeError("write to the journal", err)
	case end != after+Revision(len(b.events)):
		return r.fail(fmt.Errorf("append %d events after %d: the journal says it ends at %d", len(b.events), after, end))
	}
	texts := make(map[Hash]string, len(b.texts))
	for _, t := range b.texts {
		texts[t.Hash] = t.Text
	}
	changes := make([]change, len(b.events))
	for i, e := range b.events {
		e.Revision = after + Revision(i) + 1
		if changes[i], err = decode(Record{Event: e, Text: texts[e.Text]}); err != nil {
			return r.fail(err)
		}
	}
	if err := r.apply(changes...); err != nil {
		return r.fail(err)
	}
	return nil
}

// apply folds events into the state that everybody reads.
func (r *Registry) apply(changes ...change) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range changes {
		if err := r.state.apply(c); err != nil {
			return err
		}
	}
	r.revision.Store(uint64(r.state.revision))
	if r.grown != nil {
		close(r.grown)
		r.grown = nil
	}
	return nil
}

// read applies what the journal has beyond the state.
func (r *Registry) read() error {
	if err := r.Err(); err != nil {
		return err
	}
	var fold error
	err := r.journal.Read(r.life, r.state.revision, func(record Record) error {
		var c change
		if c, fold = decode(record); fold == nil {
			fold = r.apply(c)
		}
		return fold
	})
	if fold != nil {
		return r.fail(fold)
	}
	if err != nil {
		return storeError("read the journal", err)
	}
	return nil
}

// fail stops all writing: the state does not follow its journal any more, and
// only reading it anew can mend that. Only the committer calls it.
func (r *Registry) fail(err error) error {
	r.broken.Store(&Error{Code: CodeStore, Text: "the registry has stopped writing: restart it", Err: err})
	r.log.Error("the state does not follow the journal", "error", err)
	return r.Err()
}

// Err says why the registry has stopped writing for good; nil when it has not.
// It still answers what it knows.
func (r *Registry) Err() error {
	if e := r.broken.Load(); e != nil {
		return e
	}
	return nil
}

func storeError(what string, err error) error {
	return &Error{Code: CodeStore, Text: what, Err: err}
}
