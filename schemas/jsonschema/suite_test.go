package jsonschema_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// suite is one file of the public JSON Schema test suite (testdata/suite, MIT).
type suite []struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

var suiteDialects = map[string]jsonschema.Dialect{
	"draft4": jsonschema.Draft4, "draft6": jsonschema.Draft6, "draft7": jsonschema.Draft7,
	"draft2019-09": jsonschema.Draft2019, "draft2020-12": jsonschema.Draft2020,
}

// suiteSkips are the tests of the suite that do not hold here, and why.
var suiteSkips = map[string]string{
	"draft2019-09/vocabulary.json/schema that uses custom metaschema with with no validation vocabulary/no validation: invalid number, but it still validates": ownDialect,
	"draft2020-12/vocabulary.json/schema that uses custom metaschema with with no validation vocabulary/no validation: invalid number, but it still validates": ownDialect,

	"draft2020-12/optional/format-assertion.json": ownDialect + "; and format asserts when the caller asks, not when a vocabulary does",
	"draft4/optional/zeroTerminatedFloats.json":   "1.0 is an integer in every draft: a number is its value",
	"draft7/optional/content.json":                "content* never asserts",

	"draft4/optional/format/hostname.json/validation of host names/hostname with consecutive hyphens (RFC1123)": oldHyphens,
	"draft6/optional/format/hostname.json/validation of host names/hostname with consecutive hyphens (RFC1123)": oldHyphens,
}

const (
	ownDialect = "a $schema that is no draft's is read as draft-07"
	oldHyphens = "one rule for host names in all drafts: hyphens at 3 and 4 are reserved for Punycode"
)

// remotes serves the suite's remote documents as declared references.
var remotes = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	root := filepath.Join("testdata", "suite", "remotes")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		out["http://localhost:1234/"+filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		panic(err)
	}
	return out
})

// withDialect puts a $schema first, unless there is one.
func withDialect(text string, d jsonschema.Dialect) string {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &members) != nil || members["$schema"] != nil {
		return text
	}
	rest := strings.TrimLeft(strings.TrimSpace(text)[1:], " \n\t\r")
	if rest == "}" {
		return `{"$schema":"` + d.URI() + `"}`
	}
	return `{"$schema":"` + d.URI() + `",` + rest
}

func parseSuite(text string, d jsonschema.Dialect) (schemas.Schema, error) {
	source := schemas.Source{Type: schemas.JSON, Text: withDialect(text, d)}
	for name := range remotes() {
		if strings.Contains(name, "/draft") && !strings.Contains(name, "/"+folderOf(d)+"/") && !strings.Contains(text, name) {
			continue
		}
		source.References = append(source.References, schemas.Reference{Name: name, Subject: name, Version: 1})
	}
	resolver := schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		return schemas.Resolved{
			Subject: schemas.Subject{Context: in, Name: ref.Subject}, Version: 1,
			Source: schemas.Source{Type: schemas.JSON, Text: withDialect(remotes()[ref.Subject], d)},
		}, nil
	})
	return jsonschema.Format.Parse(context.Background(), source, resolver, schemas.ParseOptions{})
}

func folderOf(d jsonschema.Dialect) string {
	for name, dialect := range suiteDialects {
		if dialect == d {
			return name
		}
	}
	return ""
}

func TestSuite(t *testing.T) {
	t.Parallel()
	ran := 0
	root := filepath.Join("testdata", "suite", "tests")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		folder, file, _ := strings.Cut(rel, "/")
		d := suiteDialects[folder]
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var groups suite
		if err := json.Unmarshal(text, &groups); err != nil {
			return err
		}
		formats := strings.HasPrefix(file, "optional/format/")
		for _, g := range groups {
			s, err := parseSuite(string(g.Schema), d)
			for _, c := range g.Tests {
				ran++
				name := rel + "/" + g.Description + "/" + c.Description
				why, skipped := suiteSkips[name]
				if !skipped {
					if why, skipped = suiteSkips[rel+"/"+g.Description]; !skipped {
						why, skipped = suiteSkips[rel]
					}
				}
				if skipped && why == "" {
					t.Errorf("%s is skipped without a reason", name)
				}
				if skipped {
					continue
				}
				if err != nil {
					t.Errorf("%s: not parsed: %v", name, err)
					continue
				}
				got := s.Reads(s, schemas.Payload{Bytes: c.Data}, schemas.ReadOptions{Formats: formats})
				if got.OK() != c.Valid {
					t.Errorf("%s: valid %v, want %v: %v", name, got.OK(), c.Valid, got.Violations)
				}
				if ok, err := jsonschema.ReadsRemembering(s, c.Data, formats); err == nil && ok != c.Valid {
					t.Errorf("%s: remembering, valid %v, want %v", name, ok, c.Valid)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if ran < 5000 {
		t.Fatalf("only %d tests of the suite ran", ran)
	}
}
