//go:build !unix

package transfer_test

import "os"

// pipe is where there are none a folder, which is no file either.
func pipe(path string) error { return os.Mkdir(path, 0o700) }
