package dedupe_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/dbtest"
	"github.com/cartorio-registry/cartorio/clients/dedupe"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// traffic makes n deliveries of which 30 in 100 repeat another, in random order,
// and the sum of the amounts of the messages.
func traffic(n int) (deliveries []delivery, messages, sum int) {
	r := rand.New(rand.NewPCG(7, uint64(n))) //nolint:gosec // a test's, and the same each time
	messages = n * 7 / 10
	for i := range messages {
		deliveries = append(deliveries, delivery{fmt.Sprintf("m-%d", i), 1 + r.IntN(100)})
		sum += deliveries[i].amount
	}
	for len(deliveries) < n {
		deliveries = append(deliveries, deliveries[r.IntN(messages)])
	}
	r.Shuffle(n, func(i, j int) { deliveries[i], deliveries[j] = deliveries[j], deliveries[i] })
	return deliveries, messages, sum
}

// check compares the account with what the messages add up to.
func check(t *testing.T, d dbtest.Database, messages, sum int) {
	t.Helper()
	if got := d.Int(t, `SELECT sum(total) FROM account`); got != int64(sum) {
		t.Errorf("the sum is %d, want %d", got, sum)
	}
	if got := d.Int(t, `SELECT sum(handled) FROM account`); got != int64(messages) {
		t.Errorf("work was done %d times, want %d", got, messages)
	}
	if got := d.Int(t, `SELECT count(*) FROM cartorio_dedupe`); got != int64(messages) {
		t.Errorf("%d messages are remembered, want %d", got, messages)
	}
}

// TestTenThousand hands 10,000 deliveries, 30 % of them duplicates, to eight
// workers at once.
func TestTenThousand(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		s := prepare(t, d)
		n := 10_000
		if testing.Short() {
			n = 1_000
		}
		deliveries, messages, sum := traffic(n)
		var next, worked atomic.Int64
		var workers sync.WaitGroup
		began := time.Now()
		for range 8 {
			workers.Go(func() {
				for {
					i := int(next.Add(1)) - 1
					if i >= n {
						return
					}
					one := deliveries[i]
					err := dedupe.Once(t.Context(), d.DB, s, dedupe.Message{Consumer: "billing", ID: one.id}, func(ctx context.Context, tx *sql.Tx) error {
						worked.Add(1)
						return add(ctx, tx, one.amount)
					})
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		workers.Wait()
		check(t, d, messages, sum)
		t.Logf("%d deliveries of %d messages in %s: work was begun %d times, the sum is %d", n, messages, time.Since(began).Round(time.Millisecond), worked.Load(), sum)
	})
}

// watch is an Observer that writes down what it is told.
type watch struct {
	mu   sync.Mutex
	told []string
}

func (w *watch) Worked(_ context.Context, one *dedupe.Worked) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, fmt.Sprintf("%s %s %s %v", one.Message.Consumer, one.Message.ID, one.Result, one.Err != nil))
}

// TestObserver tells of what Once was given, and of nothing where nobody looks.
func TestObserver(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		w := &watch{}
		s := dedupe.Observed(prepare(t, d), w)
		busy := errors.New("busy")
		for _, tt := range []struct {
			id  string
			err error
		}{{"m1", busy}, {"m1", nil}, {"m1", nil}, {"", nil}} {
			err := dedupe.Once(t.Context(), d.DB, s, dedupe.Message{Consumer: "billing", ID: tt.id}, func(context.Context, *sql.Tx) error { return tt.err })
			if !errors.Is(err, tt.err) && tt.id != "" {
				t.Errorf("Once: %v", err)
			}
		}
		if err := dedupe.Once(t.Context(), d.DB, dialect(d.Driver), dedupe.Message{Consumer: "billing", ID: "m2"}, func(context.Context, *sql.Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(w.told, ", "), "billing m1 failed true, billing m1 done false, billing m1 duplicate false, billing  failed true"; got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

// TestKill kills consumers, by turns between the work and its commit, and between
// the commit and the acknowledgement.
func TestKill(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		prepare(t, d)
		n, deaths := 300, 6
		if isLong {
			n, deaths = 10_000, 50
		}
		deliveries, messages, sum := traffic(n)
		crashed, redelivered := queue(t, d, deliveries, "", deaths)
		check(t, d, messages, sum)
		if crashed != deaths {
			t.Errorf("%d consumers were killed, want %d", crashed, deaths)
		}
		t.Logf("%d deliveries of %d messages, %d consumers killed, %d redelivered: the sum is %d", n, messages, crashed, redelivered, sum)
	})
}

// TestCard charges a card once for each message although consumers are killed
// after they charged it and before they could write that down.
func TestCard(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		prepare(t, d)
		c := &card{charged: map[string]string{}}
		server := httptest.NewServer(c)
		defer server.Close()
		deliveries, messages, sum := traffic(100)
		crashed, _ := queue(t, d, deliveries, server.URL, 6)
		check(t, d, messages, sum)
		if len(c.charged) != messages {
			t.Errorf("the card was charged %d times, want %d", len(c.charged), messages)
		}
		if c.requests <= messages {
			t.Errorf("the card was asked %d times for %d messages: no crash came between the charge and the commit", c.requests, messages)
		}
		t.Logf("%d consumers killed: %d requests to charge, %d charges for %d messages", crashed, c.requests, len(c.charged), messages)
	})
}

func TestOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		s := prepare(t, d)
		errWork := errors.New("no")
		work := func(consumer, id string, fails error) error {
			return dedupe.Once(t.Context(), d.DB, s, dedupe.Message{Consumer: consumer, ID: id}, func(ctx context.Context, tx *sql.Tx) error {
				if err := add(ctx, tx, 1); err != nil {
					return err
				}
				return fails
			})
		}
		// Work that fails leaves nothing, so the redelivery is no duplicate.
		if err := work("billing", "a", errWork); !errors.Is(err, errWork) {
			t.Errorf("the work's error is lost: %v", err)
		}
		check(t, d, 0, 0)
		for range 3 {
			if err := work("billing", "a", nil); err != nil {
				t.Error(err)
			}
		}
		check(t, d, 1, 1)
		// Another subscriber has work of its own on the same message.
		if err := work("shipping", "a", nil); err != nil {
			t.Error(err)
		}
		check(t, d, 2, 2)
		for _, tt := range []struct{ consumer, id, want string }{
			{"", "a", "Message.Consumer is empty"},
			{strings.Repeat("c", 256), "a", "256 bytes"},
			{"billing", "", "no id"},
			{"billing", strings.Repeat("i", 256), "256 bytes"},
		} {
			err := work(tt.consumer, tt.id, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("consumer %.9q, id %.9q: %v, want %q", tt.consumer, tt.id, err, tt.want)
			}
			if tt.consumer == "billing" && !errors.Is(err, dedupe.ErrNoID) {
				t.Errorf("id %.9q: %v is not ErrNoID", tt.id, err)
			}
		}
		// A panic rolls back too.
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			_ = dedupe.Once(t.Context(), d.DB, s, dedupe.Message{Consumer: "billing", ID: "b"}, func(ctx context.Context, tx *sql.Tx) error {
				_ = add(ctx, tx, 1)
				panic("no")
			})
		}()
		check(t, d, 2, 2)
	})
}

// TestWaits has two deliveries of one message worked on at once: the second waits
// for the first, and does its work when the first fails.
func TestWaits(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
			s := prepare(t, d)
			m := dedupe.Message{Consumer: "billing", ID: "a"}
			began, second := make(chan struct{}), make(chan error, 1)
			errWork := errors.New("no")
			err := dedupe.Once(t.Context(), d.DB, s, m, func(ctx context.Context, tx *sql.Tx) error {
				go func() {
					close(began)
					second <- dedupe.Once(t.Context(), d.DB, s, m, func(ctx context.Context, tx *sql.Tx) error { return add(ctx, tx, 1) })
				}()
				<-began
				select {
				case err := <-second:
					t.Errorf("the second did not wait: %v", err)
					second <- err
				case <-time.After(50 * time.Millisecond): // as long as it would have needed
				}
				if fails {
					return errWork
				}
				return add(ctx, tx, 1)
			})
			if err != nil != fails || fails != errors.Is(err, errWork) {
				t.Fatal(err)
			}
			if err := <-second; err != nil {
				t.Error(err)
			}
			check(t, d, 1, 1)
		})
	}
}

func TestExpire(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		s := prepare(t, d)
		old := `INSERT INTO cartorio_dedupe SELECT 'billing', 'old-' || n, now() - interval '2 hours' FROM generate_series(1, 12000) n`
		if !d.IsPostgres() {
			old = `INSERT INTO cartorio_dedupe WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 12000)
				SELECT 'billing', 'old-' || n, unixepoch('now', '-2 hours') * 1000 FROM r`
		}
		d.Exec(t, old)
		for i := range 3 {
			if err := dedupe.Once(t.Context(), d.DB, s, dedupe.Message{Consumer: "billing", ID: fmt.Sprint(i)}, func(context.Context, *sql.Tx) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		for _, tt := range []struct {
			olderThan time.Duration
			want      int64
		}{{3 * time.Hour, 0}, {time.Hour, 12_000}, {time.Hour, 0}} {
			if n, err := dedupe.Expire(t.Context(), d.DB, s, tt.olderThan); err != nil || n != tt.want {
				t.Errorf("Expire(%s) = %d, %v, want %d", tt.olderThan, n, err, tt.want)
			}
		}
		if n := d.Int(t, `SELECT count(*) FROM cartorio_dedupe`); n != 3 {
			t.Errorf("%d are left, want 3", n)
		}
		if _, err := dedupe.Expire(t.Context(), d.DB, s, 0); err == nil {
			t.Error("all entries may be forgotten")
		}
	})
}

// TestCreate makes the tables from many sides at once, and again.
func TestCreate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if err := dedupe.Create(t.Context(), d.DB, dialect(d.Driver)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	if err := dedupe.Create(t.Context(), nil, 0); err == nil || !strings.Contains(err.Error(), "dedupe.SQLite") {
		t.Errorf("the zero dialect is taken: %v", err)
	}
	if list, err := dedupe.Postgres.DDL(); err != nil || len(list) != 3 {
		t.Errorf("DDL() = %d statements, %v", len(list), err)
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	id := func(values ...any) (out []validate.Header) {
		for _, v := range values {
			out = append(out, validate.Header{Name: "messageId", Value: v})
		}
		return out
	}
	for _, tt := range []struct {
		name    string
		headers []validate.Header
		want    string // "" for ErrNoID
	}{
		{"text", id("o-1"), "o-1"},
		{"bytes", id([]byte("o-1")), "o-1"},
		{"number", id(int64(17)), "17"},
		{"twice the same", id("o-1", []byte("o-1")), "o-1"},
		{"null beside", id(nil, "o-1"), "o-1"},
		{"none", nil, ""},
		{"null", id(nil), ""},
		{"empty", id(""), ""},
		{"two", id("o-1", "o-2"), ""},
		{"true", id(true), ""},
		{"long", id(strings.Repeat("x", 256)), ""},
		{"another case", []validate.Header{{Name: "messageid", Value: "o-1"}}, ""},
	} {
		m, err := dedupe.Of("billing", tt.headers)
		if m.ID != tt.want || errors.Is(err, dedupe.ErrNoID) != (tt.want == "") {
			t.Errorf("%s: %q, %v", tt.name, m.ID, err)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, parts := range [][]string{{}, {""}, {"", ""}, {"a"}, {"ab"}, {"a", "b"}, {"ab", ""}, {"", "ab"}, {"b", "a"}, {"a\x00b"}, {"a,b"}} {
		key := dedupe.KeyOf(parts...)
		if other, there := seen[key]; there || len(key) != 64 {
			t.Errorf("%q has the key %s, as %s", parts, key, other)
		}
		seen[key] = fmt.Sprint(parts)
		if dedupe.KeyOf(parts...) != key {
			t.Errorf("%q has two keys", parts)
		}
	}
	m := dedupe.Message{Consumer: "billing", ID: "o-1"}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	dedupe.SetIdempotencyKey(r, m, "charge")
	key := r.Header.Get("Idempotency-Key")
	if key != dedupe.IdempotencyKey(m, "charge") || key == dedupe.IdempotencyKey(m, "refund") || key == dedupe.IdempotencyKey(dedupe.Message{Consumer: "shipping", ID: "o-1"}, "charge") {
		t.Errorf("the key %q does not tell calls apart", key)
	}
}

func TestReturns(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for _, tt := range []struct {
		name    string
		returns dedupe.Returns
		want    time.Duration
	}{
		{"retries of the default policy alone", dedupe.Returns{}, 38750 * time.Millisecond}, // (1+2+4+8+16) s and a quarter
		{"a week of Kafka", dedupe.Returns{Retention: 7 * day, Retry: retry.Policy{Attempts: 1}}, 7 * day},
		{"replays", dedupe.Returns{Retention: day, Replay: 30 * day, Retry: retry.Policy{Attempts: 3, Jitter: -1}}, 31*day + 3*time.Second},
		{"a long row of equal waits", dedupe.Returns{Retry: retry.Policy{Attempts: 1001, Base: time.Minute, Jitter: -1}}, 1000 * time.Minute},
		{"beyond all time", dedupe.Returns{Retry: retry.Policy{Attempts: math.MaxInt, Base: time.Hour, Cap: time.Hour}}, math.MaxInt64},
	} {
		if got := tt.returns.Longest(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if err := tt.returns.Check(tt.want); err == nil || !strings.Contains(err.Error(), "longer than that") {
			t.Errorf("%s: a window as long as the returns is taken: %v", tt.name, err)
		}
		if tt.want < math.MaxInt64 && tt.returns.Check(tt.want+1) != nil {
			t.Errorf("%s: a longer window is refused", tt.name)
		}
	}
}

func TestSequence(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d dbtest.Database) {
		s := prepare(t, d)
		for i, tt := range []struct {
			entity string
			n      int64
			want   bool
		}{{"o-1", 3, true}, {"o-1", 3, false}, {"o-1", 2, false}, {"o-1", 4, true}, {"o-2", 1, true}, {"o-1", math.MaxInt64, true}, {"o-2", -1, false}} {
			err := dedupe.Once(t.Context(), d.DB, s, dedupe.Message{Consumer: "billing", ID: fmt.Sprint(i)}, func(ctx context.Context, tx *sql.Tx) error {
				got, err := dedupe.Newer(ctx, tx, s, "billing", tt.entity, tt.n)
				if got != tt.want {
					t.Errorf("%d: Newer(%s, %d) = %v", i, tt.entity, tt.n, got)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	for _, tt := range []struct {
		value any
		want  int64
		ok    bool
		fails bool
	}{
		{nil, 0, false, false},
		{"17", 17, true, false},
		{int64(17), 17, true, false},
		{"-1", -1, true, false},
		{"1970-01-01T00:00:01.5Z", 1_500_000, true, false},
		{"1970-01-01T01:00:01.5+01:00", 1_500_000, true, false},
		{"soon", 0, false, true},
		{"", 0, false, true},
		{"9223372036854775808", 0, false, true},
		{1.5, 0, false, true},
	} {
		n, ok, err := dedupe.Sequence([]validate.Header{{Name: "eventSequence", Value: tt.value}})
		if n != tt.want || ok != tt.ok || (err != nil) != tt.fails {
			t.Errorf("%v: %d, %v, %v", tt.value, n, ok, err)
		}
	}
}
