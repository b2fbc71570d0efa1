package framing_test

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/schemas"
)

// The acceptance cases F1 to F6 of the client specification, each by its name;
// F3 is FuzzSplit, F7 is validate's TestDetectNeverMisreads.

// whole is a vector of the specification, prefix and indexes and data.
type whole struct {
	hex    string
	prefix framing.Prefix
	path   framing.Indexes // nil: the data follows the prefix
}

func vectors() []whole {
	guid := schemas.GUID{0x09, 0x5d, 0x71, 0xcf, 0x12, 0x55, 0x6b, 0x9d, 0x5e, 0x33, 0x0a, 0xd5, 0x75, 0xb3, 0xdf, 0x5d}
	id := func(n int32) framing.Prefix { return framing.Prefix{Form: framing.ByID, ID: n} }
	return []whole{
		{hex: "0000000001", prefix: id(1)},
		{hex: "00000186a1", prefix: id(100001)},
		{hex: "01095d71cf12556b9d5e330ad575b3df5d", prefix: framing.Prefix{Form: framing.ByGUID, GUID: guid}},
		{hex: "0000000001" + "00", prefix: id(1), path: framing.Indexes{0}},
		{hex: "0000000001" + "0202", prefix: id(1), path: framing.Indexes{1}},
		{hex: "0000000001" + "040000", prefix: id(1), path: framing.Indexes{0, 0}},
		{hex: "0000000001" + "040200", prefix: id(1), path: framing.Indexes{1, 0}},
		{hex: "0000000001" + "06040200", prefix: id(1), path: framing.Indexes{2, 1, 0}},
		{hex: "0000000001" + "027e", prefix: id(1), path: framing.Indexes{63}},
		{hex: "0000000001" + "028001", prefix: id(1), path: framing.Indexes{64}},
		{hex: "0000000001" + "02808001", prefix: id(1), path: framing.Indexes{8192}},
		{hex: "01095d71cf12556b9d5e330ad575b3df5d" + "040200", prefix: framing.Prefix{Form: framing.ByGUID, GUID: guid}, path: framing.Indexes{1, 0}},
	}
}

func TestF1EveryVectorBothWays(t *testing.T) {
	t.Parallel()
	for _, v := range vectors() {
		value := append(unhex(t, v.hex), "data"...)
		p, rest, err := framing.Split(value)
		if err != nil || p != v.prefix {
			t.Errorf("%s: %v, %v", v.hex, p, err)
			continue
		}
		made, err := framing.Join(nil, v.prefix)
		if v.path != nil {
			var path framing.Indexes
			if path, rest, err = framing.SplitIndexes(rest, nil); err != nil || len(path) != len(v.path) {
				t.Errorf("%s: %v, %v", v.hex, path, err)
			}
			for i := range path {
				if path[i] != v.path[i] {
					t.Errorf("%s: %v, want %v", v.hex, path, v.path)
				}
			}
			made, err = framing.AppendIndexes(made, v.path)
		}
		if err != nil || string(rest) != "data" || !bytes.Equal(append(made, rest...), value) {
			t.Errorf("%s comes back as %x with %q left, %v", v.hex, made, rest, err)
		}
	}
}

func TestF2EveryTruncation(t *testing.T) {
	for _, v := range vectors() {
		value := unhex(t, v.hex)
		for n := range value {
			cut := value[:n]
			_, rest, err := framing.Split(cut)
			if err == nil && v.path != nil {
				_, _, err = framing.SplitIndexes(rest, nil)
			}
			if err == nil {
				t.Errorf("%s cut at %d is whole", v.hex, n)
			}
			// An error's text is all that may be allocated, whatever a count claims.
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 10 {
				_, rest, _ := framing.Split(cut)
				_, _, _ = framing.SplitIndexes(rest, nil)
			}
			runtime.ReadMemStats(&after)
			if got := (after.TotalAlloc - before.TotalAlloc) / 10; got > 8<<10 {
				t.Errorf("%s cut at %d: %d bytes allocated", v.hex, n, got)
			}
		}
	}
}

func TestF4LongFormOfTheFirst(t *testing.T) {
	t.Parallel()
	path, rest, err := framing.SplitIndexes([]byte{2, 0, 'x'}, nil)
	if err != nil || len(path) != 1 || path[0] != 0 || string(rest) != "x" {
		t.Errorf("%v, %q, %v", path, rest, err)
	}
	if head, err := framing.AppendIndexes(nil, path); err != nil || !bytes.Equal(head, []byte{0}) {
		t.Errorf("it is written as %x, %v", head, err)
	}
}

func TestF5HostileIndexes(t *testing.T) {
	t.Parallel()
	for name, hex := range map[string]string{
		"a count of 2^31-1": "feffffff0f", "a negative count": "01", "a negative number": "0201",
		"a varint of 6 bytes": "808080808000", "a count above what remains": "0a00", "a count of 65": "8201" + strings.Repeat("00", 65),
	} {
		if _, _, err := framing.SplitIndexes(unhex(t, hex), nil); !errors.Is(err, framing.ErrIndexes) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestF6ForeignFramingsAreNamed(t *testing.T) {
	t.Parallel()
	const hex32 = "00112233445566778899aabbccddeeff"
	for want, value := range map[string][]byte{
		"aws-glue schemaVersionId 00112233-4455-6677-8899-aabbccddeeff": append(unhex(t, "0300"+hex32), '{'),
		"azure schemaId " + hex32: append([]byte{0, 0, 0, 0}, hex32+"{}"...),
		"apicurio globalId 42":    unhex(t, "00000000000000002a7b7d"),
	} {
		if f, ok := framing.Recognize(value); !ok || f.String() != want {
			t.Errorf("%v, %v, want %s", f, ok, want)
		}
	}
}
