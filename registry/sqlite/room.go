package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
)

// Room is how much the disk has left for this process, in bytes; not known in
// memory, and where the system does not tell.
func (j *Journal) Room() (bytes uint64, known bool) {
	if j.path == Memory {
		return 0, false
	}
	return roomIn(filepath.Dir(j.path))
}

// Reclaim moves what the log beside the file holds into the file, so that the log
// is written from its beginning again. The log keeps its size: that room is ours.
func (j *Journal) Reclaim(ctx context.Context) error {
	if _, err := j.db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		return fmt.Errorf("reclaim the log of %s: %w", j.path, explain(err))
	}
	return nil
}
