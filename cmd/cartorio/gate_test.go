package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// cost is what one process took.
type cost struct {
	processor, clock time.Duration
	megabytes        int64
}

func (c cost) String() string {
	return fmt.Sprintf("%6.2f s of processor, %6.2f s by the clock, %4d MB", c.processor.Seconds(), c.clock.Seconds(), c.megabytes)
}

// spend runs a command cold. Exit codes up to most are answers.
func spend(t testing.TB, most int, name string, args ...string) cost {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	start := time.Now()
	err := cmd.Run()
	clock := time.Since(start)
	if code := cmd.ProcessState.ExitCode(); code < 0 || code > most {
		t.Fatalf("%s %v: %v\n%s", name, args, err, complaint.String())
	}
	return cost{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), clock, mostHeld(cmd.ProcessState)}
}

// built is the program as it is released.
func built(t testing.TB) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "cartorio")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return binary
}

func median(list []cost) (m cost) {
	pick := func(by func(cost) int64) int64 {
		var all []int64
		for _, c := range list {
			all = append(all, by(c))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	return cost{
		time.Duration(pick(func(c cost) int64 { return int64(c.processor) })),
		time.Duration(pick(func(c cost) int64 { return int64(c.clock) })),
		pick(func(c cost) int64 { return c.megabytes }),
	}
}

// TestGateBesideBuf measures the gate over a thousand files a side, cold, beside
// buf breaking, in turns: CARTORIO_BUF is the path of its binary, CARTORIO_ROUNDS
// how many turns (5).
//
// Source: performance 7.
func TestGateBesideBuf(t *testing.T) {
	buf, files, rounds := os.Getenv("CARTORIO_BUF"), 1_000, 5
	if buf == "" {
		t.Skip("NOT RUN: set CARTORIO_BUF to the path of a buf binary")
	}
	if text := os.Getenv("CARTORIO_ROUNDS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil || rounds < 1 {
			t.Fatalf("CARTORIO_ROUNDS is %q: a number from 1 is wanted", text)
		}
	}
	binary := built(t)
	for _, c := range []struct {
		name, format string
		corpus       corpus
	}{
		{"proto, all changed", "proto", corpus{files, files, false}},
		{"proto, a twentieth changed", "proto", corpus{files, files / 20, false}},
		{"proto, a twentieth changed above the common files", "proto", corpus{files, files / 20, true}},
		{"avro, all changed", "avro", corpus{files, files, false}},
		{"avro, a twentieth changed", "avro", corpus{files, files / 20, false}},
		{"json, all changed", "json", corpus{files, files, false}},
		{"json, a twentieth changed", "json", corpus{files, files / 20, false}},
	} {
		dir := t.TempDir()
		c.corpus.write(t, dir, c.format)
		old, next := filepath.Join(dir, "old"), filepath.Join(dir, "new")
		var ours, theirs []cost
		for range rounds {
			ours = append(ours, spend(t, exitFindings, binary, "check", next, "--against", old, "--output", filepath.Join(dir, "findings")))
			if c.format == "proto" {
				theirs = append(theirs, spend(t, 100, buf, "breaking", next, "--against", old))
			}
		}
		told, err := os.ReadFile(filepath.Join(dir, "findings"))
		if err != nil || !strings.Contains(string(told), strconv.Itoa(files)) {
			t.Errorf("%s: the answer does not say that %d files were compared: %v", c.name, files, err)
		}
		m := median(ours)
		t.Logf("%-50s gate %v", c.name, m)
		if theirs != nil {
			b := median(theirs)
			t.Logf("%-50s buf  %v; the gate takes %.2f of its processor time and %.2f of its memory", "", b,
				float64(m.processor)/float64(b.processor), float64(m.megabytes)/float64(b.megabytes))
		}
	}
}
