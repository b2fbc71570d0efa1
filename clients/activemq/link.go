package activemq

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/go-stomp/stomp/v3/frame"
)

// link is a connection with what waits on it: publishes for their receipts, and
// a consumer for messages. It is lost when the line is, or when the broker says
// ERROR, after which nothing on it counts.
type link struct {
	conn     Conn
	messages chan *frame.Frame
	lost     chan struct{} // closed when err is set

	writing sync.Mutex

	mu      sync.Mutex
	waiting map[string]chan error // by receipt
	number  uint64
	err     error
}

var (
	// errLeft is why a link ends that was closed on this side.
	errLeft = errors.New("the connection is closed")
	// errFlooded is why a link ends whose broker takes no heed of what was asked.
	errFlooded = errors.New("the broker handed out many more messages than were asked for: it takes no heed of activemq.prefetchSize")
)

// spare is how many messages beyond its prefetch a consumer has room for: the
// broker counts those of a transaction only when it ends.
const spare = 1024

func openLink(ctx context.Context, open Open, prefetch int) (*link, error) {
	conn, err := open(ctx)
	if err != nil {
		return nil, err
	}
	l := &link{conn: conn, lost: make(chan struct{}), waiting: map[string]chan error{}}
	if prefetch > 0 {
		l.messages = make(chan *frame.Frame, prefetch+spare)
	}
	go l.read()
	return l, nil
}

// read takes what the broker sends until the link is lost.
func (l *link) read() {
	for {
		f, err := l.conn.Read()
		if err != nil {
			l.lose(err)
			return
		}
		switch f.Command {
		case frame.RECEIPT:
			l.answer(f.Header.Get(frame.ReceiptId))
		case frame.MESSAGE:
			select {
			case l.messages <- f:
			default:
				l.lose(errFlooded)
				return
			}
		case frame.ERROR:
			l.lose(refusal(f))
			return
		}
	}
}

func (l *link) answer(receipt string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if answer := l.waiting[receipt]; answer != nil {
		answer <- nil
		delete(l.waiting, receipt)
	}
}

// lose ends the link; the first reason counts.
func (l *link) lose(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.err = err
	for _, answer := range l.waiting {
		answer <- err
	}
	clear(l.waiting)
	close(l.lost)
	_ = l.conn.Close()
}

// why is why the link was lost.
func (l *link) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// send sends frames, one right after the other.
func (l *link) send(frames ...*frame.Frame) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	for _, f := range frames {
		if err := l.why(); err != nil {
			return err
		}
		if err := l.conn.Write(f); err != nil {
			l.lose(err)
			return l.why()
		}
	}
	return nil
}

// ask sends frames and waits until the broker has done the last of them, and with
// it those before. isSent tells whether any of them may have gone out.
func (l *link) ask(ctx context.Context, frames ...*frame.Frame) (isSent bool, err error) {
	answer := make(chan error, 1)
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return false, unsaid(l.err)
	}
	l.number++
	receipt := "r" + strconv.FormatUint(l.number, 10)
	l.waiting[receipt] = answer
	l.mu.Unlock()
	last := frames[len(frames)-1].Clone()
	last.Header.Set(frame.Receipt, receipt)
	frames[len(frames)-1] = last
	if err := l.send(frames...); err != nil {
		return true, unsaid(err)
	}
	select {
	case err = <-answer:
	case <-ctx.Done():
		l.mu.Lock()
		delete(l.waiting, receipt)
		l.mu.Unlock()
		select {
		case err = <-answer: // both came at once: the broker's word counts
		default:
			return true, ctx.Err()
		}
	}
	var e *brokerError
	if errors.As(err, &e) {
		err = e.of(receipt)
	}
	return true, err
}

// unsaid is why a link was lost before a frame went out: what the broker said was
// about another.
func unsaid(err error) error { return fmt.Errorf("the connection was lost before: %v", err) } //nolint:errorlint // not to be taken for its own

// leave says goodbye, so that all that was sent before has been done, and closes.
func (l *link) leave(ctx context.Context) error {
	_, err := l.ask(ctx, frame.New(frame.DISCONNECT))
	l.lose(errLeft)
	if err != nil {
		return fmt.Errorf("take leave of the broker: %w", err)
	}
	return nil
}

// brokerError is what a broker says in an ERROR frame.
type brokerError struct {
	Message, Receipt string
	// isOther tells that the broker blames another frame of the link.
	isOther bool
}

func (e *brokerError) Error() string { return "the broker says: " + e.Message }

// of is the error as the sender of a frame sees it.
func (e *brokerError) of(receipt string) *brokerError {
	return &brokerError{Message: e.Message, Receipt: e.Receipt, isOther: e.Receipt != "" && e.Receipt != receipt}
}

// isFull tells that the broker lacks room, which passes.
func (e *brokerError) isFull() bool {
	return strings.Contains(e.Message, "ResourceAllocationException") || strings.Contains(e.Message, "limit reached")
}

// refusal is an ERROR frame as an error, or what came in place of an answer.
func refusal(f *frame.Frame) error {
	if f == nil || f.Command != frame.ERROR {
		return errors.New("what answers there does not speak STOMP")
	}
	text := f.Header.Get(frame.Message)
	if text == "" {
		text, _, _ = strings.Cut(string(f.Body), "\n")
	}
	return &brokerError{Message: strings.ToValidUTF8(text[:min(len(text), 1000)], ""), Receipt: f.Header.Get(frame.ReceiptId)}
}
