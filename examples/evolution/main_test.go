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
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/examples/exampletest"
)

var update = flag.Bool("update", false, "write what the walk prints into the guides")

// guides show the walk, in two languages.
var guides = []string{"../../docs/guides/evolution.md", "../../docs/pt/evolucao.md"}

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
	bin, name := t.TempDir(), exampletest.Name("orders")
	cartorio, example := filepath.Join(bin, "cartorio"), filepath.Join(bin, "example")
	for target, source := range map[string]string{cartorio: "../../cmd/cartorio", example: "."} {
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", target, source).CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v: %s", source, err, out)
		}
	}
	t.Cleanup(func() {
		conn, err := amqp.Dial(broker)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		for _, queue := range []string{name, name + ".dead"} {
			if left, err := ch.QueueDelete(queue, false, false, false); err != nil || left != 0 {
				t.Errorf("%s: %d left: %v", queue, left, err)
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
