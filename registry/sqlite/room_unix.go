//go:build linux || darwin

package sqlite

import (
	"os"
	"syscall"
)

// roomIn asks the file system that holds a folder. What is kept for the
// superuser counts for that one alone.
func roomIn(folder string) (uint64, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, false
	}
	blocks := s.Bavail
	if os.Geteuid() == 0 {
		blocks = s.Bfree
	}
	return blocks * uint64(s.Bsize), true
}
