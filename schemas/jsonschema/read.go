package jsonschema

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/cartorio-registry/cartorio/schemas"
)

// The default budget of a reading: a fixed part, and one in proportion to the
// payload.
const (
	stepsBase    = 1_000_000
	stepsPerByte = 8
)

// Reads judges whether a payload fits this schema. That is the whole question:
// JSON carries its own names, so nothing of the writer's schema is needed, and a
// value that is read is the value that was written.
//
// A payload must be one JSON value in UTF-8 without repeated member names;
// numbers may have 1,000 digits and exponents up to ±400.
func (s *Schema) Reads(writer schemas.Schema, payload schemas.Payload, o schemas.ReadOptions) schemas.Reading {
	o = o.OrDefault()
	refuse := func(kind schemas.ViolationKind, rule string, offset int, text string) schemas.Reading {
		return schemas.Reading{Violations: []schemas.Violation{{Kind: kind, Offset: offset, Rule: rule, Text: text}}}
	}
	if w, ok := writer.(*Schema); !ok || w == nil {
		return refuse(schemas.Invalid, "format", -1, "the writer's schema is no JSON Schema")
	}
	if err := s.Err(); err != nil {
		return refuse(schemas.Invalid, "schema", -1, fmt.Sprintf("the schema cannot be used: %v", err))
	}
	if len(payload.Bytes) > o.Bytes {
		return refuse(schemas.TooLarge, "size", -1, fmt.Sprintf("the payload has %d bytes, over the limit of %d", len(payload.Bytes), o.Bytes))
	}
	e := readers.Get().(*evaluation)
	defer e.release()
	reading := schemas.Reading{Violations: s.judge(e, payload.Bytes, &o)}
	if o.Value && reading.OK() {
		reading.Value = e.native(0)
	}
	return reading
}

// Prepare is [Schema.Reads] of the schema's own payloads, made ready.
func (s *Schema) Prepare(_ string, o schemas.ReadOptions) schemas.Judge {
	o = o.OrDefault()
	if o.Value || s.Err() != nil {
		return nil
	}
	return func(b []byte) *schemas.Reading {
		if len(b) > o.Bytes {
			r := s.Reads(s, schemas.Payload{Bytes: b}, o)
			return &r
		}
		if list := s.violations(b, &o); len(list) > 0 {
			return &schemas.Reading{Violations: list}
		}
		return nil
	}
}

// violations judges a payload that is not too large.
func (s *Schema) violations(payload []byte, o *schemas.ReadOptions) []schemas.Violation {
	e := readers.Get().(*evaluation)
	defer e.release()
	return s.judge(e, payload, o)
}

// judge reads a payload that is not too large into e, and judges it.
func (s *Schema) judge(e *evaluation, payload []byte, o *schemas.ReadOptions) []schemas.Violation {
	// The payload is not changed while it is read, and nothing that outlives the
	// reading shares its memory.
	text := unsafe.String(unsafe.SliceData(payload), len(payload))
	if err := e.scan(text, o.Depth, schemas.DefaultLimits()); err != nil {
		return unreadable(err)
	}
	steps := o.Steps
	if steps <= 0 {
		steps = stepsBase + stepsPerByte*len(payload)
	}
	e.formats, e.dynamic, e.verdict = o.Formats, s.dynamic, o.Verdict
	return e.run(s.root, steps, o.Violations)
}

// readers keeps what readings need, so that the next one allocates nothing.
var readers = sync.Pool{New: func() any { return new(evaluation) }}

// keptTokens bounds what is kept: a large payload's tape is let go.
const keptTokens = 1 << 16

func (e *evaluation) release() {
	kept := evaluation{tape: tape{tokens: e.tokens[:0], names: e.names, room: e.room}, scratch: e.scratch[:0]}
	if cap(kept.tokens) > keptTokens {
		kept.tokens = nil
	}
	if cap(kept.scratch) > keptTokens {
		kept.scratch = nil
	}
	if kept.room > keptTokens {
		kept.names, kept.room = nil, 0
	}
	clear(kept.names) // its strings are the payload's
	*e = kept
	readers.Put(e)
}

func unreadable(err error) []schemas.Violation {
	v := schemas.Violation{Kind: schemas.Unreadable, Offset: -1, Rule: "json", Text: fmt.Sprintf("the payload is no JSON: %v", err)}
	if limit, ok := errors.AsType[*schemas.LimitError](err); ok {
		v.Kind, v.Rule, v.Offset = schemas.TooLarge, "size", limit.Position.Offset
		v.Text = fmt.Sprintf("the payload is over the limit of %d for %s: found %d", limit.Most, limit.Limit, limit.Found)
	} else if syntax, ok := errors.AsType[schemas.SyntaxErrors](err); ok {
		v.Offset = syntax[0].Position.Offset
	}
	return []schemas.Violation{v}
}

// run answers with the violations of the tape's value, none when it fits.
func (e *evaluation) run(root *Node, steps, most int) []schemas.Violation {
	e.steps, e.most = steps, most
	e.memoFrom = steps - 10_000 - len(e.text)
	if e.node(root, 0, nil, nil) {
		return nil
	}
	if e.out {
		return []schemas.Violation{{
			Kind: schemas.TooComplex, Offset: -1, Rule: "steps",
			Text: fmt.Sprintf("judging the payload takes more than %d steps", steps),
		}}
	}
	if e.verdict {
		return []schemas.Violation{{Kind: schemas.Invalid, Offset: -1, Rule: "schema", Text: "the value does not fit the schema"}}
	}
	e.collect, e.steps, e.memoFrom = true, steps, math.MaxInt
	e.node(root, 0, nil, nil)
	if len(e.violations) == 0 {
		return []schemas.Violation{{
			Kind: schemas.Invalid, Offset: e.offset(0), Schema: root.where(""), Rule: "schema",
			Text: "the value does not fit the schema; telling why takes too many steps",
		}}
	}
	return e.violations
}
