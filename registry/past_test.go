package registry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// history is a life of a registry in which everything happens.
const history = `
	register s "A x" => id 1 v1 new
	register t "B x" => id 2 v1 new
	config s level=FULL => {level=FULL}
	register s "A x y?" => id 3 v2 new
	config "" level=NONE normalize=true => {level=NONE normalize=true}
	mode t READONLY => 
	register u "C x" ref=n:s:2 => id 4 v1 new
	delete t 1 => 42205
	clearMode t => READONLY
	delete t => [1]
	delete t permanent => [1]
	register :.c:s "A x" => id 1 v1 new
	register t "B x" => id 5 v2 new
	delete t => [2]
	register t "B x" => id 5 v3 new
	config s clear=compatibility => {}
`

// The state of every moment is the one that the registry had then, however it is
// reached.
func TestAsOf(t *testing.T) {
	t.Parallel()
	j := newShared()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	options := func(o *registry.Options) {
		o.Now, o.Snapshot = func() time.Time { return now }, 4
	}
	r := openOn(t, node{j}, options)
	states := map[registry.Revision][]byte{0: registry.NewState().Encode(), r.Revision(): registry.StateOf(r)}
	times := map[registry.Revision]time.Time{r.Revision(): now}
	for line := range strings.Lines(history) {
		now = now.Add(time.Minute)
		play(t, r, line)
		states[r.Revision()] = registry.StateOf(r)
		if _, ok := times[r.Revision()]; !ok {
			times[r.Revision()] = now
		}
	}
	now = now.Add(time.Hour)
	again := openOn(t, node{j}, options)
	for name, r := range map[string]*registry.Registry{"the registry": r, "one opened later": again} {
		count := registry.PointsEvery(r, 3)
		for range 2 {
			for revision, want := range states {
				past, err := r.AsOf(t.Context(), registry.Moment{Revision: revision})
				if err != nil || past.Revision() != revision || !bytes.Equal(registry.StateOfPast(past), want) {
					t.Errorf("%s: the state of revision %d is another than it was (%v)", name, revision, err)
				}
			}
		}
		for revision, at := range times {
			for _, at := range []time.Time{at, at.Add(59 * time.Second)} {
				past, err := r.AsOf(t.Context(), registry.Moment{Time: at})
				if err != nil || past.Revision() != revision {
					t.Errorf("%s: at %v the revision is %v (%v), want %d", name, at, past.Revision(), err, revision)
				}
			}
		}
		if n := count(); n < 2 {
			t.Errorf("%s keeps %d states to begin with", name, n)
		}
		if past, err := r.AsOf(t.Context(), registry.Moment{Time: now.Add(-999 * time.Hour)}); err != nil || past.Revision() != 0 {
			t.Errorf("before the installation: %v, %v", past, err)
		}
		for _, m := range []registry.Moment{{Revision: r.Revision() + 1}, {Time: now.Add(time.Second)}} {
			var told *registry.Error
			if _, err := r.AsOf(t.Context(), m); !errors.As(err, &told) || told.Code != registry.CodeRevisionUnknown {
				t.Errorf("%s: asked about the future: %v", name, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.AsOf(ctx, registry.Moment{Revision: 5}); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("in a context that has ended: %v", err)
		}
	}
}

// A text that was erased is gone from the past too, also from a state that was
// looked at before.
func TestAsOfAnErasedText(t *testing.T) {
	t.Parallel()
	r := open(t)
	play(t, r, `register s "Secret x" => id 1 v1 new`)
	at := registry.Moment{Revision: r.Revision()}
	s := schemas.ParseSubject("s")
	look := func() registry.Stored {
		t.Helper()
		past, err := r.AsOf(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		v, err := past.Version(t.Context(), s, 1, false)
		if err != nil {
			t.Fatal(err)
		}
		if byID, err := past.ByID(t.Context(), 1, nil); err != nil || byID.Source.Text != v.Source.Text || byID.Erased != v.Erased {
			t.Errorf("by id %v, %v", byID, err)
		}
		return v
	}
	if v := look(); v.Erased || v.Source.Text != "Secret x" {
		t.Errorf("before: %+v", v)
	}
	play(t, r, `
		delete s => [1]
		delete s permanent => [1]
	`)
	if v := look(); !v.Erased || v.Source.Text != "" || v.Version != 1 || v.ID.Number != 1 {
		t.Errorf("after: %+v", v)
	}
	play(t, r, `register other "Secret x" => id 2 v1 new`)
	if v := look(); v.Erased {
		t.Errorf("registered again, the text is there: %+v", v)
	}
}

// What is kept of the past is bounded, and is not all of one end.
func TestPastsAreBounded(t *testing.T) {
	t.Parallel()
	points, size := registry.Dictated(100, 1<<20)
	if size > 32<<20 || points < 16 || size != points<<20 {
		t.Errorf("%d states of %d bytes are kept", points, size)
	}
	if points, _ := registry.Dictated(3, 33<<20); points != 0 {
		t.Errorf("%d states are kept that are too large", points)
	}
}

// The audit trail tells every kind of event, in pages, and no secrets.
func TestAudit(t *testing.T) {
	t.Parallel()
	r := open(t)
	ana := registry.By(t.Context(), registry.Author{Actor: "ana", Request: "r-1"})
	playIn(ana, t, r, history)
	q := inSubject("secret", "S x")
	q.Metadata = &schemas.Metadata{Properties: map[string]string{"password": "hunter2", "owner": "me"}, Sensitive: []string{"password"}}
	if _, err := r.Register(ana, q); err != nil {
		t.Fatal(err)
	}
	rules := &schemas.RuleSet{Encoding: []schemas.ContractRule{{Name: "e", Type: "ENCRYPT", Params: map[string]string{"encrypt.kms.type": "aws-kms", "secret.access.key": "hunter2"}}}}
	if _, err := r.SetConfig(ana, q.Subject, registry.ConfigChange{Set: registry.Config{DefaultRuleSet: rules}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.SetConfig(ana, q.Subject, registry.ConfigChange{Set: registry.Config{OverrideMetadata: q.Metadata}}); err != nil {
		t.Fatal(err)
	}
	if err := r.DeleteContext(ana, ".none"); err != nil {
		t.Fatal(err)
	}
	var all []registry.Audited
	for after := registry.Revision(0); ; {
		page, end, err := r.Audit(t.Context(), after, 4)
		if err != nil || end != r.Revision() || len(page) > 4 {
			t.Fatalf("a page of %d behind %d of %d: %v", len(page), after, end, err)
		}
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
		after = page[len(page)-1].Revision
	}
	if len(all) != int(r.Revision()) {
		t.Fatalf("%d events, want %d", len(all), r.Revision())
	}
	for i, e := range all {
		if e.Revision != registry.Revision(i+1) || e.Time.IsZero() || i > 0 && (e.Actor != "ana" || e.Request != "r-1") {
			t.Errorf("event %d: %+v", i+1, e)
		}
		if e.ConfigAfter != nil && e.ConfigAfter.DefaultRuleSet != nil {
			if p := e.ConfigAfter.DefaultRuleSet.Encoding[0].Params; p["secret.access.key"] == "hunter2" || p["encrypt.kms.type"] != "aws-kms" {
				t.Errorf("event %d tells a secret, or hides what is none: %v", i+1, p)
			}
		}
		for _, m := range []*schemas.Metadata{metadataOf(e.Registered), overrideOf(e.ConfigAfter)} {
			if m != nil && (m.Properties["password"] == "hunter2" || m.Properties["owner"] != "me") {
				t.Errorf("event %d tells a secret, or hides what is none: %v", i+1, m)
			}
		}
	}
	var told *registry.Error
	if _, _, err := r.Audit(t.Context(), r.Revision()+1, 1); !errors.As(err, &told) || told.Code != registry.CodeRevisionUnknown {
		t.Errorf("behind the end: %v", err)
	}
	if q.Metadata.Properties["password"] != "hunter2" {
		t.Error("the audit trail has changed what it was told of")
	}
}

func metadataOf(f *schemas.Found) *schemas.Metadata {
	if f == nil {
		return nil
	}
	return f.Metadata
}

func overrideOf(c *registry.Config) *schemas.Metadata {
	if c == nil {
		return nil
	}
	return c.OverrideMetadata
}

// A clock that goes back gives no later moment an earlier answer, and breaks no
// number.
func TestAsOfWithAClockThatGoesBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	start := now
	r := open(t, func(o *registry.Options) { o.Now = func() time.Time { return now } })
	registry.PointsEvery(r, 2)
	revisions := []registry.Revision{r.Revision()}
	for i, minute := range []int{10, 20, -30, 5, 20, 30} {
		now = start.Add(time.Duration(minute) * time.Minute)
		play(t, r, fmt.Sprintf(`register s "A f%d?" => id %d v%d new`, i, i+1, i+1))
		revisions = append(revisions, r.Revision())
	}
	now = start.Add(time.Hour)
	for range 2 {
		for minute, want := range map[int]registry.Revision{
			-31: 0,
			-30: 0, // the event of that time came behind later ones
			0:   revisions[0], 9: revisions[0], 10: revisions[1], 19: revisions[1],
			20: revisions[5], 29: revisions[5], 30: revisions[6], 60: revisions[6],
		} {
			past, err := r.AsOf(t.Context(), registry.Moment{Time: start.Add(time.Duration(minute) * time.Minute)})
			if err != nil || past.Revision() != want {
				t.Errorf("minute %d is revision %v (%v), want %d", minute, past.Revision(), err, want)
			}
		}
	}
}
