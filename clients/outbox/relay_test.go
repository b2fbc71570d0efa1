package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/dbtest"
	"github.com/cartorio-registry/cartorio/clients/outbox"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// broker takes messages in memory.
type broker struct {
	mu  sync.Mutex
	ids []string
	// refuse, if set, answers instead.
	refuse func(r outbox.Row) error
}

func (b *broker) publish(_ context.Context, r outbox.Row) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuse != nil {
		if err := b.refuse(r); err != nil {
			return err
		}
	}
	b.ids = append(b.ids, r.ID)
	return nil
}

func relayOf(d dbtest.Database, b *broker) *outbox.Relay {
	return &outbox.Relay{DB: d.DB, Dialect: dialect(d), Publish: b.publish, Batch: 10, Poll: 5 * time.Millisecond, Retry: fast, Logger: quiet}
}

// TestTwoRelays has two relays publish at once: order for each aggregate, and no
// message twice while both live.
func TestTwoRelays(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		prepare(t, d)
		aggregates, each := 20, 25
		fillOutbox(t, d, validator(t, &orders{}), aggregates, each)
		b := &broker{}
		var mu sync.Mutex
		by := map[string]int{}
		var all sync.WaitGroup
		for _, name := range []string{"first", "second"} {
			all.Go(func() {
				r := relayOf(d, b)
				publish := r.Publish
				r.Publish = func(ctx context.Context, row outbox.Row) error {
					mu.Lock()
					by[name]++
					mu.Unlock()
					return publish(ctx, row)
				}
				if err := runUntilEmpty(t.Context(), r); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := published(t, b.ids, aggregates, each); n != 0 {
			t.Errorf("%d messages were published twice while both relays lived", n)
		}
		interleaved := 0
		for i := 1; i < len(b.ids); i++ {
			if b.ids[i][:3] != b.ids[i-1][:3] {
				interleaved++
			}
		}
		if interleaved < aggregates {
			t.Errorf("aggregates are published one after the other: %d changes", interleaved)
		}
		t.Logf("%d messages of %d aggregates by two relays %v: 0 duplicates, %d changes of aggregate", len(b.ids), aggregates, by, interleaved)
	})
}

// TestKill kills relays, by turns before a publish and between a publish and its
// mark, with a second one alive.
func TestKill(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		prepare(t, d)
		aggregates, each, deaths := 10, 20, 4
		if isLong {
			aggregates, each, deaths = 50, 200, 40
		}
		fillOutbox(t, d, validator(t, &orders{}), aggregates, each)
		file := filepath.Join(t.TempDir(), "broker")
		p := part{Driver: d.Driver, DSN: d.DSN, Broker: file}
		killed := 0
		for i := range deaths {
			p.Nth, p.Place = int64(5+i*7%23), [...]string{"before the publish", "between the publish and the mark"}[i%2]
			cmd := start(t, p)
			if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != -1 {
				t.Fatal(err)
			} else if err != nil {
				killed++
			}
		}
		p.Nth = 0
		first, second := start(t, p), start(t, p)
		if err := errors.Join(first.Wait(), second.Wait()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		duplicates := published(t, strings.Fields(string(text)), aggregates, each)
		if killed != deaths || duplicates == 0 {
			t.Errorf("%d of %d relays were killed and %d messages published twice: the test shows nothing", killed, deaths, duplicates)
		}
		t.Logf("%d messages, %d relays killed: none lost, %d duplicates, order kept for each of %d aggregates", aggregates*each, killed, duplicates, aggregates)
	})
}

// TestOutage has the broker refuse everything for a while.
func TestOutage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		prepare(t, d)
		fillOutbox(t, d, validator(t, &orders{}), 5, 10)
		outage := 300 * time.Millisecond
		if isLong {
			outage = time.Minute
		}
		var until time.Time // from the first try on
		failed := 0
		b := &broker{refuse: func(outbox.Row) error {
			if until.IsZero() {
				until = time.Now().Add(outage)
			}
			if time.Now().Before(until) {
				failed++
				return errors.New("no connection")
			}
			return nil
		}}
		if err := runUntilEmpty(t.Context(), relayOf(d, b)); err != nil {
			t.Fatal(err)
		}
		if n := published(t, b.ids, 5, 10); n != 0 || failed == 0 {
			t.Errorf("%d duplicates, %d failures", n, failed)
		}
		if n := d.Int(t, `SELECT count(*) FROM cartorio_outbox WHERE parked_at IS NOT NULL`); n != 0 {
			t.Errorf("%d rows are parked because a broker was down", n)
		}
		t.Logf("the broker down for %s: 50 messages published, 0 lost, %d tries failed", outage, failed)
	})
}

// TestFailures has single rows fail: their aggregate waits, the others go on; a
// row that is refused for good is parked, and can be tried again.
func TestFailures(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		s := prepare(t, d)
		fillOutbox(t, d, validator(t, &orders{}), 3, 4)
		refusals := 3
		b := &broker{}
		b.refuse = func(r outbox.Row) error {
			switch {
			case r.ID == "a00-1" && refusals > 0:
				if refusals--; refusals == 0 {
					panic("the publisher's own fault")
				}
				return errors.New("not now\x00\xff")
			case r.ID == "a01-1":
				return fmt.Errorf("too large: %w", validate.ErrPermanent)
			}
			return nil
		}
		watch := &observer{}
		r := relayOf(d, b)
		r.Observer = watch
		if err := runUntilEmpty(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, id := range b.ids {
			if strings.HasPrefix(id, "a00") {
				order = append(order, id)
			}
		}
		if got := strings.Join(order, " "); got != "a00-0 a00-1 a00-2 a00-3" {
			t.Errorf("the aggregate of the failing row: %s", got)
		}
		parked, err := outbox.ListParked(t.Context(), d.DB, s, 10)
		if err != nil || len(parked) != 1 || parked[0].ID != "a01-1" || !strings.Contains(parked[0].LastError, "too large") || parked[0].Attempts != 1 {
			t.Fatalf("parked: %+v, %v", parked, err)
		}
		if n := d.Int(t, `SELECT attempts FROM cartorio_outbox WHERE id = 'a00-1'`); n != 4 {
			t.Errorf("%d attempts are counted, want 4", n)
		}
		if watch.fates[outbox.Published] != 11 || watch.fates[outbox.Failed] != 3 || watch.fates[outbox.Parked] != 1 {
			t.Errorf("the observer was told of %v", watch.fates)
		}
		b.refuse = nil
		if n, err := outbox.Unpark(t.Context(), d.DB, s, "another"); n != 0 || err != nil {
			t.Errorf("Unpark(another) = %d, %v", n, err)
		}
		if n, err := outbox.Unpark(t.Context(), d.DB, s, "a01-1"); n != 1 || err != nil {
			t.Errorf("Unpark = %d, %v", n, err)
		}
		if err := runUntilEmpty(t.Context(), relayOf(d, b)); err != nil {
			t.Fatal(err)
		}
		if len(b.ids) != 12 || b.ids[11] != "a01-1" {
			t.Errorf("after Unpark: %v", b.ids)
		}
	})
}

type observer struct {
	mu    sync.Mutex
	fates map[outbox.Fate]int
	told  []outbox.Backlog
}

func (o *observer) Relayed(_ context.Context, r *outbox.Relayed) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fates == nil {
		o.fates = map[outbox.Fate]int{}
	}
	o.fates[r.Fate]++
}

func (o *observer) Waiting(_ context.Context, b outbox.Backlog) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told = append(o.told, b)
}

// TestStop ends a relay in the middle of a publish: it is finished and marked, and
// no other begins.
func TestStop(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		prepare(t, d)
		fillOutbox(t, d, validator(t, &orders{}), 1, 5)
		ctx, stop := context.WithCancel(t.Context())
		b := &broker{}
		r := relayOf(d, b)
		r.Publish = func(ctx context.Context, row outbox.Row) error {
			stop()
			if err := ctx.Err(); err != nil {
				t.Error("a publish on its way lost its context")
			}
			return b.publish(ctx, row)
		}
		if err := r.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if n := d.Int(t, `SELECT count(*) FROM cartorio_outbox WHERE published_at IS NOT NULL`); n != 1 || len(b.ids) != 1 {
			t.Errorf("%d rows are marked and %d published, want 1", n, len(b.ids))
		}
		if !d.IsPostgres() {
			if n := d.Int(t, `SELECT count(*) FROM cartorio_outbox_lease`); n != 0 {
				t.Error("the lease was not given back")
			}
		}
	})
}

// TestStoppedBefore begins nothing, and is no failure.
func TestStoppedBefore(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		prepare(t, d)
		fillOutbox(t, d, validator(t, &orders{}), 1, 1)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		b := &broker{}
		if err := relayOf(d, b).Run(ctx); err != nil {
			t.Fatal(err)
		}
		if len(b.ids) != 0 {
			t.Errorf("%v were published", b.ids)
		}
	})
}

// TestKeep keeps the table small while messages go through it.
func TestKeep(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		s := prepare(t, d)
		v := validator(t, &orders{})
		fillOutbox(t, d, v, 10, 30)
		if err := runUntilEmpty(t.Context(), relayOf(d, &broker{})); err != nil {
			t.Fatal(err)
		}
		if n, err := outbox.Drop(t.Context(), d.DB, s, time.Hour); n != 0 || err != nil {
			t.Errorf("Drop of an hour = %d, %v", n, err)
		}
		past := `UPDATE cartorio_outbox SET published_at = now() - interval '2 hours'`
		if !d.IsPostgres() {
			past = `UPDATE cartorio_outbox SET published_at = unixepoch('now', '-2 hours') * 1000`
		}
		d.Exec(t, past+` WHERE aggregate_id < 'a06'`)
		if n, err := outbox.Archive(t.Context(), d.DB, s, time.Hour); n != 180 || err != nil {
			t.Errorf("Archive = %d, %v", n, err)
		}
		if n := d.Int(t, `SELECT count(*) FROM cartorio_outbox_archive`); n != 180 {
			t.Errorf("%d rows are archived", n)
		}
		if n := d.Int(t, `SELECT count(*) FROM cartorio_outbox`); n != 120 {
			t.Errorf("%d rows are left", n)
		}
		d.Exec(t, past)
		r := relayOf(d, &broker{})
		r.Keep = time.Hour
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() {
			for d.Int(t, `SELECT count(*) FROM cartorio_outbox`) > 0 {
				if ctx.Err() != nil {
					return
				}
			}
			stop()
		}()
		if err := r.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := outbox.Drop(t.Context(), d.DB, s, -1); err == nil {
			t.Error("rows of the future may be removed")
		}
	})
}

func TestRelayNeeds(t *testing.T) {
	t.Parallel()
	d := dbtest.SQLite(t)
	for _, tt := range []struct {
		r    outbox.Relay
		want string
	}{
		{outbox.Relay{}, "choose a dialect"},
		{outbox.Relay{Dialect: outbox.SQLite}, "Relay.DB is nil"},
		{outbox.Relay{Dialect: outbox.SQLite, DB: d.DB}, "Relay.Publish is nil"},
	} {
		if err := tt.r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}

// TestBusyRow has somebody hold the oldest row of an aggregate: the next ones wait
// for it, and other lanes go on.
func TestBusyRow(t *testing.T) {
	t.Parallel()
	d := dbtest.Postgres(t)
	prepare(t, d)
	fillOutbox(t, d, validator(t, &orders{}), 8, 3)
	tx, err := d.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), `SELECT 1 FROM cartorio_outbox WHERE id = 'a00-0' FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	b := &broker{}
	r := relayOf(d, b)
	publish := r.Publish
	var once sync.Once
	r.Publish = func(ctx context.Context, row outbox.Row) error {
		if row.Aggregate != "a00" {
			once.Do(func() {
				if err := tx.Rollback(); err != nil {
					t.Error(err)
				}
			})
		}
		return publish(ctx, row)
	}
	if err := runUntilEmpty(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	published(t, b.ids, 8, 3)
}
