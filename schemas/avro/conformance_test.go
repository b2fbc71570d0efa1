package avro_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// outsideCases reads a case file of the folder named by CARTORIO_CONFORMANCE.
// Unset, the test is skipped loudly; set, it must find cases.
func outsideCases[T any](t *testing.T, name string) []T {
	t.Helper()
	folder := os.Getenv("CARTORIO_CONFORMANCE")
	if folder == "" {
		t.Skip("NOT RUN: set CARTORIO_CONFORMANCE to a folder with conformance cases to run them")
	}
	text, err := os.ReadFile(filepath.Join(folder, "avro", name))
	if err != nil {
		t.Fatal(err)
	}
	var cases []T
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatalf("%s holds no case", name)
	}
	return cases
}

type caseReference struct {
	Name    string
	Subject string
	Version int
	Schema  string
}

// parseCase parses a case's text with its references, listed dependencies
// first; each may use those before it.
func parseCase(text string, refs []caseReference, mode schemas.Mode) (*avro.Schema, error) {
	source := schemas.Source{Type: schemas.Avro, Text: text}
	list := make([]schemas.Reference, len(refs))
	for i, r := range refs {
		list[i] = schemas.Reference{Name: r.Name, Subject: fmt.Sprint("subject-", i), Version: 1}
	}
	source.References = list
	resolver := schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		for i := range list {
			if list[i].Subject == ref.Subject {
				return schemas.Resolved{
					Subject: schemas.Subject{Context: in, Name: ref.Subject}, Version: 1,
					Source: schemas.Source{Type: schemas.Avro, Text: refs[i].Schema, References: list[:i]},
				}, nil
			}
		}
		return schemas.Resolved{}, schemas.ErrSubjectUnknown
	})
	return avro.Parse(context.Background(), source, resolver, schemas.ParseOptions{Mode: mode})
}

func TestOutsideParseCases(t *testing.T) {
	cases := outsideCases[struct {
		ID         string
		Schema     string
		Valid      bool
		Why        string
		References []caseReference
	}](t, "avro-parse.json")
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			_, err := parseCase(c.Schema, c.References, schemas.New)
			if (err == nil) != c.Valid {
				t.Errorf("accepted %v, want %v (%s)\n%s\n%v", err == nil, c.Valid, c.Why, c.Schema, err)
			}
		})
	}
}

func TestOutsideCanonicalCases(t *testing.T) {
	cases := outsideCases[struct {
		ID, Schema, PCF, CRC64, CRC64Signed, CRC64LittleEndian, MD5, SHA256 string
		RegistryCanonical, RegistryNormalized                               string
	}](t, "avro-canonical.json")
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			s, err := parseCase(c.Schema, nil, schemas.New)
			if err != nil {
				t.Fatal(err)
			}
			normalized, _ := s.Normalized()
			if c.RegistryNormalized == "" {
				c.RegistryNormalized = normalized
			}
			header, md5, sha := s.SingleObjectHeader(), s.MD5(), s.SHA256()
			for _, x := range []struct{ what, got, want string }{
				{"canonical", s.Canonical(), c.RegistryCanonical},
				{"normalized", normalized, c.RegistryNormalized},
				{"parsing form", s.ParsingForm(), c.PCF},
				{"crc64", fmt.Sprintf("%016x", s.CRC64()), c.CRC64},
				{"crc64 signed", strconv.FormatInt(int64(s.CRC64()), 10), c.CRC64Signed},
				{"crc64 little-endian", hex.EncodeToString(header[2:]), c.CRC64LittleEndian},
				{"md5", hex.EncodeToString(md5[:]), c.MD5},
				{"sha256", hex.EncodeToString(sha[:]), c.SHA256},
			} {
				if x.got != x.want {
					t.Errorf("%s\n got %s\nwant %s", x.what, x.got, x.want)
				}
			}
		})
	}
}
