package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
)

func TestReadTests(t *testing.T) {
	t.Parallel()
	got, faults := config.ReadTests([]byte(`
version: 1
schema: a.avsc
versions: {v1: b.avsc}
tests:
  - {name: one, data: {id: 1.50, day: 2024-05-01, "n": null, list: [true, "1"]}, expect: valid, versions: v1}
  - {hex: "00 ff", expect: invalid, rule: r, at: /a}
  - {data: null, write: v1, read: head, expect: altered, value: 0}
`))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	want := `{Name:one Line:6 Payload:{"id":1.50,"day":"2024-05-01","n":null,"list":[true,"1"]} Encoding:json Versions:[v1] Expect:valid}
{Name:line 7 Line:7 Payload:` + "\x00\xff" + ` Encoding:binary Versions:[] Expect:invalid Rule:r At:/a}
{Name:line 8 Line:8 Payload:null Encoding:json Versions:[] Expect:altered Written:v1 Read:head Value:0}
`
	var b strings.Builder
	for _, c := range got.Cases {
		fmt.Fprintf(&b, "{Name:%s Line:%d Payload:%s Encoding:%s Versions:%v Expect:%s", c.Name, c.Line, c.Payload, c.Encoding, c.Versions, c.Expect)
		for _, one := range [][2]string{{"Rule", c.Rule}, {"At", c.At}, {"Written", c.Written}, {"Read", c.Read}, {"Value", c.Value}} {
			if one[1] != "" {
				fmt.Fprintf(&b, " %s:%s", one[0], one[1])
			}
		}
		b.WriteString("}\n")
	}
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestReadTestsRefuses(t *testing.T) {
	t.Parallel()
	test := func(members string) string {
		return "version: 1\nschema: a\nversions: {v1: b}\ntests:\n  - {name: x, " + members + "}\n"
	}
	for in, want := range map[string]string{
		"":     "1: the file is empty",
		"a: [": "0: ",
		"version: 2\nschema: a\ntests: [{data: 1, expect: valid}]":                      `1: version: "2" is not known`,
		"version: 1\ntests: [{data: 1, expect: valid}]":                                 "1: schema is missing",
		"version: 1\nschema: a":                                                         "1: tests is missing",
		"version: 1\nschema: a\nversions: {head: b}\ntests: [{data: 1, expect: valid}]": "3: versions: head is the name of schema itself",
		test("data: 1"):                                                     "expect is missing",
		test("expect: valid"):                                               "give exactly one of",
		test("data: 1, hex: '00', expect: valid"):                           "give exactly one of",
		test("hex: '0', expect: valid"):                                     "5: hex: ",
		test("data: 0x10, expect: valid"):                                   "0x10 is no number of JSON",
		test("data: .inf, expect: valid"):                                   ".inf is no number of JSON",
		test("data: 1, encoding: binary, expect: valid"):                    "encoding is for file",
		test("data: 1, write: v1, expect: valid"):                           "write and read go together",
		test("data: 1, write: v1, read: head, versions: v1, expect: valid"): "take one",
		test("data: 1, expect: altered"):                                    "add write and read",
		test("data: 1, rule: r, expect: valid"):                             "expected to be valid",
		test("data: 1, value: 1, expect: valid"):                            "value is what a reader sees",
		test("data: 1, versions: v9, expect: valid"):                        "there is no version v9",
		test("data: 1, expect: maybe"):                                      `"maybe" is none of`,
		test("data: 1, expect: valid, teapot: 1"):                           "teapot is not known",
	} {
		_, faults := config.ReadTests([]byte(in))
		var lines []string
		for _, f := range faults {
			lines = append(lines, fmt.Sprintf("%d: %s", f.Line, f.Text))
		}
		if !strings.Contains(strings.Join(lines, "\n"), want) {
			t.Errorf("%s\ngot %q, want %q", in, lines, want)
		}
	}
}
