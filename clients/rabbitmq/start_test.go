package rabbitmq_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
)

func nothing(context.Context, *rabbitmq.Delivery) error { return nil }

// starting is a consumer that has as much to do in its start as there is.
func starting(ctx context.Context, open rabbitmq.Open, o rabbitmq.ConsumerOptions) error {
	v := brokertest.NewShelf(orderV1).Validator()
	defer v.Close()
	o.Queue, o.Logger = "work", slog.New(slog.DiscardHandler)
	if o.DeadLetter == (rabbitmq.Destination{}) {
		o.DeadLetter = rabbitmq.Destination{Exchange: "dead", Key: "work"}
	}
	c, err := rabbitmq.NewConsumer(open, v, any1(), nothing, o)
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// A stop is no failure, whenever it comes.
func TestStoppedStart(t *testing.T) {
	t.Parallel()
	brokertest.StoppedStart(t, func(ctx context.Context, step func() error) error {
		b := newBroker()
		b.step = step
		return errors.Join(starting(ctx, b.open, rabbitmq.ConsumerOptions{RetryQueues: true}), b.left())
	})
}

// The broker takes the connection and does not say a word.
func TestStoppedInSilence(t *testing.T) {
	t.Parallel()
	brokertest.StoppedInSilence(t, func(ctx context.Context, address string) error {
		connector := rabbitmq.Connect("amqp://"+address+"/", amqp.Config{})
		return errors.Join(starting(ctx, connector.Open, rabbitmq.ConsumerOptions{}), connector.Close())
	})
}

// To declare a dead letter's destination is advice where there is none. Where the
// connection was lost it is not.
func TestAdviceOfTheStart(t *testing.T) {
	t.Parallel()
	const advice = "declare it, or set NoDeadLetterCheck"
	for name, dead := range map[string]rabbitmq.Destination{"queue": {Key: "missing"}, "exchange": {Exchange: "missing"}} {
		err := starting(t.Context(), newBroker().open, rabbitmq.ConsumerOptions{DeadLetter: dead})
		if err == nil || !strings.HasSuffix(err.Error(), advice) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, trouble := range map[string]error{
		"closed": amqp.ErrClosed,
		"forced": &amqp.Error{Code: amqp.ConnectionForced, Reason: "CONNECTION_FORCED", Server: true},
		"away":   fmt.Errorf("connect to the broker: %w", errors.New("connection refused")),
		"denied": &amqp.Error{Code: amqp.AccessRefused, Reason: "ACCESS_REFUSED", Server: true, Recover: true},
	} {
		b, calls := newBroker(), 0
		b.step = func() error {
			if calls++; calls%4 == 0 { // a channel and the queue, a channel and the dead letter's
				return trouble
			}
			return nil
		}
		err := starting(t.Context(), b.open, rabbitmq.ConsumerOptions{})
		if !errors.Is(err, trouble) || !strings.Contains(err.Error(), "look for the dead letter's destination") || strings.Contains(err.Error(), "NoDeadLetterCheck") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
