package protobuf

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cartorio-registry/cartorio/schemas"
)

// parsed is the outline by the parser.
func parsed(path, text string) (out schemas.Outline, err error) {
	u, err := parsedText(path, text)
	if err != nil {
		return out, err
	}
	return outline(path, u.file), nil
}

func parsedText(path, text string) (*unit, error) {
	s, err := scan(text, schemas.DefaultLimits(), false)
	if err != nil {
		return nil, err
	}
	return parseText(path, s)
}

var sketched = []string{
	`syntax = "proto3"; package a.b; import "x.proto"; import public "y.proto"; import "google/protobuf/any.proto";
	option java_package = "c"; option (a.b.c) = -1;
	// A comment with é.
	message M { reserved 1, 3 to 5, 9 to max; reserved "a", 'b'; option deprecated = true; enum E { option allow_alias = true; A = 0; B = -1 [deprecated = true]; reserved 7; }
	  message N { message O {} E e = 1; } repeated .a.b.M list = 2 [packed = false, (x.y) = "s", json_name = 'k']; optional string s = 6; map<string, a.N> map_ = 7;
	  oneof how { bytes x = 8; M y = 10; } }
	enum Top { Z = 0; }
	service S { option deprecated = true; rpc Get(M) returns (stream .a.b.M); rpc Put(stream M.N) returns (M); }`,
	`message M { required int32 message = 1; optional M enum = 2; optional string rpc = 3; }`,
	`syntax = "proto2"; message M { extensions 5 to 9; optional group G = 1 { optional int32 a = 2; } extend M { optional int32 x = 5; } }`,
	`edition = "2023"; message M { string a = 1 [features.field_presence = IMPLICIT]; }`,
	`syntax = "proto3"; /* block */ option (o) = { a: 1 b { c: "d" } }; message M { ; string a = 0x1; string b = 017; double c = 1.5; }`,
	`syntax = "proto3"; package a . b; message M { a . M x = 1; string s = 2 [default = "a" "b"]; }`,
	"/* a\n b */ syntax = \"proto3\"; // c\r\nimport\n\"a/~b.proto\"\n; message\tM /**/ { /* x */ string é = 1; }",
	"syntax = 'proto3';\n/* a\n\n * b\n */\nmessage M { /*/ c */ string a = 1 [\n\tdeprecated = true, /* d\n */ default = 'x'\n\t]; /***/ }\n/* end",
	"syntax = \"proto3\"; message M { string a = 1; // \xff\n }",
	``, `;`, `syntax = "proto4";`, `message`, `message M {`, `package a; package b;`, `message M {} package a;`,
}

// TestSketchIsTheParsers holds what is sketched to the parser, on texts as they
// are and with one token dropped, doubled or put elsewhere.
func TestSketchIsTheParsers(t *testing.T) {
	t.Parallel()
	texts := sketched
	root := os.Getenv("CARTORIO_REAL")
	if root != "" {
		err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
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
	tokens := regexp.MustCompile(`[A-Za-z_0-9]+|"[^"\n]*"|'[^'\n]*'|//[^\n]*|\s+|.`)
	known, refused, files := 0, 0, 0
	check := func(text string) {
		got, ok := outlineOf("p.proto", text)
		want, err := parsed("p.proto", text)
		switch {
		case err != nil && ok:
			t.Errorf("%q is sketched, and the parser says: %v", text, err)
		case ok:
			known++
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q (-parser +sketch):\n%s", text, diff)
			}
		case err != nil:
			refused++
		}
		made, ok := plainFile("p.proto", text)
		if !ok {
			return
		}
		files++
		u, err := parsedText("p.proto", text)
		switch {
		case err != nil:
			t.Errorf("%q becomes a file, and the parser says: %v", text, err)
		case !reflect.DeepEqual(made, u.file):
			t.Errorf("%q (-parser +sketch):\n%s", text, cmp.Diff(u.file, made, cmpopts.IgnoreFields(Message{}, "Parent", "File"), cmpopts.IgnoreFields(Enum{}, "File")))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, text := range texts {
		check(text)
		parts := tokens.FindAllString(text, -1)
		for range min(400, 4*len(parts)) {
			changed := append([]string{}, parts...)
			i, j := r.IntN(len(parts)), r.IntN(len(parts))
			switch r.IntN(4) {
			case 0:
				changed[i] = ""
			case 1:
				changed[i] += " " + changed[i]
			case 2:
				changed[i] = changed[j]
			case 3:
				changed[i], changed[j] = changed[j], changed[i]
			}
			check(strings.Join(changed, ""))
		}
	}
	if known < 100 || refused < 100 {
		t.Errorf("%d texts were sketched and %d refused by the parser: too few to tell", known, refused)
	}
	t.Logf("%d sketched, %d refused by the parser", known, refused)
	if _, ok := outlineOf("p.proto", sketched[0]); !ok {
		t.Error("the first text is not sketched")
	}
	if files < 100 {
		t.Errorf("%d files were made without the parser: too few to tell", files)
	}
}
