package registry_test

import (
	"context"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// The fake format of these tests: a text is a list of words, a name and its
// fields. A field that ends in "?" may be missing in what it reads. The order of
// words is kept in the canonical text and means nothing to equivalence under
// AVRO; a reference adds the fields of its target. Words with a meaning of their
// own: "broken" never parses, "strict" parses only as a stored text, "panic"
// makes the parser panic.
type fake struct {
	source schemas.Source
	words  []string
	fields []string // with those of the references
}

func fakeFormat(t schemas.Type) schemas.Format {
	return schemas.Format{Type: t, Parse: func(ctx context.Context, s schemas.Source, r schemas.Resolver, o schemas.ParseOptions) (schemas.Schema, error) {
		f, err := parseFake(ctx, s, r, o)
		if err != nil {
			return nil, err
		}
		return f, nil
	}}
}

func parseFake(ctx context.Context, s schemas.Source, r schemas.Resolver, o schemas.ParseOptions) (*fake, error) {
	f := &fake{source: s, words: strings.Fields(s.Text)}
	switch {
	case slices.Contains(f.words, "broken"):
		return nil, schemas.SyntaxErrors{{Summary: "the text is broken"}}
	case slices.Contains(f.words, "strict") && o.Mode == schemas.New:
		return nil, schemas.SyntaxErrors{{Summary: "the text is too new"}}
	case slices.Contains(f.words, "panic"):
		panic("the parser is broken")
	}
	f.fields = slices.Clone(f.words[1:])
	closure, _, err := schemas.Closure(ctx, s, o.From, r, o.Limits)
	if err != nil {
		return nil, err
	}
	for _, d := range closure {
		f.fields = append(f.fields, strings.Fields(d.Resolved.Source.Text)[1:]...)
	}
	return f, nil
}

func (f *fake) Source() schemas.Source { return f.source }
func (f *fake) Canonical() string      { return strings.Join(f.words, " ") }

func (f *fake) Normalized() (string, []schemas.Reference) {
	words := slices.Clone(f.words)
	slices.Sort(words[1:])
	refs := slices.Clone(f.source.References)
	slices.SortFunc(refs, func(a, b schemas.Reference) int { return strings.Compare(a.Subject, b.Subject) })
	return strings.Join(words, " "), slices.Compact(refs)
}

func (f *fake) Fingerprint() schemas.Fingerprint {
	return schemas.FingerprintOf(f.source.Type, strings.Join(append(f.words, f.fields...), " "), nil, nil)
}

func (f *fake) Equivalent(other schemas.Schema) bool {
	o, ok := other.(*fake)
	if !ok {
		return false
	}
	if f.source.Type != schemas.Avro {
		return f.Canonical() == o.Canonical()
	}
	return f.words[0] == o.words[0] && slices.Equal(slices.Sorted(slices.Values(f.fields)), slices.Sorted(slices.Values(o.fields)))
}

func (f *fake) Names() []string { return f.words[:1] }
func (f *fake) Weight() int     { return 100 + len(f.source.Text) }
func (f *fake) Reads(schemas.Schema, schemas.Payload, schemas.ReadOptions) schemas.Reading {
	return schemas.Reading{}
}

func fakeChecker(t schemas.Type) compat.Checker {
	return compat.Checker{
		Format: t,
		Reference: func(reader, writer schemas.Schema, _ compat.Policy, _ compat.Budget) (list []compat.Difference, err error) {
			w := writer.(*fake).fields
			for _, field := range reader.(*fake).fields {
				if bare := strings.TrimSuffix(field, "?"); bare == field && !slices.Contains(w, bare) && !slices.Contains(w, bare+"?") {
					list = append(list, compat.Difference{Type: "FIELD_MISSING", Path: "/" + field, Info: field})
				}
			}
			return list, nil
		},
		Truth: func(_, _ schemas.Schema, _ compat.Budget) (map[compat.Layer]compat.Effect, []compat.Change) {
			return map[compat.Layer]compat.Effect{compat.Data: {NewReadsOld: compat.Outcome{Answer: compat.Safe}, OldReadsNew: compat.Outcome{Answer: compat.Safe}}}, nil
		},
		SameWhenEqual: true,
	}
}

var (
	fakeFormats  = []schemas.Format{fakeFormat(schemas.Avro), fakeFormat(schemas.JSON), fakeFormat(schemas.Protobuf)}
	fakeCheckers = []compat.Checker{fakeChecker(schemas.Avro), fakeChecker(schemas.JSON), fakeChecker(schemas.Protobuf)}
)

func ptr[T any](v T) *T { return &v }
