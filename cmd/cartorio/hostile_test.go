//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// repeated joins what one makes of the numbers from 1 to n.
func repeated(n int, between string, one func(i int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = one(i + 1)
	}
	return strings.Join(list, between)
}

func avroRecord(n int, field func(i int) string) string {
	return `{"type":"record","name":"R","fields":[` + repeated(n, ",", field) + `]}`
}

func jsonObject(n int, member func(i int) string) string {
	return `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{` + repeated(n, ",", member) + `}}`
}

func protoMessage(n int, field func(i int) string) string {
	return "syntax = \"proto3\";\nmessage M {\n" + repeated(n, "\n", field) + "\n}\n"
}

// jsonAlike is a union of n objects, each with a property of its own.
func jsonAlike(n int, letter string) string {
	return `{"$schema":"http://json-schema.org/draft-07/schema#","anyOf":[` + repeated(n, ",", func(i int) string {
		return fmt.Sprintf(`{"type":"object","properties":{"%s%d":{"type":"integer"}}}`, letter, i)
	}) + `]}`
}

// hostilePairs are pairs near the limits of parsing whose comparison costs more
// than their size.
var hostilePairs = []asked{
	{
		"every field of a wide record is replaced", schemas.Avro,
		avroRecord(9_000, func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"int"}`, i) }),
		avroRecord(9_000, func(i int) string { return fmt.Sprintf(`{"name":"g%d","type":["null","string"]}`, i) }),
	},
	{
		"a union of records in other namespaces", schemas.Avro,
		`[` + repeated(3_000, ",", func(i int) string {
			return fmt.Sprintf(`{"type":"record","name":"a%d.A","fields":[{"name":"x","type":"int"}]}`, i)
		}) + `]`,
		`[` + repeated(3_000, ",", func(i int) string {
			return fmt.Sprintf(`{"type":"record","name":"b%d.A","fields":[{"name":"y","type":"string"}]}`, i)
		}) + `]`,
	},
	{
		"every property of a wide object is narrowed", schemas.JSON,
		jsonObject(9_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":["string","number"]}`, i) }),
		jsonObject(9_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string","maxLength":%d}`, i, i) }),
	},
	{
		"unions of 350 objects that look alike", schemas.JSON,
		jsonAlike(350, "a"), jsonAlike(355, "b"),
	},
	{
		"unions of 1,400 values", schemas.JSON,
		`{"anyOf":[` + repeated(1_300, ",", func(i int) string { return fmt.Sprintf(`{"const":%d}`, i) }) + `]}`,
		`{"anyOf":[` + repeated(1_400, ",", func(i int) string { return fmt.Sprintf(`{"const":"%d"}`, i) }) + `]}`,
	},
	{
		"unions of 4,000 objects that look alike", schemas.JSON,
		jsonAlike(4_000, "a"), jsonAlike(4_000, "b"),
	},
	{
		"every field of a wide message changes", schemas.Protobuf,
		protoMessage(9_000, func(i int) string { return fmt.Sprintf("int32 f%d = %d;", i, i) }),
		protoMessage(9_000, func(i int) string { return fmt.Sprintf("string g%d = %d;", i, i) }),
	},
	{
		"every field of many messages moves into a oneof", schemas.Protobuf,
		"syntax = \"proto3\";\n" + repeated(900, "\n", func(i int) string {
			return fmt.Sprintf("message M%d { int32 a = 1; string b = 2; M%d c = 3; }", i, 1+i%900)
		}),
		"syntax = \"proto3\";\n" + repeated(900, "\n", func(i int) string {
			return fmt.Sprintf("message M%d { oneof o { int32 a = 1; string b = 2; M%d c = 3; } }", i, 1+i%900)
		}),
	},
}

// peacefulPairs are as large and pass under FULL and BOTH, so that what asks before
// it writes goes on to write. One for each format.
var peacefulPairs = []asked{
	{
		"every field of a wide record is documented", schemas.Avro,
		avroRecord(9_000, func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"int"}`, i) }),
		avroRecord(9_000, func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"int","doc":"the field %d"}`, i, i) }),
	},
	{
		"every property of a wide object is described", schemas.JSON,
		jsonObject(9_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) }),
		jsonObject(9_000, func(i int) string {
			return fmt.Sprintf(`"p%d":{"type":"string","description":"the property %d"}`, i, i)
		}),
	},
	{
		"every message of many is one longer", schemas.Protobuf,
		"syntax = \"proto3\";\n" + repeated(900, "\n", func(i int) string { return fmt.Sprintf("message M%d { int32 a = 1; M%d c = 3; }", i, 1+i%900) }),
		"syntax = \"proto3\";\n" + repeated(900, "\n", func(i int) string {
			return fmt.Sprintf("message M%d { int32 a = 1; M%d c = 3; string b = 2; }", i, 1+i%900)
		}),
	},
}

// hostileTexts cost a parser more than their size, or are just within what may be
// registered.
var hostileTexts = []struct {
	name  string
	kind  schemas.Type
	text  string
	taken bool // by registration
}{
	{"a record of 9,900 fields", schemas.Avro, avroRecord(9_900, func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"int","default":%d}`, i, i) }), true},
	{"brackets nested 100,000 deep", schemas.Avro, strings.Repeat(`{"type":"array","items":`, 40_000) + `"int"` + strings.Repeat("}", 40_000), false},
	{"20,001 fields", schemas.Avro, avroRecord(20_001, func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"int"}`, i) }), false},
	{"an object of 15,000 properties", schemas.JSON, jsonObject(15_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) }), true},
	{"a pattern that repeats repetitions", schemas.JSON, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"string","pattern":"` + strings.Repeat("(a{1,999}){1,999}", 200) + `"}`, true},
	{"members nested 40,000 deep", schemas.JSON, `{"$schema":"http://json-schema.org/draft-07/schema#","x":` + strings.Repeat(`{"not":`, 40_000) + "{}" + strings.Repeat("}", 40_001), false},
	{"a message of 15,000 fields", schemas.Protobuf, protoMessage(15_000, func(i int) string { return fmt.Sprintf("int32 f%d = %d;", i, i) }), true},
	{"messages nested 40,000 deep", schemas.Protobuf, `syntax = "proto3"; ` + strings.Repeat("message M {", 40_000) + strings.Repeat("}", 40_000), false},
	{"20,001 reserved numbers", schemas.Protobuf, `syntax = "proto3"; message A { reserved ` + repeated(20_001, ",", func(i int) string { return fmt.Sprint(i) }) + "; }", false},
}

// costs holds what was done to a time of the processor and to live memory. Not
// for parallel tests: it looks at the whole process.
func costs(t *testing.T, what string, most time.Duration, megabytes int64, do func()) {
	t.Helper()
	live := func() int64 {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	spent := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	runtime.GC()
	before, at := live(), spent()
	done, peak := make(chan struct{}), make(chan int64)
	go func() {
		highest := before
		for {
			select {
			case <-done:
				peak <- max(highest, live())
				return
			case <-time.After(2 * time.Millisecond):
				highest = max(highest, live())
			}
		}
	}()
	do()
	took := spent() - at
	close(done)
	held := (<-peak - before) >> 20
	t.Logf("%-26s %5d ms of the processor, %3d MB live", what, took.Milliseconds(), held)
	if took > slower*most {
		t.Errorf("%s took %s of the processor, the limit is %s", what, took, most)
	}
	if held > megabytes {
		t.Errorf("%s held %d MB, the limit is %d", what, held, megabytes)
	}
}

// command runs a command that must end with one of the exit codes.
func command(t *testing.T, codes []int, args ...string) {
	t.Helper()
	var out, complaint bytes.Buffer
	if got := run(t.Context(), args, nil, &out, &complaint); !slices.Contains(codes, got) {
		t.Errorf("%s exits with %d, want one of %v: %.500s", args[0], got, codes, complaint.String())
	}
}

// put writes a file of the test's folder and answers its name.
func (j *judges) put(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(j.dir, filepath.FromSlash(name))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
