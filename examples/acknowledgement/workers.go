package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// whyLost is the reason that the adapters ask for.
const whyLost = "a measurement: its messages mean nothing"

// expect is what each consumer expects.
var expect = &validate.Expect{Subject: validate.Fixed(subject), Reads: validate.MustReads("1")}

// publish publishes messages from many goroutines at once, so that filling a
// queue takes no longer than it must.
func publish(ctx context.Context, n int, one func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	next := make(chan int)
	for range 64 {
		wg.Go(func() {
			for i := range next {
				if err := one(ctx, i); err != nil {
					cancel(fmt.Errorf("publish: %w", err))
				}
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// work hands what comes to so many workers until it ends: what a consumer is that
// leaves acknowledging to the broker. It validates as ours do.
func work[T any](ctx context.Context, v *validate.Validator, workers int, in <-chan T, message func(T) validate.Message, handle func()) error {
	var wg sync.WaitGroup
	refused := make(chan error, workers)
	for range workers {
		wg.Go(func() {
			for one := range in {
				if ctx.Err() != nil {
					continue // it ends: what is left is let go
				}
				m := message(one)
				if o := v.BeforeConsume(ctx, &m, expect); o.Verdict != validate.Accept {
					select {
					case refused <- fmt.Errorf("a message was not accepted: %s: %w", o.Reason, o.Err):
					default:
					}
					continue
				}
				handle()
			}
		})
	}
	wg.Wait()
	select {
	case err := <-refused:
		if ctx.Err() == nil {
			return err
		}
	default:
	}
	return nil
}

// quiet is how long a broker may be silent before a queue counts as read: longer
// where nothing can have been lost and all is still to come.
func quiet(s *setting) time.Duration {
	if s.ack == "manual" {
		return 15 * time.Second
	}
	return 2 * time.Second
}
