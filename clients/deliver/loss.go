package deliver

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// DefaultMemory is what the messages that a consumer was handed out may have
// together before it warns, in bytes.
const DefaultMemory = 64 << 20

// once is the work of a consumer that may lose messages: the broker is told
// first, and whatever becomes of the work, it is not done again. What the broker
// could not be told of is not worked on, since it comes again.
func (w *worker) once() Action {
	w.attempts++
	if err := w.it.Settle(Acknowledged); err != nil {
		return w.report(GivenBack, validate.NoReason, settling(err))
	}
	w.settled = time.Now()
	_, err := w.call()
	if err == nil {
		return w.report(Acknowledged, validate.NoReason, nil)
	}
	if w.d.lost.CompareAndSwap(false, true) {
		w.d.log.Warn("a message was lost, as it may be: its handler failed; this is told once, and the observer of each", "source", w.d.o.Source, "reason", w.d.o.LossAcceptable, "error_type", fmt.Sprintf("%T", err))
	}
	return w.report(Lost, validate.NoReason, err)
}

// weight is the size of messages as it runs along.
type weight struct {
	mean atomic.Int64 // bytes
	told atomic.Int64 // when it was warned, in Unix nanoseconds
}

// weigh warns when as many messages as the broker hands out at once have more
// bytes than the budget: a prefetch counts messages. Once a minute is enough.
func (d *Desk) weigh(bytes int) {
	if d.o.Prefetch <= 0 || d.o.MemoryBudget < 0 {
		return
	}
	mean := d.weight.mean.Load()
	if mean == 0 {
		mean = int64(bytes)
	}
	// One message of sixteen tells what the next ones are like. Two workers may
	// overwrite each other here, which costs one message's share.
	mean += (int64(bytes) - mean) / 16
	d.weight.mean.Store(mean)
	if mean*int64(d.o.Prefetch) <= int64(d.o.MemoryBudget) {
		return
	}
	now, told := time.Now().UnixNano(), d.weight.told.Load()
	if told != 0 && now-told < int64(time.Minute) || !d.weight.told.CompareAndSwap(told, now) {
		return
	}
	d.log.Warn("prefetch × mean size is over the memory budget: lower Prefetch, or let producers keep large payloads elsewhere (clients/claim)",
		"source", d.o.Source, "prefetch", d.o.Prefetch, "mean_bytes", mean, "budget_bytes", d.o.MemoryBudget)
}
