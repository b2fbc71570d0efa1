package protobuf_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

func TestLayout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "\n\n", ""},
		{"one line", `syntax="proto3";package a.b;message A{int32 x=1;string y=2;}`, "syntax = \"proto3\";\npackage a.b;\nmessage A {\n  int32 x = 1;\n  string y = 2;\n}\n"},
		{"empty lines", "syntax = \"proto3\";\n\n\n\nmessage A {\n\n  int32 x = 1;\n\n\n  int32 y = 2;\n\n}\n\nmessage B {}", "syntax = \"proto3\";\n\nmessage A {\n  int32 x = 1;\n\n  int32 y = 2;\n}\n\nmessage B {}\n"},
		{"comments", "// top\n\nsyntax = \"proto3\"; // syntax\n/* of A */ message A { // open\n// of x\nint32 x = 1; /* x */ int32 y = 2;\n// last\n}\n// end", "// top\n\nsyntax = \"proto3\"; // syntax\n/* of A */ message A { // open\n  // of x\n  int32 x = 1; /* x */\n  int32 y = 2;\n  // last\n}\n// end\n"},
		{"stars", "message A {\n/**\n* why\n   * so\n*/\nint32 x = 1;\n}", "message A {\n  /**\n   * why\n   * so\n   */\n  int32 x = 1;\n}\n"},
		{"inside a statement", "message A {\nint32 x // why\n= /* one */ 1;\n}", "message A {\n  int32 x // why\n    = /* one */ 1;\n}\n"},
		{"maps and ranges", "message A{map < string ,.a.B>m=1;reserved 2,4 to max;reserved\"x\",\"y\";extensions 100 to 200;}", "message A {\n  map<string, .a.B> m = 1;\n  reserved 2, 4 to max;\n  reserved \"x\", \"y\";\n  extensions 100 to 200;\n}\n"},
		{"names with dots", "message A{optional .a.B x=1;a.B y=2;extend .a.C{}}", "message A {\n  optional .a.B x = 1;\n  a.B y = 2;\n  extend .a.C {}\n}\n"},
		{"options", "message A{option (x).y=\"a\";int32 x=1[deprecated=true,(z).(w)=-1];}", "message A {\n  option (x).y = \"a\";\n  int32 x = 1 [deprecated = true, (z).(w) = -1];\n}\n"},
		{"options on lines", "message A{int32 x=1[\ndeprecated=true,(z)={a:1}];}", "message A {\n  int32 x = 1 [\n    deprecated = true,\n    (z) = { a: 1 }\n  ];\n}\n"},
		{"literals", "option (a)={b:1 c{d:[1,2]}};option (e)={\nf:\"x\"\n\"y\"\n[g.h]:-1, i<j:2>\n};", "option (a) = { b: 1 c { d: [1, 2] } };\noption (e) = {\n  f: \"x\"\n  \"y\"\n  [g.h]: -1, i < j: 2 >\n};\n"},
		{"texts on lines", "option a=\"x\"\n\"y\";", "option a = \"x\"\n  \"y\";\n"},
		{"services", "service S{rpc Get (Req)returns(stream .a.Res);rpc Put(Req) returns (Res){option x=1;};}", "service S {\n  rpc Get(Req) returns (stream .a.Res);\n  rpc Put(Req) returns (Res) {\n    option x = 1;\n  };\n}\n"},
		{"groups and oneofs", "message A{optional group G=1{optional int32 a=2;}oneof o{int32 b=3;}}", "message A {\n  optional group G = 1 {\n    optional int32 a = 2;\n  }\n  oneof o {\n    int32 b = 3;\n  }\n}\n"},
		{"comment in brackets", "message A{int32 x=1[ // why\ndeprecated=true // so\n];}", "message A {\n  int32 x = 1 [ // why\n    deprecated = true // so\n  ];\n}\n"},
		{"comment alone", "message A { // why\n}", "message A { // why\n}\n"},
		{"numbers", "message A{optional double d=1[default=-1.5e-3];optional float f=2[default=.5];optional int32 h=3[default=0xFE];}", "message A {\n  optional double d = 1 [default = -1.5e-3];\n  optional float f = 2 [default = .5];\n  optional int32 h = 3 [default = 0xFE];\n}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := protobuf.Layout(tt.in)
			if err != nil || got != tt.want {
				t.Fatalf("got (%v)\n%s\nwant\n%s", err, got, tt.want)
			}
			if again, err := protobuf.Layout(got); err != nil || again != got {
				t.Errorf("again (%v)\n%s", err, again)
			}
		})
	}
}

func TestLayoutRefuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"message A {":  "{ is not closed",
		"message A }":  "} closes nothing",
		"x = \"a\nb\"": "string is not closed",
		"/* a":         "comment is not closed",
	} {
		if got, err := protobuf.Layout(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
}

// words are the tokens of a text without its comments and white space.
func squeezed(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n\f\v", r) {
			return -1
		}
		return r
	}, text)
}

// checkLayout holds a layout to what it promises.
func checkLayout(t *testing.T, text string) {
	t.Helper()
	parse := func(text string) (schemas.Schema, error) {
		return protobuf.Parse(context.Background(), schemas.Source{Type: schemas.Protobuf, Text: text}, nil, schemas.ParseOptions{})
	}
	got, err := protobuf.Layout(text)
	if err != nil {
		return
	}
	if squeezed(got) != squeezed(strings.TrimPrefix(text, "\ufeff")) {
		t.Fatalf("more than white space changed:\n%s\nbecame\n%s", text, got)
	}
	if again, err := protobuf.Layout(got); err != nil || again != got {
		t.Fatalf("%q became %q, and that (%v) %q", text, got, err, again)
	}
	before, err := parse(text)
	if err != nil {
		return
	}
	after, err := parse(got)
	if err != nil {
		t.Fatalf("%q became %q: %v", text, got, err)
	}
	if before.Fingerprint() != after.Fingerprint() {
		t.Fatalf("another fingerprint: %q became %q", text, got)
	}
}

func TestLayoutOfExamples(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, pattern := range []string{"../../compat/protobuf/rules/*.txtar", "../../lint/protobuf/rules/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range strings.Split(string(raw), "\n-- ")[1:] {
				_, text, _ := strings.Cut(part, " --\n")
				if strings.Contains(text, "message") {
					checkLayout(t, text)
					seen++
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d texts were looked at", seen)
	}
}

func FuzzLayout(f *testing.F) {
	for _, s := range []string{
		"syntax = \"proto3\"; message A { int32 x = 1 [deprecated = true]; map<int32, string> m = 2; }",
		"option (a) = { b: 1 c < d: [1, 2] > };", "message A { // x\n/* y */ optional group G = 1 {} }", "service S { rpc A(B) returns (stream C) {} }",
	} {
		f.Add(s)
	}
	f.Fuzz(checkLayout)
}
