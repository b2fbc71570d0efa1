package protobuf

import (
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Reads judges whether data written with writer can be read with s, and is
// still the same value.
//
// The message is payload.Message, a full name, or the writer's first; the
// reader's is the one of the same full name, else of the same name in another
// package, else, when no name was given, its own first.
//
// Bytes must decode by the writer's schema and by the reader's: violations name
// what does not, with the offset. Fields that the reader does not know are no
// loss, as long as it does not know their names under other numbers either.
// Undeclared numbers of closed enums count as set aside, as C++ and Java have
// it. A payload that both sides read without any doubt allocates nothing.
//
// Source: protobuf compatibility, B; performance, 8.
func (s *Schema) Reads(writer schemas.Schema, payload schemas.Payload, options schemas.ReadOptions) schemas.Reading {
	o := options.OrDefault()
	w, ok := writer.(*Schema)
	if !ok {
		return refused(schemas.Unreadable, "format", "the writer's schema is not Protobuf")
	}
	if w.problem != nil {
		return refused(schemas.Unreadable, "schema", fmt.Sprintf("the writer's schema does not compile: %v", w.problem))
	}
	if s.problem != nil {
		return refused(schemas.Unreadable, "schema", fmt.Sprintf("the reader's schema does not compile: %v", s.problem))
	}
	if len(payload.Bytes) > o.Bytes {
		return refused(schemas.TooLarge, "size", fmt.Sprintf("the payload has %d bytes, %d are allowed", len(payload.Bytes), o.Bytes))
	}
	wt, rt := w.compiled(), s.compiled()
	wm, rm, problem := messagesOf(wt, rt, payload.Message)
	if problem != "" {
		return refused(schemas.Invalid, "message", problem)
	}
	if !o.Value {
		end := walked(wm, payload.Bytes, &o)
		if end >= 0 && wm != rm {
			if end = walked(rm, payload.Bytes, &o); end >= 0 && !s.plans.lossless(wt, wm, rm) {
				end = no
			}
		}
		switch {
		case end >= 0:
			return schemas.Reading{}
		case end == wrong && o.Verdict:
			return refused(schemas.Unreadable, "bytes", "the payload is none of the schema")
		}
	}
	return s.explain(wt, rt, wm, rm, payload.Bytes, o)
}

// Prepare is [Schema.Reads] of the schema's own payloads, made ready.
func (s *Schema) Prepare(name string, o schemas.ReadOptions) schemas.Judge {
	o = o.OrDefault()
	if o.Value || s.problem != nil {
		return nil
	}
	t := s.compiled()
	m, _, problem := messagesOf(t, t, name)
	if problem != "" {
		return nil
	}
	return func(b []byte) *schemas.Reading {
		end := no
		if len(b) <= o.Bytes {
			if end = walked(m, b, &o); end >= 0 {
				return nil
			}
		}
		return s.tell(t, m, b, end, o)
	}
}

// tell is what there is to tell of an own payload that was not plainly right.
func (s *Schema) tell(t *tables, m *message, b []byte, end int, o schemas.ReadOptions) *schemas.Reading {
	var r schemas.Reading
	switch {
	case len(b) > o.Bytes:
		r = s.Reads(s, schemas.Payload{Bytes: b, Message: m.name}, o)
	case end == wrong && o.Verdict:
		r = refused(schemas.Unreadable, "bytes", "the payload is none of the schema")
	default:
		r = s.explain(t, t, m, m, b, o)
	}
	return &r
}

func refused(kind schemas.ViolationKind, rule, text string) schemas.Reading {
	return schemas.Reading{Violations: []schemas.Violation{{Kind: kind, Offset: -1, Rule: rule, Text: text}}}
}

// messagesOf finds the message that the writer means and the reader's.
func messagesOf(wt, rt *tables, name string) (w, r *message, problem string) {
	w = wt.first
	if name != "" {
		name = strings.TrimPrefix(name, ".")
		w = wt.message(name)
	}
	switch {
	case w == nil && name == "":
		return nil, nil, "the writer's schema has no message"
	case w == nil:
		return nil, nil, fmt.Sprintf("the writer's schema has no message %s", name)
	case wt == rt:
		return w, w, ""
	}
	if r = rt.message(w.name); r != nil {
		return w, r, ""
	}
	if r = rt.namesake(w); r != nil {
		return w, r, ""
	}
	if name == "" && rt.first != nil {
		return w, rt.first, ""
	}
	return nil, nil, fmt.Sprintf("the reader's schema has no message %s", w.name)
}

// namesake is the message of the own file that has w's name in another package.
func (t *tables) namesake(w *message) *message {
	local := strings.TrimPrefix(w.name, string(w.desc.ParentFile().Package())+".")
	if t.first == nil {
		return nil
	}
	m := t.message(join(string(t.first.desc.ParentFile().Package()), local))
	return m
}

// walked is how far a payload is plainly right: to its end, or no or wrong.
func walked(m *message, b []byte, o *schemas.ReadOptions) int {
	w := walker{b: b, depth: o.Depth, steps: o.Steps, unknown: o.Unknown}
	if w.steps == 0 {
		w.steps = len(b) + 1
	}
	return w.walk(m, 0, len(b), 0, 1)
}

// explain is the slow reader: it tells what is wrong and what is lost.
func (s *Schema) explain(wt, rt *tables, wm, rm *message, b []byte, o schemas.ReadOptions) schemas.Reading {
	written, by := decode(wt, wm, b, o)
	if len(by.violations) > 0 || wm == rm {
		if len(by.violations) > 0 {
			return schemas.Reading{Violations: by.violations}
		}
		r := schemas.Reading{Losses: by.losses}
		if o.Value {
			r.Value = written.value()
		}
		return r
	}
	read, to := decode(rt, rm, b, o)
	r := schemas.Reading{Violations: to.violations}
	if len(r.Violations) > 0 {
		return r
	}
	c := &comparer{plans: &s.plans, writer: wt, reader: rt}
	c.messages(written, read)
	r.Losses = c.list
	if o.Value {
		r.Value = read.value()
	}
	return r
}

func decode(t *tables, m *message, b []byte, o schemas.ReadOptions) (*node, *decoder) {
	d := &decoder{t: t, b: b, depth: o.Depth, steps: o.Steps, most: max(1, o.Violations), unknown: o.Unknown}
	if d.steps == 0 {
		d.steps = len(b) + 1
	}
	n := &node{m: m}
	d.message(n, 0, len(b), 0, 1)
	if !d.broken {
		d.required(n)
	}
	return n, d
}
