package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpus draws two states of a tree of schema files, the same ones every time.
// changed is how many of them differ, spread over the tree; with calm set the
// twentieth of it that all others stand on stays as it is.
type corpus struct {
	files, changed int
	calm           bool
}

// write puts the tree before the change under dir/old and the one after it under
// dir/new.
func (c corpus) write(t testing.TB, dir, format string) {
	t.Helper()
	draw := map[string]func(i int, changed bool) (path, text string){
		"proto": c.proto, "avro": avroFile, "json": jsonFile,
	}[format]
	for _, side := range []string{"old", "new"} {
		for i := range c.files {
			hit := side == "new" && i*c.changed/c.files != (i+1)*c.changed/c.files && (!c.calm || i >= c.files/20)
			name, text := draw(i, hit)
			at := filepath.Join(dir, side, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

var (
	protoScalars = []string{"int32", "int64", "uint32", "uint64", "sint64", "fixed64", "bool", "string", "string", "string", "bytes", "double"}
	areas        = []string{"sales", "billing", "stock", "people", "shipping", "audit", "search", "catalog"}
)

// place is where file i stands: a twentieth of the files is used by all, a
// quarter by what stands above it, as in the trees that people have.
func (c corpus) place(i int) (layer, pack string) {
	switch {
	case i < c.files/20:
		return "common", fmt.Sprintf("acme.common.v%d", 1+i%2)
	case i < c.files/20+c.files/4:
		return "domain", fmt.Sprintf("acme.%s.model.v1", areas[i%len(areas)])
	}
	return "event", fmt.Sprintf("acme.%s.event.v%d", areas[i%len(areas)], 1+i%3)
}

func (c corpus) protoPath(i int) string {
	_, pack := c.place(i)
	return fmt.Sprintf("%s/thing_%04d.proto", strings.ReplaceAll(pack, ".", "/"), i)
}

// proto draws file i: twenty fields of many kinds, a nested message, two enums, a
// oneof, a map, and fields of types that other files define.
func (c corpus) proto(i int, changed bool) (path, text string) {
	r := rand.New(rand.NewPCG(7, uint64(i)))
	layer, pack := c.place(i)
	var imports []int
	common, domain := max(1, c.files/20), c.files/4
	switch layer {
	case "domain":
		imports = []int{r.IntN(common), r.IntN(common)}
		if i > common+8 {
			imports = append(imports, common+r.IntN(i-common)) // among those before it
		}
	case "event":
		imports = []int{r.IntN(common), common + r.IntN(domain), common + r.IntN(domain)}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// Thing %d of %s.\nsyntax = \"proto3\";\n\npackage %s;\n\n", i, layer, pack)
	b.WriteString("import \"google/protobuf/timestamp.proto\";\n")
	seen := map[int]bool{i: true}
	var types []string
	for _, n := range imports {
		if seen[n] || n >= c.files {
			continue
		}
		seen[n] = true
		_, other := c.place(n)
		fmt.Fprintf(&b, "import %q;\n", c.protoPath(n))
		types = append(types, fmt.Sprintf(".%s.Thing%04d", other, n))
	}
	fmt.Fprintf(&b, "\noption java_package = \"com.%s\";\noption java_multiple_files = true;\n\n", pack)
	fmt.Fprintf(&b, "// The state of a thing.\nenum State%04d {\n", i)
	for v := range 5 {
		fmt.Fprintf(&b, "  STATE%04d_%c = %d;\n", i, 'A'+v, v)
	}
	how := edit(i, 20, changed)
	if how == 0 {
		fmt.Fprintf(&b, "  STATE%04d_NEW = 5;\n", i)
	}
	fmt.Fprintf(&b, "}\n\n// A thing that is told of.\nmessage Thing%04d {\n", i)
	fmt.Fprintf(&b, "  enum Kind {\n    KIND_UNSPECIFIED = 0;\n    KIND_LARGE = 1;\n    KIND_SMALL = 2;\n  }\n")
	fmt.Fprintf(&b, "  message Line {\n    string sku = 1;\n    int32 count = 2;\n    repeated string notes = 3;\n    Kind kind = 4;\n    Thing%04d inside = 5;\n  }\n", i)
	for n := 1; n <= 13; n++ {
		kind, label, name := protoScalars[r.IntN(len(protoScalars))], "", fmt.Sprintf("part_%c_%d", 'a'+rune(n), n)
		switch r.IntN(6) {
		case 0:
			label = "repeated "
		case 1:
			label = "optional "
		}
		switch {
		case n == 3 && how == 1:
			name += "_renamed"
		case n == 4 && how == 2:
			kind = map[bool]string{true: "bytes", false: "string"}[kind == "string"]
		case n == 5 && how == 3:
			label = map[bool]string{true: "", false: "repeated "}[label == "repeated "]
		case n == 6 && how == 4:
			continue // removed, nothing reserved
		case n == 7 && how == 5:
			kind = map[bool]string{true: "int32", false: "int64"}[kind == "int64"]
		}
		fmt.Fprintf(&b, "  // What part %d says.\n  %s%s %s = %d;\n", n, label, kind, name, n)
	}
	fmt.Fprintf(&b, "  google.protobuf.Timestamp at = 14;\n  State%04d state = 15;\n  repeated Line lines = 16;\n  map<string, Line> by_key = 17;\n", i)
	fmt.Fprintf(&b, "  oneof how {\n    string by_name = 18;\n    int64 by_number = 19;\n  }\n  Kind kind = 20;\n")
	for n, t := range types {
		fmt.Fprintf(&b, "  %s other_%d = %d;\n", t, n, 21+n)
	}
	if how > 5 {
		fmt.Fprintf(&b, "  string added = 40;\n")
	}
	b.WriteString("}\n")
	if layer == "event" && i%4 == 0 {
		fmt.Fprintf(&b, "\nservice Things%04d {\n  rpc Get(Thing%04d) returns (Thing%04d);\n}\n", i, i, i)
	}
	return c.protoPath(i), b.String()
}

// edit draws which of n changes befalls file i; -1 for none. Most of them add, as in real trees.
func edit(i, n int, changed bool) int {
	if !changed {
		return -1
	}
	return rand.New(rand.NewPCG(6, uint64(i))).IntN(n)
}

func avroFile(i int, changed bool) (path, text string) {
	r := rand.New(rand.NewPCG(8, uint64(i)))
	how := edit(i, 10, changed)
	var fields []string
	for n := range 20 {
		kind := []string{`"string"`, `"long"`, `"int"`, `"double"`, `"boolean"`, `["null","string"]`, `{"type":"array","items":"string"}`, `{"type":"map","values":"long"}`}[r.IntN(8)]
		switch {
		case n == 3 && how == 1:
			kind = `"float"`
		case n == 4 && how == 2:
			continue
		case n == 9:
			kind = fmt.Sprintf(`{"type":"enum","name":"Kind%d","symbols":["A","B","C"]}`, i)
		case n == 10:
			kind = fmt.Sprintf(`{"type":"record","name":"Line%d","fields":[{"name":"sku","type":"string"},{"name":"count","type":"int"}]}`, i)
		}
		fields = append(fields, fmt.Sprintf(`{"name":"part%d","type":%s,"doc":"What part %d says."}`, n, kind, n))
	}
	switch {
	case how == 0:
		fields = append(fields, `{"name":"added","type":"string"}`)
	case how > 2:
		fields = append(fields, `{"name":"added","type":"string","default":""}`)
	}
	area := areas[i%len(areas)]
	return fmt.Sprintf("%s/thing%04d.avsc", area, i), fmt.Sprintf("{\"type\":\"record\",\"name\":\"Thing%04d\",\"namespace\":\"acme.%s\",\"fields\":[\n%s\n]}\n", i, area, strings.Join(fields, ",\n"))
}

func jsonFile(i int, changed bool) (path, text string) {
	r := rand.New(rand.NewPCG(9, uint64(i)))
	how := edit(i, 10, changed)
	var fields []string
	for n := range 20 {
		kind := []string{`"type":"string","maxLength":40`, `"type":"integer","minimum":0`, `"type":"number"`, `"type":"boolean"`, `"enum":["A","B","C"]`, `"type":["string","null"]`, `"type":"array","items":{"type":"string"}`, `"type":"object","properties":{"sku":{"type":"string"},"count":{"type":"integer"}},"required":["sku"]`}[r.IntN(8)]
		switch {
		case n == 3 && how == 1:
			kind = `"type":"string","maxLength":10`
		case n == 4 && how == 2:
			continue
		}
		fields = append(fields, fmt.Sprintf(`"part%d":{%s,"description":"What part %d says."}`, n, kind, n))
	}
	required := `"part1","part2"`
	if how == 0 {
		required += `,"part5"`
	}
	if how > 2 {
		fields = append(fields, `"added":{"type":"string"}`)
	}
	area := areas[i%len(areas)]
	return fmt.Sprintf("%s/thing%04d.json", area, i), fmt.Sprintf("{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"$id\":\"https://acme.example/%s/thing%04d.json\",\"type\":\"object\",\"additionalProperties\":%t,\"required\":[%s],\"properties\":{\n%s\n}}\n",
		area, i, i%2 == 0, required, strings.Join(fields, ",\n"))
}
