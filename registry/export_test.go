package registry

import (
	"encoding/binary"
	"hash/crc32"
)

// StateOf is the encoded state of r, for tests that compare states.
func StateOf(r *Registry) []byte {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.state.Encode()
}

// CompareText is compareText.
var CompareText = compareText

// Seal makes bytes what DecodeState takes for whole.
func Seal(data []byte) []byte {
	data = append([]byte{snapshotForm}, data...)
	return binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(data))
}
