package registry

import (
	"sync/atomic"
	"time"
)

// Stats are figures of a registry at one moment, for whoever watches it.
type Stats struct {
	Revision Revision
	Subjects int // with versions, soft-deleted ones too
	Versions int // soft-deleted and hidden ones too
	Texts    int

	Appends       Latency // of the journal, those it refused too
	AppendsFailed uint64
	Events        uint64 // appended by this process

	FormBytes, FormsHit, FormsMissed uint64 // of the cache of parsed schemas
}

// Latency is a histogram: Counts has one entry for each of AppendBuckets and a
// last one for what took longer. It is not cumulative.
type Latency struct {
	Counts []uint64
	Sum    time.Duration
}

// AppendBuckets are the upper bounds of Stats.Appends, in seconds.
var AppendBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}

// watch counts without locks.
type watch struct {
	counts         [15]atomic.Uint64 // one more than AppendBuckets
	nanoseconds    atomic.Int64
	failed, events atomic.Uint64
	hit, missed    atomic.Uint64
}

func (w *watch) appended(took time.Duration, events int, failed bool) {
	i := 0
	for i < len(AppendBuckets) && took.Seconds() > AppendBuckets[i] {
		i++
	}
	w.counts[i].Add(1)
	w.nanoseconds.Add(int64(took))
	if failed {
		w.failed.Add(1)
		return
	}
	w.events.Add(uint64(events))
}

// Stats answers the figures of now.
func (r *Registry) Stats() Stats {
	w := &r.watch
	s := Stats{
		AppendsFailed: w.failed.Load(), Events: w.events.Load(), FormsHit: w.hit.Load(), FormsMissed: w.missed.Load(),
		Appends: Latency{Counts: make([]uint64, len(w.counts)), Sum: time.Duration(w.nanoseconds.Load())},
	}
	for i := range w.counts {
		s.Appends.Counts[i] = w.counts[i].Load()
	}
	r.forms.mu.Lock()
	s.FormBytes = uint64(r.forms.size)
	r.forms.mu.Unlock()
	r.mu.RLock()
	defer r.mu.RUnlock()
	s.Revision, s.Subjects, s.Versions, s.Texts = r.state.revision, len(r.state.subjects()), r.state.versions, len(r.state.texts)
	return s
}
