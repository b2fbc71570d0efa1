package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/journaltest"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
)

const holdFile = "CARTORIO_TEST_HOLD_FILE"

// TestMain is also the process that holds a file in the tests of the lock.
func TestMain(m *testing.M) {
	path := os.Getenv(holdFile)
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := sqlite.Open(path); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until the test ends it
}

func TestFile(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(t *testing.T) registry.Journal {
		return mustOpen(t, filepath.Join(t.TempDir(), "odd ?name#%41é.db"))
	})
}

func TestMemory(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(t *testing.T) registry.Journal { return mustOpen(t, sqlite.Memory) })
}

func TestReaders(t *testing.T) {
	t.Parallel()
	journaltest.RunReaders(t, func(t *testing.T) registry.ReaderStore { return mustOpen(t, sqlite.Memory) })
}

func mustOpen(t *testing.T, path string) *sqlite.Journal {
	t.Helper()
	j, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func TestReopen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.db")
	for i := range 3 {
		j, err := sqlite.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := j.Append(t.Context(), registry.Revision(i), registry.Batch{Events: []registry.Event{{Kind: "k", Body: []byte("{}")}}}); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	if err := mustOpen(t, path).Read(t.Context(), 0, func(registry.Record) error { count++; return nil }); err != nil || count != 3 {
		t.Errorf("read %d events, %v, want 3", count, err)
	}
	if _, err := os.Stat("c.db"); err == nil {
		t.Error("a file was made elsewhere")
	}
}

func TestTwoMemoriesAreTwo(t *testing.T) {
	t.Parallel()
	a, b := mustOpen(t, sqlite.Memory), mustOpen(t, sqlite.Memory)
	for _, j := range []registry.Journal{a, b} {
		if _, err := j.Append(t.Context(), 0, registry.Batch{Events: []registry.Event{{Kind: "k", Body: []byte("{}")}}}); err != nil {
			t.Error(err)
		}
	}
}

func TestOneProcessOwnsAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "c.db")

	holder := exec.CommandContext(t.Context(), os.Args[0])
	holder.Env = append(os.Environ(), holdFile+"="+path)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	refused(t, path, "in use by another process", path)
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(path, link); err == nil {
		refused(t, link, "in use by another process")
	}

	// Killed, it holds nothing any more.
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // it says that it was killed
	j := mustOpen(t, path)

	// This process cannot open it twice either, and that does not break the
	// first.
	refused(t, path, "in use by another process")
	if _, err := j.Append(t.Context(), 0, registry.Batch{Events: []registry.Event{{Kind: "k", Body: []byte("{}")}}}); err != nil {
		t.Error(err)
	}
}

// refused wants Open to fail and to say each of the words.
func refused(t *testing.T, path string, words ...string) {
	t.Helper()
	j, err := sqlite.Open(path)
	if err == nil {
		t.Errorf("%s was opened", path)
		_ = j.Close() // it should not be there
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error %q does not say %q", err, w)
		}
	}
}

func TestFilesThatAreNotOurs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	made := func(name string, statements ...string) string {
		path := filepath.Join(dir, name)
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, s := range statements {
			if _, err := db.ExecContext(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	// What is refused stays as it is, and gets no company.
	alone := func(path string) {
		t.Helper()
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, path, "another program")
		after, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s was changed (%v)", path, err)
		}
		if near, _ := filepath.Glob(path + "-*"); len(near) > 0 {
			t.Errorf("files were left beside it: %v", near)
		}
	}
	alone(made("alone.db", "CREATE TABLE t (a)"))
	alone(made("alone-marked.db", "PRAGMA application_id = 7"))
	refused(t, filepath.Join(dir, "none", "x.db"), "the folder "+filepath.Join(dir, "none")+" does not exist: create it")
	if os.Geteuid() == 0 {
		t.Log("a folder that cannot be written was not tried: root may write everywhere")
	} else {
		closed := filepath.Join(dir, "closed")
		if err := os.Mkdir(closed, 0o500); err != nil {
			t.Fatal(err)
		}
		refused(t, filepath.Join(closed, "x.db"), "cannot be written", "x.db-lock")
	}
	refused(t, write("text.db", "a text of some length, longer than a header"), "no SQLite database", "text.db")
	refused(t, write("short.db", "short"), "no SQLite database")
	refused(t, write("header.db", "SQLite format 3\x00 and then nothing of the kind"), "restore it from a backup")
	refused(t, made("other.db", "CREATE TABLE t (a)"), "another program")
	refused(t, made("marked.db", "PRAGMA application_id = 7"), "another program")
	refused(t, dir, dir)
	refused(t, filepath.Join(dir, "nowhere", "c.db"), "nowhere")
	if link := filepath.Join(dir, "dangling.db"); os.Symlink(filepath.Join(dir, "not-yet.db"), link) == nil {
		refused(t, link, "not-yet.db")
	}
	mustOpen(t, write("empty.db", ""))

	path := filepath.Join(dir, "newer.db")
	j, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	made("newer.db", "PRAGMA user_version = 99")
	refused(t, path, "form 99", "newer")
}

func TestDamagedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.db")
	j, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var end registry.Revision
	for range 50 {
		text := registry.Text{Text: strings.Repeat(fmt.Sprint("text ", end), 500)}
		text.Hash = registry.HashOf(text.Text)
		if end, err = j.Append(t.Context(), end, registry.Batch{Events: []registry.Event{{Kind: "k", Body: []byte("{}"), Text: text.Hash}}, Texts: []registry.Text{text}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 3 * 4096; i < len(data); i++ {
		data[i] = 0xA5
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	j, err = sqlite.Open(path)
	if err == nil {
		err = j.Read(t.Context(), 0, func(registry.Record) error { return nil })
		err = errors.Join(err, j.Close())
	}
	if err == nil || !strings.Contains(err.Error(), "restore it from a backup") {
		t.Errorf("a damaged file says %v", err)
	}
}

// A snapshot of what the events do not hold is refused when it is loaded: no
// write could ever be put behind it.
func TestEventsLostBehindTheSnapshot(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.db")
	j := mustOpen(t, path)
	if _, err := j.Append(t.Context(), 0, registry.Batch{Events: []registry.Event{{Kind: "k", Body: []byte("{}")}, {Kind: "k", Body: []byte("{}")}}}); err != nil {
		t.Fatal(err)
	}
	if err := j.SaveSnapshot(t.Context(), registry.Snapshot{Revision: 2, State: []byte("state")}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "DELETE FROM events WHERE revision = 2"); err != nil {
		t.Fatal(err)
	}
	if _, err := j.LoadSnapshot(t.Context(), func(registry.Text) error { return nil }); err == nil || !strings.Contains(err.Error(), "restore the database from a backup") {
		t.Errorf("a snapshot ahead of the events says %v", err)
	}
}

func TestReadOnlyFile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("permissions do not bind this user: run the tests as another one")
	}
	path := filepath.Join(t.TempDir(), "c.db")
	mustOpen(t, path)
	if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
		t.Fatal(err)
	}
	refused(t, filepath.Join(filepath.Dir(path), "new.db"), "permission")
}

func TestOthersMayReadBeside(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.db")
	j := mustOpen(t, path)
	if _, err := j.Append(context.Background(), 0, registry.Batch{Events: []registry.Event{{Kind: "k", Body: []byte("{}")}}}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM events").Scan(&n); err != nil || n != 1 {
		t.Errorf("another reader sees %d events, %v", n, err)
	}
}
