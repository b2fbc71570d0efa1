package protobuf

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

const plainImport = `syntax = "proto3"; package p.q;
message A { message In { int32 x = 1; } enum Of { NONE = 0; } map<string, In> all = 3; }
enum B { B_ZERO = 0; B_ONE = 1; }`

var plainTexts = []string{
	`syntax = "proto3"; package p.q; import "a.proto"; import "google/protobuf/timestamp.proto";
	option java_package = "x"; option deprecated = true;
	message M { reserved 30, 40 to 50, 51 to 60, 70 to max; reserved "old", "elder"; option deprecated = true;
	  enum In { option allow_alias = true; I0 = 0; I1 = 1; I2 = 1; reserved 5 to 7, 8; reserved "I9"; I_3 = -1 [deprecated = true]; }
	  message N { N n = 1; M m = 2; In e = 3; A a = 4; A.In ai = 5; q.A.Of ao = 6; .p.q.B b = 7; }
	  string some_text = 1; repeated int32 list = 2 [packed = false]; optional bytes bytes = 3; map<int32, N> by_n = 4; map<string, B> by_b = 5;
	  oneof how { string a_text = 6; M.N nested = 7 [deprecated = true]; } google.protobuf.Timestamp at = 8; optional N maybe = 9;
	  oneof who { bool me = 15; In you = 16; } optional B opt_b = 11 [deprecated = true]; repeated bool flags = 17;
	  repeated In ins = 12 [packed = true]; sfixed64 way = 13; M.N deep = 14; repeated string texts = 18; repeated N many = 19; }
	enum Top { option deprecated = true; TOP_ZERO = 0; TOP_ONE = 1 [deprecated = false]; }
	service S { rpc Get(M) returns (stream M.N); }`,
	`syntax = "proto3"; message Later { Sooner s = 2; Of o = 1; map<bool, Later> all = 3; } message Sooner { Later l = 1; } enum Of { X = 0; }`,
	`syntax = "proto3"; package a; message a { message b { a.b c = 1; .a.a.b d = 2; b e = 3; } b a_ = 2; optional string b_c = 3; double d = 4; float e = 5; bytes f = 6; } message Empty {}`,
}

// Types read from what a plain file was made of are those that its linked form
// gives, in all that the truth looks at.
func TestPlainAsLinked(t *testing.T) {
	t.Parallel()
	texts := slices.Clone(plainTexts)
	if root := os.Getenv("CARTORIO_REAL"); root != "" {
		err := filepath.WalkDir(root, func(p string, _ os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(p, ".proto") {
				raw, err := os.ReadFile(p)
				if err != nil {
					return err
				}
				texts = append(texts, string(raw))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	resolver := schemas.ResolverFunc(func(context.Context, schemas.Context, schemas.Reference) (schemas.Resolved, error) {
		return schemas.Resolved{Source: schemas.Source{Type: schemas.Protobuf, Text: plainImport}}, nil
	})
	plain := 0
	for i, text := range texts {
		source := schemas.Source{Type: schemas.Protobuf, Text: text}
		if strings.Contains(text, `"a.proto"`) {
			source.References = []schemas.Reference{{Name: "a.proto", Subject: "a", Version: 1}}
		}
		got, err := protobuf.Parse(t.Context(), source, resolver, schemas.ParseOptions{Mode: schemas.Stored})
		if err != nil {
			if i < len(plainTexts) {
				t.Fatalf("%q: %v", text, err)
			}
			continue // what it imports is not at hand
		}
		s := got.(*protobuf.Schema)
		whole, alone := s.Whole()
		if whole == nil || !alone || whole.Plain() == nil {
			if i < len(plainTexts) {
				t.Errorf("%q is not plain", text)
			}
			continue
		}
		plain++
		read := typesOf(s, whole)
		b := newBuilder(s)
		b.file, b.imports = whole, map[string]*types{}
		for _, one := range whole.All()[1:] {
			b.imports[one.Path()] = typesOf(s, one)
		}
		b.see(whole.Desc().Messages(), whole.Desc().Enums())
		b.types.end()
		if diff := cmp.Diff(b.types.told(), read.told()); diff != "" {
			t.Errorf("%q (-linked +plain):\n%s", text, diff)
		}
		m := modelOf(s)
		linked := &model{packages: m.packages}
		linked.declare(whole.Desc().Messages(), whole.Desc().Enums())
		if !slices.Equal(m.messages, linked.messages) || !slices.Equal(m.enums, linked.enums) {
			t.Errorf("%q declares other types, or in another order", text)
		}
		for _, one := range read.messages {
			if d := one.desc(); d == nil || string(d.FullName()) != one.name {
				t.Errorf("%s: the linked form of %s is %v", text, one.name, d)
			}
		}
		for _, one := range read.enums {
			if d := one.desc(); d == nil || string(d.FullName()) != one.name {
				t.Errorf("%s: the linked form of %s is %v", text, one.name, d)
			}
		}
	}
	t.Logf("%d of %d texts are plain", plain, len(texts))
}

// told writes down all that types hold.
func (t *types) told() (list []string) {
	for _, name := range slices.Sorted(maps.Keys(t.messages)) {
		m := t.messages[name]
		list = append(list, fmt.Sprintf("message %s: %+v %v %s entry=%t same=%t endless=%t %+v %v %q %t", name, m.scope, m.place, textOf(m.text), m.isEntry, m.same, m.endless, m.reserved, m.ranges, m.options, m.accessor))
		for _, f := range m.fields {
			list = append(list, name+"/"+f.told())
		}
		for _, f := range m.musts {
			list = append(list, name+" must have "+f.name)
		}
		for _, o := range m.oneofs {
			one := fmt.Sprintf("%s/oneof %s %v", name, o.name, o.place)
			for _, f := range o.fields {
				one += " " + f.name
			}
			list = append(list, one)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.enums)) {
		e := t.enums[name]
		list = append(list, fmt.Sprintf("enum %s: %+v %v %s closed=%t %+v %v %v %v %+v %q", name, e.scope, e.place, textOf(e.text), e.closed, e.values, e.byName, e.index, e.names, e.reserved, e.options))
	}
	return list
}

func (f *field) told() string {
	out := fmt.Sprintf("%d %d %s %s %v %s packed=%t checked=%t extends=%t %q %q %q %v %v", f.index, f.number, f.name, f.key, f.kind, f.card, f.packed, f.checked, f.extends, f.fallback, f.code, f.options, f.place, f.raw)
	if f.message != nil {
		out += " of " + f.message.name
	}
	if f.enum != nil {
		out += " of " + f.enum.name
	}
	if f.oneof != nil {
		out += " in " + f.oneof.name
	}
	return out
}

func textOf(f *protobuf.File) string {
	if f == nil {
		return "nowhere"
	}
	return f.Path
}
