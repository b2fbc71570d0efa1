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

// StateOfPast is the encoded state of p.
func StateOfPast(p *Past) []byte { return p.state.Encode() }

// PointsEvery makes r keep an encoded state of the past every so many events,
// and answers how to count them.
func PointsEvery(r *Registry, n int) (count func() int) {
	r.pasts.every = n
	return func() int {
		r.pasts.mu.Lock()
		defer r.pasts.mu.Unlock()
		return len(r.pasts.points)
	}
}

// Dictated fills a memory of states with n of so many bytes and answers how many
// it holds and what they weigh.
func Dictated(n, bytes int) (points, size int) {
	var p pasts
	for i := range n {
		p.keep(point{Snapshot: Snapshot{Revision: Revision(i + 1), State: make([]byte, bytes)}})
	}
	return len(p.points), p.size
}
