package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"cartorio": main})
}

// TestScripts runs the command as people do: real processes, a real git, a real
// server on a free port.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			env.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
			for _, who := range []string{"AUTHOR", "COMMITTER"} {
				env.Setenv("GIT_"+who+"_NAME", "a")
				env.Setenv("GIT_"+who+"_EMAIL", "a@example.com")
				env.Setenv("GIT_"+who+"_DATE", "2026-01-01T00:00:00Z")
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"serve":   serveInScript,
			"request": request,
			"answers": answers,
			"letters": letters,
			"request-file": func(ts *testscript.TestScript, neg bool, args []string) {
				request(ts, neg, []string{args[0], args[1], ts.ReadFile(args[2])})
			},
			"hex": writeHex,
		},
	})
}

// exits CODE PROGRAM ARGS... runs a program and expects an exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("running %s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// serveInScript ARGS... starts a server on a free port and sets
// CARTORIO_REGISTRY_URL. It is told to stop when the script ends, and must then
// exit 0.
func serveInScript(ts *testscript.TestScript, neg bool, args []string) {
	cmd := exec.Command(os.Args[0])
	cmd.Args = append([]string{"cartorio", "serve", "--listen", "127.0.0.1:0"}, args...)
	cmd.Dir = ts.Getenv("WORK")
	cmd.Env = append(os.Environ(), "CARTORIO_LISTEN=")
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			ts.Logf("the server ended with %v\n%s", err, complaint.String())
			panic("the server did not exit 0")
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		ts.Fatalf("the server printed no address: %v\n%s", err, complaint.String())
	}
	_, address, ok := strings.Cut(strings.TrimSpace(line), " serves ")
	if !ok {
		ts.Fatalf("the server printed %q", line)
	}
	ts.Setenv("CARTORIO_REGISTRY_URL", address)
}

// request METHOD PATH [BODY] asks the server; the answer becomes stdout.
func request(ts *testscript.TestScript, neg bool, args []string) {
	body := ""
	if len(args) > 2 {
		body = args[2]
	}
	r, err := http.NewRequest(args[0], ts.Getenv("CARTORIO_REGISTRY_URL")+args[1], strings.NewReader(body))
	ts.Check(err)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s\n", text)
	if (answer.StatusCode != http.StatusOK) != neg {
		ts.Fatalf("%s %s answers %s: %s", args[0], args[1], answer.Status, text)
	}
}

// answers STATUS CODE MESSAGE starts a registry that answers everything so; a
// MESSAGE that is an object is the whole answer.
func answers(ts *testscript.TestScript, neg bool, args []string) {
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		if strings.HasPrefix(args[2], "{") {
			_, _ = io.WriteString(w, args[2])
			return
		}
		fmt.Fprintf(w, `{"error_code":%s,"message":%q}`, args[1], args[2])
	}))
	ts.Defer(s.Close)
	ts.Setenv("CARTORIO_REGISTRY_URL", s.URL)
}

// letters TOPIC COUNT starts a Kafka with a topic of dead letters that lack most
// of what a message should have.
func letters(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, args[0]))
	ts.Check(err)
	ts.Defer(cluster.Close)
	c, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.DefaultProduceTopic(args[0]))
	ts.Check(err)
	defer c.Close()
	for i := range n {
		r := &kgo.Record{Value: []byte("{}"), Headers: []kgo.RecordHeader{{Key: "dlqReason", Value: []byte("payload_invalid")}, {Key: "dlqFailedAt", Value: []byte("2026-01-01T00:00:00Z")}}}
		if i == 0 {
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: "messageId", Value: []byte("m0")})
		}
		ts.Check(c.ProduceSync(context.Background(), r).FirstErr())
	}
	ts.Setenv("KAFKA", "kafka://"+cluster.ListenAddrs()[0])
}

// writeHex FILE DIGITS... writes bytes.
func writeHex(ts *testscript.TestScript, neg bool, args []string) {
	var b []byte
	for _, digits := range args[1:] {
		for ; len(digits) >= 2; digits = digits[2:] {
			n, err := strconv.ParseUint(digits[:2], 16, 8)
			ts.Check(err)
			b = append(b, byte(n))
		}
	}
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), args[0]), b, 0o600))
}
