package amqp10_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/amqp10"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// starting is a consumer as it starts.
func starting(ctx context.Context, open amqp10.Open, o amqp10.ConsumerOptions) error {
	v := brokertest.NewShelf(orderV1).Validator()
	defer v.Close()
	o.Queue, o.Logger = "work", slog.New(slog.DiscardHandler)
	c, err := amqp10.NewConsumer(open, v, &validate.Expect{Subject: orders}, func(context.Context, *amqp10.Delivery) error { return nil }, o)
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// A stop is no failure, whenever it comes.
func TestStoppedStart(t *testing.T) {
	t.Parallel()
	brokertest.StoppedStart(t, func(ctx context.Context, step func() error) error {
		b := &fake{step: step}
		return errors.Join(starting(ctx, b.open, amqp10.ConsumerOptions{ScheduledRetries: true}), b.left())
	})
}

// The broker takes the connection and does not say a word.
func TestStoppedInSilence(t *testing.T) {
	t.Parallel()
	brokertest.StoppedInSilence(t, func(ctx context.Context, address string) error {
		return starting(ctx, amqp10.Connect("amqp://"+address, amqp.ConnOptions{}), amqp10.ConsumerOptions{})
	})
}

// To create a dead letter's address is advice where there is none. Where the
// connection was lost it is not.
func TestAdviceOfTheStart(t *testing.T) {
	t.Parallel()
	for address, isMissing := range map[string]bool{"nowhere": true, "broken": false} {
		err := starting(t.Context(), (&fake{}).open, amqp10.ConsumerOptions{DeadLetter: address})
		if err == nil || !strings.Contains(err.Error(), "look for the dead letter's address") || strings.HasSuffix(err.Error(), "create it, or set NoDeadLetterCheck") != isMissing {
			t.Errorf("%s: %v", address, err)
		}
	}
}
