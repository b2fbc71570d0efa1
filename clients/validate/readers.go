package validate

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Reporter takes what consumers read, so that a registry can say whom a change
// would break. *sr.Client is one.
type Reporter interface {
	// ReportReadership takes one consumer's batch.
	//
	// Errors: it was not taken, and is told again, with what came since.
	ReportReadership(ctx context.Context, r schemas.Readership) error
}

const (
	// mostReaders bounds how many consumer, subject and version triples are
	// counted apart; what is beyond is not reported.
	mostReaders = 10_000
	reportTime  = 5 * time.Second
)

// tally counts one consumer's messages of one version. The hot path adds to it
// and takes no lock.
type tally struct {
	accepted, rejected atomic.Uint64
	seen               atomic.Int64 // Unix nanoseconds; 0: none yet
}

func (t *tally) count(accepted bool, now time.Time) {
	if accepted {
		t.accepted.Add(1)
	} else {
		t.rejected.Add(1)
	}
	t.seen.Store(now.UnixNano())
}

// readerKey is a consumer's declaration for one subject.
type readerKey struct {
	consumer string
	subject  schemas.Subject
	accepts  string
	pinned   schemas.Version
}

type tallyKey struct {
	readerKey
	version schemas.Version // 0: declared only
}

// readers gathers what consumers read, and reports it now and then.
type readers struct {
	v    *Validator
	mu   sync.Mutex
	all  map[tallyKey]*tally
	done chan struct{}
}

func (r *readers) start(v *Validator) {
	if v.options.Readership == nil {
		return
	}
	r.v, r.all, r.done = v, map[tallyKey]*tally{}, make(chan struct{})
	go r.run(v.background)
}

// stop waits for the last report.
func (r *readers) stop() {
	if r.done != nil {
		<-r.done
	}
}

func (r *readers) run(ctx context.Context) {
	defer close(r.done)
	tick := time.NewTicker(r.v.options.ReportEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.report(ctx)
		case <-ctx.Done():
			r.report(context.WithoutCancel(ctx))
			return
		}
	}
}

// of gives the tally of a consumer's messages of one version; nil when nothing is
// reported. Version 0 declares.
func (r *readers) of(e *Expect, s schemas.Subject, v schemas.Version) *tally {
	if r.all == nil || e.Consumer == "" || s.Name == "" {
		return nil
	}
	key := tallyKey{readerKey{e.Consumer, s, "", e.Reader}, v}
	if !e.Reads.IsAll() {
		key.accepts = e.Reads.String()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.all[key]
	if t == nil && len(r.all) < mostReaders {
		t = &tally{}
		r.all[key] = t
	}
	return t
}

// counted is a tally as it was taken for a report.
type counted struct {
	tallyKey
	tally              *tally
	accepted, rejected uint64
	seen               int64
}

// report tells each consumer's batch. What is not taken is counted back.
func (r *readers) report(ctx context.Context) {
	for batch := range slices.Chunk(r.take(), 500) {
		for len(batch) > 0 {
			n := 1
			for n < len(batch) && batch[n].consumer == batch[0].consumer {
				n++
			}
			r.tell(ctx, batch[:n])
			batch = batch[n:]
		}
	}
}

// take empties the tallies, in the order in which they are told.
func (r *readers) take() []counted {
	r.mu.Lock()
	list := make([]counted, 0, len(r.all))
	for key, t := range r.all {
		list = append(list, counted{tallyKey: key, tally: t, accepted: t.accepted.Swap(0), rejected: t.rejected.Swap(0), seen: t.seen.Load()})
	}
	r.mu.Unlock()
	slices.SortFunc(list, func(a, b counted) int {
		return cmp.Or(cmp.Compare(a.consumer, b.consumer), cmp.Compare(a.subject.String(), b.subject.String()),
			cmp.Compare(a.accepts, b.accepts), cmp.Compare(a.pinned, b.pinned), cmp.Compare(a.version, b.version))
	})
	return list
}

// tell reports tallies of one consumer.
func (r *readers) tell(ctx context.Context, list []counted) {
	out := schemas.Readership{Consumer: list[0].consumer, Environment: r.v.options.Environment}
	for i, c := range list {
		if i == 0 || c.readerKey != list[i-1].readerKey {
			out.Reads = append(out.Reads, schemas.SubjectRead{Subject: c.subject, Accepts: c.accepts, Pinned: c.pinned})
		}
		read := &out.Reads[len(out.Reads)-1]
		if c.accepted+c.rejected > 0 && c.version != 0 {
			read.Versions = append(read.Versions, c.version)
		}
		read.Accepted += c.accepted
		read.Rejected += c.rejected
		if at := time.Unix(0, c.seen).UTC(); c.seen != 0 && at.After(read.Seen) {
			read.Seen = at
		}
	}
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	if err := r.v.options.Readership.ReportReadership(ctx, out); err != nil {
		for _, c := range list {
			c.tally.accepted.Add(c.accepted)
			c.tally.rejected.Add(c.rejected)
		}
	}
}
