package schemas_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
)

func TestParseSpans(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]schemas.Span{
		"3":          {{3, 3}},
		"1..3":       {{1, 3}},
		"2..":        {{2, schemas.Unbounded}},
		"1,3..4":     {{1, 1}, {3, 4}},
		"2147483647": {{schemas.Unbounded, schemas.Unbounded}},
	} {
		if got, err := schemas.ParseSpans(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"5..1": "ends before it begins", "1..5,4..3": "ends before it begins", "abc": `"abc" is no version`, "0": `"0" is no version`, "-1": "is no version",
		"1..3,x": `"x" is no version`, "99999999999": "is no version", "": "is no version", "1..,": "is no version", "..3": "is no version",
		"1 ..3": "is no version", "+1": "is no version", "01": "is no version", "1...3": "is no version", "2147483648": "is no version",
	} {
		if got, err := schemas.ParseSpans(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
