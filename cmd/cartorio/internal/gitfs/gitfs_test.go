package gitfs_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitfs"
)

// git runs one command in dir, with nothing of the machine's configuration.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func commit(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	write(t, dir, files)
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
	return git(t, dir, "rev-parse", "HEAD")
}

// scratch is a repository with one commit on main and one on topic.
func scratch(t *testing.T) (dir, first, second string) {
	t.Helper()
	dir = t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	if err := os.Symlink("a.avsc", filepath.Join(dir, "link.avsc")); err != nil {
		t.Fatal(err)
	}
	first = commit(t, dir, map[string]string{"a.avsc": "one\n", "schemas/b.proto": "two", "schemas/deep/c.json": "", "é ü/d\n.avsc": "odd"})
	git(t, dir, "checkout", "-q", "-b", "topic")
	second = commit(t, dir, map[string]string{"a.avsc": "changed", "fresh/e.avsc": "new"})
	return dir, first, second
}

func open(t *testing.T, dir, spec string) (*gitfs.Tree, string, error) {
	t.Helper()
	ctx := context.Background()
	s, err := gitfs.Parse(spec)
	if err != nil {
		return nil, "", err
	}
	r, err := gitfs.Find(ctx, dir)
	if err != nil {
		return nil, "", err
	}
	id, err := r.Commit(ctx, s, "HEAD")
	if err != nil {
		return nil, "", err
	}
	p := r.Prefix
	if s.HasPath {
		p = s.Path
	}
	tree, file, err := r.Open(ctx, id, p)
	if err == nil {
		t.Cleanup(func() {
			if err := tree.Close(); err != nil {
				t.Errorf("closing the tree: %v", err)
			}
		})
	}
	return tree, file, err
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]gitfs.Spec{
		"git:main":                        {Ref: "main"},
		"git:HEAD~1":                      {Ref: "HEAD~1"},
		"git:origin/main#path=schemas/":   {Ref: "origin/main", Path: "schemas", HasPath: true},
		"git:merge-base(main)":            {Ref: "main", MergeBase: true},
		"git:merge-base(main)#path=./a/b": {Ref: "main", MergeBase: true, Path: "a/b", HasPath: true},
		"git:merge-based":                 {Ref: "merge-based"},
		"git:v1.4.0#path=.":               {Ref: "v1.4.0", Path: ".", HasPath: true},
	} {
		got, err := gitfs.Parse(text)
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Parse(%q): -want +got\n%s", text, diff)
		}
		if again, err := gitfs.Parse(got.String()); err != nil || again != got {
			t.Errorf("Parse(%q) = %v, %v, want %v", got, again, err, got)
		}
	}
	for _, text := range []string{
		"main", "git:", "git:--upload-pack=x", "git:-", "git:a b", "git:a\nb", "git:main:schemas", "git:merge-base(main",
		"git:merge-base()", "git:merge-base(--all)", "git:main#dir=x", "git:main#path=../x", "git:main#path=/etc", "git:main#path=",
	} {
		if s, err := gitfs.Parse(text); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", text, s)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"git:main", "git:merge-base(a)#path=b/c", "git:-x", "git:#path=", "git:a#path=..", "git:merge-base("} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := gitfs.Parse(text)
		if err != nil {
			return
		}
		if strings.HasPrefix(s.Ref, "-") || s.Ref == "" || s.HasPath && !fs.ValidPath(s.Path) {
			t.Errorf("Parse(%q) = %+v", text, s)
		}
		if again, err := gitfs.Parse(s.String()); err != nil || again != s {
			t.Errorf("Parse(%q) = %+v, and back %+v, %v", text, s, again, err)
		}
	})
}

func TestTreeIsAFileSystem(t *testing.T) {
	t.Parallel()
	dir, first, _ := scratch(t)
	tree, _, err := open(t, dir, "git:main")
	if err != nil {
		t.Fatal(err)
	}
	if tree.Commit != first {
		t.Errorf("Commit = %s, want %s", tree.Commit, first)
	}
	var got []string
	if err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		got = append(got, d.Type().String()[:1]+" "+p)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"d .", "- a.avsc", "L link.avsc", "d schemas", "- schemas/b.proto", "d schemas/deep", "- schemas/deep/c.json", "d é ü", "- é ü/d\n.avsc"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for p, want := range map[string]string{"a.avsc": "one\n", "schemas/deep/c.json": "", "é ü/d\n.avsc": "odd"} {
		b, err := fs.ReadFile(tree, p)
		if err != nil || string(b) != want {
			t.Errorf("ReadFile(%q) = %q, %v, want %q", p, b, err, want)
		}
	}
	if _, err := tree.Open("link.avsc"); err == nil {
		t.Error("a link was opened")
	}
	if _, err := tree.ReadFile("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile(none): %v, want fs.ErrNotExist", err)
	}
	// fstest refuses links that do not open, so it looks at a folder without.
	sub, _, err := open(t, dir, "git:main#path=schemas")
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(sub, "b.proto", "deep/c.json"); err != nil {
		t.Error(err)
	}
}

func TestOneFile(t *testing.T) {
	t.Parallel()
	dir, _, _ := scratch(t)
	for _, from := range []string{dir, filepath.Join(dir, "schemas")} {
		tree, file, err := open(t, from, "git:main#path=schemas/b.proto")
		if err != nil {
			t.Fatal(err)
		}
		b, err := tree.ReadFile("b.proto")
		if file != "b.proto" || err != nil || string(b) != "two" {
			t.Errorf("from %s: file %q holds %q, %v", from, file, b, err)
		}
	}
}

func TestPrefixIsTheDefaultPath(t *testing.T) {
	t.Parallel()
	dir, _, _ := scratch(t)
	tree, _, err := open(t, filepath.Join(dir, "schemas"), "git:main")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.ReadFile("deep/c.json"); err != nil {
		t.Error(err)
	}
}

func TestMergeBase(t *testing.T) {
	t.Parallel()
	dir, first, _ := scratch(t)
	git(t, dir, "checkout", "-q", "main")
	commit(t, dir, map[string]string{"a.avsc": "others merged this"})
	git(t, dir, "checkout", "-q", "topic")
	tree, _, err := open(t, dir, "git:merge-base(main)")
	if err != nil {
		t.Fatal(err)
	}
	if tree.Commit != first {
		t.Errorf("Commit = %s, want %s", tree.Commit, first)
	}
	// From main itself it is what topic is compared with that counts.
	git(t, dir, "checkout", "-q", "main")
	ctx := context.Background()
	r, err := gitfs.Find(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := r.Commit(ctx, gitfs.Spec{Ref: "main", MergeBase: true}, "topic"); id != first || err != nil {
		t.Errorf("Commit with topic = %s, %v, want %s", id, err, first)
	}
}

func TestPathThatIsNotThere(t *testing.T) {
	t.Parallel()
	dir, _, _ := scratch(t)
	_, _, err := open(t, dir, "git:main#path=fresh")
	if !errors.Is(err, gitfs.ErrNoPath) || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%v, want ErrNoPath", err)
	}
	ctx := context.Background()
	r, err := gitfs.Find(ctx, filepath.Join(dir, "schemas"))
	if err != nil {
		t.Fatal(err)
	}
	id, err := r.Commit(ctx, gitfs.Spec{Ref: "main"}, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string][]string{".": {"fresh/e.avsc"}, "fresh": {"e.avsc"}, "fresh/e.avsc": {"."}, "typo": nil, "a.avsc": nil} {
		got, err := r.Added(ctx, id, "HEAD", p)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Added(%q) = %v, %v, want %v", p, got, err, want)
		}
	}
}

func TestMissingRefNamesTheCommand(t *testing.T) {
	t.Parallel()
	source, _, _ := scratch(t)
	git(t, source, "tag", "v1.4.0", "main")
	git(t, source, "branch", "side", "main")
	shallow := filepath.Join(t.TempDir(), "shallow")
	git(t, source, "clone", "-q", "--depth=1", "--single-branch", "--branch=topic", "--no-tags", "file://"+source, shallow)
	whole := filepath.Join(t.TempDir(), "whole")
	git(t, source, "clone", "-q", "--single-branch", "--branch=topic", "--no-tags", "file://"+source, whole)
	for _, c := range []struct{ name, dir, spec, command string }{
		{"branch", shallow, "git:main", "git fetch --depth=1 origin main:main"},
		{"remote branch", shallow, "git:origin/side", "git fetch --depth=1 origin +refs/heads/side:refs/remotes/origin/side"},
		{"tag", shallow, "git:v1.4.0", "git fetch --depth=1 origin tag v1.4.0"},
		{"step back", shallow, "git:HEAD~1", "git fetch --unshallow origin"},
		{"merge base", shallow, "git:merge-base(main)", "git fetch --unshallow origin main:main"},
		{"whole clone", whole, "git:main", "git fetch origin main:main"},
		{"whole clone, full name", whole, "git:refs/heads/main", "git fetch origin +refs/heads/main:refs/heads/main"},
		{"whole clone, beyond the start", whole, "git:HEAD~99", ""},
		{"no remote", source, "git:none", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Each row starts from the same clone.
			dir := filepath.Join(t.TempDir(), "clone")
			if err := os.CopyFS(dir, os.DirFS(c.dir)); err != nil {
				t.Fatal(err)
			}
			_, _, err := open(t, dir, c.spec)
			var missing *gitfs.MissingError
			if !errors.As(err, &missing) {
				t.Fatalf("%v, want a MissingError", err)
			}
			if missing.Command != c.command {
				t.Errorf("Command = %q, want %q", missing.Command, c.command)
			}
			if !strings.Contains(err.Error(), c.command) {
				t.Errorf("%q does not tell the command", err)
			}
			if c.command == "" {
				return
			}
			git(t, dir, strings.Fields(c.command)[1:]...)
			if _, _, err := open(t, dir, c.spec); err != nil {
				t.Errorf("after the command: %v", err)
			}
		})
	}
}

func TestPartialCloneDoesNotFetch(t *testing.T) {
	t.Parallel()
	source, _, _ := scratch(t)
	git(t, source, "config", "uploadpack.allowFilter", "true")
	partial := filepath.Join(t.TempDir(), "partial")
	git(t, source, "clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+source, partial)
	tree, _, err := open(t, partial, "git:origin/main")
	if err == nil {
		_, err = tree.ReadFile("a.avsc")
	}
	if err == nil || !strings.Contains(err.Error(), "partial") {
		t.Errorf("%v, want that the clone is partial", err)
	}
}

func TestSubmodulesAreNotFollowed(t *testing.T) {
	t.Parallel()
	inner, id, _ := scratch(t)
	_ = inner
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+id+",vendored")
	git(t, dir, "commit", "-q", "-m", "x")
	tree, _, err := open(t, dir, "git:main")
	if err != nil {
		t.Fatal(err)
	}
	list, err := tree.ReadDir(".")
	if err != nil || len(list) != 1 || list[0].Type() != fs.ModeIrregular {
		t.Errorf("ReadDir = %v, %v, want one irregular entry", list, err)
	}
}

func TestOutsideOfARepository(t *testing.T) {
	t.Parallel()
	_, err := gitfs.Find(context.Background(), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("%v, want that there is no repository", err)
	}
}

func TestManyReadersShareATree(t *testing.T) {
	t.Parallel()
	dir, _, _ := scratch(t)
	tree, _, err := open(t, dir, "git:main")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if b, err := tree.ReadFile("a.avsc"); err != nil || string(b) != "one\n" {
					t.Errorf("ReadFile = %q, %v", b, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestCloseTwiceAndReadAfter(t *testing.T) {
	t.Parallel()
	dir, _, _ := scratch(t)
	tree, _, err := open(t, dir, "git:main")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.ReadFile("a.avsc"); err != nil {
		t.Fatal(err)
	}
	if err := tree.Close(); err != nil {
		t.Error(err)
	}
	if err := tree.Close(); err != nil {
		t.Error(err)
	}
	if _, err := tree.ReadFile("a.avsc"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("ReadFile after Close: %v, want fs.ErrClosed", err)
	}
}

// TestInsideAHook does what a hook sees: the repository is named by a path from
// the current folder, which is the root of the work tree.
func TestInsideAHook(t *testing.T) {
	dir, first, _ := scratch(t)
	t.Chdir(dir)
	t.Setenv("GIT_DIR", ".git")
	t.Setenv("GIT_INDEX_FILE", ".git/index")
	tree, _, err := open(t, "schemas", "git:main")
	if err != nil {
		t.Fatal(err)
	}
	if tree.Commit != first {
		t.Errorf("Commit = %s, want %s", tree.Commit, first)
	}
	if b, err := tree.ReadFile("b.proto"); err != nil || string(b) != "two" {
		t.Errorf("ReadFile(b.proto) = %q, %v", b, err)
	}
}

func TestBareRepository(t *testing.T) {
	t.Parallel()
	source, first, _ := scratch(t)
	bare := filepath.Join(t.TempDir(), "bare.git")
	git(t, source, "clone", "-q", "--bare", source, bare)
	tree, _, err := open(t, bare, "git:main#path=schemas")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := tree.ReadFile("b.proto"); tree.Commit != first || err != nil || string(b) != "two" {
		t.Errorf("ReadFile(b.proto) at %s = %q, %v", tree.Commit, b, err)
	}
}
