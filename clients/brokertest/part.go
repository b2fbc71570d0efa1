package brokertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// partVariable holds, in a process that a test started, the part that it plays,
// as JSON.
const partVariable = "CARTORIO_TEST_BROKER_PART"

// Orders is the subject that parts write and read.
var Orders = validate.Fixed("orders-value")

// Part is a process that works until it is told to stop, or kills itself at one
// step of one message.
type Part struct {
	Registry string // its URL
	Address  string // of the broker, in the adapter's words
	// Through is a line to the broker, host:port, to be taken instead of the
	// address's own; "" for none.
	Through string
	// IsAlert has the part notice within seconds that the broker is silent, where that
	// is tried. Else it is as patient as programs are: on a busy machine a broker is
	// silent for a while without being dead, and what it did not confirm comes twice.
	IsAlert bool
	// Queue is what is read or written, a topic on Kafka; Dead is its dead letter,
	// where it has to be named, and Group is Kafka's.
	Queue, Dead, Group string
	// Leaves has a message leave the queue for its next attempt. Otherwise messages
	// are worked on in the order of their keys.
	Leaves bool
	// Static keeps what the part has for the next one, where a broker has such
	// members.
	Static bool

	// The following are the workshop's: what it does, where it dies ("" for nowhere),
	// the file of what was durably done, how many messages are produced, and how long
	// each takes at least.
	IsProducer    bool
	Step, Message string
	Effects       string
	Count         int
	Pace          time.Duration
}

// At dies when the part is to die there: it ends the process as kill -9 does.
func (p *Part) At(step, message string) {
	if p.Step == step && p.Message == message {
		Die()
	}
}

// Die ends the process as kill -9 does.
func Die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	fmt.Fprintln(os.Stderr, "kill this process:", err)
	select {}
}

// Handle is the part's handler.
func (p *Part) Handle(key, id string, attempt int) error {
	p.At("received", id)
	if p.Leaves && id == p.Message && attempt == 1 {
		return deliver.Retry(errors.New("busy"), 2*time.Second)
	}
	if err := p.done(key + "/" + id); err != nil {
		return err
	}
	p.At("worked", id)
	return nil
}

// Settled is to be told of messages that were settled.
func (p *Part) Settled(h deliver.Handled) {
	p.At(h.Action.String(), h.MessageID)
	if p.Step == "committed" && p.Message == h.MessageID {
		time.AfterFunc(time.Second, Die)
	}
}

// done appends to the file of effects: what is in it survives the process.
func (p *Part) done(what string) error {
	f, err := os.OpenFile(p.Effects, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(what + "\n")
	return errors.Join(err, f.Close())
}

// play plays a part and gives the exit code.
func (w *Workshop) play(text string) int {
	var p Part
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		err = w.perform(&p)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (w *Workshop) perform(p *Part) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := sr.New(sr.Options{URLs: []string{p.Registry}})
	if err != nil {
		return err
	}
	v := validate.New(client, formats.All...)
	defer v.Close()
	if !p.IsProducer {
		return w.Consume(ctx, p, v)
	}
	publish, end, err := w.Produce(ctx, p, v)
	if err != nil {
		return err
	}
	defer end()
	// Each is published once it is noted that the one before was confirmed: what an
	// outbox does.
	for n := len(lines(p.Effects)); n < p.Count; n++ {
		id := fmt.Sprintf("%05d", n)
		if p.Pace > 0 && deliver.Sleep(ctx, p.Pace) != nil {
			return ctx.Err()
		}
		p.At("not sent", id)
		if err := publish(ctx, "k"+strconv.Itoa(n%5), id); err != nil {
			return err
		}
		p.At("confirmed", id)
		if err := p.done(id); err != nil {
			return err
		}
	}
	return nil
}

// lines are those of a file of effects.
func lines(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// process is a part at work.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	out     bytes.Buffer
	effects string
}

// start starts a process that plays a part. The file of effects is a new one when
// the part has none.
func start(t *testing.T, p Part) *process {
	t.Helper()
	if p.Effects == "" {
		p.Effects = filepath.Join(t.TempDir(), "effects")
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	one := &process{t: t, cmd: exec.CommandContext(t.Context(), self), effects: p.Effects}
	one.cmd.Env = append(os.Environ(), partVariable+"="+string(text))
	one.cmd.Stdout, one.cmd.Stderr = &one.out, &one.out
	if err := one.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = one.cmd.Process.Kill() })
	return one
}

// done are the part's effects so far.
func (p *process) done() []string { return lines(p.effects) }

// killed waits for a process that kills itself.
func (p *process) killed() {
	p.t.Helper()
	err := p.cmd.Wait()
	var e *exec.ExitError
	if !errors.As(err, &e) || e.ExitCode() != -1 {
		p.t.Fatalf("the process was not killed: %v: %s", err, &p.out)
	}
}

// ended waits for a process that ends by itself.
func (p *process) ended() {
	p.t.Helper()
	if err := p.cmd.Wait(); err != nil {
		p.t.Fatalf("it did not end well: %v: %s", err, &p.out)
	}
}

// stopped asks a process to stop and waits for it.
func (p *process) stopped() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	p.ended()
}
