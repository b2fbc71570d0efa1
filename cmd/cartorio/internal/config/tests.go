package config

import (
	_ "embed" // the published form of the file
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

//go:embed tests.schema.json
var testsSchema []byte

// TestsSchema is the JSON Schema of a file of tests.
func TestsSchema() []byte { return slices.Clone(testsSchema) }

// HeadVersion is the name that tests have for the schema that they are about.
const HeadVersion = "head"

// Tests is a file of example messages with the verdict that each should get.
type Tests struct {
	// Schema is what the tests are about: a file as seen from the folder of the
	// file of tests, git:REF#path=FILE or registry:SUBJECT[@VERSION].
	Schema   Entry
	Versions []NamedSchema // others, in the order given
	Message  string        // Protobuf's full message name; empty for the first
	// AssertFormat and RefuseUnknown are as the flags of validate.
	AssertFormat, RefuseUnknown bool
	Cases                       []TestCase
}

// NamedSchema is a version of the schema by the name that tests have for it.
type NamedSchema struct {
	Name   string
	Schema Entry
}

// Expectation is what should become of a message.
type Expectation string

// The expectations.
const (
	ExpectValid   Expectation = "valid"   // it is read
	ExpectInvalid Expectation = "invalid" // it is refused
	ExpectAltered Expectation = "altered" // it is read, and something of it is lost or another value
)

// TestCase is one message and what should become of it.
type TestCase struct {
	Name string
	Line int
	// Payload is the message; File names the file that holds it instead, as seen
	// from the folder of the file of tests.
	Payload []byte
	File    string
	// Encoding is json, binary, hex or base64; Framing none or confluent.
	Encoding, Framing string
	Message           string
	// Versions are the versions that judge it; head alone when empty. Written and
	// Read are set instead where it is written with one version and read with
	// another.
	Versions      []string
	Written, Read string
	Expect        Expectation
	Rule, At      string // of the violation that is expected; empty for any
	Value         string // what the reader sees, as JSON; empty for anything
}

// ReadTests reads a file of tests. Nothing is left out: an unknown key is a fault
// with its line.
func ReadTests(text []byte) (Tests, []Fault) {
	r := &Reader{}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return Tests{}, []Fault{{0, strings.TrimPrefix(err.Error(), "yaml: ")}}
	}
	if doc.Kind == 0 {
		return Tests{}, []Fault{{1, "the file is empty"}}
	}
	var t Tests
	version, root := "", doc.Content[0]
	r.mapping("a file of tests", root, map[string]func(*yaml.Node){
		"version":        func(n *yaml.Node) { r.text("version", n, &version) },
		"schema":         func(n *yaml.Node) { t.Schema = r.entry("schema", n) },
		"message":        func(n *yaml.Node) { r.text("message", n, &t.Message) },
		"assert_format":  func(n *yaml.Node) { r.truth("assert_format", n, &t.AssertFormat) },
		"refuse_unknown": func(n *yaml.Node) { r.truth("refuse_unknown", n, &t.RefuseUnknown) },
		"versions": func(n *yaml.Node) {
			r.members("versions", n, func(name string, at, value *yaml.Node) {
				if name == HeadVersion {
					r.complain(at, "versions: %s is the name of schema itself", name)
				}
				t.Versions = append(t.Versions, NamedSchema{name, r.entry("versions: "+name, value)})
			})
		},
		"tests": func(n *yaml.Node) {
			if n.Kind != yaml.SequenceNode {
				r.complain(n, "tests is no list")
				return
			}
			for _, item := range n.Content {
				t.Cases = append(t.Cases, r.testCase(item))
			}
		},
	})
	if len(r.Faults) > 0 {
		return t, r.Faults
	}
	switch {
	case version != "1":
		r.complain(root, "version: %q is not known: write version: 1", version)
	case t.Schema.Text == "":
		r.complain(root, "schema is missing: name the file that the tests are about")
	case len(t.Cases) == 0:
		r.complain(root, "tests is missing: there is nothing to test")
	}
	for _, c := range t.Cases {
		for _, name := range append(slices.Clone(c.Versions), c.Written, c.Read) {
			if name != "" && name != HeadVersion && !slices.ContainsFunc(t.Versions, func(v NamedSchema) bool { return v.Name == name }) {
				r.Faults = append(r.Faults, Fault{c.Line, fmt.Sprintf("%s: there is no version %s: name it under versions", c.Name, name)})
			}
		}
	}
	return t, r.Faults
}

func (r *Reader) entry(key string, n *yaml.Node) Entry {
	e := Entry{Line: n.Line}
	r.text(key, n, &e.Text)
	return e
}

func (r *Reader) testCase(n *yaml.Node) TestCase {
	c := TestCase{Line: n.Line, Framing: "none"}
	var sources []string
	expect := ""
	decoded := func(key string, decode func(string) ([]byte, error)) func(*yaml.Node) {
		return func(n *yaml.Node) {
			var text string
			if !r.text(key, n, &text) {
				return
			}
			b, err := decode(strings.Join(strings.Fields(text), ""))
			if err != nil {
				r.complain(n, "%s: %v", key, err)
			}
			sources, c.Payload, c.Encoding = append(sources, key), b, "binary"
		}
	}
	before := len(r.Faults)
	members := map[string]func(*yaml.Node){
		"name": func(n *yaml.Node) { r.text("name", n, &c.Name) },
		"data": func(n *yaml.Node) {
			sources, c.Encoding, c.Payload = append(sources, "data"), "json", r.json("data", n)
		},
		"text": func(n *yaml.Node) {
			var text string
			r.text("text", n, &text)
			sources, c.Encoding, c.Payload = append(sources, "text"), "json", []byte(text)
		},
		"hex":      decoded("hex", hex.DecodeString),
		"base64":   decoded("base64", base64.StdEncoding.DecodeString),
		"file":     func(n *yaml.Node) { sources = append(sources, "file"); r.file("file", n, &c.File) },
		"encoding": func(n *yaml.Node) { r.choice("encoding", n, &c.Encoding, "json", "binary", "hex", "base64") },
		"framing":  func(n *yaml.Node) { r.choice("framing", n, &c.Framing, "none", "confluent") },
		"message":  func(n *yaml.Node) { r.text("message", n, &c.Message) },
		"versions": func(n *yaml.Node) {
			for _, e := range r.texts("versions", n) {
				c.Versions = append(c.Versions, e.Text)
			}
		},
		"write":  func(n *yaml.Node) { r.text("write", n, &c.Written) },
		"read":   func(n *yaml.Node) { r.text("read", n, &c.Read) },
		"expect": func(n *yaml.Node) { r.choice("expect", n, &expect, "valid", "invalid", "altered") },
		"rule":   func(n *yaml.Node) { r.text("rule", n, &c.Rule) },
		"at":     func(n *yaml.Node) { r.text("at", n, &c.At) },
		"value":  func(n *yaml.Node) { c.Value = string(r.json("value", n)) },
	}
	if n.Kind == yaml.MappingNode { // null is a message like any other
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i].Value; (key == "data" || key == "value") && n.Content[i+1].Tag == "!!null" {
				members[key](n.Content[i+1])
			}
		}
	}
	r.mapping("a test", n, members)
	if len(r.Faults) > before {
		return c
	}
	c.Expect = Expectation(expect)
	if c.Name == "" {
		c.Name = fmt.Sprintf("line %d", n.Line)
	}
	switch {
	case len(sources) != 1:
		r.complain(n, "%s: give exactly one of data, text, file, hex, base64", c.Name)
	case c.Encoding != "" && sources[0] != "file" && (sources[0] == "data" || sources[0] == "text") != (c.Encoding == "json"):
		r.complain(n, "%s: encoding is for file: %s says its own", c.Name, sources[0])
	case expect == "":
		r.complain(n, "%s: expect is missing: valid, invalid or altered", c.Name)
	case (c.Written == "") != (c.Read == ""):
		r.complain(n, "%s: write and read go together", c.Name)
	case c.Written != "" && len(c.Versions) > 0:
		r.complain(n, "%s: versions judge alone, write and read together: take one", c.Name)
	case c.Expect == ExpectAltered && c.Written == "":
		r.complain(n, "%s: only what is written with one version and read with another can be altered: add write and read", c.Name)
	case (c.Rule != "" || c.At != "") && c.Expect == ExpectValid:
		r.complain(n, "%s: rule and at tell why a message is refused or altered, and this one is expected to be valid", c.Name)
	case c.Value != "" && (c.Written == "" || c.Expect == ExpectInvalid):
		r.complain(n, "%s: value is what a reader sees: it needs write and read, and a message that is read", c.Name)
	case c.Framing == "confluent" && c.Written != "":
		r.complain(n, "%s: the prefix is not looked at where one version reads another's message: leave framing out", c.Name)
	}
	return c
}

// json is a value of the file as JSON: numbers as they are spelled, days and
// times as texts.
func (r *Reader) json(key string, n *yaml.Node) []byte {
	v := r.value(key, n, 0)
	if v == nil {
		return nil
	}
	return v.Append(nil, false)
}

func (r *Reader) value(key string, n *yaml.Node, depth int) *jsontext.Value {
	const deepest = 200
	if depth > deepest {
		r.complain(n, "%s is nested too deeply: put it into a file", key)
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		v := &jsontext.Value{Kind: jsontext.Object}
		r.members(key, n, func(name string, _, value *yaml.Node) {
			if one := r.value(key, value, depth+1); one != nil {
				v.Members = append(v.Members, jsontext.Member{Name: name, Value: one})
			}
		})
		return v
	case yaml.SequenceNode:
		v := &jsontext.Value{Kind: jsontext.Array}
		for _, item := range n.Content {
			if one := r.value(key, item, depth+1); one != nil {
				v.Items = append(v.Items, one)
			}
		}
		return v
	case yaml.ScalarNode:
		switch n.Tag {
		case "!!null":
			return &jsontext.Value{Kind: jsontext.Null}
		case "!!bool":
			return &jsontext.Value{Kind: jsontext.Bool, Bool: strings.EqualFold(n.Value, "true")}
		case "!!int", "!!float":
			if v, err := jsontext.Parse(n.Value, jsontext.Options{}); err == nil && v.Kind == jsontext.Number {
				return v
			}
			r.complain(n, "%s: %s is no number of JSON: spell it as JSON does, or put it into quotes", key, n.Value)
			return nil
		}
		return &jsontext.Value{Kind: jsontext.String, Text: n.Value}
	case yaml.AliasNode, yaml.DocumentNode:
	}
	r.complain(n, "%s: aliases are not understood: write the value", key)
	return nil
}
