package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/cartorio-registry/cartorio/api"
)

// The figures say what happened: requests, registrations, refusals, the journal
// and the caches.
func TestMetrics(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("s", schema(record("User", "id:long")))
	c.register("s", schema(record("User", "id:long")))
	c.fails(c.do("POST", "/subjects/s/versions", schema(record("User", "id:long", "mail:string"))), 409)
	c.fails(c.do("POST", "/subjects/s/versions", schema(`{`)), 42201)
	for range 3 {
		c.do("GET", "/schemas/ids/1", nil)
	}
	c.do("GET", "/schemas/ids/9", nil)
	c.do("GET", "/nope", nil)
	c.do("DELETE", "/subjects/s", nil)
	c.header = http.Header{"Accept": {"application/openmetrics-text, text/plain;q=0.5"}}
	a := c.do("GET", "/metrics", nil)
	if a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("%d %v", a.status, a.header)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`cartorio_http_requests_total{method="GET",route="/schemas/ids/{id}",status="200"} 3`,
		`cartorio_http_requests_total{method="GET",route="/schemas/ids/{id}",status="404"} 1`,
		`cartorio_http_requests_total{method="any",route="none",status="404"} 1`,
		`cartorio_http_requests_total{method="POST",route="/subjects/{subject}/versions",status="409"} 1`,
		`cartorio_http_request_duration_seconds_count{method="GET",route="/schemas/ids/{id}"} 4`,
		`cartorio_registrations_total{outcome="stored"} 1`,
		`cartorio_registrations_total{outcome="known"} 1`,
		`cartorio_registrations_total{outcome="failed"} 2`,
		`cartorio_refusals_total{rule="avro.field-added-without-default"} 1`,
		`cartorio_subjects 1`,
		`cartorio_versions 1`,
		`cartorio_texts 1`,
		`cartorio_journal_revision 3`,
		`cartorio_journal_append_duration_seconds_count 2`,
		`cartorio_journal_appends_failed_total 0`,
		`cartorio_journal_events_total 2`,
		`cartorio_cache_hits_total{cache="answers"} 2`,
		`cartorio_cache_bytes{cache="schemas"}`,
		`go_goroutines`,
	} {
		if !strings.Contains(a.body, want) {
			name, _, _ := strings.Cut(want, "{")
			t.Errorf("the figures do not say %s but %v", want, families[strings.TrimSuffix(name, "_count")])
		}
	}
}
