//go:build !unix

package brokertest

import "os"

// Pause and Resume are nil: this system has no such signals.
var Pause, Resume os.Signal
