package activemq_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// produce runs f with a producer on a fake broker, in a bubble of time.
func produce(t *testing.T, b *fake, s *brokertest.Shelf, o activemq.ProducerOptions, f func(p *activemq.Producer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v := s.Validator()
		defer v.Close()
		p := activemq.NewProducer(b.open, v, validate.Version(orders, 1), o)
		f(p)
		if err := p.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := p.Publish(ctx, "work", &activemq.Message{Body: []byte(good)}); !errors.Is(err, activemq.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func publish(p *activemq.Producer, id string) error {
	return p.Publish(ctx, "work", &activemq.Message{MessageID: id, Body: []byte(good)})
}

func fateOf(err error) activemq.Fate {
	var e *activemq.Error
	if errors.As(err, &e) {
		return e.Fate
	}
	return 0
}

func fault(f *frame.Frame, text string) *frame.Frame {
	return frame.New(frame.ERROR, frame.Message, text, frame.ReceiptId, f.Header.Get(frame.Receipt))
}

// A frame is persistent, has a receipt and its stamps; what is invalid, or cannot
// be judged, opens no connection.
func TestPublish(t *testing.T) {
	t.Parallel()
	b, s := &fake{}, brokertest.NewShelf(orderV1)
	produce(t, b, s, activemq.ProducerOptions{}, func(p *activemq.Producer) {
		s.Fail(schemas.ErrUnreachable)
		if err := publish(p, "m"); !errors.Is(err, validate.ErrUnavailable) || b.connections() != 0 {
			t.Errorf("registry away: %v", err)
		}
		s.Fail(nil)
		time.Sleep(time.Minute)
		if err := p.Publish(ctx, "work", &activemq.Message{Body: []byte(`{"id":"x"}`)}); !errors.Is(err, validate.ErrPermanent) || b.connections() != 0 {
			t.Errorf("invalid: %v", err)
		}
		if err := p.Publish(ctx, "topic://VirtualTopic.orders", &activemq.Message{Key: "k", Body: []byte(good)}); err != nil {
			t.Fatal(err)
		}
	})
	h := b.published()[0].Header
	for name, want := range map[string]string{"destination": "/topic/VirtualTopic.orders", "persistent": "true", "schemaVersion": "1", "messageKey": "k", "JMSXGroupID": "k", "content-length": "8"} {
		if got := h.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if h.Get("receipt") == "" || h.Get("messageId") == "" {
		t.Errorf("%v", h)
	}
}

// An ERROR ends the connection for all. The message that it was about is refused
// when it gets it again, alone; all others arrive.
func TestError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text    string
		isNamed bool
		want    activemq.Fate
	}{
		{"User app is not authorized", true, activemq.Refused},
		{"User app is not authorized", false, activemq.Refused},
		{"javax.jms.ResourceAllocationException: Usage Manager memory limit reached", true, activemq.Nacked},
	} {
		b := &fake{}
		arrived := map[string]bool{}
		b.answer = func(f *frame.Frame) (*frame.Frame, bool) {
			id := f.Header.Get("messageId")
			if id != "bad" {
				arrived[id] = true
				return nil, false
			}
			e := fault(f, tt.text)
			if !tt.isNamed {
				e.Header.Del(frame.ReceiptId)
			}
			return e, false
		}
		produce(t, b, brokertest.NewShelf(orderV1), activemq.ProducerOptions{}, func(p *activemq.Producer) {
			var all sync.WaitGroup
			for n := range 50 {
				id := fmt.Sprint(n)
				if n == 25 {
					id = "bad"
				}
				all.Go(func() {
					err := publish(p, id)
					if want := tt.want; id == "bad" && fateOf(err) != want || id != "bad" && err != nil {
						t.Errorf("%s: %s: %v", tt.text, id, err)
					}
				})
			}
			all.Wait()
		})
		if len(arrived) != 49 {
			t.Errorf("%d arrived", len(arrived))
		}
	}
}

// A broker that goes down with an ERROR refuses nothing: the message is sent
// again.
func TestErrorOfABrokerThatEnds(t *testing.T) {
	t.Parallel()
	b, n := &fake{}, 0
	b.answer = func(f *frame.Frame) (*frame.Frame, bool) {
		if n++; n == 1 {
			return fault(f, "The broker has been stopped"), false
		}
		return nil, false
	}
	produce(t, b, brokertest.NewShelf(orderV1), activemq.ProducerOptions{}, func(p *activemq.Producer) {
		if err := publish(p, "m"); err != nil {
			t.Error(err)
		}
	})
	sent := b.published()
	if len(sent) != 2 || sent[0].Header.Get("messageId") != sent[1].Header.Get("messageId") {
		t.Errorf("%d sent", len(sent))
	}
}

// Without a receipt the fate is unknown; without a connection nothing was sent,
// and why is said; a line that is cut is no matter.
func TestNoReceipt(t *testing.T) {
	t.Parallel()
	b := &fake{answer: func(*frame.Frame) (*frame.Frame, bool) { return nil, true }}
	produce(t, b, brokertest.NewShelf(orderV1), activemq.ProducerOptions{}, func(p *activemq.Producer) {
		brief, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := p.Publish(brief, "work", &activemq.Message{Body: []byte(good)}); fateOf(err) != activemq.Unknown || !errors.Is(err, validate.ErrUnavailable) {
			t.Errorf("no receipt: %v", err)
		}
		go func() {
			time.Sleep(time.Second)
			b.mu.Lock()
			b.answer = nil
			b.mu.Unlock()
			b.cut()
		}()
		if err := publish(p, "m"); err != nil {
			t.Errorf("a line that is cut: %v", err)
		}
	})
	gone := &fake{refuse: errNoBroker}
	produce(t, gone, brokertest.NewShelf(orderV1), activemq.ProducerOptions{}, func(p *activemq.Producer) {
		brief, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		err := p.Publish(brief, "work", &activemq.Message{Body: []byte(good)})
		if fateOf(err) != activemq.Unsent || !errors.Is(err, errNoBroker) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("no broker: %v", err)
		}
		if n := gone.connections(); n < 300 || n > 400 {
			t.Errorf("it was asked %d times within an hour", n)
		}
	})
}

// Many publishes wait for their receipts at once, and no more than the window.
func TestWindow(t *testing.T) {
	t.Parallel()
	b := &fake{answer: func(*frame.Frame) (*frame.Frame, bool) { return nil, true }}
	produce(t, b, brokertest.NewShelf(orderV1), activemq.ProducerOptions{Window: 10}, func(p *activemq.Producer) {
		patience, cancel := context.WithCancel(ctx)
		var all sync.WaitGroup
		for range 30 {
			all.Go(func() {
				if err := p.Publish(patience, "work", &activemq.Message{Body: []byte(good)}); err == nil {
					t.Error("no receipt, and no error")
				}
			})
		}
		synctest.Wait()
		if n := len(b.published()); n != 10 {
			t.Errorf("%d on their way", n)
		}
		cancel()
		all.Wait()
	})
}

func TestErrorsSayWhere(t *testing.T) {
	t.Parallel()
	for fate, want := range map[activemq.Fate]string{activemq.Refused: "refused", activemq.TooLarge: "too_large", activemq.Nacked: "nacked", activemq.Unknown: "unknown", activemq.Unsent: "unsent", 0: "undecided"} {
		err := &activemq.Error{Fate: fate, Destination: "/queue/work", MessageID: "m", Err: errNoBroker}
		if got := err.Error(); got != fmt.Sprintf(`publish message m to "/queue/work": %s: connection refused`, want) {
			t.Error(got)
		}
		permanent, unavailable := errors.Is(err, validate.ErrPermanent), errors.Is(err, validate.ErrUnavailable)
		if permanent == unavailable && fate != 0 || strings.Contains("refused too_large", want) != permanent {
			t.Errorf("%s: permanent %v, unavailable %v", want, permanent, unavailable)
		}
	}
}
