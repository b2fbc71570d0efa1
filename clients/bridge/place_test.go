package bridge_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rabbitmq/amqp091-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
	stompbox "github.com/cartorio-registry/cartorio/clients/deadletter/activemq"
	amqp10box "github.com/cartorio-registry/cartorio/clients/deadletter/amqp10"
	kafkabox "github.com/cartorio-registry/cartorio/clients/deadletter/kafka"
	rabbitbox "github.com/cartorio-registry/cartorio/clients/deadletter/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// place makes queues and topics of a test's own.
type place struct {
	t      *testing.T
	prefix string
}

func places(t *testing.T) place {
	t.Helper()
	if os.Getenv(rabbit) == "" || os.Getenv(kafkaVariable) == "" {
		t.Skipf("%s and %s are not set", rabbit, kafkaVariable)
	}
	used.Add(1)
	return place{t, "bridge-" + strings.ToLower(rand.Text()[:10]) + "-"}
}

func (p place) queue(name string) string {
	p.t.Helper()
	if err := p.declare(name); err != nil {
		p.t.Fatal(err)
	}
	return os.Getenv(rabbit) + "#" + p.prefix + name
}

func (p place) declare(name string) error {
	conn, err := amqp091.Dial(os.Getenv(rabbit))
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	_, err = ch.QueueDeclare(p.prefix+name, true, false, false, false, nil)
	return err
}

func (p place) topic(name string) string {
	p.t.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(os.Getenv(kafkaVariable)))
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	ask := kmsg.NewPtrCreateTopicsRequest()
	ask.TimeoutMillis = 15_000
	one := kmsg.NewCreateTopicsRequestTopic()
	one.Topic, one.NumPartitions, one.ReplicationFactor = p.prefix+name, 1, 1
	ask.Topics = append(ask.Topics, one)
	answer, err := ask.RequestWith(p.t.Context(), c)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := kerr.ErrorForCode(answer.Topics[0].ErrorCode); err != nil {
		p.t.Fatal(err)
	}
	// What the controller has decided the broker knows a little later.
	brokertest.Await(p.t, "the topic "+one.Topic, func() bool {
		look := kmsg.NewPtrMetadataRequest()
		asked := kmsg.NewMetadataRequestTopic()
		asked.Topic = kmsg.StringPtr(one.Topic)
		look.Topics = append(look.Topics, asked)
		answer, err := look.RequestWith(p.t.Context(), c)
		return err == nil && len(answer.Topics) == 1 && answer.Topics[0].ErrorCode == 0 && len(answer.Topics[0].Partitions) == 1
	})
	return "kafka://" + os.Getenv(kafkaVariable) + "/" + p.prefix + name
}

// stomp names a queue of ActiveMQ, which is made when it is used.
func (p place) stomp(name string) string {
	p.t.Helper()
	if os.Getenv("CARTORIO_TEST_STOMP") == "" {
		p.t.Skip("NOT RUN: set CARTORIO_TEST_STOMP to the address of an ActiveMQ; make test starts one and names it when it cannot")
	}
	return "stomp://" + os.Getenv("CARTORIO_TEST_STOMP") + "/" + p.prefix + name
}

// amqp10 is stomp over AMQP 1.0.
func (p place) amqp10(name string) string {
	p.t.Helper()
	if os.Getenv("CARTORIO_TEST_AMQP10") == "" {
		p.t.Skip("NOT RUN: set CARTORIO_TEST_AMQP10 to the address of an ActiveMQ; make test starts one and names it when it cannot")
	}
	return "amqp10" + strings.TrimPrefix(os.Getenv("CARTORIO_TEST_AMQP10"), "amqp") + "/" + p.prefix + name
}

func (p place) box(address string) deadletter.Box {
	p.t.Helper()
	a, err := brokers.Parse(address, "", "")
	if err != nil {
		p.t.Fatal(err)
	}
	var b deadletter.Box = rabbitbox.Open(a)
	switch a.Kind {
	case brokers.Kafka:
		b = kafkabox.Open(a)
	case brokers.STOMP:
		b = stompbox.Open(a)
	case brokers.AMQP10:
		b = amqp10box.Open(a)
	case brokers.RabbitMQ:
	}
	p.t.Cleanup(func() { _ = b.Close() })
	return b
}

func nameOf(t *testing.T, address string) string {
	t.Helper()
	a, err := brokers.Parse(address, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return a.Name
}

// send puts messages of version 1 at an address; the id tells the payload.
func (p place) send(address string, payloads ...string) {
	p.t.Helper()
	b := p.box(address)
	for i, payload := range payloads {
		l := &deadletter.Letter{Key: fmt.Appendf(nil, "k%d", i%3), Message: validate.Message{ContentType: "application/json", Payload: []byte(payload)}}
		for _, h := range [][2]string{
			{"messageId", fmt.Sprintf("m%02d", i)},
			{"schemaSubject", subject},
			{"schemaVersion", "1"},
			{"schemaType", "JSON"},
			{"messageKey", fmt.Sprintf("k%d", i%3)},
			{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
			{"mine", "é"},
		} {
			l.Message.Headers = append(l.Message.Headers, validate.Header{Name: h[0], Value: h[1]})
		}
		if err := b.Put(p.t.Context(), l); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p place) lying(address string) (list []*deadletter.Letter) {
	p.t.Helper()
	if err := p.box(address).Walk(p.t.Context(), func(_ context.Context, l *deadletter.Letter) (deadletter.Fate, error) {
		list = append(list, l)
		return deadletter.Keep, nil
	}); err != nil {
		p.t.Fatal(err)
	}
	return list
}
