package deliver

import "strconv"

// Keyed is an item of an order: those of one key are worked on one after the
// other. One with no key is in no order.
type Keyed interface {
	Item
	Key() string
}

// Feed works on what comes in, as a part of the session, until in is closed or
// the session halts. With byKey messages wait for none but those of their key,
// and the desk's Workers bound how many are handled at once; otherwise so many
// workers take one after the other. How many may be on their way is for the
// broker to bound.
func Feed[T any, I Keyed](d *Desk, s *Session, in <-chan T, item func(T) I, workers int, byKey bool) {
	run := func(work func(I)) {
		s.Go(func() {
			for !s.Stopping() {
				select {
				case one, ok := <-in:
					if !ok {
						return
					}
					work(item(one))
				case <-s.Stopped():
				}
			}
		})
	}
	if !byKey {
		for range max(workers, 1) {
			run(func(it I) { d.Work(s, it) })
		}
		return
	}
	lanes, alone := d.Lanes(s), 0
	run(func(it I) {
		key := "k" + it.Key()
		if key == "k" {
			alone++
			key = strconv.Itoa(alone)
		}
		lanes.Add(key, it)
	})
}
