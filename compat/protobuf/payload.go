package protobuf

import (
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// scalars are the values that show what a kind can hold, smallest first: zero
// never, since it may not be written.
func scalars(f *field) (list [][]byte) {
	put := func(values ...uint64) {
		for _, v := range values {
			list = append(list, protowire.AppendVarint(nil, v))
		}
	}
	zigzag := func(values ...int64) {
		for _, v := range values {
			list = append(list, protowire.AppendVarint(nil, protowire.EncodeZigZag(v)))
		}
	}
	fixed32 := func(values ...uint32) {
		for _, v := range values {
			list = append(list, protowire.AppendFixed32(nil, v))
		}
	}
	fixed64 := func(values ...uint64) {
		for _, v := range values {
			list = append(list, protowire.AppendFixed64(nil, v))
		}
	}
	text := func(values ...string) {
		for _, v := range values {
			list = append(list, protowire.AppendString(nil, v))
		}
	}
	const (
		min32 = math.MaxUint64 - math.MaxInt32 // -2³¹, as ten bytes of a varint
		minus = math.MaxUint64                 // -1
	)
	switch f.kind {
	case protoreflect.BoolKind:
		put(1)
		if f.card != implicit {
			put(0)
		}
	case protoreflect.Int32Kind:
		put(1, math.MaxInt32, minus, min32)
	case protoreflect.Uint32Kind:
		put(1, 1<<31, math.MaxUint32)
	case protoreflect.Int64Kind:
		put(1, 1<<31, math.MaxInt64, minus, 1<<63)
	case protoreflect.Uint64Kind:
		put(1, 1<<31, 1<<32, 1<<63)
	case protoreflect.Sint32Kind:
		zigzag(1, -1, math.MaxInt32, math.MinInt32)
	case protoreflect.Sint64Kind:
		zigzag(1, -1, 1<<31, math.MaxInt64)
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
		fixed32(1, 1<<31, math.MaxUint32)
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		fixed64(1, 1<<32, 1<<63)
	case protoreflect.FloatKind:
		fixed32(math.Float32bits(1.5), math.Float32bits(1), math.Float32bits(float32(math.Inf(1))))
	case protoreflect.DoubleKind:
		fixed64(math.Float64bits(1.5), math.Float64bits(1), math.Float64bits(1e300))
	case protoreflect.StringKind:
		text("a", "1", "\n", "\x0f", "\x08\x01")
	case protoreflect.BytesKind:
		text("a", "\xff\xfe", "\x0f", "\x08\x01")
	case protoreflect.EnumKind:
		for i, v := range f.enum.values {
			if v.number != 0 && (i < 6 || i == len(f.enum.values)-1) {
				put(uint64(int64(v.number)))
			}
		}
		if len(list) == 0 && f.card != implicit {
			put(uint64(int64(f.enum.values[0].number)))
		}
	case protoreflect.MessageKind, protoreflect.GroupKind:
	}
	return list
}

// wireType is that of one element of f.
func wireType(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.GroupKind:
		return protowire.StartGroupType
	default:
		return protowire.VarintType
	}
}

// appendMessage puts a message with the given content into field f.
func appendMessage(b []byte, f *field, content []byte) []byte {
	if f.kind == protoreflect.GroupKind {
		b = protowire.AppendTag(b, f.number, protowire.StartGroupType)
		b = append(b, content...)
		return protowire.AppendTag(b, f.number, protowire.EndGroupType)
	}
	b = protowire.AppendTag(b, f.number, protowire.BytesType)
	return protowire.AppendBytes(b, content)
}

// appendScalar puts one element of a scalar into f.
func appendScalar(b []byte, f *field, element []byte) []byte {
	if f.packed {
		b = protowire.AppendTag(b, f.number, protowire.BytesType)
		return protowire.AppendBytes(b, element)
	}
	b = protowire.AppendTag(b, f.number, wireType(f.kind))
	return append(b, element...)
}

// filler completes messages with the fields that somebody requires.
type filler struct {
	depth  int
	failed bool   // there is no payload of a bearable size
	skip   *field // a field of the writer that must stay away
	known  string // a message of the writer's, for an Any to hold
}

const (
	mostDepth   = 24
	mostPayload = 1 << 14
)

// complete answers content with the required fields of w that it lacks, and
// those fields that r requires and w has.
func (b *filler) complete(w, r *message, content []byte) []byte {
	if b.depth++; b.depth > mostDepth || len(content) > mostPayload {
		b.failed = true
	}
	defer func() { b.depth-- }()
	if b.failed {
		return content
	}
	var there map[protoreflect.FieldNumber]bool
	for rest := content; len(rest) > 0; {
		number, _, n := protowire.ConsumeField(rest)
		if n < 0 {
			break
		}
		if there == nil {
			there = map[protoreflect.FieldNumber]bool{}
		}
		there[number] = true
		rest = rest[n:]
	}
	put := func(f, other *field) {
		if !there[f.number] && f != b.skip {
			content = b.minimal(content, f, other)
		}
	}
	for _, f := range w.musts {
		var other *field
		if r != nil {
			other = r.withNumber(f.number)
		}
		put(f, other)
	}
	if r == nil {
		return content
	}
	for _, other := range r.musts {
		if f := w.withNumber(other.number); f != nil && other.card == required && f.oneof == nil && !slices.Contains(w.musts, f) {
			put(f, other)
		}
	}
	return content
}

// minimal appends the smallest value of f that a writer writes.
func (b *filler) minimal(content []byte, f, other *field) []byte {
	if f.message == nil {
		if list := scalars(f); len(list) > 0 {
			return appendScalar(content, f, list[0])
		}
		return content
	}
	var reader *message
	if other != nil {
		reader = other.message
	}
	return appendMessage(content, f, b.complete(f.message, reader, nil))
}

// samples are contents with nothing but values of f in them, the telling ones
// first: each boundary, then two elements where many may be there.
func (b *filler) samples(f, reader *field) (list [][]byte) {
	elements := b.elements(f, reader)
	list = append(list, elements...)
	if f.card.isMany() && len(elements) > 0 {
		last := elements[len(elements)-1]
		list = append(list, append(append([]byte{}, elements[0]...), last...))
		if len(elements) > 2 {
			list = append(list, append(append([]byte{}, elements[0]...), elements[1]...))
		}
		if f.packed {
			var all []byte
			for _, one := range scalars(f) {
				all = append(all, one...)
			}
			list = append(list, protowire.AppendBytes(protowire.AppendTag(nil, f.number, protowire.BytesType), all))
		}
	}
	return list
}

// elements are contents with one element of f each.
func (b *filler) elements(f, reader *field) (list [][]byte) {
	if f.message == nil {
		for _, one := range scalars(f) {
			list = append(list, appendScalar(nil, f, one))
		}
		return list
	}
	var other *message
	if reader != nil {
		other = reader.message
	}
	inner := [][]byte{nil}
	if b.depth < 4 {
		for i, sub := range f.message.fields {
			if i == 6 {
				break
			}
			var to *field
			if other != nil {
				to = other.withNumber(sub.number)
			}
			b.depth++
			parts := b.elements(sub, to)
			b.depth--
			if len(parts) > 3 {
				parts = parts[:3]
			}
			inner = append(inner, parts...)
		}
	}
	if f.message.name == "google.protobuf.Any" {
		inner = append(inner, protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "type.googleapis.com/"+b.known))
	}
	if f.message.isEntry {
		inner = append(entries(f.message, b), inner...)
	}
	for _, content := range inner {
		mark := b.failed
		whole := b.complete(f.message, other, content)
		if b.failed {
			b.failed = mark
			continue
		}
		list = append(list, appendMessage(nil, f, whole))
	}
	return list
}

// entries are contents of a map's entry: keys apart, then values apart.
func entries(m *message, b *filler) (list [][]byte) {
	key, val := m.withNumber(1), m.withNumber(2)
	if key == nil || val == nil {
		return nil
	}
	keys, values := b.elements(key, nil), [][]byte{nil}
	if b.depth++; b.depth < 4 {
		values = b.elements(val, nil)
	}
	b.depth--
	for i := range max(len(keys), len(values)) {
		one := append([]byte{}, keys[min(i, len(keys)-1)]...)
		if len(values) > 0 {
			one = append(one, values[min(i, len(values)-1)]...)
		}
		list = append(list, one)
	}
	return list
}

func (m *message) withNumber(n protoreflect.FieldNumber) *field {
	lo, hi := 0, len(m.fields)
	for lo < hi {
		mid := (lo + hi) / 2
		if m.fields[mid].number < n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(m.fields) && m.fields[lo].number == n {
		return m.fields[lo]
	}
	return nil
}
