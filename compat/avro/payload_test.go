package avro_test

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// payload is a random payload of a schema in the making.
type payload struct {
	r     *rand.Rand
	bytes []byte
	depth int
	ok    bool
}

func (w *payload) long(n int64) { w.bytes = binary.AppendVarint(w.bytes, n) }

func (w *payload) write(t *avro.Type) {
	if w.depth++; w.depth > 30 || len(w.bytes) > 4_000 {
		w.ok = false
	}
	defer func() { w.depth-- }()
	if t.Kind == avro.Union && len(t.Branches) == 0 || t.Kind == avro.Enum && len(t.Named.Symbols) == 0 {
		w.ok = false // of these there is no value
	}
	if !w.ok {
		return
	}
	switch t.Kind {
	case avro.Boolean:
		w.bytes = append(w.bytes, byte(w.r.IntN(2)))
	case avro.Int:
		w.long(int64(int32(w.r.Uint32())))
	case avro.Long:
		w.long(int64(w.r.Uint64()) >> w.r.IntN(64))
	case avro.Float:
		w.bytes = binary.LittleEndian.AppendUint32(w.bytes, math.Float32bits(w.r.Float32()))
	case avro.Double:
		w.bytes = binary.LittleEndian.AppendUint64(w.bytes, math.Float64bits(w.r.NormFloat64()))
	case avro.Bytes, avro.String:
		n := w.r.IntN(3)
		w.long(int64(n))
		for range n {
			c := byte(w.r.IntN(256))
			if t.Kind == avro.String {
				c &= 0x7f
			}
			w.bytes = append(w.bytes, c)
		}
	case avro.Fixed:
		for range t.Named.Size {
			w.bytes = append(w.bytes, byte(w.r.IntN(256)))
		}
	case avro.Enum:
		w.long(int64(w.r.IntN(len(t.Named.Symbols))))
	case avro.Array, avro.Map:
		if n := w.r.IntN(3); n > 0 && w.depth < 8 {
			w.long(int64(n))
			for range n {
				if t.Kind == avro.Map {
					w.long(1)
					w.bytes = append(w.bytes, 'a'+byte(w.r.IntN(26)))
				}
				w.write(t.Items)
			}
		}
		w.long(0)
	case avro.Union:
		i := w.r.IntN(len(t.Branches))
		w.long(int64(i))
		w.write(t.Branches[i])
	case avro.Record:
		for _, f := range t.Named.Fields {
			w.write(f.Type)
		}
	default: // null takes no bytes
	}
}

func parse(t testing.TB, text string) *avro.Schema {
	t.Helper()
	s, err := avro.Parse(context.Background(), schemas.Source{Type: schemas.Avro, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, text)
	}
	return s
}
