// Package queues asks a broker what a queue or topic holds and who reads it, says
// what the numbers mean for whoever tunes its consumers, and looks at a sample of
// messages for what they lack.
//
// It changes nothing. It decides nothing about schemas, and neither payloads nor
// headers' values are in what it answers.
//
// Start with [Ask], [Numbers.Advice] and [Look].
package queues

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/cartorio-registry/cartorio/clients/brokers"
)

// Options say how to ask. Zero fields mean what the broker's own protocol tells.
type Options struct {
	// Management is the URL of the broker's HTTP interface, which knows what the
	// protocol does not tell: RabbitMQ's management plugin (http://HOST:15672), or the
	// console of ActiveMQ with Jolokia (http://HOST:8161). Its user and password are
	// those of the address where it has none.
	Management string
	// Group is the consumer group of a Kafka topic.
	Group string
	// HTTP asks the management; a client with a timeout when nil.
	HTTP *http.Client
}

// Numbers are what a broker tells of a queue. Nil members are not known.
type Numbers struct {
	// Kind is the queue's type in the broker's words, "classic, durable".
	Kind string `json:"kind,omitempty"`
	// Ready messages wait; of a Kafka group they are those behind its offsets, its
	// lag. Without a group it is what the topic keeps.
	Ready *int64 `json:"ready,omitempty"`
	// Unacknowledged messages are with consumers.
	Unacknowledged *int64 `json:"unacknowledged,omitempty"`
	// Consumers are those of a queue, or a group's members.
	Consumers *int64 `json:"consumers,omitempty"`
	// Partitions of a Kafka topic.
	Partitions int `json:"partitions,omitempty"`
	// Delivered and Redelivered count since the broker does; the second are among the
	// first.
	Delivered   *int64 `json:"delivered,omitempty"`
	Redelivered *int64 `json:"redelivered,omitempty"`
	// Rate is how many messages a second were acknowledged lately.
	Rate *float64 `json:"rate,omitempty"`
	// MeanBytes is the mean size of what lies there.
	MeanBytes *int64 `json:"meanBytes,omitempty"`
	// Windows are the prefetches of the consumers, 0 for no limit; those that the
	// broker acknowledges by itself are not among them.
	Windows []int64 `json:"windows,omitempty"`
	// Automatic counts the consumers that the broker acknowledges by itself.
	Automatic int `json:"automatic,omitempty"`
	// Losses are the reasons that consumers give for why messages may be lost.
	Losses []string `json:"losses,omitempty"`
}

// askTime bounds one question where the caller's context does not.
const askTime = 15 * time.Second

// Ask asks the broker about the queue or topic of an address.
//
// Errors: the broker or its management cannot be reached or refuses; what was
// asked for is not there.
func Ask(ctx context.Context, at brokers.Address, o Options) (Numbers, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var n Numbers
	var err error
	switch {
	case at.Kind == brokers.RabbitMQ && o.Management != "":
		if n, err = overManagement(ctx, at, o); err == nil {
			err = n.refresh(ctx, at)
		}
	case at.Kind == brokers.RabbitMQ:
		n, err = overAMQP(ctx, at)
	case at.Kind == brokers.Kafka:
		n, err = overKafka(ctx, at, o.Group)
	case o.Management != "":
		n, err = overJolokia(ctx, at, o)
	}
	if err != nil {
		return Numbers{}, fmt.Errorf("ask about %s: %w", at.Name, err)
	}
	return n, nil
}

func known(n int64) *int64 { return &n }

// of is a number, 0 when it is not known.
func of(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
