package deliver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

var ctx = context.Background()

// nobody is a validator that nobody observes.
var nobody = validate.New(nil)

// desk is what the items of a test share: who did what, and when.
type desk struct {
	mu    sync.Mutex
	began time.Time
	log   []string
}

func (d *desk) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, fmt.Sprintf("%ds ", int(time.Since(d.began).Seconds()))+fmt.Sprintf(format, args...))
}

func (d *desk) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.log, ", ")
}

// item is a message that plays a part.
type item struct {
	d       *desk
	name    string
	facts   deliver.Facts
	judge   []validate.Outcome
	handle  func(ctx context.Context, attempt int) error
	dead    []error // what DeadLetter answers, one after the other; nil then
	delayed bool
	delay   error
	settle  error
	letter  validate.DeadLetter
}

func (i *item) Facts() deliver.Facts { return i.facts }

func (i *item) Judge(context.Context) validate.Outcome {
	if len(i.judge) == 0 {
		return validate.Outcome{Verdict: validate.Accept}
	}
	o := i.judge[0]
	if len(i.judge) > 1 {
		i.judge = i.judge[1:]
	}
	return o
}

func (i *item) Handle(ctx context.Context, _ *validate.Outcome, attempt int) error {
	i.d.note("%s attempt %d", i.name, attempt)
	if i.handle == nil {
		return nil
	}
	return i.handle(ctx, attempt)
}

func (i *item) DeadLetter(_ context.Context, d validate.DeadLetter) error {
	i.letter = d
	i.d.note("%s dead letter", i.name)
	if len(i.dead) == 0 {
		return nil
	}
	err := i.dead[0]
	i.dead = i.dead[1:]
	return err
}

func (i *item) Delay(_ context.Context, f deliver.Failure) (bool, error) {
	if i.delayed {
		i.d.note("%s delay %v after %d", i.name, f.Wait, f.Attempts)
	}
	return i.delayed, i.delay
}

func (i *item) Settle(a deliver.Action) error {
	i.d.note("%s %s", i.name, a)
	return i.settle
}

var (
	errBusy = errors.New("busy")
	hold    = validate.Outcome{Verdict: validate.Hold, Reason: validate.RegistryUnreachable}
	refused = validate.Outcome{Verdict: validate.Hold, Reason: validate.RegistryRefused}
	accept  = validate.Outcome{Verdict: validate.Accept}
	reject  = validate.Outcome{Verdict: validate.Reject, Reason: validate.PayloadInvalid}
	pass    = validate.Outcome{Verdict: validate.Reject, Reason: validate.HeaderMissing, Pass: true}
)

// times is a handler that fails so many times.
func times(n int, err error) func(context.Context, int) error {
	return func(_ context.Context, attempt int) error {
		if attempt <= n {
			return err
		}
		return nil
	}
}

func TestWork(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		it   item
		o    deliver.Options
		want string
	}{
		{"accepted", item{}, deliver.Options{}, "0s m attempt 1, 0s m acknowledged"},
		{"rejected", item{judge: []validate.Outcome{reject}}, deliver.Options{}, "0s m dead letter, 0s m dead_lettered"},
		{"passed over", item{judge: []validate.Outcome{pass}}, deliver.Options{}, "0s m skipped"},
		{"held, then accepted", item{judge: []validate.Outcome{hold, hold, hold, accept}}, deliver.Options{}, "1s m attempt 1, 1s m acknowledged"},
		{"held too long", item{judge: []validate.Outcome{hold}}, deliver.Options{HoldFor: 10 * time.Second}, "12s m held too long, 12s m given_back"},
		{"transient", item{handle: times(2, errBusy)}, deliver.Options{}, "0s m attempt 1, 1s m attempt 2, 3s m attempt 3, 3s m acknowledged"},
		{"asked for later", item{handle: times(1, deliver.Retry(errBusy, 30*time.Second))}, deliver.Options{}, "0s m attempt 1, 30s m attempt 2, 30s m acknowledged"},
		{"asked for too late", item{handle: times(1, deliver.Retry(errBusy, time.Hour))}, deliver.Options{}, "0s m attempt 1, 60s m attempt 2, 60s m acknowledged"},
		{"attempts before count", item{facts: deliver.Facts{Attempts: 5}, handle: times(9, errBusy)}, deliver.Options{}, "0s m attempt 6, 0s m dead letter, 0s m dead_lettered"},
		{"the handler rejects", item{handle: times(9, fmt.Errorf("bill: %w", deliver.Reject(errBusy)))}, deliver.Options{}, "0s m attempt 1, 0s m dead letter, 0s m dead_lettered"},
		{"delayed", item{delayed: true, handle: times(9, errBusy)}, deliver.Options{}, "0s m attempt 1, 1s m attempt 2, 1s m delay 2s after 2, 1s m delayed"},
		{"delaying fails", item{delayed: true, delay: errBusy, handle: times(2, errBusy)}, deliver.Options{}, "0s m attempt 1, 1s m attempt 2, 1s m delay 2s after 2, 3s m attempt 3, 3s m acknowledged"},
		{"a panic waits in place", item{delayed: true, facts: deliver.Facts{Attempts: 2}, handle: func(_ context.Context, a int) error {
			if a == 3 {
				panic("oops")
			}
			return nil
		}}, deliver.Options{}, "0s m attempt 3, 4s m attempt 4, 4s m acknowledged"},
		{"the dead letter is away", item{judge: []validate.Outcome{reject}, dead: []error{errBusy, errBusy, errBusy, errBusy}}, deliver.Options{}, "0s m dead letter, 0s m dead letter, 0s m dead letter, 0s m dead letter, 1s m dead letter, 1s m dead_lettered"},
		{"the dead letter is away and the broker has one", item{judge: []validate.Outcome{reject}, dead: []error{errBusy}}, deliver.Options{LeaveToBroker: true}, "0s m dead letter, 0s m left_to_broker"},
		{"not yet due", item{facts: deliver.Facts{NotBefore: time.Date(2000, 1, 1, 0, 0, 7, 0, time.UTC)}}, deliver.Options{}, "7s m attempt 1, 7s m acknowledged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // the clock begins at 2000-01-01
				d := &desk{began: time.Now()}
				it := tt.it
				it.d, it.name = d, "m"
				tt.o.Validator = nobody
				tt.o.Logger = slog.New(slog.DiscardHandler)
				tt.o.Retry.Jitter = -1
				tt.o.HeldTooLong = func(deliver.Item) { d.note("m held too long") }
				var seen deliver.Handled
				tt.o.Observe = func(h deliver.Handled) { seen = h }
				s := deliver.NewSession(ctx)
				a := deliver.NewDesk(tt.o).Work(s, &it)
				if got := d.String(); got != tt.want || seen.Action != a || !strings.HasSuffix(got, a.String()) {
					t.Errorf("%s\ngot  %s\nwant %s", a, got, tt.want)
				}
				if (a == deliver.GivenBack) != s.Stopping() {
					t.Errorf("%s, and the session is halted: %v", a, s.Stopping())
				}
			})
		})
	}
}

func TestDeadLetterSaysWhy(t *testing.T) {
	t.Parallel()
	d := &desk{began: time.Now()}
	work := deliver.NewDesk(deliver.Options{Validator: nobody, Consumer: "me", Expected: "orders 1", Retry: retry.Policy{Attempts: 2, Base: time.Millisecond}, Logger: slog.New(slog.DiscardHandler)})
	it := &item{d: d, name: "m", handle: times(9, fmt.Errorf("bill: %w", errBusy))}
	work.Work(deliver.NewSession(ctx), it)
	l := it.letter
	if l.Reason != validate.AttemptsExhausted || !l.Exhausted || l.Attempts != 2 || l.Consumer != "me" || l.Expected != "orders 1" || !l.FirstFailedAt.Before(l.FailedAt) ||
		l.Trace != "*fmt.wrapError: bill: busy\n*errors.errorString: busy\n" {
		t.Errorf("%+v", l)
	}
	it = &item{d: d, name: "m", handle: func(context.Context, int) error { panic("oops") }}
	work.Work(deliver.NewSession(ctx), it)
	if l := it.letter; l.Reason != validate.HandlerPanicked || !strings.Contains(l.Trace, "goroutine") || !strings.Contains(l.Err.Error(), "oops") {
		t.Errorf("%+v", l)
	}
}

// A session that halts ends every wait, and says nothing about the message.
func TestHaltEndsWaits(t *testing.T) {
	t.Parallel()
	for name, it := range map[string]item{
		"held":                    {judge: []validate.Outcome{hold}},
		"waiting for an attempt":  {handle: times(9, errBusy)},
		"not yet due":             {facts: deliver.Facts{NotBefore: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}},
		"the dead letter is away": {judge: []validate.Outcome{reject}, dead: slices.Repeat([]error{errBusy}, 100)},
		"a handler that is told to end at its last attempt": {facts: deliver.Facts{Attempts: 5}, handle: func(ctx context.Context, _ int) error {
			<-ctx.Done()
			return deliver.Reject(ctx.Err())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				it.d, it.name = &desk{began: time.Now()}, "m"
				s := deliver.NewSession(ctx)
				s.Go(func() {
					if a := deliver.NewDesk(deliver.Options{Validator: nobody, Logger: slog.New(slog.DiscardHandler)}).Work(s, &it); a != deliver.GivenBack {
						t.Errorf("%s", a)
					}
				})
				time.Sleep(700 * time.Millisecond)
				began := time.Now()
				if !s.Finish(3*time.Second, 0) {
					t.Error("it does not finish")
				}
				if took := time.Since(began); took > 3*time.Second || it.facts.Attempts == 0 && took > 0 {
					t.Errorf("after %v", took)
				}
			})
		})
	}
}

func TestFinishGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, release := deliver.NewSession(ctx), make(chan struct{})
		s.Go(func() { <-release })
		began := time.Now()
		if s.Finish(2*time.Second, 3*time.Second) || time.Since(began) != 5*time.Second || s.Context().Err() == nil {
			t.Errorf("after %v", time.Since(began))
		}
		close(release)
	})
}

// Keys are worked on at the same time, as many as there are workers; messages of
// one key in order, and a key that waits lets the others have its worker.
func TestLanes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{began: time.Now()}
		var mu sync.Mutex
		now, most := 0, 0
		slow := func(context.Context, int) error {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(10 * time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return nil
		}
		work := deliver.NewDesk(deliver.Options{Validator: nobody, Workers: 2, Retry: retry.Policy{Base: 100 * time.Second, Cap: 100 * time.Second, Jitter: -1}, Logger: slog.New(slog.DiscardHandler)})
		s := deliver.NewSession(ctx)
		l := work.Lanes(s)
		l.Add("a", &item{d: d, name: "a1", handle: times(1, errBusy)})
		l.Add("b", &item{d: d, name: "b1", handle: times(1, errBusy)})
		l.Add("a", &item{d: d, name: "a2"})
		synctest.Wait()
		for _, name := range []string{"c1", "d1", "e1", "f1"} {
			l.Add(name[:1], &item{d: d, name: name, handle: slow})
		}
		time.Sleep(time.Hour)
		mu.Lock()
		if now != 0 || most != 2 {
			t.Errorf("%d at once", most)
		}
		mu.Unlock()
		got := d.String()
		at := func(what string) int {
			i := strings.Index(got, what)
			if i < 0 {
				t.Fatalf("%s is not in %s", what, got)
			}
			return i
		}
		if at("a1 acknowledged") > at("a2 attempt 1") || strings.Count(got, " 20s ") != 2 || at("100s a1 attempt 2") < 1 {
			t.Error(got)
		}
		s.Finish(time.Second, 0)
	})
}

// What was given back closes its key: nothing behind it is handled.
func TestLanesStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{began: time.Now()}
		s := deliver.NewSession(ctx)
		l := deliver.NewDesk(deliver.Options{Validator: nobody, Workers: 1, Logger: slog.New(slog.DiscardHandler)}).Lanes(s)
		l.Add("a", &item{d: d, name: "a1", handle: times(9, errBusy)})
		l.Add("a", &item{d: d, name: "a2"})
		time.Sleep(500 * time.Millisecond)
		s.Finish(time.Second, 0)
		l.Add("b", &item{d: d, name: "b1"})
		synctest.Wait()
		if got := d.String(); got != "0s a1 attempt 1, 0s a1 given_back" {
			t.Error(got)
		}
	})
}

// Why messages are held is said once a minute, however many there are, and
// louder when somebody has to act.
func TestAlarms(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]validate.Outcome{"WARN": hold, "ERROR": refused} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			var mu sync.Mutex
			s := deliver.NewSession(ctx)
			l := deliver.NewDesk(deliver.Options{Validator: nobody, Source: "work", Logger: slog.New(slog.NewTextHandler(&guarded{w: &out, mu: &mu}, nil))}).Lanes(s)
			for n := range 10 {
				l.Add(fmt.Sprint(n), &item{d: &desk{}, name: "m", judge: []validate.Outcome{o}})
			}
			time.Sleep(30 * time.Second)
			mu.Lock()
			got := out.String()
			mu.Unlock()
			if strings.Count(got, "\n") != 1 || !strings.Contains(got, "level="+want) || !strings.Contains(got, "source=work") {
				t.Error(got)
			}
			s.Finish(time.Second, 0)
		})
	}
}

type guarded struct {
	w  *bytes.Buffer
	mu *sync.Mutex
}

func (g *guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.w.Write(p)
}

func TestErrorsOfHandlers(t *testing.T) {
	t.Parallel()
	if deliver.Reject(nil) != nil || deliver.Retry(nil, time.Second) != nil {
		t.Error("no error becomes one")
	}
	for _, err := range []error{deliver.Reject(errBusy), deliver.Retry(errBusy, 1)} {
		if !errors.Is(err, errBusy) || err.Error() != "busy" {
			t.Errorf("%v", err)
		}
	}
	if deliver.Action(0).String() != "unsettled" {
		t.Error("an action that is none has a word")
	}
}

// seen is an observer of a validator.
type seen struct {
	mu         sync.Mutex
	deliveries []validate.Delivery
	held, most int
}

func (s *seen) Decided(context.Context, *validate.Event) {}
func (s *seen) Asked(context.Context, *validate.Asked)   {}

func (s *seen) Delivered(_ context.Context, d *validate.Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deliveries = append(s.deliveries, *d)
}

func (s *seen) Held(_ context.Context, change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += change
	s.most = max(s.most, s.held)
}

func (s *seen) Carry(context.Context) []validate.Header { return nil }

type trace struct{}

func (s *seen) Extract(ctx context.Context, headers []validate.Header) context.Context {
	return context.WithValue(ctx, trace{}, headers[0].Value)
}

// The validator's observer is told of every settled message, with the times of
// receiving, starting, finishing and acknowledging, and of what is held; a
// handler works within the trace that the message carries.
func TestObserver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := &seen{}
		v := validate.NewWith(nil, validate.Options{Observer: o})
		defer v.Close()
		work := deliver.NewDesk(deliver.Options{Validator: v, System: "kafka", Logger: slog.New(slog.DiscardHandler)})
		facts := deliver.Facts{Destination: "orders", Headers: []validate.Header{{Name: "traceparent", Value: "00-1"}}, Bytes: 3, Redelivered: true}
		s := deliver.NewSession(ctx)
		began := time.Now()
		work.Work(s, &item{d: &desk{}, name: "m", facts: facts, judge: []validate.Outcome{hold, hold, accept}, handle: func(ctx context.Context, _ int) error {
			if ctx.Value(trace{}) != "00-1" {
				t.Error("the handler does not see the trace")
			}
			time.Sleep(time.Second)
			return nil
		}})
		work.Work(s, &item{d: &desk{}, name: "m", facts: facts, judge: []validate.Outcome{reject}})
		s.Go(func() { work.Work(s, &item{d: &desk{}, name: "m", facts: facts, judge: []validate.Outcome{hold}}) })
		time.Sleep(time.Second)
		s.Finish(time.Second, 0)
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.held != 0 || o.most != 1 || len(o.deliveries) != 3 {
			t.Fatalf("held %d, at most %d, %d deliveries", o.held, o.most, len(o.deliveries))
		}
		one, two, three := o.deliveries[0], o.deliveries[1], o.deliveries[2]
		if one.System != "kafka" || one.Destination != "orders" || one.Action != "acknowledged" || one.Verdict != validate.Accept || one.Attempts != 1 || one.Bytes != 3 || !one.Redelivery ||
			!one.Received.Equal(began) || one.Started.Before(began) || one.Finished.Sub(one.Started) != time.Second || !one.Acknowledged.Equal(one.Finished) {
			t.Errorf("%+v", one)
		}
		if two.Action != "dead_lettered" || two.Reason != validate.PayloadInvalid || !two.Started.IsZero() || three.Action != "given_back" || !three.Acknowledged.IsZero() {
			t.Errorf("%+v, %+v", two, three)
		}
	})
}
