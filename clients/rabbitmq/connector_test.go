package rabbitmq_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

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
