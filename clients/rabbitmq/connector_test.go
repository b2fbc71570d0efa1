package rabbitmq_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
)

// listen takes connections, the first, the second and so on.
func listen(t *testing.T, each func(n int32, conn net.Conn)) (address string, taken *atomic.Int32) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	taken = &atomic.Int32{}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			go each(taken.Add(1), conn)
		}
	}()
	return l.Addr().String(), taken
}

// Whoever cannot wait for a broker that says nothing is told what it had said
// before.
func TestWhyThereIsNoConnection(t *testing.T) {
	t.Parallel()
	brief, leave := context.WithCancel(t.Context())
	defer leave()
	address, _ := listen(t, func(n int32, conn net.Conn) {
		if n == 1 {
			_ = conn.Close()
			return
		}
		leave()
	})
	c := rabbitmq.Connect("amqp://"+address+"/", amqp.Config{})
	defer c.Close()
	_, first := c.Open(t.Context())
	if first == nil || errors.Is(first, context.Canceled) {
		t.Fatalf("a connection that is closed at once: %v", first)
	}
	_, second := c.Open(brief)
	if cause := errors.Unwrap(first); !errors.Is(second, context.Canceled) || !errors.Is(second, cause) {
		t.Errorf("left with %v, after %v", second, first)
	}
}

// A broker that takes its time is reached, though whoever asked first has left.
func TestRealLateConnection(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(workshop.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	target := u.Host
	brief, leave := context.WithCancel(t.Context())
	defer leave()
	goOn := make(chan struct{})
	address, taken := listen(t, func(_ int32, in net.Conn) {
		leave()
		<-goOn
		out, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", target)
		if err != nil {
			t.Error(err)
			return
		}
		defer out.Close()
		go func() { _, _ = io.Copy(out, in) }()
		_, _ = io.Copy(in, out)
	})
	u.Host = address
	c := rabbitmq.Connect(u.String(), amqp.Config{})
	defer c.Close()
	if _, err := c.Open(brief); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever has left: %v", err)
	}
	close(goOn)
	if _, err := c.Open(t.Context()); err != nil || taken.Load() != 1 {
		t.Errorf("%v, after %d connections", err, taken.Load())
	}
}

// Nobody waits longer than asked for a channel of a connection that has gone silent;
// one that comes later is not left open.
func TestRealSilentConnection(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(workshop.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	target := u.Host
	silent, spoke := make(chan struct{}), make(chan struct{})
	address, _ := listen(t, func(_ int32, in net.Conn) {
		out, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", target)
		if err != nil {
			t.Error(err)
			return
		}
		defer out.Close()
		go func() { _, _ = io.Copy(in, out) }()
		room := make([]byte, 4<<10)
		for {
			n, err := in.Read(room)
			if err != nil {
				return
			}
			select {
			case <-silent: // what is asked for now comes late
				<-spoke
			default:
			}
			if _, err := out.Write(room[:n]); err != nil {
				return
			}
		}
	})
	u.Host = address
	c := rabbitmq.Connect(u.String(), amqp.Config{ChannelMax: 3})
	defer c.Close()
	first, err := c.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	close(silent)
	for name, open := range map[string]rabbitmq.Open{"Connect": c.Open, "On": rabbitmq.On(c.Connection())} {
		brief, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer leave()
		began := time.Now()
		if _, err := open(brief); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %v after %v", name, err, time.Since(began))
		}
	}
	close(spoke)
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	brokertest.Await(t, "the late channels have given their places back", func() bool {
		for range 3 {
			ch, err := c.Open(t.Context())
			if err != nil {
				return false
			}
			defer ch.Close()
		}
		return true
	})
}
