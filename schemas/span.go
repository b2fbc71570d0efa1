package schemas

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Span is consecutive versions, both ends included; To is [Unbounded] for an
// open end.
type Span struct{ From, To Version }

// Unbounded is the end of a span that has none.
const Unbounded Version = math.MaxInt32

// Has tells whether v is in the span.
func (s Span) Has(v Version) bool { return v >= s.From && v <= s.To }

// ParseSpans reads the versions that a consumer declares: "3", "1..3", "2..",
// "1,3..4". Ranges include both ends; there are no spaces.
//
// Errors: anything else, and a range that ends before it begins.
func ParseSpans(text string) ([]Span, error) {
	var list []Span
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "..")
		s := Span{}
		var err error
		if s.From, err = bound(from); err == nil {
			switch {
			case !isRange:
				s.To = s.From
			case to == "":
				s.To = Unbounded
			default:
				s.To, err = bound(to)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("read the version range %q: %q is no version: write ranges like 3, 1..3, 2.. or 1,3..4", text, part)
		}
		if s.To < s.From {
			return nil, fmt.Errorf("read the version range %q: %q ends before it begins", text, part)
		}
		list = append(list, s)
	}
	return list, nil
}

func bound(text string) (Version, error) {
	if text == "" || text[0] < '1' || text[0] > '9' {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.ParseUint(text, 10, 31)
	return Version(n), err
}
