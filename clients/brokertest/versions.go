package brokertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Opened is a place of a test and its registry, which has no schema yet.
type Opened func(t *testing.T) (Away, *Registry)

// Judged is what a consumer was handed.
type Judged struct {
	ID            string
	IsRedelivered bool
	Outcome       validate.Outcome
}

// collect consumes into a channel.
func collect(at Away, v *validate.Validator, e *validate.Expect, room int) <-chan Judged {
	got := make(chan Judged, room)
	at.Consume(v, e, func(one Judged) { got <- one })
	return got
}

// Versions has a consumer meet versions that come late (C4), that are retired
// (C11), that are unknown for good (C5) and that are translated (C9), and a
// message of no bytes that is a payload (C10).
func (w *Workshop) Versions(t *testing.T, open Opened) {
	t.Run("late and retired", func(t *testing.T) {
		t.Parallel()
		at, registry := open(t)
		registry.RegisterOrders()
		got := collect(at, registry.Validator(validate.Options{Grace: time.Minute}), &validate.Expect{Subject: Orders}, 2)
		asked := registry.Asked()
		at.Put(Message{ID: "late", Version: 2, Body: `{"id":1}`})
		Await(t, "the registry is asked for it", func() bool { return registry.Asked() > asked+3 })
		two := registry.Register("orders-value", schemas.JSON, OrderV2)
		if one := Next(t, got); one.ID != "late" || one.Outcome.Version != 2 || one.Outcome.GUID != two.GUID {
			t.Errorf("%+v", one)
		}
		three := registry.Register("orders-value", schemas.JSON, `{"type":"object","title":"three"}`)
		if _, err := registry.Client.DeleteVersion(t.Context(), three.Subject, three.Version, false); err != nil {
			t.Fatal(err)
		}
		at.Put(Message{ID: "retired", Version: 3, Body: `{"id":1}`})
		if one := Next(t, got); one.ID != "retired" || !one.Outcome.Retired || one.Outcome.Reason != validate.VersionRetired {
			t.Errorf("%+v", one)
		}
		if dead := at.Dead(); len(dead) != 0 {
			t.Errorf("set aside: %v", dead)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		at, registry := open(t)
		registry.RegisterOrders()
		got := collect(at, registry.Validator(validate.Options{Grace: time.Second}), &validate.Expect{Subject: Orders}, 1)
		at.Put(Message{ID: "unknown", Version: 9, Body: `{"id":1}`}, Message{ID: "next", Body: `{"id":1}`})
		if one := Next(t, got); one.ID != "next" {
			t.Errorf("%+v", one)
		}
		dead := awaitDead(t, at, 1)
		if dead[0].ID != "unknown" || dead[0].Reason != "version_unknown" {
			t.Errorf("set aside: %v", dead)
		}
	})
	t.Run("translated", func(t *testing.T) {
		t.Parallel()
		at, registry := open(t)
		for _, text := range []string{`{"required":["a"]}`, `{"required":["b"]}`, `{"required":["c"],"properties":{"c":{"type":"integer"}}}`} {
			registry.Register("orders-value", schemas.JSON, text)
		}
		rename := func(from, to string) func([]byte) ([]byte, error) {
			return func(doc []byte) ([]byte, error) {
				if strings.Contains(string(doc), "fail") {
					return nil, errors.New("it cannot be told")
				}
				return []byte(strings.Replace(string(doc), from, to, 1)), nil
			}
		}
		e := &validate.Expect{Subject: Orders, Reads: validate.MustReads("3"), Steps: []validate.Step{validate.Translate(1, 2, rename(`"a"`, `"b"`)), validate.Translate(2, 3, rename(`"b"`, `"c"`))}}
		got := collect(at, registry.Validator(validate.Options{}), e, 3)
		at.Put(
			Message{Version: 1, Body: `{"a":1}`}, Message{Version: 2, Body: `{"b":2}`}, Message{Version: 3, Body: `{"c":3}`},
			Message{Version: 1, Body: `{"a":"fail"}`}, Message{Version: 1, Body: `{"a":"text"}`},
		)
		for n, want := range []string{`{"c":1}`, `{"c":2}`, `{"c":3}`} {
			o := Next(t, got).Outcome
			if string(o.Payload) != want || o.Version != 3 || (n < 2) != (o.TranslatedFrom == schemas.Version(n+1)) {
				t.Errorf("%s: %+v", o.Payload, o)
			}
		}
		var dead []string
		for _, m := range awaitDead(t, at, 2) {
			dead = append(dead, m.Reason+" "+m.Body)
		}
		if text := strings.Join(dead, ", "); text != `translation_failed {"a":"fail"}, translation_failed {"a":"text"}` {
			t.Errorf("set aside: %s", text)
		}
	})
	t.Run("no bytes", func(t *testing.T) {
		t.Parallel()
		at, registry := open(t)
		registry.Register("orders-value", schemas.Protobuf, "syntax = \"proto3\";\nmessage Order { int64 id = 1; }\n")
		got := collect(at, registry.Validator(validate.Options{}), &validate.Expect{Subject: Orders, Value: true}, 1)
		at.Put(Message{ID: "empty"})
		if o := Next(t, got).Outcome; o.Tombstone || o.Payload == nil || len(o.Payload) != 0 || o.Value == nil {
			t.Errorf("%+v", o)
		}
	})
}

// awaitDead waits for so many dead letters.
func awaitDead(t *testing.T, at Away, n int) (dead []Message) {
	t.Helper()
	Await(t, fmt.Sprintf("%d dead letters", n), func() bool {
		dead = at.Dead()
		return len(dead) >= n
	})
	if len(dead) > n {
		t.Errorf("%d set aside: %v", len(dead), dead)
	}
	return dead
}

// Publishing has a producer refuse what is invalid, before the broker sees it
// (P1), and ask the registry once for a thousand messages of a new version (P8).
func (w *Workshop) Publishing(t *testing.T, open Opened) {
	t.Helper()
	at, registry := open(t)
	registry.RegisterOrders()
	publish := at.Publisher(registry.Validator(validate.Options{}), validate.Version(Orders, 1))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, body := range []string{`{"id":"x"}`, `{`} {
		var refused *validate.Error
		if err := publish(ctx, Message{ID: "bad", Body: body}); !errors.As(err, &refused) || !errors.Is(err, validate.ErrPermanent) || len(refused.Violations) == 0 && refused.Reason == validate.PayloadInvalid {
			t.Errorf("%s: %v", body, err)
		}
	}
	if list := at.Lying(); len(list) != 0 {
		t.Errorf("the broker has %v", list)
	}
	registry.Register("orders-value", schemas.JSON, OrderV2)
	publish = at.Publisher(registry.Validator(validate.Options{}), validate.Version(Orders, 2))
	const n = 1000
	asked := registry.Asked()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := publish(ctx, Message{ID: fmt.Sprintf("%05d", i), Body: `{"id":1}`}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := registry.Asked() - asked; got != 1 {
		t.Errorf("%d publishes of a new version asked the registry %d times", n, got)
	}
	// ActiveMQ shows no more than the first of a queue.
	const shown = 400
	if list := at.Lying(); len(list) != n && len(list) != shown || Distinct(entries(list)) != len(list) {
		t.Errorf("%d of %d messages are there", len(list), n)
	}
}
