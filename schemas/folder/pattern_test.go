package folder_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas/folder"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"a", "a/b/c.avsc", true},
		{"a/", "a/b", true},
		{"./a", "a/b", true},
		{".", "x", true},
		{"a/b", "a", false},
		{"a", "ab", false},
		{"*.avsc", "x.avsc", true},
		{"*.avsc", "d/x.avsc", false},
		{"**/*.avsc", "x.avsc", true},
		{"**/*.avsc", "d/e/x.avsc", true},
		{"d/**/x", "d/x", true},
		{"d/**/x", "d/1/2/x", true},
		{"d/**/x", "e/x", false},
		{"**", "anything/at/all", true},
		{"v?", "v1/x", true},
		{"[ab]/x", "b/x", true},
		{strings.Repeat("**/", 60) + "z", strings.Repeat("a/", 60) + "y", false},
	} {
		if got := folder.Match(c.pattern, c.path); got != c.want {
			t.Errorf("Match(%q, %q) = %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("a/**/b", "a/x/b")
	f.Add("**", "")
	f.Add("[", "a")
	f.Fuzz(func(t *testing.T, pattern, p string) {
		if len(pattern) > 256 || len(p) > 256 {
			return
		}
		if pattern != "" && !strings.ContainsAny(pattern, `*?[\`) && path.Clean(pattern) == pattern && fs.ValidPath(pattern) && !folder.Match(pattern, pattern+"/x") {
			t.Errorf("the folder %q does not hold its own file", pattern)
		}
		folder.Match(pattern, p)
	})
}
