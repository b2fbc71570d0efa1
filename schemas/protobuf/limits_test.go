package protobuf_test

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

func nested(n int) string {
	return `syntax = "proto3";` + strings.Repeat("message M {", n) + strings.Repeat("}", n)
}

const (
	spelled schemas.Limit = "bytes of all full names, spelled out"
	dotted  schemas.Limit = "bytes of a name with all its parts"
)

// hostile are texts that cost a parser more than their size, and the limit that
// each meets.
var hostile = []struct {
	name, text string
	limit      schemas.Limit
}{
	{"a text over its size", `syntax = "proto3";` + strings.Repeat(" ", 1<<20), schemas.LimitText},
	{"messages nested 32 deep", nested(32), schemas.LimitNesting},
	{"messages nested 100,000 deep", nested(80_000), schemas.LimitNesting},
	{"groups nested 32 deep", "message M { " + strings.Repeat("optional group G = 1 { ", 31) + strings.Repeat("}", 32), schemas.LimitNesting},
	{"an option nested 100,000 deep", `option (x) = ` + strings.Repeat("{l ", 100_000), schemas.LimitDepth},
	{"lists nested 100,000 deep", `option (x) = ` + strings.Repeat("[", 100_000), schemas.LimitDepth},
	{"angles nested 100,000 deep", `option (x) = {a ` + strings.Repeat("<a ", 100_000), schemas.LimitDepth},
	{"compact options nested", `message A { optional A a = 1 [(x) = ` + strings.Repeat("{l ", 100_000), schemas.LimitDepth},
	{"parentheses", strings.Repeat("(", 100_000), schemas.LimitDepth},
	{"a type name of many parts", `syntax = "proto3"; message A { ` + strings.Repeat("a.", 100_000) + "b x = 1; }", dotted},
	{"an option name of many parts", "option a" + strings.Repeat(".a", 500_000) + " = 1;", dotted},
	{"an option name of many extensions", "option (a)" + strings.Repeat(" . (a)", 170_000) + " = 1;", dotted},
	{"an option of a field of many parts", "message M { optional int32 a = 1 [" + strings.Repeat("a /**/.", 100_000) + "a = 1]; }", dotted},
	{"a package of many parts", "package " + strings.Repeat("a.", 500_000) + "b;", dotted},
	{"many option names of many parts", many(60, func(int) string { return "option a" + strings.Repeat(".a", 8_000) + " = 1;" }), "parts of all dotted names"},
	{"20,001 fields", `syntax = "proto3"; message A {` + strings.Repeat("int32 a=1;", 20_001), schemas.LimitDeclarations},
	{"20,001 messages", strings.Repeat("message A {}", 20_001), schemas.LimitDeclarations},
	{"20,001 reserved numbers", "message A { reserved 1" + strings.Repeat(",1", 20_001) + ";}", schemas.LimitDeclarations},
	{"empty statements", strings.Repeat(";", 1<<20), schemas.LimitDeclarations},
	{"a name of 1,025 bytes", "message " + strings.Repeat("a", 1025) + " {}", schemas.LimitName},
	{"a number of 1,001 digits", "message A { optional int32 x = " + strings.Repeat("1", 1001) + "; }", schemas.LimitDigits},
	{"an exponent of 401", "message A { optional double x = 1 [default = 1e401]; }", schemas.LimitExponent},
	{"an exponent of -401", "message A { optional double x = 1 [default = 1E-00000000000000000000401]; }", schemas.LimitExponent},
	{"more imports than references can be", strings.Repeat(`import "a";`, 1100), schemas.LimitReferences},
	{"oneofs by fields", `syntax = "proto3"; message A {` + many(15_000, func(i int) string { return fmt.Sprintf("optional int32 a%d=%d;", i, i) }) + "}", "steps of compiling (oneofs by fields, options of one element, extensions by extension ranges, names by scopes)"},
	{"options of one field", `syntax = "proto3"; import "confluent/meta.proto"; message A { string x = 1 [deprecated = true` + many(15_000, func(int) string { return `,(confluent.field_meta).tags=""` }) + "]; }", "steps of compiling (oneofs by fields, options of one element, extensions by extension ranges, names by scopes)"},
	{"extensions by ranges", "message A {" + many(9000, func(i int) string { return fmt.Sprintf("extensions %d;", i) }) + "} extend A {" + many(9000, func(i int) string { return fmt.Sprintf("optional int32 a%d=%d;", i, i) }) + "}", "steps of compiling (oneofs by fields, options of one element, extensions by extension ranges, names by scopes)"},
	{"names by messages around", "message Z {}" + strings.Repeat("message "+strings.Repeat("n", 1000)+"{", 30) + many(15_000, func(i int) string { return fmt.Sprintf("optional Z f%d=%d;", i, i) }) + strings.Repeat("}", 30), spelled},
	{"full names of messages in messages", strings.Repeat("message "+strings.Repeat("n", 1000)+"{", 30) + many(18_000, func(i int) string { return fmt.Sprintf("message A%d{}", i) }) + strings.Repeat("}", 30), spelled},
	{"full names under a long package", "package a" + strings.Repeat(".a", 8_000) + "; " + many(18_000, func(i int) string { return fmt.Sprintf("message A%d{}", i) }), spelled},
	{"names by packages around", "package a" + strings.Repeat(".a", 250) + "; message M {" + many(15_000, func(i int) string { return fmt.Sprintf("optional a.M f%d=%d;", i, i) }) + "}", "steps of compiling (oneofs by fields, options of one element, extensions by extension ranges, names by scopes)"},
	{"names of calls by packages around", "package a" + strings.Repeat(".a", 250) + "; message M {} service S {" + many(7_000, func(i int) string { return fmt.Sprintf("rpc F%d(a.M) returns (a.M);", i) }) + "}", "steps of compiling (oneofs by fields, options of one element, extensions by extension ranges, names by scopes)"},
	{"names of options by packages around", "package a" + strings.Repeat(".a", 250) + "; message M {" + many(9_000, func(i int) string { return fmt.Sprintf("optional int32 f%d=%d [(q.x)=1];", i, i) }) + "}", "steps of compiling (oneofs by fields, options of one element, extensions by extension ranges, names by scopes)"},
}

func many(n int, one func(int) string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		b.WriteString(one(i))
	}
	return b.String()
}

// within holds fn to decision 28: a text stays under a second of processor time
// and 256 MB of live memory. The limit is two, since a processor whose other half is
// busy, with the collector too, takes nearly twice as long.
func within(t *testing.T, fn func()) {
	t.Helper()
	live := func() int64 {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	runtime.GC()
	before, at := live(), costtest.Spent()
	done, most := make(chan struct{}), make(chan int64)
	go func() {
		peak := before
		for {
			select {
			case <-done:
				most <- max(peak, live())
				return
			case <-time.After(2 * time.Millisecond):
				peak = max(peak, live())
			}
		}
	}()
	fn()
	took := costtest.Spent() - at
	close(done)
	held := (<-most - before) >> 20
	t.Logf("%v of processor time, %d MB live", took.Round(time.Millisecond), held)
	if took > 2*slower*time.Second {
		t.Errorf("it took %v of processor time", took)
	}
	if held > 256 {
		t.Errorf("it held %d MB", held)
	}
}

func TestHostileTextsMeetTheirLimit(t *testing.T) {
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			var limit *schemas.LimitError
			var err error
			within(t, func() { err = parseError(t, c.text, schemas.ParseOptions{}) })
			if !errors.As(err, &limit) || limit.Limit != c.limit {
				t.Fatalf("want a limit of %s, got %.200v", c.limit, err)
			}
			if limit.Found <= limit.Most {
				t.Errorf("found %d, which is within %d", limit.Found, limit.Most)
			}
		})
	}
}

// TestHostileTextsStayCheap parses texts that are within the limits or wrong in
// many places.
func TestHostileTextsStayCheap(t *testing.T) {
	for name, text := range map[string]string{
		"one line of fields": `syntax = "proto3";` + many(300, func(i int) string {
			return fmt.Sprintf("message M%d{%s}", i, many(40, func(j int) string { return fmt.Sprintf("string field_%d=%d;", j, j) }))
		}),
		"one line of values":          `syntax = "proto3";enum E{Z=0;` + many(15_000, func(i int) string { return fmt.Sprintf("AAAAAAAAAAAAAAAAAAAAAAAAAA%d=%d;", i, i) }) + "}",
		"an error in each byte":       `syntax = "proto3";` + strings.Repeat("$", 500_000),
		"unknown types":               `syntax = "proto3"; message M{` + many(10_000, func(i int) string { return fmt.Sprintf("x.y.z f%d=%d;", i, i) }) + "}",
		"type names of many parts":    `syntax = "proto3"; message A { ` + many(12, func(i int) string { return strings.Repeat("a.", 8_000) + fmt.Sprintf("b x%d = %d; ", i, i) }) + "}",
		"option names of many parts":  many(12, func(int) string { return "option a" + strings.Repeat(".a", 8_000) + " = 1;" }),
		"extension names, many parts": many(24, func(int) string { return "option (a)" + strings.Repeat(".(a)", 4_000) + " = 1;" }),
		"a string in pieces":          `syntax = "proto3"; option java_package = ` + strings.Repeat(`"a" `, 250_000) + ";",
		"entries of one value":        `syntax = "proto3"; import "confluent/meta.proto"; option (confluent.file_meta) = {` + many(60_000, func(i int) string { return `tags:"a" ` }) + "};",
		"a list of one value":         `syntax = "proto3"; import "confluent/meta.proto"; option (confluent.file_meta) = {tags: [` + strings.Repeat(`"",`, 300_000) + `""]};`,
		"calls":                       `syntax = "proto3"; message M {} service S {` + many(19_000, func(i int) string { return fmt.Sprintf("rpc F%d(M) returns (M);", i) }) + "}",
		"comments":                    `syntax = "proto3";` + strings.Repeat("//\n", 300_000),
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			within(t, func() {
				var s schemas.Schema
				s, err = protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: text}, nil, schemas.ParseOptions{})
				if err == nil {
					s.Normalized()
				}
			})
			var list schemas.SyntaxErrors
			if errors.As(err, &list) && len(list) > 201 {
				t.Errorf("%d errors are kept", len(list))
			}
		})
	}
}

// TestHostileClosures parses a small text that imports as much as it may.
func TestHostileClosures(t *testing.T) {
	for _, c := range []struct {
		name         string
		files, types int
		limit        schemas.Limit
	}{
		{"twelve files of 6,500 messages", 12, 6_500, "declarations of all texts of the closure"},
		{"four files of 6,500 messages", 4, 6_500, ""},
		{"900 files of 30 messages", 900, 30, ""},
	} {
		files := tree{}
		main := `syntax = "proto3"; message A {}`
		for i := range c.files {
			name := fmt.Sprintf("f%d.proto", i)
			main += fmt.Sprintf(" import %q;", name)
			files[name] = fmt.Sprintf(`syntax = "proto3"; package p%d; `, i) + many(c.types, func(j int) string { return fmt.Sprintf("message M%d { int32 a = 1; M%d b = 2; }", j, j) })
		}
		files["main.proto"] = main
		t.Run(c.name, func(t *testing.T) {
			var err error
			source := files.source(t, "main.proto")
			within(t, func() { _, err = files.parseSource(t, source, schemas.ParseOptions{}) })
			var limit *schemas.LimitError
			switch {
			case c.limit == "" && err != nil:
				t.Fatal(err)
			case c.limit != "" && (!errors.As(err, &limit) || limit.Limit != c.limit):
				t.Fatalf("want a limit of %s, got %.200v", c.limit, err)
			}
		})
	}
}

func TestDeepestAllowed(t *testing.T) {
	t.Parallel()
	parse(t, nested(31))
}
