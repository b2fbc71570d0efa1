package avro_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// randomPayload writes some value of t; ok is false where none was found within
// the depth.
func randomPayload(r *rand.Rand, t *avro.Type, b []byte, depth int) ([]byte, bool) {
	fuel := 2000
	return appendRandom(r, t, b, depth, &fuel)
}

func appendRandom(r *rand.Rand, t *avro.Type, b []byte, depth int, fuel *int) ([]byte, bool) {
	if *fuel--; *fuel < 0 || depth > 24 {
		return nil, false
	}
	switch t.Kind {
	case avro.Null:
		return b, true
	case avro.Boolean:
		return append(b, byte(r.IntN(2))), true
	case avro.Int:
		return long(b, int64(int32(randomInteger(r)))), true
	case avro.Long:
		return long(b, randomInteger(r)), true
	case avro.Float:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(r.IntN(4096))/8)), true
	case avro.Double:
		return double(b, float64(r.IntN(1<<20))/16), true
	case avro.Bytes, avro.String:
		words := []string{"", "a", "ana", "größe", "日本", strings.Repeat("x", 70)}
		return text(b, words[r.IntN(len(words))]), true
	case avro.Fixed:
		for range t.Named.Size {
			b = append(b, byte(r.IntN(128)))
		}
		return b, true
	case avro.Enum:
		if len(t.Named.Symbols) == 0 {
			return nil, false
		}
		return long(b, int64(r.IntN(len(t.Named.Symbols)))), true
	case avro.Array, avro.Map:
		n := r.IntN(4)
		if depth > 6 {
			n = 0
		}
		for n > 0 {
			count := 1 + r.IntN(n)
			n -= count
			var block []byte
			for range count {
				if t.Kind == avro.Map {
					block = text(block, fmt.Sprint("k", r.IntN(100), n, len(block)))
				}
				var ok bool
				if block, ok = appendRandom(r, t.Items, block, depth+1, fuel); !ok {
					return nil, false
				}
			}
			if r.IntN(2) == 0 {
				b = long(b, int64(count))
			} else {
				b = long(long(b, -int64(count)), int64(len(block)))
			}
			b = append(b, block...)
		}
		return append(b, 0), true
	case avro.Union:
		for try := range 8 {
			if len(t.Branches) == 0 {
				return nil, false
			}
			i := r.IntN(len(t.Branches))
			if try > 3 || depth > 8 {
				i = try % len(t.Branches)
			}
			if out, ok := appendRandom(r, t.Branches[i], long(b, int64(i)), depth+1, fuel); ok {
				return out, true
			}
		}
		return nil, false
	case avro.Record:
		for _, f := range t.Named.Fields {
			var ok bool
			if b, ok = appendRandom(r, f.Type, b, depth+1, fuel); !ok {
				return nil, false
			}
		}
		return b, true
	}
	panic("a kind is missing")
}

func randomInteger(r *rand.Rand) int64 {
	switch r.IntN(4) {
	case 0:
		return int64(r.IntN(7)) - 3
	case 1:
		return int64(int16(r.Uint64()))
	case 2:
		return int64(int32(r.Uint64()))
	}
	return int64(r.Uint64())
}

// schemaMaker writes random schemas that every library takes: valid names, no
// logical types, no empty unions or symbols, definitions before their use.
type schemaMaker struct {
	r     *rand.Rand
	count int
	done  []string // full names that may be used
	open  []string // records being written: usable inside a union, array or map
}

func (m *schemaMaker) name() string {
	m.count++
	return fmt.Sprint("N", m.count)
}

func (m *schemaMaker) make(depth int, inUnion bool) string {
	primitives := []string{`"null"`, `"boolean"`, `"int"`, `"long"`, `"float"`, `"double"`, `"bytes"`, `"string"`}
	n := m.r.IntN(16)
	if depth > 4 {
		n = m.r.IntN(8)
	}
	switch {
	case n < 8:
		return primitives[n]
	case n == 8:
		return `{"type":"array","items":` + m.inside(depth) + `}`
	case n == 9:
		return `{"type":"map","values":` + m.inside(depth) + `}`
	case n == 10 && !inUnion:
		return m.union(depth)
	case n == 11:
		name := m.name()
		symbols := []string{`"A"`, `"B"`, `"C"`, `"D"`}[:1+m.r.IntN(4)]
		m.done = append(m.done, name)
		return `{"type":"enum","name":"` + name + `","symbols":[` + strings.Join(symbols, ",") + `]}`
	case n == 12:
		name := m.name()
		m.done = append(m.done, name)
		return fmt.Sprintf(`{"type":"fixed","name":"%s","size":%d}`, name, 1+m.r.IntN(9))
	case n == 13 && len(m.done) > 0:
		return `"` + m.done[m.r.IntN(len(m.done))] + `"`
	}
	name := m.name()
	m.open = append(m.open, name)
	var fields []string
	for i := range 1 + m.r.IntN(4) {
		fields = append(fields, fmt.Sprintf(`{"name":"f%d","type":%s}`, i, m.make(depth+1, false)))
	}
	m.open = m.open[:len(m.open)-1]
	m.done = append(m.done, name)
	return `{"type":"record","name":"` + name + `","fields":[` + strings.Join(fields, ",") + `]}`
}

// inside makes what stands in a container, where a record that is not finished
// may be used: that makes recursive schemas with finite values.
func (m *schemaMaker) inside(depth int) string {
	if len(m.open) > 0 && m.r.IntN(4) == 0 {
		return `"` + m.open[m.r.IntN(len(m.open))] + `"`
	}
	return m.make(depth+1, false)
}

func (m *schemaMaker) union(depth int) string {
	seen := map[string]bool{}
	var branches []string
	for range 1 + m.r.IntN(4) {
		var b string
		if len(m.open) > 0 && m.r.IntN(4) == 0 {
			b = `"` + m.open[m.r.IntN(len(m.open))] + `"`
		} else {
			b = m.make(depth+1, true)
		}
		// Branches differ by kind, or by name where they have one.
		key := strings.Trim(b, `"`)
		if _, after, ok := strings.Cut(b, `"name":"`); ok && !strings.HasPrefix(b, `{"type":"array"`) && !strings.HasPrefix(b, `{"type":"map"`) {
			key, _, _ = strings.Cut(after, `"`)
		} else if ok || strings.HasPrefix(b, `{`) {
			key = b[:14]
		}
		if !seen[key] {
			seen[key] = true
			branches = append(branches, b)
		}
	}
	return `[` + strings.Join(branches, ",") + `]`
}

// randomSchema is a record, so that it always has a name.
func randomSchema(r *rand.Rand) string {
	m := schemaMaker{r: r}
	for {
		if s := m.make(0, false); strings.HasPrefix(s, `{"type":"record"`) {
			return s
		}
		m = schemaMaker{r: r}
	}
}
