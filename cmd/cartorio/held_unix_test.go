//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// mostHeld is the largest memory that a process had, in MB. Linux counts it in
// KiB, Apple's systems in bytes.
func mostHeld(s *os.ProcessState) int64 {
	n := int64(s.SysUsage().(*syscall.Rusage).Maxrss) //nolint:unconvert // other processors have it in 32 bits
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		n >>= 10
	}
	return n >> 10
}
