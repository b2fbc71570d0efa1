package protobuf_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/compat"
	checker "github.com/cartorio-registry/cartorio/compat/protobuf"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

const (
	p3 = "syntax = \"proto3\"; "
	p2 = "syntax = \"proto2\"; "
	ed = "edition = \"2023\"; "
)

// TestDifferences compares old with next: the differences of "next reads old",
// and whether each direction is compatible.
func TestDifferences(t *testing.T) {
	t.Parallel()
	in := func(fields string) string {
		return p3 + "message M {" + fields + "} message N { int32 x = 1; } enum E { E0 = 0; }"
	}
	in2 := func(fields string) string {
		return p2 + "message M {" + fields + "} message N { optional int32 x = 1; } enum E { E0 = 0; }"
	}
	for _, c := range []struct {
		name, old, next   string
		want              []string
		backward, forward bool
	}{
		{"nothing", in("int32 a = 1;"), in("int32 a = 1;"), nil, true, true},
		{"package changed", p3 + "package p; message M {}", p3 + "package q; message M {}", []string{"PACKAGE_CHANGED #/"}, false, false},
		{"package dropped", p3 + "package p; message M {}", p3 + "message M {}", []string{"PACKAGE_CHANGED #/"}, false, false},
		{"message added", p3 + "message M {}", p3 + "message M {} message X {}", []string{"MESSAGE_ADDED #/X"}, true, false},
		{"message nested added", p3 + "message M {}", p3 + "message M { message X {} }", []string{"MESSAGE_ADDED #/M/X"}, true, false},
		{"messages reordered", p3 + "message A {} message B {}", p3 + "message B {} message A {}", []string{"MESSAGE_MOVED #/A", "MESSAGE_MOVED #/B"}, true, true},
		{"an enum between messages moves none", p3 + "message A {} message B {}", p3 + "message A {} enum E { E0 = 0; } message B {}", []string{"ENUM_ADDED #/E"}, true, true},
		{"message becomes enum", p3 + "message A {} message X {}", p3 + "message A {} enum X { X0 = 0; }", []string{"MESSAGE_REMOVED #/X", "ENUM_ADDED #/X"}, false, true},

		{"enum values", p3 + "enum E { A = 0; B = 1; C = 2; }", p3 + "enum E { A = 0; X = 1; D = 3; }", []string{"ENUM_CONST_CHANGED #/E/1", "ENUM_CONST_REMOVED #/E/2", "ENUM_CONST_ADDED #/E/3"}, true, true},
		{"of aliases the last counts", p3 + "enum E { option allow_alias = true; A = 0; B = 0; }", p3 + "enum E { option allow_alias = true; X = 0; B = 0; }", nil, true, true},

		{"field added, removed, renamed", in("int32 a = 1; int32 b = 2;"), in("int32 x = 1; int32 c = 3;"), []string{"FIELD_NAME_CHANGED #/M/1", "FIELD_REMOVED #/M/2", "FIELD_ADDED #/M/3"}, true, true},
		{"required added", in2(""), in2("required int32 a = 1;"), []string{"REQUIRED_FIELD_ADDED #/M/1"}, false, false},
		{"int32 to bool", in("int32 a = 1;"), in("bool a = 1;"), nil, true, true},
		{"uint64 to enum", in("uint64 a = 1;"), in("E a = 1;"), nil, true, true},
		{"int32 to sint32", in("int32 a = 1;"), in("sint32 a = 1;"), []string{"FIELD_SCALAR_KIND_CHANGED #/M/1"}, false, false},
		{"string to bytes", in("string a = 1;"), in("bytes a = 1;"), nil, true, true},
		{"fixed32 to sfixed32", in("fixed32 a = 1;"), in("sfixed32 a = 1;"), nil, true, true},
		{"fixed32 to fixed64", in("fixed32 a = 1;"), in("fixed64 a = 1;"), []string{"FIELD_SCALAR_KIND_CHANGED #/M/1"}, false, false},
		{"float to double", in("float a = 1;"), in("double a = 1;"), []string{"FIELD_SCALAR_KIND_CHANGED #/M/1"}, false, false},
		{"scalar to message", in("int32 a = 1;"), in("N a = 1;"), []string{"FIELD_KIND_CHANGED #/M/1"}, false, false},
		{"scalar to map", in("int32 a = 1;"), in("map<int32, int32> a = 1;"), []string{"FIELD_KIND_CHANGED #/M/1"}, false, false},
		{"message to message of another name", in("N a = 1;"), in("M a = 1;"), []string{"FIELD_NAMED_TYPE_CHANGED #/M/1"}, false, false},
		{"a name qualified", in("N a = 1;"), in(".N a = 1;"), nil, true, true},
		{"map value within its group", in("map<int32, int32> a = 1;"), in("map<int64, bool> a = 1;"), nil, true, true},
		{"map key and value across groups", in("map<int32, int32> a = 1;"), in("map<string, sint32> a = 1;"), []string{"FIELD_SCALAR_KIND_CHANGED #/M/1", "FIELD_SCALAR_KIND_CHANGED #/M/1"}, false, false},
		{"map value to message", in("map<int32, int32> a = 1;"), in("map<int32, N> a = 1;"), []string{"FIELD_KIND_CHANGED #/M/1"}, false, false},
		{"map written by hand", in("map<string, N> a = 1;"), in("repeated Q a = 1; message Q { option map_entry = true; string key = 1; N value = 2; }"), nil, true, true},
		{"map to repeated entry", in("map<int32, int32> a = 1;"), in("repeated N a = 1;"), []string{"FIELD_KIND_CHANGED #/M/1"}, false, false},

		{"implicit to repeated", in("int32 a = 1;"), in("repeated int32 a = 1;"), nil, true, true},
		{"optional to repeated", in("optional int32 a = 1;"), in("repeated int32 a = 1;"), []string{"FIELD_NUMERIC_LABEL_CHANGED #/M/1"}, false, false},
		{"optional string to repeated", in("optional string a = 1;"), in("repeated bytes a = 1;"), []string{"FIELD_STRING_OR_BYTES_LABEL_CHANGED #/M/1"}, true, true},
		{"optional message to repeated", in("optional N a = 1;"), in("repeated N a = 1;"), nil, true, true},
		{"optional enum to required", in2("optional E a = 1;"), in2("required E a = 1;"), []string{"FIELD_NUMERIC_LABEL_CHANGED #/M/1"}, false, false},
		{"across groups labels are not looked at", in2("optional int32 a = 1;"), in2("required sint32 a = 1;"), []string{"FIELD_SCALAR_KIND_CHANGED #/M/1"}, false, false},

		{"one field into a oneof", in("int32 a = 1;"), in("oneof o { int32 a = 1; int32 b = 2; }"), []string{"ONEOF_ADDED #/M/o", "ONEOF_FIELD_ADDED #/M/o/2"}, true, false},
		{"several fields into a oneof", in("int32 a = 1; int32 b = 2;"), in("oneof o { int32 a = 1; int32 b = 2; }"), []string{"MULTIPLE_FIELDS_MOVED_TO_ONEOF #/M/o", "ONEOF_ADDED #/M/o"}, false, true},
		{"a field into a oneof that exists", in("int32 a = 1; oneof o { int32 b = 2; }"), in("oneof o { int32 a = 1; int32 b = 2; }"), []string{"FIELD_MOVED_TO_EXISTING_ONEOF #/M/o"}, false, true},
		{"two oneofs merged", in("oneof o { int32 a = 1; } oneof q { int32 b = 2; }"), in("oneof o { int32 a = 1; int32 b = 2; }"), []string{"FIELD_MOVED_TO_EXISTING_ONEOF #/M/o", "ONEOF_REMOVED #/M/q"}, false, true},
		{"a oneof split", in("oneof o { int32 a = 1; int32 b = 2; }"), in("oneof o { int32 a = 1; } oneof q { int32 b = 2; }"), []string{"ONEOF_ADDED #/M/q"}, true, false},
		{"a oneof renamed", in("oneof o { int32 a = 1; int32 b = 2; }"), in("oneof q { int32 a = 1; int32 b = 2; }"), []string{"ONEOF_REMOVED #/M/o", "ONEOF_ADDED #/M/q"}, true, true},
		{"a member removed", in("oneof o { int32 a = 1; int32 b = 2; }"), in("oneof o { int32 a = 1; }"), []string{"ONEOF_FIELD_REMOVED #/M/o/2"}, false, true},
		{"a oneof renamed and a member removed", in("oneof o { int32 a = 1; int32 b = 2; }"), in("oneof q { int32 a = 1; }"), []string{"ONEOF_REMOVED #/M/o", "ONEOF_ADDED #/M/q", "ONEOF_FIELD_REMOVED #/M/o/2"}, false, true},
		{"a whole oneof removed", in("oneof o { int32 a = 1; int32 b = 2; }"), in(""), []string{"ONEOF_REMOVED #/M/o"}, true, true},
		{"a member out", in("oneof o { int32 a = 1; int32 b = 2; }"), in("oneof o { int32 a = 1; } int32 b = 2;"), []string{"ONEOF_FIELD_MOVED_TO_TOP_LEVEL #/M/2"}, true, false},
		{"an optional to a oneof of one", in("optional int32 a = 1;"), in("oneof _a { int32 a = 1; }"), []string{"ONEOF_ADDED #/M/_a"}, true, true},
		{"a moved member's type", in("int32 a = 1;"), in("oneof o { string a = 1; }"), []string{"ONEOF_ADDED #/M/o", "FIELD_SCALAR_KIND_CHANGED #/M/o/1"}, false, false},

		// Blind spots.
		{"numbers swapped", in("int32 a = 1; int32 b = 2;"), in("int32 b = 1; int32 a = 2;"), []string{"FIELD_NAME_CHANGED #/M/1", "FIELD_NAME_CHANGED #/M/2"}, true, true},
		{"groups are not seen", in2("optional group G = 1 { optional int32 a = 1; }"), in2("required group G = 1 { required string a = 1; }"), nil, true, true},
		{"group to message", in2("optional group G = 1 { optional int32 a = 1; }"), in2("optional G g = 1; message G { optional int32 a = 1; }"), []string{"FIELD_ADDED #/M/1", "MESSAGE_ADDED #/M/G"}, true, false},
		{"syntax, defaults, reservations, options, services", in2("optional int32 a = 1 [default = 3]; reserved 5;") + "service S {}", in2("optional int32 a = 1 [deprecated = true];"), nil, true, true},

		// Editions.
		{"proto3 to edition", in("int32 a = 1; repeated string b = 2; optional N n = 3;"), ed + "option features.field_presence = IMPLICIT; message M { int32 a = 1; repeated string b = 2; N n = 3 [features.field_presence = EXPLICIT]; } message N { int32 x = 1; } enum E { E0 = 0; }", nil, true, true},
		{"required by feature", ed + "message M { int32 a = 1; }", ed + "message M { int32 a = 1; int32 b = 2 [features.field_presence = LEGACY_REQUIRED]; }", []string{"REQUIRED_FIELD_ADDED #/M/2"}, false, false},
		{"required stays required", in2("required int32 a = 1;"), ed + "message M { int32 a = 1 [features.field_presence = LEGACY_REQUIRED]; } message N { int32 x = 1; } enum E { E0 = 0; }", nil, true, true},
		{"explicit to required, a number", ed + "message M { int32 a = 1; }", ed + "message M { int32 a = 1 [features.field_presence = LEGACY_REQUIRED]; }", []string{"FIELD_NUMERIC_LABEL_CHANGED #/M/1"}, false, false},
		{"explicit to required, a string", ed + "message M { string a = 1; }", ed + "message M { string a = 1 [features.field_presence = LEGACY_REQUIRED]; }", []string{"FIELD_STRING_OR_BYTES_LABEL_CHANGED #/M/1"}, true, true},
		{"implicit to required", ed + "message M { int32 a = 1 [features.field_presence = IMPLICIT]; }", ed + "message M { int32 a = 1 [features.field_presence = LEGACY_REQUIRED]; }", nil, true, true},
		{"explicit to implicit", ed + "message M { int32 a = 1; }", ed + "option features.field_presence = IMPLICIT; message M { int32 a = 1; }", nil, true, true},
		{"a oneof's members have no label", ed + "message M { oneof o { int32 a = 1; } }", ed + "message M { oneof o { int32 a = 1; } }", nil, true, true},
		{"a oneof's member to required", ed + "message M { oneof o { int32 a = 1; } }", ed + "message M { int32 a = 1 [features.field_presence = LEGACY_REQUIRED]; }", []string{"ONEOF_REMOVED #/M/o", "ONEOF_FIELD_MOVED_TO_TOP_LEVEL #/M/1"}, true, true},
		{"delimited", ed + "message M { M a = 1; }", ed + "message M { M a = 1 [features.message_encoding = DELIMITED]; }", []string{"FIELD_KIND_CHANGED #/M/1"}, false, false},
		{"delimited for the file", ed + "message M { M a = 1; map<string, M> m = 2; }", ed + "option features.message_encoding = DELIMITED; message M { M a = 1; map<string, M> m = 2; }", []string{"FIELD_KIND_CHANGED #/M/1"}, false, false},
		{"open to closed", ed + "enum E { A = 0; } message M { E e = 1; }", ed + "enum E { option features.enum_type = CLOSED; A = 0; } message M { E e = 1; }", nil, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			old, next := parse(t, c.old, nil), parse(t, c.next, nil)
			backward, list := ask(t, next, old)
			if diff := cmp.Diff(c.want, list); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			forward, mirror := ask(t, old, next)
			if backward != c.backward || forward != c.forward {
				t.Errorf("backward %v, forward %v (%v); want %v, %v", backward, forward, mirror, c.backward, c.forward)
			}
		})
	}
}

func money(version schemas.Version, text string) reference {
	return reference{Name: "common/money.proto", Subject: "money", Version: version, Schema: p3 + "package common;" + text}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	const uses = p3 + `import "common/money.proto"; message M { common.Money m = 1; }`
	v1, wider, broken := money(1, `message Money { int32 units = 1; }`), money(2, `message Money { int64 units = 1; string c = 2; }`), money(3, `message Money { string units = 1; }`)
	line := func(version schemas.Version) reference {
		return reference{Name: "line.proto", Subject: "line", Version: version, Schema: p3 + `import "common/money.proto"; message Line { common.Money m = 1; }`}
	}
	const usesLine = p3 + `import "line.proto"; message M { Line l = 1; }`
	facade := reference{Name: "facade.proto", Subject: "facade", Version: 1, Schema: p3 + `import public "common/money.proto";`}
	for _, c := range []struct {
		name                          string
		old, next                     string
		oldReferences, nextReferences []reference
		want                          []string
		compatible                    bool
	}{
		{"the same version", uses, uses, []reference{v1}, []reference{v1}, nil, true},
		{"a compatible one", uses, uses, []reference{v1}, []reference{wider}, nil, true},
		{"an incompatible one", uses, uses, []reference{v1}, []reference{broken}, []string{"FIELD_SCALAR_KIND_CHANGED #/Money/1", "FIELD_NAMED_TYPE_CHANGED #/M/1"}, false},
		{"two imports away", usesLine, usesLine, []reference{v1, line(1)}, []reference{broken, line(2)}, []string{"FIELD_SCALAR_KIND_CHANGED #/Money/1", "FIELD_NAMED_TYPE_CHANGED #/Line/1", "FIELD_NAMED_TYPE_CHANGED #/M/1"}, false},
		{"moved out", p3 + "package common; message M { Money m = 1; } message Money { int32 units = 1; }", p3 + `package common; import "common/money.proto"; message M { Money m = 1; }`, nil, []reference{v1}, []string{"MESSAGE_REMOVED #/Money"}, false},
		{"moved in", p3 + `package common; import "common/money.proto"; message M { Money m = 1; }`, p3 + "package common; message M { Money m = 1; } message Money { int32 units = 1; }", []reference{v1}, nil, []string{"MESSAGE_ADDED #/Money"}, true},
		{"moved in with another content", p3 + `package common; import "common/money.proto"; message M { Money m = 1; }`, p3 + "package common; message M { Money m = 1; } message Money { bytes units = 1; }", []reference{v1}, nil, []string{"FIELD_SCALAR_KIND_CHANGED #/Money/1", "FIELD_NAMED_TYPE_CHANGED #/M/1", "MESSAGE_ADDED #/Money"}, false},
		{"through a public import", p3 + `import "facade.proto"; message M { common.Money m = 1; }`, uses, []reference{v1, facade}, []reference{v1}, nil, true},
		{"a facade stands for what it shows", facade.Schema, v1.Schema, []reference{v1}, nil, nil, true},
		{"a facade of another content", facade.Schema, facade.Schema, []reference{v1}, []reference{broken}, []string{"FIELD_SCALAR_KIND_CHANGED #/Money/1"}, false},
		{"a bundled type for another", p3 + `import "google/protobuf/timestamp.proto"; message M { google.protobuf.Timestamp m = 1; }`, p3 + `import "google/protobuf/duration.proto"; message M { google.protobuf.Duration m = 1; }`, nil, nil, []string{"FIELD_NAMED_TYPE_CHANGED #/M/1"}, false},
		{"a bundled type with and without its import", p3 + `import "google/protobuf/timestamp.proto"; message M { google.protobuf.Timestamp m = 1; }`, p3 + `message M { google.protobuf.Timestamp m = 1; }`, nil, nil, nil, true},
		{"a bundled type of the same shape in another package", p3 + `import "google/type/decimal.proto"; message M { google.type.Decimal m = 1; }`, p3 + `import "confluent/type/decimal.proto"; message M { confluent.type.Decimal m = 1; }`, nil, nil, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			old, next := parse(t, c.old, c.oldReferences), parse(t, c.next, c.nextReferences)
			compatible, list := ask(t, next, old)
			if compatible != c.compatible {
				t.Errorf("compatible is %v: %v", compatible, list)
			}
			if diff := cmp.Diff(append([]string{}, c.want...), append([]string{}, list...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestEverySchemaIsCompatibleWithItself is the law of identity.
func TestEverySchemaIsCompatibleWithItself(t *testing.T) {
	t.Parallel()
	for _, path := range protobuf.Bundled() {
		s := parse(t, fmt.Sprintf("%simport public %q;", p3, path), nil)
		if compatible, list := ask(t, s, s); !compatible || len(list) > 0 {
			t.Errorf("%s differs from itself: %v", path, list)
		}
	}
}

func TestRecursionEnds(t *testing.T) {
	t.Parallel()
	loop := func(version schemas.Version, kind string) reference {
		return reference{Name: "loop.proto", Subject: "loop", Version: version, Schema: p3 + "message A { B b = 1; } message B { A a = 1; " + kind + " x = 2; }"}
	}
	const uses = p3 + `import "loop.proto"; message M { A a = 1; B b = 2; }`
	old := parse(t, uses, []reference{loop(1, "int32")})
	if compatible, list := ask(t, parse(t, uses, []reference{loop(2, "int64")}), old); !compatible || len(list) > 0 {
		t.Errorf("widening: %v", list)
	}
	compatible, list := ask(t, parse(t, uses, []reference{loop(3, "string")}), old)
	want := []string{
		"FIELD_SCALAR_KIND_CHANGED #/B/2", "FIELD_NAMED_TYPE_CHANGED #/A/1", "FIELD_NAMED_TYPE_CHANGED #/M/1",
		"FIELD_SCALAR_KIND_CHANGED #/B/2", "FIELD_NAMED_TYPE_CHANGED #/M/2",
	}
	if compatible || !slices.Equal(list, want) {
		t.Errorf("breaking: %v", list)
	}
}

// TestManyPathsStayCheap compares a chain of imported messages that doubles its
// paths at each step.
func TestManyPathsStayCheap(t *testing.T) {
	chain := func(version schemas.Version, kind string) reference {
		var b strings.Builder
		b.WriteString(p3)
		for i := range 60 {
			fmt.Fprintf(&b, "message M%d { M%d a = 1; M%d b = 2; }", i, i+1, i+1)
		}
		fmt.Fprintf(&b, "message M60 { %s x = 1; }", kind)
		return reference{Name: "c.proto", Subject: "c", Version: version, Schema: b.String()}
	}
	const uses = p3 + `import "c.proto"; message M { M0 m = 1; }`
	start := costtest.Spent()
	old, next, broken := parse(t, uses, []reference{chain(1, "int32")}), parse(t, uses, []reference{chain(2, "int64")}), parse(t, uses, []reference{chain(3, "string")})
	if compatible, _ := ask(t, next, old); !compatible {
		t.Error("widening is refused")
	}
	compatible, list := ask(t, broken, old)
	if compatible || len(list) > 20_000 {
		t.Errorf("compatible is %v with %d differences", compatible, len(list))
	}
	if took := costtest.Spent() - start; took > costtest.Slower*5*time.Second {
		t.Errorf("took %v of the processor", took)
	}
}

func TestNotChecked(t *testing.T) {
	t.Parallel()
	s := parse(t, p3+"message M { int32 a = 1; }", nil)
	for name, pair := range map[string][2]schemas.Schema{"reader": {nil, s}, "writer": {s, nil}} {
		if _, err := checker.Reference(pair[0], pair[1], compat.Strict, compat.Budget{}); !errors.Is(err, compat.ErrNotChecked) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := checker.Reference(s, s, compat.Strict, compat.Budget{Steps: 1}); !errors.Is(err, compat.ErrNotChecked) {
		t.Errorf("an exhausted budget: %v", err)
	}
}

// TestStoredTextsAreCompared: what protoc would refuse still has a verdict, as
// it has in the registry that it comes from.
func TestStoredTextsAreCompared(t *testing.T) {
	t.Parallel()
	stored := func(text string) schemas.Schema {
		s, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: text}, nil, schemas.ParseOptions{Mode: schemas.Stored})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	old := stored(p3 + `import "gone.proto"; message M { gone.Type a = 1; int32 b = 0; }`)
	if compatible, list := ask(t, stored(p3+`import "gone.proto"; message M { gone.Type a = 1; int64 b = 0; }`), old); !compatible {
		t.Errorf("%v", list)
	}
	if compatible, list := ask(t, stored(p3+`import "gone.proto"; message M { gone.Other a = 1; int32 b = 0; }`), old); compatible || list[0] != "FIELD_NAMED_TYPE_CHANGED #/M/1" {
		t.Errorf("%v", list)
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	got := checker.Message(compat.Difference{Type: "FIELD_KIND_CHANGED", Path: "#/M/1", Info: "int32 → N"}, "new", "old", "protobuf.field-kind-changed")
	want := `{errorType:"FIELD_KIND_CHANGED", description:"The type of the field at path '#/M/1' in the new schema is of another kind than in the old schema (protobuf.field-kind-changed)"}`
	if got != want {
		t.Errorf("got %s", got)
	}
	old, next := parse(t, p3+"message M { int32 a = 1; }", nil), parse(t, p3+"\nmessage M { string a = 1; }", nil)
	found, err := checker.Reference(next, old, compat.Strict, compat.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Reader.Pointer != "/messages/M/fields/1" || found[0].Reader.Position.Line != 2 || found[0].Writer.Position.Line != 1 {
		t.Errorf("places: %+v", found)
	}
}

func BenchmarkDiff(b *testing.B) {
	text := func(n int, kind string) string {
		var s strings.Builder
		s.WriteString(p3)
		for i := range n {
			if i%10 == 0 {
				if i > 0 {
					s.WriteString("}")
				}
				fmt.Fprintf(&s, "message M%d {", i/10)
			}
			fmt.Fprintf(&s, "%s field_%d = %d;", kind, i, i%10+1)
		}
		return s.String() + "}"
	}
	parse := func(text string) schemas.Schema {
		s, err := protobuf.Parse(b.Context(), schemas.Source{Type: schemas.Protobuf, Text: text}, nil, schemas.ParseOptions{})
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	for _, n := range []int{10, 100, 500} {
		old, next := parse(text(n, "int32")), parse(text(n, "int64"))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := checker.Reference(next, old, compat.Strict, compat.Budget{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
