package framing_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/schemas"
)

func TestHeaderText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		value  any
		want   string
		ok     bool
		broken bool
	}{
		{"text", "3", "3", true, false},
		{"text kept as it is", " 3 ", " 3 ", true, false},
		{"bytes", []byte("3"), "3", true, false},
		{"int", 3, "3", true, false},
		{"int8", int8(3), "3", true, false},
		{"int16", int16(3), "3", true, false},
		{"int32", int32(3), "3", true, false},
		{"int64", int64(3), "3", true, false},
		{"uint", uint(3), "3", true, false},
		{"uint8", uint8(3), "3", true, false},
		{"uint16", uint16(3), "3", true, false},
		{"uint32", uint32(3), "3", true, false},
		{"uint64", uint64(3), "3", true, false},
		{"negative", int32(-3), "-3", true, false},
		{"nil", nil, "", false, false},
		{"nil bytes", []byte(nil), "", false, false},
		{"empty text", "", "", false, true},
		{"empty bytes", []byte{}, "", false, true},
		{"bytes that are not UTF-8", []byte{0xff}, "", false, true},
		{"text that is not UTF-8", "\xff", "", false, true},
		{"byte-order mark", []byte("\xef\xbb\xbf3"), "", false, true},
		{"bool", true, "", false, true},
		{"float32", float32(3), "", false, true},
		{"float64", 3.0, "", false, true},
		{"time", time.Unix(3, 0), "", false, true},
		{"list", []any{"3"}, "", false, true},
		{"table", map[string]any{"a": 3}, "", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok, err := framing.Header{Name: "schemaVersion", Value: tt.value}.Text()
			if got != tt.want || ok != tt.ok || errors.Is(err, framing.ErrMalformed) != tt.broken || (err != nil) != tt.broken {
				t.Fatalf("= %q, %v, %v", got, ok, err)
			}
			if err != nil && !strings.Contains(err.Error(), "schemaVersion") {
				t.Errorf("%q does not name the header", err)
			}
		})
	}
}

func TestVersionGrammar(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]schemas.Version{"1": 1, "3": 3, "10": 10, "2147483647": 2147483647} {
		if got, err := framing.ParseVersion(text); err != nil || got != want {
			t.Errorf("ParseVersion(%q) = %d, %v", text, got, err)
		}
		if got, err := framing.ParseID(text); err != nil || got != int32(want) {
			t.Errorf("ParseID(%q) = %d, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "0", "03", "+3", "-1", " 3", "3 ", "3.0", "3e0", "0x3", "1_0", "latest", "v3", "２", "2147483648", "9999999999", "10000000000",
		"18446744073709551617", "3\n", "3\x00", strings.Repeat("1", 1000),
	} {
		if got, err := framing.ParseVersion(text); !errors.Is(err, framing.ErrMalformed) {
			t.Errorf("ParseVersion(%q) = %d, %v; want ErrMalformed", text, got, err)
		} else if len(err.Error()) > 300 {
			t.Errorf("the error repeats %d bytes", len(err.Error()))
		}
		if _, err := framing.ParseID(text); !errors.Is(err, framing.ErrMalformed) {
			t.Errorf("ParseID(%q): %v; want ErrMalformed", text, err)
		}
	}
}

func TestOtherGrammars(t *testing.T) {
	t.Parallel()
	for _, text := range []string{stringGUID, strings.ToUpper(stringGUID), strings.ReplaceAll(stringGUID, "-", "")} {
		if g, err := framing.ParseGUID(text); err != nil || g.String() != stringGUID {
			t.Errorf("ParseGUID(%q) = %v, %v", text, g, err)
		}
	}
	for _, text := range []string{"", stringGUID[1:], stringGUID + "0", "{" + stringGUID + "}", " " + stringGUID, strings.Replace(stringGUID, "0", "g", 1)} {
		if _, err := framing.ParseGUID(text); !errors.Is(err, framing.ErrMalformed) {
			t.Errorf("ParseGUID(%q): %v; want ErrMalformed", text, err)
		}
	}
	for _, text := range []string{"AVRO", "JSON", "PROTOBUF"} {
		if got, err := framing.ParseType(text); err != nil || string(got) != text {
			t.Errorf("ParseType(%q) = %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "avro", "XML", "AVRO "} {
		if _, err := framing.ParseType(text); !errors.Is(err, framing.ErrMalformed) {
			t.Errorf("ParseType(%q): %v; want ErrMalformed", text, err)
		}
	}
	if _, err := framing.ParseText("schemaSubject", strings.Repeat("a", 255)); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", strings.Repeat("a", 256)} {
		if _, err := framing.ParseText("schemaSubject", text); !errors.Is(err, framing.ErrMalformed) {
			t.Errorf("a text of %d bytes: %v; want ErrMalformed", len(text), err)
		}
	}
}
