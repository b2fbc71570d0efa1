package queues

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// MostPrefetch is from where on a prefetch looks copied rather than chosen.
	MostPrefetch = 250
	// MemoryBudget is what the messages handed out to one consumer may have
	// together, in bytes; deliver.DefaultMemory.
	MemoryBudget = 64 << 20
	// quick is how long a message may be with a consumer for the way to the broker
	// to be what takes the time.
	quick = 50 * time.Millisecond
)

// Advice is one thing that the numbers say. OK says that there is nothing to do.
type Advice struct {
	OK   bool
	Text string
	Fix  string // what to do; "" for nothing
}

// Advice tells which case a queue is: first what loses messages, then failures,
// which no tuning mends, then how to tune. It is never empty.
func (n *Numbers) Advice() []Advice {
	var out []Advice
	add := func(fix, text string, args ...any) {
		out = append(out, Advice{Text: fmt.Sprintf(text, args...), Fix: fix})
	}
	if n.Automatic > 0 {
		add("acknowledge after the work; where losses are acceptable, say why in LossAcceptable, which keeps the prefetch",
			"%s acknowledged by the broker when a message is sent: what they hold in a crash is lost, and nothing limits how much", are(n.Automatic, "consumer is", "consumers are"))
	}
	for _, why := range n.Losses {
		add("", "consumers may lose messages, and say why: %s", why)
	}
	ready, held, consumers := of(n.Ready), of(n.Unacknowledged), of(n.Consumers)
	if d, r := of(n.Delivered), of(n.Redelivered); r > 0 && r*20 >= d {
		add("look at failures before anything is tuned: the handler's errors, the dead letter, crashed consumers", "%d of %d deliveries were repeats", r, d)
	}
	switch {
	case n.Consumers != nil && consumers == 0 && ready > 0:
		add("start a consumer, or delete the queue", "%s, and nobody consumes", are(int(ready), "message waits", "messages wait"))
		return out
	case n.Partitions > 0 && n.Consumers != nil && consumers > int64(n.Partitions):
		add("add partitions, or stop members", "%d members share %s: the others have nothing to do", consumers, are(n.Partitions, "partition", "partitions"))
	case n.Partitions > 0 && ready > 0 && consumers > 0 && consumers < int64(n.Partitions):
		add("if the members are busy, start more, up to one a partition", "%d messages of lag, %s and %d partitions", ready, are(int(consumers), "member", "members"), n.Partitions)
	}
	n.windows(add)
	n.flow(add, ready, held)
	if len(out) == 0 {
		return []Advice{{OK: true, Text: "nothing to tune"}}
	}
	return out
}

// windows tells of prefetches that are none or too large.
func (n *Numbers) windows(add func(fix, text string, args ...any)) {
	if len(n.Windows) == 0 {
		return
	}
	largest := slices.Max(n.Windows)
	switch {
	case slices.Contains(n.Windows, 0):
		add("set a prefetch: twice the workers to begin with", "a consumer has no prefetch: it may be handed the whole queue, and the others nothing")
	case largest > MostPrefetch:
		add("lower it: twice the workers to begin with", "a prefetch of %d is high: one consumer hoards messages, and a crash hands them all out again", largest)
	case of(n.MeanBytes)*largest > MemoryBudget:
		add("lower the prefetch, or let producers keep large payloads elsewhere (claim check)", "a prefetch of %d and a mean size of %d bytes are %d MB in one consumer", largest, of(n.MeanBytes), of(n.MeanBytes)*largest>>20)
	}
}

// flow tells what holds messages up, where the windows are known.
func (n *Numbers) flow(add func(fix, text string, args ...any), ready, held int64) {
	if len(n.Windows) == 0 || slices.Contains(n.Windows, 0) || held == 0 {
		return
	}
	room := int64(0)
	for _, w := range n.Windows {
		room += w
	}
	isFull := held*5 >= room*4
	stay := time.Duration(0) // of a message with its consumer, by Little's law
	if n.Rate != nil && *n.Rate > 0 {
		stay = time.Duration(float64(held) / *n.Rate * float64(time.Second))
	}
	switch {
	case ready > 0 && isFull && stay > 0 && stay < quick:
		add("raise the prefetch", "%d messages wait while consumers hold all that they may (%d) and are done with each in %s: they are idle between two of them", ready, held, stay.Round(time.Millisecond))
	case ready > 0 && isFull && stay > 0:
		add("more workers or consumers, or quicker work; a larger prefetch does not help", "%d messages wait, and each stays with its consumer for %s: the work is the limit", ready, stay.Round(10*time.Millisecond))
	case ready > 0 && isFull:
		add("look whether consumers are stuck; if they are idle raise the prefetch, if they are busy add workers", "%d messages wait, consumers hold all that they may (%d) and none was acknowledged lately", ready, held)
	case ready == 0 && len(n.Windows) > 1 && held >= int64(len(n.Windows)) && slices.Max(n.Windows) >= 16 && held <= slices.Max(n.Windows):
		add("lower the prefetch if the other consumers are idle", "all %d messages are with consumers, and one of them may have them all (prefetch %d)", held, slices.Max(n.Windows))
	case ready == 0 && isFull:
		add("look at what the consumers wait for", "all %d messages are with consumers and none waits: the queue is no deeper than they are slow", held)
	}
}

// String is the numbers in one line.
func (n *Numbers) String() string {
	var parts []string
	for _, one := range []struct {
		n         *int64
		one, more string
	}{
		{n.Ready, "ready", "ready"},
		{n.Unacknowledged, "unacknowledged", "unacknowledged"},
		{n.Consumers, "consumer", "consumers"},
		{n.Delivered, "delivered", "delivered"},
		{n.Redelivered, "redelivered", "redelivered"},
		{n.MeanBytes, "byte on average", "bytes on average"},
	} {
		if one.n != nil {
			parts = append(parts, are(int(*one.n), one.one, one.more))
		}
	}
	if n.Partitions > 0 {
		parts = append(parts, are(n.Partitions, "partition", "partitions"))
	}
	if len(n.Windows) > 0 {
		parts = append(parts, "prefetch "+strings.ReplaceAll(strings.Trim(fmt.Sprint(slices.Compact(slices.Clone(n.Windows))), "[]"), " ", "/"))
	}
	if n.Kind != "" {
		parts = append(parts, n.Kind)
	}
	return strings.Join(parts, ", ")
}

func are(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
