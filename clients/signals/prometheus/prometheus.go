// Package prometheus counts what validators and adapters do, as metrics of a
// Prometheus registerer:
//
//	cartorio_client_messages_total{side,subject,version,outcome,reason}
//	cartorio_client_deliveries_total{action,attempts,redelivered}
//	cartorio_client_large_payloads_total{side}
//	cartorio_client_validate_seconds{side}
//	cartorio_client_handle_seconds
//	cartorio_client_wait_seconds
//	cartorio_client_registry_requests_total{result}
//	cartorio_client_held
//	cartorio_client_stale_seconds
//	cartorio_client_cache_bytes
//
// Subjects and versions are those that a registry knows, and no more than a
// bound of them become labels; ids of messages never do.
//
// Start with [New].
package prometheus

import (
	"context"
	"strconv"
	"sync"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// mostPairs is how many subjects with versions become labels; what is beyond is
// counted under subject and version "other".
const mostPairs = 1_000

const other = "other"

// Metrics is a validate.Observer that counts.
type Metrics struct {
	messages   *prom.CounterVec
	deliveries *prom.CounterVec
	large      *prom.CounterVec
	judged     *prom.HistogramVec
	handled    prom.Histogram
	waited     prom.Histogram
	requests   *prom.CounterVec
	held       prom.Gauge

	mu       sync.RWMutex
	counters map[series]prom.Counter // made once, so that a message makes none
	pairs    map[pair]bool

	judging [3]prom.Observer // by side
}

// series are the labels of one counter.
type series struct {
	pair
	side    validate.Side
	outcome validate.Verdict
	reason  validate.Reason
}

type pair struct {
	subject string
	version int32
}

// New makes the metrics and registers them.
//
// Errors: those of r, as when they are registered already.
func New(r prom.Registerer) (*Metrics, error) {
	seconds := []float64{1e-6, 5e-6, 25e-6, 100e-6, 500e-6, 2.5e-3, 10e-3, 50e-3, 250e-3, 1, 5, 30}
	m := &Metrics{
		messages:   prom.NewCounterVec(prom.CounterOpts{Name: "cartorio_client_messages_total", Help: "Messages judged, by side, subject, version, outcome and reason."}, []string{"side", "subject", "version", "outcome", "reason"}),
		deliveries: prom.NewCounterVec(prom.CounterOpts{Name: "cartorio_client_deliveries_total", Help: "Messages that a consumer is done with, by how they were settled, attempts made (0, 1, 2, 3-5, 6+) and whether the broker had handed them out before."}, []string{"action", "attempts", "redelivered"}),
		large:      prom.NewCounterVec(prom.CounterOpts{Name: "cartorio_client_large_payloads_total", Help: "Messages whose payload is larger than a bus is for (validate.Options.LargePayload)."}, []string{"side"}),
		judged:     prom.NewHistogramVec(prom.HistogramOpts{Name: "cartorio_client_validate_seconds", Help: "Time that judging a message took.", Buckets: seconds}, []string{"side"}),
		handled:    prom.NewHistogram(prom.HistogramOpts{Name: "cartorio_client_handle_seconds", Help: "Time that the last attempt at handling a message took.", Buckets: prom.DefBuckets}),
		waited:     prom.NewHistogram(prom.HistogramOpts{Name: "cartorio_client_wait_seconds", Help: "Time between receiving a message and starting to handle it.", Buckets: prom.DefBuckets}),
		requests:   prom.NewCounterVec(prom.CounterOpts{Name: "cartorio_client_registry_requests_total", Help: "Questions to the registry, by how they ended."}, []string{"result"}),
		held:       prom.NewGauge(prom.GaugeOpts{Name: "cartorio_client_held", Help: "Messages that wait because they cannot be judged now."}),
		counters:   map[series]prom.Counter{}, pairs: map[pair]bool{},
	}
	for _, side := range []validate.Side{validate.Publish, validate.Consume} {
		m.judging[side] = m.judged.WithLabelValues(side.String())
	}
	for _, c := range []prom.Collector{m.messages, m.deliveries, m.large, m.judged, m.handled, m.waited, m.requests, m.held} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Watch registers the gauges of one validator, read when they are asked for.
// Several validators of one program need a registerer with a label of their own.
//
// Errors: those of r.
func Watch(r prom.Registerer, v *validate.Validator) error {
	for _, g := range []struct {
		name, help string
		value      func(validate.Stats) float64
	}{
		{"cartorio_client_stale_seconds", "How long the registry has not answered; 0 when it does.", func(s validate.Stats) float64 { return s.Outage.Seconds() }},
		{"cartorio_client_cache_bytes", "Bytes of texts and parsed schemas that are cached.", func(s validate.Stats) float64 { return float64(s.CacheBytes) }},
	} {
		if err := r.Register(prom.NewGaugeFunc(prom.GaugeOpts{Name: g.name, Help: g.help}, func() float64 { return g.value(v.Stats()) })); err != nil {
			return err
		}
	}
	return nil
}

// Decided counts a decision.
func (m *Metrics) Decided(_ context.Context, e *validate.Event) {
	m.counter(series{pair{e.Subject.String(), int32(e.Version)}, e.Side, e.Verdict, e.Reason}).Inc()
	if int(e.Side) < len(m.judging) && m.judging[e.Side] != nil {
		m.judging[e.Side].Observe(e.Took.Seconds())
	}
	if e.Large {
		m.large.WithLabelValues(e.Side.String()).Inc()
	}
}

func (m *Metrics) counter(s series) prom.Counter {
	m.mu.RLock()
	c := m.counters[s]
	m.mu.RUnlock()
	if c != nil {
		return c
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.subject != "" && !m.pairs[s.pair] {
		if len(m.pairs) >= mostPairs {
			return m.messages.WithLabelValues(s.side.String(), other, other, s.outcome.String(), s.reason.String())
		}
		m.pairs[s.pair] = true
	}
	version := ""
	if s.version != 0 {
		version = strconv.Itoa(int(s.version))
	}
	c = m.messages.WithLabelValues(s.side.String(), s.subject, version, s.outcome.String(), s.reason.String())
	m.counters[s] = c
	return c
}

// Delivered counts a message that a consumer is done with, and observes how long
// it waited and was handled.
func (m *Metrics) Delivered(_ context.Context, d *validate.Delivery) {
	m.deliveries.WithLabelValues(d.Action, attemptsOf(d.Attempts), strconv.FormatBool(d.Redelivery)).Inc()
	observe(m.waited, d.Received, d.Started)
	observe(m.handled, d.Started, d.Finished)
}

// attemptsOf is the label of a number of attempts: few, so that series are few.
func attemptsOf(n int) string {
	switch {
	case n <= 2:
		return strconv.Itoa(max(n, 0))
	case n <= 5:
		return "3-5"
	}
	return "6+"
}

func observe(h prom.Histogram, from, to time.Time) {
	if !from.IsZero() && !to.IsZero() {
		h.Observe(to.Sub(from).Seconds())
	}
}

// Asked counts a question to the registry.
func (m *Metrics) Asked(_ context.Context, a *validate.Asked) {
	m.requests.WithLabelValues(a.Result).Inc()
}

// Held counts messages that wait.
func (m *Metrics) Held(_ context.Context, change int) { m.held.Add(float64(change)) }
