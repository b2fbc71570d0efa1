package activemq_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// isLong asks for the long forms of outages and crashes.
var isLong = os.Getenv("CARTORIO_TEST_LONG") != ""

// start starts a process that plays a part.
func (r *real) start(p part) (*exec.Cmd, *bytes.Buffer) {
	r.t.Helper()
	p.Address, p.Registry, p.Queue = r.address, "http://"+r.registry.address, r.queue
	text, err := json.Marshal(p)
	if err != nil {
		r.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.CommandContext(r.t.Context(), self)
	cmd.Env = append(os.Environ(), partVariable+"="+string(text))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, &out
}

// killed waits for a process that kills itself.
func killed(t *testing.T, cmd *exec.Cmd, out *bytes.Buffer) {
	t.Helper()
	err := cmd.Wait()
	var e *exec.ExitError
	if !errors.As(err, &e) || e.ExitCode() != -1 {
		t.Fatalf("the process was not killed: %v: %s", err, out)
	}
}

// stopped asks a process to stop and waits for it.
func stopped(t *testing.T, cmd *exec.Cmd, out *bytes.Buffer) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("it did not stop well: %v: %s", err, out)
	}
}

func lines(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func distinct(list []string) int {
	seen := map[string]bool{}
	for _, s := range list {
		seen[s] = true
	}
	return len(seen)
}

// A consumer is killed at each step of a message, and another takes over: nothing
// is lost, order per key is kept, and nothing healthy is in the dead letter.
func TestRealKilledConsumer(t *testing.T) {
	t.Parallel()
	const n = 100
	for _, tt := range []struct {
		step        string
		message     int
		isScheduled bool
	}{
		{"received", 51, false},
		{"worked", 51, false},
		{"acknowledged", 51, false},
		{"handed over", 50, false}, // the dead letter's frame
		{"on its way", 50, false},
		{"committing", 50, false},
		{"answered", 50, false},
		{"dead_lettered", 50, false},
		{"handed over", 51, true}, // the retry's frame
		{"on its way", 51, true},
		{"answered", 51, true},
		{"delayed", 51, true},
	} {
		name := tt.step
		if tt.isScheduled {
			name = "retry " + name
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := connect(t)
			r.register("orders-value", schemas.JSON, orderV1)
			for i := range n {
				body := `{"id":1}`
				if i%50 == 0 {
					body = `{"id":"bad"}`
				}
				key := fmt.Sprintf("k%d", i%5)
				r.put([]byte(body), "messageId", fmt.Sprintf("%05d", i), "messageKey", key, "JMSXGroupID", key, "schemaSubject", "orders-value", "schemaVersion", "1")
			}
			p := part{Play: "consume", Effects: filepath.Join(t.TempDir(), "effects"), Step: tt.step, Message: fmt.Sprintf("%05d", tt.message), Scheduled: tt.isScheduled}
			cmd, out := r.start(p)
			killed(t, cmd, out)
			before := len(lines(p.Effects))
			p.Step = ""
			// There is always something left to do.
			r.put([]byte(`{"id":1}`), "messageId", fmt.Sprintf("%05d", n), "messageKey", "last", "schemaSubject", "orders-value", "schemaVersion", "1")
			cmd, out = r.start(p)
			const good = n - n/50 + 1
			await(t, "all are handled by the next one", func() bool { return distinct(lines(p.Effects)) == good && r.depth(r.queue) == 0 })
			stopped(t, cmd, out)
			effects := lines(p.Effects)
			if !tt.isScheduled {
				orderPerKey(t, effects)
			}
			dead := map[string]int{}
			total := 0
			for _, f := range r.look(r.dead) {
				if !strings.Contains(string(f.Body), "bad") {
					t.Errorf("a healthy message is set aside: %s: %s", f.Header.Get("messageId"), f.Header.Get("dlqError"))
				}
				dead[f.Header.Get("messageId")]++
				total++
			}
			// A transaction leaves no dead letter in two places.
			if len(dead) != n/50 || total != len(dead) {
				t.Errorf("%d of %d bad ones set aside, %d times", len(dead), n/50, total)
			}
			t.Logf("killed at %q after %d effects: %d of %d handled, %d twice; %d bad ones set aside, %d twice; 0 healthy", name, before, distinct(effects), good, len(effects)-good, len(dead), total-len(dead))
		})
	}
}

// A producer is killed at each step of a message and goes on: nothing is lost,
// order per key is kept, and at most the one message is there twice, under one id.
func TestRealKilledProducer(t *testing.T) {
	t.Parallel()
	const n = 100
	for step, mostTwice := range map[string]int{"not sent": 0, "handed over": 0, "on its way": 1, "answered": 1, "confirmed": 1} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			r := connect(t)
			r.register("orders-value", schemas.JSON, orderV1)
			p := part{Play: "produce", Effects: filepath.Join(t.TempDir(), "confirmed"), Step: step, Message: "00050", Count: n}
			cmd, out := r.start(p)
			killed(t, cmd, out)
			p.Step = ""
			cmd, out = r.start(p)
			if err := cmd.Wait(); err != nil {
				t.Fatalf("the next one: %v: %s", err, out)
			}
			ids := r.published()
			orderPerKey(t, ids)
			if twice := len(ids) - n; distinct(ids) != n || twice > mostTwice {
				t.Errorf("%d messages, %d different", len(ids), distinct(ids))
			}
			t.Logf("killed when %s: %d of %d published, %d twice", step, distinct(ids), n, len(ids)-n)
		})
	}
}

// published is what is in the queue, as "key/id" and in order.
func (r *real) published() []string {
	var ids []string
	for _, f := range r.look(r.queue) {
		ids = append(ids, f.Header.Get("messageKey")+"/"+f.Header.Get("messageId"))
	}
	return ids
}

// ownBroker starts a broker of this test's own, which may be killed, restarted
// and paused.
func ownBroker(t *testing.T) (address string, pid func() int, restart func()) {
	t.Helper()
	if os.Getenv(brokerVariable) == "" {
		t.Skipf("set %s to the STOMP address of an ActiveMQ: then this test starts one of its own", brokerVariable)
	}
	brokerTests.Add(1)
	settings := map[string]string{}
	script := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "../../scripts/brokers.sh", args...)
		cmd.Env = os.Environ()
		for name, value := range settings {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		cmd.Env = append(cmd.Env, "CARTORIO_TEST_ACTIVEMQ=")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("brokers.sh %s: %v", strings.Join(args, " "), err)
		}
		for _, field := range strings.Fields(string(out)) {
			if name, value, ok := strings.Cut(field, "="); ok {
				settings[name] = value
			}
		}
	}
	script("start", "activemq")
	t.Cleanup(func() {
		cmd := exec.Command("../../scripts/brokers.sh", "stop", settings["CARTORIO_BROKERS"]) // the test's context is over
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("stop the broker: %v: %s", err, out)
		}
	})
	pid = func() int {
		n := 0
		if _, err := fmt.Sscan(settings["CARTORIO_TEST_ACTIVEMQ_PID"], &n); err != nil {
			t.Fatalf("the broker's process id: %v", err)
		}
		return n
	}
	return settings[brokerVariable], pid, func() { script("restart", "activemq") }
}

// The broker stops answering for longer than it may be silent, as when the line
// is cut; then it is killed and started again on its data. Both sides go on by
// themselves: nothing is lost, order per key is kept, nothing is set aside. What
// was confirmed survives (P9), delayed messages too.
func TestRealBrokerTrouble(t *testing.T) {
	t.Parallel()
	address, pid, restart := ownBroker(t)
	r := connectTo(t, address)
	r.register("orders-value", schemas.JSON, orderV1)
	dir := t.TempDir()
	const n = 2500
	consumer, consumed := r.start(part{Play: "consume", Effects: filepath.Join(dir, "effects")})
	producer, produced := r.start(part{Play: "produce", Effects: filepath.Join(dir, "confirmed"), Count: n})
	confirmed := func() int { return len(lines(filepath.Join(dir, "confirmed"))) }
	handled := func() int { return distinct(lines(filepath.Join(dir, "effects"))) }
	await(t, "it begins", func() bool { return handled() > 100 })

	cut := 5 * time.Second
	if isLong {
		cut = time.Minute
	}
	if err := syscall.Kill(pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	await(t, "the line is cut", func() bool { return time.Since(at) > cut })
	during := confirmed()
	if err := syscall.Kill(pid(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	await(t, "it goes on after the cut", func() bool { enough := min(during+100, n-1); return confirmed() > enough && handled() > enough })
	t.Logf("cut for %v at %d messages: both sides went on %v later", cut, during, time.Since(at.Add(cut)).Round(time.Millisecond))

	// A message that has no receipt is unknown (P3); one with a receipt is there
	// after the kill, and so is one that is delayed.
	kept := activemq.NewProducer(activemq.Connect(address, activemq.Options{}), r.v, validate.Version(orders, 1), activemq.ProducerOptions{})
	keep := func(queue string, headers ...validate.Header) {
		if err := kept.Publish(ctx, queue, &activemq.Message{Headers: headers, MessageID: queue, Body: []byte(`{"id":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	keep("kept")
	keep("delayed", validate.Header{Name: "AMQ_SCHEDULED_DELAY", Value: "3000"})
	await(t, "the delayed one is not there at once", func() bool { return r.depth("delayed") == 0 })
	if err := syscall.Kill(pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	brief, giveUp := context.WithTimeout(ctx, 300*time.Millisecond)
	var fate *activemq.Error
	if err := kept.Publish(brief, "kept", &activemq.Message{Body: []byte(`{"id":1}`)}); !errors.As(err, &fate) || fate.Fate != activemq.Unsent && fate.Fate != activemq.Unknown || !errors.Is(err, validate.ErrUnavailable) {
		t.Errorf("a publish to a dead broker: %v", err)
	}
	giveUp()
	at, during = time.Now(), confirmed()
	restart()
	back := time.Since(at)
	await(t, "it goes on after the restart", func() bool { enough := min(during+100, n-1); return confirmed() > enough && handled() > enough })
	t.Logf("broker killed at %d messages: it was back after %v, both sides went on after %v", during, back.Round(time.Millisecond), time.Since(at).Round(time.Millisecond))
	for _, queue := range []string{"kept", "delayed"} {
		if f := r.take(queue); f.Header.Get("messageId") != queue || f.Header.Get("persistent") != "true" {
			t.Errorf("%s: %v", queue, f.Header)
		}
	}

	if err := producer.Wait(); err != nil {
		t.Fatalf("the producer: %v: %s", err, produced)
	}
	await(t, "all are handled", func() bool { return handled() == n && r.depth(r.queue) == 0 })
	stopped(t, consumer, consumed)
	effects := lines(filepath.Join(dir, "effects"))
	orderPerKey(t, effects)
	if dead := r.depth(r.dead); dead != 0 || confirmed() != n {
		t.Errorf("%d confirmed, %d set aside", confirmed(), dead)
	}
	t.Logf("%d published; %d handled, %d twice; 0 set aside", n, distinct(effects), len(effects)-n)
}

// A broker that is silent is left, though its line stands.
func TestRealSilence(t *testing.T) {
	t.Parallel()
	address, pid, _ := ownBroker(t)
	c, err := activemq.Connect(address, activemq.Options{HeartBeat: 100 * time.Millisecond, Timeout: time.Second})(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got := make(chan error, 1)
	go func() {
		_, err := c.Read()
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("while it beats: %v", err)
	case <-time.After(3 * time.Second):
	}
	if err := syscall.Kill(pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := next(t, got); err == nil || !strings.Contains(err.Error(), "silent") {
		t.Errorf("in silence: %v", err)
	}
	if _, err := activemq.Connect(address, activemq.Options{Timeout: 300 * time.Millisecond})(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("connect to one that is silent: %v", err)
	}
	body := bytes.Repeat([]byte("x"), 64<<20)
	f := frame.New(frame.SEND, frame.Destination, "/queue/x")
	f.Body = body
	if err := c.Write(f); err == nil {
		t.Error("64 MiB were written to one that does not read")
	}
}
