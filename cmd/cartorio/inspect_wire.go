package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"unicode"
	"unicode/utf8"
)

// wireField is one field of a Protobuf message as its bytes tell it.
type wireField struct {
	Number int    `json:"number"`
	Wire   string `json:"wire"` // varint, fixed32, fixed64, bytes, group
	// Value is a number in its readings, or bytes in hex.
	Value  string      `json:"value,omitempty"`
	Text   *string     `json:"text,omitempty"`
	Fields []wireField `json:"fields,omitempty"`
}

// Bounds of a dump: what looks like messages inside messages may be anything.
const (
	mostWireDepth  = 24
	mostWireFields = 10_000
)

// wireFields reads bytes as a Protobuf message whose schema is not known; ok is
// false when they cannot be one.
func wireFields(data []byte) (list []wireField, ok bool) {
	if len(data) == 0 {
		return nil, false
	}
	left := mostWireFields
	list, rest, ok := wireMessage(data, 0, mostWireDepth, &left)
	return list, ok && len(rest) == 0
}

// wireMessage reads fields until data ends, or until the group that they are in
// does.
func wireMessage(data []byte, group uint64, depth int, left *int) (list []wireField, rest []byte, ok bool) {
	list = []wireField{}
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		number, wire := tag>>3, tag&7
		if n <= 0 || number == 0 || number > math.MaxInt32>>2 || *left == 0 || depth == 0 {
			return nil, nil, false
		}
		data = data[n:]
		*left--
		f := wireField{Number: int(number)} //nolint:gosec // bounded above
		switch wire {
		case 0:
			v, n := binary.Uvarint(data)
			if n <= 0 {
				return nil, nil, false
			}
			f.Wire, f.Value, data = "varint", varintText(v), data[n:]
		case 1:
			if len(data) < 8 {
				return nil, nil, false
			}
			v := binary.LittleEndian.Uint64(data)
			f.Wire, f.Value, data = "fixed64", fmt.Sprintf("%d (double %g)", v, math.Float64frombits(v)), data[8:]
		case 5:
			if len(data) < 4 {
				return nil, nil, false
			}
			v := binary.LittleEndian.Uint32(data)
			f.Wire, f.Value, data = "fixed32", fmt.Sprintf("%d (float %g)", v, math.Float32frombits(v)), data[4:]
		case 2:
			size, n := binary.Uvarint(data)
			if n <= 0 || size > uint64(len(data)-n) {
				return nil, nil, false
			}
			value := data[n : n+int(size)] //nolint:gosec // not above len(data)
			data = data[n+int(size):]      //nolint:gosec // likewise
			f.Wire = "bytes"
			f.content(value, depth, left)
		case 3:
			f.Wire = "group"
			if f.Fields, data, ok = wireMessage(data, number, depth-1, left); !ok {
				return nil, nil, false
			}
		case 4:
			return list, data, number == group
		default:
			return nil, nil, false
		}
		list = append(list, f)
	}
	return list, nil, group == 0
}

// content says what bytes are: text where they are, else a message where they can
// be one.
func (f *wireField) content(value []byte, depth int, left *int) {
	if isText(value) {
		text := string(value)
		f.Text = &text
		return
	}
	had := *left
	if list, rest, ok := wireMessage(value, 0, depth-1, left); ok && len(rest) == 0 && len(list) > 0 {
		f.Fields = list
		return
	}
	*left = had
	f.Value = "0x" + hex.EncodeToString(value)
}

func isText(value []byte) bool {
	if !utf8.Valid(value) {
		return false
	}
	for _, r := range string(value) {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' && r != '\r' {
			return false
		}
	}
	return true
}

// varintText is a varint in its readings, where they differ.
func varintText(v uint64) string {
	text := fmt.Sprint(v)
	if v > math.MaxInt64 {
		text += fmt.Sprintf(" (int64 %d)", int64(v)) //nolint:gosec // Protobuf's two's complement
	}
	if zigzag := int64(v>>1) ^ -int64(v&1); zigzag < 0 { //nolint:gosec // Protobuf's zig-zag
		text += fmt.Sprintf(" (sint64 %d)", zigzag)
	}
	return text
}
