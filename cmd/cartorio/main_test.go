package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// panicking is an input whose reading is a defect.
type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("secret of the defect") }

func TestADefectIsReportedWithoutItsText(t *testing.T) {
	schema := filepath.Join(t.TempDir(), "s.avsc")
	if err := os.WriteFile(schema, []byte(`"string"`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, debug := range []string{"", "1"} {
		t.Setenv("CARTORIO_DEBUG", debug)
		var out, complaint bytes.Buffer
		code := run(context.Background(), []string{"validate", schema, "-"}, panicking{}, &out, &complaint)
		if code != exitDefect {
			t.Errorf("exit code %d, want %d", code, exitDefect)
		}
		if out.Len() > 0 {
			t.Errorf("stdout holds %q", out.String())
		}
		if !regexp.MustCompile(`defect in cartorio, report [0-9a-f]{12} `).MatchString(complaint.String()) {
			t.Errorf("stderr holds no report id: %q", complaint.String())
		}
		if got := strings.Contains(complaint.String(), "secret of the defect"); got != (debug != "") {
			t.Errorf("CARTORIO_DEBUG=%q: the panic's text is shown: %v", debug, got)
		}
	}
}

// broken is an output that takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the pipe is closed") }

func TestAnswersThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	var complaint bytes.Buffer
	for _, args := range [][]string{{"version"}, {"version", "--format", "json"}} {
		complaint.Reset()
		if code := run(context.Background(), args, nil, broken{}, &complaint); code != exitNotCompared || !strings.Contains(complaint.String(), "the pipe is closed") {
			t.Errorf("%v: exit code %d, stderr %q", args, code, complaint.String())
		}
	}
}

func TestOutputFilesAreWholeOrNotThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "report.json")
	a := &app{out: io.Discard, err: io.Discard}
	if err := a.write(file, func(w io.Writer, colours bool) error {
		_, _ = io.WriteString(w, "half")
		return errors.New("no more")
	}); err == nil {
		t.Error("want an error")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("%v is left behind, %v", left, err)
	}
	if err := a.write(file, func(w io.Writer, colours bool) error {
		_, err := io.WriteString(w, "whole")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "whole" {
		t.Errorf("%q, %v", b, err)
	}
}

// screen is a terminal that several goroutines look at.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestProgressIsQuietAtFirstAndWhenItEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b screen
		p := &progress{w: &b, what: "comparing"}
		p.timer = time.AfterFunc(patience, p.tick)
		p.total(10)
		p.add()
		time.Sleep(patience - time.Millisecond)
		synctest.Wait()
		if b.String() != "" {
			t.Errorf("%q is shown before a second has passed", b.String())
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if got, want := b.String(), "\r\x1b[Kcomparing: 1 of 10"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		p.stop()
		shown := b.String()
		time.Sleep(time.Minute)
		synctest.Wait()
		if !strings.HasSuffix(b.String(), "\r\x1b[K") || b.String() != shown {
			t.Errorf("%q is left on the terminal", b.String())
		}
	})
	var b bytes.Buffer
	if p := (&app{err: &b}).startProgress("comparing"); p.timer != nil {
		t.Error("progress runs where there is no terminal")
	}
}

func TestDatabasePath(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"sqlite:cartorio.db": "cartorio.db", "sqlite::memory:": ":memory:", "sqlite:/data/c.db": "/data/c.db", "sqlite:///data/c.db": "/data/c.db",
	} {
		if got, err := databasePath(url); err != nil || got != want {
			t.Errorf("databasePath(%q) = %q, %v, want %q", url, got, err, want)
		}
	}
	for _, url := range []string{"", "cartorio.db", "sqlite:", "postgres://h/d", "postgresql://h/d", "mysql:x", `C:\cartorio.db`} {
		if got, err := databasePath(url); err == nil {
			t.Errorf("databasePath(%q) = %q, want an error", url, got)
		}
	}
}

func TestAddressOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ listen, base, want string }{
		{"127.0.0.1:8081", "", "http://127.0.0.1:8081/"},
		{":8081", "", "http://127.0.0.1:8081/"},
		{"0.0.0.0:80", "/r/", "http://127.0.0.1:80/r"},
		{"[::]:80", "r", "http://127.0.0.1:80/r"},
		{"[::1]:80", "", "http://[::1]:80/"},
		{"host:80", "", "http://host:80/"},
	} {
		if got, err := addressOf(c.listen, c.base); err != nil || got != c.want {
			t.Errorf("addressOf(%q, %q) = %q, %v, want %q", c.listen, c.base, got, err, c.want)
		}
	}
	if _, err := addressOf("8081", ""); err == nil {
		t.Error("8081 alone is no address")
	}
}
