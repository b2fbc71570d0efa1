package avro_test

import (
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/google/go-cmp/cmp"
)

func TestModel(t *testing.T) {
	t.Parallel()
	s := mustParse(t, `{"type":"record","name":"n.P","aliases":["Q","m.R","n.Q"],"doc":"","fields":[
		{"name":"a","type":{"type":"enum","name":"E","symbols":["A","B"],"default":"B"},"aliases":["b","b"],"order":"ignore"},
		{"name":"c","type":["null","E",{"type":"map","values":{"type":"fixed","name":"F","size":3}}],"x":1}]}`)
	p := s.Root().Named
	if s.Root().Kind != avro.Record || !s.Root().Kind.IsNamed() || s.Root().Kind.IsPrimitive() || !avro.String.IsPrimitive() {
		t.Error("the kinds are wrong")
	}
	if p.Name != "P" || p.Namespace != "n" || p.Full != "n.P" || !p.HasDoc || p.Doc != "" || p.IsError {
		t.Errorf("got %+v", p)
	}
	if diff := cmp.Diff([]string{"n.Q", "m.R"}, p.Aliases); diff != "" {
		t.Error(diff)
	}
	e := p.Field("a").Type.Named
	if e != p.Fields[1].Type.Branches[1].Named || e != s.Lookup("n.E") || s.Lookup("E") != nil {
		t.Error("the uses of one definition do not share it")
	}
	if e.Symbol("B") != 1 || e.Symbol("C") != -1 || !e.HasDefault || e.Default != "B" {
		t.Errorf("got %+v", e)
	}
	if f := p.Fields[0]; f.Order != avro.Ignore || f.Order.String() != "ignore" || len(f.Aliases) != 1 || f.Index != 0 || p.Field("z") != nil {
		t.Errorf("got %+v", f)
	}
	if a := p.Fields[1].Attributes; len(a) != 1 || a[0].Name != "x" || a[0].Value.Text != "1" {
		t.Errorf("got %+v", a)
	}
	var names []string
	for i, n := range s.Known() {
		names = append(names, n.Full)
		if n.Number != i || n != s.Definitions()[i] {
			t.Errorf("%s has the number %d at %d", n.Full, n.Number, i)
		}
	}
	if got := strings.Join(names, " "); got != "n.P n.E n.F" || got != strings.Join(s.Names(), " ") {
		t.Errorf("got %s", got)
	}
	if avro.Kind(0).String() != "unknown" || avro.Kind(99).String() != "unknown" || avro.Fixed.String() != "fixed" {
		t.Error("the kinds' names are wrong")
	}
}

func TestLogical(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]avro.Logical{
		`{"type":"int","logicalType":"date"}`:                                                          {Name: "date"},
		`{"type":"long","logicalType":"date"}`:                                                         {},
		`{"type":"long","logicalType":"local-timestamp-nanos"}`:                                        {Name: "local-timestamp-nanos"},
		`{"type":"bytes","logicalType":"decimal","precision":4}`:                                       {Name: "decimal", Precision: 4},
		`{"type":"bytes","logicalType":"decimal","precision":4,"scale":4}`:                             {Name: "decimal", Precision: 4, Scale: 4},
		`{"type":"bytes","logicalType":"decimal","precision":4,"scale":5}`:                             {},
		`{"type":"bytes","logicalType":"decimal","precision":4,"scale":-1}`:                            {},
		`{"type":"bytes","logicalType":"decimal","precision":4,"scale":"1"}`:                           {},
		`{"type":"bytes","logicalType":"decimal","precision":0}`:                                       {},
		`{"type":"bytes","logicalType":"decimal","precision":"4"}`:                                     {},
		`{"type":"bytes","logicalType":"decimal","precision":4.0}`:                                     {},
		`{"type":"string","logicalType":"decimal","precision":4}`:                                      {},
		`{"type":"fixed","name":"F","size":1,"logicalType":"decimal","precision":2}`:                   {Name: "decimal", Precision: 2},
		`{"type":"fixed","name":"F","size":1,"logicalType":"decimal","precision":3}`:                   {},
		`{"type":"fixed","name":"F","size":0,"logicalType":"decimal","precision":1}`:                   {},
		`{"type":"fixed","name":"F","size":8,"logicalType":"decimal","precision":18}`:                  {Name: "decimal", Precision: 18},
		`{"type":"fixed","name":"F","size":8,"logicalType":"decimal","precision":19}`:                  {},
		`{"type":"fixed","name":"F","size":16,"logicalType":"uuid"}`:                                   {Name: "uuid"},
		`{"type":"fixed","name":"F","size":15,"logicalType":"uuid"}`:                                   {},
		`{"type":"string","logicalType":"uuid"}`:                                                       {Name: "uuid"},
		`{"type":"fixed","name":"F","size":12,"logicalType":"duration"}`:                               {Name: "duration"},
		`{"type":"fixed","name":"F","size":11,"logicalType":"duration"}`:                               {},
		`{"type":"bytes","logicalType":"big-decimal"}`:                                                 {Name: "big-decimal"},
		`{"type":"int","logicalType":"moon"}`:                                                          {},
		`{"type":"int","logicalType":5}`:                                                               {},
		`{"type":"array","items":"int","logicalType":"date"}`:                                          {},
		`{"type":"record","name":"R","fields":[],"logicalType":"date"}`:                                {},
		`{"type":"bytes","logicalType":"decimal","precision":2147483648}`:                              {},
		`{"type":"fixed","name":"F","size":4,"logicalType":"decimal","precision":9,"scale":2,"x":"y"}`: {Name: "decimal", Precision: 9, Scale: 2},
	} {
		s := mustParse(t, text)
		if got := s.Root().Logical; got != want || got.IsZero() != (want == avro.Logical{}) {
			t.Errorf("%s is %+v, want %+v", text, got, want)
		}
	}
}

// TestRepeatedDefinitions compares second definitions part by part.
func TestRepeatedDefinitions(t *testing.T) {
	t.Parallel()
	first := `{"type":"record","name":"Q","x":{"a":[1,2.0,"s",true,null],"b":{}},"fields":[
		{"name":"a","type":["null",{"type":"array","items":{"type":"map","values":"int","y":1}}],"default":null},
		{"name":"e","type":{"type":"enum","name":"E","symbols":["A","B"]},"default":"A"},
		{"name":"d","type":"double","default":"NaN","aliases":["z"]}]}`
	for name, c := range map[string]struct {
		from, to string
		want     bool
	}{
		"nothing":                  {``, ``, true},
		"doc":                      {`"name":"Q"`, `"name":"Q","doc":"d"`, true},
		"alias":                    {`"name":"Q"`, `"name":"Q","aliases":["R"]`, true},
		"field alias":              {`"aliases":["z"]`, `"aliases":["y"]`, true},
		"order of members":         {`"x":{"a":[1,2.0,"s",true,null],"b":{}}`, `"x":{"b":{},"a":[1,2.0,"s",true,null]}`, true},
		"spelling of a number":     {`2.0`, `2.00`, true},
		"error for record":         {`"type":"record"`, `"type":"error"`, true},
		"another number":           {`2.0`, `2.5`, false},
		"another kind":             {`"s"`, `null`, false},
		"another text":             {`"s"`, `"t"`, false},
		"another boolean":          {`true`, `false`, false},
		"another member":           {`"b":{}`, `"c":{}`, false},
		"one member more":          {`"b":{}`, `"b":{"c":1}`, false},
		"one item more":            {`true,null`, `true,null,null`, false},
		"type":                     {`"values":"int"`, `"values":"long"`, false},
		"attribute of a type":      {`"y":1`, `"y":2`, false},
		"one branch more":          {`["null",{`, `["null","int",{`, false},
		"default":                  {`"default":"A"`, `"default":"B"`, false},
		"no default":               {`,"default":"A"`, ``, false},
		"order":                    {`"default":"NaN"`, `"default":"NaN","order":"ignore"`, false},
		"name of a field":          {`"name":"d"`, `"name":"dd"`, false},
		"symbols":                  {`"symbols":["A","B"]`, `"symbols":["B","A"]`, false},
		"symbol more":              {`"symbols":["A","B"]`, `"symbols":["A","B","C"]`, false},
		"another kind of the name": {`{"type":"enum","name":"E","symbols":["A","B"]}`, `{"type":"fixed","name":"E","size":1}`, false},
	} {
		second := strings.Replace(first, c.from, c.to, 1)
		_, err := parse(`[{"type":"array","items":`+first+`},{"type":"map","values":`+second+`}]`, schemas.New)
		if (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBranchIsChosenByAllItReads has branches that differ inside circles of
// records: a guess made inside a circle must not outlive it.
func TestBranchIsChosenByAllItReads(t *testing.T) {
	t.Parallel()
	p := func(namespace, z string) string {
		return `{"type":"record","name":"` + namespace + `.P","fields":[{"name":"q","type":["null",{"type":"record","name":"Q","fields":[{"name":"p","type":["null","P"]},{"name":"f","type":{"type":"array","items":{"type":"fixed","name":"F","size":1}}},{"name":"e","type":{"type":"map","values":{"type":"enum","name":"E","symbols":["A"]}}}]}]},{"name":"z","type":"` + z + `"}]}`
	}
	record := func(first, second string) string {
		return `{"type":"record","name":"Top","fields":[{"name":"one","type":` + first + `},{"name":"two","type":` + second + `}]}`
	}
	writer := mustParse(t, record(p("w", "int"), `"w.Q"`))
	reader := mustParse(t, record(`[`+p("a", "string")+`,`+p("b", "long")+`]`, `["a.Q","b.Q"]`))
	// one: q absent, z 7; two: p with q absent and z 5, no f, e is {k: A}.
	payload := unhex(t, "00 0e  02 00 0a 00 02 026b 00 00")
	got := reader.Reads(writer, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true})
	want := map[string]any{
		"one": map[string]any{"q": nil, "z": int64(7)},
		"two": map[string]any{"p": map[string]any{"q": nil, "z": int64(5)}, "f": []any{}, "e": map[string]any{"k": "A"}},
	}
	if diff := cmp.Diff(want, got.Value); diff != "" || !got.OK() {
		t.Errorf("%v\n%s", got.Violations, diff)
	}
	for name, edit := range map[string][2]string{
		"size of a fixed":       {`"size":1`, `"size":2`},
		"symbol":                {`["A"]`, `["B"]`},
		"field without default": {`{"name":"z"`, `{"name":"y","type":"int"},{"name":"z"`},
		"ambiguous alias":       {`{"name":"z"`, `{"name":"z","aliases":["q"]`},
		"another name":          {`"name":"F"`, `"name":"G"`},
	} {
		one := strings.Replace(p("a", "long"), edit[0], edit[1], 1)
		reader := mustParse(t, record(`[`+one+`,`+p("b", "long")+`]`, `["a.Q","b.Q"]`))
		if got := reader.Reads(writer, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true}); !got.OK() || cmp.Diff(want, got.Value) != "" {
			t.Errorf("%s: %v, %v", name, got.Violations, got.Value)
		}
	}
	// A default makes up for a symbol and for a field.
	one := strings.Replace(strings.Replace(p("a", "long"), `["A"]`, `["B"],"default":"B"`, 1), `{"name":"z"`, `{"name":"y","type":"int","default":1},{"name":"z"`, 1)
	reader = mustParse(t, record(`[`+one+`,`+p("b", "long")+`]`, `["a.Q","b.Q"]`))
	if got := reader.Reads(writer, schemas.Payload{Bytes: payload}, schemas.ReadOptions{}); !got.OK() || len(got.Losses) != 1 {
		t.Errorf("with defaults: %v, %v", got.Violations, got.Losses)
	}
}
