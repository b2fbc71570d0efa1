package sqlite_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cartorio-registry/cartorio/registry/sqlite"
)

// The room of a file is its disk's; a journal in memory has none to tell of.
func TestRoom(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{sqlite.Memory: false, filepath.Join(t.TempDir(), "c.db"): runtime.GOOS == "linux" || runtime.GOOS == "darwin"} {
		j, err := sqlite.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		room, known := j.Room()
		if known != want || known != (room > 0) {
			t.Errorf("%s: %d bytes, known %t", path, room, known)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}
