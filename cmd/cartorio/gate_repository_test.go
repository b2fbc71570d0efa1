package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/lint/linters"
)

// TestGateOverARepository compares folders of the three formats, and then a git
// repository of them of which few files changed, as a pull request does:
// CARTORIO_BENCHMARK_GATE is how many files there are of each (100). The bounds
// are those of cli-and-ui 8.1 and 6, widened for machines that do something else
// beside; CARTORIO_STRICT_TIME holds the run to them.
func TestGateOverARepository(t *testing.T) {
	t.Parallel()
	files, whole, few := 100, 2*time.Second, time.Second
	if text := os.Getenv("CARTORIO_BENCHMARK_GATE"); text != "" {
		var err error
		if files, err = strconv.Atoi(text); err != nil || files < 20 {
			t.Fatalf("CARTORIO_BENCHMARK_GATE is %q: a number from 20 is wanted", text)
		}
		whole = 10 * time.Second
	}
	slack := time.Duration(10)
	if os.Getenv("CARTORIO_STRICT_TIME") != "" {
		slack = 1
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The test binary is the command when it is called by the command's name.
	binary := filepath.Join(t.TempDir(), "cartorio")
	if err := os.Symlink(self, binary); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, format := range []string{"avro", "json", "proto"} {
		part := t.TempDir()
		corpus{files, files / 20, true}.write(t, part, format)
		for _, side := range []string{"old", "new"} {
			if err := os.MkdirAll(filepath.Join(dir, side), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(part, side), filepath.Join(dir, side, format)); err != nil {
				t.Fatal(err)
			}
		}
	}
	old, next, told := filepath.Join(dir, "old"), filepath.Join(dir, "new"), filepath.Join(dir, "told")
	all := spend(t, exitFindings, binary, "check", next, "--against", old, "--format", "json", "--output", told)
	var doc compat.Document
	text, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &doc); err != nil || doc.Summary.Compared != 3*files || doc.Summary.NotChecked > 0 || len(doc.Findings) == 0 {
		t.Errorf("%v: %+v with %d findings", err, doc.Summary, len(doc.Findings))
	}
	t.Logf("%d files of each format, two folders, a twentieth changed: %v", files, all)
	if all.clock > whole*slack {
		t.Errorf("the folders took %v, more than %v", all.clock, whole*slack)
	}

	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("NOT RUN: git is not installed")
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", old, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	git("checkout", "-q", "-b", "change")
	// Three files change, one of each format.
	for _, format := range []string{"avro", "json", "proto"} {
		changed := ""
		err := filepath.WalkDir(filepath.Join(next, format), func(file string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || changed != "" {
				return err
			}
			rel, err := filepath.Rel(next, file)
			if err != nil {
				return err
			}
			now, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			before, err := os.ReadFile(filepath.Join(old, rel))
			if err != nil || bytes.Equal(now, before) {
				return err
			}
			changed = rel
			return os.WriteFile(filepath.Join(old, rel), now, 0o600)
		})
		if err != nil || changed == "" {
			t.Fatalf("no %s file differs: %v", format, err)
		}
	}
	some := spend(t, exitFindings, binary, "check", old, "--against", "git:merge-base(main)", "--format", "json", "--output", told)
	text, err = os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &doc); err != nil || doc.Summary.NotChecked > 0 || len(doc.Findings) == 0 {
		t.Errorf("%v: %+v with %d findings", err, doc.Summary, len(doc.Findings))
	}
	t.Logf("%d files of each format, against git, three changed: %v", files, some)
	// What git itself needs to read the base and the work tree says how fast the
	// machine is just now; the gate reads little of the first.
	if _, err := exec.LookPath("sh"); err == nil {
		objects := spend(t, 0, "sh", "-c", `cd "$0" && git ls-tree -r HEAD | cut -f 1 | cut -d " " -f 3 | git cat-file --batch >/dev/null && git ls-files | git hash-object --stdin-paths >/dev/null`, old)
		ratio := float64(some.processor) / float64(objects.processor)
		t.Logf("reading the same objects and files with git: %v; the gate takes %.1f times as much", objects, ratio)
		if most := 6.0; files >= 1000 && ratio > most {
			t.Errorf("the pull request took %.1f times what reading takes, more than %.0f", ratio, most)
		}
	}
	if some.clock > few*slack {
		t.Errorf("the pull request took %v, more than %v", some.clock, few*slack)
	}
}

// TestEveryRuleIsExplained shows that whatever a finding, a difference of the
// reference or a lint may name has its page, by its id and its other names.
func TestEveryRuleIsExplained(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	for _, r := range checkers.Named() {
		names[r.ID] = r.Title
		for _, peer := range r.Peers {
			names[peer] = r.Title
		}
	}
	for _, r := range linters.Rules() {
		names[r.ID] = r.Title
	}
	if len(names) < 100 {
		t.Fatalf("only %d names", len(names))
	}
	for name, title := range names {
		var out, complaint bytes.Buffer
		if code := run(t.Context(), []string{"explain", name}, nil, &out, &complaint); code != exitOK || !strings.Contains(out.String(), title) || title == "" {
			t.Errorf("explain %s: exit code %d, stderr %q, the title %q is not in it:\n%s", name, code, complaint.String(), title, out.String())
		}
	}
}
