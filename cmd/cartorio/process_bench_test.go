package main

import (
	"bufio"
	"context"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bufbuild/protocompile"

	"github.com/cartorio-registry/cartorio/schemas/costtest"
)

// BenchmarkProcess measures whole processes, from their start: the gate over one
// file and a thousand, beside buf breaking (CARTORIO_BUF, or the buf of PATH) and
// beside compiling both sides with protocompile and stopping there; a server on an
// empty database until it is ready, beside `cartorio version`; and how large
// the program is.
//
// Source: performance 7.
func BenchmarkProcess(b *testing.B) {
	binary := built(b)
	info, err := os.Stat(binary)
	if err != nil {
		b.Fatal(err)
	}
	all := corpus{1_000, 1_000, false}
	thousand, single := b.TempDir(), b.TempDir()
	all.write(b, thousand, "proto")
	for side, changed := range map[string]bool{"old": false, "new": true} {
		name, text := all.proto(0, changed)
		at := filepath.Join(single, side, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct{ name, dir string }{{"1 file", single}, {"1000 files", thousand}} {
		old, next, findings := filepath.Join(c.dir, "old"), filepath.Join(c.dir, "new"), filepath.Join(c.dir, "findings")
		b.Run(c.name+"/gate", func(b *testing.B) {
			spends(b, exitFindings, binary, "check", next, "--against", old, "--output", findings)
		})
		b.Run(c.name+"/buf", func(b *testing.B) {
			buf := os.Getenv("CARTORIO_BUF")
			if buf == "" {
				if buf, err = exec.LookPath("buf"); err != nil {
					b.Skip("NOT RUN: set CARTORIO_BUF to the path of a buf binary")
				}
			}
			spends(b, 100, buf, "breaking", next, "--against", old)
		})
		b.Run(c.name+"/floor", func(b *testing.B) {
			defer costtest.Processor(b)()
			for b.Loop() {
				compiled(b, old)
				compiled(b, next)
			}
		})
	}
	b.Run("version", func(b *testing.B) {
		spends(b, exitOK, binary, "version")
		b.ReportMetric(float64(info.Size())/1e6, "MB-binary")
	})
	b.Run("serve", func(b *testing.B) {
		var clock, spent time.Duration
		var resident int64
		for b.Loop() {
			began := time.Now()
			cmd := exec.CommandContext(b.Context(), binary, "serve", "--listen", "127.0.0.1:0")
			cmd.Dir = b.TempDir()
			out, err := cmd.StdoutPipe()
			if err != nil {
				b.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			clock += time.Since(began)
			if err != nil {
				b.Fatalf("the server printed no address: %v", err)
			}
			_, address, _ := strings.Cut(strings.TrimSpace(line), "http://")
			answer, err := http.Get("http://" + address + "/subjects")
			if err != nil || answer.StatusCode != http.StatusOK {
				b.Fatalf("%v, %v", answer, err)
			}
			_ = answer.Body.Close()
			resident = max(resident, residentOf(cmd.Process.Pid))
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				b.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				b.Fatal(err)
			}
			spent += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N), "cpu-ns/op")
		b.ReportMetric(float64(clock.Nanoseconds())/float64(b.N), "ns/op")
		b.ReportMetric(float64(resident)/1e6, "MB-resident")
	})
}

// spends reports the medians of processes that are run cold.
func spends(b *testing.B, most int, program string, args ...string) {
	b.Helper()
	var all []cost
	for b.Loop() {
		all = append(all, spend(b, most, program, args...))
	}
	m := median(all)
	b.ReportMetric(float64(m.processor.Nanoseconds()), "cpu-ns/op")
	b.ReportMetric(float64(m.clock.Nanoseconds()), "ns/op")
	b.ReportMetric(float64(m.megabytes), "MB")
}

// compiled compiles all .proto files of a folder, as whatever compares them must.
func compiled(b *testing.B, dir string) {
	b.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	c := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}})}
	if _, err := c.Compile(context.Background(), names...); err != nil {
		b.Fatal(err)
	}
}

// residentOf is the memory of a process in bytes, 0 where that is not told.
func residentOf(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
