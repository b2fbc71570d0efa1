package protobuf_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// grown are real files, by their paths in their folder.
type grown struct {
	texts map[string]string
	paths []string
}

// readGrown reads the folder that CARTORIO_REAL names, or else the project's own
// .proto files.
func readGrown(t *testing.T) grown {
	t.Helper()
	root := os.Getenv("CARTORIO_REAL")
	if root == "" {
		root = "../../schemas/protobuf/bundled"
	}
	g := grown{texts: map[string]string{}}
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".proto") {
			return err
		}
		raw, err := os.ReadFile(p)
		rel, relErr := filepath.Rel(root, p)
		if err != nil || relErr != nil {
			return fmt.Errorf("reading %s: %w %w", p, err, relErr)
		}
		g.texts[filepath.ToSlash(rel)] = string(raw)
		g.paths = append(g.paths, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(g.paths)
	if len(g.paths) == 0 {
		t.Fatalf("%s holds no .proto file", root)
	}
	return g
}

// source finds imports by the ends of paths: the folder may hold several roots.
func (g grown) source(text string) schemas.Source {
	s := schemas.Source{Type: schemas.Protobuf, Text: text}
	out, err := protobuf.Outline("main.proto", text, schemas.Limits{})
	if err != nil {
		return s
	}
	for _, need := range out.Needs {
		for _, p := range g.paths {
			if p == need || strings.HasSuffix(p, "/"+need) {
				s.References = append(s.References, schemas.Reference{Name: need, Subject: p, Version: 1})
				break
			}
		}
	}
	return s
}

func (g grown) judge(t *testing.T, text string) (*judge, error) {
	s, err := protobuf.Parse(t.Context(), g.source(text), schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		return schemas.Resolved{Subject: ref.Target(in), Version: 1, Source: g.source(g.texts[ref.Subject])}, nil
	}), schemas.ParseOptions{})
	if err != nil {
		return nil, err
	}
	return judgeOf(s.(*protobuf.Schema))
}

var (
	realField = regexp.MustCompile(`(?m)^(\s*)((?:optional|repeated|required)\s+)?([\w.]+)\s+(\w+)\s*=\s*(\d+)([^;{}]*);`)
	realTypes = []string{"int32", "int64", "uint32", "sint64", "bool", "fixed64", "double", "string", "bytes"}
)

// mutate changes a few fields of a text as people do.
func mutate(r *rand.Rand, text string) string {
	for range 1 + r.IntN(3) {
		found := realField.FindAllStringSubmatchIndex(text, -1)
		if len(found) == 0 {
			return text
		}
		at := found[r.IntN(len(found))]
		part := func(i int) string {
			if at[2*i] < 0 {
				return ""
			}
			return text[at[2*i]:at[2*i+1]]
		}
		label, kind, name, number, rest := part(2), part(3), part(4), part(5), part(6)
		switch r.IntN(9) {
		case 0:
			kind = realTypes[r.IntN(len(realTypes))]
		case 1:
			label = []string{"", "optional ", "repeated ", "required "}[r.IntN(4)]
		case 2:
			name += "_x"
		case 3:
			number += "7"
		case 4:
			rest = ""
		case 5:
			rest = fmt.Sprintf(" [json_name = %q]", name+"J")
		case 6:
			other := found[r.IntN(len(found))]
			kind = text[other[6]:other[7]]
		case 7: // removed
			text = text[:at[0]] + text[at[1]:]
			continue
		case 8: // a further one behind it
			text = text[:at[1]] + fmt.Sprintf("\n%s%s%s more_%s = 9%s;", part(1), label, kind, name, number) + text[at[1]:]
			continue
		}
		text = text[:at[0]] + part(1) + label + kind + " " + name + " = " + number + rest + ";" + text[at[1]:]
	}
	return text
}

// TestHuntGrown is TestHunt on pairs that grow from real files: CARTORIO_REAL
// names a folder of them.
func TestHuntGrown(t *testing.T) {
	t.Parallel()
	g, h := readGrown(t), newHunter(t)
	drawn := map[string]int{}
	for i := uint64(0); h.hunts(); i++ {
		r := rand.New(rand.NewPCG(h.seed, i))
		file := g.paths[int(i)%len(g.paths)]
		oldText := g.texts[file]
		if i%2 == 1 {
			oldText = mutate(r, oldText) // so that two changed states meet, too
		}
		newText := mutate(r, oldText)
		old, err := g.judge(t, oldText)
		if err != nil {
			continue // the change made no schema of it
		}
		next, err := g.judge(t, newText)
		if err != nil {
			continue
		}
		if len(old.schema.Names()) == 0 {
			continue
		}
		drawn[path.Dir(file)]++
		h.pair(r, old, next, fmt.Sprintf("seed %d pair %d, grown from %s\nold: %s\nnew: %s", h.seed, i, file, oldText, newText))
	}
	t.Logf("%d folders took part", len(drawn))
	h.conclude()
}
