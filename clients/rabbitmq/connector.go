package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Connector keeps one connection to a broker and makes a new one when it is
// lost. A producer and a consumer of much traffic are better off with one each:
// the broker slows down a connection that publishes too fast, acknowledgements
// on it included.
type Connector struct {
	url    string
	config amqp.Config
	over   context.Context // ends when the connector is closed
	end    context.CancelFunc

	mu         sync.Mutex
	conn       *amqp.Connection
	connecting *connecting // nil while nobody does
	failed     error       // why the last try failed; nil when it did not
}

// connecting is one try to connect; conn and err are there when it is done.
type connecting struct {
	done chan struct{}
	conn *amqp.Connection
	err  error
}

// dialTime bounds connecting, the broker's greetings included, unless the URL says
// otherwise.
const dialTime = 30 * time.Second

// Connect makes a Connector for a URL such as amqp://user:password@host:5672/.
// It connects when the first channel is opened.
func Connect(url string, config amqp.Config) *Connector {
	if config.Locale == "" {
		config.Locale = "en_US"
	}
	if config.Heartbeat == 0 {
		config.Heartbeat = 10 * time.Second // a line that was cut is noticed
	}
	c := &Connector{url: url, config: config}
	c.over, c.end = context.WithCancel(context.Background())
	return c
}

var errConnectorClosed = errors.New("the connector is closed")

// Open is an Open on the connection as it is now, or on a new one. It waits for
// connection and channel as long as ctx lasts.
func (c *Connector) Open(ctx context.Context) (Channel, error) {
	conn, err := c.connected(ctx)
	if err != nil {
		return nil, err
	}
	return channelOn(ctx, conn)
}

// connected gives the connection. Whoever cannot wait for it leaves the try to
// whoever comes next: a broker that takes its time is reached all the same.
func (c *Connector) connected(ctx context.Context) (*amqp.Connection, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open a channel: %w", err)
	}
	c.mu.Lock()
	if c.over.Err() != nil {
		c.mu.Unlock()
		return nil, fmt.Errorf("open a channel: %w", errConnectorClosed)
	}
	if c.conn != nil && !c.conn.IsClosed() {
		defer c.mu.Unlock()
		return c.conn, nil
	}
	try := c.connecting
	if try == nil {
		try = &connecting{done: make(chan struct{})}
		c.connecting = try
		go c.connect(try)
	}
	c.mu.Unlock()
	select {
	case <-try.done:
		return try.conn, try.err
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.failed != nil {
			return nil, fmt.Errorf("connect to the broker: %w: %w", ctx.Err(), c.failed)
		}
		return nil, fmt.Errorf("connect to the broker: %w", ctx.Err())
	}
}

// connect makes the connection, or says why not.
func (c *Connector) connect(try *connecting) {
	conn, err := c.dial()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && c.over.Err() != nil {
		_ = conn.Close()
		err = errConnectorClosed
	}
	if err == nil {
		c.conn, try.conn = conn, conn
	} else {
		try.err = fmt.Errorf("connect to the broker: %w", err)
	}
	c.connecting, c.failed = nil, err
	close(try.done)
}

// dial connects, unless the connector is closed meanwhile.
func (c *Connector) dial() (*amqp.Connection, error) {
	config := c.config
	if config.Dial == nil {
		config.Dial = c.dialNetwork
	}
	raw := config.Dial
	undo := func() bool { return true }
	config.Dial = func(network, address string) (net.Conn, error) {
		conn, err := raw(network, address)
		if err == nil {
			undo = context.AfterFunc(c.over, func() { _ = conn.Close() })
		}
		return conn, err
	}
	conn, err := amqp.DialConfig(c.url, config)
	if undo(); err == nil {
		return conn, nil
	}
	var u *url.Error
	switch {
	case c.over.Err() != nil:
		return nil, errConnectorClosed
	case errors.As(err, &u):
		return nil, u.Err // its own text repeats the URL, password included
	}
	return nil, err
}

// dialNetwork is amqp091-go's own way to connect, which it can be called back
// from: a broker that does not speak is waited for no longer than that either, and
// the library lifts the deadline when it has spoken.
func (c *Connector) dialNetwork(network, address string) (net.Conn, error) {
	limit := dialTime
	if uri, err := amqp.ParseURI(c.url); err == nil && uri.ConnectionTimeout > 0 {
		limit = time.Duration(uri.ConnectionTimeout) * time.Millisecond
	}
	conn, err := (&net.Dialer{Timeout: limit}).DialContext(c.over, network, address)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// Connection is the connection as it is now; nil before the first Open.
func (c *Connector) Connection() *amqp.Connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn
}

// Close closes the connection and opens no other. Producers and consumers on it
// are to be closed first.
func (c *Connector) Close() error {
	c.mu.Lock()
	conn := c.conn
	c.end()
	c.mu.Unlock()
	if conn == nil || conn.IsClosed() {
		return nil
	}
	if err := conn.Close(); err != nil && !errors.Is(err, amqp.ErrClosed) {
		return fmt.Errorf("close the connection to the broker: %w", err)
	}
	return nil
}
