package outbox

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Relay publishes what the outbox holds, the oldest first, and marks it. DB,
// Dialect and Publish are needed; zero fields mean the defaults. It is not to be
// changed once it runs.
//
// Several relays may run. On PostgreSQL they share the lanes; on SQLite one works
// and the others stand by.
type Relay struct {
	DB      *sql.DB
	Dialect Dialect
	// Publish hands a row to the broker and answers nil when the broker has it for
	// sure. An error for which errors.Is(err, validate.ErrPermanent) holds parks
	// the row: it is not tried again until [Unpark], and its aggregate goes on
	// without it. After any other error its aggregate waits, and the others go on.
	// It may be called for several aggregates at once, up to Workers.
	Publish func(ctx context.Context, r Row) error
	// Batch is how many rows are claimed at once, 100. A relay that dies makes
	// duplicates of those at most.
	Batch int
	// Lease is how long a claim may last, 30 s: half of it is for beginning to
	// publish, the other half is the most that one publish may take. On PostgreSQL
	// a transaction is open that long, so idle_in_transaction_session_timeout must
	// be longer.
	Lease time.Duration
	// Workers is how many rows are published at once, 4.
	Workers int
	// Poll is the pause when nothing is due, 200 ms.
	Poll time.Duration
	// Retry is how long a row that failed waits; it is tried without end.
	Retry retry.Policy
	// Keep is how long published rows stay, 24 hours; negative: for ever. With
	// Archive they move to cartorio_outbox_archive then.
	Keep    time.Duration
	Archive bool
	// Observer is told of what is published, when not nil.
	Observer Observer
	// Logger takes what fails; slog.Default() when nil.
	Logger *slog.Logger
}

const (
	cleanEvery   = time.Minute
	backlogEvery = 10 * time.Second
	longestPause = 10 * time.Second
	longestError = 2 << 10
)

// run is a relay at work.
type run struct {
	Relay
	s     *statements
	owner string
}

// Run publishes until ctx ends; then it begins to publish no more rows, waits for
// those on their way, half a Lease at most, marks them and answers nil. A database
// that cannot be reached is tried again.
//
// Errors: at the start only: a needed field is missing.
func (r *Relay) Run(ctx context.Context) error {
	s, err := r.Dialect.statements()
	switch {
	case err != nil:
		return err
	case r.DB == nil:
		return errors.New("start a relay: Relay.DB is nil")
	case r.Publish == nil:
		return errors.New("start a relay: Relay.Publish is nil: give it what hands a row to the broker")
	}
	w := &run{Relay: *r, s: s, owner: rand.Text()}
	fill(&w.Batch, 100)
	fill(&w.Lease, 30*time.Second)
	fill(&w.Workers, 4)
	fill(&w.Poll, 200*time.Millisecond)
	if w.Keep == 0 {
		w.Keep = 24 * time.Hour
	}
	w.Retry = w.Retry.OrDefault()
	if w.Logger == nil {
		w.Logger = slog.Default()
	}
	var all sync.WaitGroup
	loops := 1
	if s.lanes != "" {
		loops = w.Workers
	}
	for i := range loops {
		all.Go(func() { w.loop(ctx, i*lanes/loops) })
	}
	all.Go(func() { w.tend(ctx) })
	all.Wait()
	if s.release != "" {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if _, err := w.DB.ExecContext(stop, s.release, w.owner); err != nil {
			w.Logger.Warn("the outbox's lease could not be given back and runs out by itself", "error", err)
		}
	}
	return nil
}

func fill[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// loop claims and publishes, batch after batch. Loops begin at different lanes.
func (w *run) loop(ctx context.Context, lane int) {
	pause := w.Poll
	for ctx.Err() == nil {
		n, err := 0, error(nil)
		if w.s.lanes != "" {
			n, lane, err = w.turn(ctx, lane)
		} else {
			n, err = w.leased(ctx)
		}
		switch {
		case err != nil:
			if ctx.Err() == nil {
				w.Logger.Error("the outbox could not be relayed and is tried again", "error", err, "after", pause)
			}
			wait(ctx, pause)
			pause = min(2*pause, longestPause)
		case n == 0:
			pause = w.Poll
			wait(ctx, pause)
		default:
			pause = w.Poll
		}
	}
}

// wait sleeps until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// turn relays one batch of the first lane, from next on, that has rows and is not
// another's. It answers how many rows it tried and where to go on.
func (w *run) turn(ctx context.Context, next int) (n, after int, err error) {
	due, err := w.due(ctx)
	if err != nil {
		return 0, next, err
	}
	for i := range lanes {
		lane := (next + i) % lanes
		if !due[lane] {
			continue
		}
		n, err := w.lane(ctx, lane)
		if n > 0 || err != nil || ctx.Err() != nil {
			return n, (lane + 1) % lanes, err
		}
	}
	return 0, next, nil
}

// due tells which lanes have rows that are due.
func (w *run) due(ctx context.Context) (due [lanes]bool, err error) {
	rows, err := w.DB.QueryContext(ctx, w.s.lanes)
	if err != nil {
		return due, fmt.Errorf("look for rows to publish: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err is asked
	for rows.Next() {
		var lane int
		if err := rows.Scan(&lane); err != nil {
			return due, fmt.Errorf("look for rows to publish: %w", err)
		}
		due[lane%lanes] = true
	}
	return due, rows.Err()
}

// lane relays one batch of a lane, in the transaction that holds the lane: when
// this process dies, so does its hold.
func (w *run) lane(ctx context.Context, lane int) (n int, err error) {
	deadline := time.Now().Add(w.Lease / 2)
	// The transaction must outlive ctx, which ends it before the mark.
	hold, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*w.Lease)
	defer cancel()
	tx, err := w.DB.BeginTx(hold, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return 0, fmt.Errorf("claim rows to publish: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // of no use after the commit, and nothing to add before
	var mine bool
	if err := tx.QueryRowContext(hold, w.s.lock, lane).Scan(&mine); err != nil || !mine {
		return 0, err
	}
	list, err := read(hold, tx, w.s.due, w.Batch, lane)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	results := w.publish(ctx, list, deadline)
	if err := w.mark(hold, tx, results); err != nil {
		return 0, err
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("mark %d rows that were tried: %w", len(results), err)
	}
	w.tell(ctx, results)
	return len(results), nil
}

// leased relays one batch of the whole outbox under a lease, for a database that
// cannot lock a part of itself. No transaction is open meanwhile.
func (w *run) leased(ctx context.Context) (int, error) {
	deadline := time.Now().Add(w.Lease / 2)
	result, err := w.DB.ExecContext(ctx, w.s.lease, w.owner, w.Lease.Milliseconds())
	if err != nil {
		return 0, fmt.Errorf("take the outbox's lease: %w", err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return 0, err
	}
	list, err := read(ctx, w.DB, w.s.due, w.Batch)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	var byLane [lanes][]Row
	var order []int // the lane of the oldest row first
	for _, row := range list {
		lane := laneOf(row.key())
		if byLane[lane] == nil {
			order = append(order, lane)
		}
		byLane[lane] = append(byLane[lane], row)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var results []Relayed
	slots := make(chan struct{}, w.Workers)
	for _, lane := range order {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			part := w.publish(ctx, byLane[lane], deadline)
			mu.Lock()
			defer mu.Unlock()
			results = append(results, part...)
		})
	}
	all.Wait()
	hold, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.Lease)
	defer cancel()
	if err := inTx(hold, w.DB, fmt.Sprintf("mark %d rows that were tried", len(results)), func(tx *sql.Tx) error {
		return w.mark(hold, tx, results)
	}); err != nil {
		return 0, err
	}
	w.tell(ctx, results)
	return len(results), nil
}

// publish tries rows of one lane, one after the other. A row that failed holds up
// its aggregate's next ones.
func (w *run) publish(ctx context.Context, list []Row, deadline time.Time) []Relayed {
	var out []Relayed
	stopped := map[string]bool{}
	for _, row := range list {
		if ctx.Err() != nil || time.Now().After(deadline) {
			break
		}
		if stopped[row.key()] {
			continue
		}
		one := Relayed{Row: row, Fate: Published}
		began := time.Now()
		if one.Err = w.one(ctx, row); one.Err != nil {
			one.Fate = Failed
			if errors.Is(one.Err, validate.ErrPermanent) {
				one.Fate = Parked
			}
		}
		one.Took = time.Since(began)
		stopped[row.key()] = one.Fate == Failed
		out = append(out, one)
	}
	return out
}

// one calls the caller's function, which goes on for a while after ctx has ended.
func (w *run) one(ctx context.Context, row Row) (err error) {
	hold, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.Lease/2)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("publish message %s: panic: %v", row.ID, p)
		}
	}()
	return w.Publish(hold, row)
}

// mark writes down what became of rows.
func (w *run) mark(ctx context.Context, tx *sql.Tx, results []Relayed) error {
	for _, one := range results {
		var err error
		switch one.Fate {
		case Published:
			_, err = tx.ExecContext(ctx, w.s.published, one.Row.Sequence)
		case Failed:
			after := w.Retry.Spread(w.Retry.Wait(one.Row.Attempts+1), nil)
			_, err = tx.ExecContext(ctx, w.s.failed, after.Milliseconds(), errorText(one.Err), one.Row.Sequence)
		case Parked:
			_, err = tx.ExecContext(ctx, w.s.parked, errorText(one.Err), one.Row.Sequence)
		}
		if err != nil {
			return fmt.Errorf("mark message %s as %s: %w", one.Row.ID, one.Fate, err)
		}
	}
	return nil
}

// tell logs what failed, and tells the observer of everything.
func (w *run) tell(ctx context.Context, results []Relayed) {
	for i := range results {
		one := &results[i]
		switch one.Fate {
		case Published:
		case Failed:
			w.Logger.Warn("a message of the outbox was not published and is tried again", "id", one.Row.ID, "destination", one.Row.Destination, "attempts", one.Row.Attempts+1, "error", one.Err)
		case Parked:
			w.Logger.Error("a message of the outbox is refused for good and parked", "id", one.Row.ID, "destination", one.Row.Destination, "error", one.Err)
		}
		if w.Observer != nil {
			w.Observer.Relayed(ctx, one)
		}
	}
}

// tend removes old rows and counts those that wait, every now and then.
func (w *run) tend(ctx context.Context) {
	var cleaned time.Time
	for ctx.Err() == nil {
		if w.Keep > 0 && time.Since(cleaned) >= cleanEvery {
			cleaned = time.Now()
			if _, err := clean(ctx, w.DB, w.s, w.Keep, w.Archive); err != nil && ctx.Err() == nil {
				w.Logger.Warn("published rows of the outbox could not be removed", "error", err)
			}
		}
		if w.Observer != nil {
			if b, err := Count(ctx, w.DB, w.Dialect); err == nil {
				w.Observer.Waiting(ctx, b)
			}
		}
		wait(ctx, backlogEvery)
	}
}
