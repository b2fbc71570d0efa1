package framing_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/schemas"
)

const stringGUID = "095d71cf-1255-6b9d-5e33-0ad575b3df5d"

func guid(t *testing.T, text string) schemas.GUID {
	t.Helper()
	g, err := schemas.ParseGUID(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPrefixVectors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		hex  string
		want framing.Prefix
	}{
		{"id 1", "0000000001", framing.Prefix{Form: framing.ByID, ID: 1}},
		{"id 100001", "00000186a1", framing.Prefix{Form: framing.ByID, ID: 100001}},
		{"greatest id", "007fffffff", framing.Prefix{Form: framing.ByID, ID: math.MaxInt32}},
		{"guid", "01095d71cf12556b9d5e330ad575b3df5d", framing.Prefix{Form: framing.ByGUID, GUID: guid(t, stringGUID)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, data := range []string{"", "data"} {
				whole := append(unhex(t, tt.hex), data...)
				got, rest, err := framing.Split(whole)
				if err != nil || got != tt.want || string(rest) != data || rest == nil {
					t.Fatalf("Split(%x) = %v, %q, %v", whole, got, rest, err)
				}
				joined, err := framing.Join(nil, got)
				if err != nil || !bytes.Equal(append(joined, rest...), whole) {
					t.Fatalf("Join = %x, %v; want %x", joined, err, whole)
				}
			}
			for n := range len(tt.hex) / 2 {
				if _, _, err := framing.Split(unhex(t, tt.hex)[:n]); !errors.Is(err, framing.ErrUnframed) {
					t.Errorf("Split of the first %d bytes: %v, want ErrUnframed", n, err)
				}
			}
		})
	}
}

func TestPrefixRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, hex string
		want      error
	}{
		{"nothing", "", framing.ErrUnframed},
		{"another first byte", "0200000001", framing.ErrUnframed},
		{"JSON", "7b7d", framing.ErrUnframed},
		{"id 0", "0000000000", framing.ErrID},
		{"id above 31 bits", "0080000000", framing.ErrID},
		{"greatest unsigned id", "00ffffffff", framing.ErrID},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if p, rest, err := framing.Split(unhex(t, tt.hex)); !errors.Is(err, tt.want) || rest != nil || p != (framing.Prefix{}) {
				t.Fatalf("Split = %v, %x, %v; want %v", p, rest, err, tt.want)
			}
		})
	}
	for _, p := range []framing.Prefix{{}, {Form: 9}, {Form: framing.ByID}, {Form: framing.ByID, ID: -1}} {
		if out, err := framing.Join([]byte("x"), p); err == nil || string(out) != "x" {
			t.Errorf("Join(%+v) = %q, %v; want an error and dst untouched", p, out, err)
		}
	}
}

func TestIndexVectors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		hex  string
		want framing.Indexes
	}{
		{"00", framing.Indexes{0}},
		{"0202", framing.Indexes{1}},
		{"040000", framing.Indexes{0, 0}},
		{"040200", framing.Indexes{1, 0}},
		{"06040200", framing.Indexes{2, 1, 0}},
		{"027e", framing.Indexes{63}},
		{"028001", framing.Indexes{64}},
		{"02808001", framing.Indexes{8192}},
		{"02feffffff0f", framing.Indexes{math.MaxInt32}},
	} {
		t.Run(tt.hex, func(t *testing.T) {
			t.Parallel()
			whole := append(unhex(t, tt.hex), "data"...)
			got, rest, err := framing.SplitIndexes(whole, nil)
			if err != nil || string(rest) != "data" {
				t.Fatalf("SplitIndexes = %v, %q, %v", got, rest, err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Fatal(d)
			}
			back, err := framing.AppendIndexes(nil, got)
			if err != nil || hex.EncodeToString(back) != tt.hex {
				t.Fatalf("AppendIndexes = %x, %v", back, err)
			}
			for n := range len(tt.hex) / 2 {
				if _, _, err := framing.SplitIndexes(unhex(t, tt.hex)[:n], nil); !errors.Is(err, framing.ErrIndexes) {
					t.Errorf("the first %d bytes: %v, want ErrIndexes", n, err)
				}
			}
		})
	}
}

func TestIndexesLongForm(t *testing.T) {
	t.Parallel()
	got, rest, err := framing.SplitIndexes([]byte{2, 0, 'x'}, nil)
	if err != nil || string(rest) != "x" || cmp.Diff(framing.Indexes{0}, got) != "" {
		t.Fatalf("02 00 reads as %v, %q, %v; want [0]", got, rest, err)
	}
}

func TestIndexesRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, hex string }{
		{"negative count", "01"},
		{"count of 2^31-1", "feffffff0f0000"},
		{"count of -2^31", "ffffffff0f0000"},
		{"count above what remains", "0600"},
		{"count of 65", "8201" + hex.EncodeToString(make([]byte, 65))},
		{"negative number", "0201"},
		{"number of 6 bytes", "02808080808001"},
		{"number of over 32 bits", "02ffffffff1f"},
		{"number that never ends", "0280808080808080"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if path, rest, err := framing.SplitIndexes(unhex(t, tt.hex), nil); !errors.Is(err, framing.ErrIndexes) || path != nil || rest != nil {
				t.Fatalf("= %v, %x, %v; want ErrIndexes", path, rest, err)
			}
		})
	}
	if got, _, err := framing.SplitIndexes(append([]byte{0x80, 0x01}, make([]byte, 64)...), nil); err != nil || len(got) != 64 {
		t.Errorf("a path of 64 numbers: %d, %v", len(got), err)
	}
	for _, path := range []framing.Indexes{nil, {}, {-1}, {math.MaxInt32 + 1}, make(framing.Indexes, 65)} {
		if _, err := framing.AppendIndexes(nil, path); !errors.Is(err, framing.ErrIndexes) {
			t.Errorf("AppendIndexes(%v) = %v, want ErrIndexes", path, err)
		}
	}
}

func TestBinaryHeader(t *testing.T) {
	t.Parallel()
	g := guid(t, stringGUID)
	for _, tt := range []struct {
		name string
		path framing.Indexes
		want string
	}{
		{"no indexes", nil, "01095d71cf12556b9d5e330ad575b3df5d"},
		{"first message", framing.Indexes{0}, "01095d71cf12556b9d5e330ad575b3df5d00"},
		{"nested message", framing.Indexes{1, 0}, "01095d71cf12556b9d5e330ad575b3df5d040200"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			value, err := framing.JoinHeader(g, tt.path)
			if err != nil || hex.EncodeToString(value) != tt.want {
				t.Fatalf("JoinHeader = %x, %v", value, err)
			}
			p, rest, err := framing.SplitHeader(value)
			if err != nil || p.GUID != g || hex.EncodeToString(rest) != tt.want[34:] {
				t.Fatalf("SplitHeader = %v, %x, %v", p, rest, err)
			}
		})
	}
	if p, _, err := framing.SplitHeader([]byte{0, 0, 0, 0, 7}); err != nil || p.ID != 7 {
		t.Errorf("a header by id = %v, %v", p, err)
	}
	if _, err := framing.JoinHeader(g, framing.Indexes{}); !errors.Is(err, framing.ErrIndexes) {
		t.Errorf("an empty path: %v", err)
	}
}

func TestSplitAllocatesNothing(t *testing.T) {
	value := []byte{0, 0, 0, 0, 7, 0, 1, 2, 3}
	buffer := make(framing.Indexes, 0, 8)
	if n := testing.AllocsPerRun(100, func() {
		_, rest, _ := framing.Split(value)
		if _, _, err := framing.SplitIndexes(rest, buffer); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestForeignFramings(t *testing.T) {
	t.Parallel()
	hex32 := "00112233445566778899aabbccddeeff"
	for _, tt := range []struct {
		name  string
		value []byte
		want  framing.Foreign
		ok    bool
	}{
		{"glue", append(unhex(t, "0300"+hex32), 'x'), framing.Foreign{Vendor: framing.Glue, Form: "schemaVersionId", ID: "00112233-4455-6677-8899-aabbccddeeff", Size: 18}, true},
		{"glue, compressed", unhex(t, "0305"+hex32), framing.Foreign{Vendor: framing.Glue, Form: "schemaVersionId", ID: "00112233-4455-6677-8899-aabbccddeeff", Compression: 5, Size: 18}, true},
		{"glue, too short", unhex(t, "0300"+hex32)[:17], framing.Foreign{}, false},
		{"glue, unknown compression", unhex(t, "0307"+hex32), framing.Foreign{}, false},
		{"azure, old", append([]byte{0, 0, 0, 0}, hex32+"data"...), framing.Foreign{Vendor: framing.Azure, Form: "schemaId", ID: hex32, Size: 36}, true},
		{"apicurio, 8 bytes", unhex(t, "00000000000000002a31"), framing.Foreign{Vendor: framing.Apicurio, Form: "globalId", ID: "42", Size: 9}, true},
		{"apicurio, id 0", unhex(t, "000000000000000000"), framing.Foreign{}, false},
		{"confluent", unhex(t, "000000000731"), framing.Foreign{}, false},
		{"empty", nil, framing.Foreign{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := framing.Recognize(tt.value)
			if ok != tt.ok || got != tt.want {
				t.Fatalf("= %+v, %v", got, ok)
			}
		})
	}
}

func TestForeignHeaders(t *testing.T) {
	t.Parallel()
	hex32 := "00112233445566778899aabbccddeeff"
	for _, tt := range []struct {
		name string
		h    framing.Header
		key  bool
		want string
	}{
		{"apicurio globalId", framing.Header{Name: "apicurio.value.globalId", Value: unhex(t, "0000000000000007")}, false, "apicurio globalId 7"},
		{"apicurio contentId of the key", framing.Header{Name: "apicurio.key.contentId", Value: unhex(t, "0000000000000007")}, true, "apicurio contentId 7"},
		{"apicurio of the other side", framing.Header{Name: "apicurio.key.contentId", Value: unhex(t, "0000000000000007")}, false, ""},
		{"apicurio hash", framing.Header{Name: "apicurio.value.contentHash", Value: "abc"}, false, "apicurio contentHash abc"},
		{"apicurio, 4 bytes", framing.Header{Name: "apicurio.value.globalId", Value: unhex(t, "00000007")}, false, ""},
		{"apicurio, encoding", framing.Header{Name: "apicurio.value.encoding", Value: "JSON"}, false, ""},
		{"azure", framing.Header{Name: "schemaId", Value: []byte(hex32)}, false, "azure schemaId " + hex32},
		{"ours", framing.Header{Name: "schemaId", Value: "7"}, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := framing.RecognizeHeader(tt.h, tt.key)
			if ok != (tt.want != "") || ok && got.String() != tt.want {
				t.Fatalf("= %v, %v; want %q", got, ok, tt.want)
			}
		})
	}
	list := func(names ...string) (out []framing.Header) {
		for i := 0; i < len(names); i += 2 {
			out = append(out, framing.Header{Name: "apicurio." + names[i], Value: names[i+1]})
		}
		return out
	}
	for want, headers := range map[string][]framing.Header{
		"apicurio artifact shop/or%2Fders@3":  list("value.version", "3", "value.groupId", "shop", "value.artifactId", "or/ders"),
		"apicurio artifact default/orders@v1": list("value.artifactId", "orders", "value.version", "v1"),
		"apicurio contentHash abc":            list("value.artifactId", "orders", "value.version", "v1", "value.contentHash", "abc"),
	} {
		if f, ok := framing.RecognizeHeaders(headers, false); !ok || f.String() != want {
			t.Errorf("%v, %v, want %s", f, ok, want)
		}
	}
	for _, headers := range [][]framing.Header{nil, list("value.artifactId", "orders"), list("value.version", "1"), list("key.artifactId", "orders", "key.version", "1"), {{Name: "apicurio.value.artifactId", Value: 1.5}, {Name: "apicurio.value.version", Value: "1"}}} {
		if f, ok := framing.RecognizeHeaders(headers, false); ok {
			t.Errorf("%v is %v", headers, f)
		}
	}
	if f, ok := framing.RecognizeContentType("avro/binary+" + hex32); !ok || f.ID != hex32 {
		t.Errorf("content type: %v, %v", f, ok)
	}
	if _, ok := framing.RecognizeContentType("avro/binary"); ok {
		t.Error("a content type without an id was recognised")
	}
}

func TestSplitTellsSizes(t *testing.T) {
	t.Parallel()
	for hex, want := range map[string]string{
		"":     "split a value of 0 bytes: no schema prefix",
		"00":   "split a value of 1 byte: no schema prefix: 0x00 and 4 bytes of id are needed",
		"0100": "split a value of 2 bytes: no schema prefix: 0x01 and 16 bytes of GUID are needed",
		"7b":   "split a value that begins with 0x7b: no schema prefix",
	} {
		if _, _, err := framing.Split(unhex(t, hex)); err == nil || err.Error() != want {
			t.Errorf("Split(%s): %v, want %s", hex, err, want)
		}
	}
}
