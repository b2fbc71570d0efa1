package validate_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

type traceKey struct{}

// notebook is an Observer that writes down what it is told.
type notebook struct {
	mu   sync.Mutex
	told []string
}

func (n *notebook) note(ctx context.Context, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if trace, ok := ctx.Value(traceKey{}).(string); ok {
		text += " in " + trace
	}
	n.told = append(n.told, text)
}

func (n *notebook) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	told := n.told
	n.told = nil
	return told
}

func (n *notebook) Decided(ctx context.Context, e *validate.Event) {
	n.note(ctx, fmt.Sprintf("%s %s %s%s %s %s", e.Side, e.Verdict, e.Reason, e.Destination, e.Subject, e.Version))
}

func (n *notebook) Delivered(ctx context.Context, d *validate.Delivery) {
	n.note(ctx, "delivered "+d.Action)
}

func (n *notebook) Asked(ctx context.Context, a *validate.Asked) {
	n.note(ctx, "asked "+a.Kind+" "+a.Result)
}

func (n *notebook) Held(ctx context.Context, change int) {
	n.note(ctx, fmt.Sprintf("held %+d", change))
}

// tracer carries a trace in the header trace.
type tracer struct{ notebook }

func (t *tracer) Carry(ctx context.Context) []validate.Header {
	if trace, ok := ctx.Value(traceKey{}).(string); ok {
		return []validate.Header{{Name: "trace", Value: trace}}
	}
	return nil
}

func (t *tracer) Extract(ctx context.Context, headers []validate.Header) context.Context {
	for _, h := range headers {
		if h.Name == "trace" {
			return context.WithValue(ctx, traceKey{}, h.Value)
		}
	}
	return ctx
}

func TestObserver(t *testing.T) {
	t.Parallel()
	f := newFixture()
	first, second := &notebook{}, &tracer{}
	v, _ := open(t, f.shelf, validate.Options{Observer: validate.Observers(first, nil, second)})
	pin := validate.Version(validate.Fixed("orders-value"), 1)
	m := &validate.Message{Destination: "orders", Payload: text(`{"id":1}`)}
	traced := context.WithValue(ctx, traceKey{}, "t-1")
	if err := v.BeforePublish(traced, m, &pin); err != nil {
		t.Fatal(err)
	}
	again := append([]validate.Header(nil), m.Headers...)
	if err := v.BeforePublish(context.WithValue(ctx, traceKey{}, "t-2"), m, &pin); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(again, m.Headers); d != "" {
		t.Errorf("stamping again changes the trace: %s", d)
	}
	second.take()
	v.BeforeConsume(ctx, m, &validate.Expect{Subject: validate.Fixed("orders-value")})
	f.fail(schemas.ErrRefused)
	v.BeforeConsume(ctx, &validate.Message{Destination: "users", Headers: []validate.Header{{Name: "schemaId", Value: "3"}}, Payload: []byte{2}}, &validate.Expect{})
	v.Delivered(ctx, m.Headers, &validate.Delivery{Action: "acknowledged"})
	v.Held(ctx, 1)
	v.Held(ctx, -1)
	want := []string{
		"consume accept orders orders-value 1 in t-1", "asked id registry_refused", "consume hold registry_refusedusers  0",
		"delivered acknowledged in t-1", "held +1", "held -1",
	}
	if d := cmp.Diff(want, second.take()); d != "" {
		t.Error(d)
	}
	if told := first.take(); len(told) != len(want)+3 || told[0] != "asked version answered in t-1" {
		t.Errorf("the other was told %q", told)
	}
	if got := v.Context(ctx, m.Headers).Value(traceKey{}); got != "t-1" {
		t.Errorf("the handler's context holds %v", got)
	}
}

func TestInOrder(t *testing.T) {
	t.Parallel()
	bundle, registry := newShelf(), newShelf()
	one := bundle.put("orders-value", schemas.JSON, orderV1)
	registry.put("orders-value", schemas.JSON, orderV1)
	two := registry.put("orders-value", schemas.JSON, orderV2)
	l := validate.InOrder(bundle, registry)
	if f, err := l.ByVersion(ctx, one.Subject, 1); err != nil || f.GUID != one.GUID || len(registry.questions()) != 0 {
		t.Errorf("version 1 is %v, %v, and the registry was asked %q", f.GUID, err, registry.questions())
	}
	if f, err := l.ByVersion(ctx, one.Subject, 2); err != nil || f.GUID != two.GUID {
		t.Errorf("version 2 is %v, %v", f.GUID, err)
	}
	if f, err := l.Latest(ctx, one.Subject); err != nil || f.Version != 2 {
		t.Errorf("the latest is %v, %v: the registry knows better than a bundle", f.Version, err)
	}
	if _, err := l.ByGUID(ctx, schemas.GUID{1}); !errors.Is(err, schemas.ErrSchemaUnknown) {
		t.Errorf("nobody knows it: %v", err)
	}
	if f, err := l.BySource(ctx, one.Subject, one.Source); err != nil || f.Version != 1 {
		t.Errorf("by its text: %v, %v", f.Version, err)
	}
	registry.fail(schemas.ErrUnreachable)
	if f, err := l.Latest(ctx, one.Subject); err != nil || f.Version != 1 {
		t.Errorf("the latest in an outage is %v, %v", f.Version, err)
	}
	if f, err := l.ByID(ctx, one.ID); err != nil || f.GUID != one.GUID {
		t.Errorf("an id in an outage is %v, %v", f.GUID, err)
	}
	if _, err := l.ByVersion(ctx, one.Subject, 2); !errors.Is(err, schemas.ErrUnreachable) {
		t.Errorf("what the bundle has not, in an outage: %v", err)
	}
	if _, err := validate.InOrder().Latest(ctx, one.Subject); !errors.Is(err, schemas.ErrSubjectUnknown) {
		t.Errorf("no lookup at all: %v", err)
	}
	// A list knows foreign identities when one of its lookups does.
	if _, ok := l.(validate.ForeignLookup); ok {
		t.Error("two lookups that know none know foreign identities")
	}
	known := &foreignShelf{shelf: registry, knows: map[string]schemas.Found{"azure schemaId 0123456789abcdef0123456789abcdef": two}}
	v, _ := open(t, validate.InOrder(bundle, known), validate.Options{})
	o := v.BeforeConsume(ctx, &validate.Message{Headers: []validate.Header{{Name: "schemaId", Value: "0123456789abcdef0123456789abcdef"}}, Payload: text(`{"id":1}`)}, &validate.Expect{})
	if o.Verdict != validate.Accept || o.GUID != two.GUID {
		t.Errorf("%s %s: %v", o.Verdict, o.Reason, o.Err)
	}
}

// foreignShelf knows identities of other products, by their text.
type foreignShelf struct {
	*shelf
	knows map[string]schemas.Found
}

func (s *foreignShelf) ByForeign(_ context.Context, f framing.Foreign) (schemas.Found, error) {
	if found, ok := s.knows[f.String()]; ok {
		return found, nil
	}
	return schemas.Found{}, schemas.ErrSchemaUnknown
}

// reports is a Reporter that keeps what it is told.
type reports struct {
	mu   sync.Mutex
	fail error
	got  []schemas.Readership
}

func (r *reports) ReportReadership(_ context.Context, one schemas.Readership) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return r.fail
	}
	r.got = append(r.got, one)
	return nil
}

func (r *reports) refuse(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = err
}

func (r *reports) take() []schemas.Readership {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = nil
	return got
}

func TestReadershipIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, sink := newFixture(), &reports{}
		v := validate.NewWith(f.shelf, validate.Options{Readership: sink, Environment: "prod", Grace: time.Nanosecond}, formats()...)
		e := &validate.Expect{Subject: validate.Fixed("orders-value"), Reads: validate.MustReads("1"), Reader: 1, Consumer: "billing"}
		quiet := &validate.Expect{Subject: validate.Fixed("orders-value")}
		if err := v.Warm(ctx, e, ""); err != nil {
			t.Fatal(err)
		}
		wait := func() []schemas.Readership {
			time.Sleep(time.Minute) // of the bubble's clock
			synctest.Wait()
			return sink.take()
		}
		read := schemas.SubjectRead{Subject: f.order1.Subject, Accepts: "1", Pinned: 1}
		want := func(r schemas.SubjectRead) []schemas.Readership {
			return []schemas.Readership{{Consumer: "billing", Environment: "prod", Reads: []schemas.SubjectRead{r}}}
		}
		if d := cmp.Diff(want(read), wait()); d != "" {
			t.Errorf("declared only: %s", d)
		}
		began := time.Now().UTC()
		for _, m := range []validate.Message{
			{Headers: stamped(f.order1), Payload: text(`{"id":1}`)},
			{Headers: stamped(f.order1), Payload: text(`{"id":2}`)},
			{Headers: stamped(f.order1), Payload: text(`{}`)},
			{Headers: stamped(f.order2), Payload: text(`{"id":1}`)},               // not declared: it would break
			{Headers: with(nil, "schemaSubject", "x"), Payload: text(`{}`)},       // no identity: no version
			{Headers: with(nil, "schemaGuid", "junk"), Payload: text(`{"id":1}`)}, // nor this
		} {
			v.BeforeConsume(ctx, &m, e)
			v.BeforeConsume(ctx, &m, quiet)
		}
		sink.refuse(errors.New("not now"))
		if got := wait(); len(got) != 0 {
			t.Errorf("taken although it was refused: %v", got)
		}
		sink.refuse(nil)
		counted := read
		counted.Versions, counted.Seen, counted.Accepted, counted.Rejected = []schemas.Version{1, 2}, began, 2, 2
		if d := cmp.Diff(want(counted), wait()); d != "" {
			t.Errorf("counted: %s", d)
		}
		idle := read
		idle.Seen = began
		if d := cmp.Diff(want(idle), wait()); d != "" {
			t.Errorf("nothing new: %s", d)
		}
		v.BeforeConsume(ctx, &validate.Message{Headers: stamped(f.order1), Payload: text(`{"id":1}`)}, e)
		v.Close()
		last := read
		last.Versions, last.Accepted, last.Seen = []schemas.Version{1}, 1, time.Now().UTC()
		if d := cmp.Diff(want(last), sink.take()); d != "" {
			t.Errorf("at the end: %s", d)
		}
	})
}
