// Package prometheus counts duplicates, as metrics of a Prometheus registerer:
//
//	cartorio_dedupe_messages_total{consumer,result}
//	cartorio_dedupe_seconds{consumer}
//
// result is done, duplicate or failed. Consumers are the program's own names, and
// no more than a bound of them become labels; ids of messages never do.
//
// Start with [New]; hand it to dedupe.Observed.
package prometheus

import (
	"context"
	"sync"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/cartorio-registry/cartorio/clients/dedupe"
)

// mostConsumers is how many consumers become labels; the others are "other".
const mostConsumers = 100

// Metrics is a dedupe.Observer that counts.
type Metrics struct {
	messages *prom.CounterVec
	took     *prom.HistogramVec

	mu        sync.Mutex
	consumers map[string]bool
}

// New makes the metrics and registers them.
//
// Errors: those of r, as when they are registered already.
func New(r prom.Registerer) (*Metrics, error) {
	m := &Metrics{
		messages:  prom.NewCounterVec(prom.CounterOpts{Name: "cartorio_dedupe_messages_total", Help: "Messages that a consumer was handed, by whether they were done, duplicates or failed."}, []string{"consumer", "result"}),
		took:      prom.NewHistogramVec(prom.HistogramOpts{Name: "cartorio_dedupe_seconds", Help: "Time that a message's transaction took, work included.", Buckets: prom.DefBuckets}, []string{"consumer"}),
		consumers: map[string]bool{},
	}
	for _, c := range []prom.Collector{m.messages, m.took} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Worked counts a message.
func (m *Metrics) Worked(_ context.Context, w *dedupe.Worked) {
	consumer := m.label(w.Message.Consumer)
	m.messages.WithLabelValues(consumer, w.Result.String()).Inc()
	m.took.WithLabelValues(consumer).Observe(w.Took.Seconds())
}

func (m *Metrics) label(consumer string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.consumers[consumer] {
		if len(m.consumers) >= mostConsumers {
			return "other"
		}
		m.consumers[consumer] = true
	}
	return consumer
}
