package registry

import (
	"encoding/binary"
	"hash/crc32"
	"strconv"
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

// PassesKept puts n pairs into an empty memory of so many bytes, and answers
// how many of the newest ten it still knows, and how many it holds.
func PassesKept(most, n int) (newest, entries int) {
	p := newPasses(most)
	for i := range n {
		p.keep(HashOf(strconv.Itoa(i)), 0)
	}
	entries = len(p.young) + len(p.old)
	for i := n - 10; i < n; i++ {
		if _, ok := p.risks(HashOf(strconv.Itoa(i))); ok {
			newest++
		}
	}
	return newest, entries
}
