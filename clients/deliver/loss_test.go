package deliver_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Where losses are acceptable the broker is told before the work, which is done
// once; what the validator refuses is set aside as ever.
func TestLossAcceptable(t *testing.T) {
	t.Parallel()
	secret := errors.New("card 4111")
	for _, tt := range []struct {
		name string
		it   item
		want string // what was done
		told string // what the observer was told
	}{
		{"accepted", item{}, "0s m acknowledged, 0s m attempt 1", "acknowledged 1"},
		{"the handler fails", item{handle: times(9, secret)}, "0s m acknowledged, 0s m attempt 1", "lost 1"},
		{"the handler rejects", item{handle: times(9, deliver.Reject(secret))}, "0s m acknowledged, 0s m attempt 1", "lost 1"},
		{"the handler panics", item{handle: func(context.Context, int) error { panic("oops") }}, "0s m acknowledged, 0s m attempt 1", "lost 1"},
		{"the broker cannot be told", item{settle: errBusy}, "0s m acknowledged", "given_back 1"},
		{"rejected", item{judge: []validate.Outcome{reject}}, "0s m dead letter, 0s m dead_lettered", "dead_lettered 1"},
		{"held, then accepted", item{judge: []validate.Outcome{hold, accept}}, "0s m acknowledged, 0s m attempt 1", "acknowledged 1"},
		{"passed over", item{judge: []validate.Outcome{pass}}, "0s m skipped", "skipped 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				o := &seen{}
				v := validate.NewWith(nil, validate.Options{Observer: o})
				defer v.Close()
				d := &desk{began: time.Now()}
				it := tt.it
				it.d, it.name = d, "m"
				it.facts.Headers = []validate.Header{{Name: "traceparent", Value: "00-1"}}
				work := deliver.NewDesk(deliver.Options{Validator: v, Source: "presence", LossAcceptable: "the next one comes in a second", Logger: slog.New(slog.NewTextHandler(&log, nil))})
				a := work.Work(deliver.NewSession(ctx), &it)
				if got := d.String(); got != tt.want {
					t.Errorf("done: %s, want %s", got, tt.want)
				}
				one := o.deliveries[0]
				if got := a.String() + " " + string(rune('0'+one.Attempts)); got != tt.told || one.Action != a.String() || one.LossAcceptable != "the next one comes in a second" {
					t.Errorf("told: %s, %+v", got, one)
				}
				if !one.Acknowledged.IsZero() && !one.Started.IsZero() && one.Acknowledged.After(one.Started) {
					t.Error("acknowledged after the work")
				}
				if text := log.String(); !strings.Contains(text, "acknowledged before the work") || !strings.Contains(text, "the next one comes in a second") || strings.Contains(text, "4111") {
					t.Errorf("log: %s", text)
				}
			})
		})
	}
}

// A prefetch counts messages: what they weigh together is warned of, at most once
// a minute.
func TestMemoryBudget(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		o      deliver.Options
		bytes  int
		warned int // in two minutes of a message a second
	}{
		{"small", deliver.Options{Prefetch: 16}, 1 << 10, 0},
		{"large", deliver.Options{Prefetch: 250}, 300 << 10, 2},
		{"at the default budget", deliver.Options{Prefetch: 64}, 1 << 20, 0},
		{"a budget of one's own", deliver.Options{Prefetch: 2, MemoryBudget: 1000}, 501, 2},
		{"none wanted", deliver.Options{Prefetch: 250, MemoryBudget: -1}, 300 << 10, 0},
		{"not known", deliver.Options{}, 300 << 20, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				tt.o.Validator, tt.o.Logger = nobody, slog.New(slog.NewTextHandler(&log, nil))
				work := deliver.NewDesk(tt.o)
				s := deliver.NewSession(ctx)
				for range 120 {
					work.Work(s, &item{d: &desk{}, name: "m", facts: deliver.Facts{Bytes: tt.bytes}})
					time.Sleep(time.Second)
				}
				if got := strings.Count(log.String(), "clients/claim"); got != tt.warned {
					t.Errorf("warned %d times: %s", got, log.String())
				}
			})
		})
	}
}
