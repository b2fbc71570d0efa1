package main

import (
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestPinned shows what a workflow names the cartorio by that wrote it.
func TestPinned(t *testing.T) {
	t.Parallel()
	commit := strings.Repeat("0123456789", 4)
	for _, tt := range []struct {
		name        string
		b           build
		ref, remark string
	}{
		{"release", build{Version: "v1.2.0", Commit: commit}, commit, " # v1.2.0"},
		{"installed by Go", build{Version: "v1.2.0"}, "v1.2.0", ""},
		{"a commit between releases", build{Version: "v1.2.0-3-gabc", Commit: commit}, commit, ""},
		{"a pseudo-version, which the platform does not know", build{Version: "v0.0.0-20261130181133-0123456789ab"}, "main", "name one"},
		{"nothing known", build{Version: "dev"}, "main", "name one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ref, remark := pinned(tt.b, "main")
			if ref != tt.ref || tt.remark == "name one" && !strings.Contains(remark, tt.remark) || tt.remark != "name one" && remark != tt.remark {
				t.Errorf("%q, %q", ref, remark)
			}
		})
	}
}

// TestWrittenWorkflow shows that the workflow is one, whatever folders and branches
// are called, and gives the action inputs that it has.
func TestWrittenWorkflow(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../action/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct{ Inputs map[string]any }
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ head, base, branch string }{
		{".", "origin/main", "main"}, {"schemas", "", "main"}, {"it's: [odd]/schemas", "origin/release/#1, two", "release/#1, two"}, {"1e3", "origin/yes", "yes"}, {"null", "origin/true", "true"},
	} {
		var doc struct {
			On   struct{ Push struct{ Branches []any } }
			Jobs map[string]struct {
				Steps []struct {
					Uses string
					With map[string]any
				}
			}
		}
		s := surveyed{head: tt.head, base: tt.base}
		if err := yaml.Unmarshal([]byte(s.github()), &doc); err != nil {
			t.Fatalf("%v\n%s", err, s.github())
		}
		steps := doc.Jobs["check"].Steps
		last := steps[len(steps)-1]
		if !strings.HasPrefix(last.Uses, "cartorio-registry/cartorio/action@") || len(doc.On.Push.Branches) != 1 || doc.On.Push.Branches[0] != tt.branch {
			t.Errorf("%q on %v\n%s", last.Uses, doc.On.Push.Branches, s.github())
		}
		if want := tt.head; want != "." && last.With["path"] != want || want == "." && len(last.With) != 0 {
			t.Errorf("with %v\n%s", last.With, s.github())
		}
		for input := range last.With {
			if action.Inputs[input] == nil {
				t.Errorf("the action has no input %s", input)
			}
		}
	}
}
