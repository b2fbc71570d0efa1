package schemas

import "sync"

// Shared keeps what the parses of one tree have in common, such as a file that
// many import, so that it is made once. It holds everything until it is
// dropped: give one to a run, not to a process. It is safe for use by many
// goroutines; the zero value is ready.
type Shared struct {
	parts sync.Map // key → *sync.OnceValue's function
}

// Once answers what make answered the first time for key, whose type belongs to
// the caller's package. Calls for one key wait for each other; make must not ask
// for its own key.
func (s *Shared) Once(key any, make func() any) any {
	got, ok := s.parts.Load(key)
	if !ok {
		got, _ = s.parts.LoadOrStore(key, sync.OnceValue(make))
	}
	return got.(func() any)()
}
