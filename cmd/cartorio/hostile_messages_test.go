//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
)

// hostileMessages cost whoever reads them, or derives a schema from them, more than
// their size. The names have no comma: they are part of a path that a list of files
// names.
var hostileMessages = []struct{ name, text string }{
	{"sixty thousand members", "{" + repeated(60_000, ",", func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }) + "}"},
	{"members nested twenty thousand deep", strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)},
	{"twenty thousand messages with members of their own", repeated(20_000, "\n", func(i int) string { return fmt.Sprintf(`{"k%d":{"a":%d,"b":[1,"x",null]}}`, i, i) })},
	{"200 by 200 members", "[[[[{" + repeated(200, ",", func(i int) string {
		return fmt.Sprintf(`"a%d":{%s}`, i, repeated(200, ",", func(k int) string { return fmt.Sprintf(`"b%d":%d`, k, k) }))
	}) + "}]]]]"},
	{"many messages of seven types", strings.Repeat("{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":null}\n{\"a\":[1]}\n{\"a\":{\"b\":1}}\n{\"a\":1.5}\n{\"a\":true}\n", 3_000)},
	{"one text of a megabyte", `{"a":"` + strings.Repeat("é", 1<<19) + `"}`},
	{"a number of a megabyte", `{"a":` + strings.Repeat("7", 1<<20) + `}`},
}

// TestHostileMessagesEverywhere puts messages to the commands that read them: each
// stays under what a text may take.
func TestHostileMessagesEverywhere(t *testing.T) {
	judged := []int{exitOK, exitFindings, exitNotCompared}
	for _, m := range hostileMessages {
		t.Run(m.name, func(t *testing.T) {
			j := newJudges(t)
			data, file := j.put(t, "data.json", m.text), j.put(t, "new/x.json", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":{"type":"integer"}}`)
			for _, kind := range []schemas.Type{schemas.Avro, schemas.JSON, schemas.Protobuf} {
				t.Run("derive/"+string(kind), func(t *testing.T) {
					costs(t, "derive "+string(kind), textTime, textMemory, func() { command(t, judged, "derive", "--type", string(kind), data) })
				})
			}
			t.Run("validate", func(t *testing.T) {
				costs(t, "validate", textTime, textMemory, func() { command(t, judged, "validate", file, data) })
			})
			t.Run("inspect", func(t *testing.T) {
				costs(t, "inspect", textTime, textMemory, func() { command(t, judged, "inspect", data, "--schema", file, "--registry", j.url) })
			})
			t.Run("check", func(t *testing.T) {
				costs(t, "check", textTime, textMemory, func() {
					command(t, []int{exitOK, exitNotCompared}, "check", file, "--against", file, "--messages", j.put(t, "data.jsonl", m.text))
				})
			})
		})
	}
}
