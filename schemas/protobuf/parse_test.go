package protobuf_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

func parseError(t *testing.T, text string, o schemas.ParseOptions) error {
	t.Helper()
	s, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: text}, nil, o)
	if err == nil {
		t.Fatalf("accepted as\n%s", s.Canonical())
	}
	return err
}

func TestErrorsArePlaced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string // "line:column pointer summary", a part of the summary
	}{
		{"a statement cut short", "syntax = \"proto3\";\nmessage A { string x = 1 }", []string{"2:26 |expecting ';'"}},
		{"two unknown types", "syntax = \"proto3\";\nmessage A {\n  X x = 1;\n\tY y = 2;\n}", []string{
			"3:3 /messages/A/fields/1|unknown type X", "4:2 /messages/A/fields/2|unknown type Y",
		}},
		{"a number twice", "syntax = \"proto3\";\nmessage A { message B { string x = 1; string y = 1; } }", []string{
			"2:50 /messages/A/messages/B/fields/1|both have the same tag 1",
		}},
		{"an import from nowhere", "syntax = \"proto3\";\nimport \"a.proto\";", []string{"2:8 /imports/a.proto|neither a reference nor a bundled file"}},
		{"a second definition tells the first", "syntax = \"proto3\";\nmessage A {}\nmessage A {}", []string{"3:9 /messages/A|already defined at line 2, column 9"}},
		{"an edition of tomorrow", "edition = \"2024\";\nexport message A {}", []string{"1:11 |edition \"2024\" is not supported"}},
		{"an unknown option", "syntax = \"proto3\";\nmessage A { option (no) = 1; }", []string{"2:20 /messages/A/options/(no)|unknown extension no"}},
		{"an unknown syntax", "syntax = \"proto4\";", []string{"1:10 |syntax value must be \"proto2\" or \"proto3\""}},
		{"columns count bytes", "syntax = \"proto3\";\n/* é */ message A { X x = 1; }", []string{"2:22 /messages/A/fields/1|unknown type X"}},
		{"a byte-order mark", "\ufeffsyntax = \"proto3\"; message A { X x = 1; }", []string{"1:35 /messages/A/fields/1|unknown type X"}},
		{"places in a long line", "syntax = \"proto3\";" + "message B{" + many(60, func(i int) string { return fmt.Sprintf("int32 f%02d=%02d;", 10+i, 10+i) }) + "X x=2;} message C{Y y=1;}", []string{
			"1:809 /messages/B/fields/2|unknown type X", "1:827 /messages/C/fields/1|unknown type Y",
		}},
		{"NUL", "syntax = \"proto3\"; message A { \x00 }", []string{"1:32 |invalid control character"}},
		{"an unclosed string", "syntax = \"proto3\nmessage A {}", []string{"1:10 |"}},
		{"an unclosed comment", "syntax = \"proto3\"; /* message A {}", []string{"1:20 |block comment never terminates"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var list schemas.SyntaxErrors
			if err := parseError(t, c.text, schemas.ParseOptions{}); !errors.As(err, &list) {
				t.Fatalf("not SyntaxErrors: %v", err)
			}
			for i, want := range c.want {
				place, summary, _ := strings.Cut(want, "|")
				if i >= len(list) {
					t.Fatalf("only %d errors: %v", len(list), list)
				}
				if got := fmt.Sprintf("%s %s", list[i].Position, list[i].Pointer); got != place || !strings.Contains(list[i].Summary, summary) {
					t.Errorf("got %s|%s, want %s", got, list[i].Summary, want)
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"field number 0":                   `syntax = "proto3"; message A { string x = 0; }`,
		"a reserved number used":           `syntax = "proto3"; message A { reserved 1; string x = 1; }`,
		"a reserved name used":             `syntax = "proto3"; message A { reserved "x"; string x = 1; }`,
		"a range that goes down":           `syntax = "proto3"; message A { reserved 8 to 4; }`,
		"proto2 field without a label":     `message A { string x = 1; }`,
		"required in proto3":               `syntax = "proto3"; message A { required string x = 1; }`,
		"an open enum that starts at 1":    `syntax = "proto3"; enum E { A = 1; }`,
		"a group in proto3":                `syntax = "proto3"; message A { optional group G = 1 {} }`,
		"json names that collide":          `syntax = "proto3"; message A { string a_b = 1; string aB = 2; }`,
		"a duplicate import":               `syntax = "proto3"; import "google/protobuf/any.proto"; import "google/protobuf/any.proto";`,
		"a path that only looks the same":  `syntax = "proto3"; import "./google/protobuf/any.proto";`,
		"a path that climbs":               `syntax = "proto3"; import "../../etc/passwd";`,
		"an address":                       `syntax = "proto3"; import "https://example.com/a.proto";`,
		"a file of its own name":           `syntax = "proto3"; import "default";`,
		"features outside editions":        `syntax = "proto3"; option features.enum_type = CLOSED;`,
		"optional in an edition":           `edition = "2023"; message A { optional string x = 1; }`,
		"a group in an edition":            `edition = "2023"; message A { group G = 1 {} }`,
		"packed in an edition":             `edition = "2023"; message A { repeated int32 x = 1 [packed = true]; }`,
		"implicit presence of a message":   `edition = "2023"; message A { A x = 1 [features.field_presence = IMPLICIT]; }`,
		"implicit presence with a default": `edition = "2023"; message A { int32 x = 1 [features.field_presence = IMPLICIT, default = 3]; }`,
		"edition 2022":                     `edition = "2022"; message A {}`,
		"an edition and a syntax":          `edition = "2023"; syntax = "proto3";`,
		"a map entry by hand, malformed":   `syntax = "proto3"; message A { message E { option map_entry = true; string key = 1; } repeated E e = 1; }`,
		"plain prose":                      `hello, world`,
		"JSON":                             `{"type": "record", "name": "A", "fields": []}`,
		"base64 of nothing":                `aGVsbG8=`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var list schemas.SyntaxErrors
			if err := parseError(t, text, schemas.ParseOptions{}); !errors.As(err, &list) || len(list) == 0 {
				t.Fatalf("not SyntaxErrors: %v", err)
			}
		})
	}
	_, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Avro, Text: `"string"`}, nil, schemas.ParseOptions{})
	if err == nil {
		t.Error("an Avro source is accepted")
	}
}

// registry resolves references from a map of subjects, version 1 each.
type registry map[string]schemas.Source

func (r registry) Resolve(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
	source, ok := r[ref.Subject]
	if !ok {
		return schemas.Resolved{}, fmt.Errorf("%s: %w", ref.Subject, schemas.ErrSubjectUnknown)
	}
	return schemas.Resolved{Subject: ref.Target(in), Version: ref.Version, Source: source}, nil
}

func proto3(text string, refs ...schemas.Reference) schemas.Source {
	return schemas.Source{Type: schemas.Protobuf, Text: `syntax = "proto3"; ` + text, References: refs}
}

func ref(name, subject string) schemas.Reference {
	return schemas.Reference{Name: name, Subject: subject, Version: 1}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	known := registry{
		"money":   proto3(`package common; message Money { int64 units = 1; }`),
		"public":  proto3(`import public "common/money.proto";`, ref("common/money.proto", "money")),
		"private": proto3(`import "common/money.proto"; message P { common.Money m = 1; }`, ref("common/money.proto", "money")),
		"clash":   proto3(`package common; message Money {}`),
		"broken":  proto3(`message {`),
		"avro":    {Type: schemas.Avro, Text: `"string"`},
		"time":    proto3(`package google.protobuf; message Timestamp { int64 seconds = 1; int32 nanos = 2; string zone = 3; }`),
		"uses":    proto3(`package u; import "google/protobuf/timestamp.proto"; message U { google.protobuf.Timestamp t = 1; }`, ref("google/protobuf/timestamp.proto", "time")),
		"lax":     proto3(`package l; message L { google.protobuf.Duration d = 1; }`),
	}
	for _, c := range []struct {
		name   string
		source schemas.Source
		want   string // part of the error, empty for none
	}{
		{"used", proto3(`import "common/money.proto"; message A { common.Money m = 1; }`, ref("common/money.proto", "money")), ""},
		{"declared and not imported", proto3(`message A {}`, ref("common/money.proto", "money")), ""},
		{"through a public import", proto3(`import "pub.proto"; message A { common.Money m = 1; }`, ref("pub.proto", "public")), ""},
		{"through a private import", proto3(`import "p.proto"; message A { common.Money m = 1; }`, ref("p.proto", "private")), "unknown type common.Money"},
		{"another path", proto3(`import "./common/money.proto"; message A {}`, ref("common/money.proto", "money")), "neither a reference nor a bundled"},
		{"unknown subject", proto3(`import "x.proto"; message A {}`, ref("x.proto", "nope")), "subject is unknown"},
		{"one symbol in two files", proto3(`import "a.proto"; import "b.proto"; message A {}`, ref("a.proto", "money"), ref("b.proto", "clash")), `already defined`},
		{"a broken reference", proto3(`import "x.proto"; message A {}`, ref("x.proto", "broken")), "syntax error"},
		{"a reference of another format", proto3(`message A {}`, ref("x.proto", "avro")), "type AVRO"},
		{"a bundled file replaced", proto3(`import "google/protobuf/timestamp.proto"; message A { google.protobuf.Timestamp t = 1; }`, ref("google/protobuf/timestamp.proto", "time")), ""},
		{"a bundled file replaced below", proto3(`import "u.proto"; import "google/type/interval.proto"; message A { u.U u = 1; google.type.Interval i = 2; }`, ref("u.proto", "uses")), ""},
		{"a reference that leans on the second try", proto3(`import "l.proto"; message A { l.L x = 1; }`, ref("l.proto", "lax")), ""},
		{"a reference called like the schema itself", proto3(`import "default"; message A { common.Money m = 1; }`, ref("default", "money")), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := protobuf.Parse(t.Context(), c.source, known, schemas.ParseOptions{})
			switch {
			case c.want == "" && err != nil:
				t.Fatal(err)
			case c.want == "":
				checkFixpoint(t, s, known)
			case err == nil || !strings.Contains(err.Error(), c.want):
				t.Fatalf("want an error with %q, got %v", c.want, err)
			}
		})
	}
}

func TestFingerprintCoversWhatReferencesStandFor(t *testing.T) {
	t.Parallel()
	source := proto3(`import "m.proto"; message A { Money m = 1; }`, ref("m.proto", "money"))
	parse := func(money string) schemas.Schema {
		s, err := protobuf.Parse(t.Context(), source, registry{"money": proto3(money)}, schemas.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, layout, other := parse(`message Money { int64 u = 1; }`), parse(`message  Money{int64 u=1;}`), parse(`message Money { int32 u = 1; }`)
	if a.Fingerprint() != layout.Fingerprint() {
		t.Error("layout of a reference counts")
	}
	if a.Fingerprint() == other.Fingerprint() {
		t.Error("what a reference says does not count")
	}
	if !a.Equivalent(other) {
		t.Error("equivalence looks at references")
	}
}

func TestReferencesAreSortedWhenNormalized(t *testing.T) {
	t.Parallel()
	known := registry{"a": proto3(`message X {}`), "b": proto3(`message Y {}`)}
	s, err := protobuf.Parse(t.Context(), proto3(`message A {}`, ref("2.proto", "b"), ref("1.proto", "a"), ref("2.proto", "b")), known, schemas.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, refs := s.Normalized()
	if diff := cmp.Diff([]schemas.Reference{ref("1.proto", "a"), ref("2.proto", "b")}, refs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStoredIsLenient(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"number twice":      `syntax = "proto3"; message A { string x = 1; string y = 1; }`,
		"number 0":          `syntax = "proto3"; message A { string x = 0; }`,
		"unknown type":      `syntax = "proto3"; message A { X x = 1; }`,
		"missing import":    `syntax = "proto3"; import "gone.proto"; message A { string x = 1; }`,
		"many declarations": `syntax = "proto3"; enum E { Z = 0;` + many(20_001, func(i int) string { return fmt.Sprintf("A%d = %d;", i, i) }) + "}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parseError(t, text, schemas.ParseOptions{})
			s, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: text}, nil, schemas.ParseOptions{Mode: schemas.Stored, Limits: schemas.Limits{Text: 1, Depth: 1, Nesting: 1}})
			if err != nil {
				t.Fatal(err)
			}
			if s.Canonical() == "" || len(s.Names()) == 0 {
				t.Error("nothing is known of it")
			}
			if text, _ := s.Normalized(); text == "" {
				t.Error("it has no normalized text")
			}
			if s.(*protobuf.Schema).Problem() == nil {
				return // a limit only
			}
			r := s.Reads(s, schemas.Payload{}, schemas.ReadOptions{})
			if r.OK() || r.Violations[0].Rule != "schema" {
				t.Errorf("reading says %+v", r)
			}
			if _, err := s.(*protobuf.Schema).Serialized(); err == nil {
				t.Error("it has a descriptor")
			}
		})
	}
}

// TestStoredReservedStatement: the reference registry takes and prints reserved
// statements of numbers and names together.
func TestStoredReservedStatement(t *testing.T) {
	t.Parallel()
	const text = `syntax = "proto3"; message A { reserved 5, 7 to 9, "old", /* , */ 'a1', 11; reserved "x"; reserved 12; } enum E { reserved "Q", 3; E0 = 0; } message B { string reserved = 1; X no = 2; }`
	parseError(t, text, schemas.ParseOptions{})
	source := schemas.Source{Type: schemas.Protobuf, Text: text}
	s, err := protobuf.Parse(t.Context(), source, nil, schemas.ParseOptions{Mode: schemas.Stored})
	if err != nil {
		t.Fatal(err)
	}
	want := "syntax = \"proto3\";\n\nmessage A {\n  reserved 5, 7 to 9, 11, \"old\", \"a1\";\n  reserved \"x\";\n  reserved 12;\n}\nmessage B {\n  string reserved = 1;\n  X no = 2;\n}\nenum E {\n  reserved 3, \"Q\";\n  E0 = 0;\n}\n"
	if diff := cmp.Diff(want, s.Canonical()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: s.Canonical()}, nil, schemas.ParseOptions{Mode: schemas.Stored})
	if err != nil || again.Canonical() != s.Canonical() {
		t.Errorf("no fixpoint: %v", err)
	}
	var list schemas.SyntaxErrors
	if problem := s.(*protobuf.Schema).Problem(); !errors.As(problem, &list) || list[0].Position.Offset != strings.Index(text, "X no") {
		t.Errorf("the unknown type is placed wrongly: %v", problem)
	}
}

func TestNamesAndIndexes(t *testing.T) {
	t.Parallel()
	s := parse(t, `syntax = "proto2"; package p;
enum First { F = 0; }
message A { enum E { E0 = 0; } message B { message C {} } optional group G = 1 {} message D {} map<string, B> m = 2; }
message Z {}`)
	want := []string{"p.A", "p.A.G", "p.A.B", "p.A.B.C", "p.A.D", "p.Z", "p.First", "p.A.E"}
	if diff := cmp.Diff(want, s.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for name, indexes := range map[string][]int{"p.A": {0}, "p.A.B": {0, 0}, "p.A.B.C": {0, 0, 0}, "p.A.D": {0, 1}, "p.Z": {1}} {
		if got := s.IndexesOf(name); !slices.Equal(got, indexes) {
			t.Errorf("%s is at %v, want %v", name, got, indexes)
		}
		if got, err := s.MessageAt(indexes); got != name || err != nil {
			t.Errorf("%v is %s, %v; want %s", indexes, got, err, name)
		}
	}
	if got, err := s.MessageAt(nil); got != "p.A" || err != nil {
		t.Errorf("no indexes are %s, %v", got, err)
	}
	for _, indexes := range [][]int{{2}, {-1}, {1, 0}, {0, 0, 0, 0}} {
		if got, err := s.MessageAt(indexes); err == nil {
			t.Errorf("%v is %s", indexes, got)
		}
	}
	if got := s.IndexesOf("p.Nope"); got != nil {
		t.Errorf("a message that is not there is at %v", got)
	}
}

func TestFacadeShowsItsImport(t *testing.T) {
	t.Parallel()
	known := registry{"a": proto3(`package p; message A { int32 x = 1; message B { string y = 1; } }`)}
	read := func(text string) *protobuf.Schema {
		s, err := protobuf.Parse(t.Context(), proto3(text, ref("a.proto", "a")), known, schemas.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return s.(*protobuf.Schema)
	}
	s := read(`import public "a.proto";`)
	if name, err := s.MessageAt([]int{0, 0}); name != "p.A.B" || err != nil {
		t.Errorf("the message at [0 0] is %q, %v", name, err)
	}
	if got := s.Reads(s, schemas.Payload{Bytes: []byte{8, 1}}, schemas.ReadOptions{}); !got.OK() {
		t.Errorf("the root is not read: %+v", got)
	}
	if text, err := s.ToJSON(schemas.Payload{Bytes: []byte{8, 1}}, schemas.ReadOptions{}); string(text) != `{"x":1}` || err != nil {
		t.Errorf("as JSON: %s, %v", text, err)
	}
	for _, text := range []string{`import "a.proto";`, `import public "a.proto"; service S {}`, `import public "a.proto"; import "google/protobuf/any.proto";`} {
		if s := read(text); s.Shown() != s.File() {
			t.Errorf("%s shows %s", text, s.Shown().Path)
		}
	}
}

func TestOutline(t *testing.T) {
	t.Parallel()
	got, err := protobuf.Outline("acme/order.proto", `syntax = "proto3"; package acme;
import "google/protobuf/any.proto"; import public "acme/b.proto"; import "acme/a.proto"; import "google/type/money.proto";
message Order { Nope n = 1; message Line {} } enum E { E0 = 0; }`, schemas.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := schemas.Outline{
		Schema: true,
		Names:  []string{"acme/order.proto", "acme.Order", "acme.Order.Line", "acme.E"},
		Needs:  []string{"acme/b.proto", "acme/a.proto"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var list schemas.SyntaxErrors
	if _, err := protobuf.Outline("x.proto", "message", schemas.Limits{}); !errors.As(err, &list) {
		t.Errorf("got %v", err)
	}
	var limit *schemas.LimitError
	if _, err := protobuf.Outline("x.proto", "message A {}", schemas.Limits{Text: 3}); !errors.As(err, &limit) {
		t.Errorf("got %v", err)
	}
}

func TestVocabulary(t *testing.T) {
	t.Parallel()
	got := protobuf.Vocabulary()
	for _, want := range []string{"FileDescriptorProto.package", "FieldDescriptorProto.number", "FieldOptions.packed", "FeatureSet.field_presence", "EnumValueDescriptorProto.name", "MethodDescriptorProto.input_type", "OneofDescriptorProto.name"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, name := range got {
		if strings.Contains(name, "uninterpreted") || strings.Contains(name, "source_code_info") {
			t.Errorf("%s is no part of a schema", name)
		}
	}
	if sorted := slices.Compact(slices.Sorted(slices.Values(got))); len(sorted) != len(got) {
		t.Error("a name stands twice")
	}
}

func TestBundledFilesParse(t *testing.T) {
	t.Parallel()
	for _, path := range protobuf.Bundled() {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := parse(t, fmt.Sprintf("syntax = \"proto3\"; import %q; message A {}", path))
			checkFixpoint(t, s, nil)
			f := s.Bundled(path)
			if f == nil || len(f.Messages)+len(f.Enums)+len(f.Extends) == 0 {
				t.Fatalf("%s defines nothing", path)
			}
			for _, m := range f.Messages {
				if _, ok := s.Lookup("a.b", m.FullName); !ok {
					t.Errorf("%s is not found by its name", m.FullName)
				}
			}
		})
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	known := registry{"m": proto3(`package common; message Money { int64 units = 1; }`)}
	source := proto3(`import "m.proto"; message A { common.Money m = 1; google.type.Date d = 2; }`, ref("m.proto", "m"))
	shared, err := protobuf.Parse(t.Context(), source, known, schemas.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var group errgroup.Group
	for range 50 {
		group.Go(func() error {
			own, err := protobuf.Parse(t.Context(), source, known, schemas.ParseOptions{})
			if err != nil {
				return err
			}
			payload := schemas.Payload{Bytes: []byte{0x0a, 2, 8, 5}}
			for _, r := range []schemas.Reading{
				shared.Reads(own, payload, schemas.ReadOptions{}), own.Reads(shared, payload, schemas.ReadOptions{Value: true}),
			} {
				if !r.OK() || len(r.Losses) > 0 {
					return fmt.Errorf("%+v", r)
				}
			}
			text, err := shared.(*protobuf.Schema).ToJSON(payload, schemas.ReadOptions{})
			if err == nil && string(text) != `{"m":{"units":"5"}}` {
				return fmt.Errorf("as JSON: %s", text)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := protobuf.Parse(ctx, proto3(`message A {}`), nil, schemas.ParseOptions{})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
