package api

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/registry"
)

// metricsType is Prometheus's text form.
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

var (
	metricsShape = &Shape{Name: "Metrics", Type: "string", Text: true, Doc: "the text form of Prometheus, version 0.0.4"}
	metricsValue = []string{metricsType}
)

// metrics are the figures of one server. What a request touches was looked up
// before: it costs a few atomic additions.
type metrics struct {
	all      *prometheus.Registry
	requests *prometheus.CounterVec
	meters   map[*Route]*meter
	refusals *prometheus.CounterVec
	outcomes [3]prometheus.Counter // fresh, known, failed
}

// meter has the figures of one route.
type meter struct {
	method, path string
	took         prometheus.Observer
	mu           sync.Mutex
	byStatus     [600]atomic.Pointer[prometheus.Counter]
}

// seconds are the buckets of a request: most take less than a millisecond.
var seconds = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		all: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cartorio_http_requests_total", Help: "Requests answered, by route and status; route \"none\" is what no route answers.",
		}, []string{"method", "route", "status"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cartorio_refusals_total", Help: "Incompatible registrations, by each rule that refused; \"none\" where no rule of ours is blamed.",
		}, []string{"rule"}),
		meters: make(map[*Route]*meter, len(routes)+1),
	}
	took := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "cartorio_http_request_duration_seconds", Help: "Time from the request's head to the end of its answer; streams are left out.", Buckets: seconds,
	}, []string{"method", "route"})
	registrations := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cartorio_registrations_total", Help: "Registrations: stored anew, known already, or failed.",
	}, []string{"outcome"})
	for i, outcome := range []string{"stored", "known", "failed"} {
		m.outcomes[i] = registrations.WithLabelValues(outcome)
	}
	for i := range routes {
		r := &routes[i]
		m.meters[r] = &meter{method: r.Method, path: r.Path, took: took.WithLabelValues(r.Method, r.Path)}
	}
	m.meters[nil] = &meter{method: "any", path: "none", took: took.WithLabelValues("any", "none")}
	m.all.MustRegister(m.requests, took, registrations, m.refusals, figures{s}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// answered counts an answer.
func (m *metrics) answered(x *exchange, took time.Duration) {
	one := m.meters[x.route]
	if one == nil || x.wrote < 0 || x.wrote >= len(one.byStatus) {
		return // a route of a test
	}
	if x.route == nil || x.route.Stream == nil || x.Header().Get("Content-Type") != eventStream {
		one.took.Observe(took.Seconds())
	}
	if c := one.byStatus[x.wrote].Load(); c != nil {
		(*c).Inc()
		return
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	c := m.requests.WithLabelValues(one.method, one.path, strconv.Itoa(x.wrote))
	one.byStatus[x.wrote].Store(&c)
	c.Inc()
}

// registered counts a registration.
func (m *metrics) registered(fresh bool, err error) {
	switch {
	case err != nil:
		m.outcomes[2].Inc()
	case fresh:
		m.outcomes[0].Inc()
	default:
		m.outcomes[1].Inc()
	}
}

// refuse counts the rules of a refused registration, each once.
func (m *metrics) refuse(report *compat.Report) {
	var rules []string
	if report != nil {
		for _, c := range report.Compared {
			if c.Verdict == compat.Compatible {
				continue
			}
			for _, f := range c.Findings {
				if f.Severity == compat.SeverityBreaking && f.Rule != "" && !slices.Contains(rules, f.Rule) {
					rules = append(rules, f.Rule)
				}
			}
		}
	}
	if len(rules) == 0 {
		rules = []string{"none"}
	}
	for _, rule := range rules {
		m.refusals.WithLabelValues(rule).Inc()
	}
}

// figures are what the server and its registry count themselves.
type figures struct{ server *Server }

var (
	subjectsFigure = prometheus.NewDesc("cartorio_subjects", "Subjects that have versions, soft-deleted ones too.", nil, nil)
	versionsFigure = prometheus.NewDesc("cartorio_versions", "Versions, soft-deleted ones too.", nil, nil)
	textsFigure    = prometheus.NewDesc("cartorio_texts", "Distinct schema texts.", nil, nil)
	revisionFigure = prometheus.NewDesc("cartorio_journal_revision", "The newest revision of the journal that is applied.", nil, nil)
	appendsFigure  = prometheus.NewDesc("cartorio_journal_append_duration_seconds", "Time that the journal takes to make an append durable, whether it succeeds or not.", nil, nil)
	failedFigure   = prometheus.NewDesc("cartorio_journal_appends_failed_total", "Appends that the journal refused.", nil, nil)
	eventsFigure   = prometheus.NewDesc("cartorio_journal_events_total", "Events that this process has appended.", nil, nil)
	cacheFigure    = prometheus.NewDesc("cartorio_cache_bytes", "Memory of a cache: answers that are ready, or parsed schemas.", []string{"cache"}, nil)
	hitsFigure     = prometheus.NewDesc("cartorio_cache_hits_total", "What a cache had.", []string{"cache"}, nil)
	missesFigure   = prometheus.NewDesc("cartorio_cache_misses_total", "What a cache did not have.", []string{"cache"}, nil)
	streamsFigure  = prometheus.NewDesc("cartorio_change_streams", "Open streams of changes.", nil, nil)
)

// Describe lists the figures.
func (f figures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		subjectsFigure, versionsFigure, textsFigure, revisionFigure, appendsFigure, failedFigure, eventsFigure, cacheFigure, hitsFigure, missesFigure, streamsFigure,
	} {
		to <- d
	}
}

// Collect reads the figures.
func (f figures) Collect(to chan<- prometheus.Metric) {
	s := f.server.registry.Stats()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v uint64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	gauge(subjectsFigure, float64(s.Subjects))
	gauge(versionsFigure, float64(s.Versions))
	gauge(textsFigure, float64(s.Texts))
	gauge(revisionFigure, float64(s.Revision))
	gauge(streamsFigure, float64(f.server.streams.Load()))
	buckets := make(map[float64]uint64, len(registry.AppendBuckets))
	total := uint64(0)
	for i, n := range s.Appends.Counts {
		if total += n; i < len(registry.AppendBuckets) {
			buckets[registry.AppendBuckets[i]] = total
		}
	}
	to <- prometheus.MustNewConstHistogram(appendsFigure, total, s.Appends.Sum.Seconds(), buckets)
	counter(failedFigure, s.AppendsFailed)
	counter(eventsFigure, s.Events)
	c := f.server.cache
	gauge(cacheFigure, float64(c.bytes()), "answers")
	gauge(cacheFigure, float64(s.FormBytes), "schemas")
	counter(hitsFigure, c.hit.Load(), "answers")
	counter(hitsFigure, s.FormsHit, "schemas")
	counter(missesFigure, c.missed.Load(), "answers")
	counter(missesFigure, s.FormsMissed, "schemas")
}

// getMetrics answers GET /metrics.
func getMetrics(x *exchange) error {
	families, err := x.server.metrics.all.Gather()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&out, f); err != nil {
			return err
		}
	}
	x.contentType = metricsValue
	x.send(http.StatusOK, out.Bytes())
	return nil
}
