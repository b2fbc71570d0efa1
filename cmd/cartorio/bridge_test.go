package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
)

// A bridge that is told to stop while its registry says nothing has not failed.
func TestBridgeStoppedBeforeItBegan(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "bridge.yaml")
	if err := os.WriteFile(file, []byte(`version: 1
subject: orders-value
reads: 1
from: {address: "amqp://127.0.0.1:1#old", dead_letter: dead}
to: {address: "amqp://127.0.0.1:1#new"}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"bridge", file, "--no-report"}, {"bridge", file, "--no-report", "--check"}} {
		brokertest.StoppedInSilence(t, func(ctx context.Context, address string) error {
			var out, complaint bytes.Buffer
			code := run(ctx, append(args, "--registry", "http://"+address), nil, &out, &complaint)
			if isCheck := len(args) > 3; (code == 0) == isCheck { // what was not checked is no success
				return fmt.Errorf("%v: exit code %d: %s%s", args, code, &out, &complaint)
			}
			return nil
		})
	}
}
