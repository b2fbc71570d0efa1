// Package deploy_test runs what teams copy into their pipelines, as the platforms
// would: their variables, their shells, a local server in place of their APIs.
package deploy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"
)

// built is the binary, made once for all tests: static, as releases are. Or one
// that is there, which CARTORIO_TEST_BINARY names.
var built = sync.OnceValues(func() (string, error) {
	if binary := os.Getenv("CARTORIO_TEST_BINARY"); binary != "" {
		return binary, nil
	}
	folder, err := os.MkdirTemp("", "deploy")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(folder, "cartorio")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "../cmd/cartorio")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if binary, err := built(); err == nil && binary != os.Getenv("CARTORIO_TEST_BINARY") {
		os.RemoveAll(filepath.Dir(binary)) // a leftover in the temporary folder
	}
	os.Exit(code)
}

const (
	before = "{\"type\": \"record\", \"name\": \"Order\", \"fields\": [\n  {\"name\": \"id\", \"type\": \"long\"}\n]}\n"
	fine   = "{\"type\": \"record\", \"name\": \"Order\", \"fields\": [\n  {\"name\": \"id\", \"type\": \"long\"},\n  {\"name\": \"n\", \"type\": \"int\", \"default\": 0}\n]}\n"
	breaks = "{\"type\": \"record\", \"name\": \"Order\", \"fields\": [\n  {\"name\": \"id\", \"type\": \"long\"},\n  {\"name\": \"n\", \"type\": \"int\"}\n]}\n"
)

// clone is a checkout with a remote whose main has a schema, on a branch where it
// may be changed.
type clone struct {
	t    *testing.T
	dir  string
	base string // the commit of main
	env  []string
	apis []*recorder // asked by the programs that it runs
}

func newClone(t *testing.T, programs ...string) *clone {
	t.Helper()
	for _, program := range append(programs, "git") {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("NOT RUN: %s is not installed", program)
		}
	}
	binary, err := built()
	if err != nil {
		t.Fatalf("building: %v", err)
	}
	path := t.TempDir()
	if err := os.Symlink(binary, filepath.Join(path, "cartorio")); err != nil {
		t.Fatal(err)
	}
	c := &clone{t: t, dir: t.TempDir(), env: []string{
		"PATH=" + path + ":" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "GIT_CONFIG_GLOBAL=" + filepath.Join(path, "none"), "GIT_CONFIG_SYSTEM=" + filepath.Join(path, "none"),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}}
	origin := t.TempDir()
	c.git("init", "-q", "--bare", "-b", "main", origin)
	c.git("init", "-q", "-b", "main")
	c.git("remote", "add", "origin", origin)
	c.write("schemas/order.avsc", before)
	c.git("add", ".")
	c.git("commit", "-q", "-m", "one")
	c.git("push", "-q", "origin", "main")
	c.base = c.git("rev-parse", "HEAD")
	c.git("checkout", "-q", "-b", "change")
	return c
}

func (c *clone) git(args ...string) string {
	c.t.Helper()
	code, out := c.run(nil, "git", args...)
	if code != 0 {
		c.t.Fatalf("git %v: exit code %d\n%s", args, code, out)
	}
	return strings.TrimSpace(out)
}

func (c *clone) write(name, text string) {
	c.t.Helper()
	file := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clone) read(name string) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// run runs a program in the checkout and answers its exit code and all it said.
func (c *clone) run(env []string, program string, args ...string) (int, string) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), program, args...)
	cmd.Dir, cmd.Env = c.dir, append(append([]string{}, c.env...), env...)
	c.pass() // what the test has set is there for the servers, and afterwards the other way round
	out, err := cmd.CombinedOutput()
	c.pass()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("%s: %v", program, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// pass waits until no request is being answered: the program in between says
// nothing to the race detector of what it has asked and when.
func (c *clone) pass() {
	for _, r := range c.apis {
		r.mu.Lock()
		r.mu.Unlock() //nolint:staticcheck // to wait is all that is wanted
	}
}

// decoded reads a YAML file of this folder.
func decoded[T any](t *testing.T, file string) T {
	t.Helper()
	var v T
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

// recorder answers what a platform's API would, and remembers what it was told.
type recorder struct {
	mu      sync.Mutex
	told    []string
	bodies  []string
	answer  func(req *http.Request) (int, any)
	secrets []string
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body) // a body cut short shows in the test
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, req.Method+" "+req.URL.Path)
	r.bodies = append(r.bodies, string(body))
	r.secrets = append(r.secrets, req.Header.Get("Private-Token"))
	status, answer := r.answer(req)
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(answer) // the client tells
}

func (c *clone) serve(answer func(req *http.Request) (int, any)) (*recorder, string) {
	c.t.Helper()
	r := &recorder{answer: answer}
	server := httptest.NewServer(r)
	c.t.Cleanup(server.Close)
	c.apis = append(c.apis, r)
	return r, server.URL
}

func TestGitLab(t *testing.T) {
	t.Parallel()
	job := decoded[map[string]struct {
		Variables map[string]string
		Script    []string
	}](t, "gitlab/cartorio.yml")["schemas"]
	script := strings.Join(job.Script, "\n")
	c := newClone(t, "bash", "curl", "jq")
	var variables []string
	for name, value := range job.Variables {
		variables = append(variables, name+"="+value)
	}
	notes := []map[string]any{{"id": 1, "body": "> <!-- cartorio check -->"}}
	api, url := c.serve(func(req *http.Request) (int, any) {
		if req.Method == http.MethodPost {
			notes = append(notes, map[string]any{"id": 2, "body": "<!-- cartorio check -->\nold"})
			return http.StatusCreated, notes[1]
		}
		if req.Method == http.MethodPut {
			return http.StatusOK, notes[1]
		}
		return http.StatusOK, notes
	})
	request := append(variables, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main", "CI_MERGE_REQUEST_IID=5", "CI_PROJECT_ID=9", "CI_API_V4_URL="+url)

	c.write("schemas/order.avsc", breaks)
	code, out := c.run(request, "bash", "-eo", "pipefail", "-c", script)
	if code != 1 || !strings.Contains(out, "no note was written: there is no SCHEMAS_NOTE_TOKEN") || len(api.told) != 0 {
		t.Errorf("without a token: exit code %d, %v\n%s", code, api.told, out)
	}
	var issues []struct {
		Fingerprint, Severity string
		Location              struct{ Path string }
	}
	if err := json.Unmarshal([]byte(c.read("code-quality.json")), &issues); err != nil || len(issues) != 1 || issues[0].Location.Path != "schemas/order.avsc" || issues[0].Severity != "critical" {
		t.Errorf("code quality %+v, %v", issues, err)
	}
	if !strings.Contains(c.read("junit.xml"), `failures="1"`) {
		t.Errorf("junit:\n%s", c.read("junit.xml"))
	}

	request = append(request, "SCHEMAS_NOTE_TOKEN=glpat-secret")
	for range 2 {
		if code, out = c.run(request, "bash", "-eo", "pipefail", "-c", script); code != 1 || strings.Contains(out, "secret") {
			t.Errorf("exit code %d\n%s", code, out)
		}
	}
	const path = "/projects/9/merge_requests/5/notes"
	if got, want := strings.Join(api.told, " "), "GET "+path+" POST "+path+" GET "+path+" PUT "+path+"/2"; got != want {
		t.Errorf("requests %s, wanted %s", got, want)
	}
	var note struct{ Body string }
	if err := json.Unmarshal([]byte(api.bodies[3]), &note); err != nil || !strings.HasPrefix(note.Body, "<!-- cartorio check -->\n## Cartório: breaking") || api.secrets[3] != "glpat-secret" {
		t.Errorf("the note %q, %v", note.Body, err)
	}
	if _, err := os.Stat(filepath.Join(c.dir, ".note-token")); err == nil {
		t.Error("the token was left in a file")
	}

	// On the default branch: the widget needs a report there too.
	c.write("schemas/order.avsc", fine)
	if code, out = c.run(append(variables, "CI_COMMIT_BEFORE_SHA="+c.base), "bash", "-eo", "pipefail", "-c", script); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if err := json.Unmarshal([]byte(c.read("code-quality.json")), &issues); err != nil {
		t.Error(err)
	}

	// What could not be compared leaves a report that can be read.
	c.git("clean", "-qfd")
	if code, out = c.run(append(variables, "CI_COMMIT_BEFORE_SHA="+strings.Repeat("ab", 20)), "bash", "-eo", "pipefail", "-c", script); code != 2 || c.read("code-quality.json") != "[]\n" {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestAzure(t *testing.T) {
	t.Parallel()
	steps := decoded[struct {
		Steps []struct {
			Script string
			Env    map[string]string
		}
	}](t, "azure/cartorio.yml").Steps
	c := newClone(t, "bash", "jq")
	c.write("schemas/order.avsc", breaks)
	out := t.TempDir()
	env := []string{"SCHEMAS_PATH=.", "BUILD_ARTIFACTSTAGINGDIRECTORY=" + out, "SYSTEM_PULLREQUEST_TARGETBRANCH=refs/heads/main"}
	code, log := c.run(env, "bash", "--noprofile", "--norc", "-c", steps[0].Script)
	want := "##vso[task.logissue type=error;sourcepath=schemas/order.avsc;linenumber=3;columnnumber=3;code=avro.field-added-without-default]field n was added without a default\n"
	if code != 1 || !strings.Contains(log, want) {
		t.Errorf("exit code %d, wanted %q\n%s", code, want, log)
	}
	for _, file := range []string{"cartorio-junit.xml", "cartorio.sarif"} {
		if _, err := os.Stat(filepath.Join(out, file)); err != nil {
			t.Error(err)
		}
	}
	c.write("schemas/order.avsc", fine)
	if code, log = c.run(env, "bash", "--noprofile", "--norc", "-c", steps[0].Script); code != 0 || strings.Contains(log, "##vso") {
		t.Errorf("exit code %d\n%s", code, log)
	}
}

func TestBitbucket(t *testing.T) {
	t.Parallel()
	type step struct{ Step struct{ Script []string } }
	script := decoded[struct {
		Pipelines struct {
			Requests map[string][]step `yaml:"pull-requests"`
		}
	}](t, "bitbucket/bitbucket-pipelines.yml").Pipelines.Requests["**"][0].Step.Script
	c := newClone(t, "bash", "curl", "jq")
	text, err := os.ReadFile("bitbucket/report.sh")
	if err != nil {
		t.Fatal(err)
	}
	c.write("deploy/bitbucket/report.sh", string(text))
	var many strings.Builder
	many.WriteString(strings.TrimSuffix(before, "\n]}\n"))
	for i := range 250 {
		fmt.Fprintf(&many, ",\n  {\"name\": \"f%d\", \"type\": \"int\"}", i)
	}
	c.write("schemas/order.avsc", many.String()+"\n]}\n")
	api, url := c.serve(func(*http.Request) (int, any) { return http.StatusOK, nil })
	env := []string{
		"BITBUCKET_PR_DESTINATION_BRANCH=main", "BITBUCKET_API=" + url, "BITBUCKET_PROXY=",
		"BITBUCKET_WORKSPACE=acme", "BITBUCKET_REPO_SLUG=shop", "BITBUCKET_COMMIT=abc",
	}
	code, out := c.run(env, "bash", "-e", "-c", strings.Join(script, "\n"))
	const report = "/repositories/acme/shop/commit/abc/reports/cartorio"
	annotations := " POST " + report + "/annotations"
	if got, want := strings.Join(api.told, " "), "PUT "+report+strings.Repeat(annotations, 3); code != 1 || got != want {
		t.Fatalf("exit code %d, requests %s, wanted %s\n%s", code, got, want, out)
	}
	if !strings.Contains(api.bodies[0], `"FAILED"`) || !strings.Contains(api.bodies[0], "250 findings") {
		t.Errorf("report %s", api.bodies[0])
	}
	ids := map[string]bool{}
	for _, body := range api.bodies[1:] {
		var list []struct {
			ID       string `json:"external_id"`
			Path     string
			Line     int
			Severity string
		}
		if err := json.Unmarshal([]byte(body), &list); err != nil || len(list) == 0 || len(list) > 100 {
			t.Fatalf("%d annotations at once: %v", len(list), err)
		}
		for _, a := range list {
			ids[a.ID] = true
			if a.Path != "schemas/order.avsc" || a.Line < 3 || a.Severity != "HIGH" {
				t.Errorf("annotation %+v", a)
			}
		}
	}
	if len(ids) != 250 {
		t.Errorf("%d ids of 250 findings", len(ids))
	}

	// An API that refuses changes no verdict.
	refusing, url := c.serve(func(*http.Request) (int, any) { return http.StatusForbidden, nil })
	c.write("schemas/order.avsc", fine)
	code, out = c.run(append(env, "BITBUCKET_API="+url), "bash", "-e", "-c", strings.Join(script, "\n"))
	if code != 0 || !strings.Contains(out, "no report was made") || len(refusing.told) != 1 {
		t.Errorf("exit code %d, requests %v\n%s", code, refusing.told, out)
	}
}

func TestJenkins(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("jenkins/Jenkinsfile")
	if err != nil {
		t.Fatal(err)
	}
	_, script, ok := strings.Cut(string(text), "sh '''")
	script, _, ends := strings.Cut(script, "'''")
	if !ok || !ends {
		t.Fatal("the Jenkinsfile has no step sh")
	}
	c := newClone(t)
	for _, tt := range []struct {
		schema string
		code   int
	}{{breaks, 1}, {fine, 0}} {
		c.write("schemas/order.avsc", tt.schema)
		if code, out := c.run([]string{"CHANGE_TARGET=main"}, "sh", "-xe", "-c", script); code != tt.code {
			t.Errorf("exit code %d, wanted %d\n%s", code, tt.code, out)
		}
		for _, file := range []string{"cartorio-junit.xml", "cartorio.sarif"} {
			if !strings.Contains(string(text), "'"+file+"'") || c.read(file) == "" {
				t.Errorf("%s is not published", file)
			}
		}
	}
}
