// Package prometheus counts what relays of an outbox do, as metrics of a
// Prometheus registerer:
//
//	cartorio_outbox_relayed_total{fate}
//	cartorio_outbox_publish_seconds
//	cartorio_outbox_waiting
//	cartorio_outbox_parked
//	cartorio_outbox_oldest_seconds
//
// fate is published, failed or parked. Alert on rows that are parked, and on the
// age of the oldest that waits.
//
// Start with [New]; hand it to outbox.Relay.Observer.
package prometheus

import (
	"context"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/cartorio-registry/cartorio/clients/outbox"
)

// Metrics is an outbox.Observer that counts. Relays of one outbox may share it.
type Metrics struct {
	relayed                 *prom.CounterVec
	took                    prom.Histogram
	waiting, parked, oldest prom.Gauge
}

// New makes the metrics and registers them. Several outboxes of one program need
// a registerer with a label of their own.
//
// Errors: those of r, as when they are registered already.
func New(r prom.Registerer) (*Metrics, error) {
	m := &Metrics{
		relayed: prom.NewCounterVec(prom.CounterOpts{Name: "cartorio_outbox_relayed_total", Help: "Tries to publish a row of the outbox, by what became of it."}, []string{"fate"}),
		took:    prom.NewHistogram(prom.HistogramOpts{Name: "cartorio_outbox_publish_seconds", Help: "Time that publishing a row took.", Buckets: prom.DefBuckets}),
		waiting: prom.NewGauge(prom.GaugeOpts{Name: "cartorio_outbox_waiting", Help: "Rows that are to be published."}),
		parked:  prom.NewGauge(prom.GaugeOpts{Name: "cartorio_outbox_parked", Help: "Rows that were refused for good."}),
		oldest:  prom.NewGauge(prom.GaugeOpts{Name: "cartorio_outbox_oldest_seconds", Help: "Age of the oldest row that is to be published; 0 when there is none."}),
	}
	for _, fate := range []outbox.Fate{outbox.Published, outbox.Failed, outbox.Parked} {
		m.relayed.WithLabelValues(fate.String()) // there from the start: rate() sees the first one
	}
	for _, c := range []prom.Collector{m.relayed, m.took, m.waiting, m.parked, m.oldest} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Relayed counts a try.
func (m *Metrics) Relayed(_ context.Context, r *outbox.Relayed) {
	m.relayed.WithLabelValues(r.Fate.String()).Inc()
	m.took.Observe(r.Took.Seconds())
}

// Waiting sets what the outbox holds.
func (m *Metrics) Waiting(_ context.Context, b outbox.Backlog) {
	m.waiting.Set(float64(b.Waiting))
	m.parked.Set(float64(b.Parked))
	m.oldest.Set(b.Oldest.Seconds())
}
