//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipesAndDevicesStay shows that an answer goes into what is there: a rename
// over /dev/null would take it away from the whole machine.
func TestPipesAndDevicesStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	schema, pipe, link := filepath.Join(dir, "a.avsc"), filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := os.WriteFile(schema, []byte(`"string"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("NOT RUN: making a pipe: %v", err)
	}
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{pipe, link} {
		// Both ends, so that neither waits for the other to be opened.
		f, err := os.OpenFile(pipe, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if code := run(t.Context(), []string{"check", schema, "--against", schema, "--output", target}, nil, io.Discard, io.Discard); code != exitOK {
			t.Errorf("exit code %d", code)
		}
		if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
			t.Fatalf("the pipe is %v, %v", info, err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Fatalf("the link is %v, %v", info, err)
		}
		text := make([]byte, 4096)
		n, err := f.Read(text)
		if err != nil || !strings.HasPrefix(string(text[:n]), "compatible: ") {
			t.Errorf("%q, %v", text[:n], err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
