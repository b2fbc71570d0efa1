package exampletest

import (
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// RemoveFromRabbitMQ removes an exchange, which may be empty, and queues, and gives
// how many messages each queue still held.
func RemoveFromRabbitMQ(t *testing.T, address, exchange string, queues ...string) (left map[string]int) {
	t.Helper()
	conn, err := amqp.Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the test is over
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	left = map[string]int{}
	for _, queue := range queues {
		if left[queue], err = ch.QueueDelete(queue, false, false, false); err != nil {
			t.Errorf("removing %s: %v", queue, err)
		}
	}
	if exchange != "" {
		if err := ch.ExchangeDelete(exchange, false, false); err != nil {
			t.Errorf("removing %s: %v", exchange, err)
		}
	}
	return left
}
