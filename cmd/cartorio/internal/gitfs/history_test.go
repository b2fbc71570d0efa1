package gitfs_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitfs"
)

func find(t *testing.T, dir string) *gitfs.Repository {
	t.Helper()
	r, err := gitfs.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func labels(list []gitfs.Change) string {
	var out []string
	for _, c := range list {
		out = append(out, c.Label)
	}
	return strings.Join(out, " ")
}

// A history is of one folder, along the branch itself, newest first.
func TestHistory(t *testing.T) {
	t.Parallel()
	dir, first, _ := scratch(t)
	git(t, dir, "checkout", "-q", "main")
	other := commit(t, dir, map[string]string{"notes": "x"})
	changed := commit(t, dir, map[string]string{"schemas/b.proto": "three"})
	r := find(t, dir)
	for p, want := range map[string][]string{"schemas": {changed, first}, ".": {changed, other, first}, "schemas/deep": {first}, "nowhere": nil} {
		list, err := r.History(t.Context(), changed, p, 10)
		var got []string
		for _, c := range list {
			got = append(got, c.Commit)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", p, got, err, want)
		}
	}
	if list, err := r.History(t.Context(), changed, ".", 1); err != nil || len(list) != 1 || list[0].Label != changed[:12] {
		t.Errorf("%v, %v", list, err)
	}
}

// Tags are ordered as versions, and only those behind the head count.
func TestTags(t *testing.T) {
	t.Parallel()
	dir, _, second := scratch(t)
	git(t, dir, "tag", "v1.9.0", "main")
	git(t, dir, "tag", "-a", "-m", "x", "v1.10.0", "main")
	git(t, dir, "tag", "v2.0.0", second)
	git(t, dir, "tag", "other")
	r := find(t, dir)
	for head, want := range map[string]string{"topic": "v2.0.0 v1.10.0 v1.9.0", "main": "v1.10.0 v1.9.0"} {
		list, err := r.Tags(t.Context(), "v*", head, 10)
		if err != nil || labels(list) != want {
			t.Errorf("%s: %s, %v, want %s", head, labels(list), err, want)
		}
	}
	spec, err := gitfs.Parse("git:tags(v1.*)#path=schemas")
	if err != nil || spec.String() != "git:tags(v1.*)#path=schemas" {
		t.Fatalf("%v, %v", spec, err)
	}
	commit, err := r.Commit(t.Context(), spec, "HEAD")
	if want := git(t, dir, "rev-parse", "v1.10.0^{commit}"); err != nil || commit != want {
		t.Errorf("%s, %v, want the commit %s, not the tag's own object", commit, err, want)
	}
	_, err = r.Tags(t.Context(), "release-*", "HEAD", 1)
	var missing *gitfs.MissingError
	if !errors.As(err, &missing) || missing.Command != "" {
		t.Errorf("%v", err)
	}
	git(t, dir, "remote", "add", "origin", "/nowhere")
	if _, err = r.Tags(t.Context(), "release-*", "HEAD", 1); err == nil || !strings.HasSuffix(err.Error(), "run: git fetch --tags origin") {
		t.Errorf("%v", err)
	}
}

func TestIgnored(t *testing.T) {
	t.Parallel()
	dir, _, _ := scratch(t)
	write(t, dir, map[string]string{
		".gitignore": "build/\n*.tmp\na.avsc\n", "build/x.avsc": "x", "schemas/y.tmp": "y", "schemas/z.avsc": "z", "schemas/build/q": "q",
	})
	for at, want := range map[string]string{".": "build/ schemas/build/ schemas/y.tmp", "schemas": "build/ y.tmp", "build": "./"} {
		list, err := find(t, filepath.Join(dir, at)).Ignored(t.Context())
		if got := strings.Join(list, " "); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q (a file that is tracked is not ignored)", at, got, err, want)
		}
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	dir, _, _ := scratch(t)
	s := find(t, dir).State(t.Context())
	if s.Branch != "topic" || s.Default != "main" || s.Commits != 2 || s.Shallow || len(s.Remotes) != 0 || s.Version == "" {
		t.Errorf("%+v", s)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, dir, "clone", "-q", "--depth=1", "file://"+dir, clone)
	if s = find(t, clone).State(t.Context()); s.Default != "origin/topic" || s.Commits != 1 || !s.Shallow || !slices.Equal(s.Remotes, []string{"origin"}) {
		t.Errorf("%+v", s)
	}
}
