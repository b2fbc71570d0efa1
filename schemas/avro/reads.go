package avro

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Reads judges whether a payload that writer's schema wrote can be read with s,
// and is still the same value. With the same schema on both sides it is the
// question whether the payload is valid: it decodes to its last byte.
//
// Resolution is our own: names as in comparisons (simple name or alias), in
// unions full name before simple name before kind before promotion. Values that
// only the writer has are read over; they are no loss. A Value is plain: unions
// do not show, bytes and fixed are []byte, enums string, int and long int64,
// float and double float64, records and maps map[string]any. A map may hold a key
// twice: the specification does not forbid it, and as in Avro Java the last value
// counts.
//
// With options.Formats logical types are asserted too: the digits of decimals,
// times of day, the spelling of UUIDs.
//
// A valid payload is judged without an allocation when neither is asked for.
//
// Source: avro-compat 3 to 8 and 12.
func (s *Schema) Reads(writer schemas.Schema, payload schemas.Payload, options schemas.ReadOptions) schemas.Reading {
	o := options.OrDefault()
	w, ok := writer.(*Schema)
	if !ok || w == nil {
		return rejected(schemas.Violation{Kind: schemas.Invalid, Offset: -1, Rule: "format", Text: "the writer's schema is not Avro"})
	}
	if len(payload.Bytes) > o.Bytes {
		return rejected(schemas.Violation{
			Kind: schemas.TooLarge, Offset: -1, Rule: "bytes",
			Text: fmt.Sprintf("the payload has %d bytes, the limit is %d", len(payload.Bytes), o.Bytes),
		})
	}
	p := s.programFor(w)
	// What another schema wrote may be read with a loss, which is no refusal.
	o.Verdict = o.Verdict && p == s.reading() && !o.Value && !o.Formats
	return p.read(payload.Bytes, o)
}

// Prepare is [Schema.Reads] of the schema's own payloads, made ready.
func (s *Schema) Prepare(_ string, o schemas.ReadOptions) schemas.Judge {
	o = o.OrDefault()
	p := s.reading()
	if o.Value || o.Formats || p.refused != nil {
		return nil
	}
	return func(b []byte) *schemas.Reading {
		end := failed
		if len(b) <= o.Bytes {
			if end = p.judge(b, o.Depth, stepsFor(b, &o)); end == len(b) {
				return nil
			}
		}
		return s.tell(p, b, end, o)
	}
}

// tell is what there is to tell of an own payload that was not plainly right.
func (s *Schema) tell(p *program, b []byte, end int, o schemas.ReadOptions) *schemas.Reading {
	r := schemas.Reading{}
	if len(b) > o.Bytes {
		r = s.Reads(s, schemas.Payload{Bytes: b}, o)
	} else {
		r = p.tell(b, end, o)
	}
	return &r
}

// stepsFor is the budget of a reading.
func stepsFor(b []byte, o *schemas.ReadOptions) int {
	if o.Steps != 0 {
		return o.Steps
	}
	return 1<<16 + 16*len(b)
}

// programFor is what reads writer's data with s.
func (s *Schema) programFor(writer *Schema) *program {
	if writer != s && writer.fingerprint != s.fingerprint {
		return s.resolvers.of(s, writer)()
	}
	return s.reading()
}

// Holds tells whether a payload is one of s, within the default limits: what
// Reads tells of the schema itself, without reasons.
func (s *Schema) Holds(payload []byte) bool {
	o := schemas.ReadOptions{}.OrDefault()
	p := s.reading()
	return len(payload) <= o.Bytes && p.refused == nil && p.judge(payload, o.Depth, stepsFor(payload, &o)) == len(payload)
}

func rejected(v schemas.Violation) schemas.Reading {
	return schemas.Reading{Violations: []schemas.Violation{v}}
}

// read judges quickly, and looks again where there is something to tell.
func (p *program) read(b []byte, o schemas.ReadOptions) schemas.Reading {
	if p.refused != nil {
		v := schemas.Violation{Kind: schemas.Invalid, Offset: -1, Rule: p.refused.rule, Text: p.refused.text}
		if p.refused.rule == "steps" {
			v.Kind = schemas.TooComplex
		}
		if p.refused.at != nil {
			v.Schema = p.refused.at.Pointer()
		}
		return rejected(v)
	}
	end := p.judge(b, o.Depth, stepsFor(b, &o))
	if end == len(b) && !o.Value && !o.Formats {
		return schemas.Reading{}
	}
	return p.tell(b, end, o)
}

// tell reads what the quick judgement, which came to end, did not settle.
func (p *program) tell(b []byte, end int, o schemas.ReadOptions) schemas.Reading {
	switch {
	case end == exhausted:
		return rejected(tooComplex(-1))
	case o.Verdict:
		return rejected(schemas.Violation{Kind: schemas.Unreadable, Offset: -1, Rule: "bytes", Text: "the payload is none of the schema"})
	}
	reading := p.walk(b, o)
	if end != len(b) && reading.OK() && len(reading.Losses) == 0 {
		// The two ways of reading disagree: a fault of ours must not let a
		// payload pass.
		return rejected(schemas.Violation{
			Kind: schemas.Unreadable, Offset: -1, Rule: "internal",
			Text: "the payload was refused for a reason that could not be found; please report it with its schema",
		})
	}
	return reading
}

func tooComplex(offset int) schemas.Violation {
	return schemas.Violation{
		Kind: schemas.TooComplex, Offset: offset, Rule: "steps",
		Text: "the payload needs more steps than its size allows: it repeats what takes no bytes too often",
	}
}

// resolverCache keeps the resolutions of a reader by the last writers.
type resolverCache struct {
	lock    sync.Mutex // of writing
	current atomic.Pointer[map[schemas.Fingerprint]func() *program]
}

const mostResolvers = 32

func (c *resolverCache) of(reader, writer *Schema) func() *program {
	if known := c.current.Load(); known != nil {
		if p, ok := (*known)[writer.fingerprint]; ok {
			return p
		}
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	next := map[schemas.Fingerprint]func() *program{}
	if known := c.current.Load(); known != nil {
		if p, ok := (*known)[writer.fingerprint]; ok {
			return p
		}
		if len(*known) < mostResolvers { // else all are forgotten, and the busy ones come back
			next = maps.Clone(*known)
		}
	}
	p := sync.OnceValue(func() *program {
		if reader.aliasesItself() && reader.Same(writer) {
			return reader.reading()
		}
		return compilePair(reader.root, writer.root)
	})
	next[writer.fingerprint] = p
	c.current.Store(&next)
	return p
}
