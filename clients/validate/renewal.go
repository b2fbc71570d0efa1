package validate

import "sync"

// renewals are the names that are asked again in the background: each once at a
// time, and none any more when the validator is closed.
type renewals struct {
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
	names   map[name]bool
}

// begin tells whether the caller is to ask; then it owes an end.
func (r *renewals) begin(n name) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.names[n] {
		return false
	}
	if r.names == nil {
		r.names = map[name]bool{}
	}
	r.names[n] = true
	r.running.Add(1)
	return true
}

func (r *renewals) end(n name) {
	r.mu.Lock()
	delete(r.names, n)
	r.mu.Unlock()
	r.running.Done()
}

// close lets no other begin and waits for those that have.
func (r *renewals) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.running.Wait()
}
