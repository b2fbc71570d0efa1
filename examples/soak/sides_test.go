package soak_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
	activeletter "github.com/cartorio-registry/cartorio/clients/deadletter/activemq"
	kafkaletter "github.com/cartorio-registry/cartorio/clients/deadletter/kafka"
	rabbitletter "github.com/cartorio-registry/cartorio/clients/deadletter/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// message is what a producer publishes with one of its pins.
type message struct {
	id, key string
	pin     int
	body    []byte
}

// side is what is different about a broker.
type side struct {
	// producers gives a publish for pins.
	producers func(v *validate.Validator, pins []validate.Pin) (publish func(ctx context.Context, m message) error, closeAll func(), err error)
	box       func() deadletter.Box
	clean     func()
}

// handler works on an accepted message.
type handler func(ctx context.Context, id, key string, payload []byte) error

var sides = map[string]func(t *testing.T, address, name string) side{"RABBITMQ": rabbitSide, "KAFKA": kafkaSide, "STOMP": activeSide}

// consume are the consumers, one process each.
var consume = map[string]func(ctx context.Context, p *part, v *validate.Validator, e *validate.Expect, h handler) error{
	"RABBITMQ": consumeRabbitMQ, "KAFKA": consumeKafka, "STOMP": consumeActiveMQ,
}

var (
	quick  = retry.Policy{Base: 20 * time.Millisecond, Cap: 200 * time.Millisecond, Attempts: 6}
	alarms = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
)

// place is a queue or topic as the dead letter's boxes are opened.
func place(t *testing.T, text string) brokers.Address {
	t.Helper()
	a, err := brokers.Parse(text, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func rabbitSide(t *testing.T, address, name string) side {
	t.Helper()
	conn, err := amqp.Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	// One consumer at a time keeps the order; the others stand by.
	for queue, args := range map[string]amqp.Table{name: {"x-single-active-consumer": true}, name + ".dead": nil} {
		if _, err := ch.QueueDeclare(queue, true, false, false, false, args); err != nil {
			t.Fatal(err)
		}
	}
	at := place(t, address+"#"+name+".dead")
	return side{
		producers: func(v *validate.Validator, pins []validate.Pin) (func(context.Context, message) error, func(), error) {
			connector := rabbitmq.Connect(address, amqp.Config{})
			var list []*rabbitmq.Producer
			for _, pin := range pins {
				list = append(list, rabbitmq.NewProducer(connector.Open, v, pin, rabbitmq.ProducerOptions{}))
			}
			return func(ctx context.Context, m message) error {
				return list[m.pin].Publish(ctx, "", name, amqp.Publishing{MessageId: m.id, Headers: amqp.Table{"messageKey": m.key}, Body: m.body})
			}, func() { _ = connector.Close() }, nil
		},
		box: func() deadletter.Box { return rabbitletter.Open(at) },
		clean: func() {
			for _, queue := range []string{name, name + ".dead"} {
				_, _ = ch.QueueDelete(queue, false, false, false)
			}
			_ = conn.Close()
		},
	}
}

func consumeRabbitMQ(ctx context.Context, p *part, v *validate.Validator, e *validate.Expect, h handler) error {
	connector := rabbitmq.Connect(p.Address, amqp.Config{})
	defer connector.Close()
	c, err := rabbitmq.NewConsumer(connector.Open, v, e, func(ctx context.Context, d *rabbitmq.Delivery) error {
		key, _ := d.Message.Headers["messageKey"].(string)
		return h(ctx, d.Message.MessageId, key, d.Payload)
	}, rabbitmq.ConsumerOptions{Queue: p.Name, DeadLetter: rabbitmq.Destination{Key: p.Name + ".dead"}, Keyed: true, Workers: 4, Retry: quick, Logger: alarms})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

func kafkaSide(t *testing.T, address, name string) side {
	t.Helper()
	k, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ProducerLinger(0), kgo.MetadataMinAge(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{name, name + ".dead", name + ".dead" + kafkaletter.HandledSuffix}
	ask := kmsg.NewPtrCreateTopicsRequest()
	for topic, partitions := range map[string]int32{names[0]: 6, names[1]: 1, names[2]: 1} {
		one := kmsg.NewCreateTopicsRequestTopic()
		one.Topic, one.NumPartitions, one.ReplicationFactor = topic, partitions, 1
		ask.Topics = append(ask.Topics, one)
	}
	if _, err := ask.RequestWith(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	at := place(t, "kafka://"+address+"/"+name+".dead")
	return side{
		producers: func(v *validate.Validator, pins []validate.Pin) (func(context.Context, message) error, func(), error) {
			var list []*kafka.Producer
			for _, pin := range pins {
				p, err := kafka.NewProducer(k, v, pin, kafka.ProducerOptions{})
				if err != nil {
					return nil, nil, err
				}
				list = append(list, p)
			}
			return func(ctx context.Context, m message) error {
				return list[m.pin].Publish(ctx, &kgo.Record{Topic: name, Key: []byte(m.key), Value: m.body, Headers: []kgo.RecordHeader{{Key: "messageId", Value: []byte(m.id)}}})
			}, func() {}, nil
		},
		box: func() deadletter.Box { return kafkaletter.Open(at) },
		clean: func() {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			ask := kmsg.NewPtrDeleteTopicsRequest()
			for _, topic := range names {
				one := kmsg.NewDeleteTopicsRequestTopic()
				one.Topic = kmsg.StringPtr(topic)
				ask.Topics, ask.TopicNames = append(ask.Topics, one), append(ask.TopicNames, topic)
			}
			_, _ = ask.RequestWith(ctx, k)
			k.Close()
		},
	}
}

func consumeKafka(ctx context.Context, p *part, v *validate.Validator, e *validate.Expect, h handler) error {
	open := kafka.With(kgo.SeedBrokers(p.Address), kgo.InstanceID(fmt.Sprint(p.Index)), kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(500*time.Millisecond), kgo.MetadataMinAge(100*time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	c, err := kafka.NewConsumer(open, v, e, func(ctx context.Context, d *kafka.Delivery) error {
		id := ""
		for _, header := range d.Message.Headers {
			if header.Key == "messageId" {
				id = string(header.Value)
			}
		}
		return h(ctx, id, string(d.Message.Key), d.Payload)
	}, kafka.ConsumerOptions{Group: p.Name, Topics: []string{p.Name}, DeadLetter: p.Name + ".dead", Keyed: true, Workers: 4, Retry: quick, Logger: alarms})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

func activeSide(t *testing.T, address, name string) side {
	t.Helper()
	open := activemq.Connect(address, activemq.Options{})
	at := place(t, "stomp://"+address+"/DLQ."+name)
	return side{
		producers: func(v *validate.Validator, pins []validate.Pin) (func(context.Context, message) error, func(), error) {
			var list []*activemq.Producer
			for _, pin := range pins {
				list = append(list, activemq.NewProducer(open, v, pin, activemq.ProducerOptions{}))
			}
			return func(ctx context.Context, m message) error {
					return list[m.pin].Publish(ctx, name, &activemq.Message{MessageID: m.id, Key: m.key, Body: m.body})
				}, func() {
					for _, p := range list {
						_ = p.Close(context.Background())
					}
				}, nil
		},
		box:   func() deadletter.Box { return activeletter.Open(at) },
		clean: func() {}, // its queues are empty
	}
}

func consumeActiveMQ(ctx context.Context, p *part, v *validate.Validator, e *validate.Expect, h handler) error {
	c, err := activemq.NewConsumer(activemq.Connect(p.Address, activemq.Options{}), v, e, func(ctx context.Context, d *activemq.Delivery) error {
		return h(ctx, d.Message.MessageID, d.Message.Key, d.Payload)
	}, activemq.ConsumerOptions{Queue: p.Name, Keyed: true, Workers: 4, Retry: quick, Logger: alarms})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}
