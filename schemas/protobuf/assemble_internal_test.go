package protobuf

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/cartorio-registry/cartorio/schemas"
)

// imported are the files that the texts of TestAssembledAsCompiled may import.
var imported = map[string]string{
	"a.proto": `syntax = "proto3"; package p.q; message A { message In { int32 x = 1; } enum Of { NONE = 0; } string way = 1; oneof one { int32 n = 2; } map<string, In> all = 3; } enum B { ZERO = 0; ONE = 1; } service Serve { rpc Do(A) returns (A); }`,
	"b.proto": `syntax = "proto2"; package p; import public "c.proto"; message Closed { required int32 x = 1; extensions 5 to 9; } enum Shut { FIRST = 1; }`,
	"c.proto": `syntax = "proto3"; package p.q.r; message C { string s = 1; }`,
	"l.proto": `syntax = "proto3"; package lite; option optimize_for = LITE_RUNTIME; message L {}`,
}

var assembled = []string{
	`syntax = "proto3"; package p.q; import "a.proto"; import "b.proto"; import "google/protobuf/timestamp.proto";
	option java_package = "x"; option java_multiple_files = true; option deprecated = false;
	message M { reserved 30, 40 to 50, 60 to max; reserved "old"; option deprecated = true;
	  enum In { option allow_alias = true; I0 = 0; I1 = 1; I2 = 1; reserved 5 to 7; reserved "I9"; I_3 = -1 [deprecated = true]; }
	  message N { N n = 1; M m = 2; In e = 3; A a = 4; A.In ai = 5; q.A.Of ao = 6; .p.q.B b = 7; }
	  string s = 1; repeated int32 list = 2 [packed = false]; optional bytes bytes = 3; map<int32, N> by_n = 4; map<string, B> by_b = 5;
	  oneof how { string a_text = 6; M.N nested = 7; } google.protobuf.Timestamp at = 8; r.C c = 9; p.Closed closed = 10; optional B opt_b = 11 [deprecated = true];
	  repeated In ins = 12 [packed = true]; sfixed64 way = 13; M.N deep = 14; }
	enum Top { TOP_ZERO = 0; TOP_ONE = 1; }
	service S { option deprecated = true; rpc Get(M) returns (stream M.N); rpc Put(stream A) returns (r.C); }`,
	`syntax = "proto3"; import "c.proto"; message A { string a_b = 1; string aB = 2; } message B { int32 x = 1; int32 y = 2; C c = 3; p.q.r.C d = 4; } message p { }`,
	`syntax = "proto3"; import "l.proto"; import "a.proto"; message A { lite.L l = 1; p.q.A a = 2; optional string _x = 3; oneof y { string z = 4; } }`,
	"syntax = \"proto3\"; package " + strings.Repeat("a.", 101) + "b; message M { }",
	"syntax = \"proto3\"; package " + strings.Repeat("a", 512) + "; message M { }",
	`syntax = "proto3"; message M { string x = 19999; } enum E { A = 0; B = -5; reserved 9 to 7; } message N { reserved 0; reserved "1"; }`,
	`syntax = "proto3"; package p.q; import "c.proto"; message r { message C {} C x = 1; r.C y = 2; map<string, C> z = 3; message ZEntry {} } enum E { E_A = 0; E_a = 1; }`,
}

var numbers = []string{"0", "1", "2", "3", "12", "18999", "19000", "19500", "19999", "20000", "536870911", "536870912", "999999999"}

// TestAssembledAsCompiled holds the descriptors that are assembled to the
// compiler's, on texts as they are and with tokens dropped, doubled, moved or
// taken from elsewhere: what is assembled compiles, and to the same. With
// CARTORIO_HUNT it spoils more of them.
func TestAssembledAsCompiled(t *testing.T) {
	t.Parallel()
	shared := &schemas.Shared{}
	all := map[string]*Linked{}
	names := &newSymbolTables().names
	linkAll := func(u *unit) (imports []*Linked, ok bool) {
		for _, i := range u.file.Imports {
			switch {
			case all[i.Path] != nil:
				imports = append(imports, all[i.Path])
			case bundledPaths[i.Path]:
				imports = append(imports, wholeBundled(i.Path))
			default:
				return nil, false
			}
		}
		return imports, true
	}
	for _, path := range []string{"a.proto", "c.proto", "b.proto", "l.proto"} {
		u, err := sharedUnit(shared, path, imported[path], schemas.Limits{}, true)
		if err != nil {
			t.Fatal(err)
		}
		imports, _ := linkAll(u)
		if all[path] = assemble(path, u, imports, names, true, false); all[path] == nil {
			if all[path] = linkOne(t.Context(), &linker.Symbols{}, path, u, imports); all[path] == nil || !names.takes(all[path], true) {
				t.Fatalf("%s does not compile", path)
			}
		}
	}
	isPlain := func(path string) bool { return all[path].Plain() != nil }
	if !isPlain("a.proto") || !isPlain("c.proto") || isPlain("b.proto") || isPlain("l.proto") {
		t.Error("the wrong files were assembled")
	}
	made, refused, drafted := 0, 0, 0
	check := func(text string) {
		u, err := readText("own.proto", text, schemas.DefaultLimits(), false)
		if err != nil {
			return
		}
		imports, ok := linkAll(u)
		if !ok {
			return
		}
		a := &assembly{file: u.file, imports: imports}
		if fd := a.draft("own.proto", u.scan); fd != nil {
			drafted++
			if _, err := link(fd, imports); a.sound(fd) != (err == nil) {
				t.Errorf("%q is sound: %t, and linking it: %v", text, a.sound(fd), err)
			}
		}
		got := assemble("own.proto", u, imports, names, false, true)
		if got == nil {
			refused++
			return
		}
		made++
		want := linkOne(t.Context(), &linker.Symbols{}, "own.proto", u, imports)
		if want == nil {
			t.Errorf("%q is assembled, and the compiler refuses it", text)
			return
		}
		if diff := cmp.Diff(protoutil.ProtoFromFileDescriptor(want.Desc()), protodesc.ToFileDescriptorProto(got.Desc()), protocmp.Transform()); diff != "" {
			t.Errorf("%q (-compiler +assembled):\n%s", text, diff)
		}
	}
	texts := assembled
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
	own := 400
	if os.Getenv("CARTORIO_HUNT") != "" {
		own = 20_000
	}
	tokens := regexp.MustCompile(`[A-Za-z_0-9]+|"[^"\n]*"|'[^'\n]*'|//[^\n]*|\s+|.`)
	r := rand.New(rand.NewPCG(3, 4))
	for n, text := range texts {
		check(text)
		if n == 0 && made != 1 {
			t.Error("the first text is not assembled")
		}
		parts := tokens.FindAllString(text, -1)
		rounds := 60
		if n < len(assembled) {
			rounds = own
		}
		for range rounds {
			changed := append([]string{}, parts...)
			for range 1 + r.IntN(2) {
				i, j := r.IntN(len(parts)), r.IntN(len(parts))
				switch r.IntN(5) {
				case 0:
					changed[i] = ""
				case 1:
					changed[i] += " " + changed[i]
				case 2:
					changed[i] = changed[j]
				case 3:
					changed[i], changed[j] = changed[j], changed[i]
				case 4: // one number for another
					for k := range parts {
						if at := (i + k) % len(parts); parts[at][0] >= '0' && parts[at][0] <= '9' {
							changed[at] = numbers[r.IntN(len(numbers))]
							break
						}
					}
				}
			}
			check(strings.Join(changed, ""))
		}
	}
	t.Logf("%d assembled, %d left to the compiler, of them %d when they were all but linked", made, refused, drafted-made)
	if made < 50 || refused < 50 || drafted-made < 10 {
		t.Errorf("%d texts were assembled, %d drafted and %d left to the compiler: too few to tell", made, drafted, refused)
	}
}
