package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/schemas"
)

func ignoresIn(format schemas.Type, text string) (list []string) {
	for _, i := range lint.Ignores(schemas.Source{Type: format, Text: text}) {
		var covered []string
		at := 0
		for line := range strings.Lines(text) {
			p := schemas.PositionAt(text, at+len(line)-len(strings.TrimLeft(line, " \t")))
			if i.Covers(schemas.Place{Position: p}) {
				covered = append(covered, fmt.Sprint(p.Line))
			}
			at += len(line)
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%d:%d %s|%s|%s|%s|%s", i.Position.Line, i.Position.Column, i.Rule, i.Until, i.Reason, i.Wrong, strings.Join(covered, ","))))
	}
	return list
}

func TestIgnoresOfProtobuf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"above a field", "message M {\n  // cartorio:ignore protobuf.a until 2027-01-31: it is so\n  int32 a = 1;\n  int32 b = 2;\n}\n", []string{"2:6 protobuf.a|2027-01-31|it is so||3"}},
		{"behind a field", "message M {\n  int32 a = 1; // cartorio:ignore X until 2027-01-31T10:00:00Z: a: b\n  int32 b = 2;\n}\n", []string{"2:19 X|2027-01-31T10:00:00Z|a: b||2"}},
		{"a message and all in it", "/* Told.\n * cartorio:ignore protobuf.* until 2027-01-31: old\n */\nmessage M {\n  string s = 1 [default = \"}\"]; // }\n  int32 b = 2;\n}\nmessage N {}\n", []string{"2:4 protobuf.*|2027-01-31|old||4,5,6,7"}},
		{"behind the first line of a message", "message M { // cartorio:ignore X until 2027-01-31: r\n  int32 a = 1;\n}\nenum E {}\n", []string{"1:16 X|2027-01-31|r||1,2,3"}},
		{"the whole file", "// cartorio:ignore X until 2027-01-31: r\nsyntax = \"proto3\";\nmessage M {}\n", []string{"1:4 X|2027-01-31|r||1,2,3"}},
		{"an option of a message", "message M {\n  // cartorio:ignore X until 2027-01-31: r\n  option deprecated = true;\n  int32 a = 1;\n}\n", []string{"2:6 X|2027-01-31|r||3"}},
		{"comments between", "// cartorio:ignore X until 2027-01-31: r\n// Told of M.\n\n/* and */ message M {\n  int32 a = 1;\n}\n", []string{"1:4 X|2027-01-31|r||5,6"}},
		{"in prose and in a string", "// Write cartorio:ignore X until then.\n// cartorio:ignored is no mark\nmessage M { string s = 1 [default = \"// cartorio:ignore X until 2027-01-31: r\"]; }\n", nil},
		{"not well formed", "// cartorio:ignore\nmessage A {}\n// cartorio:ignore X\nmessage B {}\n// cartorio:ignore X until 2027-01-31\nmessage C {}\n// cartorio:ignore X until 2027-01-31:\nmessage D {}\n", []string{
			"1:4 |||it names no rule|2", "3:4 X|||write: until DAY: REASON|4", "5:4 X|2027-01-31||write: until DAY: REASON|6", "7:4 X|2027-01-31||it gives no reason|8",
		}},
		{"nothing behind it", "message M {\n  int32 a = 1;\n  // cartorio:ignore X until 2027-01-31: r\n}\n// cartorio:ignore Y until 2027-01-31: r", []string{"3:6 X|2027-01-31|r|no element follows it|", "5:4 Y|2027-01-31|r|no element follows it|"}},
		{"a comment and a string that do not end", "// cartorio:ignore X until 2027-01-31: r\nmessage M { string s = 1 [default = \"\\", []string{"1:4 X|2027-01-31|r||2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, ignoresIn(schemas.Protobuf, tt.text)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestIgnoresOfJSON(t *testing.T) {
	t.Parallel()
	const ignore = `"x-cartorio-ignore": {"r.a": "until 2027-01-31: so"}`
	for _, tt := range []struct {
		name   string
		format schemas.Type
		text   string
		want   []string
	}{
		{"a field of a record", schemas.Avro, "{\"type\": \"record\", \"fields\": [\n{\"name\": \"a\", " + ignore + ",\n\"type\": \"int\"},\n{\"name\": \"b\"}]}", []string{"2:37 r.a|2027-01-31|so||2,3"}},
		{"the whole", schemas.Avro, "{" + ignore + ",\n\"x\": 1}", []string{"1:24 r.a|2027-01-31|so||1,2"}},
		{"what is data of Avro", schemas.Avro, "{\"default\": {" + ignore + "}}", nil},
		{"a property", schemas.JSON, "{\"properties\": {\"a\": {" + ignore + ",\n\"type\": \"string\"},\n\"b\": true}}", []string{"1:45 r.a|2027-01-31|so||2"}},
		{"a property of that name", schemas.JSON, `{"properties": {"x-cartorio-ignore": {"type": "string"}}}`, nil},
		{"what is data of JSON Schema", schemas.JSON, "{\"const\": {" + ignore + "}, \"enum\": [{" + ignore + "}]}", nil},
		{"not well formed", schemas.JSON, `{"x-cartorio-ignore": "r.a", "items": {"x-cartorio-ignore": {"r.a": 1, "r.b": "later", "": "until 2027-01-31: r"}}}`, []string{
			`1:2 |||write: {"RULE": "until DAY: REASON"}|1`, "1:62 r.a|||write: until DAY: REASON|", "1:72 r.b|later||write: until DAY: REASON|", "1:88 |2027-01-31|r|it names no rule|",
		}},
		{"no JSON", schemas.JSON, `{"x-cartorio-ignore": `, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, ignoresIn(tt.format, tt.text)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A text full of them gives a bounded list, which says so.
func TestManyIgnores(t *testing.T) {
	t.Parallel()
	for format, text := range map[schemas.Type]string{
		schemas.Protobuf: strings.Repeat("// cartorio:ignore X until 2027-01-31: r\nmessage M {\n", 20_000),
		schemas.JSON:     `{"allOf": [` + strings.Repeat(`{"x-cartorio-ignore": {"r.a": "until 2027-01-31: r"}},`, 20_000) + `{}]}`,
	} {
		list := lint.Ignores(schemas.Source{Type: format, Text: text})
		if n := len(list); n != lint.MostIgnores+1 || !strings.Contains(list[n-1].Wrong, "more than 200") {
			t.Errorf("%s: %d, the last %+v", format, n, list[n-1])
		}
		if format == schemas.Protobuf && !strings.Contains(list[100].Wrong, "around long elements") { // none of them is closed
			t.Errorf("number 100 is %+v", list[100])
		}
	}
}
