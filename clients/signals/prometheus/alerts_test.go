package prometheus_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	prom "github.com/prometheus/client_golang/prometheus"
	"gopkg.in/yaml.v3"

	deduped "github.com/cartorio-registry/cartorio/clients/dedupe/prometheus"
	relayed "github.com/cartorio-registry/cartorio/clients/outbox/prometheus"
	"github.com/cartorio-registry/cartorio/clients/signals/prometheus"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// kept is a registerer that keeps what it is told.
type kept struct{ labels map[string][]string } // by metric

var described = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)

func (k *kept) Register(c prom.Collector) error {
	out := make(chan *prom.Desc, 100)
	c.Describe(out)
	close(out)
	for d := range out {
		if m := described.FindStringSubmatch(d.String()); m != nil {
			k.labels[m[1]] = strings.Split(m[2], ",")
		}
	}
	return nil
}

func (k *kept) MustRegister(list ...prom.Collector) {
	for _, c := range list {
		_ = k.Register(c)
	}
}

func (k *kept) Unregister(prom.Collector) bool { return false }

var (
	metric = regexp.MustCompile(`(cartorio_[a-z_]+)(?:\{([^}]*)\})?`)
	label  = regexp.MustCompile(`([a-z_]+)=~?"`)
)

// TestAlertsAreOnWhatIsCounted finds every metric and label of the sample of
// alerts among those that the clients register.
func TestAlertsAreOnWhatIsCounted(t *testing.T) {
	t.Parallel()
	k := &kept{labels: map[string][]string{}}
	v := validate.NewWith(nil, validate.Options{})
	t.Cleanup(v.Close)
	_, err1 := prometheus.New(k)
	_, err2 := relayed.New(k)
	_, err3 := deduped.New(k)
	for _, err := range []error{err1, err2, err3, prometheus.Watch(k, v)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("../../../deploy/prometheus/clients.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For string
				Annotations      map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			n++
			found := metric.FindAllStringSubmatch(r.Expr, -1)
			if r.Alert == "" || len(found) == 0 || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%+v is no alert with a metric, a summary and what to do", r)
			}
			if strings.Count(r.Expr, "(") != strings.Count(r.Expr, ")") {
				t.Errorf("%s: the parentheses do not match", r.Alert)
			}
			for _, m := range found {
				labels, known := k.labels[m[1]]
				if !known {
					t.Errorf("%s: nobody counts %s", r.Alert, m[1])
				}
				for _, l := range label.FindAllStringSubmatch(m[2], -1) {
					if !slices.Contains(labels, l[1]) {
						t.Errorf("%s: %s has no label %s, but %v", r.Alert, m[1], l[1], labels)
					}
				}
			}
		}
	}
	if n < 9 || len(k.labels) < 15 {
		t.Errorf("%d alerts, %d metrics", n, len(k.labels))
	}
}
