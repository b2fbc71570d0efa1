package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// served is a registry in memory and its address.
func served(t *testing.T) (*registry.Registry, string) {
	t.Helper()
	j, err := sqlite.Open(sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.Open(t.Context(), j, registry.Options{Formats: formats.All, Checkers: allCheckers()})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(api.New(r, api.Options{}))
	t.Cleanup(func() {
		s.Close()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, s.URL
}

// A migration that is killed, and one that is told to stop, go on when they are
// run again.
func TestMigrationIsKilled(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			from, source := served(t)
			for i := range 60 {
				q := registry.Registration{
					Subject: schemas.Subject{Name: fmt.Sprint("s", i%20)}, Force: true,
					Source: schemas.Source{Type: schemas.Avro, Text: fmt.Sprintf(`{"type":"fixed","name":"F","size":%d}`, i+1)},
				}
				if _, err := from.Register(t.Context(), q); err != nil {
					t.Fatal(err)
				}
			}
			to, target := served(t)
			child := exec.CommandContext(t.Context(), os.Args[0])
			// So slow that it cannot end before it is killed.
			child.Args = []string{"cartorio", "migrate", "--from", source, "--to", target, "--rate", "40", "--parallel", "2"}
			child.Dir = t.TempDir()
			var complaint bytes.Buffer
			child.Stderr = &complaint
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			for begun := registry.Revision(0); begun < 8; {
				changes, end, err := to.Audit(t.Context(), begun, 1)
				if err != nil {
					t.Fatal(err)
				}
				if begun = end; len(changes) == 0 && child.ProcessState != nil {
					t.Fatal("it ended early")
				}
			}
			if err := child.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := child.Wait(); !errors.As(err, &exit) {
				t.Fatalf("it ended with %v, %s", err, complaint.String())
			}
			global := schemas.Subject{Context: schemas.DefaultContext}
			if mode := to.ModeInForce(global); (mode == registry.Import) != (signal == syscall.SIGKILL) {
				t.Errorf("it left the target in mode %s", mode)
			}
			var out bytes.Buffer
			if code := run(context.Background(), []string{"migrate", "--from", source, "--to", target, "--verify"}, nil, &out, &complaint); code != exitOK {
				t.Errorf("the second run: exit code %d, %s%s", code, out.String(), complaint.String())
			}
			if text := out.String(); !strings.Contains(text, ": 0 differences") || strings.Contains(text, " 0 there already") {
				t.Errorf("the second run says %s", text)
			}
			if mode := to.ModeInForce(global); mode != registry.ReadWrite {
				t.Errorf("the target is left in mode %s", mode)
			}
			if n := len(to.Holdings().Versions); n != 60 {
				t.Errorf("the target has %d versions, want 60", n)
			}
		})
	}
}

// An import into a database is all or nothing: killed, it leaves an empty one.
func TestImportIsAllOrNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dump := filepath.Join(dir, "topic")
	lines := []string{}
	for i := range 50 {
		lines = append(lines, fmt.Sprintf(`{"keytype":"SCHEMA","subject":"s%d","version":1,"magic":1}`+"\t"+`{"subject":"s%d","version":1,"id":%d,"schema":"{\"type\":\"fixed\",\"name\":\"F\",\"size\":%d}"}`, i, i, i+1, i+1))
	}
	broken := strings.Replace(lines[30], `\"fixed\"`, `\"nothing\"`, 1)
	lines[30] = broken
	if err := os.WriteFile(dump, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	database := "sqlite:" + filepath.Join(dir, "c.db")
	var out, complaint bytes.Buffer
	if code := run(context.Background(), []string{"import", "--registry", database, "topic:" + dump}, nil, &out, &complaint); code != exitNotCompared || !strings.Contains(out.String(), `lost    subject "s30" version 1 (id 31): `) {
		t.Errorf("exit code %d, %s%s", code, out.String(), complaint.String())
	}
	out.Reset()
	if code := run(context.Background(), []string{"import", "--registry", database, "--renumber", "topic:" + dump}, nil, &out, &complaint); code != exitFindings {
		t.Errorf("exit code %d, %s%s", code, out.String(), complaint.String())
	}
	g, err := gatherDatabase(t.Context(), filepath.Join(dir, "c.db"))
	if err != nil || len(g.Versions) != 49 {
		t.Errorf("the database holds %d versions, %v; want 49", len(g.Versions), err)
	}
}
