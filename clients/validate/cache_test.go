package validate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

func TestOneFlight(t *testing.T) {
	t.Parallel()
	f := newFixture()
	f.gate = make(chan struct{})
	v, _ := open(t, f.shelf, validate.Options{})
	pin := validate.Version(validate.Fixed("orders-value"), 1)
	var wg sync.WaitGroup
	failed := make(chan error, 1000)
	for range 1000 {
		wg.Go(func() {
			if err := v.BeforePublish(ctx, &validate.Message{Payload: text(`{"id":1}`)}, &pin); err != nil {
				failed <- err
			}
		})
	}
	close(f.gate)
	wg.Wait()
	close(failed)
	for err := range failed {
		t.Fatal(err)
	}
	if n := len(f.questions()); n != 1 {
		t.Errorf("1,000 concurrent publishes asked %d times: %q", n, f.questions())
	}
}

func TestTheFirstCallerMayLeave(t *testing.T) {
	t.Parallel()
	f := newFixture()
	f.gate = make(chan struct{})
	v, _ := open(t, f.shelf, validate.Options{})
	pin := validate.Version(validate.Fixed("orders-value"), 1)
	impatient, cancel := context.WithCancel(ctx)
	left := make(chan error)
	go func() {
		left <- v.BeforePublish(impatient, &validate.Message{Payload: text(`{"id":1}`)}, &pin)
	}()
	stayed := make(chan error)
	go func() { stayed <- v.BeforePublish(ctx, &validate.Message{Payload: text(`{"id":1}`)}, &pin) }()
	cancel()
	if err := <-left; !errors.Is(err, validate.ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("the one who left: %v", err)
	}
	close(f.gate)
	if err := <-stayed; err != nil {
		t.Errorf("the one who stayed: %v", err)
	}
}

func TestNotFoundIsRemembered(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, c := open(t, f.shelf, validate.Options{})
	pin := validate.Version(validate.Fixed("orders-value"), 3)
	publish := func() error {
		return v.BeforePublish(ctx, &validate.Message{Payload: text(`{"id":1}`)}, &pin)
	}
	for range 10 {
		if err := publish(); !errors.Is(err, validate.ErrPermanent) {
			t.Fatal(err)
		}
	}
	if n := len(f.questions()); n != 1 {
		t.Errorf("asked %d times", n)
	}
	f.put("orders-value", schemas.JSON, `{}`)
	c.pass(16 * time.Second)
	if err := publish(); err != nil {
		t.Errorf("after 16 s: %v", err)
	}
}

func TestStaleWhileRevalidate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		v := validate.NewWith(f.shelf, validate.Options{}, jsonschema.Format)
		defer v.Close()
		pin := validate.Latest(validate.Fixed("orders-value"), 0)
		version := func() string {
			m := &validate.Message{Payload: text(`{"id":1}`)}
			if err := v.BeforePublish(ctx, m, &pin); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(headerMap(m.Headers)["schemaVersion"])
		}
		if got := version(); got != "2" {
			t.Fatalf("version %s", got)
		}
		f.put("orders-value", schemas.JSON, `{"type":"object"}`)
		time.Sleep(59 * time.Second)
		if got := version(); got != "2" {
			t.Errorf("within a minute: version %s", got)
		}
		time.Sleep(2 * time.Second)
		if got := version(); got != "2" {
			t.Errorf("the old answer serves while it is asked again, not %s", got)
		}
		synctest.Wait()
		if got := version(); got != "3" {
			t.Errorf("afterwards: version %s", got)
		}
		quick := validate.Latest(validate.Fixed("orders-value"), time.Second)
		f.put("orders-value", schemas.JSON, `{"type":"object","title":"x"}`)
		time.Sleep(2 * time.Second)
		m := &validate.Message{Payload: text(`{"id":1}`)}
		if err := v.BeforePublish(ctx, m, &quick); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := version(); got != "4" {
			t.Errorf("a pin that wants it younger: version %s", got)
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	s := newShelf()
	v, c := open(t, s, validate.Options{Cache: 256 << 10})
	e := &validate.Expect{}
	for n := range 100 {
		f := s.put(fmt.Sprintf("s%d", n), schemas.JSON, fmt.Sprintf(`{"type":"object","description":%q}`, strings.Repeat("d", 10_000+n)))
		c.pass(time.Second)
		if o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(f), Payload: text(`{}`)}, e); o.Verdict != validate.Accept {
			t.Fatalf("%s %s (%v)", o.Verdict, o.Reason, o.Err)
		}
	}
	stats := v.Stats()
	if stats.CacheBytes > 256<<10 || stats.Schemas == 0 || stats.Schemas > 25 {
		t.Errorf("%+v", stats)
	}
	n := len(s.questions())
	if o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(s.versions[schemas.ParseSubject("s99")][0]), Payload: text(`{}`)}, e); !o.Cached {
		t.Error("the youngest is gone")
	}
	if len(s.questions()) != n {
		t.Error("the youngest was asked again")
	}
	if o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(s.versions[schemas.ParseSubject("s0")][0]), Payload: text(`{}`)}, e); o.Cached || o.Verdict != validate.Accept {
		t.Errorf("the oldest: cached %v, %s", o.Cached, o.Verdict)
	}
	// One schema beyond the bound is kept all the same.
	small, _ := open(t, s, validate.Options{Cache: 1})
	m := &validate.Message{Headers: stamped(s.versions[schemas.ParseSubject("s1")][0]), Payload: text(`{}`)}
	small.BeforeConsume(ctx, m, e)
	if o := small.BeforeConsume(ctx, m, e); !o.Cached {
		t.Error("a schema beyond the bound is parsed anew for each message")
	}
}

func TestReferencesAreResolved(t *testing.T) {
	t.Parallel()
	s := newShelf()
	s.put("users-value", schemas.Avro, userV1)
	order := s.put("orders-value", schemas.Avro, `{"type":"record","name":"Order","namespace":"acme","fields":[{"name":"buyer","type":"acme.User"}]}`, schemas.Reference{Name: "acme.User", Subject: "users-value", Version: 1})
	v, _ := open(t, s, validate.Options{})
	if o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(order), Payload: []byte{2}}, &validate.Expect{}); o.Verdict != validate.Accept {
		t.Errorf("%s %s (%v)", o.Verdict, o.Reason, o.Err)
	}
}

// One GUID, two meanings: the text is the same and what it refers to is not.
// The message's own subject says which is meant.
func TestReferencesDecideBesideTheGUID(t *testing.T) {
	t.Parallel()
	s := newShelf()
	text := `{"type":"record","name":"Order","namespace":"acme","fields":[{"name":"buyer","type":"acme.User"}]}`
	ref := schemas.Reference{Name: "acme.User", Subject: "users-value", Version: 1}
	s.put("users-value", schemas.Avro, userV1)
	s.put("orders-value", schemas.Avro, text, ref)
	s.put(":.eu:users-value", schemas.Avro, strings.Replace(userV1, "long", "string", 1))
	eu := s.put(":.eu:orders-value", schemas.Avro, text, ref)
	s.put(":.us:users-value", schemas.Avro, strings.Replace(userV1, "long", "boolean", 1))
	alone := s.put(":.us:bills-value", schemas.Avro, strings.Replace(text, "Order", "Bill", 1), ref) // not in the default context at all
	v, _ := open(t, s, validate.Options{})
	for _, tt := range []struct {
		f       schemas.Found
		payload []byte
		headers []validate.Header
	}{
		{eu, []byte{4, 'a', 'b'}, stamped(eu)},
		{eu, []byte{4, 'a', 'b'}, without(stamped(eu), "schemaVersion", "schemaId")},
		{alone, []byte{1}, stamped(alone)},
		{alone, []byte{1}, without(stamped(alone), "schemaVersion", "schemaId")},
	} {
		for range 2 {
			o := v.BeforeConsume(ctx, &validate.Message{Headers: tt.headers, Payload: tt.payload}, &validate.Expect{})
			if o.Verdict != validate.Accept || o.Unverified || o.Version != 1 {
				t.Fatalf("%s: %s %s, version %s (%v)", tt.f.Subject, o.Verdict, o.Reason, o.Version, o.Err)
			}
		}
	}
}

func TestWarm(t *testing.T) {
	t.Parallel()
	orders := validate.Fixed("orders-value")
	for _, tt := range []struct {
		name string
		e    validate.Expect
		dest string
		ok   bool
	}{
		{"everything", validate.Expect{Subject: orders, Reads: validate.MustReads("1..2")}, "", true},
		{"open end", validate.Expect{Subject: orders, Reads: validate.MustReads("2..")}, "", true},
		{"by destination", validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads("1..2")}, "orders", true},
		{"a bound that is not there", validate.Expect{Subject: orders, Reads: validate.MustReads("1..3")}, "", false},
		{"allowed future", validate.Expect{Subject: orders, Reads: validate.MustReads("1..3"), AllowFuture: true}, "", true},
		{"a reader that is not there", validate.Expect{Subject: orders, Reader: 7}, "", false},
		{"an unknown subject", validate.Expect{Subject: validate.Fixed("nobody")}, "", false},
		{"by type", validate.Expect{Subject: validate.ByType()}, "", true},
		{"reader without a subject", validate.Expect{Reader: 1}, "", false},
		{"passing what says nothing", validate.Expect{Pass: []validate.Reason{validate.RegistryUnreachable}}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture()
			v, _ := open(t, f.shelf, validate.Options{})
			if err := v.Warm(ctx, &tt.e, tt.dest); (err == nil) != tt.ok {
				t.Errorf("Warm = %v", err)
			}
		})
	}
	f := newFixture()
	v, _ := open(t, f.shelf, validate.Options{})
	e := &validate.Expect{Subject: orders, Reads: validate.MustReads("1..2")}
	pin := validate.Version(orders, 1)
	if err := errors.Join(v.Warm(ctx, e, ""), v.WarmPin(ctx, &pin, "")); err != nil {
		t.Fatal(err)
	}
	f.fail(schemas.ErrUnreachable)
	for _, found := range []schemas.Found{f.order1, f.order2} {
		if o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(found), Payload: text(`{"id":1}`)}, e); o.Verdict != validate.Accept || o.Unverified {
			t.Errorf("warmed up, then down: %s %s (%v)", o.Verdict, o.Reason, o.Err)
		}
	}
	cold, _ := open(t, f.shelf, validate.Options{})
	if err := cold.Warm(ctx, e, ""); !errors.Is(err, validate.ErrUnavailable) {
		t.Errorf("down: %v", err)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	f := newFixture()
	var got []validate.Event
	v, _ := open(t, f.shelf, validate.Options{Observe: func(e validate.Event) { got = append(got, e) }})
	pin := validate.Version(validate.Fixed("orders-value"), 1)
	m := &validate.Message{Payload: text(`{"id":1}`)}
	if err := v.BeforePublish(ctx, m, &pin); err != nil {
		t.Fatal(err)
	}
	v.BeforeConsume(ctx, m, &validate.Expect{})
	v.BeforeConsume(ctx, &validate.Message{Payload: text(`{}`)}, &validate.Expect{Pass: []validate.Reason{validate.HeaderMissing}})
	bad := &validate.Message{Payload: text(`{}`)}
	_ = v.BeforePublish(ctx, bad, &pin)
	want := []string{
		"publish accept  orders-value 1 8 false", "consume accept  orders-value 1 8 false",
		"consume reject header_missing  0 2 true", "publish reject payload_invalid orders-value 1 2 false",
	}
	for i, e := range got {
		if s := fmt.Sprintf("%s %s %s %s %d %d %v", e.Side, e.Verdict, e.Reason, e.Subject, e.Version, e.Bytes, e.Passed); s != want[i] {
			t.Errorf("event %d: %q, want %q", i, s, want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d events", len(got))
	}
}

// Reading on while an old answer is renewed starts one question, not one each.
func TestRenewalIsOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		v := validate.NewWith(f.shelf, validate.Options{}, jsonschema.Format)
		defer v.Close()
		pin := validate.Latest(validate.Fixed("orders-value"), 0)
		publish := func() {
			if err := v.BeforePublish(ctx, &validate.Message{Payload: text(`{"id":1}`)}, &pin); err != nil {
				t.Fatal(err)
			}
		}
		publish()
		time.Sleep(2 * time.Minute)
		gate := make(chan struct{})
		f.mu.Lock()
		f.gate = gate
		f.mu.Unlock()
		for range 100 {
			publish()
		}
		synctest.Wait()
		if n := len(f.questions()); n != 2 {
			t.Errorf("asked %d times", n)
		}
		close(gate)
	})
}

func TestClosedValidatorStillAnswers(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, c := open(t, f.shelf, validate.Options{})
	m := &validate.Message{Headers: stamped(f.order1), Payload: text(`{"id":1}`)}
	e := &validate.Expect{}
	v.BeforeConsume(ctx, m, e)
	v.Close()
	v.Close()
	c.pass(time.Hour)
	if o := v.BeforeConsume(ctx, m, e); o.Verdict != validate.Accept {
		t.Errorf("what it knows: %s %s", o.Verdict, o.Reason)
	}
}

// TestBindingsExpireByTheMachinesClock shows that what is known of a version is
// asked again after its time without a clock of the caller's.
func TestBindingsExpireByTheMachinesClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		v := validate.New(f.shelf, formats()...)
		defer v.Close()
		e := &validate.Expect{Subject: validate.Fixed("orders-value")}
		judge := func() int {
			before := len(f.questions())
			if o := v.BeforeConsume(ctx, &validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: "1"}}, Payload: text(`{"id":1}`)}, e); o.Verdict != validate.Accept {
				t.Fatal(o.Err)
			}
			synctest.Wait()
			return len(f.questions()) - before
		}
		for i, want := range []int{1, 0, 0} {
			if n := judge(); n != want {
				t.Errorf("message %d: %d questions, want %d", i, n, want)
			}
		}
		time.Sleep(9 * time.Minute) // of the bubble's clock
		if n := judge(); n != 0 {
			t.Errorf("%d questions before its time", n)
		}
		time.Sleep(2 * time.Minute)
		if n := judge(); n != 1 {
			t.Errorf("%d questions after its time", n)
		}
	})
}
