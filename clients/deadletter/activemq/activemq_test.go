package activemq_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
	"github.com/cartorio-registry/cartorio/clients/deadletter/activemq"
)

func listen(t *testing.T) (net.Listener, brokers.Address) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, brokers.Address{Kind: brokers.STOMP, Hosts: []string{l.Addr().String()}, Name: "orders"}
}

// A broker that cannot browse hands out the messages themselves. It takes those
// for done that are acknowledged, and all of them where the subscription says so.
func TestBrowseWhereNothingCanBeBrowsed(t *testing.T) {
	t.Parallel()
	l, at := listen(t)
	seen := make(chan []*frame.Frame, 1)
	go func() {
		var frames []*frame.Frame
		defer func() { seen <- frames }()
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in, out := frame.NewReader(conn), frame.NewWriter(conn)
		for {
			f, err := in.Read()
			if err != nil {
				return
			}
			if f == nil {
				continue
			}
			frames = append(frames, f)
			switch f.Command {
			case frame.CONNECT, frame.STOMP:
				_ = out.Write(frame.New(frame.CONNECTED, frame.Version, "1.2"))
			case frame.SUBSCRIBE:
				for _, id := range []string{"1", "2", "3"} {
					m := frame.New(frame.MESSAGE, frame.MessageId, id, frame.Ack, id, frame.Destination, "/queue/orders", frame.Subscription, f.Header.Get(frame.Id))
					m.Body = []byte("{}")
					_ = out.Write(m)
				}
			case frame.DISCONNECT:
				_ = out.Write(frame.New(frame.RECEIPT, frame.ReceiptId, f.Header.Get(frame.Receipt)))
				return
			}
		}
	}()
	n := 0
	err := activemq.Browse(at).Walk(t.Context(), func(context.Context, *deadletter.Letter) (deadletter.Fate, error) {
		if n++; n == 2 {
			return deadletter.Stop, nil
		}
		return deadletter.Keep, nil
	})
	if err != nil || n != 2 {
		t.Fatalf("%d letters, %v", n, err)
	}
	frames := <-seen
	i := slices.IndexFunc(frames, func(f *frame.Frame) bool { return f.Command == frame.SUBSCRIBE })
	if i < 0 || frames[i].Header.Get("browser") != "true" || frames[i].Header.Get(frame.Ack) != "client-individual" {
		t.Errorf("the subscription is not one that leaves messages where they are: %v", frames)
	}
	if slices.ContainsFunc(frames, func(f *frame.Frame) bool { return f.Command == frame.ACK }) {
		t.Errorf("a message was acknowledged: %v", frames)
	}
}

// A broker that says nothing is waited for as long as the caller does.
func TestSilentBroker(t *testing.T) {
	t.Parallel()
	_, at := listen(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	err := activemq.Open(at).Walk(ctx, nil)
	if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 15*time.Second {
		t.Errorf("%v after %s", err, took)
	}
}

// What a broker writes into an ERROR frame tells who is wrong.
func TestErrorFrames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, message, body string
		isOfConnect         bool
		want                error
	}{
		{"ActiveMQ and a wrong password", "User name [me] or password is invalid.", "User name [me] or password is invalid.", true, brokers.ErrRefused},
		{"ActiveMQ and no permission", "User me is not authorized to read from: queue://orders", "java.lang.SecurityException", false, brokers.ErrRefused},
		{"Artemis and a wrong password", "AMQ229031: Unable to validate user from /127.0.0.1", "", true, brokers.ErrRefused},
		{"Artemis and no permission", "AMQ229032: User: me does not have permission='CONSUME'", "", false, brokers.ErrRefused},
		{"Artemis and no queue", "AMQ339001: Destination does not exist: orders", "", false, brokers.ErrMissing},
		{"RabbitMQ and a wrong password", "Bad CONNECT", "Access refused for user 'me'\n", true, brokers.ErrRefused},
		{"RabbitMQ and no permission", "access_refused", "ACCESS_REFUSED - access to queue 'orders' refused", false, brokers.ErrRefused},
		{"RabbitMQ and no queue", "not_found", "NOT_FOUND - no queue 'orders' in vhost '/'", false, brokers.ErrMissing},
		{"anything else", "Broker is shutting down", "", false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, at := listen(t)
			go func() {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				in, out := frame.NewReader(conn), frame.NewWriter(conn)
				for {
					f, err := in.Read()
					if err != nil {
						return
					}
					switch {
					case f == nil:
					case f.Command == frame.SUBSCRIBE, tt.isOfConnect:
						e := frame.New(frame.ERROR, frame.Message, tt.message)
						e.Body = []byte(tt.body)
						_ = out.Write(e)
						return
					default:
						_ = out.Write(frame.New(frame.CONNECTED, frame.Version, "1.2"))
					}
				}
			}()
			err := activemq.Open(at).Walk(t.Context(), nil)
			if err == nil {
				t.Fatal("it was taken")
			}
			for _, kind := range []error{brokers.ErrRefused, brokers.ErrMissing} {
				if errors.Is(err, kind) != errors.Is(tt.want, kind) {
					t.Errorf("%v", err)
				}
			}
		})
	}
}
