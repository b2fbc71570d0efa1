package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// measurer runs the benchmarks of packages. A package is compiled once; each round
// is a process of its own that runs all its benchmarks, so that ours and the
// peer's alternate.
type measurer struct {
	dir        string // for the compiled tests
	rounds     int    // 0: what the section says
	complaints io.Writer
}

func (m *measurer) sample(ctx context.Context, s *section, rows []*row) (samples, map[string]error) {
	rounds := s.rounds
	if m.rounds > 0 {
		rounds = m.rounds
	}
	names := benchmarks(rows)
	all, troubles := samples{}, map[string]error{}
	fail := func(err error, out []byte) (samples, map[string]error) {
		if len(out) > 0 {
			say(m.complaints, "ratios: %v\n%s\n", err, out)
		}
		for _, name := range names {
			troubles[name] = err
		}
		return all, troubles
	}
	say(m.complaints, "ratios: %s: %d benchmarks, %d rounds\n", s.pack, len(names), rounds)
	binary, out, err := m.compile(ctx, s.pack)
	if err != nil {
		return fail(fmt.Errorf("compiling the tests of %s: %w", s.pack, err), out)
	}
	for range rounds {
		cmd := exec.CommandContext(ctx, binary, "-test.v", "-test.run=^$", "-test.bench="+pattern(names), "-test.benchtime="+s.time, "-test.timeout=15m")
		cmd.Dir = filepath.FromSlash(s.pack)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		if ctx.Err() != nil {
			return fail(ctx.Err(), nil)
		}
		if err != nil {
			return fail(fmt.Errorf("the benchmarks of %s: %w", s.pack, err), out.Bytes())
		}
		read(out.String(), all, troubles)
	}
	for _, name := range names {
		if all[name] != nil || troubles[name] != nil {
			continue
		}
		troubles[name] = fmt.Errorf("%s has no %s", s.pack, name)
		for i, c := range name { // one that skips has no parts
			if c == '/' && troubles[name[:i]] != nil {
				troubles[name] = troubles[name[:i]]
			}
		}
	}
	return all, troubles
}

// compile builds the tests of a package, which may be a module of its own.
func (m *measurer) compile(ctx context.Context, pack string) (binary string, out []byte, err error) {
	binary = filepath.Join(m.dir, strings.ReplaceAll(pack, "/", "_")+".test")
	if _, err := os.Stat(binary); err == nil {
		return binary, nil, nil
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, ".")
	cmd.Dir = filepath.FromSlash(pack)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err = cmd.CombinedOutput()
	return binary, out, err
}

// benchmarks names those that rows need, each once.
func benchmarks(rows []*row) (names []string) {
	seen := map[string]bool{"": true}
	for _, r := range rows {
		for _, s := range []side{r.ours, r.peer} {
			if !seen[s.bench] {
				seen[s.bench] = true
				names = append(names, s.bench)
			}
		}
	}
	return names
}

// pattern matches just these benchmarks, element by element.
func pattern(names []string) string {
	var all []string
	for _, name := range names {
		var elements []string
		for element := range strings.SplitSeq(name, "/") {
			elements = append(elements, "^"+regexp.QuoteMeta(element)+"$")
		}
		all = append(all, strings.Join(elements, "/"))
	}
	return strings.Join(all, "|")
}

// read adds what a run of benchmarks printed. Those that skipped say why.
func read(text string, all samples, troubles map[string]error) {
	in := bufio.NewScanner(strings.NewReader(text))
	in.Buffer(nil, 1<<20)
	for said := ""; in.Scan(); {
		line := in.Text()
		if name, ok := strings.CutPrefix(line, "--- SKIP: "); ok {
			troubles[name] = skipped(strings.TrimPrefix(said, "NOT RUN: "))
			continue
		}
		said = ""
		if _, after, ok := strings.Cut(line, ".go:"); ok && strings.HasPrefix(line, " ") {
			_, said, _ = strings.Cut(after, ": ")
		}
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		name := withoutProcs(fields[0])
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				troubles[name] = errors.Join(troubles[name], fmt.Errorf("%q in %q: %w", fields[i], line, err))
				break
			}
			if all[name] == nil {
				all[name] = map[string][]float64{}
			}
			all[name][fields[i+1]] = append(all[name][fields[i+1]], value)
		}
	}
}

// withoutProcs takes off the number of processors that go test appends.
func withoutProcs(name string) string { return strings.TrimSuffix(name, procs()) }

func procs() string {
	if n := runtime.GOMAXPROCS(0); n > 1 {
		return "-" + strconv.Itoa(n)
	}
	return ""
}
