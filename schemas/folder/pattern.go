package folder

import (
	"fmt"
	"path"
	"strings"
)

// Match tells whether the path of a file matches a pattern: the file itself, a
// folder above it, or a glob in which * and ? stay within a folder and **
// stands for any number of folders. Patterns are slash-separated and seen from
// the tree's root; a leading "./" and a closing "/" mean nothing.
func Match(pattern, p string) bool {
	pattern = cleanPattern(pattern)
	if pattern == "." {
		return true
	}
	return matchParts(strings.Split(pattern, "/"), strings.Split(p, "/"))
}

func cleanPattern(pattern string) string { return path.Clean(strings.TrimPrefix(pattern, "./")) }

// matchParts compares folder by folder. A pattern that ends above the file
// matches: it names a folder that holds it. Each (pattern, path) rest is looked
// at once, so that many ** cost no more than the product of the lengths.
func matchParts(pattern, parts []string) bool {
	reach := make([]bool, len(parts)+1) // rests of the path that pattern[:i] can leave
	reach[0] = true
	for _, want := range pattern {
		next := make([]bool, len(parts)+1)
		for at, ok := range reach {
			switch {
			case !ok:
			case want == "**":
				for ; at <= len(parts); at++ {
					next[at] = true
				}
			case at < len(parts):
				if hit, _ := path.Match(want, parts[at]); hit {
					next[at+1] = true
				}
			}
		}
		reach = next
	}
	for _, ok := range reach {
		if ok {
			return true
		}
	}
	return false
}

// CheckPattern tells what is wrong with a pattern.
//
// Errors: it is empty, leaves the tree, or is no glob.
func CheckPattern(pattern string) error {
	c := cleanPattern(pattern)
	if pattern == "" {
		return fmt.Errorf("path pattern is empty: name a file, a folder or a glob")
	}
	if path.IsAbs(c) || c == ".." || strings.HasPrefix(c, "../") {
		return fmt.Errorf("path pattern %q leaves the folder: patterns are seen from the folder that is read", pattern)
	}
	for _, part := range strings.Split(c, "/") {
		if _, err := path.Match(part, ""); err != nil {
			return fmt.Errorf("path pattern %q: %q is no glob: %w", pattern, part, err)
		}
	}
	return nil
}
