package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// asked is a pair that is put to all who judge.
type asked struct {
	name      string
	kind      schemas.Type
	old, next string
}

// ownPairs are the examples of every rule, and their near misses.
func ownPairs() []asked {
	var list []asked
	for _, c := range checkers.All() {
		for _, r := range c.Rules {
			for variant, next := range map[string]string{"new": r.New, "near": r.Near} {
				if r.Old != "" && next != "" {
					list = append(list, asked{r.ID + "-" + variant, c.Format, r.Old, next})
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b asked) int { return strings.Compare(a.name, b.name) })
	return list
}

// outsidePairs are those of the conformance kit that refer to nothing.
func outsidePairs(t *testing.T, root string) []asked {
	t.Helper()
	var list []asked
	for _, folder := range []string{"avro", "jsonschema", "protobuf"} {
		text, err := os.ReadFile(filepath.Join(root, folder, "handed.json"))
		if err != nil {
			t.Fatal(err)
		}
		type pair struct {
			ID            string            `json:"id"`
			Type          schemas.Type      `json:"schemaType"`
			Old           json.RawMessage   `json:"old"`
			New           json.RawMessage   `json:"new"`
			OldReferences []json.RawMessage `json:"oldReferences"`
			NewReferences []json.RawMessage `json:"newReferences"`
		}
		var cases []pair
		if json.Unmarshal(text, &cases) != nil {
			var whole struct{ Cases []pair }
			if err := json.Unmarshal(text, &whole); err != nil {
				t.Fatal(err)
			}
			cases = whole.Cases
		}
		plain := func(raw json.RawMessage) string {
			var s string
			if json.Unmarshal(raw, &s) == nil && folder != "jsonschema" {
				return s
			}
			return string(raw)
		}
		left := 0
		for _, c := range cases {
			if len(c.OldReferences)+len(c.NewReferences) > 0 {
				left++
				continue
			}
			list = append(list, asked{c.ID, c.Type, plain(c.Old), plain(c.New)})
		}
		t.Logf("%s: %d pairs, %d that refer to others left out", folder, len(cases)-left, left)
	}
	return list
}

var endings = map[schemas.Type]string{schemas.Avro: ".avsc", schemas.JSON: ".json", schemas.Protobuf: ".proto"}

// The gate, the question to a registry and the comparison of two versions are one
// engine: the same verdict, the same rules in the same order, the same
// fingerprints.
func TestAllWhoJudgeAgree(t *testing.T) {
	t.Parallel()
	pairs := ownPairs()
	if root := os.Getenv("CARTORIO_CONFORMANCE"); root != "" {
		pairs = append(pairs, outsidePairs(t, root)...)
	} else {
		t.Log("NOT RUN over the conformance kit: set CARTORIO_CONFORMANCE to its folder")
	}
	s := newJudges(t)
	rules := map[string]bool{}
	compared := 0
	for i, p := range pairs {
		level := []string{"BACKWARD", "FORWARD", "FULL"}[i%3]
		compared += s.agree(t, p, fmt.Sprintf("s%05d", i), level, rules)
	}
	t.Logf("%d pairs, %d compared by all", len(pairs), compared)
	if compared < len(pairs)*9/10 {
		t.Errorf("only %d of %d pairs were compared", compared, len(pairs))
	}
	for rule := range rules {
		var out bytes.Buffer
		if code := run(t.Context(), []string{"explain", rule}, nil, &out, io.Discard); code != exitOK {
			t.Errorf("explain does not know %s, which a report names", rule)
		}
	}
}

type judges struct {
	url string
	dir string
}

func newJudges(t *testing.T) *judges {
	t.Helper()
	journal, err := sqlite.Open(sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.Open(t.Context(), journal, registry.Options{Formats: formats.All, Checkers: checkers.All()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api.New(r, api.Options{}))
	t.Cleanup(func() {
		server.Close()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	for _, name := range []string{"old", "new"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return &judges{url: server.URL, dir: dir}
}

func (j *judges) ask(t *testing.T, method, path string, body any) (status int, answer []byte) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	q, err := http.NewRequestWithContext(t.Context(), method, j.url+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	answer, err = io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, answer
}

// told is what is the same wherever a finding is read.
type told struct{ Rule, Severity, Fingerprint, Path string }

func toldOf(list []compat.Finding) []told {
	out := []told{}
	for _, f := range list {
		out = append(out, told{f.Rule, string(f.Severity), f.Fingerprint, f.Path})
	}
	return out
}

// agree puts one pair to all three, and answers 1 when all of them compared it.
func (j *judges) agree(t *testing.T, p asked, subject, level string, rules map[string]bool) int {
	t.Helper()
	name := "x" + endings[p.kind]
	for dir, text := range map[string]string{"old": p.old, "new": p.next} {
		if err := os.WriteFile(filepath.Join(j.dir, dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, complaint bytes.Buffer
	code := run(t.Context(), []string{
		"check", filepath.Join(j.dir, "new", name), "--against", filepath.Join(j.dir, "old", name),
		"--level", level, "--format", "json", "--subject", subject, "--config", os.DevNull,
	}, nil, &out, &complaint)
	var gate compat.Document
	if err := json.Unmarshal(out.Bytes(), &gate); err != nil {
		t.Fatalf("%s: exit %d: %s", p.name, code, complaint.String())
	}
	for _, f := range gate.Findings {
		rules[f.Rule] = true
	}
	j.ask(t, "PUT", "/config/"+subject, map[string]any{"compatibility": "NONE", "validateNewSchemas": false})
	if status, _ := j.ask(t, "POST", "/subjects/"+subject+"/versions", map[string]any{"schemaType": p.kind, "schema": p.old}); status != http.StatusOK {
		return 0
	}
	j.ask(t, "PUT", "/config/"+subject, map[string]any{"compatibility": level})
	next := map[string]any{"schemaType": p.kind, "schema": p.next}
	status, text := j.ask(t, "POST", "/compatibility/subjects/"+subject+"/versions/1", next)
	if status != http.StatusOK {
		if gate.Verdict != compat.NotChecked {
			t.Errorf("%s: the registry cannot compare, and check says %s: %s", p.name, gate.Verdict, text)
		}
		return 0
	}
	var verdict struct {
		Compatible bool `json:"is_compatible"`
	}
	if err := json.Unmarshal(text, &verdict); err != nil {
		t.Fatal(err)
	}
	if verdict.Compatible != (gate.Verdict == compat.Compatible) {
		t.Errorf("%s under %s: check says %s, POST /compatibility %s", p.name, level, gate.Verdict, text)
	}
	status, text = j.ask(t, "POST", "/api/v1/compare", map[string]any{"old": map[string]any{"subject": subject, "version": 1}, "new": next, "subject": subject, "level": level})
	if status == http.StatusUnprocessableEntity { // a text that does not parse is refused there
		if gate.Verdict != compat.NotChecked {
			t.Errorf("%s: compare refuses the texts, and check says %s: %s", p.name, gate.Verdict, text)
		}
		return 1
	}
	var page compat.Document
	if err := json.Unmarshal(text, &page); err != nil {
		t.Fatalf("%s: %v: %s", p.name, err, text)
	}
	if page.Verdict != gate.Verdict {
		t.Errorf("%s under %s: check says %s, compare %s", p.name, level, gate.Verdict, page.Verdict)
	}
	if diff := cmp.Diff(toldOf(gate.Findings), toldOf(page.Findings)); diff != "" {
		t.Errorf("%s under %s: -check +compare\n%s", p.name, level, diff)
	}
	return 1
}
