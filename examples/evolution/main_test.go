package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/examples/exampletest"
)

var update = flag.Bool("update", false, "write what the walk prints into the guides")

// guides show the walk, in two languages.
var guides = []string{"../../docs/guides/evolution.md", "../../docs/pt/evolucao.md"}

// TestMain is the example itself where it is called by its name in the walk.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "shop" {
		main()
		return
	}
	os.Exit(m.Run())
}

// The guides show what the commands say when a change meets a queue with old
// messages.
func TestGuidesShowTheWalk(t *testing.T) {
	t.Parallel()
	broker := exampletest.Broker(t, "RABBITMQ")
	for _, program := range []string{"bash", "curl", "sed"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("NOT RUN: %s is not installed", program)
		}
	}
	cartorio, name := filepath.Join(t.TempDir(), "cartorio"), exampletest.Name("orders")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", cartorio, "../../cmd/cartorio").CombinedOutput(); err != nil {
		t.Fatalf("build cartorio: %v: %s", err, out)
	}
	example, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for queue, n := range exampletest.RemoveFromRabbitMQ(t, broker, "", name, name+".dead") {
			if n != 0 {
				t.Errorf("%s: %d left", queue, n)
			}
		}
	})
	var complaint bytes.Buffer
	walk := exec.CommandContext(t.Context(), "./walk.sh", cartorio, example)
	walk.Env = append(os.Environ(), "CARTORIO_REGISTRY_URL="+exampletest.Registry(t), "SHOP="+name)
	walk.Stderr = &complaint
	got, err := walk.Output()
	if err != nil {
		t.Fatalf("walk.sh: %v\n%s\n%s", err, complaint.String(), got)
	}
	const begin, end = "<!-- examples/evolution/run -->\n```console\n", "```\n"
	for _, page := range guides {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok := strings.Cut(string(text), begin)
		shown, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Errorf("%s shows no walk: there is no %q", page, begin)
			continue
		}
		if *update {
			if err := os.WriteFile(page, []byte(before+begin+string(got)+end+after), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if d := cmp.Diff(shown, string(got)); d != "" {
			t.Errorf("%s is not what the commands say (-page +commands); go test -update ./examples/evolution writes it anew:\n%s", page, d)
		}
	}
}
