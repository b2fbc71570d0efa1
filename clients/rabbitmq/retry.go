package rabbitmq

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// RetryAttempts is the header that counts the attempts made on a message; the
// broker's own counters change their meaning between versions.
const RetryAttempts = "retryAttempts"

// retryQueue is the queue where messages of a queue wait for one level. All that
// are in it wait the same time: a broker lets messages expire only at the head.
func retryQueue(queue string, level time.Duration) string {
	return queue + ".retry." + strconv.FormatInt(level.Milliseconds(), 10)
}

// declareRetry makes the retry queues. Each returns what expires to the work
// queue by the default exchange.
func declareRetry(ch Channel, queue string, levels []time.Duration) error {
	for _, level := range levels {
		_, err := ch.QueueDeclare(retryQueue(queue, level), true, false, false, false, amqp.Table{
			"x-message-ttl":             level.Milliseconds(),
			"x-dead-letter-exchange":    "",
			"x-dead-letter-routing-key": queue,
		})
		if err != nil {
			return fmt.Errorf("declare the retry queue %s: %w", retryQueue(queue, level), err)
		}
	}
	return nil
}

// levelFor is the retry queue's level for a wait: the first that is not shorter.
func levelFor(levels []time.Duration, d time.Duration) (time.Duration, bool) {
	for _, level := range levels {
		if level >= d {
			return level, true
		}
	}
	if len(levels) > 0 {
		return levels[len(levels)-1], true
	}
	return 0, false
}

// waiting is a delivery on its way to a retry queue. It remembers where it was
// sent first, since it comes back through the default exchange, and when it
// failed first. A random share comes off the level, so that what failed together
// does not come back together and waits no longer than its queue.
func waiting(d *amqp.Delivery, queue string, f deliver.Failure, level time.Duration) amqp.Publishing {
	msg := republish(d, headersOf(d.Headers))
	msg.Headers[RetryAttempts] = strconv.Itoa(f.Attempts)
	if _, ok := msg.Headers[validate.DLQOriginalDestination]; !ok {
		msg.Headers[validate.DLQOriginalDestination] = destination(d.Exchange, d.RoutingKey)
		msg.Headers[validate.DLQOriginalRoutingKey] = d.RoutingKey
		msg.Headers[validate.DLQOriginalQueue] = queue
	}
	if _, ok := msg.Headers[validate.DLQFirstFailedAt]; !ok {
		msg.Headers[validate.DLQFirstFailedAt] = f.First.UTC().Format(time.RFC3339Nano)
	}
	msg.Expiration = strconv.FormatInt((level - rand.N(level/4+1)).Milliseconds(), 10) //nolint:gosec // spreads load, hides nothing
	return msg
}

// attemptsOf is how many attempts were made on a delivery before.
func attemptsOf(d *amqp.Delivery) int {
	text, _, err := validate.Header{Name: RetryAttempts, Value: d.Headers[RetryAttempts]}.Text()
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}
