package jsonschema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/compat"
	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
)

// TestSpellingChangesNoAnswer: parts that are written alike are not looked into,
// and the answers are those for the same parts laid out anew.
func TestSpellingChangesNoAnswer(t *testing.T) {
	t.Parallel()
	type answers struct {
		Backward, Forward []string
		Effect            compat.Effect
		Changes           []string
	}
	told := 0
	answer := func(old, next string) answers {
		a, b := mustParse(t, old), mustParse(t, next)
		list := func(differences []compat.Difference, err error) []string {
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for _, d := range differences {
				told++
				out = append(out, fmt.Sprint(d.Type, " ", d.Path, " ", d.Compatible))
			}
			return out
		}
		effects, changes := jsoncompat.Checker.Truth(a, b, compat.Budget{})
		out := answers{
			list(jsoncompat.Checker.Reference(b, a, compat.Strict, compat.Budget{})),
			list(jsoncompat.Checker.Reference(a, b, compat.Strict, compat.Budget{})),
			effects[compat.Data], nil,
		}
		for _, c := range changes {
			out.Changes = append(out.Changes, c.Rule+" "+c.Path)
		}
		return out
	}
	scalars := []string{
		`{"type":"string"}`, `{"type":"string","minLength":1,"maxLength":3,"pattern":"^a","format":"date","default":"a","title":"t"}`,
		`{"type":"integer","minimum":1,"multipleOf":2}`, `{"type":"number","exclusiveMaximum":3,"maximum":4}`, `{"type":"boolean","description":"d"}`,
		`{"type":"null"}`, `{"type":"string","minimum":1}`, `{"type":"integer","required":["a"]}`, `{"type":"string","not":{"const":"a"}}`,
		`{"type":"string","enum":["a"]}`, `{"type":"number","if":{"minimum":1}}`, `{"type":["string"]}`, `{"type":"string","anyOf":[{"minLength":1},{"maxLength":0}]}`,
		`{"not":{"type":"string"}}`, `{"allOf":[{"not":{}}]}`, `{"$ref":"#/definitions/d"}`, `{"type":"string","const":"a"}`,
	}
	pairs := [][2]string{}
	for _, one := range scalars {
		for _, other := range []string{`{"type":"string"}`, `{"type":"integer"}`} {
			form := `{"definitions":{"d":{"type":"string"}},"properties":{"a":%s,"b":%s}}`
			pairs = append(pairs, [2]string{fmt.Sprintf(form, one, `{"type":"string"}`), fmt.Sprintf(form, one, other)})
		}
	}
	for i := range uint64(300) {
		g := grower{Rand: rand.New(rand.NewPCG(11, i))}
		old, next := g.pair(1 + g.IntN(3))
		if _, err := parseWith(old, nil); err != nil {
			continue
		}
		if _, err := parseWith(next, nil); err != nil {
			continue
		}
		pairs = append(pairs, [2]string{old, next})
	}
	for _, p := range pairs {
		var spaced bytes.Buffer
		if err := json.Indent(&spaced, []byte(p[1]), "", " "); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(answer(p[0], spaced.String()), answer(p[0], p[1])); diff != "" {
			t.Errorf("%s => %s: -spaced +written alike\n%s", p[0], p[1], diff)
		}
	}
	if len(pairs) < 200 || told < 100 {
		t.Errorf("%d pairs with %d differences show nothing", len(pairs), told)
	}
}
