package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
)

// write appends one event with a text of its own.
func write(t *testing.T, j *sqlite.Journal, after registry.Revision) registry.Revision {
	t.Helper()
	text := registry.Text{Text: strings.Repeat(fmt.Sprint("text ", after), 100)}
	text.Hash = registry.HashOf(text.Text)
	end, err := j.Append(t.Context(), after, registry.Batch{Events: []registry.Event{{Kind: "k", Body: []byte("{}"), Text: text.Hash}}, Texts: []registry.Text{text}})
	if err != nil {
		t.Error(err)
	}
	return end
}

// count reads a journal to its end; every event must have its text.
func count(t *testing.T, j *sqlite.Journal) (n registry.Revision) {
	t.Helper()
	err := j.Read(t.Context(), 0, func(r registry.Record) error {
		if n++; n != r.Revision || r.Text == "" {
			return fmt.Errorf("event %d follows %d, with %q", r.Revision, n-1, r.Text)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

func TestBackupWhileItIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "odd ?name#%41é.db")
	j := mustOpen(t, path)
	end := write(t, j, 0)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				end = write(t, j, end)
			}
		}
	})
	var last registry.Revision
	for i := range 5 {
		to := filepath.Join(dir, fmt.Sprint(i, ".backup"))
		if err := sqlite.Backup(t.Context(), path, to); err != nil {
			t.Fatal(err)
		}
		copied, err := sqlite.OpenReadOnly(to)
		if err != nil {
			t.Fatal(err)
		}
		n := count(t, copied)
		if n < last || n == 0 {
			t.Errorf("backup %d has %d events and the one before had %d", i, n, last)
		}
		last = n
		if err := copied.Close(); err != nil {
			t.Error(err)
		}
		if err := sqlite.Backup(t.Context(), path, to); err == nil || !strings.Contains(err.Error(), "there already") {
			t.Errorf("a backup over another: %v", err)
		}
	}
	close(stop)
	writer.Wait()
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
	if n := count(t, j); n != end {
		t.Errorf("the database has %d events, want %d", n, end)
	}
}

func TestReadOnlyIsOneMoment(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.db")
	j := mustOpen(t, path)
	end := write(t, j, 0)
	r, err := sqlite.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	end = write(t, j, end)
	if n := count(t, r); n != end-1 {
		t.Errorf("read %d events, want the %d of when it was opened", n, end-1)
	}
	if _, err := r.Append(t.Context(), end-1, registry.Batch{Events: []registry.Event{{Kind: "k", Body: []byte("{}")}}}); err == nil || !strings.Contains(err.Error(), "reading only") {
		t.Errorf("append: %v", err)
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, saved, to := filepath.Join(dir, "c.db"), filepath.Join(dir, "saved"), filepath.Join(dir, "new.db")
	j := mustOpen(t, path)
	end := write(t, j, write(t, j, 0))
	if err := sqlite.Backup(t.Context(), path, saved); err != nil {
		t.Fatal(err)
	}
	end = write(t, j, end)
	fails := func(what, backup, to string, replace bool, says string) {
		t.Helper()
		if err := sqlite.Restore(t.Context(), backup, to, replace); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want it to say %q", what, err, says)
		}
	}
	fails("over a database in use", saved, path, true, "in use by another process")
	if n := count(t, j); n != end {
		t.Errorf("the database in use has %d events, want %d", n, end)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	fails("over a database, unasked", saved, path, false, "there already")
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	fails("from something else", text, to, false, "no SQLite database")
	fails("from nothing", filepath.Join(dir, "none"), to, false, "none")
	cut := filepath.Join(dir, "cut")
	data, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	for i := 2 * 4096; i < len(data); i++ {
		data[i] = 0xA5
	}
	if err := os.WriteFile(cut, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Restore(t.Context(), cut, to, false); err == nil {
		t.Error("a damaged backup was restored")
	}
	for _, target := range []string{path, to} {
		if err := sqlite.Restore(t.Context(), saved, target, target == path); err != nil {
			t.Fatal(err)
		}
		if n := count(t, mustOpen(t, target)); n != 2 {
			t.Errorf("%s has %d events after the restore, want 2", target, n)
		}
	}
	// One who gives up leaves nothing behind.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sqlite.Backup(ctx, saved, filepath.Join(dir, "late")); !errors.Is(err, context.Canceled) {
		t.Errorf("a backup that is called off: %v", err)
	}
	for _, pattern := range []string{"*.part", "*.restoring", "late"} {
		if left, _ := filepath.Glob(filepath.Join(dir, pattern)); len(left) > 0 {
			t.Errorf("%v is left behind", left)
		}
	}
}

// A file by the name that SQLite has for one of its own would be applied to the
// database as a log, or keep every reader out.
func TestNamesOfADatabaseAreItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, saved := filepath.Join(dir, "c.db"), filepath.Join(dir, "saved")
	j := mustOpen(t, path)
	end := write(t, j, 0)
	if err := sqlite.Backup(t.Context(), path, saved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, ending := range []string{"-wal", "-shm", "-journal", "-lock"} {
		// A database whose process has ended has none of these files, and owns
		// their names all the same.
		for _, name := range []string{saved + ending, filepath.Join(dir, "c.db-journal"), filepath.Join(dir, "link", "saved"+ending)} {
			other, openErr := sqlite.Open(name)
			if openErr == nil {
				other.Close()
			}
			for what, err := range map[string]error{
				"back up onto": sqlite.Backup(t.Context(), path, name),
				"restore onto": sqlite.Restore(t.Context(), saved, name, true),
				"open":         openErr,
			} {
				if err == nil || !strings.Contains(err.Error(), "belongs to the database") {
					t.Errorf("%s %s: %v", what, name, err)
				}
			}
			if _, err := os.Lstat(name); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is there: %v", name, err)
			}
		}
	}
	end = write(t, j, end)
	if n := count(t, j); n != end {
		t.Errorf("%d events, want %d", n, end)
	}
	if err := sqlite.Backup(t.Context(), path, filepath.Join(dir, "nobody-wal")); err != nil {
		t.Errorf("an ending alone: %v", err)
	}
}
