// Package dedupe makes a consumer that is handed a message twice work on it
// once: the message's id is written in the very transaction that does the work,
// so that both are there or neither is.
//
// It knows no broker and no schema, and brings no driver: the database is the
// caller's, through database/sql. What reaches beyond the database (a card that
// is charged) cannot be in its transaction; [IdempotencyKey] is for that.
//
// Start with [Create] and [Once]; run [Expire] now and then, and [Returns.Check]
// at the start.
package dedupe

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// LongestName is the most bytes that a consumer's name or a message's id may
// have.
const LongestName = 255

// ErrNoID says that a message cannot be told from another. It is permanent: the
// same message fails the same way again, so a handler rejects it.
var ErrNoID = errors.New("the message has no id to be told apart by")

// Store remembers which messages a consumer has worked on.
type Store interface {
	// First writes down that consumer works on a message, inside the caller's
	// transaction, and answers whether it is the first to do so. While another
	// transaction works on the same message it waits for its end.
	First(ctx context.Context, tx *sql.Tx, consumer, messageID string) (bool, error)
}

// Message names one message to one consumer.
type Message struct {
	// Consumer is who works on it: a group or a service. Each subscriber has its
	// own, so that one's work is not taken for another's.
	Consumer string
	// ID is the producer's, or made of a business key by [KeyOf]. A broker's own
	// id changes when the message is sent again, and must not be used.
	ID string
}

// Of names a message by its header messageId, as adapters hand headers out.
//
// Errors: ErrNoID when the header is missing, malformed, over 255 bytes, or there
// with two values.
func Of(consumer string, headers []validate.Header) (Message, error) {
	id := ""
	for _, h := range headers {
		if h.Name != "messageId" {
			continue
		}
		text, ok, err := h.Text()
		switch {
		case err != nil:
			return Message{}, fmt.Errorf("read the header messageId: %w: %w", ErrNoID, err)
		case ok && id != "" && text != id:
			return Message{}, fmt.Errorf("read the header messageId: it says %q and %q: %w", id, text, ErrNoID)
		case ok:
			id = text
		}
	}
	m := Message{Consumer: consumer, ID: id}
	if err := m.check(); err != nil {
		return Message{}, err
	}
	return m, nil
}

// KeyOf makes one id of the parts of a business key, for messages whose producer
// gives none: the same parts give the same id, and no other parts do.
//
// The id is the SHA-256 of the parts, each after its length as 8 bytes, in hex.
func KeyOf(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (m Message) check() error {
	switch {
	case m.Consumer == "":
		return errors.New("tell a message from its duplicates: Message.Consumer is empty: name who works on it")
	case len(m.Consumer) > LongestName:
		return fmt.Errorf("tell a message from its duplicates: Message.Consumer has %d bytes, and %d are allowed", len(m.Consumer), LongestName)
	case m.ID == "":
		return fmt.Errorf("tell a message from its duplicates: %w: its producer sets messageId, or KeyOf makes one of a business key", ErrNoID)
	case len(m.ID) > LongestName:
		return fmt.Errorf("tell a message from its duplicates: its id has %d bytes, and %d are allowed (KeyOf makes a short one): %w", len(m.ID), LongestName, ErrNoID)
	}
	return nil
}

// Once does work in a transaction, unless the message was worked on before: then
// it answers nil without work. After nil the message may be acknowledged; after
// an error nothing is written, neither the work nor that it was done.
//
// work uses tx alone for what must happen once, and returns before Once commits.
// A commit whose answer is lost is an error too: the message comes again, and
// finds itself done or not. The observer of a store that is [Observed] is told.
//
// Errors: ErrNoID for a message without an id; work's own error, wrapped; what
// the database answered.
func Once(ctx context.Context, db *sql.DB, s Store, m Message, work func(ctx context.Context, tx *sql.Tx) error) error {
	began := time.Now()
	result, err := once(ctx, db, s, m, work)
	tell(ctx, s, m, result, began, err)
	return err
}

func once(ctx context.Context, db *sql.DB, s Store, m Message, work func(ctx context.Context, tx *sql.Tx) error) (Result, error) {
	if err := m.check(); err != nil {
		return Failed, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return Failed, fmt.Errorf("begin the work on message %s: %w", m.ID, err)
	}
	defer tx.Rollback() //nolint:errcheck // of no use after the commit, and nothing to add before
	first, err := s.First(ctx, tx, m.Consumer, m.ID)
	if err != nil {
		return Failed, fmt.Errorf("look whether %s has worked on message %s: %w", m.Consumer, m.ID, err)
	}
	if !first {
		return Duplicate, nil
	}
	if err := work(ctx, tx); err != nil {
		return Failed, fmt.Errorf("work on message %s: %w", m.ID, err)
	}
	if err := tx.Commit(); err != nil {
		return Failed, fmt.Errorf("commit the work on message %s: %w", m.ID, err)
	}
	return Done, nil
}

// batch is how many entries Expire forgets in one transaction: consumers wait
// for it.
const batch = 5_000

// Expire forgets the messages that were worked on longer ago than olderThan, by
// the database's clock, and tells how many. It works in short transactions, and
// what it has done stays done when it fails. [Returns.Longest] is the least that
// olderThan may be.
func Expire(ctx context.Context, db *sql.DB, d Dialect, olderThan time.Duration) (int64, error) {
	if olderThan <= 0 {
		return 0, fmt.Errorf("forget messages that are done: older than %s would be all of them", olderThan)
	}
	s, err := d.statements()
	if err != nil {
		return 0, err
	}
	for total := int64(0); ; {
		result, err := db.ExecContext(ctx, s.expire, olderThan.Milliseconds(), batch)
		if err != nil {
			return total, fmt.Errorf("forget messages that are done: %w", err)
		}
		n, err := result.RowsAffected()
		if err != nil {
			return total, fmt.Errorf("forget messages that are done: %w", err)
		}
		if total += n; n < batch {
			return total, nil
		}
	}
}
