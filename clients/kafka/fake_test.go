package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

var ctx = context.Background()

// broker is a fake: one group member, whose partitions a test hands out, takes
// away and fills.
type broker struct {
	mu      sync.Mutex
	group   kafka.Group
	offsets map[int32]int64
	queue   []*kgo.Record
	wake    chan struct{}
	paused  map[int32]bool
	pauses  int
	log     []*kgo.Record
	commits []string
	missing []string
	made    []string
	openErr error
	// answer decides about the nth publish, from 0; nil is a confirm.
	answer func(n int, r *kgo.Record) error
	// commitErr fails commits.
	commitErr error
	closed    bool
	opened    int // clients, less those that were closed
	// step is asked first in whatever a consumer calls, when not nil.
	step func() error
}

func (b *broker) stepped() error {
	if b.step == nil {
		return nil
	}
	return b.step()
}

func newBroker() *broker {
	return &broker{offsets: map[int32]int64{}, paused: map[int32]bool{}, wake: make(chan struct{}, 1), answer: func(int, *kgo.Record) error { return nil }}
}

func (b *broker) open(_ context.Context, g kafka.Group) (kafka.Client, error) {
	if err := b.stepped(); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.openErr != nil {
		return nil, b.openErr
	}
	if g.Name != "" {
		b.group = g
	}
	b.opened++
	return &member{b: b, isMember: g.Name != ""}, nil
}

// deliver appends a record to a partition of the topic orders.
func (b *broker) deliver(partition int32, r kgo.Record) {
	b.mu.Lock()
	r.Partition = partition
	if r.Topic == "" {
		r.Topic = "orders"
	}
	r.Offset = b.offsets[partition]
	b.offsets[partition]++
	b.queue = append(b.queue, &r)
	b.mu.Unlock()
	b.poke()
}

func (b *broker) poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *broker) published() []*kgo.Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.log)
}

// committed is the last commit of each partition.
func (b *broker) committed() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.commits) == 0 {
		return ""
	}
	return b.commits[len(b.commits)-1]
}

func (b *broker) set(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

// member is a client of the fake.
type member struct {
	b        *broker
	isMember bool
}

func (m *member) Produce(_ context.Context, r *kgo.Record, promise func(*kgo.Record, error)) {
	b := m.b
	b.mu.Lock()
	n := len(b.log)
	err := b.answer(n, r)
	if !errors.Is(err, errUnheard) {
		b.log = append(b.log, r)
	}
	b.mu.Unlock()
	if errors.Is(err, errSilence) {
		return
	}
	go promise(r, err)
}

var (
	errSilence = errors.New("no answer")
	errUnheard = errors.New("the broker is away")
)

func (m *member) PollRecords(ctx context.Context, most int) kgo.Fetches {
	if err := m.b.stepped(); err != nil {
		return kgo.NewErrFetch(err)
	}
	for {
		m.b.mu.Lock()
		byPartition := map[int32][]*kgo.Record{}
		var rest []*kgo.Record
		n := 0
		for _, r := range m.b.queue {
			if m.b.paused[r.Partition] || n == most {
				rest = append(rest, r)
				continue
			}
			byPartition[r.Partition] = append(byPartition[r.Partition], r)
			n++
		}
		m.b.queue = rest
		m.b.mu.Unlock()
		if n > 0 {
			var f kgo.Fetch
			for _, p := range slices.Sorted(maps.Keys(byPartition)) {
				f.Topics = append(f.Topics, kgo.FetchTopic{Topic: byPartition[p][0].Topic, Partitions: []kgo.FetchPartition{{Partition: p, Records: byPartition[p]}}})
			}
			return kgo.Fetches{f}
		}
		select {
		case <-m.b.wake:
		case <-ctx.Done():
			return kgo.NewErrFetch(ctx.Err())
		}
	}
}

func (m *member) AllowRebalance() {}

func (m *member) PauseFetchPartitions(p map[string][]int32) map[string][]int32 {
	m.b.set(func() {
		for _, list := range p {
			for _, n := range list {
				m.b.paused[n] = true
				m.b.pauses++
			}
		}
	})
	return nil
}

func (m *member) ResumeFetchPartitions(p map[string][]int32) {
	m.b.set(func() {
		for _, list := range p {
			for _, n := range list {
				delete(m.b.paused, n)
			}
		}
	})
	m.b.poke()
}

func (m *member) Commit(_ context.Context, o kafka.Offsets) error {
	m.b.mu.Lock()
	defer m.b.mu.Unlock()
	if m.b.commitErr != nil {
		return m.b.commitErr
	}
	out := ""
	for _, topic := range slices.Sorted(maps.Keys(o)) {
		for _, p := range slices.Sorted(maps.Keys(o[topic])) {
			out += fmt.Sprintf("%s/%d:%d ", topic, p, o[topic][p].Offset)
		}
	}
	m.b.commits = append(m.b.commits, out[:len(out)-1])
	return nil
}

func (m *member) Missing(_ context.Context, topics []string) ([]string, error) {
	if err := m.b.stepped(); err != nil {
		return nil, err
	}
	m.b.mu.Lock()
	defer m.b.mu.Unlock()
	var out []string
	for _, t := range topics {
		if slices.Contains(m.b.missing, t) {
			out = append(out, t)
		}
	}
	return out, nil
}

func (m *member) Create(_ context.Context, topics []string) error {
	if err := m.b.stepped(); err != nil {
		return err
	}
	m.b.set(func() { m.b.made = append(m.b.made, topics...) })
	return nil
}

func (m *member) Close() {
	m.b.set(func() { m.b.opened-- })
	if m.isMember {
		m.b.set(func() { m.b.closed = true })
	}
}

// newShelf has two versions of orders-value and one of a key's.
func newShelf() *brokertest.Shelf {
	s := brokertest.NewShelf(orderV1, orderV2)
	s.Add("orders-key", keyV1)
	return s
}

const (
	orderV1 = brokertest.OrderV1
	orderV2 = brokertest.OrderV2
	keyV1   = `{"type":"string","minLength":2}`
)

var orders = validate.ByDestination()

func header(name, value string) kgo.RecordHeader {
	return kgo.RecordHeader{Key: name, Value: []byte(value)}
}

// order is a record of version v with a number as its payload's id.
func order(v, id int) kgo.Record {
	return kgo.Record{
		Headers: []kgo.RecordHeader{header("schemaSubject", "orders-value"), header("schemaVersion", fmt.Sprint(v)), header("messageId", fmt.Sprintf("m-%d", id))},
		Value:   fmt.Appendf(nil, `{"id":%d}`, id),
	}
}

// keyed is order with a key.
func keyed(key string, id int) kgo.Record {
	r := order(1, id)
	r.Key = []byte(key)
	return r
}

// get is the value of a record's header.
func get(r *kgo.Record, name string) string {
	for _, h := range r.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return ""
}
