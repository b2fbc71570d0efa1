package activemq_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// partVariable holds, in a process that a crash test started, the part that it
// plays, as JSON.
const partVariable = "CARTORIO_TEST_ACTIVEMQ_PART"

// part is a process that works until it is told to stop, or kills itself at one
// step of one message.
type part struct {
	Play                     string // "consume" or "produce"
	Address, Registry, Queue string
	Effects                  string // the file of what was durably done
	Step, Message            string // where it dies; "" for nowhere
	Scheduled                bool
	Count                    int // messages to produce
}

// die ends the process as kill -9 does.
func die() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	fmt.Fprintln(os.Stderr, "kill this process:", err)
	select {}
}

func (p *part) at(step, message string) {
	if p.Step == step && p.Message == message {
		die()
	}
}

// done appends to the file of effects: what is in it survives the process.
func (p *part) done(what string) error {
	f, err := os.OpenFile(p.Effects, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(what + "\n")
	return errors.Join(err, f.Close())
}

func play(text string) int {
	var p part
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		stopping, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		var client *sr.Client
		if client, err = sr.New(sr.Options{URLs: []string{p.Registry}}); err == nil {
			v := validate.New(client, jsonschema.Format)
			defer v.Close()
			if p.Play == "produce" {
				err = p.produce(stopping, v)
			} else {
				err = p.consume(stopping, v)
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// open is a connection that dies where the part dies.
func (p *part) open(ctx context.Context) (activemq.Conn, error) {
	c, err := activemq.Connect(p.Address, activemq.Options{HeartBeat: time.Second})(ctx)
	if err != nil {
		return nil, err
	}
	return &dying{Conn: c, p: p}, nil
}

// dying is a connection on which the process dies around one message's frame.
type dying struct {
	activemq.Conn
	p      *part
	isNext bool // the message's frame was written, and the next receipt is its
}

func (d *dying) Write(f *frame.Frame) error {
	id := ""
	if f != nil {
		id = f.Header.Get("messageId")
	}
	isIt := f != nil && f.Command == frame.SEND && id == d.p.Message
	if isIt {
		d.p.at("handed over", id)
		d.isNext = true
	}
	err := d.Conn.Write(f)
	switch {
	case isIt:
		d.p.at("on its way", id)
	case d.isNext && f != nil && f.Command == frame.COMMIT:
		d.p.at("committing", d.p.Message)
	}
	return err
}

func (d *dying) Read() (*frame.Frame, error) {
	f, err := d.Conn.Read()
	if err == nil && f.Command == frame.RECEIPT && d.isNext {
		d.p.at("answered", d.p.Message)
	}
	return f, err
}

func (p *part) consume(ctx context.Context, v *validate.Validator) error {
	c, err := activemq.NewConsumer(p.open, v, &validate.Expect{Subject: orders}, func(_ context.Context, d *activemq.Delivery) error {
		id := d.Message.MessageID
		p.at("received", id)
		if p.Scheduled && id == p.Message && d.Attempt == 1 {
			return activemq.Retry(errors.New("busy"), 2*time.Second)
		}
		if err := p.done(d.Message.Key + "/" + id); err != nil {
			return err
		}
		p.at("worked", id)
		return nil
	}, activemq.ConsumerOptions{
		Queue: p.Queue, Keyed: !p.Scheduled, ScheduledRetries: p.Scheduled, Workers: 4, Prefetch: 20, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Observe: func(h activemq.Handled) { p.at(h.Action.String(), h.MessageID) },
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// produce publishes messages in order, each once it is noted that the one before
// was confirmed: what an outbox does.
func (p *part) produce(ctx context.Context, v *validate.Validator) error {
	producer := activemq.NewProducer(p.open, v, validate.Version(orders, 1), activemq.ProducerOptions{})
	defer producer.Close(ctx)
	noted, err := os.ReadFile(p.Effects)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	from := 0
	for _, b := range noted {
		if b == '\n' {
			from++
		}
	}
	for n := from; n < p.Count; n++ {
		id := fmt.Sprintf("%05d", n)
		p.at("not sent", id)
		if err := producer.Publish(ctx, p.Queue, &activemq.Message{MessageID: id, Key: "k" + strconv.Itoa(n%5), Body: []byte(`{"id":1}`)}); err != nil {
			return err
		}
		p.at("confirmed", id)
		if err := p.done(id); err != nil {
			return err
		}
	}
	return nil
}
