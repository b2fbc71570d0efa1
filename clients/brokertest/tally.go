package brokertest

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// Tally counts what was done, by id and in order. Many goroutines may add.
type Tally struct {
	mu    sync.Mutex
	order []string
	times map[string]int
}

// Add notes an id.
func (c *Tally) Add(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times == nil {
		c.times = map[string]int{}
	}
	c.order = append(c.order, id)
	c.times[id]++
}

// IDs is how many different ids were noted.
func (c *Tally) IDs() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.times)
}

// All is how many were noted, repeated ones as often as they came.
func (c *Tally) All() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.order)
}

// Order is what was noted, in order.
func (c *Tally) Order() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.order)
}

// Of is how often an id was noted.
func (c *Tally) Of(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.times[id]
}

// Distinct is how many different texts a list has.
func Distinct(list []string) int {
	seen := map[string]bool{}
	for _, s := range list {
		seen[s] = true
	}
	return len(seen)
}

// OrderPerKey checks that entries KEY/NUMBER rise for each key, but for those that
// came before.
func OrderPerKey(t *testing.T, entries []string) {
	t.Helper()
	last, seen := map[string]string{}, map[string]bool{}
	for _, one := range entries {
		if seen[one] {
			continue
		}
		seen[one] = true
		key, number, _ := strings.Cut(one, "/")
		if number < last[key] {
			t.Errorf("%s after %s of the same key", number, last[key])
		}
		last[key] = number
	}
}

// mostOften is how often the most frequent text of a list stands in it.
func mostOften(list []string) int {
	times, most := map[string]int{}, 0
	for _, s := range list {
		times[s]++
		most = max(most, times[s])
	}
	return most
}
