package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// OpenReadOnly opens the journal in the file at path for reading, also while
// another process serves it: everything that is read is as it stood at one
// moment. Appends fail.
//
// Errors: a file that is not there, that is no database of ours, that is
// damaged, or that has another form than this program writes.
func OpenReadOnly(path string) (*Journal, error) {
	j := &Journal{path: path}
	err := j.openReadOnly(context.Background())
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, errors.Join(explain(err), j.Close()))
	}
	return j, nil
}

func (j *Journal) openReadOnly(ctx context.Context) (err error) {
	if j.db, err = reader(ctx, j.path); err != nil {
		return err
	}
	at, err := form(ctx, j.db)
	if err != nil {
		return err
	}
	files, err := fs.Glob(migrations, "migrations/*.sql")
	switch {
	case err != nil:
		return err
	case at > len(files):
		return fmt.Errorf("the database has form %d and this program knows forms up to %d: use the program that wrote it, or a newer one", at, len(files))
	case at < len(files):
		return fmt.Errorf("the database has form %d and this program reads form %d: serve it once, which brings it up to date", at, len(files))
	}
	// One transaction from here to the end: one moment. A statement makes it
	// begin.
	if _, err = j.db.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	var end int64
	return j.db.QueryRowContext(ctx, "SELECT coalesce(max(revision), 0) FROM events").Scan(&end)
}

// reader opens a connection that can change nothing.
func reader(ctx context.Context, path string) (*sql.DB, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a folder")
	case info.Size() == 0:
		return nil, errors.New("the file is empty: there is no registry in it")
	}
	name, err := fileURL(path)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", name+"?mode=ro&_pragma=busy_timeout(10000)&_dqs=0")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func fileURL(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive of Windows
	}
	return "file://" + (&url.URL{Path: path}).EscapedPath(), nil
}

// Backup writes a copy of the database at path to a file that is not there yet,
// also while another process serves it: the copy is of one moment, is checked
// page by page, and holds nothing that was erased.
//
// Errors: a target that is there already; a database that is not ours or is
// damaged; a full disk.
func Backup(ctx context.Context, path, to string) error {
	if err := backup(ctx, path, to); err != nil {
		return fmt.Errorf("back up %s to %s: %w", path, to, explain(err))
	}
	return nil
}

func backup(ctx context.Context, path, to string) (err error) {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(errors.New("the target is there already: choose another name"), err)
	}
	if err := ownName(to); err != nil {
		return err
	}
	return copyChecked(ctx, path, to+".part", func(part string) error { return os.Rename(part, to) })
}

// companions are the endings of the files that stand beside a database: SQLite's
// log, its index and its rollback journal, and our lock.
var companions = []string{"-wal", "-shm", "-journal", lockSuffix}

// ownName refuses a name that a database which is there has for one of its own
// files: SQLite would take the file for a log and apply it, or refuse to read.
func ownName(path string) error {
	for _, ending := range companions {
		base, is := strings.CutSuffix(path, ending)
		if !is || base == "" {
			continue
		}
		if info, err := os.Stat(base); err == nil && info.Mode().IsRegular() {
			return fmt.Errorf("the name belongs to the database %s, beside which it would stand: choose another", base)
		}
	}
	return nil
}

// copyChecked copies a database into the file part, checks it, flushes it and
// hands it to done; after an error nothing is left of it.
func copyChecked(ctx context.Context, path, part string, done func(string) error) (err error) {
	db, err := reader(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if at, err := form(ctx, db); err != nil || at == 0 {
		return errors.Join(err, errors.New("it holds no registry"))
	}
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	defer func() {
		if err != nil {
			discard(part)
		}
	}()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", part); err != nil {
		return err
	}
	if err := intact(ctx, part); err != nil {
		return fmt.Errorf("the copy: %w", err)
	}
	f, err := os.OpenFile(part, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := done(part); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(part))
}

// discard removes a database that is useless, and what SQLite has put beside it.
func discard(path string) {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		_ = os.Remove(path + suffix) // the error that is told is the one before
	}
}

func intact(ctx context.Context, path string) (err error) {
	db, err := reader(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var told string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&told); err != nil {
		return err
	}
	if told != "ok" {
		return fmt.Errorf("it is damaged: %s", told)
	}
	return nil
}

// syncFolder makes a rename last. Not every system lets a folder be flushed.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = f.Sync()
	return f.Close()
}

// ErrExists is what Restore answers when a database is in its way.
var ErrExists = errors.New("a database is there already")

// Restore puts a copy of the backup at the path of a database. An old database
// there is replaced only when that is asked for.
//
// Errors: a database that another process serves; ErrExists for one that is
// there, without replace; a backup that is not ours or is damaged. The old database is then as
// it was.
func Restore(ctx context.Context, backup, path string, replace bool) error {
	if err := restore(ctx, backup, path, replace); err != nil {
		return fmt.Errorf("restore %s to %s: %w", backup, path, explain(err))
	}
	return nil
}

func restore(ctx context.Context, backup, path string, replace bool) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := ownName(path); err != nil {
		return err
	}
	lock, err := own(path)
	if err != nil {
		return inFolder(path, err)
	}
	defer func() { err = errors.Join(err, unlockFile(lock)) }()
	if err := check(path); errors.Is(err, errForeign) || err != nil && !replace {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > 0 && !replace {
		return ErrExists
	}
	return copyChecked(ctx, backup, path+".restoring", func(part string) error {
		// The log of the old database must never be applied to the new one.
		if err := settle(ctx, path); err != nil {
			return err
		}
		return os.Rename(part, path)
	})
}

// settle moves what a database still has in its log into its file, and removes
// the log. One that is too damaged for that loses its log with it.
func settle(ctx context.Context, path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		if name, err := fileURL(path); err == nil {
			if db, err := sql.Open("sqlite", name); err == nil {
				_, _ = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)") // as far as it can be read
				_ = db.Close()
			}
		}
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
