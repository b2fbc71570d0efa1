package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// pipeline reads orders and writes invoices. What it writes (invoices, and dead
// letters with their reasons) and how far it has read become visible together, or
// not at all.
type pipeline struct {
	name     string // the topic of orders, and the stem of the others
	sess     *kgo.GroupTransactSession
	v        *validate.Validator
	expect   *validate.Expect
	invoices *kafka.Producer
	// at is called between the steps; the tests kill the process there.
	at func(step string)
}

// newPipeline makes one whose transactional id and membership outlive the process:
// a successor ends what a killed one left open, and takes its partitions at once.
// Two pipelines at the same time need a name each.
func newPipeline(broker, name string, v *validate.Validator) (*pipeline, error) {
	sess, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(broker), kgo.ConsumerGroup(name+".invoicing"), kgo.InstanceID("one"), kgo.ConsumeTopics(name),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(500*time.Millisecond),
		kgo.TransactionalID(name+".invoicing.one"), kgo.TransactionTimeout(30*time.Second), kgo.ProducerLinger(0),
	)
	if err != nil {
		return nil, fmt.Errorf("open a session of transactions: %w", err)
	}
	// A producer only needs something to produce with: within a session its messages
	// are of the transaction.
	invoices, err := kafka.NewProducer(sess, v, validate.Version(validate.ByDestination(), 1), kafka.ProducerOptions{})
	if err != nil {
		return nil, err
	}
	return &pipeline{
		name: name, sess: sess, v: v, invoices: invoices, at: func(string) {},
		expect: &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads("1..2")},
	}, nil
}

// errHeld is the answer about a batch that cannot be judged now. It says nothing
// about its messages.
var errHeld = errors.New("the registry cannot be asked")

// run turns batches into transactions until ctx ends.
func (p *pipeline) run(ctx context.Context) error {
	for {
		fetches := p.sess.PollRecords(ctx, 50)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was told to stop
		}
		if err := fetches.Err(); err != nil {
			return fmt.Errorf("read orders: %w", err)
		}
		if fetches.Empty() {
			continue
		}
		if err := p.transact(ctx, fetches.Records()); err != nil {
			return err
		}
	}
}

// transact works on a batch in one transaction. A batch that is held, or whose
// partitions went to another member meanwhile, is given up, and comes again: the
// session goes back to where the group has read.
func (p *pipeline) transact(ctx context.Context, batch []*kgo.Record) error {
	if err := p.sess.Begin(); err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	worked := p.work(ctx, batch)
	p.at("produced")
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if _, err := p.sess.End(ending, kgo.TransactionEndTry(worked == nil)); err != nil {
		return fmt.Errorf("end a transaction: %w", err)
	}
	p.at("ended")
	switch {
	case ctx.Err() != nil:
		return nil
	case !errors.Is(worked, errHeld): // nil, too
		return worked
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
	return nil
}

// work judges and handles each order of a batch, in order.
func (p *pipeline) work(ctx context.Context, batch []*kgo.Record) error {
	for _, r := range batch {
		m := messageOf(r)
		o := p.v.BeforeConsume(ctx, &m, p.expect)
		var err error
		switch o.Verdict {
		case validate.Hold:
			return fmt.Errorf("%w: %w", errHeld, o.Err)
		case validate.Reject:
			err = p.setAside(ctx, r, m, validate.DeadLetter{Reason: o.Reason, Err: o.Err, Violations: o.Violations})
		default:
			err = p.invoice(ctx, r, m, o.Payload)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// invoice writes the invoice of an order, which is validated like any message. Its
// id is made of the order's, so that it is the same whoever writes it.
func (p *pipeline) invoice(ctx context.Context, r *kgo.Record, m validate.Message, payload []byte) error {
	var order struct{ ID int }
	if err := json.Unmarshal(payload, &order); err != nil {
		return fmt.Errorf("read the order %s: %w", m.MessageID, err)
	}
	err := p.invoices.Publish(ctx, &kgo.Record{
		Topic: p.name + ".invoices", Key: r.Key, Value: fmt.Appendf(nil, `{"order":%d}`, order.ID),
		Headers: []kgo.RecordHeader{{Key: "messageId", Value: []byte(m.MessageID + "-invoice")}},
	})
	var refused *validate.Error
	switch {
	case errors.As(err, &refused) && errors.Is(err, validate.ErrPermanent):
		return p.setAside(ctx, r, m, validate.DeadLetter{Reason: validate.HandlerRejected, Err: err})
	case errors.As(err, &refused):
		return fmt.Errorf("%w: %w", errHeld, err)
	}
	return err
}

// setAside writes a dead letter within the transaction. It is not validated: what
// is refused once would be refused again.
func (p *pipeline) setAside(ctx context.Context, r *kgo.Record, m validate.Message, d validate.DeadLetter) error {
	d.Attempts, d.FailedAt = 1, p.v.Now()
	d.Destination, d.Partition, d.Offset = r.Topic, strconv.Itoa(int(r.Partition)), strconv.FormatInt(r.Offset, 10)
	d.Timestamp, d.Consumer, d.Expected = strconv.FormatInt(r.Timestamp.UnixMilli(), 10), p.name+".invoicing", p.expect.Expected()
	dead := &kgo.Record{Topic: p.name + ".dead", Key: r.Key, Value: r.Value}
	for _, h := range d.Headers(m.Headers, 0) {
		switch v := h.Value.(type) {
		case []byte:
			dead.Headers = append(dead.Headers, kgo.RecordHeader{Key: h.Name, Value: v})
		case string:
			dead.Headers = append(dead.Headers, kgo.RecordHeader{Key: h.Name, Value: []byte(v)})
		}
	}
	if err := p.sess.ProduceSync(ctx, dead).FirstErr(); err != nil {
		return fmt.Errorf("set the order %s aside: %w", m.MessageID, err)
	}
	return nil
}

// messageOf is a record as a validator sees it.
func messageOf(r *kgo.Record) validate.Message {
	m := validate.Message{Destination: r.Topic, Payload: r.Value}
	for _, h := range r.Headers {
		m.Headers = append(m.Headers, validate.Header{Name: h.Key, Value: h.Value})
		if h.Key == "messageId" {
			m.MessageID = string(h.Value)
		}
	}
	return m
}
