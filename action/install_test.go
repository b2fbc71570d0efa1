package action_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestInstall shows that nothing is run whose digest was not told.
func TestInstall(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	program := "#!/bin/sh\necho cartorio v9.9.9\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != fmt.Sprintf("/v9.9.9/cartorio-%s-%s", runtime.GOOS, runtime.GOARCH) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Write([]byte(program)) // the client tells
	}))
	t.Cleanup(server.Close)
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(program)))
	for _, tt := range []struct {
		name, binary, version, digest, told string
		code                                int
	}{
		{"right digest", "", "v9.9.9", digest, "cartorio v9.9.9", 0},
		{"one of several digests", "", "v9.9.9", strings.Repeat("a", 64) + "\n" + strings.ToUpper(digest) + "\n", "cartorio v9.9.9", 0},
		{"another digest", "", "v9.9.9", strings.Repeat("a", 64), "has the digest " + digest, 2},
		{"the digests of the release", "", "v9.9.9", digest + "  cartorio-here\n" + strings.Repeat("a", 64) + "  cartorio-there\n", "cartorio v9.9.9", 0},
		{"no digest", "", "v9.9.9", "", "needs sha256 beside it", 2},
		{"no such release", "", "v9.9.8", digest, "downloading " + server.URL + "/v9.9.8/", 2},
		{"there already", r.binary, "", "", "cartorio", 0},
		{"not there", "nowhere/cartorio", "", "", "is no program here", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "sh", "install.sh")
			cmd.Env = []string{
				"PATH=" + os.Getenv("PATH"), "RUNNER_TEMP=" + folder, "GITHUB_OUTPUT=" + filepath.Join(folder, "outputs"),
				"IN_BINARY=" + tt.binary, "IN_VERSION=" + tt.version, "IN_SHA256=" + tt.digest, "IN_DOWNLOAD_URL=" + server.URL,
			}
			out, _ := cmd.CombinedOutput() // the code is looked at
			if code := cmd.ProcessState.ExitCode(); code != tt.code || !strings.Contains(string(out), tt.told) {
				t.Errorf("exit %d, wanted %d and %q:\n%s", code, tt.code, tt.told, out)
			}
			outputs, err := os.ReadFile(filepath.Join(folder, "outputs"))
			if told := err == nil && strings.HasPrefix(string(outputs), "binary="); told != (tt.code == 0) {
				t.Errorf("outputs %q, %v", outputs, err)
			}
			if left, _ := filepath.Glob(filepath.Join(folder, "cartorio-binary", "*")); tt.code != 0 && len(left) != 0 { // the pattern is ours
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestInputsReachTheScripts holds action.yml and the scripts together.
func TestInputsReachTheScripts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs  map[string]struct{ Description, Default string }
		Outputs map[string]struct{ Description, Value string }
		Runs    struct {
			Using string
			Steps []struct {
				ID, Run, Shell string
				Env            map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	if action.Runs.Using != "composite" || len(action.Runs.Steps) != 2 {
		t.Fatalf("runs: %+v", action.Runs)
	}
	given, used := map[string]bool{}, map[string]bool{}
	for _, step := range action.Runs.Steps {
		for name, value := range step.Env {
			given[name] = true
			if input, ok := strings.CutPrefix(value, "${{ inputs."); ok {
				if input = strings.TrimSuffix(input, " }}"); action.Inputs[input].Description == "" {
					t.Errorf("%s: there is no input %s with a description", name, input)
				}
				used[input] = true
			}
		}
	}
	for input := range action.Inputs {
		if !used[input] && input != "working-directory" {
			t.Errorf("the input %s does nothing", input)
		}
	}
	read := regexp.MustCompile(`\$\{?(IN_[A-Z0-9_]+)`)
	seen := map[string]bool{}
	for _, script := range []string{"install.sh", "gate.sh", "comment.sh"} {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range read.FindAllStringSubmatch(string(text), -1) {
			seen[m[1]] = true
			if !given[m[1]] {
				t.Errorf("%s reads %s, which action.yml does not give", script, m[1])
			}
		}
		for output := range action.Outputs {
			if script == "gate.sh" && !strings.Contains(string(text), output+"=%s") {
				t.Errorf("%s does not write the output %s", script, output)
			}
		}
	}
	for name := range given {
		if !seen[name] {
			t.Errorf("action.yml gives %s, which no script reads", name)
		}
	}
}
