package protobuf_test

import (
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	checker "github.com/cartorio-registry/cartorio/compat/protobuf"
	"github.com/cartorio-registry/cartorio/schemas"
)

// TestRepairs asks for ways out: each was read and compared before it is shown.
func TestRepairs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, old, next, want string
		layers                []compat.Layer
	}{
		{"required added", p2 + "message M { optional int32 a = 1; }", p2 + "message M { optional int32 a = 1; required int32 b = 2; }", "optional int32 b = 2;", nil},
		{"renumbered", p3 + "message M { string a = 1; }", p3 + "message M { string a = 3; }", "string a = 1;", nil},
		{"type changed", p3 + "message M { int32 a = 1; }", p3 + "message M { string a = 1; }", "int32 a = 1;\n  string a_new = 2;", nil},
		{"renamed", p3 + "message M { string note = 1; }", p3 + "message M { string memo = 1; }", `string memo = 1 [json_name = "note"];`, []compat.Layer{compat.JSONMapping}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := compat.Check(compat.Question{
				Checkers: []compat.Checker{checker.Checker}, Level: compat.Backward, VerdictPolicy: compat.Both, Layers: c.layers,
				Next: parse(t, c.next, nil), History: []compat.Old{{Label: "old", Schema: parse(t, c.old, nil)}},
				Variant: func(_ schemas.Schema, text string) (schemas.Schema, error) { return parse(t, text, nil), nil },
			})
			found := false
			for _, f := range r.Compared[0].Findings {
				for _, repair := range f.Repairs {
					found = found || strings.Contains(repair.Schema, c.want)
				}
			}
			if !found {
				t.Errorf("no repair holds %q: %+v", c.want, r.Compared[0].Findings)
			}
		})
	}
}
