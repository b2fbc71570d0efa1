package dedupe

import (
	"context"
	"time"
)

// Observer is told what became of the messages that Once was given, for logs,
// metrics and traces. It is called on the message's own goroutine, after the
// transaction, and must not block.
//
// Ready ones: the packages prometheus and otel below this one.
type Observer interface {
	Worked(ctx context.Context, w *Worked)
}

// Result is what became of a message.
type Result uint8

const (
	// Done messages were worked on, for the first time.
	Done Result = iota + 1
	// Duplicate messages had been worked on before.
	Duplicate
	// Failed messages left nothing behind, and come again.
	Failed
)

// String is the result's word.
func (r Result) String() string {
	switch r {
	case Done:
		return "done"
	case Duplicate:
		return "duplicate"
	case Failed:
		return "failed"
	}
	return "undecided"
}

// Worked is one message. Consumers are few; ids are not for labels.
type Worked struct {
	Message Message
	Result  Result
	Began   time.Time
	// Took is how long the transaction took, work and waiting for others included.
	Took time.Duration
	Err  error
}

// Observed is a Store whose messages an observer is told of by [Once].
func Observed(s Store, o Observer) Store { return observed{s, o} }

type observed struct {
	Store
	observer Observer
}

// tell tells a store's observer, when it has one.
func tell(ctx context.Context, s Store, m Message, r Result, began time.Time, err error) {
	if o, ok := s.(observed); ok && o.observer != nil {
		o.observer.Worked(ctx, &Worked{Message: m, Result: r, Began: began, Took: time.Since(began), Err: err})
	}
}
