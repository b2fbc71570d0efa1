package action_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// registry starts a real one that knows a subject and who reads it, and names it
// as the environment prod of the checkout.
func (r *runner) registry(subject string) {
	r.t.Helper()
	cmd := exec.Command(r.binary, "serve", "--listen", "127.0.0.1:0", "--database", "sqlite::memory:")
	cmd.Env = r.environ()
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // Wait tells
		if err := cmd.Wait(); err != nil {
			r.t.Errorf("the registry ended with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(line), " serves ")
	if err != nil || !ok {
		r.t.Fatalf("the registry said %q: %v", line, err)
	}
	post := func(path string, body any) {
		text, err := json.Marshal(body)
		if err != nil {
			r.t.Fatal(err)
		}
		answer, err := http.Post(url+path, "application/json", strings.NewReader(string(text)))
		if err != nil {
			r.t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			r.t.Fatalf("POST %s: %s", path, answer.Status)
		}
	}
	post("/subjects/"+subject+"/versions", map[string]any{"schema": order(0, "")})
	reads := func(consumer, environment string, more map[string]any) {
		read := map[string]any{"subject": subject, "context": ".", "versions": []int{1}}
		for name, value := range more {
			read[name] = value
		}
		post("/api/v1/readers", map[string]any{"consumer": consumer, "environment": environment, "reads": []any{read}})
	}
	reads("billing", "prod", map[string]any{"pinned": 1})
	reads("search", "prod", map[string]any{"accepts": "1"})
	reads("audit", "test", map[string]any{"accepts": "1.."})
	r.write("cartorio.yaml", "version: 1\nenvironments: {prod: '"+url+"'}\nsubjects: [{name: "+subject+", file: schemas/order.avsc}]\n")
}

// TestImpact shows whom a change hurts wherever the action tells of it.
func TestImpact(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	changed := strings.Replace(order(0, ""), `"long"`, `"string"`, 1)
	r.changed(changed)
	r.pullRequest(false)
	r.registry("order")
	r.env["IN_PATH"], r.env["IN_ENVIRONMENT"] = "schemas", "prod"
	o := r.run()
	if o.code != 1 || len(r.api.comments) != 1 {
		t.Fatalf("exit %d, %d comments\n%s", o.code, len(r.api.comments), o.log)
	}
	document, err := os.ReadFile(o.outputs["json"])
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"summary": o.summary, "comment": r.api.comments[0].Body} {
		for _, want := range []string{
			"### Who reads it", "`order`: 2 of 3 consumers would not read on", "| billing | prod | would break | 20", "| search | prod | would refuse it |",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing:\n%s", where, want, text)
			}
		}
	}
	if len(o.annotations) == 0 || !strings.Contains(o.annotations[0], "hurts: billing in prod would break, search in prod would refuse it") {
		t.Errorf("annotations %q", o.annotations)
	}
	if !strings.Contains(o.log, "order: 2 of 3 consumers would not read on") || !strings.Contains(string(document), `"answer": "breaks"`) {
		t.Errorf("log and document:\n%s\n%s", o.log, document)
	}

	// What is not wanted is not asked; what cannot be asked is told.
	r.env["IN_IMPACT"] = "false"
	if o = r.run(); strings.Contains(o.summary, "Who reads it") {
		t.Errorf("it was not asked for:\n%s", o.summary)
	}
	r.env["IN_IMPACT"], r.env["IN_ENVIRONMENT"] = "true", ""
	r.env["CARTORIO_REGISTRY_URL"] = "http://127.0.0.1:1"
	if o = r.run(); o.code != 1 || !strings.Contains(o.summary, "who reads order is not known") {
		t.Errorf("exit %d\n%s", o.code, o.summary)
	}
}
