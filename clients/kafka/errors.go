package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/deliver"
)

// Fate is what became of a message that was not confirmed.
type Fate = deliver.Fate

// The fates.
const (
	// Unroutable messages have a topic that does not exist.
	Unroutable = deliver.Unroutable
	// Refused messages the broker will not take from this client: no permission, or
	// the record breaks a rule of the topic.
	Refused = deliver.Refused
	// TooLarge messages are larger than the client or the topic allows.
	TooLarge = deliver.TooLarge
	// Nacked messages the broker could not take. Publishing again may work.
	Nacked = deliver.Nacked
	// Unknown messages had no answer, so they may or may not be there. Publishing again
	// with the same message id is right: a consumer tells duplicates by it.
	Unknown = deliver.Unknown
	// Unsent messages never left this process.
	Unsent = deliver.Unsent
)

// Error is why a publish did not succeed. errors.Is with validate.ErrPermanent
// or validate.ErrUnavailable tells whether it is worth trying again.
type Error struct {
	Fate             Fate
	Topic, MessageID string
	Err              error
}

// Error tells where the message was going and what became of it.
func (e *Error) Error() string {
	return fmt.Sprintf("publish message %s to topic %q: %s: %v", e.MessageID, e.Topic, e.Fate, e.Err)
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is answers for validate.ErrPermanent and validate.ErrUnavailable.
func (e *Error) Is(target error) bool { return e.Fate.Is(target) }

// ErrClosed says that the producer is closed.
var ErrClosed = deliver.ErrClosed

// fateOf classifies what the library or the broker answered.
func fateOf(err error) Fate {
	var k *kerr.Error
	switch {
	case errors.Is(err, kgo.ErrMaxBuffered), errors.Is(err, ErrClosed):
		return Unsent
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.RecordListTooLarge):
		return TooLarge
	case errors.Is(err, kerr.UnknownTopicOrPartition), errors.Is(err, kerr.UnknownTopicID), errors.Is(err, kerr.InvalidTopicException):
		return Unroutable
	case errors.Is(err, kerr.NotEnoughReplicasAfterAppend), errors.Is(err, kerr.RequestTimedOut), errors.Is(err, kerr.OutOfOrderSequenceNumber),
		errors.Is(err, kerr.UnknownProducerID), errors.Is(err, kerr.InvalidProducerEpoch), errors.Is(err, kerr.ProducerFenced):
		return Unknown // it may have been appended
	case errors.As(err, &k):
		if k.Retriable {
			return Nacked
		}
		return Refused
	}
	// A timeout, an ended context, a closed client, a lost connection.
	return Unknown
}

// send publishes a record and waits until its fate is known or ctx ends.
func send(ctx context.Context, p Publisher, r *kgo.Record, messageID string) error {
	answer := make(chan error, 1)
	p.Produce(ctx, r, func(_ *kgo.Record, err error) { answer <- err })
	var err error
	select {
	case err = <-answer:
	case <-ctx.Done():
		select {
		case err = <-answer: // both came at once: the broker's word counts
		default:
			err = fmt.Errorf("no answer came in time: %w", ctx.Err())
		}
	}
	if err == nil {
		return nil
	}
	fate := fateOf(err)
	if c, ok := p.(interface{ PurgeTopicsFromProducing(topics ...string) }); ok && fate == Unroutable {
		// A topic that was deleted and made again has another id, and the library
		// would ask for the old one for ever.
		c.PurgeTopicsFromProducing(r.Topic)
	}
	return &Error{Fate: fate, Topic: r.Topic, MessageID: messageID, Err: err}
}

// Reject makes a handler's error permanent: the message goes to the dead letter
// at once. It is for messages that are valid and cannot be worked on, such as
// one that names an entity that does not exist.
func Reject(err error) error { return deliver.Reject(err) }

// Retry makes a handler's error transient and says when to try again, up to the
// policy's Cap; 0 leaves that to the policy. Every error that is not made by
// Reject counts as transient.
func Retry(err error, after time.Duration) error { return deliver.Retry(err, after) }
