package validate

import "github.com/cartorio-registry/cartorio/schemas"

// Range is the versions that a consumer declares to read. The zero Range is
// every version.
type Range struct {
	spans      []schemas.Span
	text       string
	compatible schemas.Version // of ReadsCompatible
}

// Reads reads a declaration of versions: "3", "1..3", "2..", "1,3..4".
// Ranges include both ends; there are no spaces.
//
// Errors: anything else, and a range that ends before it begins.
func Reads(text string) (Range, error) {
	spans, err := schemas.ParseSpans(text)
	if err != nil {
		return Range{}, err
	}
	return Range{spans: spans, text: text}, nil
}

// MustReads is Reads for ranges that stand in code; it panics on a bad one.
func MustReads(text string) Range {
	r, err := Reads(text)
	if err != nil {
		panic(err)
	}
	return r
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
		if s.Has(v) {
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
		out = append(out, s.From)
		if s.To != schemas.Unbounded && s.To != s.From {
			out = append(out, s.To)
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
