package rabbitmq

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

const (
	// settleTime bounds one publish of a dead letter or to a retry queue, with
	// its reconnections.
	settleTime = 30 * time.Second
	// mostDead is how many bytes the dead letter's headers may have.
	mostDead = 24 << 10
)

// reject sets the message aside: it is published to the dead letter with its
// reason, confirmed and routed, and only then acknowledged. When that cannot be
// done the queue's own dead-letter exchange takes it, or it is held. It is never
// acknowledged unpublished.
//
// The publisher validates nothing: it would refuse what is to be set aside.
func (w *worker) reject(m *validate.Message, dead validate.DeadLetter) {
	dead.FailedAt, dead.FirstFailedAt = time.Now(), w.failed
	dead.Destination, dead.RoutingKey, dead.Queue = destination(w.d.Exchange, w.d.RoutingKey), w.d.RoutingKey, w.c.o.Queue
	dead.Consumer, dead.Expected = w.c.o.Name, w.c.expect.Expected()
	if w.attempts == 0 {
		w.attempts = dead.Attempts
	}
	msg := w.deadLetter(m, dead)
	pause := firstPause
	for {
		ctx, cancel := context.WithTimeout(w.s.work, settleTime)
		err := w.c.out.publish(ctx, w.c.o.DeadLetter.Exchange, w.c.o.DeadLetter.Key, msg)
		cancel()
		if err == nil {
			w.settle(DeadLettered, dead.Reason, dead.Err)
			return
		}
		w.c.log.Error("a rejected message could not be published to the dead letter", "queue", w.c.o.Queue, "messageId", w.d.MessageId, "reason", dead.Reason.String(), "error", err)
		if w.c.o.QueueHasDLX {
			w.settle(LeftToBroker, dead.Reason, err)
			return
		}
		if !w.pause(jitter(pause)) {
			w.settle(GivenBack, dead.Reason, err)
			return
		}
		pause = min(2*pause, longestPause)
	}
}

// deadLetter builds the message: everything of the original, and as much of the
// reason as a frame has room for.
func (w *worker) deadLetter(m *validate.Message, dead validate.DeadLetter) amqp.Publishing {
	msg := republish(w.d, dead.Headers(m.Headers, mostDead))
	if over := headerSize(&msg) - LongestHeader; over > 0 {
		// Each header costs its name, its length bytes and its type besides.
		msg = republish(w.d, dead.Headers(m.Headers, max(mostDead-over, 1)))
	}
	return msg
}
