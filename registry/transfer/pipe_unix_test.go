//go:build unix

package transfer_test

import "syscall"

// pipe makes a file that gives nothing and has no end.
func pipe(path string) error { return syscall.Mkfifo(path, 0o600) }
