package kafka

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// askAfter is how long a publish waits before its client is asked whether it
// reaches the broker at all.
const askAfter = time.Second

// reach finds out why a client does not reach its broker, as for a certificate
// that it does not trust: franz-go tries again and tells whoever publishes
// nothing.
type reach struct {
	isAsking atomic.Bool
	why      atomic.Pointer[error]
}

// watch asks a client that takes its time; end ends that and adds what was found
// out to an error that says no more than that time ran out.
func (r *reach) watch(ctx context.Context, p Publisher) (end func(err error) error) {
	client, ok := p.(interface {
		Ping(ctx context.Context) error
	})
	if !ok {
		return func(err error) error { return err }
	}
	t := time.AfterFunc(askAfter, func() {
		if !r.isAsking.CompareAndSwap(false, true) {
			return
		}
		defer r.isAsking.Store(false)
		if err := client.Ping(ctx); err != nil && ctx.Err() == nil {
			r.why.Store(&err)
		}
	})
	return func(err error) error {
		t.Stop()
		if err == nil {
			r.why.Store(nil)
			return nil
		}
		if why := r.why.Load(); why != nil && ctx.Err() != nil {
			return fmt.Errorf("%w: %w", err, *why)
		}
		return err
	}
}
