package dedupe

import (
	"fmt"
	"math"
	"time"

	"github.com/cartorio-registry/cartorio/clients/retry"
)

// Returns are the ways by which a message may come again.
type Returns struct {
	// Retention is how long the broker keeps messages: a Kafka topic's retention,
	// within which a group may be set back; a queue's time to live.
	Retention time.Duration
	// Retry is the consumer's policy; the zero policy is the default one.
	Retry retry.Policy
	// Replay is how long after its failure a message may still be replayed from
	// the dead letter, by cartorio dlq for one.
	Replay time.Duration
}

// Longest is how long after it was first worked on a message may come again, all
// delays one after the other.
func (r Returns) Longest() time.Duration {
	p := r.Retry.OrDefault()
	total := float64(r.Retention) + float64(r.Replay)
	last := 0.0
	for attempt := 1; attempt < p.Attempts; attempt++ {
		wait := float64(p.Wait(attempt)) * (1 + max(p.Jitter, 0))
		if wait == last {
			total += wait * float64(p.Attempts-attempt) // it grows no more
			break
		}
		total, last = total+wait, wait
	}
	if total >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(total)
}

// Check tells whether a window, the olderThan of [Expire], outlasts every way of
// coming again. A program calls it at its start, and warns or refuses.
//
// Errors: the window is shorter than Longest.
func (r Returns) Check(window time.Duration) error {
	longest := r.Longest()
	if window > longest {
		return nil
	}
	return fmt.Errorf("check the window of deduplication: messages are forgotten after %s and may come again for %s (retention %s, retries %s, replays %s): a later duplicate would be worked on: keep them longer than that",
		window, longest, r.Retention, longest-r.Retention-r.Replay, r.Replay)
}
