package activemq_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

const good = `{"id":1}`

// bench is a consumer at work on a fake broker.
type bench struct {
	b       *fake
	s       *brokertest.Shelf
	handled brokertest.Tally
	events  []activemq.Handled
}

func (w *bench) actions() string {
	var list []string
	for _, h := range w.events {
		list = append(list, h.MessageID+" "+h.Action.String())
	}
	return strings.Join(list, ", ")
}

// consume runs f while a consumer runs, in a bubble of time. A nil handler notes
// what it handles.
func consume(t *testing.T, o activemq.ConsumerOptions, h activemq.Handler, f func(w *bench)) *bench {
	t.Helper()
	w := &bench{b: &fake{}, s: brokertest.NewShelf(orderV1)}
	synctest.Test(t, func(t *testing.T) {
		v := w.s.Validator()
		defer v.Close()
		if h == nil {
			h = func(_ context.Context, d *activemq.Delivery) error {
				w.handled.Add(d.Message.MessageID)
				return nil
			}
		}
		o.Queue, o.Logger = "work", slog.New(slog.DiscardHandler)
		o.Observe = func(h activemq.Handled) { w.events = append(w.events, h) }
		c, err := activemq.NewConsumer(w.b.open, v, &validate.Expect{Subject: orders}, h, o)
		if err != nil {
			t.Fatal(err)
		}
		running, stop := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- c.Run(running) }()
		synctest.Wait()
		f(w)
		synctest.Wait()
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return w
}

// What is rejected goes to the dead letter in one transaction; what is accepted
// is acknowledged after the handler.
func TestConsumer(t *testing.T) {
	t.Parallel()
	w := consume(t, activemq.ConsumerOptions{}, nil, func(w *bench) {
		w.b.put("m-1", good)
		w.b.put("m-2", `{`, "scheduledJobId", "x", "AMQ_SCHEDULED_DELAY", "9", "long", strings.Repeat("\n", 9_000), "expires", "17")
		w.b.put("m-3", good)
	})
	if got := strings.Join(w.b.settled(), ", "); got != "ACK m-1, ACK m-2, COMMIT, ACK m-3, DISCONNECT" {
		t.Errorf("settled %s", got)
	}
	if got := w.actions(); got != "m-1 acknowledged, m-2 dead_lettered, m-3 acknowledged" {
		t.Errorf("told %s", got)
	}
	dead := w.b.published()
	if len(dead) != 1 {
		t.Fatalf("%d published", len(dead))
	}
	h := dead[0].Header
	for name, want := range map[string]string{
		"destination": "/queue/DLQ.work", "persistent": "true", "messageId": "m-2", "dlqReason": "payload_unreadable", "dlqOriginalQueue": "work",
		"scheduledJobId": "", "AMQ_SCHEDULED_DELAY": "", "expires": "", "message-id": "", "ack": "",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	// A line that the broker would not take is cut.
	if n := len(h.Get("long")); n < 5_000 || 2*n+5 > activemq.LongestLine {
		t.Errorf("the long header has %d bytes", n)
	}
}

// While the registry is away messages are held; after a minute the connection
// ends, and none is made until the message can be judged.
func TestHold(t *testing.T) {
	t.Parallel()
	w := consume(t, activemq.ConsumerOptions{Prefetch: 3}, nil, func(w *bench) {
		w.s.Fail(schemas.ErrUnreachable)
		for n := range 5 {
			w.b.put(fmt.Sprint(n), good)
		}
		time.Sleep(59 * time.Second)
		if n := w.b.connections(); n != 2 { // one at the start
			t.Errorf("%d connections within a minute", n)
		}
		time.Sleep(10 * time.Minute)
		if n := w.b.connections(); n != 2 {
			t.Errorf("%d connections while nothing can be judged", n)
		}
		w.s.Fail(nil)
		time.Sleep(time.Minute)
	})
	if got := strings.Join(w.handled.Order(), " "); got != "0 1 2 3 4" {
		t.Errorf("handled %s", got)
	}
	if got := w.actions(); !strings.HasPrefix(got, "0 given_back, 0 acknowledged, 1 ") || len(w.b.published()) != 0 {
		t.Errorf("told %s; %d published", got, len(w.b.published()))
	}
}

// A lost connection is made again, and what was not settled comes again.
func TestLostConnection(t *testing.T) {
	t.Parallel()
	w := consume(t, activemq.ConsumerOptions{Retry: retry.Policy{Base: time.Second, Jitter: -1}}, func(_ context.Context, d *activemq.Delivery) error {
		if d.Message.MessageID == "m-1" && d.Attempt == 1 {
			return errors.New("busy")
		}
		return nil
	}, func(w *bench) {
		w.b.put("m-1", good)
		synctest.Wait()
		w.b.cut()
		time.Sleep(time.Minute)
		w.b.put("m-2", good)
	})
	if got := w.actions(); got != "m-1 given_back, m-1 acknowledged, m-2 acknowledged" {
		t.Errorf("told %s", got)
	}
}

// A consumer that stops lets its handler end, acknowledges, says goodbye, and
// leaves the rest in the queue.
func TestGracefulStop(t *testing.T) {
	t.Parallel()
	w := consume(t, activemq.ConsumerOptions{Prefetch: 5}, func(ctx context.Context, _ *activemq.Delivery) error {
		time.Sleep(10 * time.Second)
		return ctx.Err()
	}, func(w *bench) {
		for n := range 5 {
			w.b.put(fmt.Sprint(n), good)
		}
		time.Sleep(time.Second)
	})
	if got := strings.Join(w.b.settled(), ", "); got != "ACK 0, DISCONNECT" || len(w.b.queue) != 4 {
		t.Errorf("settled %s, %d left", got, len(w.b.queue))
	}
}

// A retry that takes long leaves the queue with its own header, not in a
// transaction; one that the broker does not answer is tried in place.
func TestScheduledRetry(t *testing.T) {
	t.Parallel()
	for _, isSilent := range []bool{false, true} {
		tries := 0
		w := consume(t, activemq.ConsumerOptions{ScheduledRetries: true, Retry: retry.Policy{Base: 4 * time.Second, Attempts: 2}}, func(context.Context, *activemq.Delivery) error {
			tries++
			if tries == 1 {
				return errors.New("busy")
			}
			return nil
		}, func(w *bench) {
			time.Sleep(2 * time.Second)
			w.b.mu.Lock()
			if isSilent {
				w.b.answer = func(*frame.Frame) (*frame.Frame, bool) { return nil, true }
			}
			w.b.mu.Unlock()
			w.b.put("m-1", good, "messageKey", "k")
			time.Sleep(2 * time.Minute)
		})
		sent := w.b.published()
		last := sent[len(sent)-1].Header
		delay := 0
		_, _ = fmt.Sscan(last.Get("AMQ_SCHEDULED_DELAY"), &delay)
		if last.Get("destination") != "/queue/work" || last.Get("retryAttempts") != "1" || last.Get("JMSXGroupID") != "k" || last.Get("transaction") != "" || delay < 3000 || delay > 4000 {
			t.Errorf("%v", last)
		}
		want := "m-1 delayed"
		if isSilent {
			want = "m-1 acknowledged"
		}
		if got := w.actions(); got != want {
			t.Errorf("silent %v: told %s", isSilent, got)
		}
	}
}

// A broker that hands out without bounds is left rather than waited for: it would
// not be heard of any more.
func TestFlood(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	synctest.Test(t, func(t *testing.T) {
		b, s := &fake{}, brokertest.NewShelf(orderV1)
		v := s.Validator()
		defer v.Close()
		c, err := activemq.NewConsumer(b.open, v, &validate.Expect{Subject: orders}, func(context.Context, *activemq.Delivery) error {
			time.Sleep(time.Hour)
			return nil
		}, activemq.ConsumerOptions{Queue: "work", Drain: time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 2000 {
			b.put(fmt.Sprint(n), good)
		}
		running, stop := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- c.Run(running) }()
		synctest.Wait()
		b.mu.Lock()
		last := b.conns[len(b.conns)-1]
		last.flood = true
		last.hand()
		b.mu.Unlock()
		time.Sleep(2 * time.Hour)
		stop()
		<-done
	})
	if !strings.Contains(log.String(), "prefetchSize") {
		t.Errorf("%s", log.String())
	}
}

func TestConsumerRefusesToStart(t *testing.T) {
	t.Parallel()
	v := brokertest.NewShelf(orderV1).Validator()
	t.Cleanup(v.Close)
	for _, tt := range []struct {
		name string
		e    validate.Expect
		o    activemq.ConsumerOptions
		says string
	}{
		{"no queue", validate.Expect{}, activemq.ConsumerOptions{}, "Queue"},
		{"its own dead letter", validate.Expect{}, activemq.ConsumerOptions{Queue: "/queue/work", DeadLetter: "queue://work"}, "come again"},
		{"an order that cannot be kept", validate.Expect{}, activemq.ConsumerOptions{Queue: "work", Keyed: true, ScheduledRetries: true}, "exclude"},
		{"retries of what may be lost", validate.Expect{}, activemq.ConsumerOptions{Queue: "work", LossAcceptable: "presence", ScheduledRetries: true}, "exclude"},
		{"an expectation that does not fit", validate.Expect{Assume: 1}, activemq.ConsumerOptions{Queue: "work"}, "Subject"},
	} {
		if _, err := activemq.NewConsumer((&fake{}).open, v, &tt.e, nil, tt.o); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		b := &fake{refuse: errNoBroker}
		c, err := activemq.NewConsumer(b.open, v, &validate.Expect{}, nil, activemq.ConsumerOptions{Queue: "work"})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(ctx); !errors.Is(err, errNoBroker) || b.connections() != 3 {
			t.Errorf("no broker: %v after %d tries", err, b.connections())
		}
		stopped, stop := context.WithCancel(ctx)
		stop()
		if err := c.Run(stopped); err != nil {
			t.Errorf("stopped before it began: %v", err)
		}
	})
}
