package prometheus_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/cartorio-registry/cartorio/clients/signals/prometheus"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

var (
	_   validate.Observer = (*prometheus.Metrics)(nil)
	ctx                   = context.Background()
)

// gathered writes what a registry holds, one line a series.
func gathered(t *testing.T, r *prom.Registry) []string {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			value := m.GetCounter().GetValue() + m.GetGauge().GetValue()
			text := fmt.Sprint(value)
			if h := m.GetHistogram(); h != nil {
				text = fmt.Sprintf("%d in %gs", h.GetSampleCount(), h.GetSampleSum())
			}
			out = append(out, fmt.Sprintf("%s{%s} %s", f.GetName(), strings.Join(labels, ","), text))
		}
	}
	return out
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	r := prom.NewRegistry()
	m, err := prometheus.New(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prometheus.New(r); err == nil {
		t.Error("the same metrics are registered twice")
	}
	v := validate.NewWith(nil, validate.Options{})
	defer v.Close()
	if err := prometheus.Watch(r, v); err != nil {
		t.Fatal(err)
	}
	orders := schemas.ParseSubject("orders-value")
	for range 2 {
		m.Decided(ctx, &validate.Event{Side: validate.Consume, Verdict: validate.Accept, Subject: orders, Version: 2, Took: time.Millisecond})
	}
	m.Decided(ctx, &validate.Event{Side: validate.Publish, Verdict: validate.Reject, Reason: validate.HeaderMissing})
	at := time.Unix(100, 0)
	m.Delivered(ctx, &validate.Delivery{Received: at, Started: at.Add(time.Second), Finished: at.Add(3 * time.Second)})
	m.Delivered(ctx, &validate.Delivery{Received: at})
	for n := range 9 {
		m.Delivered(ctx, &validate.Delivery{Action: "acknowledged", Attempts: n, Redelivery: true})
	}
	m.Decided(ctx, &validate.Event{Side: validate.Publish, Verdict: validate.Accept, Large: true})
	m.Asked(ctx, &validate.Asked{Kind: "id", Result: "answered"})
	m.Asked(ctx, &validate.Asked{Kind: "latest", Result: "answered"})
	m.Asked(ctx, &validate.Asked{Kind: "id", Result: "registry_refused"})
	m.Held(ctx, 1)
	m.Held(ctx, 1)
	m.Held(ctx, -1)
	want := []string{
		"cartorio_client_cache_bytes{} 0",
		"cartorio_client_deliveries_total{action=,attempts=0,redelivered=false} 2",
		"cartorio_client_deliveries_total{action=acknowledged,attempts=0,redelivered=true} 1",
		"cartorio_client_deliveries_total{action=acknowledged,attempts=1,redelivered=true} 1",
		"cartorio_client_deliveries_total{action=acknowledged,attempts=2,redelivered=true} 1",
		"cartorio_client_deliveries_total{action=acknowledged,attempts=3-5,redelivered=true} 3",
		"cartorio_client_deliveries_total{action=acknowledged,attempts=6+,redelivered=true} 3",
		"cartorio_client_handle_seconds{} 1 in 2s",
		"cartorio_client_held{} 1",
		"cartorio_client_large_payloads_total{side=publish} 1",
		"cartorio_client_messages_total{outcome=accept,reason=,side=consume,subject=orders-value,version=2} 2",
		"cartorio_client_messages_total{outcome=accept,reason=,side=publish,subject=,version=} 1",
		"cartorio_client_messages_total{outcome=reject,reason=header_missing,side=publish,subject=,version=} 1",
		"cartorio_client_registry_requests_total{result=answered} 2",
		"cartorio_client_registry_requests_total{result=registry_refused} 1",
		"cartorio_client_stale_seconds{} 0",
		"cartorio_client_validate_seconds{side=consume} 2 in 0.002s",
		"cartorio_client_validate_seconds{side=publish} 2 in 0s",
		"cartorio_client_wait_seconds{} 1 in 1s",
	}
	if d := cmp.Diff(want, gathered(t, r)); d != "" {
		t.Error(d)
	}
}

// TestLabelsAreBounded sends more subjects than may become labels.
func TestLabelsAreBounded(t *testing.T) {
	t.Parallel()
	r := prom.NewRegistry()
	m, err := prometheus.New(r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5_000 {
		m.Decided(ctx, &validate.Event{Side: validate.Consume, Verdict: validate.Accept, Subject: schemas.Subject{Name: fmt.Sprint("s", i)}, Version: 1})
	}
	series, beyond := 0, ""
	for _, line := range gathered(t, r) {
		if strings.HasPrefix(line, "cartorio_client_messages_total") {
			series++
			if strings.Contains(line, "subject=other") {
				beyond = line
			}
		}
	}
	if series != 1_001 || !strings.HasSuffix(beyond, " 4000") {
		t.Errorf("%d series, and %q", series, beyond)
	}
}

func TestCountingAllocatesNothing(t *testing.T) {
	m, err := prometheus.New(prom.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	e := &validate.Event{Side: validate.Consume, Verdict: validate.Accept, Subject: schemas.ParseSubject("orders-value"), Version: 2}
	m.Decided(ctx, e)
	if n := testing.AllocsPerRun(100, func() { m.Decided(ctx, e) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
