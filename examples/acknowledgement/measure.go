package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// bench is one broker with a queue of its own for each measurement.
type bench interface {
	// fill makes a new queue with so many messages, confirmed.
	fill(ctx context.Context, s *setting) error
	// consume is one consumer; it works until ctx ends.
	consume(ctx context.Context, s *setting, handle func()) error
	// crash is one consumer that works on so many messages, one after the other,
	// acknowledges each in the setting's way, and is gone. lost are messages that
	// nobody has worked on and nobody will; again are those that the broker hands
	// out a second time.
	crash(ctx context.Context, s *setting, handled int) (lost, again int, err error)
	// isShared tells that consumers share one queue message by message.
	isShared() bool
	close()
}

// measured is what a row's rounds gave.
type measured struct {
	rates       []float64 // messages a second
	share       int       // percent that the first consumer had of a burst; 0 unknown
	lost, again int
}

const subject = "measured-value"

// register gives a validator for what is measured: validating is part of it.
func register(ctx context.Context, client *sr.Client) (*validate.Validator, error) {
	text := `{"type":"object","properties":{"id":{"type":"integer"},"filling":{"type":"string"}},"required":["id"]}`
	if _, err := client.Register(ctx, schemas.ParseSubject(subject), sr.Registration{Source: schemas.Source{Type: schemas.JSON, Text: text}}); err != nil {
		return nil, err
	}
	return validate.New(client, jsonschema.Format), nil
}

// payload is a valid message of about a size.
func payload(i, size int) []byte {
	filling := make([]byte, max(0, size-30))
	for n := range filling {
		filling[n] = 'x'
	}
	return fmt.Appendf(nil, `{"id":%d,"filling":"%s"}`, i, filling)
}

// compare measures all rows on one broker, in turn, and prints a table. Ratios are
// to the first row.
func compare(ctx context.Context, out io.Writer, name string, b bench, rows []row, rounds int) error {
	rows = slices.Clone(rows)
	s, sharing := &rows[0].setting, ""
	if !b.isShared() {
		for i := range rows {
			rows[i].workers, rows[i].consumers = rows[i].workers*rows[i].consumers, 1
		}
		sharing = " (consumers would share partitions, not messages)"
	}
	_, _ = fmt.Fprintf(out, "%s: %d messages of %d bytes, %v each, consumers %d, workers of each %d%s\n\n", name, s.messages, s.size, s.work, s.consumers, s.workers, sharing)
	results := make([]measured, len(rows))
	for round := range rounds {
		for i := range rows {
			s := &rows[i].setting
			rate, err := throughput(ctx, b, s)
			if err != nil {
				return fmt.Errorf("%s: %w", rows[i].label, err)
			}
			results[i].rates = append(results[i].rates, rate)
			if round > 0 {
				continue
			}
			if b.isShared() {
				if results[i].share, err = share(ctx, b, s); err != nil {
					return fmt.Errorf("%s: %w", rows[i].label, err)
				}
			}
			small := *s
			small.messages = 1000
			if err := b.fill(ctx, &small); err != nil {
				return fmt.Errorf("%s: %w", rows[i].label, err)
			}
			if results[i].lost, results[i].again, err = b.crash(ctx, &small, 500); err != nil {
				return fmt.Errorf("%s: %w", rows[i].label, err)
			}
		}
	}
	base := results[0].rate()
	_, _ = fmt.Fprint(out, "| | messages/s | ratio | first consumer's share | lost by a crash | come again after it |\n|---|---|---|---|---|---|\n")
	for i, r := range results {
		shared := "–"
		if r.share > 0 {
			shared = fmt.Sprintf("%d %%", r.share)
		}
		_, _ = fmt.Fprintf(out, "| %s | %.0f | %.2f | %s | %d | %d |\n", rows[i].label, r.rate(), r.rate()/base, shared, r.lost, r.again)
	}
	return nil
}

// rate is the middle of the rounds.
func (m *measured) rate() float64 {
	sorted := slices.Sorted(slices.Values(m.rates))
	return sorted[len(sorted)/2]
}

// crew runs consumers until so many messages are handled. Each count is told of
// with the consumer's number.
func crew(ctx context.Context, b bench, s *setting, start func(i int), count func(i int) (isLast bool)) error {
	ctx, done := context.WithCancel(ctx)
	defer done()
	ended := make(chan error, s.consumers)
	var mu sync.Mutex
	for i := range s.consumers {
		go func() {
			start(i)
			ended <- b.consume(ctx, s, func() {
				time.Sleep(s.work) // the work: it waits for something
				mu.Lock()
				defer mu.Unlock()
				if count(i) {
					done()
				}
			})
		}()
	}
	var failed error
	for range s.consumers {
		if err := <-ended; err != nil && failed == nil {
			failed = err
			done()
		}
	}
	return failed
}

// throughput is messages a second, from the first that is done to the last.
func throughput(ctx context.Context, b bench, s *setting) (float64, error) {
	if err := b.fill(ctx, s); err != nil {
		return 0, err
	}
	var first, last time.Time
	n := 0
	err := crew(ctx, b, s, func(int) {}, func(int) bool {
		if n++; n == 1 {
			first = time.Now()
		}
		last = time.Now()
		return n == s.messages
	})
	if err != nil {
		return 0, err
	}
	if n < s.messages {
		return 0, fmt.Errorf("only %d of %d messages came: %w", n, s.messages, context.Cause(ctx))
	}
	return float64(s.messages-1) / max(last.Sub(first), time.Microsecond).Seconds(), nil
}

// share is what the first consumer has worked on, in percent, of a burst of 200
// messages of 10 ms; the second comes to help when the first has begun.
func share(ctx context.Context, b bench, s *setting) (int, error) {
	burst := *s
	burst.messages, burst.work, burst.consumers = 200, 10*time.Millisecond, 2
	if err := b.fill(ctx, &burst); err != nil {
		return 0, err
	}
	began, n, counts := make(chan struct{}), 0, [2]int{}
	err := crew(ctx, b, &burst, func(i int) {
		if i > 0 {
			select {
			case <-began:
			case <-ctx.Done():
			}
		}
	}, func(i int) bool {
		if n++; n == 1 {
			close(began)
		}
		counts[i]++
		return n == burst.messages
	})
	if err == nil && n < burst.messages {
		err = fmt.Errorf("only %d of %d messages came: %w", n, burst.messages, context.Cause(ctx))
	}
	return 100 * counts[0] / burst.messages, err
}
