package rabbitmq

import (
	"context"
	"sync"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

const (
	firstAsk   = 250 * time.Millisecond
	longestAsk = 5 * time.Second
)

// judge asks the validator, and asks again while it holds. The worker keeps the
// message meanwhile and takes no other, so order is kept and nothing is
// redelivered. After HoldFor the whole consumer pauses; ok is false then, and
// the message is to go back.
func (w *worker) judge(m *validate.Message) (o validate.Outcome, ok bool) {
	pause := firstAsk
	for {
		o = w.c.validator.BeforeConsume(w.s.work, m, w.c.expect)
		if o.Verdict != validate.Hold {
			return o, true
		}
		if pause == firstAsk {
			w.c.alarm(&o)
		}
		if time.Since(w.received) >= w.c.o.HoldFor {
			w.c.holding.keep(m)
			w.s.halt()
			return o, false
		}
		if !w.pause(jitter(pause)) {
			return o, false
		}
		pause = min(2*pause, longestAsk)
	}
}

// alarm logs why messages are held; once a minute is enough.
func (c *Consumer) alarm(o *validate.Outcome) {
	if !c.holding.due(time.Now()) {
		return
	}
	level := c.log.Warn
	if o.Reason.Alarms() {
		level = c.log.Error
	}
	level("messages are held: they cannot be judged", "queue", c.o.Queue, "reason", o.Reason.String(), "error", o.Err)
}

// probe waits, without consuming, until the message that was held too long can
// be judged.
func (c *Consumer) probe(ctx context.Context, m *validate.Message) {
	pause := firstAsk
	for sleep(ctx, jitter(pause)) == nil {
		if c.validator.BeforeConsume(ctx, m, c.expect).Verdict != validate.Hold {
			return
		}
		pause = min(2*pause, longestPause)
	}
}

// holding is the message for whose sake a consumer pauses.
type holding struct {
	mu      sync.Mutex
	message *validate.Message
	told    time.Time
}

func (h *holding) keep(m *validate.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.message == nil {
		h.message = m
	}
}

func (h *holding) take() *validate.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.message
	h.message = nil
	return m
}

func (h *holding) due(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Sub(h.told) < time.Minute {
		return false
	}
	h.told = now
	return true
}
