package outbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/dbtest"
	"github.com/cartorio-registry/cartorio/clients/outbox"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// TestPut stores what a relay needs, stamped.
func TestPut(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		s := prepare(t, d)
		v := validator(t, &orders{})
		m := event("o-1", 3)
		m.RoutingKey = "order.placed"
		m.Headers = []validate.Header{
			{Name: "tenant", Value: "blue"},
			{Name: "tenant", Value: "grün"},
			{Name: "raw", Value: []byte{0, 255}},
			{Name: "empty", Value: []byte{}},
			{Name: "n", Value: int64(-7)},
			{Name: "null", Value: nil},
		}
		tombstone := event("o-2", 1)
		tombstone.Payload = nil
		if err := inTx(t.Context(), d.DB, func(tx *sql.Tx) error {
			return errors.Join(outbox.Put(t.Context(), tx, s, v, m), outbox.Put(t.Context(), tx, s, v, tombstone))
		}); err != nil {
			t.Fatal(err)
		}
		var got []outbox.Row
		var mu sync.Mutex
		r := relayOf(d, nil)
		r.Workers = 1
		r.Publish = func(_ context.Context, row outbox.Row) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, row)
			return nil
		}
		if err := runUntilEmpty(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		byID := map[string]outbox.Row{}
		for _, row := range got {
			if row.CreatedAt.IsZero() || row.Sequence == 0 {
				t.Errorf("%s has no time or place: %+v", row.ID, row)
			}
			byID[row.ID] = row
		}
		row := byID["o-1-3"]
		want := []validate.Header{
			{Name: "tenant", Value: "blue"},
			{Name: "tenant", Value: "grün"},
			{Name: "raw", Value: []byte{0, 255}},
			{Name: "empty", Value: []byte{}},
			{Name: "n", Value: "-7"},
			{Name: "null"},
			{Name: "schemaSubject", Value: "orders-value"},
			{Name: "schemaVersion", Value: "1"},
			{Name: "schemaId", Value: "7"},
			{Name: "schemaType", Value: "JSON"},
			{Name: "messageId", Value: "o-1-3"},
			{Name: "messageKey", Value: "o-1"},
		}
		if diff := cmp.Diff(want, row.Headers); diff != "" {
			t.Error(diff)
		}
		if row.Aggregate != "o-1" || row.EventType != "placed" || row.Destination != "orders" || row.RoutingKey != "order.placed" || row.ContentType != "application/json" || string(row.Payload) != `{"n":3}` {
			t.Errorf("the row is %+v", row)
		}
		if byID["o-2-1"].Payload != nil {
			t.Errorf("the tombstone has the payload %q", byID["o-2-1"].Payload)
		}
		if n := d.Int(t, `SELECT count(*) FROM cartorio_outbox WHERE schema_subject = 'orders-value' AND schema_version = '1' AND schema_id = '7' AND schema_type = 'JSON'`); n != 2 {
			t.Errorf("%d rows have the stamps in columns of their own", n)
		}
	})
}

// TestNoRow: what is refused, and what is rolled back, is never a row.
func TestNoRow(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		s := prepare(t, d)
		registry := &orders{}
		put := func(v *validate.Validator, m outbox.Message) error {
			return inTx(t.Context(), d.DB, func(tx *sql.Tx) error {
				_ = outbox.Put(t.Context(), tx, s, v, m) // the business row is committed all the same
				return nil
			})
		}
		errOf := func(v *validate.Validator, m outbox.Message) (err error) {
			_ = inTx(t.Context(), d.DB, func(tx *sql.Tx) error {
				err = outbox.Put(t.Context(), tx, s, v, m)
				return err
			})
			return err
		}
		invalid := event("o-1", 1)
		invalid.Payload = []byte(`{"n":"one"}`)
		v := validator(t, registry)
		if err := put(v, invalid); err != nil {
			t.Fatal(err)
		}
		var refused *validate.Error
		if err := errOf(v, invalid); !errors.As(err, &refused) || refused.Reason != validate.PayloadInvalid || !errors.Is(err, validate.ErrPermanent) {
			t.Errorf("an invalid payload: %v", err)
		}
		for _, tt := range []struct {
			name string
			with func(*outbox.Message)
			want string
		}{
			{"no destination", func(m *outbox.Message) { m.Destination = "" }, "Destination is empty"},
			{"a header of a kind that is lost", func(m *outbox.Message) { m.Headers = []validate.Header{{Name: "x", Value: 1.5}} }, "make it text"},
			{"another key", func(m *outbox.Message) { m.Headers = []validate.Header{{Name: "messageKey", Value: "o-9"}} }, "messageKey"},
			{"a long key", func(m *outbox.Message) { m.Aggregate = strings.Repeat("k", 256) }, "256 bytes"},
		} {
			m := event("o-1", 1)
			tt.with(&m)
			if err := errOf(v, m); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
		// A rollback takes the event with it.
		errWork := errors.New("no")
		if err := inTx(t.Context(), d.DB, func(tx *sql.Tx) error {
			if err := outbox.Put(t.Context(), tx, s, v, event("o-1", 1)); err != nil {
				return err
			}
			return errWork
		}); !errors.Is(err, errWork) {
			t.Error(err)
		}
		registry.down.Store(true)
		if err := errOf(validator(t, registry), event("o-1", 1)); !errors.Is(err, validate.ErrUnavailable) {
			t.Errorf("the registry is down: %v", err)
		}
		if n := d.Int(t, `SELECT count(*) FROM cartorio_outbox`); n != 0 {
			t.Errorf("%d rows are there, want none", n)
		}
		if n := d.Int(t, `SELECT count(*) FROM business`); n != 1 {
			t.Errorf("%d business rows are there, want 1", n)
		}
	})
}

// TestCommitOrder has transactions of one aggregate overlap: the order of the
// outbox is that of their commits.
func TestCommitOrder(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		s := prepare(t, d)
		v := validator(t, &orders{})
		var mu sync.Mutex
		var committed []string
		var all sync.WaitGroup
		for w := range 4 {
			all.Go(func() {
				for i := range 5 {
					m := event("o-1", 10*w+i)
					// What is written down inside the transaction, after Put, is in the
					// order of the commits: the next one's Put waits for this commit.
					if err := inTx(t.Context(), d.DB, func(tx *sql.Tx) error {
						if err := outbox.Put(t.Context(), tx, s, v, m); err != nil {
							return err
						}
						mu.Lock()
						defer mu.Unlock()
						committed = append(committed, m.ID)
						return nil
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		b := &broker{}
		if err := runUntilEmpty(t.Context(), relayOf(d, b)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(committed, b.ids); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCreate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if err := outbox.Create(t.Context(), d.DB, dialect(d)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		b, err := outbox.Count(t.Context(), d.DB, dialect(d))
		if err != nil || b != (outbox.Backlog{}) {
			t.Errorf("an empty outbox holds %+v, %v", b, err)
		}
	})
	for _, s := range []outbox.Dialect{outbox.SQLite, outbox.Postgres} {
		list, err := s.DDL()
		if err != nil || len(list) < 6 || !strings.Contains(fmt.Sprint(list), "WHERE published_at IS NULL") {
			t.Errorf("%s: DDL() = %v, %v", s, list, err)
		}
	}
	if err := outbox.Create(t.Context(), nil, 0); err == nil || !strings.Contains(err.Error(), "outbox.SQLite") {
		t.Errorf("the zero dialect is taken: %v", err)
	}
}

// TestTwoOutboxes has two outboxes in one database put the same aggregate: they
// have nothing to do with each other.
func TestTwoOutboxes(t *testing.T) {
	t.Parallel()
	a, b := dbtest.Postgres(t), dbtest.Postgres(t)
	s := prepare(t, a)
	prepare(t, b)
	v := validator(t, &orders{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := inTx(ctx, a.DB, func(tx *sql.Tx) error {
		if err := outbox.Put(ctx, tx, s, v, event("o-1", 1)); err != nil {
			return err
		}
		return inTx(ctx, b.DB, func(tx *sql.Tx) error { return outbox.Put(ctx, tx, s, v, event("o-1", 1)) })
	}); err != nil {
		t.Error(err)
	}
}
