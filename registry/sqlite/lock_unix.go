//go:build unix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// lockFile opens a file that nobody else has locked and locks it for as long as
// it is open; the system gives it back when the process dies, however it dies.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errLocked
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// unlockFile gives the lock back. Closing alone would not: a child process that
// was forked and has not begun its own program yet still has the file.
func unlockFile(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}
