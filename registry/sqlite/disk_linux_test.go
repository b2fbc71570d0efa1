package sqlite_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
)

const smallDisk = "CARTORIO_TEST_SMALL_DISK"

// TestSmallDisk fills a real disk of 1 MiB, which it mounts in namespaces of its
// own: what does not fit is told, and nothing of it is left.
func TestSmallDisk(t *testing.T) {
	t.Parallel()
	if disk := os.Getenv(smallDisk); disk != "" {
		fillDisk(t, disk)
		return
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSmallDisk$", "-test.v")
	again.Env = append(os.Environ(), smallDisk+"="+t.TempDir())
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := again.CombinedOutput()
	switch {
	case strings.Contains(string(out), "no disk can be mounted") || err != nil && len(out) == 0:
		t.Skipf("this machine lets nobody mount a small disk, so that a full one is not tried: %v %s", err, out)
	case err != nil || !strings.Contains(string(out), "--- PASS: TestSmallDisk"):
		t.Errorf("%v\n%s", err, out)
	}
}

func fillDisk(t *testing.T, disk string) {
	big := filepath.Join(t.TempDir(), "big.db")
	j := mustOpen(t, big)
	end := registry.Revision(0)
	for end < 600 {
		end = write(t, j, end)
	}
	text := registry.Text{Text: strings.Repeat("large ", 1<<18)}
	text.Hash = registry.HashOf(text.Text)
	if _, err := j.Append(t.Context(), end, registry.Batch{Events: []registry.Event{{Kind: "k", Body: []byte("{}"), Text: text.Hash}}, Texts: []registry.Text{text}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no disk can be mounted: %v", err)
	}
	left := func(what string, want ...string) {
		t.Helper()
		var names []string
		entries, err := os.ReadDir(disk)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if err != nil || strings.Join(names, " ") != strings.Join(want, " ") {
			t.Errorf("after %s the disk holds %q, want %q (%v)", what, names, want, err)
		}
	}
	full := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "disk is full") {
			t.Errorf("%s: %v, want it to say that the disk is full", what, err)
		}
	}
	full("a backup", sqlite.Backup(t.Context(), big, filepath.Join(disk, "b.db")))
	left("a backup")
	full("a restore", sqlite.Restore(t.Context(), big, filepath.Join(disk, "r.db"), false))
	left("a restore", "r.db-lock")
	// A database that is there outlives both, and takes writes when there is room.
	path := filepath.Join(disk, "r.db")
	small := mustOpen(t, path)
	end = write(t, small, 0)
	if _, err := small.Append(t.Context(), end, registry.Batch{Events: []registry.Event{{Kind: "k", Body: []byte("{}"), Text: text.Hash}}, Texts: []registry.Text{text}}); err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("an append of what does not fit: %v", err)
	}
	end = write(t, small, end)
	if err := small.Close(); err != nil {
		t.Error(err)
	}
	full("a restore over it", sqlite.Restore(t.Context(), big, path, true))
	if parts, err := filepath.Glob(path + ".restoring*"); err != nil || len(parts) > 0 {
		t.Errorf("after a restore over it there is %q, %v", parts, err)
	}
	if n := count(t, mustOpen(t, path)); n != end {
		t.Errorf("it has %d events, want %d", n, end)
	}
	// No room for a new one.
	rest := filepath.Join(disk, "rest")
	_ = os.WriteFile(rest, make([]byte, 2<<20), 0o600) // as far as it goes
	refused(t, filepath.Join(disk, "new.db"), "disk is full")
	if _, err := os.Lstat(filepath.Join(disk, "new.db")); err == nil {
		t.Error("a database that could not be made is there")
	}
}
