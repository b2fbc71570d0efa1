// Package scripts_test runs the scripts whose output is part of the documents.
package scripts_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the documents anew")

// TestTutorialTellsTheTruth runs every command of docs/tutorial.md again: the page
// must say what the commands say.
func TestTutorialTellsTheTruth(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "git", "sed"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("NOT RUN: %s is not installed", program)
		}
	}
	const page = "../docs/tutorial.md"
	var complaint bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "./tutorial.sh")
	cmd.Stderr = &complaint
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("tutorial.sh: %v\n%s\n%s", err, complaint.String(), got)
	}
	if *update {
		if err := os.WriteFile(page, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("docs/tutorial.md is not what the commands say (-page +commands); scripts/tutorial.sh > docs/tutorial.md writes it anew:\n%s", d)
	}
}
