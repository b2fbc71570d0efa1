package validate_test

import (
	"testing"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

func TestDestinationName(t *testing.T) {
	t.Parallel()
	for destination, want := range map[string]string{
		"orders": "orders", "/queue/orders": "orders", "queue://orders": "orders", "/topic/orders.placed": "orders.placed", "topic://orders": "orders",
		"/temp-queue/a": "a", "/amq/queue/orders": "orders", "/queues/orders": "orders",
		"/queue/Consumer.billing.VirtualTopic.orders": "VirtualTopic.orders", "Consumer.a.b.VirtualTopic.orders.x": "VirtualTopic.orders.x",
		"/topic/VirtualTopic.orders": "VirtualTopic.orders", "Consumer.orders": "Consumer.orders", "": "", "/queue/": "", "queues": "queues",
	} {
		if got := validate.DestinationName(destination); got != want {
			t.Errorf("%q is named %q, want %q", destination, got, want)
		}
	}
}
