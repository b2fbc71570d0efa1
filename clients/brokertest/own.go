package brokertest

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Own is a broker of a test's own, which may be paused, killed and started again.
type Own struct {
	t        *testing.T
	broker   string
	settings map[string]string
}

// Own starts a broker with scripts/brokers.sh, until the test ends. Where none is
// to be had for the other tests, the test is skipped.
func (w *Workshop) Own(t *testing.T) *Own {
	t.Helper()
	w.Address(t)
	o := &Own{t: t, broker: w.Broker, settings: map[string]string{}}
	o.script("start", "--owner", strconv.Itoa(os.Getpid()), w.Broker)
	t.Cleanup(func() {
		// The test's context is over.
		if out, err := exec.Command(script, "stop", o.settings["CARTORIO_BROKERS"]).CombinedOutput(); err != nil { //nolint:noctx // see above
			t.Errorf("stop the broker: %v: %s", err, out)
		}
	})
	return o
}

// script is where tests, which run in their package's folder, find it.
const script = "../../scripts/brokers.sh"

// script runs the brokers' script and keeps what it sets.
func (o *Own) script(args ...string) {
	o.t.Helper()
	cmd := exec.CommandContext(o.t.Context(), script, args...)
	cmd.Env = os.Environ()
	for name, value := range o.settings {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, "CARTORIO_TEST_"+strings.ToUpper(o.broker)+"=") // else it would start none
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		o.t.Fatalf("brokers.sh %s: %v", strings.Join(args, " "), err)
	}
	for _, field := range strings.Fields(string(out)) {
		if name, value, ok := strings.Cut(field, "="); ok {
			o.settings[name] = value
		}
	}
}

// Setting is what the script set for this broker.
func (o *Own) Setting(variable string) string { return o.settings[variable] }

// Signal sends the broker's process a signal.
func (o *Own) Signal(s os.Signal) {
	o.t.Helper()
	if s == nil {
		o.t.Fatal("this system cannot have a process pause")
	}
	pid := 0
	if _, err := fmt.Sscan(o.settings["CARTORIO_TEST_"+strings.ToUpper(o.broker)+"_PID"], &pid); err != nil {
		o.t.Fatalf("the broker's process id: %v", err)
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		o.t.Fatal(err)
	}
	if err := process.Signal(s); err != nil {
		o.t.Fatal(err)
	}
}

// Restart stops the broker if it runs and starts it on the same data and ports.
func (o *Own) Restart() {
	o.t.Helper()
	o.script("restart", o.broker)
}
