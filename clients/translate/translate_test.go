package translate_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/cartorio-registry/cartorio/clients/translate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// mapping wraps steps into a file.
func mapping(steps string) string {
	return "version: 1\ntranslations:\n  - subject: orders-value\n    from: 1\n    to: 2\n    steps:\n      - " +
		strings.ReplaceAll(strings.TrimSpace(steps), "\n", "\n        ") + "\n"
}

func TestApply(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, steps, document, want, says string
	}{
		{name: "rename keeps the place", steps: `{rename: {path: /a, to: c}}`, document: `{"a":1,"b":2}`, want: `{"c":1,"b":2}`},
		{name: "rename of nothing", steps: `{rename: {path: /x, to: c}}`, document: `{"a":1}`, want: `{"a":1}`},
		{name: "rename onto another", steps: `{rename: {path: /a, to: b}}`, document: `{"a":1,"b":2}`, says: `rename /a to b: at "": there is a member "b" already`},
		{name: "rename in every item", steps: `{rename: {path: /lines/*/sku, to: code}}`, document: `{"lines":[{"sku":1},{"n":0},{"sku":2}]}`, want: `{"lines":[{"code":1},{"n":0},{"code":2}]}`},
		{name: "rename in every value", steps: `{rename: {path: /m/*/a, to: b}}`, document: `{"m":{"x":{"a":1},"y":{}}}`, want: `{"m":{"x":{"b":1},"y":{}}}`},
		{name: "a name with a slash", steps: `{drop: /a~1b}`, document: `{"a/b":1,"c":2}`, want: `{"c":2}`},
		{name: "default", steps: `{default: {path: /currency, value: EUR}}`, document: `{"a":1}`, want: `{"a":1,"currency":"EUR"}`},
		{name: "default of what is there", steps: `{default: {path: /a, value: 2}}`, document: `{"a":1}`, want: `{"a":1}`},
		{name: "default keeps a null", steps: `{default: {path: /a, value: 2}}`, document: `{"a":null}`, want: `{"a":null}`},
		{name: "default for a null", steps: `{default: {path: /a, value: 2, nulls: true}}`, document: `{"a":null}`, want: `{"a":2}`},
		{name: "default of a whole value", steps: `{default: {path: /a, value: {x: [1, 2.50, yes, null, "no"]}}}`, document: `{}`, want: `{"a":{"x":[1,2.50,"yes",null,"no"]}}`},
		{name: "default under nothing", steps: `{default: {path: /a/b, value: 1}}`, document: `{}`, want: `{}`},
		{name: "drop", steps: `{drop: /a}`, document: `{"a":1,"b":2}`, want: `{"b":2}`},
		{name: "drop of nothing", steps: `{drop: /x}`, document: `{"b":2}`, want: `{"b":2}`},
		{name: "through a null", steps: `{drop: /a/b}`, document: `{"a":null}`, want: `{"a":null}`},
		{name: "through a number", steps: `{drop: /a/b}`, document: `{"a":1}`, says: `drop /a/b: at "/a": a number has no member "b"`},
		{name: "every item of no list", steps: `{cast: {path: "/a/*", to: string}}`, document: `{"a":1}`, says: `there is a number`},
		{name: "number to text, digit for digit", steps: `{cast: {path: /a, to: string}}`, document: `{"a":1.50}`, want: `{"a":"1.50"}`},
		{name: "boolean to text", steps: `{cast: {path: /a, to: string}}`, document: `{"a":true}`, want: `{"a":"true"}`},
		{name: "text to integer", steps: `{cast: {path: /a, to: integer}}`, document: `{"a":"12345678901234567890"}`, want: `{"a":12345678901234567890}`},
		{name: "a whole number with a point", steps: `{cast: {path: /a, to: integer}}`, document: `{"a":7.00}`, want: `{"a":7}`},
		{name: "a fraction to integer", steps: `{cast: {path: /a, to: integer}}`, document: `{"a":7.5}`, says: `at "/a": 7.5 is no integer exactly`},
		{name: "a text that is no number", steps: `{cast: {path: /a, to: number}}`, document: `{"a":"007"}`, says: `"007" is no number exactly`},
		{name: "a text with a space", steps: `{cast: {path: /a, to: number}}`, document: `{"a":"7 "}`, says: `is no number`},
		{name: "a number too large to be meant", steps: `{cast: {path: /a, to: number}}`, document: `{"a":"1e999999999"}`, says: `is no number`},
		{name: "text to boolean", steps: `{cast: {path: /a, to: boolean}}`, document: `{"a":"false"}`, want: `{"a":false}`},
		{name: "a number to boolean", steps: `{cast: {path: /a, to: boolean}}`, document: `{"a":1}`, says: `1 is no boolean exactly`},
		{name: "null stays null", steps: `{cast: {path: /a, to: string}}`, document: `{"a":null}`, want: `{"a":null}`},
		{name: "an object to text", steps: `{cast: {path: /a, to: string}}`, document: `{"a":{}}`, says: `is no string exactly`},
		{name: "every item", steps: `{cast: {path: "/a/*", to: string}}`, document: `{"a":[1,null,"x"]}`, want: `{"a":["1",null,"x"]}`},
		{name: "one after the other", steps: "rename: {path: /a, to: b}\n- cast: {path: /b, to: string}", document: `{"a":1}`, want: `{"b":"1"}`},
		{name: "no JSON", steps: `{drop: /a}`, document: `{`, says: "read the document"},
		{name: "a member twice", steps: `{drop: /a}`, document: `{"a":1,"a":2}`, says: "read the document"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			steps := strings.ReplaceAll(mapping(tt.steps), "\n        - ", "\n      - ")
			m, err := translate.Parse([]byte(steps))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // a default must not be changed by a document
				got, err := m.Translations[0].Apply([]byte(tt.document))
				if tt.says != "" {
					if err == nil || !strings.Contains(err.Error(), tt.says) {
						t.Errorf("%s, %v", got, err)
					}
					return
				}
				if err != nil || string(got) != tt.want {
					t.Errorf("%s, %v, want %s", got, err, tt.want)
				}
			}
		})
	}
}

// TestParse tells mistakes with their places, and agrees with the published form.
func TestParse(t *testing.T) {
	t.Parallel()
	parsed, err := jsonschema.Format.Parse(context.Background(), schemas.Source{Type: schemas.JSON, Text: string(translate.MappingSchema())}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text, says string // "line:column summary"
		beyond           bool   // what the published form cannot say
	}{
		{name: "all steps", text: mapping("{default: {path: /a, value: 1, nulls: true}}\n- rename: {path: /b, to: c}\n- drop: /d/*/e\n- cast: {path: /f, to: boolean}")},
		{name: "JSON", text: `{"version": 1, "translations": [{"subject": "s", "from": 2, "to": 1, "steps": [{"cast": {"path": "/a/*", "to": "string"}}]}]}`},
		{name: "nothing", text: "", says: "the file is empty", beyond: true},
		{name: "no YAML", text: "a: [", says: "neither YAML nor JSON", beyond: true},
		{name: "a list", text: "- 1\n", says: "line 1, column 1: a mapping file is a mapping"},
		{name: "no version", text: "translations: []\n", says: "line 1, column 1: a mapping file needs the member version"},
		{name: "another version", text: strings.Replace(mapping(`{drop: /a}`), "version: 1", "version: 2", 1), says: `line 1, column 10: the version "2"`},
		{name: "no translation", text: "version: 1\ntranslations: []\n", says: "line 2, column 15: translations is a list"},
		{name: "an unknown member", text: "version: 1\nextra: 1\ntranslations: []\n", says: `line 2, column 1: a mapping file has no member "extra"`},
		{name: "a member twice", text: "version: 1\nversion: 1\ntranslations: []\n", says: `line 2, column 1: the member "version" stands twice`, beyond: true},
		{name: "no subject", text: strings.Replace(mapping(`{drop: /a}`), "subject: orders-value\n    ", "", 1), says: "line 3, column 5: a translation needs the member subject"},
		{name: "a version that is a text", text: strings.Replace(mapping(`{drop: /a}`), "from: 1", `from: "1"`, 1), says: "line 4, column 11: from is a version number"},
		{name: "octal", text: strings.Replace(mapping(`{drop: /a}`), "from: 1", "from: 01", 1), says: "line 4, column 11: from is a version number", beyond: true},
		{name: "over a version", text: strings.Replace(mapping(`{drop: /a}`), "to: 2", "to: 3", 1), says: "line 5, column 9: a translation leads to the version next", beyond: true},
		{name: "two of a pair", text: mapping(`{drop: /a}`) + "  - {subject: orders-value, from: 1, to: 2, steps: [{drop: /b}]}\n", says: "line 8, column 5: there are two translations of orders-value from 1 to 2", beyond: true},
		{name: "jsonata", text: mapping(`{jsonata: "$"}`), says: "line 7, column 10: jsonata is not executed"},
		{name: "an unknown step", text: mapping(`{move: /a}`), says: `line 7, column 10: there is no step "move"`},
		{name: "two in one step", text: mapping(`{drop: /a, rename: {path: /b, to: c}}`), says: "line 7, column 9: a step is a mapping of one member"},
		{name: "no pointer", text: mapping(`{drop: a}`), says: `line 7, column 16: "a" is no path`},
		{name: "the whole document", text: mapping(`{drop: /}`), says: `line 7, column 16: "/" is no path`},
		{name: "a lonely tilde", text: mapping(`{drop: /a~2}`), says: `line 7, column 16: "/a~2" is no path`},
		{name: "a drop of everything", text: mapping(`{drop: "/a/*"}`), says: "line 7, column 16: drop needs the name of a member"},
		{name: "a rename without a name", text: mapping(`{rename: {path: /a}}`), says: "line 7, column 18: rename needs the member to"},
		{name: "an unknown kind", text: mapping(`{cast: {path: /a, to: date}}`), says: `line 7, column 31: there is no cast to "date"`},
		{name: "a default without a value", text: mapping(`{default: {path: /a}}`), says: "line 7, column 19: default needs the member value"},
		{name: "a value that JSON has not", text: mapping(`{default: {path: /a, value: .inf}}`), says: "line 7, column 37: .inf is no value of JSON", beyond: true},
		{name: "hexadecimal", text: mapping(`{default: {path: /a, value: 0x10}}`), says: "0x10 is no value of JSON", beyond: true},
		{name: "an alias", text: mapping("{default: {path: /a, value: &x 1}}\n- default: {path: /b, value: *x}"), says: "anchors and aliases are not read", beyond: true},
		{name: "too long", text: strings.Repeat("#", 2<<20), says: "1048576 are allowed", beyond: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := strings.ReplaceAll(tt.text, "\n        - ", "\n      - ")
			_, err := translate.Parse([]byte(text))
			var syntax schemas.SyntaxErrors
			if (tt.says == "") != (err == nil) || err != nil && (!errors.As(err, &syntax) || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("it says %v, want %q", err, tt.says)
			}
			if tt.beyond {
				return
			}
			var v any
			if err := yaml.Unmarshal([]byte(text), &v); err != nil {
				t.Fatal(err)
			}
			asJSON, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if r := parsed.Reads(parsed, schemas.Payload{Bytes: asJSON}, schemas.ReadOptions{}); r.OK() != (tt.says == "") {
				t.Errorf("the published form says %v", r.Violations)
			}
		})
	}
}

func TestSeveralMistakes(t *testing.T) {
	t.Parallel()
	_, err := translate.Parse([]byte("version: 1\ntranslations:\n- {subject: s, from: 1, to: 2, steps: [{drop: a}, {drop: b}, {x: 1}]}\n"))
	var syntax schemas.SyntaxErrors
	if !errors.As(err, &syntax) || len(syntax) != 3 {
		t.Errorf("%v", err)
	}
	for _, one := range syntax {
		if one.Position.Line != 3 || one.Position.Column == 0 {
			t.Errorf("%v has no place", one)
		}
	}
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	if err := translate.Unsupported(nil); err != nil {
		t.Error(err)
	}
	set := &schemas.RuleSet{Migration: []schemas.ContractRule{{Name: "off", Disabled: true}, {Name: "up", Mode: "UPGRADE", Type: "JSONATA"}}}
	if err := translate.Unsupported(set); err == nil || !strings.Contains(err.Error(), `"up" (UPGRADE, JSONATA)`) || strings.Contains(err.Error(), "off") {
		t.Error(err)
	}
}

// FuzzApply never panics, and what comes out is a document again.
func FuzzApply(f *testing.F) {
	f.Add(mapping(`{rename: {path: /a, to: b}}`), `{"a":1}`)
	f.Add(mapping(`{cast: {path: "/*/a", to: string}}`), `[{"a":1}]`)
	f.Add(mapping(`{default: {path: /a, value: {x: 1}}}`), `{}`)
	f.Add("version: 1\ntranslations: [{subject: s, from: 1, to: 2, steps: [{drop: /a}]}]", `{"a":{"b":[]}}`)
	f.Add("a: &a [*a]", `{}`)
	f.Fuzz(func(t *testing.T, file, document string) {
		m, err := translate.Parse([]byte(file))
		if err != nil {
			return
		}
		for _, s := range m.Steps() {
			if out, err := s.Apply([]byte(document)); err == nil && !json.Valid(out) {
				t.Errorf("%s became %s", document, out)
			}
		}
	})
}
