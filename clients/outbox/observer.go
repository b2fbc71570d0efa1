package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Observer is told what a relay does, for logs and metrics. It must not block.
type Observer interface {
	// Relayed tells of one try to publish a row, once it is marked.
	Relayed(ctx context.Context, r *Relayed)
	// Waiting tells, every ten seconds, what the outbox holds.
	Waiting(ctx context.Context, b Backlog)
}

// Fate is what became of a row that was tried.
type Fate uint8

const (
	// Published rows the broker has.
	Published Fate = iota + 1
	// Failed rows are tried again.
	Failed
	// Parked rows are refused for good.
	Parked
)

// String is the fate's word.
func (f Fate) String() string {
	switch f {
	case Published:
		return "published"
	case Failed:
		return "failed"
	case Parked:
		return "parked"
	}
	return "undecided"
}

// Relayed is one try. Destinations are as many as the application has; ids are
// not for labels.
type Relayed struct {
	Row  Row
	Fate Fate
	// Took is how long the publish took.
	Took time.Duration
	Err  error
}

// Backlog is what an outbox holds.
type Backlog struct {
	// Waiting rows are to be published, Parked rows are not any more.
	Waiting, Parked int64
	// Oldest is the age of the oldest row that waits; 0 when none does.
	Oldest time.Duration
}

// Count counts what an outbox holds.
func Count(ctx context.Context, db *sql.DB, d Dialect) (Backlog, error) {
	s, err := d.statements()
	if err != nil {
		return Backlog{}, err
	}
	var b Backlog
	var age int64
	if err := db.QueryRowContext(ctx, s.backlog).Scan(&b.Waiting, &b.Parked, &age); err != nil {
		return Backlog{}, fmt.Errorf("count what the outbox holds: %w", err)
	}
	b.Oldest = time.Duration(age) * time.Millisecond
	return b, nil
}
