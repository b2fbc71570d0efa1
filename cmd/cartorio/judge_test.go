package main

import (
	"runtime"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// A payload far over the limit is refused for its size, and what is wrong with
// one is told without making a tree of it.
func TestLargePayloadsAreJudgedInProportion(t *testing.T) {
	const text = `syntax = "proto3"; import "google/protobuf/struct.proto"; message M { google.protobuf.Value v = 1; }`
	schema, err := protobuf.Format.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list := func(n int) []byte { return []byte(`{"v":[` + strings.Repeat("1,", n) + "1]}") }
	for _, tt := range []struct {
		name    string
		payload []byte
		want    schemas.ViolationKind
	}{
		{"15 million values", list(15_000_000), schemas.TooLarge},
		{"under the size, too many values", list(3_500_000), schemas.Invalid},
		{"no JSON", append(list(2_000_000), '}'), schemas.Unreadable},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, violations, err := (&known{schema: schema}).binary(schemas.Payload{Bytes: tt.payload}, schemas.ReadOptions{})
		placed := places(string(tt.payload))
		runtime.ReadMemStats(&after)
		if err != nil || len(violations) != 1 || violations[0].Kind != tt.want {
			t.Errorf("%s: %v, %v, want %v", tt.name, violations, err, tt.want)
		}
		if len(placed) != 0 {
			t.Errorf("%s: %d parts were placed", tt.name, len(placed))
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(8*len(tt.payload)) {
			t.Errorf("%s: %d bytes took %d", tt.name, len(tt.payload), took)
		}
	}
}
