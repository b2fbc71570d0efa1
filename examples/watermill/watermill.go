// Package watermill puts the validators into a program that is built on watermill:
// a publisher's decorator that lets nothing through that its schema refuses, and a
// router's middleware that hands only accepted messages to the handlers. They work
// with every broker and store that watermill has, its SQL publisher and forwarder
// (its outbox) included, because the stamps are text in a message's metadata.
//
// It is an example, in a module of its own: copy it.
package watermill

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Publisher validates and stamps before the publisher that it decorates: before
// the insert, when that is watermill's SQL publisher.
type Publisher struct {
	message.Publisher
	Validator *validate.Validator
	Pin       validate.Pin
}

// Publish publishes the messages, or none of them: the first that is refused ends
// it. The message's UUID is the messageId, which stays through resends and relays.
func (p Publisher) Publish(topic string, messages ...*message.Message) error {
	stamped := make([]*message.Message, 0, len(messages))
	for _, m := range messages {
		judged := validate.Message{Destination: topic, Headers: headers(m), Payload: m.Payload, MessageID: m.UUID}
		if err := p.Validator.BeforePublish(m.Context(), &judged, &p.Pin); err != nil {
			return fmt.Errorf("publish %s: %w", m.UUID, err)
		}
		one := message.NewMessage(judged.MessageID, judged.Payload)
		for _, h := range judged.Headers {
			one.Metadata.Set(h.Name, fmt.Sprint(h.Value))
		}
		one.SetContext(m.Context())
		stamped = append(stamped, one)
	}
	return p.Publisher.Publish(topic, stamped...)
}

// headers gives metadata as a validator sees it, in the order of their names.
func headers(m *message.Message) []validate.Header {
	list := make([]validate.Header, 0, len(m.Metadata))
	for _, name := range slices.Sorted(maps.Keys(m.Metadata)) {
		list = append(list, validate.Header{Name: name, Value: m.Metadata[name]})
	}
	return list
}

// Rejected is why a message is not handled. It never gets better: a poison queue
// takes it (Poison), and a retry must not.
type Rejected struct{ Outcome validate.Outcome }

// Error says the reason.
func (r *Rejected) Error() string {
	return fmt.Sprintf("the message is rejected: %s: %v", r.Outcome.Reason, r.Outcome.Err)
}

// Unwrap is the cause.
func (r *Rejected) Unwrap() error { return r.Outcome.Err }

// Middleware judges each message before its handler. A message that cannot be
// judged, since the registry cannot be asked, is held: it is asked about again
// until that is over or the message's context ends, and never called bad.
func Middleware(v *validate.Validator, e *validate.Expect) message.HandlerMiddleware {
	return func(next message.HandlerFunc) message.HandlerFunc {
		return func(m *message.Message) ([]*message.Message, error) {
			judged := validate.Message{Destination: message.SubscribeTopicFromCtx(m.Context()), Headers: headers(m), Payload: m.Payload, MessageID: m.UUID}
			for {
				o := v.BeforeConsume(m.Context(), &judged, e)
				switch {
				case o.Verdict == validate.Accept:
					return next(m)
				case o.Verdict == validate.Reject && o.Pass:
					return nil, nil
				case o.Verdict == validate.Reject:
					return nil, &Rejected{o}
				}
				if err := wait(m.Context(), time.Second); err != nil {
					return nil, fmt.Errorf("hold %s: %w", m.UUID, err)
				}
			}
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Poison is watermill's poison queue for rejected messages alone: what a handler
// fails with goes back to the broker, or to watermill's retries.
func Poison(pub message.Publisher, topic string) (message.HandlerMiddleware, error) {
	return middleware.PoisonQueueWithFilter(pub, topic, func(err error) bool {
		var r *Rejected
		return errors.As(err, &r)
	})
}
