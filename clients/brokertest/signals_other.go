//go:build !unix

package brokertest

import "os"

// Pause is nil: this system has no such signal.
var Pause os.Signal

// Resume is nil: this system has no such signal.
var Resume os.Signal
