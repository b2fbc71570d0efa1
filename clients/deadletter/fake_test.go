package deadletter_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cartorio-registry/cartorio/clients/deadletter"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// box is a dead letter in memory, and where its messages were sent.
type box struct {
	letters []*deadletter.Letter
	sent    []string
	headers map[string][]validate.Header // of what was sent, by message id
	refuse  map[string]error             // what sending answers, by destination
}

func (b *box) Walk(ctx context.Context, visit func(context.Context, *deadletter.Letter) (deadletter.Fate, error)) error {
	var gone []*deadletter.Letter
	defer func() {
		b.letters = slices.DeleteFunc(b.letters, func(l *deadletter.Letter) bool { return slices.Contains(gone, l) })
	}()
	for _, l := range slices.Clone(b.letters) {
		fate, err := visit(ctx, l)
		if err != nil {
			return err
		}
		switch fate {
		case deadletter.Remove:
			gone = append(gone, l)
		case deadletter.Stop:
			return nil
		case deadletter.Keep:
		}
	}
	return nil
}

func (b *box) Send(_ context.Context, to deadletter.Destination, l *deadletter.Letter) error {
	if err := b.refuse[to.String()]; err != nil {
		return err
	}
	b.sent = append(b.sent, fmt.Sprintf("%s>%s", l.MessageID(), to))
	if b.headers == nil {
		b.headers = map[string][]validate.Header{}
	}
	b.headers[l.MessageID()] = l.Message.Headers
	return nil
}

func (b *box) Put(_ context.Context, l *deadletter.Letter) error {
	b.letters = append(b.letters, l)
	return nil
}

func (b *box) Close() error { return nil }

// letter makes a letter of headers: name, value, name, value.
func letter(id string, headers ...any) *deadletter.Letter {
	l := &deadletter.Letter{Message: validate.Message{Payload: []byte("payload " + id)}}
	l.Message.Headers = append(l.Message.Headers, validate.Header{Name: "messageId", Value: id})
	for i := 0; i+1 < len(headers); i += 2 {
		l.Message.Headers = append(l.Message.Headers, validate.Header{Name: headers[i].(string), Value: headers[i+1]})
	}
	return l
}

func ids(b *box) (list []string) {
	for _, l := range b.letters {
		list = append(list, l.MessageID())
	}
	return list
}

var errAway = errors.New("the broker is away")
