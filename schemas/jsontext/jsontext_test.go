package jsontext_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

func TestParseKeeps(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, compact, sorted string }{
		{"order and digits", `{ "b" : 1.50, "a":[ 1e3 , -0 ] }`, `{"b":1.50,"a":[1e3,-0]}`, `{"a":[1e3,-0],"b":1.50}`},
		{"last duplicate, first place", `{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`, `{"a":3,"b":2}`},
		{"no needless escape", `"\u003c\/\u00e9\ud83d\ude00<&>\u2028"`, "\"</é😀<&>\u2028\"", ""},
		{"needed escapes", `"\"\\\b\f\n\r\t\u0007\u001f"`, `"\"\\\b\f\n\r\t\u0007\u001F"`, ""},
		{"words", `[true,false,null,"",{}, []]`, `[true,false,null,"",{},[]]`, ""},
		{"lone surrogate", `"\ud800x"`, "\"\uFFFDx\"", ""},
	} {
		v, err := jsontext.Parse(tt.text, jsontext.Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := v.String(); got != tt.compact {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.compact)
		}
		if got := string(v.Append(nil, true)); tt.sorted != "" && got != tt.sorted {
			t.Errorf("%s: sorted %s, want %s", tt.name, got, tt.sorted)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, at, says string }{
		{"", "1:1", "ends"},
		{" {", "1:2", "not closed"},
		{"{\n\"a\" 1}", "2:5", "colon"},
		{`{"a":1,}`, "1:8", "name"},
		{`[1,]`, "1:4", "value"},
		{`[1 2]`, "1:4", "comma"},
		{`01`, "1:1", "number"},
		{`1.`, "1:1", "number"},
		{`-`, "1:1", "number"},
		{`+1`, "1:1", "value"},
		{`.5`, "1:1", "value"},
		{`1e`, "1:1", "number"},
		{`nul`, "1:1", "value"},
		{`nullx`, "1:1", "value"},
		{"\uFEFF{}", "1:1", "byte order mark"},
		{`NaN`, "1:1", "value"},
		{`"a`, "1:1", "not closed"},
		{"\"a\nb\"", "1:3", "control"},
		{`"\x"`, "1:2", "escape"},
		{`"\u12"`, "1:2", "hex"},
		{`1 2`, "1:3", "after the end"},
		{`{} // c`, "1:4", "after the end"},
		{"\ufeff{}", "1:1", "value"},
	} {
		_, err := jsontext.Parse(tt.text, jsontext.Options{})
		var list schemas.SyntaxErrors
		if !errors.As(err, &list) {
			t.Errorf("%q: %v, want a syntax error", tt.text, err)
			continue
		}
		if got := list[0].Position.String(); got != tt.at || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: %v, want %q at %s", tt.text, err, tt.says, tt.at)
		}
	}
}

func TestStrictRefusesWhatReadersDisagreeOn(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a":1,"a":1}`, "\"\xff\"", `"\ud800"`, `"\udc00\ud800"`, "{\"\xc0\x80\":1}"} {
		if _, err := jsontext.Parse(text, jsontext.Options{Strict: true}); err == nil {
			t.Errorf("%q is accepted", text)
		}
		if _, err := jsontext.Parse(text, jsontext.Options{}); err != nil {
			t.Errorf("%q as a schema: %v", text, err)
		}
	}
}

func TestComments(t *testing.T) {
	t.Parallel()
	v, err := jsontext.Parse("/* a */ [1, // b\n 2 /**/] // c", jsontext.Options{Comments: true})
	if err != nil || v.String() != "[1,2]" {
		t.Errorf("got %v, %v", v, err)
	}
	if _, err := jsontext.Parse("[1 /* x", jsontext.Options{Comments: true}); err == nil {
		t.Error("an open comment is accepted")
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	o := jsontext.SchemaOptions(schemas.Limits{})
	for _, tt := range []struct {
		name, text string
		want       schemas.Limit
	}{
		{"depth", strings.Repeat("[", 200), schemas.LimitDepth},
		{"digits", strings.Repeat("1", 1001), schemas.LimitDigits},
		{"digits behind the point", "0." + strings.Repeat("1", 1000), schemas.LimitDigits},
		{"exponent", "1e401", schemas.LimitExponent},
		{"negative exponent", "1e-99999999999999999999999999", schemas.LimitExponent},
		{"text", strings.Repeat(" ", 1<<20) + "1", schemas.LimitText},
	} {
		_, err := jsontext.Parse(tt.text, o)
		var over *schemas.LimitError
		if !errors.As(err, &over) || over.Limit != tt.want || over.Found <= over.Most {
			t.Errorf("%s: %v, want the limit %q", tt.name, err, tt.want)
		}
	}
	for _, text := range []string{strings.Repeat("[", 128) + strings.Repeat("]", 128), strings.Repeat("1", 1000), "1e400"} {
		if _, err := jsontext.Parse(text, o); err != nil {
			t.Errorf("at the limit: %v", err)
		}
	}
	// Without limits of its own the parser still has a floor under its stack.
	if _, err := jsontext.Parse(strings.Repeat("[", 5_000_000), jsontext.Options{}); err == nil {
		t.Error("five million brackets are accepted")
	}
}

func TestPositionsOf(t *testing.T) {
	t.Parallel()
	text := "{\n  \"a/b\": [1,\n   2]}"
	v, err := jsontext.Parse(text, jsontext.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := jsontext.PositionsOf(text, v)["/a~1b/1"]
	if got.Position.String() != "3:4" || got.End.String() != "3:5" {
		t.Errorf("%+v", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"x\u00e9",null,true]}`, `[[[[`, `{"a":1,"a":2}`, "\"\xff\"", `1e999`, `"\ud83d\ude00"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := jsontext.Parse(text, jsontext.Options{Strict: true})
		if err != nil {
			return
		}
		if !json.Valid([]byte(text)) {
			t.Fatalf("accepted what encoding/json refuses: %q", text)
		}
		again, err := jsontext.Parse(v.String(), jsontext.Options{Strict: true})
		if err != nil || again.String() != v.String() {
			t.Fatalf("%q does not survive printing: %v", text, err)
		}
		sorted := string(v.Append(nil, true))
		if s, err := jsontext.Parse(sorted, jsontext.Options{Strict: true}); err != nil || string(s.Append(nil, true)) != sorted {
			t.Fatalf("%q does not survive sorting: %v", text, err)
		}
	})
}
