package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// passage is a registry that can be listened to, and be made to answer as others
// do.
type passage struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	hooks sync.Mutex // guards what follows, and what its functions touch
	// before is asked before a request is passed on; false ends it with status 503.
	before func(r *http.Request) bool
	// after changes an answer.
	after func(r *http.Request, status int, body []byte) (int, []byte)
}

// hook changes what requests meet from now on.
func (p *passage) hook(before func(r *http.Request) bool, after func(r *http.Request, status int, body []byte) (int, []byte)) {
	p.hooks.Lock()
	defer p.hooks.Unlock()
	p.before, p.after = before, after
}

func openPassage(t *testing.T) *passage {
	t.Helper()
	journal, err := sqlite.Open(sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.Open(t.Context(), journal, registry.Options{Formats: formats.All, Checkers: allCheckers()})
	if err != nil {
		t.Fatal(err)
	}
	inner := httptest.NewServer(api.New(r, api.Options{}))
	to, err := url.Parse(inner.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := &passage{}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ModifyResponse = func(res *http.Response) error {
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		p.hooks.Lock()
		defer p.hooks.Unlock()
		if p.after == nil {
			res.Body = io.NopCloser(bytes.NewReader(body))
			return nil
		}
		res.StatusCode, body = p.after(res.Request, res.StatusCode, body)
		res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		res.Header.Set("Content-Length", fmt.Sprint(len(body)))
		return nil
	}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.Method+" "+r.URL.RequestURI())
		p.mu.Unlock()
		p.hooks.Lock()
		refused := p.before != nil && !p.before(r)
		p.hooks.Unlock()
		if refused {
			http.Error(w, `{"error_code":50301,"message":"no"}`, http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		p.Close()
		inner.Close()
		_ = r.Close()
	})
	return p
}

// requests gives what was asked since the last call.
func (p *passage) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.asked
	p.asked = nil
	return list
}

// project writes files into a new folder and gives the path of its configuration.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "cartorio.yaml")
}

// does runs a command and gives what it printed; the exit code must be want.
func does(t *testing.T, want int, args ...string) (out, complaint string) {
	t.Helper()
	var o, e bytes.Buffer
	if code := run(t.Context(), args, strings.NewReader(""), &o, &e); code != want {
		t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, o.String(), e.String())
	}
	return o.String(), e.String()
}

func chain(n int) map[string]string {
	files := map[string]string{}
	var yaml strings.Builder
	yaml.WriteString("scope: {prefix: c.}\nsubjects:\n")
	for i := range n {
		fields := `{"name":"n","type":"int"}`
		if i > 0 {
			fields = fmt.Sprintf(`{"name":"before","type":"c.R%d"}`, i-1)
		}
		files[fmt.Sprintf("r%d.avsc", i)] = fmt.Sprintf(`{"type":"record","name":"R%d","namespace":"c","fields":[%s]}`, i, fields)
		fmt.Fprintf(&yaml, "- {name: c.r%d, file: r%d.avsc}\n", i, i)
	}
	files["cartorio.yaml"] = yaml.String()
	return files
}

// A quiet plan asks once for each declared subject, and once more where a level is
// declared, however many others there are.
func TestAQuietPlanAsksLittle(t *testing.T) {
	t.Parallel()
	p := openPassage(t)
	files := chain(20)
	config := project(t, files)
	for i := range 5 {
		other := project(t, map[string]string{"cartorio.yaml": fmt.Sprintf("subjects: [{name: other%d, file: a.avsc}]", i), "a.avsc": `"string"`})
		does(t, exitOK, "apply", "--yes", "--config", other, "--registry", p.URL)
	}
	does(t, exitOK, "apply", "--yes", "--config", config, "--registry", p.URL)
	p.requests()
	out, _ := does(t, exitOK, "plan", "--detailed-exitcode", "--config", config, "--registry", p.URL)
	if got := p.requests(); len(got) != 20 {
		t.Errorf("%d requests for 20 subjects: %s", len(got), strings.Join(got, "\n"))
	}
	if out != "no changes: 20 as declared\n" {
		t.Error(out)
	}
	files["cartorio.yaml"] = strings.Replace(files["cartorio.yaml"], "r3.avsc}", "r3.avsc, level: FULL}", 1)
	config = project(t, files)
	does(t, exitOK, "apply", "--yes", "--config", config, "--registry", p.URL)
	p.requests()
	does(t, exitOK, "plan", "--detailed-exitcode", "--config", config, "--registry", p.URL)
	for _, line := range p.requests() {
		if strings.Contains(line, "other") {
			t.Errorf("it asks for what is not declared: %s", line)
		}
	}
	// Laid out anew, with references to resolve: what they point to is known.
	for name, text := range files {
		if strings.HasSuffix(name, ".avsc") {
			var b bytes.Buffer
			if err := json.Indent(&b, []byte(text), "", "   "); err != nil {
				t.Fatal(err)
			}
			files[name] = b.String()
		}
	}
	does(t, exitOK, "plan", "--detailed-exitcode", "--config", project(t, files), "--registry", p.URL)
	if got := p.requests(); len(got) != 21 {
		t.Errorf("%d requests after a new layout: %s", len(got), strings.Join(got, "\n"))
	}
}

// TestForeignRegistries plans and applies against a registry in the form of older
// and other products: without routes of ours, without GUIDs and times, with the id
// alone as the answer to a registration.
func TestForeignRegistries(t *testing.T) {
	t.Parallel()
	p := openPassage(t)
	p.after = func(r *http.Request, status int, body []byte) (int, []byte) {
		if strings.HasPrefix(r.URL.Path, "/api/") {
			return http.StatusNotFound, []byte(`{"error_code":404,"message":"HTTP 404 Not Found"}`)
		}
		var m map[string]any
		if json.Unmarshal(body, &m) != nil {
			return status, body
		}
		for _, ours := range []string{"guid", "ts", "deleted", "schemaType", "verdictPolicy"} {
			if ours != "schemaType" || m[ours] == "AVRO" {
				delete(m, ours)
			}
		}
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/versions") && m["id"] != nil {
			m = map[string]any{"id": m["id"]}
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Error(err)
		}
		return status, text
	}
	files := chain(3)
	files["cartorio.yaml"] = strings.Replace(files["cartorio.yaml"], "r1.avsc}", "r1.avsc, level: NONE, mode: READWRITE}", 1)
	config := project(t, files)
	out, _ := does(t, exitOK, "apply", "--yes", "--config", config, "--registry", p.URL)
	for _, want := range []string{"created      c.r0 version 1 id 1", "created      c.r2 version 1 id 3", "set          c.r1: compatibility NONE"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	does(t, exitOK, "plan", "--detailed-exitcode", "--config", config, "--registry", p.URL)
	files["r0.avsc"] = strings.Replace(files["r0.avsc"], `"int"`, `"string"`, 1)
	out, _ = does(t, exitFindings, "plan", "--config", project(t, files), "--registry", p.URL)
	if !strings.Contains(out, "breaking: avro.type-changed") || !strings.Contains(out, "registry: ") {
		t.Error(out)
	}
	dir := t.TempDir()
	does(t, exitOK, "dump", dir, "--registry", p.URL)
	does(t, exitOK, "plan", "--detailed-exitcode", "--config", filepath.Join(dir, "cartorio.yaml"), "--registry", p.URL)
	_, complaint := does(t, exitNotCompared, "can-deploy", "--subject", "c.r0", "--version", "1", "--to", "prod", "--registry", p.URL)
	if !strings.Contains(complaint, "keeps no readers' reports") {
		t.Error(complaint)
	}
}

// A group that fails in the middle is taken back, and the next apply does it all.
func TestAGroupThatFailsIsTakenBack(t *testing.T) {
	t.Parallel()
	p := openPassage(t)
	files := chain(3)
	files["cartorio.yaml"] = strings.Replace(files["cartorio.yaml"], "r0.avsc}", "r0.avsc, level: FULL, mode: READWRITE}", 1) +
		"- {name: c.alone, file: alone.avsc}\n"
	files["alone.avsc"] = `"string"`
	config := project(t, files)
	refuse := true
	p.after = func(r *http.Request, status int, body []byte) (int, []byte) {
		if refuse && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/c.r2/versions") && !strings.Contains(r.URL.Path, "compatibility") {
			return http.StatusConflict, []byte(`{"error_code":409,"message":"somebody was faster"}`)
		}
		return status, body
	}
	// The refusal is made up after the registry has acted, as a lost answer would be:
	// what came of it is taken back too.
	out, complaint := does(t, exitFindings, "apply", "--yes", "--config", config, "--registry", p.URL)
	for _, want := range []string{
		"undone       c.r0: mode READWRITE", "undone       c.r0: compatibility FULL", "undone       c.r0 version 1", "undone       c.r1 version 1",
		"failed       c.r2 version 1", "somebody was faster (code 409)", "created      c.alone version 1", "steps: 1 done, 1 failed, 4 taken back",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if !strings.Contains(complaint, "create of c.r2") {
		t.Error(complaint)
	}
	refuse = false
	does(t, exitOK, "apply", "--yes", "--config", config, "--registry", p.URL)
	does(t, exitOK, "plan", "--detailed-exitcode", "--config", config, "--registry", p.URL)
}

// A registry that goes away ends the run, and what could not be taken back is told.
func TestARegistryThatGoesAway(t *testing.T) {
	t.Parallel()
	p := openPassage(t)
	files := chain(3)
	files["cartorio.yaml"] += "- {name: c.alone, file: alone.avsc}\n"
	files["alone.avsc"] = `"string"`
	config := project(t, files)
	gone := false
	p.before = func(r *http.Request) bool {
		gone = gone || r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/subjects/c.r1/versions")
		return !gone
	}
	out, _ := does(t, exitUnreachable, "apply", "--yes", "--config", config, "--registry", p.URL)
	for _, want := range []string{"left         c.r0 version 1", "it could not be taken back: ", "failed       c.r1", "skipped      c.r2", "skipped      c.alone", "something before it failed"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	p.hook(nil, nil)
	does(t, exitOK, "apply", "--yes", "--config", config, "--registry", p.URL)
	does(t, exitOK, "plan", "--detailed-exitcode", "--config", config, "--registry", p.URL)
}

// Killed at any write, apply does the rest the next time.
func TestApplyIsKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	files := chain(4)
	files["cartorio.yaml"] = strings.Replace(files["cartorio.yaml"], "r2.avsc}", "r2.avsc, level: FULL, history: [old.avsc]}", 1)
	files["old.avsc"] = `{"type":"record","name":"R2","namespace":"c","fields":[{"name":"before","type":{"type":"record","name":"R1","fields":[{"name":"before","type":{"type":"record","name":"R0","fields":[{"name":"n","type":"int"}]}}]}}]}`
	config := project(t, files)
	writes := 6
	for at := 1; at <= writes; at++ {
		p := openPassage(t)
		cmd := exec.CommandContext(t.Context(), os.Args[0], "apply", "--yes", "--config", config, "--registry", p.URL)
		cmd.Args[0] = "cartorio"
		n := 0
		p.after = func(r *http.Request, status int, body []byte) (int, []byte) {
			isWrite := r.Method == http.MethodPut || r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/subjects/") && strings.HasSuffix(r.URL.Path, "/versions")
			if isWrite {
				if n++; n == at {
					_ = cmd.Process.Kill()
				}
			}
			return status, body
		}
		p.hooks.Lock() // the hook looks at the process
		err := cmd.Start()
		p.hooks.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatalf("it was to be killed at write %d and was not", at)
		}
		p.hook(nil, nil)
		does(t, exitOK, "apply", "--yes", "--config", config, "--registry", p.URL)
		out, _ := does(t, exitOK, "plan", "--detailed-exitcode", "--config", config, "--registry", p.URL)
		if out != "no changes: 4 as declared\n" {
			t.Errorf("killed at write %d: %s", at, out)
		}
		res, err := http.Get(p.URL + "/subjects/c.r2/versions")
		if err != nil {
			t.Fatal(err)
		}
		list, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if string(list) != "[1,2]" {
			t.Errorf("killed at write %d: c.r2 has versions %s", at, list)
		}
	}
}
