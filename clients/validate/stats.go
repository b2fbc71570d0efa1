package validate

import (
	"sync/atomic"
	"time"
)

// Stats are a validator's own counters since it was made.
type Stats struct {
	// Requests to the registry, by how they ended.
	Answered, Unknown, Failed uint64
	// CacheBytes and Schemas are what the cache holds.
	CacheBytes, Schemas int
	// Outage is how long the registry has not answered; 0 when it does.
	Outage time.Duration
}

type stats struct {
	answered, unknown, failed atomic.Uint64
}

// Stats gives the counters as they stand.
func (v *Validator) Stats() Stats {
	s := Stats{Answered: v.stats.answered.Load(), Unknown: v.stats.unknown.Load(), Failed: v.stats.failed.Load()}
	s.CacheBytes, s.Schemas = v.cache.size()
	if since := v.circuit.outage(); !since.IsZero() {
		s.Outage = v.options.Now().Sub(since)
	}
	return s
}
