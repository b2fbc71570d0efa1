package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// starting is a consumer that has as much to do in its start as there is.
func starting(ctx context.Context, open kafka.Open) error {
	v := newShelf().Validator()
	defer v.Close()
	c, err := kafka.NewConsumer(open, v, &validate.Expect{Subject: orders}, func(context.Context, *kafka.Delivery) error { return nil }, kafka.ConsumerOptions{
		Group: "work", Topics: []string{"orders"}, DeadLetter: "work.DLT", RetryTopics: true, Retry: retry.Policy{Base: 4 * time.Second, Cap: 4 * time.Second, Attempts: 2}, Logger: slog.New(slog.DiscardHandler),
	})
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
		b.step, b.missing = step, []string{"work.retry.4000"}
		err := starting(ctx, b.open)
		if b.opened != 0 {
			err = errors.Join(err, fmt.Errorf("%d clients are still open", b.opened))
		}
		return err
	})
}

// The broker takes the connection and does not say a word.
func TestStoppedInSilence(t *testing.T) {
	t.Parallel()
	brokertest.StoppedInSilence(t, func(ctx context.Context, address string) error {
		return starting(ctx, kafka.With(kgo.SeedBrokers(address)))
	})
}
