//go:build unix

package scripts_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeBroker is a broker that is a process without a port.
const fakeBroker = `# shellcheck shell=bash
start_fake() { # FOLDER
  mkdir -p "$1/fake"
  setsid sleep 600 >/dev/null 2>&1 < /dev/null &
  record $! "$1/fake/pid"
  echo $! >> "$FAKES"
  [ -z "${FAKE_SLOW:-}" ] || exec sleep 600
  echo "export CARTORIO_TEST_FAKE=$!"
}
stop_fake() { # FOLDER
  local pid
  pid=$(recorded "$1/fake/pid") || return 0
  end "$pid"
}
`

// yard is a copy of the scripts with one broker, whose sets lie in a folder of the
// test's.
type yard struct {
	t     *testing.T
	root  string
	fakes string // the ids of all that were started
}

func newYard(t *testing.T) *yard {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("NOT RUN: processes are told apart by /proc, which is not here")
	}
	y := &yard{t: t, root: t.TempDir()}
	y.fakes = filepath.Join(y.root, "fakes")
	for _, name := range []string{"brokers.sh", "processes.sh", "test.sh"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		y.write("scripts/"+name, string(text))
	}
	y.write("scripts/brokers/fake.sh", fakeBroker)
	y.write("scripts/debezium.sh", "#!/bin/sh\nexit 1\n")
	y.write("scripts/clients.sh", "#!/bin/sh\n")
	// In place of go: a test that starts a broker of its own and takes its time.
	y.write("go", "#!/bin/sh\n[ \"$1\" = test ] || exit 0\nCARTORIO_TEST_FAKE= scripts/brokers.sh start --owner $$ fake >/dev/null\nexec sleep 600\n")
	y.write("tmp/keep", "")
	t.Cleanup(func() {
		for _, pid := range y.alive() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return y
}

func (y *yard) write(name, text string) {
	y.t.Helper()
	file := filepath.Join(y.root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		y.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil { //nolint:gosec // it is run
		y.t.Fatal(err)
	}
}

// run begins a script in a group of its own.
func (y *yard) run(settings []string, name string, args ...string) *exec.Cmd {
	y.t.Helper()
	cmd := exec.Command(filepath.Join(y.root, "scripts", name), args...)
	cmd.Dir = y.root
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + y.root, "TMPDIR=" + filepath.Join(y.root, "tmp"), "FAKES=" + y.fakes, "GO=" + filepath.Join(y.root, "go"), "CARTORIO_TEST_PEER=none"}, settings...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// A file, and no pipe: what is left behind would hold that open, and Wait with it.
	out, err := os.CreateTemp(y.root, "out")
	if err != nil {
		y.t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		y.t.Fatal(err)
	}
	y.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if y.t.Failed() {
			text, _ := os.ReadFile(out.Name())
			y.t.Logf("%s %s: %s", name, strings.Join(args, " "), text)
		}
	})
	return cmd
}

// alive are the brokers that run.
func (y *yard) alive() (list []int) {
	text, _ := os.ReadFile(y.fakes)
	for field := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			y.t.Fatal(err)
		}
		if nameOf(pid) == "sleep" {
			list = append(list, pid)
		}
	}
	return list
}

// nameOf is the name of a process; empty for one that is gone, though whoever is to
// be told of its end has not asked yet.
func nameOf(pid int) string {
	stat, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	name, rest, _ := strings.Cut(string(stat), ") ")
	if strings.HasPrefix(rest, "Z") {
		return ""
	}
	_, name, _ = strings.Cut(name, "(")
	return name
}

// sets are the folders of brokers that are left.
func (y *yard) sets() []string {
	list, err := filepath.Glob(filepath.Join(y.root, "tmp", "cartorio-brokers.*"))
	if err != nil {
		y.t.Fatal(err)
	}
	return list
}

func (y *yard) await(what string, is func() bool) {
	y.t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			y.t.Fatalf("after a minute not: %s; %d brokers run, %v are left", what, len(y.alive()), y.sets())
		}
	}
}

func code(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatal(err)
	return 0
}

// Whoever is told to end ends what it started, also while it starts it; a terminal
// tells the whole group.
func TestInterruptedScriptsLeaveNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		script   []string
		settings []string
		brokers  int // when it is told
	}{
		{"a run", []string{"brokers.sh", "run", "fake", "--", "sleep", "600"}, nil, 1},
		{"a run that starts", []string{"brokers.sh", "run", "fake", "--", "true"}, []string{"FAKE_SLOW=1"}, 1},
		{"the tests", []string{"test.sh"}, nil, 2},
		{"tests that start", []string{"test.sh"}, []string{"FAKE_SLOW=1"}, 1},
		{"a start", []string{"brokers.sh", "start", "fake"}, []string{"FAKE_SLOW=1"}, 1},
	} {
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			t.Run(tt.name+", "+signal.String(), func(t *testing.T) {
				t.Parallel()
				y := newYard(t)
				cmd := y.run(tt.settings, tt.script[0], tt.script[1:]...)
				y.await("it works", func() bool { return len(y.alive()) == tt.brokers })
				pid := cmd.Process.Pid
				if signal == syscall.SIGINT {
					pid = -pid
				}
				if err := syscall.Kill(pid, signal); err != nil {
					t.Fatal(err)
				}
				// bash fails to parse a trap that comes in the middle of a command
				// substitution, and ends with 2 then, by its trap of EXIT all the same.
				if got := code(t, cmd.Wait()); got != 128+int(signal) && got != 130 && got != 2 {
					t.Errorf("exit code %d", got)
				}
				if n := len(y.alive()); n > 0 || len(y.sets()) > 0 {
					t.Errorf("%d brokers run, %v are left", n, y.sets())
				}
			})
		}
	}
}

// What is killed outright is ended by the next run; what another has started, and
// what belongs to nobody, is not.
func TestLaterRunEndsWhatIsLeft(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	if err := y.run(nil, "brokers.sh", "start", "fake").Wait(); err != nil {
		t.Fatal(err)
	}
	if err := y.run(nil, "brokers.sh", "start", "--owner", strconv.Itoa(os.Getpid()), "fake").Wait(); err != nil {
		t.Fatal(err)
	}
	y.await("both run", func() bool { return len(y.alive()) == 2 })
	kept := y.alive()
	for _, script := range [][]string{{"brokers.sh", "run", "fake", "--", "sleep", "600"}, {"test.sh"}} {
		want := 3
		if script[0] == "test.sh" { // it ends what the first has left, and starts two
			want = 4
		}
		cmd := y.run(nil, script[0], script[1:]...)
		y.await("it works", func() bool { return len(y.alive()) == want && len(y.sets()) == want })
		if err := syscall.Kill(cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if script[0] == "test.sh" { // its tests go on; they are whoever's who ends them
			y.endTests()
		}
	}
	if err := y.run(nil, "brokers.sh", "sweep").Wait(); err != nil {
		t.Fatal(err)
	}
	left := y.alive()
	if len(left) != 2 || left[0] != kept[0] || left[1] != kept[1] || len(y.sets()) != 2 {
		t.Errorf("%v run of %v, %v are left", left, kept, y.sets())
	}
}

// What another user writes into the folder that all share ends nobody.
func TestNothingOfOthersIsEnded(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: only root can make a folder of another user's")
	}
	y := newYard(t)
	if err := y.run(nil, "brokers.sh", "start", "fake").Wait(); err != nil {
		t.Fatal(err)
	}
	y.await("it runs", func() bool { return len(y.alive()) == 1 })
	y.write("tmp/cartorio-brokers.other/owner", "1 17\n") // long gone
	y.write("tmp/cartorio-brokers.other/fake/pid", strconv.Itoa(y.alive()[0])+"\n")
	if err := os.Chown(filepath.Join(y.root, "tmp", "cartorio-brokers.other"), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if err := y.run(nil, "brokers.sh", "sweep").Wait(); err != nil {
		t.Fatal(err)
	}
	if len(y.alive()) != 1 || len(y.sets()) != 2 {
		t.Errorf("%v run, %v are left", y.alive(), y.sets())
	}
}

// endTests ends what stands for go, which was started in a group of its own. It is
// a script first, which waits for its broker, and then sleeps.
func (y *yard) endTests() {
	y.t.Helper()
	ended := false
	for _, set := range y.sets() {
		text, err := os.ReadFile(filepath.Join(set, "owner"))
		if err != nil {
			continue
		}
		pid, err := strconv.Atoi(strings.Fields(string(text))[0])
		if err != nil {
			y.t.Fatal(err)
		}
		if name := nameOf(pid); name != "go" && name != "sleep" {
			continue
		}
		y.await("the tests sleep", func() bool { return nameOf(pid) == "sleep" })
		_ = syscall.Kill(pid, syscall.SIGKILL)
		y.await("the tests are gone", func() bool { return nameOf(pid) == "" })
		ended = true
	}
	if !ended {
		y.t.Fatal("no tests were found to end")
	}
}

// An id that was given to another process since is not ended.
func TestRecordedProcessIsTheSame(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	if err := y.run(nil, "brokers.sh", "start", "fake").Wait(); err != nil {
		t.Fatal(err)
	}
	y.await("it runs", func() bool { return len(y.alive()) == 1 })
	set, pid := y.sets()[0], y.alive()[0]
	if err := os.WriteFile(filepath.Join(set, "fake", "pid"), []byte(strconv.Itoa(pid)+" 17\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := y.run(nil, "brokers.sh", "stop", set).Wait(); err != nil {
		t.Fatal(err)
	}
	if len(y.alive()) != 1 || len(y.sets()) != 0 {
		t.Errorf("%v run, %v are left", y.alive(), y.sets())
	}
}
