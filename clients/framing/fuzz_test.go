package framing_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/framing"
)

// FuzzSplit: any bytes give an answer; what is split joins to the same bytes;
// the payload lies inside the value.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"", "\x00", "\x00\x00\x00\x00\x01", "\x00\x00\x00\x00\x00", "\x00\x80\x00\x00\x00", "\x01", "\x01aaaaaaaaaaaaaaaa\x00data",
		"\x00\x00\x00\x00\x01\x04\x02\x00data", "\x00\x00\x00\x00\x01\xfe\xff\xff\xff\x0f", "\x03\x00aaaaaaaaaaaaaaaax", "{}", "\x0a\x03abc",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		framing.Recognize(value)
		p, rest, err := framing.Split(value)
		if err != nil {
			if rest != nil {
				t.Fatalf("an error with a payload: %v", err)
			}
			return
		}
		joined, err := framing.Join(nil, p)
		if err != nil {
			t.Fatalf("what was split does not join: %v", err)
		}
		if !bytes.Equal(append(joined, rest...), value) {
			t.Fatalf("%x splits and joins to %x", value, joined)
		}
		path, data, err := framing.SplitIndexes(rest, nil)
		if err != nil {
			return
		}
		if len(path) == 0 || len(path) > 64 || len(data) > len(rest) {
			t.Fatalf("path %v, %d of %d bytes left", path, len(data), len(rest))
		}
		head, err := framing.AppendIndexes(nil, path)
		if err != nil {
			t.Fatalf("what was split does not append: %v", err)
		}
		again, left, err := framing.SplitIndexes(append(head, data...), nil)
		if err != nil || !bytes.Equal(left, data) || len(again) != len(path) {
			t.Fatalf("indexes %v come back as %v, %v", path, again, err)
		}
	})
}

// FuzzHeaders: any value of any kind gives an answer, and every text that is
// read follows its grammar.
func FuzzHeaders(f *testing.F) {
	for kind := range uint8(12) {
		f.Add("schemaVersion", kind, []byte("3"))
	}
	f.Add("schemaId", uint8(0), []byte("00112233445566778899aabbccddeeff"))
	f.Add("schemaGuid", uint8(1), []byte(stringGUID))
	f.Add("apicurio.value.globalId", uint8(1), []byte("\x00\x00\x00\x00\x00\x00\x00\x07"))
	f.Fuzz(func(t *testing.T, name string, kind uint8, value []byte) {
		h := framing.Header{Name: name, Value: valueOf(kind, value)}
		framing.RecognizeHeader(h, kind%2 == 0)
		if raw, ok, err := h.Bytes(); ok && err == nil {
			_, _, _ = framing.SplitHeader(raw)
		}
		text, ok, err := h.Text()
		if err != nil && ok || ok && text == "" {
			t.Fatalf("%q, %v, %v", text, ok, err)
		}
		if v, err := framing.ParseVersion(text); err == nil && v.String() != text {
			t.Fatalf("%q reads as version %s", text, v)
		}
		if id, err := framing.ParseID(text); err == nil && id < 1 {
			t.Fatalf("%q reads as id %d", text, id)
		}
		if g, err := framing.ParseGUID(text); err == nil && len(text) != 36 && len(text) != 32 {
			t.Fatalf("%q reads as %s", text, g)
		}
		_, _ = framing.ParseType(text)
		_, _ = framing.ParseText(name, text)
	})
}

func valueOf(kind uint8, b []byte) any {
	var wide [8]byte
	copy(wide[:], b)
	n := binary.BigEndian.Uint64(wide[:])
	switch kind % 12 {
	case 0:
		return string(b)
	case 1:
		return b
	case 2:
		return int8(n)
	case 3:
		return int16(n)
	case 4:
		return int32(n)
	case 5:
		return int64(n)
	case 6:
		return uint32(n)
	case 7:
		return n
	case 8:
		return float64(n)
	case 9:
		return n%2 == 0
	case 10:
		return []any{string(b)}
	}
	return nil
}

func BenchmarkSplit(b *testing.B) {
	value := append([]byte{0, 0, 0, 0, 7, 0}, make([]byte, 200)...)
	buffer := make(framing.Indexes, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		_, rest, err := framing.Split(value)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := framing.SplitIndexes(rest, buffer); err != nil {
			b.Fatal(err)
		}
	}
}
