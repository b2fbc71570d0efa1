package validate

import (
	"sync"
	"time"
)

const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

// circuit keeps an outage from becoming a flood: after a failure the registry is
// not asked for a second, doubling to thirty; then one question probes it.
type circuit struct {
	mu    sync.Mutex
	until time.Time
	pause time.Duration
	last  error
	since time.Time // when the outage began
}

// admit tells whether the registry may be asked now; otherwise why not.
func (c *circuit) admit(now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		return nil
	}
	if now.Before(c.until) {
		return c.last
	}
	c.until = now.Add(c.pause) // the one that asks now is the probe
	return nil
}

func (c *circuit) fail(err error, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		c.since = now
	}
	c.last = err
	c.pause = min(max(2*c.pause, firstPause), longestPause)
	c.until = now.Add(c.pause)
}

func (c *circuit) heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.pause = nil, 0
}

// outage is when the registry stopped answering; zero while it answers.
func (c *circuit) outage() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		return time.Time{}
	}
	return c.since
}

// isOpen tells whether the registry is left alone now, without taking the probe.
func (c *circuit) isOpen(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last != nil && now.Before(c.until)
}
