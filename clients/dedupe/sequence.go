package dedupe

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Sequence is the header eventSequence of a message: how far its entity had come
// when the message was made, as a counter in decimal digits or as a time of RFC
// 3339, which counts in microseconds since 1970. ok is false when there is none.
//
// Errors: the header is neither.
func Sequence(headers []validate.Header) (n int64, ok bool, err error) {
	for _, h := range headers {
		if h.Name != "eventSequence" {
			continue
		}
		text, there, err := h.Text()
		if err != nil {
			return 0, false, fmt.Errorf("read the header eventSequence: %w", err)
		}
		if !there {
			continue
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, true, nil
		}
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return 0, false, fmt.Errorf("read the header eventSequence: %.40q is neither a number of 64 bits nor a time of RFC 3339", text)
		}
		return at.UnixMicro(), true, nil
	}
	return 0, false, nil
}

// Newer writes down how far an entity has come for a consumer, and answers
// whether that is further than before. A message for which it is not is late: it
// was overtaken, and its work would undo what is newer. It belongs in the
// transaction of [Once], whose work it guards.
func Newer(ctx context.Context, tx *sql.Tx, d Dialect, consumer, entity string, sequence int64) (bool, error) {
	s, err := d.statements()
	if err != nil {
		return false, err
	}
	result, err := tx.ExecContext(ctx, s.newer, consumer, entity, sequence)
	if err != nil {
		return false, fmt.Errorf("write down how far %s has come: %w", entity, err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("write down how far %s has come: %w", entity, err)
	}
	return n == 1, nil
}
