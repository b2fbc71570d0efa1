//go:build unix

package brokertest

import (
	"os"
	"syscall"
)

// Pause stops a broker's process, which then answers nobody; see [Own.Signal].
var Pause os.Signal = syscall.SIGSTOP

// Resume lets a paused process go on.
var Resume os.Signal = syscall.SIGCONT
