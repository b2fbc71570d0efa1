//go:build !linux

package registry_test

import "os"

func dataSync(f *os.File) error { return f.Sync() }
