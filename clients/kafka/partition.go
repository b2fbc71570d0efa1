package kafka

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/deliver"
)

// mostWaiting is how many bytes of one partition may wait here.
const mostWaiting = 16 << 20

// partition is one that the group gave to this consumer.
type partition struct {
	topic  string
	number int32
	s      *deliver.Session
	lanes  *deliver.Lanes

	mu       sync.Mutex
	waiting  []*mark // from the lowest unfinished one on, in the order of offsets
	open     int     // how many of them are unfinished
	bytes    int     // and how large they are
	isPaused bool
	next     kgo.EpochOffset // to commit, when isDirty
	isDirty  bool
}

// mark is one message on its way.
type mark struct {
	offset     kgo.EpochOffset // behind it
	bytes      int
	isFinished bool
}

// add takes a record up; pause tells that the broker is to be asked for no more
// of the partition.
func (p *partition) add(r *kgo.Record, most int) (m *mark, pause bool) {
	m = &mark{offset: kgo.EpochOffset{Epoch: r.LeaderEpoch, Offset: r.Offset + 1}, bytes: len(r.Key) + len(r.Value)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, m)
	p.open++
	p.bytes += m.bytes
	if !p.isPaused && (p.open >= most || p.bytes >= mostWaiting) {
		p.isPaused, pause = true, true
	}
	return m, pause
}

// finish notes that a message needs no other delivery. What may be committed is
// the end of the finished ones that have no unfinished one before them.
func (p *partition) finish(m *mark, most int) (resume, isDirty bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.isFinished = true
	p.open--
	p.bytes -= m.bytes
	for len(p.waiting) > 0 && p.waiting[0].isFinished {
		p.next, p.isDirty = p.waiting[0].offset, true
		p.waiting[0] = nil
		p.waiting = p.waiting[1:]
	}
	if p.isPaused && p.open <= most/2 && p.bytes <= mostWaiting/2 {
		p.isPaused, resume = false, true
	}
	return resume, p.isDirty
}

// commit is the offset to commit, if there is a new one.
func (p *partition) commit() (o kgo.EpochOffset, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next, p.isDirty
}

// committed notes that o is stored.
func (p *partition) committed(o kgo.EpochOffset) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == o {
		p.isDirty = false
	}
}
