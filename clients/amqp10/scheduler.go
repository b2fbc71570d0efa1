package amqp10

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/go-amqp"
)

// errNoScheduler is why a consumer with ScheduledRetries does not start.
var errNoScheduler = errors.New("the broker hands out at once what is to wait: its scheduler is off, and retries would be a storm: set schedulerSupport=\"true\" on the broker, or leave ScheduledRetries out")

// probeDelay is what the probe is to wait. The broker's scheduler counts in
// seconds, more or less, and never comes early by half.
const probeDelay = time.Second

// delayed asks the broker to keep a message for a while.
func delayed(m *amqp.Message, wait time.Duration) {
	if m.Annotations == nil {
		m.Annotations = amqp.Annotations{}
	}
	m.Annotations[deliveryDelay] = wait.Milliseconds()
}

// probeScheduler has the broker delay a message to a queue of this connection
// alone. One that does not know of delays ignores the annotation without a word.
//
// Source: client specification 4.3.
func probeScheduler(ctx context.Context, conn Conn) error {
	fail := func(err error) error { return fmt.Errorf("see whether the broker can delay: %w", err) }
	r, err := conn.NewReceiver(ctx, "", "", 1)
	if err != nil {
		return fail(err)
	}
	s, err := conn.NewSender(ctx, r.Address())
	if err != nil {
		return fail(err)
	}
	probe := amqp.NewMessage([]byte{})
	delayed(probe, probeDelay)
	began := time.Now()
	state, err := s.Send(ctx, probe)
	if err != nil {
		return fail(err)
	}
	if _, ok := state.(*amqp.StateAccepted); !ok {
		return fail(fmt.Errorf("the probe's outcome is %T", state))
	}
	m, err := r.Receive(ctx, nil)
	if err != nil {
		return fail(fmt.Errorf("what was to wait for %v did not come: %w", probeDelay, err))
	}
	if err := r.AcceptMessage(ctx, m); err != nil {
		return fail(err)
	}
	if time.Since(began) < probeDelay/2 {
		return errNoScheduler
	}
	return nil
}
