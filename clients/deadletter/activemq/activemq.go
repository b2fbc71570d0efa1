// Package activemq is a dead letter in a queue of ActiveMQ, over STOMP.
//
// Letters are taken without acknowledgement, so what is kept goes back to its
// place when the walk ends, or the process.
package activemq

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-stomp/stomp/v3"
	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Box is a queue.
type Box struct {
	at        brokers.Address
	isBrowser bool
	out       *stomp.Conn // to publish; what is read has a connection of its own
}

var _ deadletter.Box = (*Box)(nil)

// Open makes a box of a queue. It connects when it is used.
func Open(a brokers.Address) *Box { return &Box{at: a} }

// Browse makes a box of a queue whose consumers are at work: none can be removed.
// Letters are copies, handed out to nobody else the less, where the broker can
// browse over STOMP, as ActiveMQ Classic; elsewhere they are away until the walk
// ends.
func Browse(a brokers.Address) *Box { return &Box{at: a, isBrowser: true} }

// errBrowsing says that a browser removes nothing.
var errBrowsing = errors.New("the queue is only looked at")

const (
	dialTime = 30 * time.Second
	// quiet is how long the queue may give nothing before it is taken to have ended:
	// STOMP does not tell how much lies in it.
	quiet = time.Second
	// prefetch is how many letters the broker hands out before the first is settled;
	// kept ones count until the walk ends.
	prefetch = 1_000_000
	// page is how many letters ActiveMQ Classic takes from its store at once. What
	// makes it take the next ones is an acknowledgement, or another consumer.
	page = 200
)

func (b *Box) dial(ctx context.Context) (*stomp.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	var raw net.Conn
	var err error
	if c := b.at.TLSConfig(); c != nil {
		raw, err = (&tls.Dialer{Config: c}).DialContext(ctx, "tcp", b.at.Hosts[0])
	} else {
		raw, err = (&net.Dialer{}).DialContext(ctx, "tcp", b.at.Hosts[0])
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the broker: %w", err)
	}
	// A broker that is not one of STOMP says nothing at all, and the library knows no
	// context.
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	options := []func(*stomp.Conn) error{stomp.ConnOpt.HeartBeat(0, 0), stomp.ConnOpt.Logger(silent{})}
	if b.at.User != "" {
		options = append(options, stomp.ConnOpt.Login(b.at.User, b.at.Password))
	}
	c, err := stomp.Connect(raw, options...)
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("connect to the broker: %w", explain(err))
	}
	return c, nil
}

// refusals and absences are what brokers write into an ERROR frame, in lower case:
// STOMP has no codes. In their order: ActiveMQ Classic about users and about what
// they may do, Artemis likewise, RabbitMQ about users, hosts and queues; then
// RabbitMQ and Artemis about queues that are not there.
var (
	refusals = []string{
		"password is invalid", "not authorized", "unable to validate user", "does not have permission",
		"access refused", "access denied", "access_refused",
	}
	absences = []string{"not_found", "does not exist"}
)

// explain wraps what the broker says with what it means: brokers.ErrRefused or
// brokers.ErrMissing, where it is one of them.
func explain(err error) error {
	var e stomp.Error
	if p := new(stomp.Error); errors.As(err, &p) { // that of a subscription
		e = *p
	} else if !errors.As(err, &e) {
		return err
	}
	if e.Frame == nil || e.Frame.Command != frame.ERROR {
		return err
	}
	text := strings.ToLower(e.Message + "\n" + string(e.Frame.Body))
	says := func(words string) bool { return strings.Contains(text, words) }
	switch {
	case slices.ContainsFunc(refusals, says):
		return fmt.Errorf("%w: %w", brokers.ErrRefused, err)
	case slices.ContainsFunc(absences, says):
		return fmt.Errorf("%w: %w", brokers.ErrMissing, err)
	}
	return err
}

// silent takes what the library would print.
type silent struct{}

func (silent) Debugf(string, ...any)   {}
func (silent) Infof(string, ...any)    {}
func (silent) Warningf(string, ...any) {}
func (silent) Errorf(string, ...any)   {}
func (silent) Debug(string)            {}
func (silent) Info(string)             {}
func (silent) Warning(string)          {}
func (silent) Error(string)            {}

// Walk shows what lies in the queue.
func (b *Box) Walk(ctx context.Context, visit func(context.Context, *deadletter.Letter) (deadletter.Fate, error)) (err error) {
	in, err := b.dial(ctx)
	if err != nil {
		return err
	}
	options := []func(*frame.Frame) error{stomp.SubscribeOpt.Header("activemq.prefetchSize", strconv.Itoa(prefetch))}
	if b.isBrowser {
		// A broker that does not know the header hands out the messages themselves: they
		// go back, since none is acknowledged.
		options = append(options, stomp.SubscribeOpt.Header("browser", "true"))
	}
	s, err := in.Subscribe(destination(b.at.Name), stomp.AckClientIndividual, options...)
	if err != nil {
		_ = in.MustDisconnect()
		return fmt.Errorf("subscribe to %s: %w", b.at.Name, err)
	}
	isBroken := false
	defer func() {
		// The library waits for whoever reads; taking leave has an answer, and all that
		// was acknowledged before is done then.
		go func() {
			for range s.C {
			}
		}()
		if isBroken { // an ERROR ends the connection, and no answer would come
			_ = in.MustDisconnect()
			return
		}
		if left := in.Disconnect(); err == nil && left != nil {
			err = fmt.Errorf("take leave of the broker: %w", left)
		}
	}()
	began := time.Now()
	pages := !b.isBrowser && strings.HasPrefix(in.Server(), "ActiveMQ/")
	for n, knocked := 0, 0; ; n++ {
		if pages && n-knocked == page {
			if knocked, err = n, b.knock(in); err != nil {
				return err
			}
		}
		m, err := next(ctx, s)
		if m == nil && err == nil && pages && n > knocked {
			if knocked, err = n, b.knock(in); err == nil {
				m, err = next(ctx, s)
			}
		}
		isBroken = err != nil && ctx.Err() == nil
		if m == nil || err != nil || b.isBrowser && m.Header.Get("browser") == "end" {
			return err
		}
		// What failed again meanwhile is not looked at a second time.
		l := letterOf(m)
		if l.Time.After(began) && l.Replays() > 0 {
			continue
		}
		fate, err := visit(ctx, l)
		if err != nil {
			return err
		}
		switch fate {
		case deadletter.Remove:
			if b.isBrowser {
				return fmt.Errorf("remove %s: %w", l.ID(), errBrowsing)
			}
			if err := in.Ack(m); err != nil {
				return fmt.Errorf("remove %s: %w", l.ID(), err)
			}
		case deadletter.Stop:
			return nil
		case deadletter.Keep:
		}
	}
}

// knock has the broker take more letters from its store, by a consumer that no
// letter is for and that leaves at once.
func (b *Box) knock(in *stomp.Conn) error {
	s, err := in.Subscribe(destination(b.at.Name), stomp.AckClientIndividual, stomp.SubscribeOpt.Header("selector", "1=2"), stomp.SubscribeOpt.Header("activemq.prefetchSize", "1"))
	if err != nil {
		return fmt.Errorf("ask for more of %s: %w", b.at.Name, err)
	}
	// It waits for an answer, behind letters that nobody reads meanwhile.
	go func() { _ = s.Unsubscribe() }()
	return nil
}

// next waits for a message; nil for none.
func next(ctx context.Context, s *stomp.Subscription) (*stomp.Message, error) {
	t := time.NewTimer(quiet)
	defer t.Stop()
	select {
	case m, ok := <-s.C:
		switch {
		case !ok:
			return nil, errors.New("the broker ended the subscription")
		case m.Err != nil:
			return nil, fmt.Errorf("take a message: %w", explain(m.Err))
		}
		return m, nil
	case <-t.C:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// destination is a queue in STOMP's words.
func destination(name string) string {
	for _, kind := range []string{"queue", "topic"} {
		if rest, ok := strings.CutPrefix(name, kind+"://"); ok {
			return "/" + kind + "/" + rest
		}
		if strings.HasPrefix(name, "/"+kind+"/") {
			return name
		}
	}
	return "/queue/" + name
}

// The headers that a frame has for itself, and those of them that a message keeps
// as properties.
var (
	words = []string{
		"destination", "message-id", "receipt", "receipt-id", "ack", "id", "selector", "subscription", "transaction", "content-length", "content-type",
		"redelivered", "timestamp", "persistent", "expires", "transformation", "transformation-error", "amq-msg-type",
		"scheduledJobId", "originalExpiration", "originalDeliveryMode",
	}
	kept = []string{"correlation-id", "reply-to", "type", "priority"}
)

func letterOf(m *stomp.Message) *deadletter.Letter {
	l := &deadletter.Letter{Properties: map[string]string{}, Message: validate.Message{Destination: m.Destination, ContentType: m.ContentType, Payload: m.Body}}
	if l.Message.Payload == nil {
		l.Message.Payload = []byte{}
	}
	if ms, err := strconv.ParseInt(m.Header.Get("timestamp"), 10, 64); err == nil && ms > 0 {
		l.Time = time.UnixMilli(ms).UTC()
	}
	for i := range m.Header.Len() {
		name, value := m.Header.GetAt(i)
		switch {
		case slices.Contains(kept, name):
			l.Properties[name] = value
		case !slices.Contains(words, name) && !strings.HasPrefix(name, "AMQ_SCHEDULED_"):
			l.Message.Headers = append(l.Message.Headers, validate.Header{Name: name, Value: value})
		}
	}
	return l
}

// Send publishes to where the message came from.
func (b *Box) Send(ctx context.Context, to deadletter.Destination, l *deadletter.Letter) error {
	return b.publish(ctx, to.String(), l)
}

// Put adds a letter to the queue.
func (b *Box) Put(ctx context.Context, l *deadletter.Letter) error {
	return b.publish(ctx, b.at.Name, l)
}

// publish sends a message persistent, and waits for the broker's receipt.
func (b *Box) publish(ctx context.Context, name string, l *deadletter.Letter) error {
	if b.out == nil {
		c, err := b.dial(ctx)
		if err != nil {
			return err
		}
		b.out = c
	}
	options := []func(*frame.Frame) error{stomp.SendOpt.Receipt, stomp.SendOpt.Header("persistent", "true")}
	seen := map[string]bool{}
	set := func(name, value string) {
		if !seen[name] { // the broker would drop the second
			seen[name] = true
			options = append(options, stomp.SendOpt.Header(name, value))
		}
	}
	for _, h := range l.Message.Headers {
		if slices.Contains(words, h.Name) || slices.Contains(kept, h.Name) || h.Name == "" {
			continue
		}
		switch v := h.Value.(type) {
		case nil:
		case []byte:
			set(h.Name, string(v))
		default:
			set(h.Name, fmt.Sprint(v))
		}
	}
	if id := l.MessageID(); id != "" {
		set("messageId", id)
	}
	if key := l.Header("messageKey"); key != "" {
		set("JMSXGroupID", key)
	}
	for _, property := range kept {
		if value := l.Properties[property]; value != "" {
			set(property, value)
		}
	}
	if err := b.out.Send(destination(name), l.Message.ContentType, l.Message.Payload, options...); err != nil {
		// An ERROR frame ends the connection.
		_ = b.out.MustDisconnect()
		b.out = nil
		return fmt.Errorf("publish to %s: %w", name, explain(err))
	}
	return nil
}

// Close ends the connection.
func (b *Box) Close() error {
	if b.out == nil {
		return nil
	}
	if err := b.out.Disconnect(); err != nil && !errors.Is(err, stomp.ErrAlreadyClosed) {
		return fmt.Errorf("take leave of the broker: %w", err)
	}
	return nil
}
