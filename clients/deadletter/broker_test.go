package deadletter_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
	"github.com/cartorio-registry/cartorio/clients/deadletter/activemq"
	"github.com/cartorio-registry/cartorio/clients/deadletter/amqp10"
	"github.com/cartorio-registry/cartorio/clients/deadletter/kafka"
	"github.com/cartorio-registry/cartorio/clients/deadletter/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// partVariable holds the address of a box in a process that is to die while it
// replays, and diesVariable at which letter.
const (
	partVariable = "CARTORIO_TEST_DEADLETTER_PART"
	diesVariable = "CARTORIO_TEST_DEADLETTER_DIES"
)

var used atomic.Int32

// TestMain fails when a broker was given and no test used it, and is loud when
// none was. In a process that a test started it replays until it dies.
func TestMain(m *testing.M) {
	if address := os.Getenv(partVariable); address != "" {
		os.Exit(die(address, os.Getenv(diesVariable)))
	}
	flag.Parse()
	status := m.Run()
	given := false
	for _, b := range real {
		given = given || os.Getenv(b.variable) != ""
		if os.Getenv(b.variable) == "" {
			fmt.Fprintf(os.Stderr, "SKIPPED: dead letters on a real %s: set %s, or run `make test`\n", b.name, b.variable)
		}
	}
	if given && flag.Lookup("test.run").Value.String() == "" && used.Load() == 0 {
		fmt.Fprintln(os.Stderr, "FAIL: a broker was given and no test used it")
		status = 1
	}
	os.Exit(status)
}

// realBroker is a broker that tests may use, when its variable is set.
type realBroker struct {
	name, variable string
	address        func(server, queue string) string
	make           func(t *testing.T, server, queue string)
	isOpen         bool // a queue that is written to or read is made
}

var real = []realBroker{
	{"RabbitMQ", "CARTORIO_TEST_RABBITMQ", func(server, queue string) string { return server + "#" + queue }, makeQueue, false},
	{"Kafka", "CARTORIO_TEST_KAFKA", func(server, topic string) string { return "kafka://" + server + "/" + topic }, makeTopic, false},
	{"ActiveMQ", "CARTORIO_TEST_STOMP", func(server, queue string) string { return "stomp://" + server + "/" + queue }, func(*testing.T, string, string) {}, true},
	{"ActiveMQ over AMQP 1.0", "CARTORIO_TEST_AMQP10", func(server, queue string) string { return "amqp10" + strings.TrimPrefix(server, "amqp") + "/" + queue }, func(*testing.T, string, string) {}, true},
}

func makeQueue(t *testing.T, server, queue string) {
	t.Helper()
	conn, err := amqp.Dial(server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDeclare(queue, true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
}

func makeTopic(t *testing.T, server, topic string) {
	t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(server))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ask := kmsg.NewPtrCreateTopicsRequest()
	ask.TimeoutMillis = 15_000
	one := kmsg.NewCreateTopicsRequestTopic()
	one.Topic, one.NumPartitions, one.ReplicationFactor = topic, 1, 1
	ask.Topics = append(ask.Topics, one)
	answer, err := ask.RequestWith(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := kerr.ErrorForCode(answer.Topics[0].ErrorCode); err != nil {
		t.Fatal(err)
	}
	// What the controller has decided the broker knows a little later.
	brokertest.Await(t, "the topic "+topic, func() bool {
		look := kmsg.NewPtrMetadataRequest()
		one := kmsg.NewMetadataRequestTopic()
		one.Topic = kmsg.StringPtr(topic)
		look.Topics = append(look.Topics, one)
		answer, err := look.RequestWith(t.Context(), c)
		return err == nil && len(answer.Topics) == 1 && answer.Topics[0].ErrorCode == 0 && len(answer.Topics[0].Partitions) == 1
	})
}

func openAt(address string) (deadletter.Box, error) {
	a, err := brokers.Parse(address, "", "")
	if err != nil {
		return nil, err
	}
	return openOf(a), nil
}

func openOf(a brokers.Address) deadletter.Box {
	switch a.Kind {
	case brokers.Kafka:
		return kafka.Open(a)
	case brokers.STOMP:
		return activemq.Open(a)
	case brokers.AMQP10:
		return amqp10.Open(a)
	case brokers.RabbitMQ:
	}
	return rabbitmq.Open(a)
}

func mustOpen(t *testing.T, address string) deadletter.Box {
	t.Helper()
	b, err := openAt(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// onEach runs a test on each broker that is given, with names of its own.
func onEach(t *testing.T, test func(t *testing.T, b realBroker, at func(queue string) string)) {
	for _, b := range real {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			server := os.Getenv(b.variable)
			if server == "" {
				t.Skipf("%s is not set", b.variable)
			}
			used.Add(1)
			prefix := "deadletter-" + strings.ToLower(rand.Text()[:10]) + "-"
			made := map[string]bool{}
			test(t, b, func(queue string) string {
				if !made[queue] {
					made[queue] = true
					b.make(t, server, prefix+queue)
				}
				return b.address(server, prefix+queue)
			})
		})
	}
}

func nameOf(t *testing.T, address string) string {
	t.Helper()
	a, err := brokers.Parse(address, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return a.Name
}

// lying lists what lies in a box, by message id.
func lying(t *testing.T, address string) (list []string) {
	t.Helper()
	b := mustOpen(t, address)
	if err := b.Walk(t.Context(), func(_ context.Context, l *deadletter.Letter) (deadletter.Fate, error) {
		list = append(list, l.MessageID())
		return deadletter.Keep, nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

func fill(t *testing.T, dead, target string, n int) {
	t.Helper()
	b := mustOpen(t, dead)
	for i := range n {
		reason := "version_unsupported"
		if i%3 == 2 {
			reason = "payload_invalid"
		}
		l := letter(fmt.Sprintf("m%02d", i), validate.DLQReason, reason, validate.DLQOriginalDestination, nameOf(t, target), validate.DLQOriginalQueue, nameOf(t, target), "schemaVersion", "2")
		l.Key = []byte("k")
		if err := b.Put(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRealBox(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, broker realBroker, at func(string) string) {
		dead, target := at("dead"), at("target")
		fill(t, dead, target, 6)
		b := mustOpen(t, dead)
		groups, depth, err := deadletter.List(t.Context(), b, deadletter.Filter{})
		if err != nil || depth != 6 || len(groups) != 2 || groups[0].Count != 4 || groups[0].Reason != "version_unsupported" {
			t.Fatal(groups, depth, err)
		}
		result, err := deadletter.Replay(t.Context(), b, deadletter.ReplayOptions{Filter: deadletter.Filter{Reasons: []string{"version_unsupported"}, Limit: 3}})
		if err != nil || result.Sent != 3 {
			t.Fatal(result, err)
		}
		if got := lying(t, target); !slices.Equal(got, []string{"m00", "m01", "m03"}) {
			t.Errorf("sent %s", got)
		}
		if got := lying(t, dead); !slices.Equal(got, []string{"m02", "m04", "m05"}) {
			t.Errorf("%s are left", got)
		}
		sent, err := deadletter.Find(t.Context(), mustOpen(t, target), deadletter.Filter{IDs: []string{"m01"}})
		if err != nil {
			t.Fatal(err)
		}
		if sent.Replays() != 1 || sent.Header(validate.DLQReason) != "" || sent.Version() != "2" || string(sent.Message.Payload) != "payload m01" {
			t.Errorf("%+v", sent)
		}
		// What is refused for good stays, and does not stop the others.
		if !broker.isOpen {
			sendNowhere(t, b, dead)
		}
		// Out into a file, and in again.
		var file bytes.Buffer
		var ids []string
		if _, err := deadletter.Drop(t.Context(), b, deadletter.Filter{}, false, func(l *deadletter.Letter) error {
			ids = append(ids, l.MessageID())
			return deadletter.Write(&file, l)
		}); err != nil {
			t.Fatal(err)
		}
		if got := lying(t, dead); len(got) > 0 {
			t.Errorf("%s are left", got)
		}
		if n, err := deadletter.Import(t.Context(), b, &file, false); n != 3 || err != nil {
			t.Fatal(n, err)
		}
		if d := cmp.Diff(ids, lying(t, dead)); d != "" {
			t.Error(d)
		}
	})
}

// A queue that nobody has consumed is seen whole: ActiveMQ hands out a page of it,
// and the next one only when something happens.
func TestRealSeenWhole(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, _ realBroker, at func(string) string) {
		dead := at("many")
		const n = 650
		fill(t, dead, dead, n)
		if got := lying(t, dead); len(got) != n {
			t.Errorf("%d of %d letters were seen", len(got), n)
		}
	})
}

func sendNowhere(t *testing.T, b deadletter.Box, dead string) {
	t.Helper()
	nowhere := deadletter.Destination{Queue: nameOf(t, dead) + "-none", Name: nameOf(t, dead) + "-none"}
	result, err := deadletter.Replay(t.Context(), b, deadletter.ReplayOptions{To: &nowhere, Filter: deadletter.Filter{IDs: []string{"m02"}}})
	if err != nil || result.Stayed != 1 {
		t.Errorf("sent to nowhere: %+v, %v", result, err)
	}
}

// A box that is not there is an error, and says so without a password.
func TestRealMissing(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, broker realBroker, at func(string) string) {
		if broker.isOpen {
			return
		}
		_, _, err := deadletter.List(t.Context(), mustOpen(t, at("made")+"-not"), deadletter.Filter{})
		if err == nil || strings.Contains(err.Error(), "guest:guest") {
			t.Error(err)
		}
	})
	for _, address := range []string{"amqp://me:secret@127.0.0.1:1#q", "amqp10://me:secret@127.0.0.1:1/q", "stomp://me:secret@127.0.0.1:1/q"} {
		_, _, err := deadletter.List(t.Context(), mustOpen(t, address), deadletter.Filter{})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
	}
}

// die replays a box and is killed when it has sent the letter at a place and not
// removed it yet.
func die(address, at string) int {
	n, _ := strconv.Atoi(at)
	b, err := openAt(address)
	if err != nil {
		return 3
	}
	_, err = deadletter.Replay(context.Background(), b, deadletter.ReplayOptions{Tell: func(deadletter.Replayed) {
		if n--; n == 0 {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			time.Sleep(time.Minute)
		}
	}})
	fmt.Fprintln(os.Stderr, err)
	return 4
}

// A replay is killed at each letter in turn: nothing is lost, order is kept, and
// at most what the dead one had sent comes twice.
func TestRealKilled(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, broker realBroker, at func(string) string) {
		const letters, kills = 12, 4
		dead, target := at("dead"), at("target")
		fill(t, dead, target, letters)
		for i := range kills {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), partVariable+"="+dead, diesVariable+"="+strconv.Itoa(i+1))
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != -1 {
				t.Fatalf("it was not killed: %v: %s", err, out)
			}
			awaitBack(t, dead, letters-i*(i+1)/2)
		}
		if _, err := deadletter.Replay(t.Context(), mustOpen(t, dead), deadletter.ReplayOptions{}); err != nil {
			t.Fatal(err)
		}
		if left := lying(t, dead); len(left) > 0 {
			t.Errorf("%s are left", left)
		}
		got := lying(t, target)
		var once []string
		for _, id := range got {
			if !slices.Contains(once, id) {
				once = append(once, id)
			}
		}
		var want []string
		for i := range letters {
			want = append(want, fmt.Sprintf("m%02d", i))
		}
		if d := cmp.Diff(want, once); d != "" {
			t.Error(d)
		}
		twice := len(got) - len(once)
		t.Logf("%d letters, %d kills: none lost, %d came twice", letters, kills, twice)
		if twice > kills {
			t.Errorf("%d came twice after %d kills", twice, kills)
		}
	})
}

// awaitBack waits until a broker has noticed that a process is gone and has given
// back what it held.
func awaitBack(t *testing.T, dead string, atLeast int) {
	t.Helper()
	brokertest.Await(t, fmt.Sprintf("%d letters are left", atLeast), func() bool { return len(lying(t, dead)) >= atLeast })
}

// A box speaks TLS, and says what is wrong with a certificate. Kafka's is tried in
// package brokers: a broker of it tells an address of its own.
func TestRealTLS(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, broker realBroker, at func(string) string) {
		a, err := brokers.Parse(at("tls"), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if a.Kind == brokers.Kafka {
			return
		}
		line, roots := brokertest.NewTLSLine(t, a.Hosts[0])
		a.TLS, a.Hosts = true, []string{line.Address}
		b := openOf(a)
		_, _, err = deadletter.List(t.Context(), b, deadletter.Filter{})
		if err == nil || !strings.Contains(err.Error(), "certificate signed by unknown authority") {
			t.Errorf("an authority that nobody knows: %v", err)
		}
		a.Trust = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		b = openOf(a)
		defer b.Close()
		if err := b.Put(t.Context(), letter("m")); err != nil {
			t.Fatal(err)
		}
		if _, depth, err := deadletter.List(t.Context(), b, deadletter.Filter{}); depth != 1 || err != nil {
			t.Errorf("%d letters, %v", depth, err)
		}
	})
}
