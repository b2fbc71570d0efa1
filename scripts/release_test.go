package scripts_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// systems are those that a release is for.
var systems = []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64"}

// TestReleaseIsReproducible builds a release twice, in two places and with other
// settings, and installs what was built: digests and names must agree. The
// ordinary run builds this system's binary alone; CARTORIO_TEST_RELEASE=all builds
// all six, and the second time without a cache, which takes long.
func TestReleaseIsReproducible(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"sh", "go", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("NOT RUN: %s is not installed", program)
		}
	}
	here := runtime.GOOS + "/" + runtime.GOARCH
	if !slices.Contains(systems, here) {
		t.Skipf("NOT RUN: there is no release for %s", here)
	}
	targets := []string{here}
	written := filepath.Join(t.TempDir(), "env") // as go env -w writes it
	if err := os.WriteFile(written, []byte("GOFLAGS=-tags=other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	second := []string{"GOENV=" + written, "GOFLAGS=-ldflags=-w", "GOAMD64=v3", "TZ=America/Sao_Paulo"}
	if os.Getenv("CARTORIO_TEST_RELEASE") == "all" {
		targets = systems
		second = append(second, "GOCACHE="+t.TempDir())
	}
	// Others may write to the tree meanwhile, and both builds must see the same.
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "elsewhere", "two")
	copyTree(t, "..", one)
	copyTree(t, one, two)
	build := func(tree string, env ...string) (folder, sums string) {
		t.Helper()
		folder = t.TempDir()
		cmd := exec.CommandContext(t.Context(), "sh", filepath.Join(tree, "scripts", "release.sh"), folder)
		cmd.Env = append(append(os.Environ(), "VERSION=v9.9.9", "COMMIT=0123456789abcdef", "TARGETS="+strings.Join(targets, " ")), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("release.sh: %v\n%s", err, out)
		}
		text, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		return folder, string(text)
	}
	folder, sums := build(one)
	if _, again := build(two, second...); again != sums {
		t.Errorf("two builds differ:\n%s%s", sums, again)
	}
	var names []string
	for line := range strings.Lines(sums) {
		digest, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !ok || fmt.Sprintf("%x", sha256.Sum256(data)) != digest {
			t.Errorf("%q: %v", line, err)
		}
		names = append(names, name)
	}
	var want []string
	for _, target := range targets {
		name := "cartorio-" + strings.ReplaceAll(target, "/", "-")
		if strings.HasPrefix(target, "windows/") {
			name += ".exe"
		}
		want = append(want, name)
	}
	if !slices.Equal(names, want) {
		t.Errorf("names %v, wanted %v", names, want)
	}

	// What was built is what the packages fetch, and say which release it is.
	releases := httptest.NewServer(http.StripPrefix("/v9.9.9/", http.FileServerFS(os.DirFS(folder))))
	t.Cleanup(releases.Close)
	install := func(digests string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "sh", "../deploy/install.sh", "v9.9.9", t.TempDir(), releases.URL)
		cmd.Stdin = strings.NewReader(digests)
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	binary, err := install(sums)
	if err != nil {
		t.Fatalf("install.sh: %v", err)
	}
	out, err := exec.CommandContext(t.Context(), binary, "version").CombinedOutput()
	if err != nil || !regexp.MustCompile(`^cartorio v9\.9\.9\ncommit   0123456789abcdef\n`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
	if binary, err := install(strings.Repeat("0", 64) + "  " + want[0]); err == nil {
		t.Errorf("a binary with another digest was installed as %s", binary)
	}
}

// copyTree copies what a checkout holds, without what git keeps.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, file)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || rel == "dist"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o750)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}
