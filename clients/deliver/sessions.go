package deliver

import (
	"context"
	"sync"
	"time"

	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Sessions runs one session after the other until ctx ends. After one that
// failed it waits, longer each time; after one that a message ended which was
// held too long it waits until that message can be judged.
//
// It is for consumers whose HoldFor is set and whose HeldTooLong is not.
func (d *Desk) Sessions(ctx context.Context, run func(ctx context.Context) error) {
	pause := FirstPause
	for ctx.Err() == nil {
		began := time.Now()
		err := run(ctx)
		if err != nil && ctx.Err() == nil {
			d.log.Warn("consuming was interrupted and begins anew", "source", d.o.Source, "error", err)
		}
		if it := d.held.take(); it != nil {
			d.probe(ctx, it)
			continue
		}
		if time.Since(began) > LongestPause {
			pause = FirstPause
		}
		if err != nil && Sleep(ctx, pause) == nil {
			pause = min(2*pause, LongestPause)
		}
	}
}

// probe waits until a message that was given back can be judged.
func (d *Desk) probe(ctx context.Context, it Item) {
	pause := firstAsk
	for Sleep(ctx, retry.Policy{}.Spread(pause, nil)) == nil {
		o := it.Judge(ctx)
		if o.Verdict != validate.Hold {
			return
		}
		d.alarm(&o)
		pause = min(2*pause, LongestPause)
	}
}

// held is the message for whose sake a consumer pauses.
type held struct {
	mu sync.Mutex
	it Item
}

func (h *held) keep(it Item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.it == nil {
		h.it = it
	}
}

func (h *held) take() Item {
	h.mu.Lock()
	defer h.mu.Unlock()
	it := h.it
	h.it = nil
	return it
}
