package activemq_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// starting is a consumer that has as much to do in its start as there is.
func starting(ctx context.Context, open activemq.Open) error {
	v := brokertest.NewShelf(orderV1).Validator()
	defer v.Close()
	c, err := activemq.NewConsumer(open, v, &validate.Expect{Subject: orders}, func(context.Context, *activemq.Delivery) error { return nil },
		activemq.ConsumerOptions{Queue: "work", ScheduledRetries: true, Logger: slog.New(slog.DiscardHandler)})
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
		return errors.Join(starting(ctx, b.open), b.left())
	})
}

// The broker takes the connection and does not say a word.
func TestStoppedInSilence(t *testing.T) {
	t.Parallel()
	brokertest.StoppedInSilence(t, func(ctx context.Context, address string) error {
		return starting(ctx, activemq.Connect(address, activemq.Options{}))
	})
}
