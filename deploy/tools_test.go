//go:build unix

package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// tool skips a test whose program is not here, and fails it where
// CARTORIO_TEST_PACKAGES says that all programs must be.
func tool(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CARTORIO_TEST_PACKAGES") != "" {
			t.Fatalf("CARTORIO_TEST_PACKAGES is set, and %s is not installed", program)
		}
		t.Skipf("NOT RUN: %s is not installed", program)
	}
}

// slow skips what starts a whole build tool unless it is asked for.
func slow(t *testing.T, program string) {
	t.Helper()
	if os.Getenv("CARTORIO_TEST_PACKAGES") == "" {
		t.Skipf("NOT RUN: set CARTORIO_TEST_PACKAGES to run %s", program)
	}
	tool(t, program)
}

type hook struct {
	ID, Entry, Language, Files string
}

func hooks(t *testing.T) map[string]hook {
	t.Helper()
	out := map[string]hook{}
	for _, h := range decoded[[]hook](t, "../.pre-commit-hooks.yaml") {
		out[h.ID] = h
	}
	return out
}

// TestHook runs the hook's entry as pre-commit does: split as a shell would, then
// the arguments, then the changed files.
func TestHook(t *testing.T) {
	t.Parallel()
	list := hooks(t)
	h := list["cartorio"]
	if list["cartorio-system"].Entry != h.Entry || h.Entry == "" || h.Language != "golang" {
		t.Fatalf("hooks %+v", list)
	}
	c := newClone(t, "bash")
	c.write("schemas/other file.avsc", strings.ReplaceAll(before, "Order", "Other"))
	c.git("add", ".")
	c.git("commit", "-q", "-m", "two")
	c.write("schemas/order.avsc", breaks)
	for _, tt := range []struct {
		name string
		args []string
		code int
		told string
	}{
		{"the changed file", []string{"--against=git:HEAD", "schemas/order.avsc"}, 1, "1 schema compared"},
		{"another file", []string{"--against=git:HEAD", "schemas/other file.avsc"}, 0, "schema"},
		{"both", []string{"--against=git:HEAD", "schemas/order.avsc", "schemas/other file.avsc"}, 1, "2 schemas compared"},
		{"no base", []string{"schemas/order.avsc"}, 64, "--against"},
		{"no such flag", []string{"--against=git:HEAD", "--nonsense", "schemas/order.avsc"}, 64, "nonsense"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// The entry's quotes are read by a shell here, as pre-commit reads them.
			args := append([]string{"-c", "exec " + h.Entry + ` "$@"`, "bash"}, tt.args...)
			if code, out := c.run(nil, "bash", args...); code != tt.code || !strings.Contains(out, tt.told) {
				t.Errorf("exit code %d, wanted %d and %q\n%s", code, tt.code, tt.told, out)
			}
		})
	}
}

// TestPreCommit runs the hook by pre-commit itself.
func TestPreCommit(t *testing.T) {
	t.Parallel()
	slow(t, "pre-commit")
	c := newClone(t, "bash")
	text, err := os.ReadFile("../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	here := c.dir
	c.dir = t.TempDir()
	repository := c.dir
	c.write(".pre-commit-hooks.yaml", string(text))
	c.git("init", "-q", "-b", "main")
	c.git("add", ".")
	c.git("commit", "-q", "-m", "hooks")
	rev := c.git("rev-parse", "HEAD")
	c.dir = here
	c.write(".pre-commit-config.yaml", "repos:\n- repo: "+repository+"\n  rev: "+rev+"\n  hooks:\n  - id: cartorio-system\n    args: [--against=git:HEAD]\n    verbose: true\n")
	env := []string{"PRE_COMMIT_HOME=" + t.TempDir()}
	c.git("add", ".")
	for _, tt := range []struct {
		schema string
		code   int
		told   string
	}{{breaks, 1, "avro.field-added-without-default"}, {fine, 0, "Passed"}} {
		c.write("schemas/order.avsc", tt.schema)
		c.git("add", ".")
		if code, out := c.run(env, "pre-commit", "run"); code != tt.code || !strings.Contains(out, tt.told) {
			t.Errorf("exit code %d, wanted %d and %q\n%s", code, tt.code, tt.told, out)
		}
	}
	c.git("checkout", "-q", "HEAD", "--", "schemas")
	c.write("README", "x")
	c.git("add", ".")
	if code, out := c.run(env, "pre-commit", "run"); code != 0 || !strings.Contains(out, "no files to check") {
		t.Errorf("a commit without schemas: exit code %d\n%s", code, out)
	}
}

// builds runs a build tool over a fine and a breaking change.
func builds(t *testing.T, c *clone, program string, args ...string) {
	t.Helper()
	for _, tt := range []struct {
		schema, told string
		code         int
	}{{fine, "compatible: 1 schema compared", 0}, {breaks, "avro.field-added-without-default", 1}} {
		c.write("schemas/order.avsc", tt.schema)
		if code, out := c.run(nil, program, args...); code != tt.code || !strings.Contains(out, tt.told) {
			t.Errorf("exit code %d, wanted %d and %q\n%s", code, tt.code, tt.told, out)
		}
	}
}

func TestMaven(t *testing.T) {
	t.Parallel()
	slow(t, "mvn")
	c := newClone(t)
	text, err := os.ReadFile("maven/pom.xml")
	if err != nil {
		t.Fatal(err)
	}
	c.write("pom.xml", string(text))
	builds(t, c, "mvn", "-B", "verify", "-Dcartorio.path=schemas")
}

func TestGradle(t *testing.T) {
	t.Parallel()
	slow(t, "gradle")
	c := newClone(t)
	text, err := os.ReadFile("gradle/cartorio.gradle")
	if err != nil {
		t.Fatal(err)
	}
	c.write("cartorio.gradle", string(text))
	c.write("build.gradle", "apply plugin: 'base'\napply from: 'cartorio.gradle'\n")
	builds(t, c, "gradle", "--offline", "--no-daemon", "check", "-PcartorioPath=schemas", "-PcartorioAgainst=git:main")
	if !strings.Contains(c.read("build/reports/cartorio/junit.xml"), `failures="1"`) {
		t.Error("the report does not tell the failure")
	}
}

// TestImage runs the binary as the image does: alone on an empty base, without
// rights, on any machine; scripts.TestImage builds the image itself, where buildah
// is.
func TestImage(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: only root can change the root folder")
	}
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	stages := strings.Split(string(text), "\nFROM ")
	last := stages[len(stages)-1]
	for _, want := range []string{"scratch\n", "COPY --from=build /out/cartorio /cartorio\n", "USER 65532:65532\n", `ENTRYPOINT ["/cartorio"]`} {
		if !strings.Contains(last, want) {
			t.Errorf("the last stage lacks %q", want)
		}
	}
	root := t.TempDir()
	for name, owner := range map[string]int{"data": 65532, "tmp": 65532, "old": 0, "new": 0} {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil { //nolint:gosec // another user reads it
			t.Fatal(err)
		}
		if err := os.Chown(filepath.Join(root, name), owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"cartorio": string(program), "old/order.avsc": before, "new/order.avsc": breaks} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o755); err != nil { //nolint:gosec // another user runs it
			t.Fatal(err)
		}
	}
	if err := os.Chmod(root, 0o755); err != nil { //nolint:gosec // another user enters it
		t.Fatal(err)
	}
	run := func(args ...string) (int, string) {
		cmd := exec.CommandContext(t.Context(), "/cartorio", args...)
		cmd.Dir, cmd.Env = "/data", []string{"CARTORIO_DATABASE=sqlite:/data/cartorio.db"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(out)
	}
	if code, out := run("version"); code != 0 || !strings.HasPrefix(out, "cartorio ") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if code, out := run("check", "/new", "--against", "/old"); code != 1 || !strings.Contains(out, "field n was added without a default") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
