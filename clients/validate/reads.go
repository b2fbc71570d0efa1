package validate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Range is the versions that a consumer declares to read. The zero Range is
// every version.
type Range struct {
	spans      []span
	text       string
	compatible schemas.Version // of ReadsCompatible
}

type span struct{ from, to schemas.Version }

const unbounded schemas.Version = math.MaxInt32

// Reads reads a declaration of versions: "3", "1..3", "2..", "1,3..4".
// Ranges include both ends; there are no spaces.
//
// Errors: anything else, and a range that ends before it begins.
func Reads(text string) (Range, error) {
	r := Range{text: text}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "..")
		s := span{}
		var err error
		if s.from, err = bound(from); err == nil {
			switch {
			case !isRange:
				s.to = s.from
			case to == "":
				s.to = unbounded
			default:
				s.to, err = bound(to)
			}
		}
		if err != nil {
			return Range{}, fmt.Errorf("read the version range %q: %q is no version: write ranges like 3, 1..3, 2.. or 1,3..4", text, part)
		}
		if s.to < s.from {
			return Range{}, fmt.Errorf("read the version range %q: %q ends before it begins", text, part)
		}
		r.spans = append(r.spans, s)
	}
	return r, nil
}

// MustReads is Reads for ranges that stand in code; it panics on a bad one.
func MustReads(text string) Range {
	r, err := Reads(text)
	if err != nil {
		panic(err)
	}
	return r
}

func bound(text string) (schemas.Version, error) {
	if text == "" || text[0] < '1' || text[0] > '9' {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.ParseUint(text, 10, 31)
	return schemas.Version(n), err
}

// Has tells whether v is declared. Of ReadsCompatible only the version that it
// names is, without a question.
func (r Range) Has(v schemas.Version) bool {
	if r.compatible != 0 {
		return v == r.compatible
	}
	if len(r.spans) == 0 {
		return true
	}
	for _, s := range r.spans {
		if v >= s.from && v <= s.to {
			return true
		}
	}
	return false
}

// Bounds are the versions that the declaration names, in its order; an open end
// is none.
func (r Range) Bounds() []schemas.Version {
	var out []schemas.Version
	for _, s := range r.spans {
		out = append(out, s.from)
		if s.to != unbounded && s.to != s.from {
			out = append(out, s.to)
		}
	}
	return out
}

// IsAll tells whether every version is declared.
func (r Range) IsAll() bool { return len(r.spans) == 0 && r.compatible == 0 }

// String is the declaration as written; "any" for the zero Range.
func (r Range) String() string {
	if r.text == "" {
		return "any"
	}
	return r.text
}
