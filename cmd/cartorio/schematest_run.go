package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitfs"
	"github.com/cartorio-registry/cartorio/schemas"
)

// testFile runs one file of tests.
func (a *app) testFile(ctx context.Context, name string, c schemaTesting) testedFile {
	out := testedFile{File: name, Tests: []testedCase{}}
	tests, err := a.readTests(name)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.Schema = tests.Schema.Text
	r := testRun{app: a, dir: filepath.Dir(name), tests: tests, versions: map[string]*known{}}
	r.how = validating{root: c.root, registry: c.registry, assertFormat: tests.AssertFormat, refuseUnknown: tests.RefuseUnknown}
	for _, v := range append([]config.NamedSchema{{Name: config.HeadVersion, Schema: tests.Schema}}, tests.Versions...) {
		schema, err := a.subjectSchema(ctx, r.place(v.Schema.Text), r.how)
		if err != nil {
			out.Error = fmt.Sprintf("line %d: %s: %v", v.Schema.Line, v.Name, err)
			return out
		}
		r.versions[v.Name] = schema
	}
	for _, t := range tests.Cases {
		if t.Written != "" {
			out.Tests = append(out.Tests, r.between(t))
			continue
		}
		versions := t.Versions
		if len(versions) == 0 {
			versions = []string{config.HeadVersion}
		}
		for _, v := range versions {
			out.Tests = append(out.Tests, r.alone(t, v))
		}
	}
	return out
}

type testRun struct {
	app      *app
	dir      string // of the file of tests
	tests    config.Tests
	how      validating
	versions map[string]*known
}

// place is what the file of tests names, as seen from here.
func (r testRun) place(text string) string {
	if strings.HasPrefix(text, registryPrefix) || gitfs.Is(text) || filepath.IsAbs(text) {
		return text
	}
	return filepath.Join(r.dir, filepath.FromSlash(text))
}

// message is the bytes of a message, its name for people, and how it is read.
func (r testRun) message(t config.TestCase) (raw []byte, name string, how validating, err error) {
	how = r.how
	how.encoding, how.framing, how.message = t.Encoding, t.Framing, orWord(t.Message, r.tests.Message)
	if t.File == "" {
		return t.Payload, t.Name, how, nil
	}
	name = r.place(t.File)
	raw, err = r.app.payload(name)
	return raw, name, how, err
}

// alone judges a message by one version.
func (r testRun) alone(t config.TestCase, version string) testedCase {
	out := testedCase{Name: t.Name, Line: t.Line, Version: version, Expect: t.Expect}
	raw, name, how, err := r.message(t)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	s := r.versions[version]
	if err := s.knows(how.message); err != nil {
		out.Error = err.Error()
		return out
	}
	j, err := s.judge(name, raw, how)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	reasons := make([]testReason, len(j.Violations))
	for i, v := range j.Violations {
		reasons[i] = testReason{v.Rule, v.Payload, v.Text}
	}
	out.Got = config.ExpectValid
	if !j.Valid {
		out.Got = config.ExpectInvalid
	}
	out.judge(t, reasons)
	return out
}

// between writes a message with one version and reads it with another.
func (r testRun) between(t config.TestCase) testedCase {
	out := testedCase{Name: t.Name, Line: t.Line, Written: t.Written, Read: t.Read, Expect: t.Expect}
	raw, name, how, err := r.message(t)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	writer, reader := r.versions[t.Written], r.versions[t.Read]
	if err := writer.knows(how.message); err != nil {
		out.Error = err.Error()
		return out
	}
	payload, err := writer.written(name, raw, how)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	reading := reader.schema.Reads(writer.schema, payload, schemas.ReadOptions{Formats: how.assertFormat, Unknown: how.refuseUnknown, Value: true})
	var reasons []testReason
	for _, v := range reading.Violations {
		reasons = append(reasons, testReason{v.Rule, v.Payload, v.Text})
	}
	out.Got = config.ExpectValid
	switch {
	case len(reading.Violations) > 0:
		out.Got = config.ExpectInvalid
	case len(reading.Losses) > 0:
		out.Got = config.ExpectAltered
		for _, l := range reading.Losses {
			reasons = append(reasons, testReason{lossWord(l.Kind), l.Payload, l.Text})
		}
	}
	out.judge(t, reasons)
	if out.Passed && t.Value != "" {
		got, err := json.Marshal(reading.Value)
		if err != nil {
			out.Passed, out.Error = false, fmt.Sprintf("the value that %s sees has no JSON form: %v", t.Read, err)
		} else if !sameJSON(got, []byte(t.Value)) {
			out.Passed, out.Reason = false, fmt.Sprintf("%s sees %s, and %s is expected", t.Read, got, t.Value)
		}
	}
	return out
}

func lossWord(k schemas.LossKind) string {
	switch k {
	case schemas.Lost:
		return "lost"
	case schemas.Altered:
		return "altered"
	case schemas.AlteredOutOfRange:
		return "altered-out-of-range"
	}
	return "unknown"
}

// written is the payload that a message is, which must be one of the schema that
// writes it.
func (s *known) written(name string, raw []byte, v validating) (schemas.Payload, error) {
	j, err := s.judge(name, raw, v)
	if err != nil {
		return schemas.Payload{}, err
	}
	if !j.Valid {
		return schemas.Payload{}, fmt.Errorf("%s does not write it: %s", s.label, j.Violations[0].Text)
	}
	payload := schemas.Payload{Bytes: raw, Message: v.message}
	switch v.encodingOf(name) {
	case "hex", "base64":
		return schemas.Payload{}, fmt.Errorf("write and read take files of JSON or bytes: give the message as hex or base64 in the test instead")
	case "json":
		if s.schema.Source().Type == schemas.JSON {
			return payload, nil
		}
		b, list, err := s.binary(payload, schemas.ReadOptions{})
		if err == nil && len(list) > 0 {
			err = fmt.Errorf("%s does not write it: %s", s.label, list[0].Text)
		}
		payload.Bytes = b
		return payload, err
	}
	return payload, nil
}

// testReason is why a message was refused or altered.
type testReason struct {
	rule string
	at   schemas.Pointer
	text string
}

func (r testReason) String() string {
	text := r.text
	if r.at != "" {
		text += fmt.Sprintf(" at %s", r.at)
	}
	if r.rule != "" {
		text += " (" + r.rule + ")"
	}
	return text
}

// judge says whether a case passed.
func (c *testedCase) judge(t config.TestCase, reasons []testReason) {
	told := ""
	if len(reasons) > 0 {
		told = ": " + reasons[0].String()
	}
	switch {
	case c.Got != t.Expect:
		c.Reason = fmt.Sprintf("expected %s, got %s%s", t.Expect, c.Got, told)
	case (t.Rule != "" || t.At != "") && !slices.ContainsFunc(reasons, func(r testReason) bool {
		return (t.Rule == "" || r.rule == t.Rule) && (t.At == "" || string(r.at) == t.At)
	}):
		want := []string{}
		if t.Rule != "" {
			want = append(want, "rule "+t.Rule)
		}
		if t.At != "" {
			want = append(want, "at "+t.At)
		}
		c.Reason = fmt.Sprintf("%s as expected, but not for %s%s", c.Got, strings.Join(want, " "), told)
	default:
		c.Passed = true
	}
}

// sameJSON tells whether two texts are the same JSON value: numbers by their
// value, members in any order.
func sameJSON(a, b []byte) bool {
	decode := func(text []byte) (v any, err error) {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		err = d.Decode(&v)
		return v, err
	}
	x, err := decode(a)
	if err != nil {
		return false
	}
	y, err := decode(b)
	return err == nil && sameValue(x, y)
}

func sameValue(x, y any) bool {
	switch x := x.(type) {
	case map[string]any:
		y, ok := y.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for name, v := range x {
			other, there := y[name]
			if !there || !sameValue(v, other) {
				return false
			}
		}
		return true
	case []any:
		y, ok := y.([]any)
		return ok && slices.EqualFunc(x, y, sameValue)
	case json.Number:
		y, ok := y.(json.Number)
		return ok && (x == y || sameNumber(x.String(), y.String()))
	}
	return x == y
}

func sameNumber(a, b string) bool {
	const most = 1000 // digits, exponents included
	if len(a) > most || len(b) > most || strings.Count(a+b, "e")+strings.Count(a+b, "E") > 0 && !smallExponents(a, b) {
		return false
	}
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}

// smallExponents keeps numbers such as 1e999999999 from being spelled out.
func smallExponents(numbers ...string) bool {
	for _, n := range numbers {
		if at := strings.IndexAny(n, "eE"); at >= 0 && len(strings.TrimLeft(n[at+1:], "+-0")) > 3 {
			return false
		}
	}
	return true
}
