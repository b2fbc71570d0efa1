package kafka_test

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

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// isLong asks for the long forms of outages and crashes.
var isLong = os.Getenv("CARTORIO_TEST_LONG") != ""

// start starts a process that plays a part.
func (r *real) start(p part) (*exec.Cmd, *bytes.Buffer) {
	r.t.Helper()
	p.Seed, p.Registry = r.seed, "http://"+r.registry.address
	p.Topic, p.Dead, p.Group = r.topic, r.dead, r.group
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
	const n = 300
	for _, tt := range []struct {
		step        string
		message     int
		retry       bool
		isCommitted bool // nothing may come twice
	}{
		{"received", 151, false, false},
		{"worked", 151, false, false},
		{"acknowledged", 151, false, false},
		{"committed", 151, false, true},
		{"dead_lettered", 150, false, false},
		{"delayed", 151, true, false},
	} {
		t.Run(tt.step, func(t *testing.T) {
			t.Parallel()
			r := connect(t, 2)
			r.register("orders-value", schemas.JSON, orderV1)
			t.Cleanup(func() {
				r.remove(r.group+".retry.2000", r.group+".retry.4000", r.group+".retry.8000", r.group+".retry.16000")
			})
			put := func(i int) {
				body := `{"id":1}`
				if i%50 == 0 && i < n {
					body = `{"id":"bad"}`
				}
				r.put(kgo.Record{Key: fmt.Appendf(nil, "k%d", i%5), Value: []byte(body), Headers: []kgo.RecordHeader{
					header("messageId", fmt.Sprintf("%05d", i)), header("schemaSubject", "orders-value"), header("schemaVersion", "1"),
				}})
			}
			for i := range n {
				put(i)
			}
			p := part{Play: "consume", Effects: filepath.Join(t.TempDir(), "effects"), Step: tt.step, Message: fmt.Sprintf("%05d", tt.message), RetryTopics: tt.retry, Static: tt.step != "received"}
			cmd, out := r.start(p)
			killed(t, cmd, out)
			before := len(lines(p.Effects))
			put(n) // there is always something left to do
			p.Step = ""
			cmd, out = r.start(p)
			const good = n - n/50 + 1
			await(t, "all are handled by the next one", func() bool { return distinct(lines(p.Effects)) == good && r.committed() == n+1 })
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatalf("the next one: %v: %s", err, out)
			}
			effects := lines(p.Effects)
			if !tt.retry {
				orderPerKey(t, effects)
			}
			dead := map[string]int{}
			total := 0
			for _, rec := range r.all(r.dead) {
				if !strings.Contains(string(rec.Value), "bad") {
					t.Errorf("a healthy message is set aside: %s: %s", get(rec, "messageId"), get(rec, "dlqError"))
				}
				dead[get(rec, "messageId")]++
				total++
			}
			twice := len(effects) - good
			if len(dead) != n/50 || tt.isCommitted && twice+total-len(dead) > 0 {
				t.Errorf("%d of %d bad ones set aside, %d times; %d handled twice", len(dead), n/50, total, twice)
			}
			t.Logf("killed at %q after %d effects: %d of %d handled, %d twice; %d bad ones set aside, %d twice; 0 healthy", tt.step, before, distinct(effects), good, twice, len(dead), total-len(dead))
		})
	}
}

// A producer is killed at each step of a message and goes on: nothing is lost,
// order per key is kept, and at most the one message is there twice, under one id.
func TestRealKilledProducer(t *testing.T) {
	t.Parallel()
	const n = 200
	for step, mostTwice := range map[string]int{"not sent": 0, "handed over": 0, "on its way": 1, "answered": 1, "confirmed": 1} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			r := connect(t, 2)
			r.register("orders-value", schemas.JSON, orderV1)
			p := part{Play: "produce", Effects: filepath.Join(t.TempDir(), "confirmed"), Step: step, Message: "00100", Count: n}
			cmd, out := r.start(p)
			killed(t, cmd, out)
			p.Step = ""
			cmd, out = r.start(p)
			if err := cmd.Wait(); err != nil {
				t.Fatalf("the next one: %v: %s", err, out)
			}
			var ids []string
			for _, rec := range r.all(r.topic) {
				ids = append(ids, string(rec.Key)+"/"+get(rec, "messageId"))
			}
			orderPerKey(t, ids)
			if twice := len(ids) - n; distinct(ids) != n || twice > mostTwice {
				t.Errorf("%d messages, %d different", len(ids), distinct(ids))
			}
			t.Logf("killed when %s: %d of %d published, %d twice", step, distinct(ids), n, len(ids)-n)
		})
	}
}

// A real broker of this test's own, which may be killed, restarted and paused.
func ownBroker(t *testing.T) (seed string, pid func() int, restart func()) {
	t.Helper()
	if os.Getenv(brokerVariable) == "" {
		t.Skipf("set %s to the address of a Kafka: then this test starts one of its own", brokerVariable)
	}
	brokerTests.Add(1)
	env := append(os.Environ(), brokerVariable+"=")
	settings := map[string]string{}
	script := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "../../scripts/brokers.sh", args...)
		cmd.Env = env
		for name, value := range settings {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		cmd.Env = append(cmd.Env, brokerVariable+"=")
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
	script("start", "kafka")
	t.Cleanup(func() {
		cmd := exec.Command("../../scripts/brokers.sh", "stop", settings["CARTORIO_BROKERS"]) // the test's context is over
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("stop the broker: %v: %s", err, out)
		}
	})
	pid = func() int {
		n := 0
		_, err := fmt.Sscan(settings["CARTORIO_TEST_KAFKA_PID"], &n)
		if err != nil {
			t.Fatalf("the broker's process id: %v", err)
		}
		return n
	}
	return settings[brokerVariable], pid, func() { script("restart", "kafka") }
}

// The broker stops answering for longer than a member may be silent, as when the
// network is cut; then it is killed and restarted. Both sides go on by
// themselves: nothing is lost, order per key is kept, nothing is set aside.
func TestRealBrokerTrouble(t *testing.T) {
	t.Parallel()
	seed, pid, restart := ownBroker(t)
	r := connectTo(t, seed, 2)
	r.register("orders-value", schemas.JSON, orderV1)
	dir := t.TempDir()
	const n = 1500
	consumer, consumed := r.start(part{Play: "consume", Effects: filepath.Join(dir, "effects")})
	producer, produced := r.start(part{Play: "produce", Effects: filepath.Join(dir, "confirmed"), Count: n})
	confirmed := func() int { return len(lines(filepath.Join(dir, "confirmed"))) }
	handled := func() int { return distinct(lines(filepath.Join(dir, "effects"))) }
	await(t, "it begins", func() bool { return handled() > 100 })

	cut := 4 * time.Second
	if isLong {
		cut = time.Minute
	}
	if err := syscall.Kill(pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	// What has no answer is unknown (P3): published again with the same id it is
	// there, once or twice.
	impatient := r.producer(validate.Version(byOrders, 1), kafka.ProducerOptions{})
	lost := func() *kgo.Record {
		return &kgo.Record{Topic: r.topic, Key: []byte("lost"), Headers: []kgo.RecordHeader{header("messageId", "00000")}, Value: []byte(`{"id":1}`)}
	}
	brief, giveUp := context.WithTimeout(t.Context(), time.Second)
	var fate *kafka.Error
	if err := impatient.Publish(brief, lost()); !errors.As(err, &fate) || fate.Fate != kafka.Unknown || !errors.Is(err, validate.ErrUnavailable) {
		t.Errorf("a publish without an answer: %v", err)
	}
	giveUp()
	await(t, "the line is cut", func() bool { return time.Since(at) > cut })
	during := confirmed()
	if err := syscall.Kill(pid(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := impatient.Publish(t.Context(), lost()); err != nil {
		t.Errorf("published again: %v", err)
	}
	await(t, "it goes on after the cut", func() bool { return confirmed() > during+100 && handled() > during+100 })
	t.Logf("cut for %v at %d messages: both sides went on %v later", cut, during, time.Since(at.Add(cut)).Round(time.Millisecond))

	if err := syscall.Kill(pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	at, during = time.Now(), confirmed()
	restart()
	back := time.Since(at)
	await(t, "it goes on after the restart", func() bool { return confirmed() > during+100 && handled() > during+100 })
	t.Logf("broker killed at %d messages: it was back after %v, both sides went on after %v", during, back.Round(time.Millisecond), time.Since(at).Round(time.Millisecond))

	if err := producer.Wait(); err != nil {
		t.Fatalf("the producer: %v: %s", err, produced)
	}
	await(t, "all are handled", func() bool { return handled() == n+1 })
	if err := consumer.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := consumer.Wait(); err != nil {
		t.Fatalf("the consumer: %v: %s", err, consumed)
	}
	effects := lines(filepath.Join(dir, "effects"))
	orderPerKey(t, effects)
	var ids []string
	for _, rec := range r.all(r.topic) {
		ids = append(ids, string(rec.Key)+"/"+get(rec, "messageId"))
	}
	orderPerKey(t, ids)
	if distinct(ids) != n+1 || len(r.all(r.dead)) != 0 {
		t.Errorf("%d different messages published, %d set aside", distinct(ids), len(r.all(r.dead)))
	}
	t.Logf("%d published, %d twice; %d handled, %d twice; 0 set aside", distinct(ids), len(ids)-n-1, distinct(effects), len(effects)-n-1)
}
