package avro_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
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

// TestOutsidePairs reads random payloads and witnesses across pairs of schemas:
// what the reference calls readable must be read, and a witness must be refused
// or read as another value.
func TestOutsidePairs(t *testing.T) {
	cases := outsideCases[struct {
		ID, Old, New                 string
		OldReferences, NewReferences []caseReference
		Expect                       map[string]bool
		JavaReads                    map[string]string
		Witness                      map[string]struct{ Bytes, Datum string }
	}](t, "handed.json")
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			older, err := parseCase(c.Old, c.OldReferences, schemas.New)
			if err != nil {
				t.Fatal(err)
			}
			newer, err := parseCase(c.New, c.NewReferences, schemas.New)
			if err != nil {
				t.Fatal(err)
			}
			for _, direction := range []string{"BACKWARD", "FORWARD"} {
				reader, writer := newer, older
				if direction == "FORWARD" {
					reader, writer = older, newer
				}
				if w, ok := c.Witness[direction]; ok {
					payload, err := hex.DecodeString(w.Bytes)
					if err != nil {
						t.Fatal(err)
					}
					if !valid(writer, payload) {
						t.Errorf("%s: the witness %s is not valid for its writer: %v", direction, w.Bytes, violations(writer, payload))
					}
					got := reader.Reads(writer, schemas.Payload{Bytes: payload}, schemas.ReadOptions{})
					if got.OK() && len(got.Losses) == 0 && !c.Expect[direction] {
						t.Errorf("%s: the witness %s (%s) is read", direction, w.Bytes, w.Datum)
					}
				}
				r := rand.New(rand.NewPCG(7, 7))
				read, wrote := 0, 0
				for range 60 {
					payload, ok := randomPayload(r, writer.Root(), nil, 0)
					if !ok {
						continue
					}
					wrote++
					got := reader.Reads(writer, schemas.Payload{Bytes: payload}, schemas.ReadOptions{})
					with := reader.Reads(writer, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true})
					if got.OK() != with.OK() {
						t.Errorf("%s: %x is read with a value %v, without %v: %v", direction, payload, with.OK(), got.OK(), with.Violations)
					}
					if got.OK() {
						read++
					} else if c.Expect[direction] && c.JavaReads[direction] == "all" && got.Violations[0].Rule != "default" {
						// A fixed's default of another length is a value of the wrong
						// size in Java, and refused here.
						t.Errorf("%s: %x is refused: %v", direction, payload, got.Violations)
						break
					}
				}
				if wrote > 0 && read == wrote && !c.Expect[direction] && c.JavaReads[direction] != "all" {
					t.Errorf("%s: all of %d payloads are read, but the pair is incompatible", direction, wrote)
				}
				if c.Expect[direction] && c.JavaReads[direction] != "all" && wrote > 0 {
					t.Logf("%s: expected readable, Java reads %q, we read %d of %d", direction, c.JavaReads[direction], read, wrote)
				}
			}
		})
	}
}
