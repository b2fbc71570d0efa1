// Package activemq publishes validated messages to ActiveMQ Classic and consumes
// them, over STOMP 1.2: a [Producer] lets nothing through that its schema
// refuses and answers only when the broker has stored the message; a [Consumer]
// hands the accepted ones to a handler, sets the rejected ones aside with their
// reason, in one transaction with their acknowledgement, and keeps those that
// could not be judged.
//
// Frames are read and written by go-stomp; what happens on a connection is this
// package's, since many publishes wait for their receipts at once and a broker's
// ERROR ends them all. It decides nothing about schemas, which is package
// validate's, and it has no path that hands a message out again without waiting.
//
// Start with [Connect], then [NewProducer] and [NewConsumer].
package activemq

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-stomp/stomp/v3/frame"
)

// Conn is a STOMP connection that is established. Read and Write are called by
// one goroutine each at a time, Close by any.
type Conn interface {
	// Read waits for the next frame. It fails when the broker is silent for longer
	// than it promised.
	Read() (*frame.Frame, error)
	Write(f *frame.Frame) error
	Close() error
}

// Open opens a new connection. It is called again whenever one is lost; a
// producer and each session of a consumer has one of its own.
type Open func(ctx context.Context) (Conn, error)

// Options are how a broker is connected to. Zero fields mean the defaults.
type Options struct {
	Login, Passcode string
	// TLS speaks it, when not nil.
	TLS *tls.Config
	// Host is the virtual host, the address's when empty; RabbitMQ's is "/".
	Host string
	// HeartBeat is how often either side is heard of at least, 10 s: a line that was
	// cut is noticed after a little more than twice that.
	HeartBeat time.Duration
	// Timeout bounds connecting, and each write, 30 s.
	Timeout time.Duration
}

// Connect gives an Open for an address, host:port.
func Connect(address string, o Options) Open {
	if o.HeartBeat <= 0 {
		o.HeartBeat = 10 * time.Second
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	return func(ctx context.Context) (Conn, error) {
		c, err := dial(ctx, address, o)
		if err != nil {
			return nil, fmt.Errorf("connect to the broker at %s: %w", address, err)
		}
		return c, nil
	}
}

func dial(ctx context.Context, address string, o Options) (_ *connection, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var raw net.Conn
	if o.TLS != nil {
		raw, err = (&tls.Dialer{Config: o.TLS}).DialContext(ctx, "tcp", address)
	} else {
		raw, err = (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = raw.Close()
		}
	}()
	stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	c := &connection{raw: raw, reader: frame.NewReader(raw), writer: frame.NewWriter(raw), timeout: o.Timeout, quit: make(chan struct{})}
	if o.Host != "" {
		host = o.Host
	}
	hello, err := greeting(host, &o)
	if err != nil {
		return nil, err
	}
	if _, err := raw.Write(hello); err != nil {
		return nil, orContext(ctx, err)
	}
	answer, err := c.reader.Read()
	switch {
	case err != nil:
		return nil, orContext(ctx, err)
	case answer == nil || answer.Command != frame.CONNECTED:
		return nil, refusal(answer)
	case answer.Header.Get(frame.Version) != "1.2":
		return nil, fmt.Errorf("the broker speaks STOMP %q, and 1.2 is needed", answer.Header.Get(frame.Version))
	}
	if !stop() {
		return nil, orContext(ctx, context.DeadlineExceeded)
	}
	return c, c.beats(answer.Header.Get(frame.HeartBeat), o.HeartBeat)
}

// greeting is the CONNECT frame. Its values are not escaped, which go-stomp would
// do: a colon in a password must stay one.
//
// Source: STOMP 1.2, value encoding.
func greeting(host string, o *Options) ([]byte, error) {
	beat := strconv.FormatInt(o.HeartBeat.Milliseconds(), 10)
	text := frame.CONNECT + "\n"
	for _, h := range [][2]string{{frame.AcceptVersion, "1.2"}, {frame.Host, host}, {frame.HeartBeat, beat + "," + beat}, {frame.Login, o.Login}, {frame.Passcode, o.Passcode}} {
		if strings.ContainsAny(h[1], "\n\r\x00") {
			return nil, fmt.Errorf("the %s has a line break in it, which STOMP cannot carry", h[0])
		}
		if h[1] != "" {
			text += h[0] + ":" + h[1] + "\n"
		}
	}
	return []byte(text + "\n\x00"), nil
}

// orContext is why ctx ended, where that is what cut the line.
func orContext(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// connection is a network connection with its heart-beats.
type connection struct {
	raw     net.Conn
	reader  *frame.Reader
	writer  *frame.Writer
	writing sync.Mutex
	timeout time.Duration // of a write
	silence time.Duration // the longest that the broker may be silent, 0 for ever
	once    sync.Once
	quit    chan struct{}
}

// beats sets up heart-beats: header is what the broker can send and wants to get.
func (c *connection) beats(header string, ours time.Duration) error {
	if header == "" {
		return nil
	}
	sends, wants, _ := strings.Cut(header, ",")
	gives, err := strconv.ParseUint(sends, 10, 31)
	if err != nil {
		return fmt.Errorf("the broker's heart-beat is %q: %w", header, err)
	}
	takes, err := strconv.ParseUint(wants, 10, 31)
	if err != nil {
		return fmt.Errorf("the broker's heart-beat is %q: %w", header, err)
	}
	if gives > 0 {
		c.silence = 2*max(ours, time.Duration(gives)*time.Millisecond) + time.Second //nolint:gosec // 31 bits
	}
	if takes > 0 {
		// Half of what was agreed on: a busy machine is not to be taken for a dead one.
		go c.beat(max(ours, time.Duration(takes)*time.Millisecond) / 2) //nolint:gosec // as above
	}
	return nil
}

func (c *connection) beat(every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if c.Write(nil) != nil {
				return // whoever reads is told
			}
		case <-c.quit:
			return
		}
	}
}

// Read waits for the next frame.
func (c *connection) Read() (*frame.Frame, error) {
	for {
		if c.silence > 0 {
			if err := c.raw.SetReadDeadline(time.Now().Add(c.silence)); err != nil {
				return nil, err
			}
		}
		f, err := c.reader.Read()
		if err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				err = fmt.Errorf("the broker was silent for %v", c.silence)
			}
			return nil, err
		}
		if f != nil { // else a heart-beat
			return f, nil
		}
	}
}

// Write sends a frame; nil is a heart-beat.
func (c *connection) Write(f *frame.Frame) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.raw.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
		return err
	}
	return c.writer.Write(f)
}

// Close ends the connection.
func (c *connection) Close() error {
	c.once.Do(func() { close(c.quit) })
	return c.raw.Close()
}
