package jsonschema_test

import (
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
)

// TestFormats holds what the public suite does not: the rest of it runs in
// TestSuite.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format    string
		good, bad []string
	}{
		{"date", []string{`"2024-02-29"`, `1`}, []string{`"2023-02-29"`, `"2024-2-1"`, `""`}},
		{"time", []string{`"23:59:60Z"`, `"15:59:60-08:00"`, `"00:00:00.5+01:00"`}, []string{`"22:59:60Z"`, `"24:00:00Z"`, `"00:00:00"`, `"00:00:00.Z"`}},
		{"date-time", []string{`"2024-01-01T00:00:00Z"`, `"2024-01-01t00:00:00z"`}, []string{`"2024-01-01 00:00:00Z"`, `"2024-01-01"`}},
		{"duration", []string{`"P1Y"`, `"PT1H2M"`, `"P2W"`}, []string{`"P"`, `"PT"`, `"P1YT"`, `"P1Y1D"`, `"P1W1D"`, `"1Y"`}},
		{"email", []string{`"a@b"`, `"\"a b\"@b.c"`, `"a@[127.0.0.1]"`, `"a@[IPv6:::1]"`}, []string{`"a"`, `"@b"`, `".a@b"`, `"a@"`, `"a@[1]"`, `"é@b"`}},
		{"idn-email", []string{`"é@b"`}, []string{`"é@"`}},
		{"hostname", []string{`"a.b-c"`, `"xn--bcher-kva"`}, []string{`""`, `"-a"`, `"a_b"`, `"xn--x"`, `"é"`, `"a."`}},
		{"idn-hostname", []string{`"bücher.example"`, `"xn--bcher-kva"`}, []string{`""`, `"Bücher"`, `"a b"`, `"\u200da"`}},
		{"ipv4", []string{`"1.2.3.4"`}, []string{`"1.2.3"`, `"01.2.3.4"`, `"::1"`}},
		{"ipv6", []string{`"::1"`}, []string{`"1.2.3.4"`, `"::1%eth0"`}},
		{"uri", []string{`"http://a/b?c#d"`, `"urn:a:b"`, `"http://[::1]:80/"`}, []string{`"/a"`, `"a b:c"`, `"http://a/%zz"`, `"http://[a]/"`, `"http://a:b/"`, `"1a:b"`}},
		{"uri-reference", []string{`"a/b"`, `""`, `"#a"`, `"./a:b"`}, []string{`"a\\b"`, `"1:b"`}},
		{"iri", []string{`"http://é/"`}, []string{`"é"`}},
		{"uri-template", []string{`"a{+b*,c:3}"`}, []string{`"a{"`, `"a}"`, `"{b:0}"`, `"{}"`}},
		{"json-pointer", []string{`""`, `"/a~0~1"`}, []string{`"a"`, `"/~2"`, `"/~"`}},
		{"relative-json-pointer", []string{`"0"`, `"1/a"`, `"2#"`}, []string{`"01"`, `"/a"`, `""`, `"-1"`}},
		{"uuid", []string{`"2EB8AA08-AA98-11EA-B4AA-73B441D16380"`}, []string{`"2eb8aa08aa9811eab4aa73b441d16380"`, `"x"`}},
		{"regex", []string{`"^a$"`}, []string{`"("`, `"\\a"`}},
		{"nobody knows it", []string{`"x"`}, nil},
	} {
		s := mustParse(t, `{"format":"`+c.format+`"}`)
		for want, texts := range map[bool][]string{true: c.good, false: c.bad} {
			for _, text := range texts {
				if got := s.Reads(s, schemas.Payload{Bytes: []byte(text)}, schemas.ReadOptions{Formats: true}); got.OK() != want {
					t.Errorf("%s: %s: want %v", c.format, text, want)
				}
				if got := read(s, text); !got.OK() {
					t.Errorf("%s asserts unasked on %s", c.format, text)
				}
			}
		}
	}
}
