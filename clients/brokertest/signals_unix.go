//go:build unix

package brokertest

import (
	"os"
	"syscall"
)

// Pause and Resume stop a broker's process, which then answers nobody, and let it
// go on; see [Own.Signal].
var Pause, Resume os.Signal = syscall.SIGSTOP, syscall.SIGCONT
