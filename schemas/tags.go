package schemas

import (
	"fmt"
	"slices"
)

// Tagged is a part of a schema that can carry inline tags, and the tags that
// its text gives it.
type Tagged struct {
	// Path names the part, as answers spell it: full names with dots between.
	// Short is another spelling that requests may use, empty for none.
	Path, Short string
	// Field tells a field or property from a record, message or object.
	Field bool
	// Top is the name of a field of the outermost record, else empty.
	Top  string
	Tags []string // sorted, each once
}

// LongestTagPath bounds a Path in bytes: what lies deeper cannot be tagged. It
// keeps a list of parts in proportion to its text.
const LongestTagPath = 2048

// Part is what a Tagged is known by.
type Part struct {
	Path  string
	Field bool
}

// Part is what t is known by in answers.
func (t Tagged) Part() Part { return Part{t.Path, t.Field} }

// Wanted are the tags of parts by what they are known by.
type Wanted map[Part][]string

// WantedOf makes Wanted of a list.
func WantedOf(parts []Tagged) Wanted {
	w := make(Wanted, len(parts))
	for _, p := range parts {
		w[p.Part()] = p.Tags
	}
	return w
}

// Missing is an error that names a part of w, when w has more than the found
// parts.
func (w Wanted) Missing(found Wanted) error {
	missing := ""
	for part := range w {
		if _, ok := found[part]; !ok && (missing == "" || part.Path < missing) {
			missing = part.Path
		}
	}
	if missing == "" && len(w) <= len(found) {
		return nil
	}
	return fmt.Errorf("tag %q: the schema has no such part", missing)
}

// TagSet sorts tags and leaves each in once; none is nil.
func TagSet(tags []string) []string {
	if len(tags) == 0 {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(tags)))
}
