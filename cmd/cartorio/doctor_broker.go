package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
	stompbox "github.com/cartorio-registry/cartorio/clients/deadletter/activemq"
	kafkabox "github.com/cartorio-registry/cartorio/clients/deadletter/kafka"
	"github.com/cartorio-registry/cartorio/clients/queues"
)

// brokerLook is what doctor looks at beside the gate.
type brokerLook struct {
	queues, letters   []string
	management, group string
	sample            int
}

const brokerLookHelp = `With ADDRESS of a queue or topic it looks at that instead: how deep it is, who reads
it and what is with consumers, and says which case it is (raise the prefetch, lower
it, look at failures first); and at a sample of its messages, which stay where they
are: which of them lack messageId, schemaVersion or messageKey, and which are too
large for a bus. What the broker's protocol does not tell (messages that are with
consumers, redeliveries, prefetches) is asked of --management. Messages of RabbitMQ,
and of brokers that cannot browse over STOMP, are marked as redelivered when they are
looked at, and on a quorum queue each look counts as a delivery: --sample 0 leaves
them alone.`

func (l *brokerLook) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&l.letters, "dead-letter", nil, "`ADDRESS` of a dead letter whose depth and age are told; may stand several times")
	f.StringVar(&l.management, "management", "", "`URL` of the broker's HTTP interface: RabbitMQ's management, or the console of ActiveMQ")
	f.StringVar(&l.group, "group", "", "consumer `GROUP` whose lag on a Kafka topic is told")
	f.IntVar(&l.sample, "sample", 100, "look at `N` messages, of a Kafka topic at the last ones, spread over its partitions; 0 for none")
}

// check refuses flags that have nothing to work on.
func (l *brokerLook) check() error {
	switch {
	case l.sample < 0:
		return failf(exitUsage, "--sample %d: it cannot be negative", l.sample)
	case len(l.queues) == 0 && (l.management != "" || l.group != ""):
		return failf(exitUsage, "--management and --group belong to the ADDRESS of a queue or topic: name one")
	}
	return nil
}

// isAsked tells whether a broker is looked at, instead of the gate.
func (l *brokerLook) isAsked() bool { return len(l.queues)+len(l.letters) > 0 }

// lookAtBrokers looks at queues and dead letters.
//
// Errors: an address or a flag that is wrong. What cannot be reached is a fault
// of the diagnosis.
func (a *app) lookAtBrokers(ctx context.Context, d *diagnosis, l *brokerLook) error {
	for _, text := range l.queues {
		at, err := brokerAddress(text)
		if err != nil {
			return err
		}
		if l.group != "" && at.Kind != brokers.Kafka {
			return failf(exitUsage, "--group %s: %s has no consumer groups", l.group, at)
		}
		a.lookAtQueue(ctx, d, at, l)
	}
	for _, text := range l.letters {
		at, err := brokerAddress(text)
		if err != nil {
			return err
		}
		a.lookAtLetters(ctx, d, at)
	}
	return nil
}

// addAt adds a finding about one queue or topic.
func (d *diagnosis) addAt(at brokers.Address, what, result, text, fix string) {
	d.add(what, result, text, fix, 0)
	d.Checks[len(d.Checks)-1].At = at.String()
}

// brokerFault tells of a broker that cannot be asked.
func (d *diagnosis) brokerFault(at brokers.Address, what string, err error) {
	fix := "check the address, and whether the broker runs"
	code := codeOfBroker(err)
	switch code {
	case exitRefused:
		fix = "put user and password into the address, or set CARTORIO_BROKER_USER and CARTORIO_BROKER_PASSWORD; or let that user read there"
	case exitNotCompared:
		fix = "correct the name, or create it"
	}
	d.addAt(at, what, "fault", err.Error(), fix)
	d.Checks[len(d.Checks)-1].code = code
}

func (a *app) lookAtQueue(ctx context.Context, d *diagnosis, at brokers.Address, l *brokerLook) {
	n, err := queues.Ask(ctx, at, queues.Options{Management: l.management, Group: l.group})
	if err != nil {
		d.brokerFault(at, "queue", err)
		return
	}
	if text := n.String(); text != "" {
		d.addAt(at, "queue", "ok", text, "")
		for _, one := range n.Advice() {
			result := "note"
			if one.OK {
				result = "ok"
			}
			d.addAt(at, "queue", result, one.Text, one.Fix)
		}
	}
	switch {
	case at.Kind == brokers.Kafka && l.group == "":
		d.addAt(at, "queue", "note", "ready is what the topic keeps; nobody's lag is known", "name --group")
	case at.Kind != brokers.Kafka && l.management == "":
		d.addAt(at, "queue", "note", "what is with consumers, redeliveries and prefetches are not known", "name --management")
	}
	a.lookAtSample(ctx, d, at, l.sample)
}

// peekBox opens a queue whose consumers are at work.
func peekBox(at brokers.Address, sample int) (deadletter.Box, error) {
	switch at.Kind {
	case brokers.Kafka:
		return kafkabox.Newest(at, sample), nil
	case brokers.STOMP:
		return stompbox.Browse(at), nil
	case brokers.RabbitMQ, brokers.AMQP10:
	}
	return openBox(at)
}

func (a *app) lookAtSample(ctx context.Context, d *diagnosis, at brokers.Address, most int) {
	if most == 0 {
		return
	}
	box, err := peekBox(at, most)
	if err != nil {
		d.brokerFault(at, "sample", err)
		return
	}
	defer box.Close() //nolint:errcheck // nothing was changed
	s, err := queues.Look(ctx, box, most)
	switch {
	case err != nil:
		d.brokerFault(at, "sample", err)
		return
	case s.Messages == 0:
		d.addAt(at, "sample", "ok", "there is no message to look at", madeByAsking(at))
		return
	}
	d.addAt(at, "sample", "ok", fmt.Sprintf("%s looked at, %d bytes on average", plural(s.Messages, "message", "messages"), s.MeanBytes), "")
	tell := func(l queues.Lack, text, fix string) {
		if l.Count > 0 {
			d.addAt(at, "sample", "note", fmt.Sprintf("%d of %d %s: %s", l.Count, s.Messages, text, named(l)), fix)
		}
	}
	tell(s.ID, "have no messageId: duplicates cannot be told apart, and an id of the broker changes when a message is sent again", "let the producer set it; Cartório's do")
	version := "have no schemaVersion"
	if s.Otherwise > 0 {
		version += fmt.Sprintf(" (%d of them name their schema otherwise)", s.Otherwise)
	}
	tell(s.Version, version, "publish with a validator; consumers may read older traffic with Expect.Assume")
	tell(s.Key, "have no messageKey: they are in no order", "set it where the order of one thing's messages counts")
	tell(s.Large, fmt.Sprintf("have over %d KiB", queues.LargePayload>>10), "keep large payloads elsewhere and send a reference (clients/claim)")
}

// named lists the messages of a lack that are named.
func named(l queues.Lack) string {
	text := strings.Join(l.Which, ", ")
	if more := l.Count - len(l.Which); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// lookAtLetters tells how deep a dead letter is and how old its letters are.
func (a *app) lookAtLetters(ctx context.Context, d *diagnosis, at brokers.Address) {
	box, err := openBox(at)
	if err != nil {
		d.brokerFault(at, "dead letter", err)
		return
	}
	defer box.Close() //nolint:errcheck // nothing was changed
	groups, depth, err := deadletter.List(ctx, box, deadletter.Filter{})
	if err != nil {
		d.brokerFault(at, "dead letter", err)
		return
	}
	if depth == 0 {
		d.addAt(at, "dead letter", "ok", "it is empty", madeByAsking(at))
		return
	}
	var oldest, newest time.Time
	for _, g := range groups {
		if !g.Oldest.IsZero() && (oldest.IsZero() || g.Oldest.Before(oldest)) {
			oldest = g.Oldest
		}
		if g.Newest.After(newest) {
			newest = g.Newest
		}
	}
	text := "it holds " + plural(depth, "letter", "letters")
	if now := a.now(); !oldest.IsZero() {
		text += fmt.Sprintf(", the oldest set aside %s ago, the newest %s ago", age(now.Sub(oldest)), age(now.Sub(newest)))
	}
	d.addAt(at, "dead letter", "note", text, "cartorio dlq list tells why, dlq replay sends them again")
}
