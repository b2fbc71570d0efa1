package protobuf_test

import (
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	checker "github.com/cartorio-registry/cartorio/compat/protobuf"
)

// TestFindings joins the reference registry's differences with our changes: one
// finding each, ours first, the peer's as alias.
func TestFindings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, next, rule, alias string }{
		{"message removed", p3 + "message M { int32 a = 1; } message X { int32 b = 1; string s = 2; }", p3 + "message M { int32 a = 1; }", "protobuf.message-removed", "MESSAGE_REMOVED"},
		{"message renamed", p3 + "message M { int32 a = 1; } message X { int32 b = 1; }", p3 + "message M { int32 a = 1; } message Y { int32 b = 1; }", "protobuf.message-renamed", "MESSAGE_REMOVED"},
		{"package", p3 + "package p; message M {}", p3 + "package q; message M {}", "protobuf.package-changed", "PACKAGE_CHANGED"},
		{"kind", p3 + "message M { int32 a = 1; }", p3 + "message M { string a = 1; }", "protobuf.field-type-changed", "FIELD_SCALAR_KIND_CHANGED"},
		{"map", p3 + "message M { map<int32, int32> a = 1; }", p3 + "message M { map<int32, string> a = 1; }", "protobuf.field-type-changed", "FIELD_SCALAR_KIND_CHANGED"},
		{"required", p2 + "message M { optional int32 a = 1; }", p2 + "message M { optional int32 a = 1; required int32 b = 2; }", "protobuf.required-field-added", "REQUIRED_FIELD_ADDED"},
		{"label", p3 + "message M { optional int32 a = 1; }", p3 + "message M { repeated int32 a = 1; }", "protobuf.field-became-repeated", "FIELD_NUMERIC_LABEL_CHANGED"},
		{"gathered", p3 + "message M { optional int32 a = 1; optional int32 b = 2; }", p3 + "message M { oneof o { int32 a = 1; int32 b = 2; } }", "protobuf.fields-gathered-in-oneof", "MULTIPLE_FIELDS_MOVED_TO_ONEOF"},
		{"member removed", p3 + "message M { oneof o { int32 a = 1; int32 b = 2; } }", p3 + "message M { oneof o { int32 a = 1; } }", "protobuf.field-removed", "ONEOF_FIELD_REMOVED"},
		{"other message", p3 + "message M { A a = 1; } message A { int32 x = 1; } message B { int32 x = 1; }", p3 + "message M { B a = 1; } message A { int32 x = 1; } message B { int32 x = 1; }", "protobuf.field-type-renamed", "FIELD_NAMED_TYPE_CHANGED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := compat.Check(compat.Question{
				Checkers: []compat.Checker{checker.Checker}, Level: compat.Backward, Next: parse(t, c.next, nil),
				History: []compat.Old{{Label: "old", Schema: parse(t, c.old, nil)}},
			})
			if r.Verdict() != compat.Breaking {
				t.Fatalf("the verdict is %s", r.Verdict())
			}
			breaks := 0
			for _, f := range r.Compared[0].Findings {
				if f.Severity != compat.SeverityBreaking {
					continue
				}
				if breaks++; f.Rule != c.rule || len(f.Aliases) != 1 || f.Aliases[0] != c.alias {
					t.Errorf("finding %s %v at %s, want %s and %s", f.Rule, f.Aliases, f.Path, c.rule, c.alias)
				}
			}
			if breaks != 1 {
				t.Errorf("%d findings break, want one", breaks)
			}
		})
	}
}
