package action_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestPullRequest(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.changed(order(25, ""))
	r.pullRequest(false)
	r.api.comments = make([]comment, 100) // the own one stands on the second page
	o := r.run()
	if o.code != 1 || o.outputs["verdict"] != "breaking" || o.outputs["breaking"] != "25" {
		t.Errorf("exit %d, outputs %v\n%s", o.code, o.outputs, o.log)
	}
	if n := len(o.annotations); n != 10 || !strings.Contains(o.annotations[n-1], "25 findings in all") {
		t.Errorf("%d annotations, wanted 10 of which the last tells of 25:\n%s", n, strings.Join(o.annotations, "\n"))
	}
	if n := strings.Count(o.summary, "**breaking**"); n != 25 {
		t.Errorf("%d findings in the summary, wanted 25", n)
	}
	var doc struct {
		Verdict  string
		Findings []any
	}
	if text, err := os.ReadFile(o.outputs["json"]); err != nil || json.Unmarshal(text, &doc) != nil || doc.Verdict != "breaking" || len(doc.Findings) != 25 {
		t.Errorf("the document %q holds %s with %d findings: %v", o.outputs["json"], doc.Verdict, len(doc.Findings), err)
	}

	// The second run finds its comment and leaves no other.
	r.write("schemas/order.avsc", order(25, `, "default": 0`))
	o = r.run()
	if o.code != 0 || o.outputs["verdict"] != "compatible" || o.outputs["breaking"] != "0" {
		t.Errorf("exit %d, outputs %v\n%s", o.code, o.outputs, o.log)
	}
	if len(r.api.comments) != 101 || !strings.HasPrefix(r.api.comments[100].Body, "<!-- cartorio check -->\n## Cartório: compatible") {
		t.Errorf("%d comments, the last %q", len(r.api.comments), r.api.comments[len(r.api.comments)-1].Body)
	}
	want := []string{"GET", "GET", "POST", "GET", "GET", "PATCH"}
	var got []string
	for _, line := range r.api.requests {
		got = append(got, strings.Fields(line)[0])
	}
	if !slices.Equal(got, want) {
		t.Errorf("requests %v, wanted %v", got, want)
	}

	// Another gate on the same pull request has a comment of its own.
	r.env["IN_COMMENT_KEY"] = "billing/v2"
	r.run()
	if n := len(r.api.comments); n != 102 || !strings.HasPrefix(r.api.comments[n-1].Body, "<!-- cartorio check billing/v2 -->\n## Cart") {
		t.Errorf("%d comments, the last %q", n, r.api.comments[n-1].Body)
	}
}

// TestWhereNoCommentMayBeWritten shows that the verdict stands all the same, and
// that what was skipped is told.
func TestWhereNoCommentMayBeWritten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, told string
		prepare    func(*runner)
		fork       bool
		requests   int
	}{
		{"fork", "the token of a fork's pull request may not write (status 403)", func(r *runner) { r.api.refuse = http.StatusForbidden }, true, 1},
		{"no permission", "give the job the permission pull-requests: write", func(r *runner) { r.api.refuse = http.StatusForbidden }, false, 1},
		{"no token", "there is no token", func(r *runner) { r.env["IN_TOKEN"] = "" }, true, 0},
		{"broken API", "the API answered with status 418", func(r *runner) { r.api.refuse = http.StatusTeapot }, false, 1},
		{"no API", "the API did not answer", func(r *runner) { r.env["GITHUB_API_URL"] = "http://127.0.0.1:1" }, false, 0},
		{"switched off", "", func(r *runner) { r.env["IN_COMMENT"] = "false" }, false, 0},
		{"switched off in cartorio.yaml", "", func(r *runner) { r.write("cartorio.yaml", "version: 1\ngate: {comment: false}\n") }, false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t)
			r.changed(order(1, ""))
			r.pullRequest(tt.fork)
			tt.prepare(r)
			o := r.run()
			if o.code != 1 || o.outputs["verdict"] != "breaking" || len(o.annotations) != 1 {
				t.Errorf("exit %d, outputs %v, annotations %q\n%s", o.code, o.outputs, o.annotations, o.log)
			}
			if tt.told != "" && (!strings.Contains(o.summary, tt.told) || !strings.Contains(o.log, tt.told)) {
				t.Errorf("%q is not told in summary and log:\n%s\n%s", tt.told, o.summary, o.log)
			}
			if tt.told == "" && strings.Contains(o.summary, "no comment") {
				t.Errorf("what was not asked for is told as skipped:\n%s", o.summary)
			}
			if len(r.api.comments) != 0 || len(r.api.requests) != tt.requests {
				t.Errorf("requests %v, comments %v", r.api.requests, r.api.comments)
			}
		})
	}
}

// TestBases shows what is compared with for each event.
func TestBases(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, base string
		prepare    func(r *runner, before string)
		code       int
	}{
		{"push", "git:BEFORE", func(r *runner, before string) { r.event(map[string]any{"before": before}) }, 1},
		{"first push of a branch", "git:merge-base(origin/main)", func(r *runner, _ string) {
			r.event(map[string]any{"before": strings.Repeat("0", 40), "repository": map[string]any{"default_branch": "main"}})
		}, 1},
		{"merge group", "git:BEFORE", func(r *runner, before string) {
			r.event(map[string]any{"merge_group": map[string]any{"base_sha": before}})
		}, 1},
		{"by hand", "git:merge-base(origin/main)", func(r *runner, _ string) {
			r.event(map[string]any{"repository": map[string]any{"default_branch": "main"}})
		}, 1},
		{"told", "git:HEAD", func(r *runner, _ string) {
			r.pullRequest(false)
			r.env["IN_AGAINST"] = "git:HEAD"
		}, 0},
		{"configured", "git:main", func(r *runner, _ string) {
			r.pullRequest(false)
			r.env["IN_AGAINST"] = "config"
			r.write("cartorio.yaml", "version: 1\ncheck: {against: 'git:main'}\n")
		}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t)
			before := r.changed(order(1, ""))
			tt.prepare(r, before)
			o := r.run()
			if o.code != tt.code {
				t.Errorf("exit %d, wanted %d\n%s", o.code, tt.code, o.log)
			}
			if want := "compared with " + strings.ReplaceAll(tt.base, "BEFORE", before); !strings.Contains(o.log, want) {
				t.Errorf("%q is not told:\n%s", want, o.log)
			}
		})
	}
}

// TestShallowClone shows that the base is fetched into a clone of depth one.
func TestShallowClone(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.changed(order(1, ""))
	origin := r.checkout
	r.checkout = t.TempDir()
	r.git("clone", "-q", "--depth", "1", "--branch", "change", "file://"+origin, ".")
	r.pullRequest(false)
	if o := r.run(); o.code != 1 || o.outputs["breaking"] != "1" {
		t.Errorf("exit %d, outputs %v\n%s", o.code, o.outputs, o.log)
	}
}

// TestWhatCannotBeCompared shows that it fails, and everywhere says why.
func TestWhatCannotBeCompared(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.changed(order(0, "") + "\n")
	r.pullRequest(false)
	r.env["GITHUB_BASE_REF"] = "gone"
	o := r.run()
	if o.code != 2 || o.outputs["verdict"] != "not_checked" || o.outputs["json"] != "" {
		t.Errorf("exit %d, outputs %v\n%s", o.code, o.outputs, o.log)
	}
	if len(o.annotations) != 1 || !strings.Contains(o.annotations[0], "origin/gone") || !strings.Contains(o.summary, "origin/gone") {
		t.Errorf("annotations %q, summary:\n%s", o.annotations, o.summary)
	}
	if len(r.api.comments) != 1 || !strings.HasPrefix(r.api.comments[0].Body, "<!-- cartorio check -->\n") || !strings.Contains(r.api.comments[0].Body, "could not answer") {
		t.Errorf("comments %v", r.api.comments)
	}
}

// TestCommandsInSchemas shows that a schema gives the runner no orders.
func TestCommandsInSchemas(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.changed("{\"type\": \"record\", \"name\": \"Order\", \"fields\": [{\"name\": \"id\", \"type\": \"long\"},\n" +
		"{\"name\": \"x\", \"type\": {\"type\": \"enum\", \"name\": \"E\", \"symbols\": [\"A\"]}, \"doc\": \"a\\n::error::b\\n::set-output name=c::d\"}]}\n")
	r.write("schemas/::warning::x.avsc", "{")
	r.commit("three")
	r.pullRequest(false)
	o := r.run()
	if o.code != 2 || len(o.annotations) != 2 {
		t.Errorf("exit %d, annotations:\n%s\n%s", o.code, strings.Join(o.annotations, "\n"), o.log)
	}
	for _, a := range o.annotations {
		if !strings.HasPrefix(a, "::error file=schemas/") {
			t.Errorf("annotation %q", a)
		}
	}
}

// TestManyFindings holds the limits of the platform.
func TestManyFindings(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	for _, name := range []string{"a", "b", "c"} { // a pair alone tells no more than a thousand
		r.write("schemas/"+name+".avsc", order(0, ""))
	}
	r.changed(order(900, ""))
	for _, name := range []string{"a", "b", "c"} {
		r.write("schemas/"+name+".avsc", order(900, ""))
	}
	r.pullRequest(false)
	o := r.run()
	if o.code != 1 || o.outputs["breaking"] != "3600" || len(o.annotations) != 10 {
		t.Errorf("exit %d, outputs %v, %d annotations", o.code, o.outputs, len(o.annotations))
	}
	if n := len(o.summary); n > 1<<20 || n < 100_000 {
		t.Errorf("the summary has %d bytes", n)
	}
	if n := len(r.api.comments[0].Body); n > 65_536 || n < 30_000 || !strings.Contains(r.api.comments[0].Body, "not shown") {
		t.Errorf("the comment has %d bytes", n)
	}
}

// stub writes a cartorio that knows the other commands too, in the shape given;
// check and doctor are the real one's.
func (r *runner) stub(lint, fmts, plan string) {
	r.t.Helper()
	file := filepath.Join(r.t.TempDir(), "cartorio")
	text := `#!/bin/sh
[ "$2" != --help ] || { echo "  cartorio $1 [PATH] [flags]"; exit 0; }
case $1 in
lint)
  for a; do case $a in
  text=*) echo "lint says" >"${a#text=}" ;;
  json=*) echo "{}" >"${a#json=}" ;;
  github-actions=*) i=0; while [ $i -lt ${LINTS:-1} ]; do echo "::error file=${LINTED:-schemas/order.avsc},line=1::lint $i" >>"${a#github-actions=}"; i=$((i+1)); done ;;
  esac; done
  ` + lint + ` ;;
fmt) echo schemas/order.avsc; ` + fmts + ` ;;
plan) echo "create orders"; ` + plan + ` ;;
*) exec "` + r.binary + `" "$@" ;;
esac
`
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil { //nolint:gosec // it is run
		r.t.Fatal(err)
	}
	r.binary = file
}

func TestOtherCommands(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, lint, fmt, plan string
		env                   map[string]string
		code, annotations     int
		told                  []string
	}{
		{name: "all is well", lint: "exit 0", fmt: "exit 0", plan: "exit 0", code: 0, annotations: 1, told: []string{"plan for `prod`: nothing would change"}},
		{name: "lint refuses", lint: "exit 1", fmt: "exit 0", plan: "exit 0", code: 1, annotations: 1},
		{name: "lint warns", lint: "exit 1", fmt: "exit 0", plan: "exit 0", env: map[string]string{"IN_LINT": "warn"}, code: 0, annotations: 1, told: []string{"`cartorio lint` has findings; they do not fail"}},
		{name: "lint warns of what this change did not touch", lint: "exit 1", fmt: "exit 0", plan: "exit 0", env: map[string]string{"IN_LINT": "warn", "LINTED": "schemas/old.avsc"}, code: 0, told: []string{"`cartorio lint` has findings; they do not fail"}},
		{name: "fmt refuses", lint: "exit 0", fmt: "exit 1", plan: "exit 0", code: 1, annotations: 2, told: []string{"some files are not formatted"}},
		{name: "fmt warns", lint: "exit 0", fmt: "exit 1", plan: "exit 0", env: map[string]string{"IN_FMT": "warn"}, code: 0, annotations: 2, told: []string{"some files are not formatted"}},
		{name: "neither is wanted", lint: "exit 1", fmt: "exit 1", plan: "exit 0", env: map[string]string{"IN_LINT": "false", "IN_FMT": "false"}, code: 0},
		{name: "plan has changes", lint: "exit 0", fmt: "exit 0", plan: "exit 3", code: 0, annotations: 1, told: []string{"plan for `prod`: it would change", "create orders"}},
		{name: "plan is refused", lint: "exit 0", fmt: "exit 0", plan: "exit 1", code: 1, annotations: 1, told: []string{"the registry would refuse it"}},
		{name: "no registry", lint: "exit 1", fmt: "exit 0", plan: "echo nobody there >&2; exit 4", code: 4, annotations: 2, told: []string{"plan could not answer", "nobody there"}},
		{name: "many", lint: "exit 1", fmt: "exit 1", plan: "exit 0", env: map[string]string{"LINTS": "20"}, code: 1, annotations: 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t)
			r.changed(order(0, "") + "\n")
			r.write("cartorio.yaml", "version: 1\nenvironments: {prod: 'http://127.0.0.1:1'}\n")
			r.pullRequest(false)
			r.env["IN_ENVIRONMENT"], r.env["IN_LINT"], r.env["IN_FMT"] = "prod", "true", "true"
			for name, value := range tt.env {
				r.env[name] = value
			}
			r.stub(tt.lint, tt.fmt, tt.plan)
			o := r.run()
			if o.code != tt.code || len(o.annotations) != tt.annotations || o.outputs["verdict"] != "compatible" {
				t.Errorf("exit %d, wanted %d; outputs %v; %d annotations, wanted %d:\n%s\n%s", o.code, tt.code, o.outputs, len(o.annotations), tt.annotations, strings.Join(o.annotations, "\n"), o.log)
			}
			for _, text := range tt.told {
				if !strings.Contains(o.summary, text) {
					t.Errorf("%q is not in the summary:\n%s", text, o.summary)
				}
			}
		})
	}
}

// TestTheRealCommands shows that lint and fmt are called as they want to be, and
// that further arguments reach check, one a line.
func TestTheRealCommands(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	r.changed(order(1, ""))
	r.pullRequest(false)
	r.env["IN_LINT"], r.env["IN_FMT"] = "true", "warn"
	r.env["IN_PATH"], r.env["IN_FAIL_ON"] = "schemas", "risk"
	r.env["IN_ARGS"] = "--format=sarif=all of it.sarif\n--level\nFULL\n"
	o := r.run()
	if o.code != 1 || strings.Contains(o.summary, "was skipped") {
		t.Errorf("exit %d\n%s\n%s", o.code, o.log, o.summary)
	}
	for _, want := range []string{`== cartorio check: exit code 1\n`, `== cartorio lint: exit code [01]\n`, `== cartorio fmt: exit code [01]\n`} {
		if !regexp.MustCompile(want).MatchString(o.log) {
			t.Errorf("%q is not in the log:\n%s", want, o.log)
		}
	}
	if text, err := os.ReadFile(filepath.Join(r.checkout, "all of it.sarif")); err != nil || !strings.Contains(string(text), "2.1.0") {
		t.Errorf("the SARIF file: %v", err)
	}
}

func TestInputsThatMeanNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"IN_LINT", "IN_FMT", "IN_COMMENT", "IN_COMMENT_KEY", "IN_IMPACT"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t)
			r.changed(order(0, "") + "\n")
			r.pullRequest(false)
			r.env[name] = "yes; please"
			if o := r.run(); o.code != 64 || len(o.annotations) != 1 {
				t.Errorf("exit %d\n%s", o.code, o.log)
			}
		})
	}
}
