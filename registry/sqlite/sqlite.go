// Package sqlite is the journal on SQLite: one file, one process.
//
// It keeps events, texts and one snapshot, and knows nothing of what they say.
// Every append is one transaction, flushed to the disk before it is answered.
package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/cartorio-registry/cartorio/registry"
)

// Memory is the path of a journal that lives as long as its process.
const Memory = ":memory:"

// Journal is a registry.Journal in a SQLite file. It is safe for use by many
// goroutines.
type Journal struct {
	path string
	db   *sql.DB
	lock *os.File // nil in memory
	made bool     // the file was not there before

	closing sync.Once
	closed  error

	end, addText, addEvent, erase *sql.Stmt
}

var (
	_ registry.Journal = (*Journal)(nil)
	_ registry.Lean    = (*Journal)(nil)
	_ registry.Roomy   = (*Journal)(nil)
)

// Open opens or creates the journal in the file at path; ":memory:" is a
// journal that lives as long as the process.
//
// Errors: a file that another process serves, that is no database of ours, that
// is damaged, that a newer program wrote, or that cannot be written.
func Open(path string) (*Journal, error) {
	j := &Journal{path: path}
	if err := j.open(context.Background()); err != nil {
		if j.made { // nobody else has the lock yet
			if j.db != nil {
				_ = j.db.Close()
			}
			discard(j.path)
		}
		return nil, fmt.Errorf("open database %s: %w", path, errors.Join(explain(err), j.Close()))
	}
	return j, nil
}

// settings apply to every connection: a commit is on the disk before it is
// answered, an erased text is overwritten, a reader beside us is waited for.
const settings = "_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=secure_delete(ON)&_txlock=immediate&_dqs=0"

func (j *Journal) open(ctx context.Context) (err error) {
	name := "file::memory:?" + settings
	if j.path != Memory {
		// One file has one lock, by whatever name it is opened.
		if real, err := filepath.EvalSymlinks(j.path); err == nil {
			j.path = real
		} else if _, there := os.Lstat(j.path); there == nil {
			return err // a link to nothing: what it will name cannot be locked
		}
		if err := errors.Join(ownName(j.path), check(j.path)); err != nil {
			return err
		}
		if j.lock, err = own(j.path); err != nil {
			return inFolder(j.path, err)
		}
		_, there := os.Lstat(j.path)
		j.made = errors.Is(there, fs.ErrNotExist)
		if name, err = fileURL(j.path); err != nil {
			return err
		}
		name += "?" + settings
	}
	if j.db, err = sql.Open("sqlite", name); err != nil {
		return err
	}
	// One connection: each further one of a memory journal would see an empty
	// database, and there is one writer anyway.
	j.db.SetMaxOpenConns(1)
	j.db.SetMaxIdleConns(1)
	if err := migrate(ctx, j.db); err != nil {
		return err
	}
	for _, s := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&j.end, "SELECT coalesce(max(revision), 0) FROM events"},
		{&j.addText, "INSERT INTO texts (hash, text) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING"},
		{&j.addEvent, "INSERT INTO events (revision, time, actor, request, kind, body, text) VALUES (?, ?, ?, ?, ?, ?, ?)"},
		{&j.erase, "DELETE FROM texts WHERE hash = ?"},
	} {
		//nolint:sqlclosecheck // they end with the database
		if *s.to, err = j.db.PrepareContext(ctx, s.text); err != nil {
			return err
		}
	}
	return nil
}

// check looks at a file before SQLite does, whose own words for it are few.
func check(path string) error {
	const magic = "SQLite format 3\x00"
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	head := make([]byte, headSize)
	n, err := io.ReadFull(f, head)
	switch {
	case errors.Is(err, io.EOF):
		if info, serr := f.Stat(); serr == nil && info.Size() == 0 && !info.IsDir() {
			return nil
		}
		return err
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case string(head[:min(n, len(magic))]) != magic:
		return errors.New("the file is no SQLite database: choose another path")
	case n < headSize:
		return errors.New("the database is cut off: restore it from a backup")
	}
	// The tables and the id of ours were written at once, so that one without the
	// other is another program's. It is left as it is: opening it would change it.
	tables, id := binary.BigEndian.Uint32(head[tablesAt:]), binary.BigEndian.Uint32(head[idAt:])
	if id != application && (id != 0 || tables != 0) {
		return errForeign
	}
	return nil
}

// What SQLite's file header holds: its size, and where the counter of changes to
// the tables and the application id stand (https://sqlite.org/fileformat.html).
const (
	headSize = 100
	tablesAt = 40
	idAt     = 68
)

// inFolder says what to do about the folder of a database that cannot be locked.
func inFolder(path string, err error) error {
	folder := filepath.Dir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the folder %s does not exist: create it", folder)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("the folder %s cannot be written (%s%s, the lock, lies beside the database): allow it, or choose another path", folder, path, lockSuffix)
	}
	return err
}

// explain adds to SQLite's errors what to do about them.
func explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	what := map[int]string{
		sqlite3.SQLITE_FULL:     "the disk is full: make room, nothing was written",
		sqlite3.SQLITE_READONLY: "the database cannot be written: check the permissions of the file and its folder",
		sqlite3.SQLITE_CANTOPEN: "the file cannot be opened: check the path and its permissions",
		sqlite3.SQLITE_CORRUPT:  "the database is damaged: restore it from a backup",
		sqlite3.SQLITE_NOTADB:   "the file is no SQLite database, or is damaged: choose another path, or restore it from a backup",
		sqlite3.SQLITE_BUSY:     "another program holds the database: close it and try again",
		sqlite3.SQLITE_IOERR:    "the disk answers with an error",
	}[e.Code()&0xff]
	if what == "" {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Close gives the file back.
func (j *Journal) Close() error {
	j.closing.Do(func() {
		var errs []error
		if j.db != nil {
			errs = append(errs, explain(j.db.Close()))
		}
		if j.lock != nil {
			errs = append(errs, unlockFile(j.lock))
		}
		j.closed = errors.Join(errs...)
	})
	return j.closed
}

// Follow answers nil: nobody else writes to the file.
func (j *Journal) Follow(context.Context) (<-chan struct{}, error) { return nil, nil }
