package rabbitmq

import (
	"context"
	"sync"
	"time"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// probe waits, without consuming, until the message that was held too long can
// be judged.
func (c *Consumer) probe(ctx context.Context, m *validate.Message) {
	pause := 250 * time.Millisecond
	for deliver.Sleep(ctx, retry.Policy{}.Spread(pause, nil)) == nil {
		if c.validator.BeforeConsume(ctx, m, c.expect).Verdict != validate.Hold {
			return
		}
		pause = min(2*pause, deliver.LongestPause)
	}
}

// holding is the message for whose sake a consumer pauses.
type holding struct {
	mu      sync.Mutex
	message *validate.Message
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
