package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// server is a running `cartorio serve`.
type server struct {
	cmd       *exec.Cmd
	address   string // host:port
	complaint *bytes.Buffer
}

func start(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{cmd: exec.Command(os.Args[0]), complaint: &bytes.Buffer{}}
	s.cmd.Args = append([]string{"cartorio", "serve", "--listen", "127.0.0.1:0"}, args...)
	s.cmd.Dir = t.TempDir()
	s.cmd.Stderr = s.complaint
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = s.cmd.Wait()
		t.Fatalf("the server printed no address: %v\n%s", err, s.complaint)
	}
	_, s.address, _ = strings.Cut(strings.TrimSpace(line), "http://")
	return s
}

// TestStoppingFinishesWhatWasAccepted sends half of a registration, tells the
// server to stop, sends the rest, and expects it to be answered and kept.
func TestStoppingFinishesWhatWasAccepted(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "registry.db")
	s := start(t, "--database", database)
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := `{"schema":"\"string\""}`
	fmt.Fprintf(conn, "POST /subjects/s/versions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
	in := bufio.NewReader(conn)
	// The answer to Expect proves that the handler is reading the body.
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	// It has stopped accepting when a new connection is refused or unanswered.
	for {
		probe, err := net.Dial("tcp", s.address)
		if err != nil {
			break
		}
		probe.Close()
	}
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatalf("the accepted request got no answer: %v\n%s", err, s.complaint)
	}
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", answer.Status, text)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, s.complaint)
	}
	again := start(t, "--database", database)
	answer, err = http.Get("http://" + again.address + "/subjects/s/versions/1")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("what was answered is not kept: %s", answer.Status)
	}
}

func TestServeSaysWhyItCannotStart(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	noDatabase := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(noDatabase, bytes.Repeat([]byte("this is no database\n"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	served := "sqlite:" + filepath.Join(t.TempDir(), "served.db")
	first := start(t, "--database", served)
	for name, c := range map[string]struct {
		args []string
		want string
		code int // 0 is exitNotCompared
	}{
		"database in use":  {[]string{"--listen", "127.0.0.1:0", "--database", served}, "served.db: the database is in use by another process, which holds", 0},
		"port in use":      {[]string{"--listen", taken.Addr().String(), "--database", "sqlite::memory:"}, "another program listens there: stop it, or choose another port", 0},
		"wrong usage":      {[]string{"--listen", taken.Addr().String(), "--database", "mysql://x"}, "--database mysql: is not known", exitUsage},
		"no such folder":   {[]string{"--listen", "127.0.0.1:0", "--database", "sqlite:" + filepath.Join(t.TempDir(), "no", "such", "x.db")}, "does not exist: create it", 0},
		"not a database":   {[]string{"--listen", "127.0.0.1:0", "--database", "sqlite:" + noDatabase}, "the file is no SQLite database: choose another path", 0},
		"no such hostname": {[]string{"--listen", "host.invalid:0", "--database", "sqlite::memory:"}, "listening", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A server that starts after all is ended, and fails the test.
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Args = append([]string{"cartorio", "serve"}, c.args...)
			cmd.Dir = t.TempDir()
			var out, complaint bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &complaint
			_ = cmd.Run()
			want := exitNotCompared
			if c.code != 0 {
				want = c.code
			}
			if code := cmd.ProcessState.ExitCode(); code != want || out.Len() > 0 || !strings.Contains(complaint.String(), c.want) {
				t.Errorf("exit code %d, stdout %q, stderr %q, want %d and %q", code, out.String(), complaint.String(), want, c.want)
			}
			// Whoever serves already is not disturbed.
			answer, err := http.Post("http://"+first.address+"/subjects/s/versions", "application/json", strings.NewReader(`{"schema":"\"string\""}`))
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("the first server answers %v, %v", answer, err)
				return
			}
			_ = answer.Body.Close()
		})
	}
}
