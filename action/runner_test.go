// Package action_test runs the scripts of the action as a runner would: files in
// place of what the runner reads, a local server in place of its API.
package action_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// built is the binary that install.sh builds from source, once for all tests. Or
// one that is there, which CARTORIO_TEST_BINARY names.
var built = sync.OnceValues(func() (string, error) {
	if binary := os.Getenv("CARTORIO_TEST_BINARY"); binary != "" {
		return binary, nil
	}
	folder, err := os.MkdirTemp("", "action")
	if err != nil {
		return "", err
	}
	outputs := filepath.Join(folder, "outputs")
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("sh", "install.sh")
	cmd.Env = append(os.Environ(), "GITHUB_ACTION_PATH="+here, "GITHUB_OUTPUT="+outputs, "RUNNER_TEMP="+folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	text, err := os.ReadFile(outputs)
	return strings.TrimSpace(strings.TrimPrefix(string(text), "binary=")), err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if binary, err := built(); err == nil && binary != os.Getenv("CARTORIO_TEST_BINARY") {
		os.RemoveAll(filepath.Dir(filepath.Dir(binary))) // a leftover in the temporary folder
	}
	os.Exit(code)
}

// runner is a simulated runner: a checkout, an event, and the API.
type runner struct {
	t        *testing.T
	checkout string
	binary   string
	env      map[string]string
	api      *api
}

// outcome is what a run left behind.
type outcome struct {
	code         int
	log, summary string
	outputs      map[string]string
	annotations  []string
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	for _, program := range []string{"git", "sh", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("NOT RUN: %s is not installed", program)
		}
	}
	binary, err := built()
	if err != nil {
		t.Fatalf("building by install.sh: %v", err)
	}
	r := &runner{t: t, checkout: t.TempDir(), binary: binary, env: map[string]string{}, api: &api{}}
	server := httptest.NewServer(r.api)
	t.Cleanup(server.Close)
	r.env["GITHUB_API_URL"] = server.URL
	r.env["IN_TOKEN"] = "secret-of-the-job"
	r.env["IN_LINT"], r.env["IN_FMT"] = "false", "false"
	r.git("init", "-q", "-b", "main")
	return r
}

func (r *runner) git(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = r.checkout, r.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *runner) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.checkout, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *runner) commit(message string) string {
	r.t.Helper()
	r.git("add", ".")
	r.git("commit", "-q", "-m", message)
	return r.git("rev-parse", "HEAD")
}

// environ is what a runner gives to a step, and nothing of this machine's own.
func (r *runner) environ() []string {
	home := r.t.TempDir()
	none := filepath.Join(home, "none")
	list := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_GLOBAL=" + none, "GIT_CONFIG_SYSTEM=" + none,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range r.env {
			if !yield(name) {
				return
			}
		}
	}) {
		list = append(list, name+"="+r.env[name])
	}
	return list
}

// pullRequest is the event of a pull request into main.
func (r *runner) pullRequest(fork bool) {
	r.env["GITHUB_BASE_REF"] = "main"
	r.event(map[string]any{"pull_request": map[string]any{
		"number": 7, "head": map[string]any{"repo": map[string]any{"fork": fork}},
	}})
}

func (r *runner) event(body any) {
	r.t.Helper()
	file := filepath.Join(r.t.TempDir(), "event.json")
	text, err := json.Marshal(body)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.env["GITHUB_EVENT_PATH"] = file
}

var stopped = regexp.MustCompile(`(?s)::stop-commands::([0-9a-f]{32})\n.*?\n::([0-9a-f]{32})::\n`)

func (r *runner) run() outcome {
	r.t.Helper()
	folder := r.t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		r.t.Fatal(err)
	}
	summary, outputs := filepath.Join(folder, "summary.md"), filepath.Join(folder, "outputs")
	cmd := exec.CommandContext(r.t.Context(), "sh", filepath.Join(here, "gate.sh"))
	cmd.Dir = r.checkout
	cmd.Env = append(r.environ(), "GITHUB_ACTIONS=true", "GITHUB_ACTION_PATH="+here, "GITHUB_WORKSPACE="+r.checkout,
		"GITHUB_REPOSITORY=acme/shop", "GITHUB_STEP_SUMMARY="+summary, "GITHUB_OUTPUT="+outputs, "RUNNER_TEMP="+folder, "IN_BINARY="+r.binary)
	r.api.pass() // what the test has set is there for the server, and afterwards the other way round
	out, err := cmd.CombinedOutput()
	r.api.pass()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	o := outcome{code: cmd.ProcessState.ExitCode(), log: string(out), outputs: map[string]string{}}
	if text, err := os.ReadFile(summary); err == nil {
		o.summary = string(text)
	}
	if text, err := os.ReadFile(outputs); err == nil {
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			o.outputs[name] = value
		}
	}
	for _, pair := range stopped.FindAllStringSubmatch(o.log, -1) {
		if pair[1] != pair[2] {
			r.t.Errorf("commands were stopped with %s and taken up with %s", pair[1], pair[2])
		}
	}
	for line := range strings.Lines(stopped.ReplaceAllString(o.log, "")) {
		if strings.HasPrefix(line, "::") {
			o.annotations = append(o.annotations, strings.TrimSpace(line))
		}
	}
	if strings.Contains(o.log+o.summary, "secret-of-the-job") {
		r.t.Errorf("the token is told:\n%s", o.log)
	}
	return o
}

// api keeps comments as the platform's does.
type api struct {
	mu       sync.Mutex
	comments []comment
	requests []string
	refuse   int // the status of each answer; 0 for none
}

type comment struct {
	ID   int    `json:"id"`
	Body string `json:"body"`
	User struct {
		Type string `json:"type"`
	} `json:"user"`
}

// pass waits until no request is being answered: the program in between says
// nothing to the race detector of what it has asked and when.
func (a *api) pass() {
	a.mu.Lock()
	defer a.mu.Unlock()
}

func (a *api) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, req.Method+" "+req.URL.Path)
	if a.refuse != 0 || req.Header.Get("Authorization") != "Bearer secret-of-the-job" {
		w.WriteHeader(max(a.refuse, http.StatusUnauthorized))
		return
	}
	const comments = "/repos/acme/shop/issues/7/comments"
	switch {
	case req.Method == http.MethodGet && req.URL.Path == comments:
		var page int
		fmt.Sscan(req.URL.Query().Get("page"), &page) // 0 is the first page too
		from := min(max(page-1, 0)*100, len(a.comments))
		json.NewEncoder(w).Encode(append([]comment{}, a.comments[from:min(from+100, len(a.comments))]...)) // the client tells
	case req.Method == http.MethodPost && req.URL.Path == comments:
		c := comment{ID: 1000 + len(a.comments)}
		json.NewDecoder(req.Body).Decode(&c) // an empty body shows in the test
		c.User.Type = "Bot"
		a.comments = append(a.comments, c)
		w.WriteHeader(http.StatusCreated)
	case req.Method == http.MethodPatch:
		for i := range a.comments {
			if req.URL.Path == fmt.Sprintf("/repos/acme/shop/issues/comments/%d", a.comments[i].ID) {
				json.NewDecoder(req.Body).Decode(&a.comments[i]) // as above
				return
			}
		}
		w.WriteHeader(http.StatusNotFound)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// order is a record with a number of fields, each with a default or none.
func order(fields int, last string) string {
	var b strings.Builder
	b.WriteString("{\"type\": \"record\", \"name\": \"Order\", \"fields\": [\n  {\"name\": \"id\", \"type\": \"long\"}")
	for i := range fields {
		fmt.Fprintf(&b, ",\n  {\"name\": \"f%d\", \"type\": \"int\"%s}", i, last)
	}
	return b.String() + "\n]}\n"
}

// changed begins a repository with a schema on main and another one on a branch.
func (r *runner) changed(next string) (before string) {
	r.write("schemas/order.avsc", order(0, ""))
	before = r.commit("one")
	r.git("update-ref", "refs/remotes/origin/main", before)
	r.git("checkout", "-q", "-b", "change")
	r.write("schemas/order.avsc", next)
	r.commit("two")
	return before
}
