//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The limits of a pair, for each process that compares it.
const (
	pairTime   = 2 * time.Second
	pairMemory = 512 // MB live
)

// pairUsers are all who compare one pair. Each finds the old side in old/ and as
// version 1 of the subject that is called as the case, the new one in new/.
var pairUsers = []struct {
	name string
	do   func(t *testing.T, c *pairCase)
	// asksToo tells that a command compares and has the registry compare as well:
	// two processes, of which the test is both.
	asksToo bool
}{
	{"check", func(t *testing.T, c *pairCase) {
		command(t, c.judged, "check", c.next, "--against", c.old, "--level", "FULL", "--verdict-policy", "BOTH", "--format", "json")
	}, false},
	{"check against a registry", func(t *testing.T, c *pairCase) {
		command(t, c.judged, "check", c.next, "--against", "registry:"+c.subject, "--registry", c.url, "--format", "json")
	}, true},
	{"diff", func(t *testing.T, c *pairCase) { command(t, c.judged, "diff", c.old, c.next) }, false},
	{"changelog", func(t *testing.T, c *pairCase) {
		command(t, c.judged, "changelog", c.old, c.next, "--level", "FULL", "--format", "json")
	}, false},
	{"advise", func(t *testing.T, c *pairCase) { command(t, c.judged, "advise", c.old, c.next, "--level", "FULL") }, false},
	{"test", func(t *testing.T, c *pairCase) {
		tests := fmt.Sprintf("version: 1\nschema: %q\nversions: {v1: %q}\ntests:\n- {name: a, file: data.json, write: v1, read: head, expect: valid}\n", c.next, c.old)
		c.put(t, "data.json", "{}")
		command(t, c.judged, "test", c.put(t, "x.schematest.yaml", tests))
	}, false},
	{"plan", func(t *testing.T, c *pairCase) {
		command(t, c.judged, "plan", "--config", c.declared(t), "--registry", c.url)
	}, true},
	{"can-deploy", func(t *testing.T, c *pairCase) {
		c.ask(t, "POST", "/api/v1/readers", map[string]any{"consumer": "c", "environment": "prod", "reads": []any{map[string]any{"subject": c.subject, "version": 1, "count": 1}}})
		command(t, c.judged, "can-deploy", "--subject", c.subject, "--version", "1", "--to", "prod", "--registry", c.url)
	}, false},
	{"POST compatibility", func(t *testing.T, c *pairCase) {
		c.post(t, "/compatibility/subjects/"+c.subject+"/versions/latest?verbose=true", c.body)
	}, false},
	{"POST compatibility with all", func(t *testing.T, c *pairCase) {
		c.post(t, "/compatibility/subjects/"+c.subject+"/versions?verbose=true", c.body)
	}, false},
	{"POST subjects", func(t *testing.T, c *pairCase) { c.post(t, "/subjects/"+c.subject, c.body) }, false},
	{"POST compare", func(t *testing.T, c *pairCase) { c.post(t, "/api/v1/compare", c.both) }, false},
	{"POST compare for one reader", func(t *testing.T, c *pairCase) { c.post(t, "/api/v1/compare?reader=new&writer=old", c.both) }, false},
	{"POST compare with advice", func(t *testing.T, c *pairCase) { c.post(t, "/api/v1/compare?advise=true", c.both) }, false},
	// Those that write stand last, since they leave the pair behind them.
	{"register", func(t *testing.T, c *pairCase) {
		command(t, c.judged, "register", c.next, "--registry", c.url, "--subject", c.subject)
	}, false},
	{"apply", func(t *testing.T, c *pairCase) {
		command(t, c.judged, "apply", "--yes", "--config", c.declared(t), "--registry", c.url)
	}, true},
	{"POST versions", func(t *testing.T, c *pairCase) { c.post(t, "/subjects/"+c.subject+"/versions", c.body) }, false},
}

// pairCase is one pair before one of its users.
type pairCase struct {
	*judges
	old, next string // files
	subject   string
	body      any // of the new side
	both      any // of both
	judged    []int
}

// post sends a body; a server that fails is a failure of the test.
func (c *pairCase) post(t *testing.T, path string, body any) {
	t.Helper()
	if status, answer := c.ask(t, "POST", path, body); status >= http.StatusInternalServerError {
		t.Errorf("%s: %d %.300s", path, status, answer)
	}
}

// declared is a configuration in which the new file follows the old version.
func (c *pairCase) declared(t *testing.T) string {
	t.Helper()
	return c.put(t, "new/cartorio.yaml", fmt.Sprintf("version: 1\nsubjects:\n- {name: %s, file: %s}\n", c.subject, filepath.Base(c.next)))
}

// TestHostilePairsEverywhere puts pairs to all who compare. Each stays under 2 s of
// the processor and 512 MB, whether it compares once or asks before it registers,
// tries repairs, or finds the verdict of each policy. CARTORIO_HUNT takes all pairs
// before all users; an ordinary run the first pair of each format, with the others
// than advise taking turns.
func TestHostilePairsEverywhere(t *testing.T) {
	all := os.Getenv("CARTORIO_HUNT") != ""
	seen := map[string]bool{}
	for _, p := range append(hostilePairs, peacefulPairs...) {
		kind := string(p.kind)
		if seen[kind] && !all {
			continue
		}
		turn := len(seen)
		seen[kind] = true
		t.Run(kind+"/"+p.name, func(t *testing.T) {
			hostilePair(t, p, func(i int) bool { return all || i%3 == turn || pairUsers[i].name == "advise" })
		})
	}
}

// TestPeacefulPairsEverywhere is the same for those who go on when a pair passes:
// it is not compared a second time.
func TestPeacefulPairsEverywhere(t *testing.T) {
	for _, p := range peacefulPairs {
		t.Run(string(p.kind)+"/"+p.name, func(t *testing.T) {
			hostilePair(t, p, func(i int) bool { return pairUsers[i].name == "register" })
		})
	}
}

func hostilePair(t *testing.T, p asked, has func(i int) bool) {
	for i, user := range pairUsers {
		if !has(i) {
			continue
		}
		t.Run(user.name, func(t *testing.T) {
			c := &pairCase{judges: newJudges(t), subject: url.PathEscape(strings.ReplaceAll(user.name, " ", "-")), judged: []int{exitOK, exitFindings, exitNotCompared}}
			name := "x" + endings[p.kind]
			c.old, c.next = c.put(t, "old/"+name, p.old), c.put(t, "new/"+name, p.next)
			side := func(text string) map[string]any { return map[string]any{"schemaType": p.kind, "schema": text} }
			c.body = side(p.next)
			c.both = map[string]any{"old": side(p.old), "new": c.body, "level": "FULL", "verdictPolicy": "BOTH"}
			if status, answer := c.ask(t, "POST", "/subjects/"+c.subject+"/versions", side(p.old)); status != http.StatusOK {
				t.Fatalf("the old side is not registered: %.300s", answer)
			}
			c.ask(t, "PUT", "/config/"+c.subject, map[string]any{"compatibility": "FULL", "verdictPolicy": "BOTH"})
			most := pairTime
			if user.asksToo {
				most *= 2
			}
			costs(t, user.name, most, pairMemory, func() { user.do(t, c) })
		})
	}
}
