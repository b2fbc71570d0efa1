package validate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

func TestUnknownHasAGrace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		headers []validate.Header
		reason  validate.Reason
	}{
		{"version", []validate.Header{{Name: "schemaSubject", Value: "orders-value"}, {Name: "schemaVersion", Value: "3"}}, validate.VersionUnknown},
		{"subject", []validate.Header{{Name: "schemaSubject", Value: "nobody"}, {Name: "schemaVersion", Value: "1"}}, validate.SubjectUnknown},
		{"guid", []validate.Header{{Name: "schemaGuid", Value: schemas.GUID{1: 1}.String()}}, validate.SchemaUnknown},
		{"id", []validate.Header{{Name: "schemaId", Value: "999"}}, validate.SchemaUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture()
			v, c := open(t, f.shelf, validate.Options{})
			e := &validate.Expect{}
			m := &validate.Message{Headers: tt.headers, Payload: text(`{"id":1}`)}
			for range 15 {
				if o := v.BeforeConsume(ctx, m, e); o.Verdict != validate.Hold || o.Reason != tt.reason {
					t.Fatalf("%s %s (%v)", o.Verdict, o.Reason, o.Err)
				}
				c.pass(2 * time.Second)
			}
			if n := len(f.questions()); n < 10 {
				t.Errorf("asked %d times in 30 s: the negative cache was not passed", n)
			}
			if o := v.BeforeConsume(ctx, m, e); o.Verdict != validate.Reject || o.Reason != tt.reason {
				t.Fatalf("after the grace: %s %s", o.Verdict, o.Reason)
			}
			n := len(f.questions())
			for range 5 {
				if o := v.BeforeConsume(ctx, m, e); o.Verdict != validate.Reject {
					t.Fatalf("a second grace: %s", o.Verdict)
				}
				c.pass(time.Second)
			}
			if more := len(f.questions()) - n; more > 0 {
				t.Errorf("asked %d times more within the negative cache's time", more)
			}
		})
	}
}

func TestRegisteredDuringTheGrace(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, c := open(t, f.shelf, validate.Options{})
	e := &validate.Expect{Subject: validate.Fixed("orders-value")}
	m := &validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: "3"}}, Payload: text(`{"id":1}`)}
	if o := v.BeforeConsume(ctx, m, e); o.Verdict != validate.Hold {
		t.Fatalf("%s %s", o.Verdict, o.Reason)
	}
	f.put("orders-value", schemas.JSON, `{"type":"object"}`)
	c.pass(2 * time.Second)
	if o := v.BeforeConsume(ctx, m, e); o.Verdict != validate.Accept || o.Version != 3 {
		t.Fatalf("%s %s (%v)", o.Verdict, o.Reason, o.Err)
	}
}

func TestGracesAreBounded(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, c := open(t, f.shelf, validate.Options{})
	e := &validate.Expect{Subject: validate.Fixed("orders-value")}
	held := 0
	for n := range 50 {
		m := &validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: fmt.Sprint(100 + n)}}, Payload: text(`{}`)}
		if v.BeforeConsume(ctx, m, e).Verdict == validate.Hold {
			held++
		}
	}
	if held != 5 {
		t.Errorf("%d graces in a minute, want 5", held)
	}
	c.pass(time.Minute)
	m := &validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: "500"}}, Payload: text(`{}`)}
	if o := v.BeforeConsume(ctx, m, e); o.Verdict != validate.Hold {
		t.Errorf("a minute later: %s", o.Verdict)
	}
}

func TestRegistryTroubleHolds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err    error
		reason validate.Reason
		alarm  bool
	}{
		{schemas.ErrUnreachable, validate.RegistryUnreachable, false},
		{schemas.ErrRefused, validate.RegistryRefused, true},
		{schemas.ErrUnintelligible, validate.RegistryUnintelligible, true},
		{errors.New("anything else"), validate.RegistryUnreachable, false},
	} {
		t.Run(tt.reason.String(), func(t *testing.T) {
			t.Parallel()
			f := newFixture()
			f.fail(tt.err)
			v, c := open(t, f.shelf, validate.Options{})
			e := &validate.Expect{}
			m := &validate.Message{Headers: stamped(f.order1), Payload: text(`{"id":1}`)}
			for range 100 {
				o := v.BeforeConsume(ctx, m, e)
				if o.Verdict != validate.Hold || o.Reason != tt.reason || o.Reason.Alarms() != tt.alarm || o.Err == nil {
					t.Fatalf("%s %s (%v)", o.Verdict, o.Reason, o.Err)
				}
				c.pass(time.Second)
			}
			if n := len(f.questions()); n > 12 {
				t.Errorf("asked %d times in 100 s of outage: no circuit", n)
			}
			if v.Stats().Outage == 0 {
				t.Error("the outage is not told")
			}
			f.fail(nil)
			c.pass(30 * time.Second)
			if o := v.BeforeConsume(ctx, m, e); o.Verdict != validate.Accept {
				t.Fatalf("afterwards: %s %s (%v)", o.Verdict, o.Reason, o.Err)
			}
			if v.Stats().Outage != 0 {
				t.Error("the outage does not end")
			}
		})
	}
}

func TestUnparsableHolds(t *testing.T) {
	t.Parallel()
	s := newShelf()
	broken := s.put("a", schemas.Avro, `{"type":"nonsense"}`)
	dangling := s.put("b", schemas.Avro, `{"type":"record","name":"R","fields":[{"name":"f","type":"X"}]}`, schemas.Reference{Name: "X", Subject: "nobody", Version: 1})
	v, _ := open(t, s, validate.Options{})
	for _, f := range []schemas.Found{broken, dangling} {
		o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(f), Payload: []byte{2}}, &validate.Expect{})
		if o.Verdict != validate.Hold || o.Reason != validate.SchemaUnparsable || !o.Reason.Alarms() {
			t.Errorf("%s: %s %s (%v)", f.Subject, o.Verdict, o.Reason, o.Err)
		}
	}
	bare := validate.New(s)
	t.Cleanup(bare.Close)
	o := bare.BeforeConsume(ctx, &validate.Message{Headers: stamped(broken), Payload: []byte{2}}, &validate.Expect{})
	if o.Verdict != validate.Hold || o.Reason != validate.SchemaUnparsable || !strings.Contains(o.Err.Error(), "validate.New") {
		t.Errorf("a format that was not given: %s %s (%v)", o.Verdict, o.Reason, o.Err)
	}
}

func TestRetired(t *testing.T) {
	t.Parallel()
	f := newFixture()
	gone := f.order1
	gone.Deleted = true
	f.change(gone)
	v, _ := open(t, f.shelf, validate.Options{})
	m := &validate.Message{Headers: stamped(gone), Payload: text(`{"id":1}`)}
	if o := v.BeforeConsume(ctx, m, &validate.Expect{}); o.Verdict != validate.Accept || o.Reason != validate.VersionRetired || !o.Retired {
		t.Errorf("%s %s", o.Verdict, o.Reason)
	}
	if o := v.BeforeConsume(ctx, m, &validate.Expect{RefuseRetired: true}); o.Verdict != validate.Reject || o.Reason != validate.VersionRetired {
		t.Errorf("refused: %s %s", o.Verdict, o.Reason)
	}
}

// A GUID covers metadata, and a look-up by source does not ask for it: the
// version that is found has the same text and another GUID, which is no mismatch.
func TestMetadataIsNoMismatch(t *testing.T) {
	t.Parallel()
	s := newShelf()
	plain := s.put("orders-value", schemas.JSON, orderV1)
	tagged := plain
	tagged.Subject = schemas.ParseSubject("elsewhere")
	tagged.GUID = schemas.GUIDOf(orderV1, nil, &schemas.Metadata{Properties: map[string]string{"owner": "me"}}, nil)
	tagged.ID.Number = 2
	s.next = 2
	s.versions[tagged.Subject] = []schemas.Found{tagged}
	v, _ := open(t, s, validate.Options{})
	m := &validate.Message{Headers: []validate.Header{{Name: "schemaGuid", Value: tagged.GUID.String()}}, Payload: text(`{"id":1}`)}
	o := v.BeforeConsume(ctx, m, &validate.Expect{Subject: validate.Fixed("orders-value"), Reads: validate.MustReads("1")})
	if o.Verdict != validate.Accept || o.Version != 1 || o.GUID != tagged.GUID {
		t.Errorf("%s %s, version %d (%v)", o.Verdict, o.Reason, o.Version, o.Err)
	}
}
