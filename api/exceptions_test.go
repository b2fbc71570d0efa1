package api_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/api"
)

// A finding that was accepted no longer refuses, for as long as it was accepted:
// at registration, at a question, and where two versions are compared.
func TestExceptionsAreHonoured(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	old, next := schema(record("R", "a:int")), schema(record("R", "a:int", "b:string"))
	if a := c.do("POST", "/subjects/s/versions", old); a.status != 200 {
		t.Fatal(a)
	}
	refused := func(when string, want bool) {
		t.Helper()
		a := c.do("POST", "/compatibility/subjects/s/versions", next)
		if got := strings.Contains(a.body, `"is_compatible":false`); got != want || a.status != 200 {
			t.Errorf("%s: %s", when, a)
		}
	}
	compared := func() string {
		return c.do("POST", "/api/v1/compare", map[string]any{"subject": "s", "old": old, "new": next, "level": "BACKWARD"}).body
	}
	refused("before", true)
	var d struct {
		Findings []struct{ Fingerprint string }
		Verdict  string
	}
	if err := json.Unmarshal([]byte(compared()), &d); err != nil || len(d.Findings) == 0 {
		t.Fatal(err, compared())
	}
	f := d.Findings[0].Fingerprint
	entry := func(until string) map[string]any {
		return map[string]any{"exceptions": []any{map[string]any{"fingerprint": f, "reason": "nobody reads it", "owner": "team-a", "until": until}}}
	}

	for until, want := range map[string]string{"": "has no end", "2020-01-01T00:00:00Z": "must lie ahead", "2039-01-01T00:00:00Z": "more than a year away"} {
		if a := c.do("PUT", "/api/v1/exceptions?subject=s", entry(until)); a.status != 422 || !strings.Contains(a.body, want) {
			t.Errorf("until %q: %s, want %s", until, a, want)
		}
	}
	refused("when no entry was taken", true)
	later := epoch.Add(time.Hour).Format(time.RFC3339)
	// Another subject's does not count; that of the context does.
	c.do("PUT", "/api/v1/exceptions?subject=s", map[string]any{"exceptions": []any{}})
	c.do("PUT", "/api/v1/exceptions?subject=other", entry(later))
	refused("accepted elsewhere", true)
	if a := c.do("PUT", "/api/v1/exceptions", entry(later)); a.status != 200 {
		t.Fatal(a)
	}
	refused("accepted for the context", false)
	if text := compared(); !strings.Contains(text, `"verdict":"compatible"`) || !strings.Contains(text, `"reason":"nobody reads it"`) {
		t.Errorf("compared: %s", text)
	}
	// What passed for a while only is judged again.
	c.want(c.do("DELETE", "/api/v1/exceptions?fingerprint="+f, nil), 200, `{"exceptions":[]}`)
	refused("taken out", true)
	if a := c.do("POST", "/subjects/s/versions", next); a.status != 409 {
		t.Errorf("registered: %s", a)
	}
	c.do("PUT", "/api/v1/exceptions?subject=:.__GLOBAL:", entry(later))
	if a := c.do("POST", "/subjects/s/versions", next); a.status != 200 {
		t.Errorf("refused: %s", a)
	}
	c.want(c.do("DELETE", "/api/v1/exceptions?subject=:.__GLOBAL:", nil), 200, `{"exceptions":[]}`)
	c.want(c.do("GET", "/api/v1/exceptions?subject=other", nil), 200, `{"exceptions":[{"fingerprint":"`+f+`","reason":"nobody reads it","owner":"team-a","until":"`+later+`"}]}`)
}

func TestExceptionsThatAreNone(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	good := `{"fingerprint":"0123456789abcdef0123456789abcdef","reason":"r","owner":"o","until":"` + epoch.AddDate(0, 6, 0).Format(time.RFC3339) + `"}`
	for body, want := range map[string]int{
		`{}`: 422, `{"exceptions":7}`: 400, `{"exceptions":[7]}`: 400,
		`{"exceptions":[` + strings.Replace(good, "0123", "xyz!", 1) + `]}`:            422,
		`{"exceptions":[` + strings.Replace(good, `"r"`, `" "`, 1) + `]}`:              422,
		`{"exceptions":[` + strings.Replace(good, `"o"`, `""`, 1) + `]}`:               422,
		`{"exceptions":[` + good + `,` + good + `]}`:                                   422,
		`{"exceptions":[` + strings.Replace(good, `"until":"`, `"until":"x`, 1) + `]}`: 400,
		`{"exceptions":[` + good + `]}`:                                                200,
	} {
		if a := c.do("PUT", "/api/v1/exceptions", json.RawMessage(body)); a.status != want {
			t.Errorf("%s: %s, want %d", body, a, want)
		}
	}
	if a := c.do("PUT", "/api/v1/exceptions?subject=__GLOBAL", json.RawMessage(`{"exceptions":[]}`)); a.status != 422 {
		t.Errorf("a name that no subject has: %s", a)
	}
}
