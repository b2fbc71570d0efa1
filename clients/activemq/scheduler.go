package activemq

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/deliver"
)

// errNoScheduler is why a consumer with ScheduledRetries does not start.
var errNoScheduler = errors.New("the broker hands out at once what is to wait: its scheduler is off, and retries would be a storm: set schedulerSupport=\"true\" on the broker, or leave ScheduledRetries out")

// probeDelay is what the probe is to wait. The broker's scheduler counts in
// seconds, more or less, and never comes early by half.
const probeDelay = time.Second

// probeScheduler has the broker delay a message to a queue of this connection
// alone. One that does not know of delays ignores the header without a word.
//
// Source: client specification 4.3.
func probeScheduler(ctx context.Context, l *link) error {
	const queue = "/temp-queue/cartorio-probe"
	if err := l.send(frame.New(frame.SUBSCRIBE, frame.Id, "probe", frame.Destination, queue, frame.Ack, "auto")); err != nil {
		return fmt.Errorf("see whether the broker can delay: %w", err)
	}
	began := time.Now()
	probe := frame.New(frame.SEND, frame.Destination, queue, frame.ContentLength, "0", scheduledDelay, strconv.FormatInt(probeDelay.Milliseconds(), 10))
	if _, err := l.ask(ctx, probe); err != nil {
		return fmt.Errorf("see whether the broker can delay: %w", err)
	}
	t := time.NewTimer(deliver.SettleTime)
	defer t.Stop()
	select {
	case <-l.messages:
		if time.Since(began) < probeDelay/2 {
			return errNoScheduler
		}
		return nil
	case <-l.lost:
		return fmt.Errorf("see whether the broker can delay: %w", l.why())
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return fmt.Errorf("see whether the broker can delay: what was to wait for %v did not come in %v", probeDelay, deliver.SettleTime)
	}
}
