package prometheus_test

import (
	"context"
	"strings"
	"testing"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/cartorio-registry/cartorio/clients/outbox"
	"github.com/cartorio-registry/cartorio/clients/outbox/prometheus"
)

var _ outbox.Observer = (*prometheus.Metrics)(nil)

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
	ctx := context.Background()
	r := prom.NewRegistry()
	m, err := prometheus.New(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prometheus.New(r); err == nil {
		t.Error("the same metrics are registered twice")
	}
	m.Relayed(ctx, &outbox.Relayed{Fate: outbox.Published, Took: 2 * time.Second})
	m.Relayed(ctx, &outbox.Relayed{Fate: outbox.Published, Took: time.Second})
	m.Relayed(ctx, &outbox.Relayed{Fate: outbox.Parked, Row: outbox.Row{Destination: "secret"}})
	m.Waiting(ctx, outbox.Backlog{Waiting: 9, Parked: 9})
	m.Waiting(ctx, outbox.Backlog{Waiting: 4, Parked: 1, Oldest: 1500 * time.Millisecond})
	for _, want := range []string{
		`cartorio_outbox_relayed_total{fate="failed"} 0`,
		`cartorio_outbox_relayed_total{fate="parked"} 1`,
		`cartorio_outbox_relayed_total{fate="published"} 2`,
		`cartorio_outbox_publish_seconds_sum 3`,
		`cartorio_outbox_waiting 4`,
		`cartorio_outbox_parked 1`,
		`cartorio_outbox_oldest_seconds 1.5`,
	} {
		if got := text(t, r); !strings.Contains(got, want+"\n") || strings.Contains(got, "secret") {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}
