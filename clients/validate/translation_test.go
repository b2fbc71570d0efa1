package validate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// replacing makes a step that replaces one text in a document by another.
func replacing(from, to schemas.Version, old, next string) validate.Step {
	return validate.Translate(from, to, func(doc []byte) ([]byte, error) {
		return bytes.ReplaceAll(doc, []byte(old), []byte(next)), nil
	})
}

// TestTranslation is case C9: v1→v2→v3, a failing step, the target's judgement.
func TestTranslation(t *testing.T) {
	t.Parallel()
	s := newShelf()
	v1 := s.put("orders-value", schemas.JSON, `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}`)
	v2 := s.put("orders-value", schemas.JSON, `{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"],"additionalProperties":false}`)
	v3 := s.put("orders-value", schemas.JSON, `{"type":"object","properties":{"number":{"type":"string"}},"required":["number"],"additionalProperties":false}`)
	fails := validate.Translate(2, 3, func([]byte) ([]byte, error) { return nil, errors.New("no such currency") })
	panics := validate.Translate(2, 3, func([]byte) ([]byte, error) { panic("oops") })
	up1, up2, down := replacing(1, 2, "id", "number"), replacing(2, 3, ":7", `:"7"`), replacing(3, 2, `"7"`, "7")
	for _, tt := range []struct {
		name    string
		of      schemas.Found
		payload string
		reads   string
		steps   []validate.Step
		want    validate.Verdict
		reason  validate.Reason
		version schemas.Version
		from    schemas.Version
		result  string
		says    string
	}{
		{name: "two steps up", of: v1, payload: `{"id":7}`, reads: "3", steps: []validate.Step{up2, up1}, want: validate.Accept, version: 3, from: 1, result: `{"number":"7"}`},
		{name: "one step", of: v2, payload: `{"number":7}`, reads: "3", steps: []validate.Step{up1, up2}, want: validate.Accept, version: 3, from: 2, result: `{"number":"7"}`},
		{name: "a step down", of: v3, payload: `{"number":"7"}`, reads: "1..2", steps: []validate.Step{up1, down}, want: validate.Accept, version: 2, from: 3, result: `{"number":7}`},
		{name: "declared versions are left alone", of: v2, payload: `{"number":7}`, reads: "2..3", steps: []validate.Step{up1, up2}, want: validate.Accept, version: 2, result: `{"number":7}`},
		{name: "the nearest declared version", of: v1, payload: `{"id":7}`, reads: "2..3", steps: []validate.Step{up1, up2}, want: validate.Accept, version: 2, from: 1, result: `{"number":7}`},
		{name: "no way", of: v3, payload: `{"number":"7"}`, reads: "1", steps: []validate.Step{up1, up2}, want: validate.Reject, reason: validate.VersionUnsupported, version: 3},
		{name: "a failing step", of: v1, payload: `{"id":7}`, reads: "3", steps: []validate.Step{up1, fails}, want: validate.Reject, reason: validate.TranslationFailed, version: 1, says: "the step 2→3 failed: no such currency"},
		{name: "a step that panics", of: v1, payload: `{"id":7}`, reads: "3", steps: []validate.Step{up1, panics}, want: validate.Reject, reason: validate.TranslationFailed, version: 1, says: "the step 2→3 failed: it panicked: oops"},
		{name: "the result does not fit", of: v1, payload: `{"id":7}`, reads: "3", steps: []validate.Step{up1, replacing(2, 3, "x", "y")}, want: validate.Reject, reason: validate.TranslationFailed, version: 1, says: `does not fit version 3: at "/number"`},
		{name: "an invalid payload is not translated", of: v1, payload: `{"id":"x"}`, reads: "3", steps: []validate.Step{up1, up2}, want: validate.Reject, reason: validate.PayloadInvalid, version: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, _ := open(t, s, validate.Options{})
			e := &validate.Expect{Subject: validate.Fixed("orders-value"), Reads: validate.MustReads(tt.reads), Steps: tt.steps}
			if err := e.Check(); err != nil {
				t.Fatal(err)
			}
			m := &validate.Message{Headers: stamped(tt.of), Payload: text(tt.payload)}
			for range 2 { // the second time from the cache
				o := v.BeforeConsume(ctx, m, e)
				if o.Verdict != tt.want || o.Reason != tt.reason || o.Version != tt.version || o.TranslatedFrom != tt.from {
					t.Fatalf("%s %s version %d from %d: %v", o.Verdict, o.Reason, o.Version, o.TranslatedFrom, o.Err)
				}
				if tt.want == validate.Accept && string(o.Payload) != tt.result {
					t.Errorf("the payload is %s", o.Payload)
				}
				if tt.says != "" && (o.Err == nil || !strings.Contains(o.Err.Error(), tt.says)) {
					t.Errorf("it says %v", o.Err)
				}
				if string(m.Payload) != tt.payload {
					t.Errorf("the message became %s", m.Payload)
				}
			}
		})
	}
}

// TestTranslationOfBinaryFormats re-encodes Avro and Protobuf, and reads with a
// reader of its own afterwards.
func TestTranslationOfBinaryFormats(t *testing.T) {
	t.Parallel()
	s := newShelf()
	a1 := s.put("users-value", schemas.Avro, userV1)
	a2 := s.put("users-value", schemas.Avro, `{"type":"record","name":"User","namespace":"acme","fields":[{"name":"number","type":["null","string"]}]}`)
	p1 := s.put("shop-value", schemas.Protobuf, "syntax = \"proto3\"; message Order { int64 id = 1; }")
	p2 := s.put("shop-value", schemas.Protobuf, "syntax = \"proto3\"; message Order { string number = 2; }")
	v, _ := open(t, s, validate.Options{})
	for _, tt := range []struct {
		from, to schemas.Found
		step     validate.Step
		payload  []byte
		want     []byte
	}{
		{a1, a2, replacing(1, 2, `"id":7`, `"number":"7"`), []byte{14}, []byte{2, 2, '7'}},
		{p1, p2, replacing(1, 2, `"id"`, `"number"`), []byte{8, 7}, []byte{18, 1, '7'}},
	} {
		e := &validate.Expect{Subject: validate.Fixed(tt.from.Subject.Name), Reads: validate.MustReads("2"), Reader: 2, Value: true, Steps: []validate.Step{tt.step}}
		o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(tt.from), Payload: tt.payload}, e)
		if o.Verdict != validate.Accept || !bytes.Equal(o.Payload, tt.want) || o.GUID != tt.to.GUID || o.ID != tt.to.ID {
			t.Errorf("%s %s %x: %v", o.Verdict, o.Reason, o.Payload, o.Err)
		}
		if got := fmt.Sprint(o.Value); got != "map[number:7]" {
			t.Errorf("the document is %s", got)
		}
	}
}

func TestStepsAreChecked(t *testing.T) {
	t.Parallel()
	same := func(doc []byte) ([]byte, error) { return doc, nil }
	for name, e := range map[string]validate.Expect{
		"over two versions":  {Reads: validate.MustReads("3"), Steps: []validate.Step{validate.Translate(1, 3, same)}},
		"nowhere":            {Reads: validate.MustReads("3"), Steps: []validate.Step{validate.Translate(1, 1, same)}},
		"from nothing":       {Reads: validate.MustReads("3"), Steps: []validate.Step{validate.Translate(0, 1, same)}},
		"without a function": {Reads: validate.MustReads("3"), Steps: []validate.Step{validate.Translate(1, 2, nil)}},
		"twice":              {Reads: validate.MustReads("3"), Steps: []validate.Step{validate.Translate(1, 2, same), validate.Translate(1, 2, same)}},
		"for every version":  {Steps: []validate.Step{validate.Translate(1, 2, same)}},
		"compatible with a version of no subject": {Reads: validate.ReadsCompatible(2)},
	} {
		if err := e.Check(); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}

// comparing is a shelf that compares, too.
type comparing struct {
	*shelf
	says map[schemas.Version]string // why a writer's version is not read
}

func (c *comparing) CanRead(_ context.Context, s schemas.Subject, reader, writer schemas.Version) (bool, string, error) {
	if err := c.ask(fmt.Sprintf("compare %s %s %s", s, reader, writer)); err != nil {
		return false, "", err
	}
	return c.says[writer] == "", c.says[writer], nil
}

func TestReadsCompatible(t *testing.T) {
	t.Parallel()
	f := newFixture()
	f.put("orders-value", schemas.JSON, `{"type":"object","required":["id"],"properties":{"id":{"type":"number"}}}`)
	c := &comparing{shelf: f.shelf, says: map[schemas.Version]string{3: "a number is no integer"}}
	e := &validate.Expect{Subject: validate.Fixed("orders-value"), Reads: validate.ReadsCompatible(2)}
	third, err := f.ByVersion(ctx, f.order1.Subject, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []validate.Lookup{c, validate.InOrder(newShelf(), c)} {
		v, _ := open(t, l, validate.Options{})
		for range 3 {
			for _, tt := range []struct {
				of     schemas.Found
				reason validate.Reason
			}{{f.order1, validate.NoReason}, {f.order2, validate.NoReason}, {third, validate.VersionUnsupported}} {
				o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(tt.of), Payload: text(`{"id":1}`)}, e)
				if o.Reason != tt.reason {
					t.Errorf("version %s: %s %s: %v", tt.of.Version, o.Verdict, o.Reason, o.Err)
				}
				if tt.reason != validate.NoReason && !strings.Contains(o.Err.Error(), "a number is no integer") {
					t.Error(o.Err)
				}
			}
		}
	}
	asked := map[string]int{}
	for _, q := range f.questions() {
		if strings.HasPrefix(q, "compare") {
			asked[q]++
		}
	}
	if want := map[string]int{"compare orders-value 2 1": 2, "compare orders-value 2 3": 2}; fmt.Sprint(asked) != fmt.Sprint(want) {
		t.Errorf("asked %v, want each once a validator", asked)
	}
}

// TestReadsCompatibleOffline holds what nobody can compare.
func TestReadsCompatibleOffline(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, _ := open(t, f.shelf, validate.Options{})
	e := &validate.Expect{Subject: validate.Fixed("orders-value"), Reads: validate.ReadsCompatible(2)}
	o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(f.order1), Payload: text(`{"id":1}`)}, e)
	if o.Verdict != validate.Hold || o.Reason != validate.RegistryUnreachable {
		t.Errorf("%s %s: %v", o.Verdict, o.Reason, o.Err)
	}
	if err := v.Warm(ctx, e, ""); !errors.Is(err, validate.ErrUnavailable) {
		t.Errorf("the start says %v", err)
	}
	if o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(f.order2), Payload: text(`{"id":1}`)}, e); o.Verdict != validate.Accept {
		t.Errorf("its own version: %s %s", o.Verdict, o.Reason)
	}
	gone := &comparing{shelf: f.shelf}
	v, _ = open(t, gone, validate.Options{})
	if o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(f.order2), Payload: text(`{"id":1}`)}, e); o.Verdict != validate.Accept {
		t.Fatal(o.Err)
	}
	gone.fail(schemas.ErrUnreachable)
	if o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(f.order1), Payload: text(`{"id":1}`)}, e); o.Verdict != validate.Hold {
		t.Errorf("in an outage: %s %s", o.Verdict, o.Reason)
	}
}
