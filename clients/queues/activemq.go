package queues

import (
	"context"
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/clients/brokers"
)

// overJolokia asks the console's Jolokia for the queue's MBean.
//
// Source: Jolokia's protocol, POST read; the attributes of ActiveMQ's
// DestinationViewMBean.
func overJolokia(ctx context.Context, at brokers.Address, o Options) (Numbers, error) {
	name := at.Name
	for _, prefix := range []string{"queue://", "/queue/"} {
		name = strings.TrimPrefix(name, prefix)
	}
	if strings.ContainsAny(name, `*?,"=:`) {
		return Numbers{}, fmt.Errorf("ask the console: the name %q has characters that stand for several queues there", name)
	}
	ask := map[string]any{
		"type": "read", "mbean": "org.apache.activemq:brokerName=*,destinationName=" + name + ",destinationType=Queue,type=Broker",
		"attribute": []string{"QueueSize", "InFlightCount", "ConsumerCount", "DispatchCount", "AverageMessageSize"},
	}
	var b struct {
		Status int    `json:"status"`
		Error  string `json:"error"`
		Value  map[string]struct {
			Size      *int64  `json:"QueueSize"`
			InFlight  *int64  `json:"InFlightCount"`
			Consumers *int64  `json:"ConsumerCount"`
			Delivered *int64  `json:"DispatchCount"`
			Mean      float64 `json:"AverageMessageSize"`
		} `json:"value"`
	}
	if err := management(ctx, at, o, question{path: "/api/jolokia/", body: ask}, &b); err != nil {
		return Numbers{}, err
	}
	switch {
	case b.Status == 404:
		return Numbers{}, fmt.Errorf("ask the console: %w", brokers.ErrMissing)
	case b.Status != 200:
		return Numbers{}, fmt.Errorf("ask the console: it answers status %d: %s", b.Status, cut(b.Error))
	case len(b.Value) != 1:
		return Numbers{}, fmt.Errorf("ask the console: it tells of %d brokers", len(b.Value))
	}
	for _, q := range b.Value {
		n := Numbers{Unacknowledged: q.InFlight, Consumers: q.Consumers, Delivered: q.Delivered}
		if q.Size != nil { // what is in flight is among it
			n.Ready = known(max(*q.Size-of(q.InFlight), 0))
		}
		if q.Mean > 0 {
			n.MeanBytes = known(int64(q.Mean))
		}
		return n, nil
	}
	return Numbers{}, nil
}
