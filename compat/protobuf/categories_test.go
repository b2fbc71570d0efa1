package protobuf_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	checker "github.com/cartorio-registry/cartorio/compat/protobuf"
)

// TestOutsideCategories compares with what buf itself said of outside pairs and
// prints the table of agreement.
func TestOutsideCategories(t *testing.T) {
	root := os.Getenv("CARTORIO_CONFORMANCE")
	if root == "" {
		t.Skip("NOT RUN: set CARTORIO_CONFORMANCE to the folder of the conformance kit")
	}
	raw, err := os.ReadFile(filepath.Join(root, "protobuf/handed.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID, Old, New                 string
		OldReferences, NewReferences []reference
		BufBreaking                  map[string]bool
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	agree, explained, differ, ran := map[string]int{}, map[string]int{}, map[string]int{}, 0
	for _, c := range cases {
		old, next := parse(t, c.Old, c.OldReferences), parse(t, c.New, c.NewReferences)
		for _, category := range checker.CategoryNames() {
			want, ok := c.BufBreaking[category]
			if !ok {
				continue
			}
			ran++
			list, err := checker.Categories(old, next, category)
			if err != nil {
				t.Fatal(err)
			}
			got := len(list) > 0
			if reason := unlikeBuf[c.ID+"/"+category]; reason != "" {
				if got == want {
					t.Errorf("%s %s agrees, and the ledger says: %s", c.ID, category, reason)
				}
				t.Logf("%s %s: buf says %t: %s", c.ID, category, want, reason)
				explained[category]++
				continue
			}
			if got == want {
				agree[category]++
				continue
			}
			differ[category]++
			var told []string
			for _, d := range list {
				told = append(told, d.Type+" "+d.Path)
			}
			slices.Sort(told)
			t.Errorf("%s %s: buf says %t, we say %s", c.ID, category, want, strings.Join(told, ", "))
		}
	}
	for _, category := range checker.CategoryNames() {
		t.Logf("%-9s %d agree, %d differ as the ledger says, %d differ", category, agree[category], explained[category], differ[category])
	}
	if ran == 0 {
		t.Fatal("no case ran")
	}
}

// unlikeBuf lists where the answer differs from buf's, and why that stands.
var unlikeBuf = map[string]string{
	"own-ed-proto2-to-2023/WIRE":      "buf takes a field required by the feature LEGACY_REQUIRED for one that is no longer required",
	"own-ed-proto2-to-2023/WIRE_JSON": "buf takes a field required by the feature LEGACY_REQUIRED for one that is no longer required",
}

// TestCategoriesElsewhere: each difference says of both sides whether its place is
// in an imported file, in whichever of them the type is.
func TestCategoriesElsewhere(t *testing.T) {
	t.Parallel()
	head := func(imports string) string { return `syntax = "proto2"; package p; ` + imports }
	old := tree{
		"a.proto": head(`import "b.proto"; message A { optional int32 x = 1; extensions 10 to 20; } message Moves { optional int32 m = 1; } extend B { optional int32 y = 10; }`),
		"b.proto": head(`option go_package = "one"; message B { optional int32 x = 1; extensions 10 to 20; } enum E { Z = 0; O = 1; } service S {} message Gone {}`),
	}
	next := tree{
		"a.proto": head(`import "b.proto"; message A { optional string x = 1; extensions 10 to 20; } extend B { optional string y = 10; }`),
		"b.proto": head(`option go_package = "two"; message B { optional string x = 1; extensions 10 to 20; } enum E { Z = 0; } message Moves { optional string m = 1; }`),
	}
	before, err := old.parse(t, "a.proto")
	if err != nil {
		t.Fatal(err)
	}
	after, err := next.parse(t, "a.proto")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][2]bool{}
	for _, category := range []string{"FILE", "PACKAGE"} {
		list, err := checker.Categories(before, after, category)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list {
			got[d.Type+" "+d.Path] = d.Elsewhere
		}
	}
	want := map[string][2]bool{
		"FIELD_SAME_TYPE p.A.x":            {},
		"MESSAGE_NO_DELETE p.Moves":        {},
		"FIELD_SAME_TYPE p.Moves.m":        {false, true}, // within its package
		"FILE_SAME_GO_PACKAGE b.proto":     {true, true},
		"FIELD_SAME_TYPE p.B.x":            {true, true},
		"FIELD_SAME_TYPE p.B.[p.y]":        {true, true},
		"ENUM_VALUE_NO_DELETE p.E.O":       {true, true},
		"SERVICE_NO_DELETE p.S":            {true, true},
		"PACKAGE_SERVICE_NO_DELETE p.S":    {true, true},
		"MESSAGE_NO_DELETE p.Gone":         {true, true},
		"PACKAGE_MESSAGE_NO_DELETE p.Gone": {true, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
