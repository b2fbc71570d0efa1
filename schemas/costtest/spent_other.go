//go:build !unix

package costtest

import "time"

var start = time.Now()

// Spent is the time since the process began, where its processor time is not told.
func Spent() time.Duration { return time.Since(start) }
