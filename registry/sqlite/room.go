package sqlite

import "path/filepath"

// Room is how much the disk has left for this process, in bytes; not known in
// memory, and where the system does not tell.
func (j *Journal) Room() (bytes uint64, known bool) {
	if j.path == Memory {
		return 0, false
	}
	return roomIn(filepath.Dir(j.path))
}
