package queues_test

import (
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-stomp/stomp/v3"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter/activemq"
	"github.com/cartorio-registry/cartorio/clients/deadletter/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/queues"
	client "github.com/cartorio-registry/cartorio/clients/rabbitmq"
)

// What tests on real brokers read; scripts/brokers.sh start sets them.
const (
	rabbitVariable     = "CARTORIO_TEST_RABBITMQ"
	managementVariable = "CARTORIO_TEST_RABBITMQ_MANAGEMENT"
	stompVariable      = "CARTORIO_TEST_STOMP"
)

var used atomic.Int32

// TestMain fails when a broker was given and no test used it, and is loud when
// none was.
func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	given := false
	for _, name := range []string{rabbitVariable, managementVariable, stompVariable} {
		given = given || os.Getenv(name) != ""
		if os.Getenv(name) == "" {
			fmt.Fprintf(os.Stderr, "SKIPPED: looking at real queues: set %s, or run `make test`\n", name)
		}
	}
	if given && flag.Lookup("test.run").Value.String() == "" && used.Load() == 0 {
		fmt.Fprintln(os.Stderr, "FAIL: a broker was given and no test used it")
		status = 1
	}
	os.Exit(status)
}

func broker(t *testing.T, variable string) string {
	t.Helper()
	server := os.Getenv(variable)
	if server == "" {
		t.Skipf("NOT RUN: set %s; make test starts a broker and names it when it cannot", variable)
	}
	used.Add(1)
	return server
}

// rabbit makes a queue with twenty messages.
func rabbit(t *testing.T, server string) (ch *amqp.Channel, queue string) {
	t.Helper()
	conn, err := amqp.Dial(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if ch, err = conn.Channel(); err != nil {
		t.Fatal(err)
	}
	queue = "queues-" + rand.Text()[:8]
	if _, err := ch.QueueDeclare(queue, true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = ch.QueueDelete(queue, false, false, false) })
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		c, err := ch.PublishWithDeferredConfirmWithContext(t.Context(), "", queue, true, false, amqp.Publishing{Headers: amqp.Table{"messageId": fmt.Sprint("m", i)}, Body: []byte("0123456789")})
		if err != nil || !c.Wait() {
			t.Fatal(err)
		}
	}
	return ch, queue
}

// A sample stays in its queue, in its place.
func TestRealRabbitMQSample(t *testing.T) {
	t.Parallel()
	server := broker(t, rabbitVariable)
	ch, queue := rabbit(t, server)
	at := address(t, server+"#"+queue)
	b := rabbitmq.Open(at)
	s, err := queues.Look(t.Context(), b, 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if s.Messages != 5 || s.ID.Count != 0 || s.Version.Count != 5 || s.Version.Which[0] != "m0" || s.MeanBytes != 10 {
		t.Errorf("%+v", s)
	}
	n, err := queues.Ask(t.Context(), at, queues.Options{})
	if err != nil || *n.Ready != 20 || *n.Consumers != 0 || n.Unacknowledged != nil {
		t.Errorf("%+v, %v", n, err)
	}
	if d, ok, err := ch.Get(queue, true); err != nil || !ok || d.Headers["messageId"] != "m0" {
		t.Errorf("the first message is %v now, %v, %v", d.Headers, ok, err)
	}
	if _, err := queues.Ask(t.Context(), address(t, server+"#absent-"+queue), queues.Options{}); err == nil || !strings.Contains(err.Error(), "NOT_FOUND") {
		t.Errorf("%v", err)
	}
}

// The management tells what is with consumers, how they were made and what comes
// twice; it is some seconds behind.
func TestRealRabbitMQManagement(t *testing.T) {
	t.Parallel()
	server, management := broker(t, rabbitVariable), broker(t, managementVariable)
	ch, queue := rabbit(t, server)
	if err := ch.Qos(4, 0, false); err != nil {
		t.Fatal(err)
	}
	in, err := ch.Consume(queue, "", false, false, false, false, amqp.Table{client.LossArgument: "presence"})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		d := <-in
		if err := d.Nack(false, true); err != nil {
			t.Fatal(err)
		}
	}
	at := address(t, server+"#"+queue)
	deadline := time.Now().Add(time.Minute)
	for {
		n, err := queues.Ask(t.Context(), at, queues.Options{Management: management})
		if err == nil && n.Unacknowledged != nil && *n.Unacknowledged == 4 && *n.Ready == 16 && *n.Consumers == 1 && len(n.Windows) == 1 && n.Windows[0] == 4 &&
			n.Redelivered != nil && *n.Redelivered >= 3 && *n.Delivered >= 7 && n.MeanBytes != nil && *n.MeanBytes == 10 && n.Kind == "classic, durable" && len(n.Losses) == 1 && n.Losses[0] == "presence" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute: %s, %+v, %v", n.String(), n, err)
		}
		wait(t, 200*time.Millisecond)
	}
	if _, err := queues.Ask(t.Context(), address(t, server+"#absent-"+queue), queues.Options{Management: management}); !errors.Is(err, brokers.ErrMissing) {
		t.Errorf("%v", err)
	}
}

// wait lets the broker count.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// A queue of ActiveMQ is browsed: whoever consumes it sees nothing of that.
func TestRealActiveMQSample(t *testing.T) {
	t.Parallel()
	server := broker(t, stompVariable)
	queue := "queues-" + rand.Text()[:8]
	c, err := stomp.Dial("tcp", server, stomp.ConnOpt.HeartBeat(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.MustDisconnect() })
	for i := range 10 {
		if err := c.Send("/queue/"+queue, "application/json", []byte("{}"), stomp.SendOpt.Receipt, stomp.SendOpt.Header("messageId", fmt.Sprint("m", i))); err != nil {
			t.Fatal(err)
		}
	}
	at := address(t, "stomp://"+server+"/"+queue)
	for most, want := range map[int]int{4: 4, 100: 10} {
		s, err := queues.Look(t.Context(), activemq.Browse(at), most)
		if err != nil || s.Messages != want || s.ID.Count != 0 || s.Version.Count != want {
			t.Errorf("%+v, %v", s, err)
		}
	}
	in, err := c.Subscribe("/queue/"+queue, stomp.AckClientIndividual)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		m := <-in.C
		if m.Err != nil || m.Header.Get("messageId") != fmt.Sprint("m", i) || m.Header.Get("redelivered") != "" {
			t.Fatalf("message %d: %v, %v", i, m.Header, m.Err)
		}
		if err := c.Ack(m); err != nil {
			t.Fatal(err)
		}
	}
}
