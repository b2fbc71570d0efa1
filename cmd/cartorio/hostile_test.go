//go:build unix

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
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
		"unions of objects that look alike", schemas.JSON,
		`{"$schema":"http://json-schema.org/draft-07/schema#","anyOf":[` + repeated(4_000, ",", func(i int) string {
			return fmt.Sprintf(`{"type":"object","properties":{"a%d":{"type":"integer"}}}`, i)
		}) + `]}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","anyOf":[` + repeated(4_000, ",", func(i int) string {
			return fmt.Sprintf(`{"type":"object","properties":{"b%d":{"type":"integer"}}}`, i)
		}) + `]}`,
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
	got := run(t.Context(), args, nil, &out, &complaint)
	for _, code := range codes {
		if got == code {
			return
		}
	}
	t.Errorf("%s exits with %d, want one of %v: %.500s", args[0], got, codes, complaint.String())
}

// TestHostilePairsEverywhere puts pairs to all who compare: each comparison stays
// under 2 s of the processor and 512 MB. Registering asks before it registers, and
// advice compares the pair, one repair and all repairs together. CARTORIO_HUNT
// takes all pairs.
func TestHostilePairsEverywhere(t *testing.T) {
	for i, p := range hostilePairs {
		if i%2 == 1 && os.Getenv("CARTORIO_HUNT") == "" {
			continue // an ordinary run takes the first pair of each format
		}
		t.Run(string(p.kind)+"/"+p.name, func(t *testing.T) {
			j := newJudges(t)
			name := "x" + endings[p.kind]
			for dir, text := range map[string]string{"old": p.old, "new": p.next} {
				if err := os.WriteFile(filepath.Join(j.dir, dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			next, old := filepath.Join(j.dir, "new", name), filepath.Join(j.dir, "old", name)
			const pair, megabytes = 2 * time.Second, 512
			judged := []int{exitOK, exitFindings, exitNotCompared}
			costs(t, "check", pair, megabytes, func() {
				command(t, judged, "check", next, "--against", old, "--level", "FULL", "--verdict-policy", "BOTH", "--format", "json")
			})
			costs(t, "diff", pair, megabytes, func() { command(t, judged, "diff", old, next) })
			costs(t, "advise", 3*pair, megabytes, func() { command(t, judged, "advise", old, next, "--level", "FULL") })
			subject := fmt.Sprintf("s%d", i)
			register := map[string]any{"schemaType": p.kind, "schema": p.old}
			if status, answer := j.ask(t, "POST", "/subjects/"+subject+"/versions", register); status != http.StatusOK {
				t.Fatalf("the old side is not registered: %.300s", answer)
			}
			j.ask(t, "PUT", "/config/"+subject, map[string]any{"compatibility": "FULL", "verdictPolicy": "BOTH"})
			register["schema"] = p.next
			costs(t, "POST compatibility", pair, megabytes, func() {
				j.ask(t, "POST", "/compatibility/subjects/"+subject+"/versions/latest?verbose=true", register)
			})
			costs(t, "POST versions", pair, megabytes, func() {
				if status, answer := j.ask(t, "POST", "/subjects/"+subject+"/versions", register); status >= http.StatusInternalServerError {
					t.Errorf("%d %.300s", status, answer)
				}
			})
			costs(t, "register", 2*pair, megabytes, func() {
				command(t, []int{exitOK, exitFindings, exitNotCompared}, "register", next, "--registry", j.url, "--subject", subject)
			})
			costs(t, "POST /api/v1/compare", pair, megabytes, func() {
				side := func(text string) map[string]any { return map[string]any{"schemaType": p.kind, "schema": text} }
				if status, answer := j.ask(t, "POST", "/api/v1/compare", map[string]any{"old": side(p.old), "new": side(p.next), "level": "FULL", "verdictPolicy": "BOTH"}); status != http.StatusOK {
					t.Errorf("%d %.300s", status, answer)
				}
			})
		})
	}
}

// TestHostileTextsEverywhere puts single texts to all who parse: each stays under
// 1 s of the processor and 256 MB, and what is refused says why.
func TestHostileTextsEverywhere(t *testing.T) {
	for i, c := range hostileTexts {
		t.Run(string(c.kind)+"/"+c.name, func(t *testing.T) {
			j := newJudges(t)
			file := filepath.Join(j.dir, "new", "x"+endings[c.kind])
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			data := filepath.Join(j.dir, "data.json")
			if err := os.WriteFile(data, []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
			const one, megabytes = time.Second, 256
			costs(t, "validate", one, megabytes, func() {
				codes := []int{exitNotCompared}
				if c.taken {
					codes = []int{exitOK, exitFindings}
				}
				command(t, codes, "validate", file, data)
			})
			subject := fmt.Sprintf("t%d", i)
			body := map[string]any{"schemaType": c.kind, "schema": c.text}
			costs(t, "POST versions", one, megabytes, func() {
				status, answer := j.ask(t, "POST", "/subjects/"+subject+"/versions", body)
				if want := map[bool]int{true: http.StatusOK, false: http.StatusUnprocessableEntity}[c.taken]; status != want {
					t.Errorf("%d, want %d: %.300s", status, want, answer)
				}
			})
			costs(t, "POST compatibility", one, megabytes, func() {
				j.ask(t, "POST", "/compatibility/subjects/"+subject+"/versions/latest", body)
			})
			costs(t, "register", one, megabytes, func() {
				codes := []int{exitOK}
				if !c.taken {
					codes = []int{exitFindings, exitNotCompared}
				}
				command(t, codes, "register", file, "--registry", j.url, "--subject", subject+"r")
			})
		})
	}
}
