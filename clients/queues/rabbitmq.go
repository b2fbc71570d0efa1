package queues

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter/rabbitmq"
)

// lossArgument is the argument of our consumers at the broker; rabbitmq.LossArgument.
const lossArgument = "cartorio-loss-acceptable"

// overAMQP asks what the protocol tells: what waits, and how many consume.
func overAMQP(ctx context.Context, at brokers.Address) (Numbers, error) {
	conn, err := rabbitmq.Dial(ctx, at, "cartorio doctor")
	if err != nil {
		return Numbers{}, err
	}
	defer conn.Close() //nolint:errcheck // nothing was changed
	defer context.AfterFunc(ctx, func() { _ = conn.CloseDeadline(time.Now()) })()
	ch, err := conn.Channel()
	if err != nil {
		return Numbers{}, fmt.Errorf("open a channel: %w", err)
	}
	q, err := ch.QueueDeclarePassive(at.Name, true, false, false, false, nil)
	if err != nil {
		return Numbers{}, fmt.Errorf("look for the queue: %w", rabbitmq.Explain(err))
	}
	return Numbers{Ready: known(int64(q.Messages)), Consumers: known(int64(q.Consumers))}, nil
}

// refresh takes from the protocol what it tells, since the management's numbers
// are some seconds old.
func (n *Numbers) refresh(ctx context.Context, at brokers.Address) error {
	now, err := overAMQP(ctx, at)
	if err != nil {
		return err
	}
	n.Ready, n.Consumers = now.Ready, now.Consumers
	return nil
}

// overManagement asks the management plugin.
//
// Source: RabbitMQ's HTTP API, GET /api/queues/{vhost}/{name}.
func overManagement(ctx context.Context, at brokers.Address, o Options) (Numbers, error) {
	var b struct {
		Type           string `json:"type"`
		Durable        bool   `json:"durable"`
		Ready          *int64 `json:"messages_ready"`
		Unacknowledged *int64 `json:"messages_unacknowledged"`
		Consumers      *int64 `json:"consumers"`
		Messages       int64  `json:"messages"`
		Bytes          int64  `json:"message_bytes"`
		Stats          struct {
			Delivered   int64 `json:"deliver_get"`
			Redelivered int64 `json:"redeliver"`
			Acks        struct {
				Rate *float64 `json:"rate"`
			} `json:"ack_details"`
		} `json:"message_stats"`
		Details []struct {
			Acks      bool   `json:"ack_required"`
			Prefetch  int64  `json:"prefetch_count"`
			Arguments object `json:"arguments"`
		} `json:"consumer_details"`
	}
	if err := management(ctx, at, o, question{path: "/api/queues/" + url.PathEscape(at.VHost) + "/" + url.PathEscape(at.Name)}, &b); err != nil {
		return Numbers{}, err
	}
	n := Numbers{
		Ready: b.Ready, Unacknowledged: b.Unacknowledged, Consumers: b.Consumers, Rate: b.Stats.Acks.Rate,
		Delivered: known(b.Stats.Delivered), Redelivered: known(b.Stats.Redelivered),
	}
	kind := []string{b.Type}
	if b.Durable {
		kind = append(kind, "durable")
	} else {
		kind = append(kind, "gone with the broker")
	}
	n.Kind = strings.TrimPrefix(strings.Join(kind, ", "), ", ")
	if b.Messages > 0 {
		n.MeanBytes = known(b.Bytes / b.Messages)
	}
	for _, c := range b.Details {
		if c.Acks {
			n.Windows = append(n.Windows, c.Prefetch)
		} else {
			n.Automatic++
		}
		if why, ok := c.Arguments[lossArgument].(string); ok && why != "" {
			n.Losses = append(n.Losses, cut(why))
		}
	}
	slices.Sort(n.Windows)
	slices.Sort(n.Losses)
	n.Losses = slices.Compact(n.Losses)
	return n, nil
}
