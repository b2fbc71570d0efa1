package sqlite

import (
	"errors"
	"fmt"
	"os"
)

// lockSuffix is added to the database's path. The lock is a file of its own
// because SQLite's own locks are lost when any descriptor of the database is
// closed, and because other programs may go on reading the database.
const lockSuffix = "-lock"

var errLocked = errors.New("another process has it")

// own makes this process the only one that serves the database at path.
//
// Errors: one that names the file when another process has it.
func own(path string) (*os.File, error) {
	f, err := lockFile(path + lockSuffix)
	if errors.Is(err, errLocked) {
		return nil, fmt.Errorf("the database is in use by another process, which holds %s%s: stop it, or choose another path", path, lockSuffix)
	}
	return f, err
}
