package jsontext_test

import (
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

func TestLayout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"scalar", ` 1.50e1 `, "1.50e1\n"},
		{"empty", `{"a":{},"b":[ ]}`, "{\n  \"a\": {},\n  \"b\": []\n}\n"},
		{"spelling stays", `{"a":"\u00e9/\/","b":1.0}`, "{\n  \"a\": \"\\u00e9/\\/\",\n  \"b\": 1.0\n}\n"},
		{"names stay", `{"a\u0062":1}`, "{\n  \"a\\u0062\": 1\n}\n"},
		{"plain arrays", `["a",1,null,{},[]]`, "[\"a\", 1, null, {}, []]\n"},
		{"long arrays", `["` + strings.Repeat("x", 60) + `","` + strings.Repeat("y", 60) + `"]`, "[\n  \"" + strings.Repeat("x", 60) + "\",\n  \"" + strings.Repeat("y", 60) + "\"\n]\n"},
		{"nested", `[{"a":[1,2]},[3,[4]]]`, "[\n  {\n    \"a\": [1, 2]\n  },\n  [\n    3,\n    [4]\n  ]\n]\n"},
		{"no comment in a text", `["http://a","/* b */"]`, "[\"http://a\", \"/* b */\"]\n"},
		{
			"comments", "// top\n{ // open\n\"a\": /* in */ 1, // of a\n// of b\n\"b\":[ // list\n2 /* two */,\n3\n// last\n]\n/* end */ }// after\n// below",
			"// top\n{ // open\n  \"a\": /* in */ 1, // of a\n  // of b\n  \"b\": [ // list\n    2, /* two */\n    3\n    // last\n  ]\n  /* end */\n} // after\n// below\n",
		},
		{"comment alone", "{/* why */}", "{\n  /* why */\n}\n"},
		{"line comment in a list", "[1 // one\n,2]", "[\n  1, // one\n  2\n]\n"},
		{"line comment before a value", "{\"a\": // why\n1}", "{\n  \"a\": // why\n  1\n}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := jsontext.Layout(tt.in, jsontext.Options{Comments: true})
			if err != nil || got != tt.want {
				t.Fatalf("got (%v)\n%s\nwant\n%s", err, got, tt.want)
			}
			if again, err := jsontext.Layout(got, jsontext.Options{Comments: true}); err != nil || again != got {
				t.Errorf("again (%v)\n%s", err, again)
			}
		})
	}
}

func TestLayoutRefuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":1,"b":{"c":1,"c":2}}`: `line 1, column 19: the member "c" stands here a second time: readers disagree on which one counts; keep one`,
		`{"a":1`:                    "object is not closed",
		`{"a":1} // x`:              "text after the end",
	} {
		if got, err := jsontext.Layout(in, jsontext.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %q, %v", in, got, err)
		}
	}
}

func FuzzLayout(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":null}]}`, "// a\n[1,/* b */2// c\n]", "{/**/\"a\"//\n:1}", "[//\n]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o := jsontext.Options{Comments: true, Depth: 100}
		before, err := jsontext.Parse(text, o)
		if err != nil {
			return
		}
		got, err := jsontext.Layout(text, o)
		if err != nil {
			return // a member given twice
		}
		after, err := jsontext.Parse(got, o)
		if err != nil || after.String() != before.String() {
			t.Fatalf("%q became %q: %v", text, got, err)
		}
		if again, err := jsontext.Layout(got, o); err != nil || again != got {
			t.Fatalf("%q, and again %q: %v", got, again, err)
		}
	})
}
