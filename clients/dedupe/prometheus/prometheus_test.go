package prometheus_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/cartorio-registry/cartorio/clients/dedupe"
	"github.com/cartorio-registry/cartorio/clients/dedupe/prometheus"
)

var _ dedupe.Observer = (*prometheus.Metrics)(nil)

// text is what a registry tells.
func text(t *testing.T, r *prom.Registry) string {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
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
	for result, n := range map[dedupe.Result]int{dedupe.Done: 3, dedupe.Duplicate: 2, dedupe.Failed: 1} {
		for range n {
			m.Worked(context.Background(), &dedupe.Worked{Message: dedupe.Message{Consumer: "billing", ID: "secret"}, Result: result, Took: time.Second})
		}
	}
	for _, want := range []string{
		`cartorio_dedupe_messages_total{consumer="billing",result="done"} 3`,
		`cartorio_dedupe_messages_total{consumer="billing",result="duplicate"} 2`,
		`cartorio_dedupe_messages_total{consumer="billing",result="failed"} 1`,
		`cartorio_dedupe_seconds_sum{consumer="billing"} 6`,
		`cartorio_dedupe_seconds_count{consumer="billing"} 6`,
	} {
		if got := text(t, r); !strings.Contains(got, want+"\n") {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	for i := range 1_000 {
		m.Worked(context.Background(), &dedupe.Worked{Message: dedupe.Message{Consumer: fmt.Sprint(i)}, Result: dedupe.Done})
	}
	if n := strings.Count(text(t, r), "\ncartorio_dedupe_messages_total{"); n != 103 {
		t.Errorf("%d series for 1,001 consumers", n)
	}
	if got := text(t, r); strings.Contains(got, "secret") || !strings.Contains(got, `{consumer="other",result="done"} 901`) {
		t.Error(got)
	}
}
