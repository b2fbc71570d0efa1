package validate

import "strings"

// DestinationName is a destination of ActiveMQ, or of AMQP 1.0, as subjects are
// named by: without the prefix that tells its kind, and the queue of one
// subscriber of a virtual topic as that topic.
//
// Source: client specification 2.1.
func DestinationName(destination string) string {
	name := destination
	for _, prefix := range [...]string{"queue://", "topic://", "temp-queue://", "temp-topic://", "/queue/", "/topic/", "/temp-queue/", "/temp-topic/", "/queues/", "/amq/queue/"} {
		if rest, ok := strings.CutPrefix(destination, prefix); ok {
			name = rest
			break
		}
	}
	if rest, ok := strings.CutPrefix(name, "Consumer."); ok {
		if _, topic, ok := strings.Cut(rest, ".VirtualTopic."); ok {
			return "VirtualTopic." + topic
		}
	}
	return name
}
