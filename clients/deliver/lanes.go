package deliver

import "sync"

// Lanes work on messages at the same time, but on those of one key one after
// the other, in the order in which they came. A key whose message waits for its
// next attempt waits alone.
type Lanes struct {
	desk *Desk
	s    *Session
	mu   sync.Mutex
	// waiting has an entry for every key that is being worked on.
	waiting map[string][]Item
}

// Lanes makes the lanes of a session.
func (d *Desk) Lanes(s *Session) *Lanes {
	return &Lanes{desk: d, s: s, waiting: map[string][]Item{}}
}

// Add takes a message and does not wait for it. How many are taken is for the
// caller to bound.
func (l *Lanes) Add(key string, it Item) {
	if l.s.Stopping() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if list, busy := l.waiting[key]; busy {
		l.waiting[key] = append(list, it)
		return
	}
	l.waiting[key] = nil
	l.s.Go(func() { l.run(key, it) })
}

// run works off a key. One that was given back stays closed: what is behind it
// must not overtake it.
func (l *Lanes) run(key string, it Item) {
	for it != nil && !l.s.Stopping() {
		if l.desk.Work(l.s, it) == GivenBack {
			return
		}
		it = l.next(key)
	}
}

func (l *Lanes) next(key string) Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.waiting[key]
	if len(list) == 0 {
		delete(l.waiting, key)
		return nil
	}
	it := list[0]
	list[0] = nil
	l.waiting[key] = list[1:]
	return it
}
