package queues_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
	"github.com/cartorio-registry/cartorio/clients/deadletter/kafka"
	"github.com/cartorio-registry/cartorio/clients/queues"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

func address(t *testing.T, text string) brokers.Address {
	t.Helper()
	at, err := brokers.Parse(text, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// console is a management that answers every question with one status and body.
func console(t *testing.T, status int, body string, asked *http.Request) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked != nil {
			*asked = *r.Clone(context.Background())
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const jolokia = `{"status":200,"value":{"org.apache.activemq:brokerName=b,destinationName=orders,destinationType=Queue,type=Broker":
	{"QueueSize":12,"InFlightCount":5,"ConsumerCount":2,"DispatchCount":99,"AverageMessageSize":1024.5}}}`

func TestActiveMQConsole(t *testing.T) {
	t.Parallel()
	var asked http.Request
	n, err := queues.Ask(t.Context(), address(t, "stomp://u:secret@localhost//queue/orders"), queues.Options{Management: console(t, 200, jolokia, &asked)})
	if err != nil {
		t.Fatal(err)
	}
	want := queues.Numbers{Ready: p[int64](7), Unacknowledged: p[int64](5), Consumers: p[int64](2), Delivered: p[int64](99), MeanBytes: p[int64](1024)}
	if d := cmp.Diff(want, n); d != "" {
		t.Error(d)
	}
	if user, password, _ := asked.BasicAuth(); user != "u" || password != "secret" || asked.Header.Get("Origin") == "" || asked.URL.Path != "/api/jolokia/" || asked.Method != http.MethodPost {
		t.Errorf("asked %s %s as %s", asked.Method, asked.URL, user)
	}
	// The protocol alone tells nothing.
	if n, err := queues.Ask(t.Context(), address(t, "stomp://localhost/orders"), queues.Options{}); err != nil || n.String() != "" {
		t.Errorf("%v, %v", n, err)
	}
}

// What is wrong is said, and never with a password.
func TestManagementThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, address string
		status        int
		body          string
		want          string
	}{
		{"refused", "stomp://localhost/orders", 401, "", "refuses this caller"},
		{"forbidden", "amqp://localhost#orders", 403, "", "refuses this caller"},
		{"no queue", "amqp://localhost#orders", 404, "", "it does not exist, or this is no management"},
		{"broken", "amqp://localhost#orders", 500, "", "answers 500"},
		{"not followed elsewhere", "amqp://localhost#orders", 302, "", "answers 302"},
		{"no JSON", "amqp://localhost#orders", 200, "<html>", "not understood"},
		{"of another shape", "amqp://localhost#orders", 200, `{"consumers":"many"}`, "not understood"},
		{"no MBean", "stomp://localhost/orders", 200, `{"status":404}`, "the console: it does not exist"},
		{"Jolokia's own error", "stomp://localhost/orders", 200, `{"status":500,"error":"oops"}`, "oops"},
		{"two brokers", "stomp://localhost/orders", 200, `{"status":200,"value":{"a":{},"b":{}}}`, "2 brokers"},
		{"a pattern for a name", "stomp://localhost/orders.*", 200, jolokia, "several queues"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url := strings.Replace(console(t, tt.status, tt.body, nil), "http://", "http://me:hunter2@", 1)
			_, err := queues.Ask(t.Context(), address(t, tt.address), queues.Options{Management: url})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v", err)
			}
			if got := errors.Is(err, brokers.ErrRefused); got != (tt.status == 401 || tt.status == 403) {
				t.Errorf("refused: %v", got)
			}
			if got := errors.Is(err, brokers.ErrMissing); got != strings.Contains(tt.want, "does not exist") {
				t.Errorf("missing: %v", got)
			}
		})
	}
	for _, url := range []string{"localhost:15672", "ftp://me:hunter2@localhost", "http://me:hunter2@[::1", "http://me:hunter2@127.0.0.1:1"} {
		_, err := queues.Ask(t.Context(), address(t, "stomp://localhost/orders"), queues.Options{Management: url})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, text := range []string{"amqp://me:hunter2@127.0.0.1:1#orders"} {
		_, err := queues.Ask(t.Context(), address(t, text), queues.Options{})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A broker that takes the connection and says nothing is waited for no longer
// than the context lasts.
func TestRabbitMQThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err = queues.Ask(ctx, address(t, "amqp://guest:secret@"+silent.Addr().String()+"/#orders"), queues.Options{})
	if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "secret") || time.Since(begin) > 10*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

func TestKafka(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	host := cluster.ListenAddrs()[0]
	at := address(t, "kafka://"+host+"/orders")
	c, err := kgo.NewClient(kgo.SeedBrokers(host), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DefaultProduceTopic("orders"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for i := range 10 {
		r := &kgo.Record{Partition: int32(i % 2), Value: []byte("x")}
		if i == 9 {
			r.Key, r.Headers = []byte("k"), []kgo.RecordHeader{{Key: "messageId", Value: []byte("m")}, {Key: "schemaVersion", Value: []byte("1")}}
		}
		if err := c.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	group, err := kgo.NewClient(kgo.SeedBrokers(host), kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(group.Close)
	seen := 0
	for seen < 4 {
		f := group.PollRecords(t.Context(), 4-seen)
		for _, e := range f.Errors() {
			t.Fatal(e.Err)
		}
		seen += f.NumRecords()
	}
	if err := group.CommitUncommittedOffsets(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]queues.Numbers{
		"":        {Ready: p[int64](10), Partitions: 2},
		"billing": {Ready: p[int64](6), Partitions: 2, Consumers: p[int64](1)},
	} {
		got, err := queues.Ask(t.Context(), at, queues.Options{Group: name})
		if err != nil {
			t.Fatalf("group %q: %v", name, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("group %q: %s", name, d)
		}
	}
	if _, err := queues.Ask(t.Context(), at, queues.Options{Group: "nobody"}); !errors.Is(err, brokers.ErrMissing) || !strings.Contains(err.Error(), "look for the consumer group nobody") {
		t.Errorf("%v", err)
	}
	if _, err := queues.Ask(t.Context(), address(t, "kafka://"+host+"/absent"), queues.Options{}); !errors.Is(err, brokers.ErrMissing) || !strings.Contains(err.Error(), "look for the topic") {
		t.Errorf("%v", err)
	}
	// The sample is of the last records of all partitions, and moves nobody.
	s, err := queues.Look(t.Context(), kafka.Newest(at, 3), 100)
	if err != nil {
		t.Fatal(err)
	}
	lack := queues.Lack{Count: 3, Which: []string{"0:3", "0:4", "1:3"}}
	if d := cmp.Diff(queues.Sample{Messages: 4, ID: lack, Version: lack, Key: lack, MeanBytes: 1}, s, cmp.AllowUnexported(queues.Sample{}), ignoreBytes); d != "" {
		t.Error(d)
	}
}

var ignoreBytes = cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "bytes" }, cmp.Ignore())

// box is a box of letters that may not be removed.
type box struct {
	list []*deadletter.Letter
	err  error
	seen int
}

func (b *box) Walk(ctx context.Context, visit func(context.Context, *deadletter.Letter) (deadletter.Fate, error)) error {
	for _, l := range b.list {
		b.seen++
		fate, err := visit(ctx, l)
		if err != nil || fate == deadletter.Stop {
			return err
		}
		if fate == deadletter.Remove {
			return errors.New("a sample was removed")
		}
	}
	return b.err
}

func (b *box) Send(context.Context, deadletter.Destination, *deadletter.Letter) error {
	return errors.New("a sample was sent")
}

func (b *box) Put(context.Context, *deadletter.Letter) error { return errors.New("a letter was put") }
func (b *box) Close() error                                  { return nil }

func letter(payload []byte, headers ...string) *deadletter.Letter {
	l := &deadletter.Letter{Message: validate.Message{Payload: payload}}
	for i := 0; i+1 < len(headers); i += 2 {
		l.Message.Headers = append(l.Message.Headers, validate.Header{Name: headers[i], Value: headers[i+1]})
	}
	return l
}

func TestSample(t *testing.T) {
	t.Parallel()
	b := &box{list: []*deadletter.Letter{
		letter([]byte("{}"), "messageId", "m1", "schemaVersion", "1", "messageKey", "k"),
		letter([]byte("{}"), "messageId", "m2", "schemaGuid", "g"),
		letter([]byte{0, 0, 0, 0, 7, 1}, "messageId", "m3"),
		letter([]byte("{}"), "messageId", "m4"),
		letter(nil, "messageId", "m5"), // a tombstone is of no version
		letter(make([]byte, queues.LargePayload), "messageId", "m6", "schemaVersion", "1"),
		letter(append(make([]byte, queues.LargePayload), 1), "messageId", "x"+strings.Repeat("é", 500), "schemaVersion", "1"),
		letter([]byte("{}"), "schemaVersion", "1"),
	}}
	s, err := queues.Look(t.Context(), b, 100)
	if err != nil {
		t.Fatal(err)
	}
	if s.Messages != 8 || s.ID.Count != 1 || !strings.HasPrefix(s.ID.Which[0], "sha256-") || s.Otherwise != 2 || cmp.Diff(s.Version, queues.Lack{Count: 3, Which: []string{"m2", "m3", "m4"}}) != "" {
		t.Errorf("%+v", s)
	}
	if s.Key.Count != 7 || len(s.Key.Which) != 5 || s.Large.Count != 1 || s.Large.Which[0] != "x"+strings.Repeat("é", 249)+"…" || s.MeanBytes != (2*queues.LargePayload+1+8+6)/8 {
		t.Errorf("%+v", s)
	}
	if text, err := json.Marshal(s); err != nil || strings.Contains(string(text), "bytes") {
		t.Errorf("%s, %v", text, err)
	}
	b.seen = 0
	if s, err := queues.Look(t.Context(), b, 3); err != nil || s.Messages != 3 || b.seen != 3 {
		t.Errorf("%+v, %d seen, %v", s, b.seen, err)
	}
	if s, err := queues.Look(t.Context(), b, 0); err != nil || s.Messages != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	b.err = errors.New("the broker is gone")
	if _, err := queues.Look(t.Context(), b, 100); !errors.Is(err, b.err) {
		t.Errorf("%v", err)
	}
}
