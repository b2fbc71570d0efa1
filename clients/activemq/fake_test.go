package activemq_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/activemq"
)

// fake is a broker of one queue without a network. It hands out what is in the
// queue, in order, to whoever subscribes, and takes back what a connection leaves
// unsettled.
type fake struct {
	mu     sync.Mutex
	queue  []*frame.Frame // not handed out
	sent   []*frame.Frame // taken by SEND
	log    []string       // what was settled, and how
	opened int
	refuse error // what opening answers
	// answer says what becomes of a SEND, when not nil: a frame to answer with in place
	// of the receipt, or that nothing comes.
	answer func(f *frame.Frame) (instead *frame.Frame, isSilent bool)
	conns  []*fakeConn
	// step is asked first in whatever a consumer calls, when not nil.
	step func() error
}

func (b *fake) stepped() error {
	if b.step == nil {
		return nil
	}
	return b.step()
}

// left tells of connections that were not closed.
func (b *fake) left() error {
	for i, c := range b.conns {
		select {
		case <-c.closed:
		default:
			return fmt.Errorf("connection %d of %d is still open", i+1, len(b.conns))
		}
	}
	return nil
}

// fakeConn is a connection to it.
type fakeConn struct {
	b      *fake
	out    chan *frame.Frame // to the client
	closed chan struct{}
	once   sync.Once

	unsettled []*frame.Frame
	prefetch  int
	isReader  bool
	flood     bool
}

func (b *fake) open(context.Context) (activemq.Conn, error) {
	if err := b.stepped(); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened++
	if b.refuse != nil {
		return nil, b.refuse
	}
	c := &fakeConn{b: b, out: make(chan *frame.Frame, 5000), closed: make(chan struct{})}
	b.conns = append(b.conns, c)
	return c, nil
}

// put puts a message into the queue.
func (b *fake) put(id, body string, headers ...string) {
	f := frame.New(frame.MESSAGE, append([]string{frame.Destination, "/queue/work", frame.MessageId, "b-" + id, frame.Ack, id, "messageId", id, "schemaSubject", "orders-value", "schemaVersion", "1"}, headers...)...)
	f.Body = []byte(body)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, f)
	for _, c := range b.conns {
		c.hand()
	}
}

// cut ends all connections.
func (b *fake) cut() {
	b.mu.Lock()
	list := slices.Clone(b.conns)
	b.mu.Unlock()
	for _, c := range list {
		_ = c.Close()
	}
}

func (b *fake) settled() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.log)
}

func (b *fake) published() []*frame.Frame {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.sent)
}

func (b *fake) connections() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.opened
}

// hand hands out what there is, up to the prefetch; b.mu is held.
func (c *fakeConn) hand() {
	for c.isReader && len(c.b.queue) > 0 && (c.flood || len(c.unsettled) < c.prefetch) {
		f := c.b.queue[0]
		c.b.queue = c.b.queue[1:]
		c.unsettled = append(c.unsettled, f)
		c.out <- f
	}
}

func (c *fakeConn) Read() (*frame.Frame, error) {
	select {
	case f := <-c.out:
		return f, nil
	case <-c.closed:
		return nil, io.EOF
	}
}

func (c *fakeConn) Write(f *frame.Frame) error {
	select {
	case <-c.closed:
		return io.ErrClosedPipe
	default:
	}
	b := c.b
	if err := b.stepped(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	receipt := f.Header.Get(frame.Receipt)
	switch f.Command {
	case frame.SUBSCRIBE:
		if f.Header.Get(frame.Id) == "0" {
			c.prefetch, _ = strconv.Atoi(f.Header.Get("activemq.prefetchSize"))
			c.isReader = true
			defer c.hand()
		}
	case frame.SEND:
		if strings.HasPrefix(f.Header.Get(frame.Destination), "/temp-queue/") {
			delay, _ := strconv.Atoi(f.Header.Get("AMQ_SCHEDULED_DELAY"))
			time.AfterFunc(time.Duration(delay)*time.Millisecond, func() { c.out <- frame.New(frame.MESSAGE) })
			break
		}
		b.sent = append(b.sent, f)
		if b.answer != nil {
			instead, isSilent := b.answer(f)
			if instead != nil {
				c.out <- instead
			}
			if instead != nil || isSilent {
				return nil
			}
		}
	case frame.ACK, frame.NACK:
		at := slices.IndexFunc(c.unsettled, func(m *frame.Frame) bool { return m.Header.Get(frame.Ack) == f.Header.Get(frame.Id) })
		if at < 0 {
			c.out <- frame.New(frame.ERROR, frame.Message, "Unexpected ACK received")
			return nil
		}
		c.unsettled = slices.Delete(c.unsettled, at, at+1)
		b.log = append(b.log, f.Command+" "+f.Header.Get(frame.Id))
		defer c.hand()
	case frame.COMMIT, frame.DISCONNECT:
		b.log = append(b.log, f.Command)
	}
	if receipt != "" {
		c.out <- frame.New(frame.RECEIPT, frame.ReceiptId, receipt)
	}
	return nil
}

// Close gives back what is unsettled, to where it was.
func (c *fakeConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.b.mu.Lock()
		defer c.b.mu.Unlock()
		c.isReader = false
		c.b.queue = append(c.unsettled, c.b.queue...)
		c.unsettled = nil
	})
	return nil
}

var errNoBroker = errors.New("connection refused")
