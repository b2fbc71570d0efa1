package kafka

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/deliver"
)

// grace is how long a handler whose context has ended is waited for before its
// partition is let go with the message uncommitted.
const grace = 5 * time.Second

// notice is how long it may take until a member hears of a rebalance, which is at
// its next heartbeat.
const notice = 5 * time.Second

// place names a partition.
type place struct {
	topic  string
	number int32
}

// member is one membership in the group: the partitions that it has, and their
// offsets.
type member struct {
	c   *Consumer
	ctx context.Context // of the handlers: values alone
	// client is there before the first message is; callbacks may come before.
	client Client
	ready  chan struct{}

	mu    sync.Mutex
	parts map[place]*partition

	// committing serializes commits, so that an older offset never follows a newer
	// one, nor one of a partition that was given up.
	committing sync.Mutex
	dirty      chan struct{}
	quit       chan struct{}
	done       chan struct{}
}

func newMember(ctx context.Context, c *Consumer) *member {
	return &member{
		c: c, ctx: context.WithoutCancel(ctx), ready: make(chan struct{}), parts: map[place]*partition{},
		dirty: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
}

// begin starts to commit.
func (m *member) begin(client Client) {
	m.client = client
	close(m.ready)
	go m.run()
}

// run commits a little after something was finished, until the end.
func (m *member) run() {
	defer close(m.done)
	pause := m.c.o.CommitEvery
	for {
		select {
		case <-m.dirty:
		case <-m.quit:
			return
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-m.quit:
			t.Stop()
			return
		}
		if err := m.commit(m.ctx, nil); err != nil {
			// In a rebalance and without a broker; what is finished stays marked.
			m.c.log.Warn("offsets could not be committed and are committed later", "group", m.c.o.Group, "error", err)
			pause = min(2*pause, deliver.LongestPause)
			m.isDirty()
			continue
		}
		pause = m.c.o.CommitEvery
	}
}

func (m *member) isDirty() {
	select {
	case m.dirty <- struct{}{}:
	default:
	}
}

// commit stores the lowest unfinished offset of each partition that this member
// has, and of those that it gives up.
func (m *member) commit(ctx context.Context, leaving []*partition) error {
	m.committing.Lock()
	defer m.committing.Unlock()
	m.mu.Lock()
	list := leaving
	for _, p := range m.parts {
		list = append(list, p)
	}
	m.mu.Unlock()
	offsets, stored := Offsets{}, map[*partition]kgo.EpochOffset{}
	for _, p := range list {
		o, ok := p.commit()
		if !ok {
			continue
		}
		if offsets[p.topic] == nil {
			offsets[p.topic] = map[int32]kgo.EpochOffset{}
		}
		offsets[p.topic][p.number] = o
		stored[p] = o
	}
	if len(stored) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if err := m.client.Commit(ctx, offsets); err != nil {
		return err
	}
	for p, o := range stored {
		p.committed(o)
	}
	return nil
}

// take hands records to their partitions' lanes and tells how many there were.
// One whose partition has gone meanwhile is left to its new owner.
func (m *member) take(fetches kgo.Fetches) (n int) {
	fetches.EachRecord(func(r *kgo.Record) {
		n++
		m.mu.Lock()
		p := m.parts[place{r.Topic, r.Partition}]
		m.mu.Unlock()
		if p == nil {
			return
		}
		at, pause := p.add(r, m.c.o.Prefetch)
		if pause {
			m.client.PauseFetchPartitions(map[string][]int32{p.topic: {p.number}})
			// It may have been worked off between the two.
			p.mu.Lock()
			isPaused := p.isPaused
			p.mu.Unlock()
			if !isPaused {
				m.client.ResumeFetchPartitions(map[string][]int32{p.topic: {p.number}})
			}
		}
		p.lanes.Add(m.c.lane(r), &item{m: m, p: p, at: at, r: r, value: valueOf(r)})
	})
	return n
}

// finish notes a settled message.
func (m *member) finish(p *partition, at *mark) {
	resume, isDirty := p.finish(at, m.c.o.Prefetch)
	if resume {
		m.client.ResumeFetchPartitions(map[string][]int32{p.topic: {p.number}})
	}
	if isDirty {
		m.isDirty()
	}
}

// assigned begins partitions.
func (m *member) assigned(_ context.Context, partitions map[string][]int32) {
	<-m.ready
	m.mu.Lock()
	defer m.mu.Unlock()
	for topic, numbers := range partitions {
		for _, n := range numbers {
			s := deliver.NewSession(m.ctx)
			m.parts[place{topic, n}] = &partition{topic: topic, number: n, s: s, lanes: m.c.desk.Lanes(s)}
		}
	}
	if len(partitions) > 0 {
		m.client.ResumeFetchPartitions(partitions) // a pause of an earlier time outlives it
	}
}

// remove takes partitions out.
func (m *member) remove(partitions map[string][]int32) []*partition {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*partition
	for topic, numbers := range partitions {
		for _, n := range numbers {
			if p := m.parts[place{topic, n}]; p != nil {
				out = append(out, p)
				delete(m.parts, place{topic, n})
			}
		}
	}
	return out
}

// revoked lets what is being handled end, commits what is finished and gives the
// partitions up. A handler that does not end is abandoned: its message is
// uncommitted and the next owner's.
func (m *member) revoked(ctx context.Context, partitions map[string][]int32) {
	<-m.ready
	list := m.remove(partitions)
	m.finishAll(list)
	m.lastCommit(context.WithoutCancel(ctx), list)
}

func (m *member) finishAll(list []*partition) {
	for _, p := range list {
		p.s.Halt()
	}
	var all sync.WaitGroup
	for _, p := range list {
		all.Go(func() {
			if !p.s.Finish(m.c.o.Drain, grace) {
				m.c.log.Error("a handler does not end and its partition is given up: the message is handled again elsewhere", "group", m.c.o.Group, "topic", p.topic, "partition", p.number)
			}
		})
	}
	all.Wait()
}

func (m *member) lastCommit(ctx context.Context, leaving []*partition) {
	if err := m.commit(ctx, leaving); err != nil {
		m.c.log.Warn("offsets could not be committed before partitions were given up: messages come again", "group", m.c.o.Group, "error", err)
	}
}

// lost abandons partitions that are another member's already.
func (m *member) lost(_ context.Context, partitions map[string][]int32) {
	<-m.ready
	for _, p := range m.remove(partitions) {
		p.s.Abandon()
	}
}

// stop ends the membership. Partitions that go to another member meanwhile are
// revoked as ever, so they stay in their place until all is finished.
func (m *member) stop() {
	close(m.quit)
	<-m.done
	m.mu.Lock()
	list := make([]*partition, 0, len(m.parts))
	for _, p := range m.parts {
		list = append(list, p)
	}
	m.mu.Unlock()
	m.finishAll(list)
	m.lastCommit(m.ctx, nil)
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.parts)
}
