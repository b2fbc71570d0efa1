package api_test

import (
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

// A report that declares what nobody can read says which and why.
func TestReportOfUnreadableRange(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	report := func(accepts string) answer {
		return c.do("POST", "/api/v1/readers", map[string]any{"consumer": "c", "reads": []any{map[string]any{"subject": "s"}, map[string]any{"subject": "s", "accepts": accepts}}})
	}
	for accepts, want := range map[string]string{
		"5..1": "ends before it begins", "abc": "is no version", "0": "is no version", "-1": "is no version", "1..3,x": "is no version", "99999999999": "is no version",
	} {
		if a := report(accepts); a.status != 422 || !strings.Contains(a.body, "reads/1: accepts") || !strings.Contains(a.body, want) {
			t.Errorf("%q: %s, want %s", accepts, a, want)
		}
	}
	for _, accepts := range []string{"", "any", "1..3,5..", "compatible with 2"} {
		if a := report(accepts); a.status != 200 {
			t.Errorf("%q: %s", accepts, a)
		}
	}
}
