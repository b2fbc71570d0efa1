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

var errClosed, errDisk = errors.New("journal is closed"), errors.New("the disk is on fire")

// Nodes that share a journal answer as one: what a client has registered at one
// of them is found at the others at once, told or not.
func TestNodes(t *testing.T) {
	t.Parallel()
	for _, deaf := range []bool{false, true} {
		t.Run(fmt.Sprint("deaf ", deaf), func(t *testing.T) {
			t.Parallel()
			j := newShared()
			j.deaf = deaf
			a, b := openOn(t, node{j}), openOn(t, node{j})
			if a.Installation() != b.Installation() || a.Installation() == "" {
				t.Errorf("installations are %q and %q", a.Installation(), b.Installation())
			}
			play(t, a, `register s "A x" => id 1 v1 new`)
			play(t, b, `
				id 1 => s v1
				register s "A x" => id 1 v1
				register t "A x" => id 1 v1 new
				register s "A x y?" => id 2 v2 new
			`)
			play(t, a, `
				get s 2 => id 2 v2
				lookup t "A x" => id 1 v1
				referencedby t 1 => []
				register u "U" ref=A:s:2 => id 3 v1 new
				delete s 1 => 1
				register common "C a" => id 4 v1 new
			`)
			play(t, b, `
				lookup s "W" ref=C:common:1 => 40403
				check w "W" ref=C:common:1 => compatible
				delete s => 42206
				referencedby s 2 => [3]
				register s "A x" => id 1 v3 new
				id 9 => 40403
				versions nobody => 40401
			`)
		})
	}
}

func TestNodesRace(t *testing.T) {
	t.Parallel()
	j := newShared()
	nodes := []*registry.Registry{openOn(t, node{j}), openOn(t, node{j}), openOn(t, node{j})}
	const clients, each = 12, 10
	together(clients, func(i int) {
		for n := range each {
			r := nodes[(i+n)%len(nodes)]
			// Half of them fight for one subject, all for the numbers.
			q := inSubject(fmt.Sprint("s", i%2*i), fmt.Sprintf("A f%d_%d?", i, n))
			if _, err := r.Register(t.Context(), q); err != nil {
				t.Error(err)
			}
		}
	})
	for _, r := range nodes {
		if got := do(t.Context(), r, "id 100000"); got != "40403" { // reads to the end
			t.Error(got)
		}
		consistent(t, r, clients*each)
	}
	if a, b := registry.StateOf(nodes[0]), registry.StateOf(nodes[1]); !bytes.Equal(a, b) {
		t.Error("the nodes have folded different states")
	}
}

// A journal that fails gives CodeStore and changes nothing; one that fails after
// it has written is read on.
func TestJournalFails(t *testing.T) {
	t.Parallel()
	j := newShared()
	r := openOn(t, node{j})
	play(t, r, `register s "A x" => id 1 v1 new`)
	set := func(err error, lost bool) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.fail, j.lost = err, lost
	}
	set(errDisk, false)
	_, err := r.Register(t.Context(), inSubject("s", "A x y?"))
	var e *registry.Error
	if !errors.As(err, &e) || e.Code != registry.CodeStore || !errors.Is(err, errDisk) {
		t.Errorf("got %v, want CodeStore with its cause", err)
	}
	play(t, r, `
		versions s => [1]
		config s level=FULL => 50001
		configOf s => {} false
		register s "A x" => id 1 v1
	`)
	set(errDisk, true)
	play(t, r, `register s "A x y?" => 50001`)
	set(nil, false)
	play(t, r, `
		register s "A x y?" => id 2 v2
		register s "A x y? z?" => id 3 v3 new
	`)
}

func TestOpenRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]registry.Event{
		"unknown kind":            {Kind: "teleported", Body: []byte(`{"v":1}`)},
		"newer body":              {Kind: registry.KindModeSet, Body: []byte(`{"v":2}`)},
		"no version of body":      {Kind: registry.KindModeSet, Body: []byte(`{}`)},
		"no JSON":                 {Kind: registry.KindModeSet, Body: []byte(`{`)},
		"wrong member":            {Kind: registry.KindModeSet, Body: []byte(`{"v":1,"context":7}`)},
		"bad GUID":                {Kind: registry.KindVersionRegistered, Body: []byte(`{"v":1,"context":".","subject":"s","version":1,"id":1,"guid":"x"}`)},
		"version 0":               {Kind: registry.KindVersionRegistered, Body: []byte(`{"v":1,"context":".","subject":"s","version":0,"id":1,"guid":"00000000000000000000000000000000"}`)},
		"id of another":           {Kind: registry.KindVersionRegistered, Body: []byte(`{"v":1,"context":".","subject":"s","version":9,"id":1,"type":"AVRO","guid":"00000000000000000000000000000000"}`)},
		"hides what is live":      {Kind: registry.KindVersionRegistered, Body: []byte(`{"v":1,"context":".","subject":"s","version":9,"id":7,"type":"AVRO","guid":"00000000000000000000000000000000","hides":[1]}`)},
		"deletes nothing":         {Kind: registry.KindVersionDeleted, Body: []byte(`{"v":1,"context":".","subject":"t","versions":[1]}`)},
		"permanently deletes":     {Kind: registry.KindVersionDeleted, Body: []byte(`{"v":1,"context":".","subject":"s","versions":[1],"permanent":true}`)},
		"unknown level":           {Kind: registry.KindConfigSet, Body: []byte(`{"v":1,"context":".","after":{"compatibility":"SIDEWAYS"}}`)},
		"unknown policy":          {Kind: registry.KindConfigSet, Body: []byte(`{"v":1,"context":".","after":{"compatibilityPolicy":"SIDEWAYS"}}`)},
		"unknown verdict policy":  {Kind: registry.KindConfigSet, Body: []byte(`{"v":1,"context":".","after":{"verdictPolicy":"SIDEWAYS"}}`)},
		"a version that is there": {Kind: registry.KindVersionRegistered, Body: nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newShared()
			r := openOn(t, node{j})
			play(t, r, `register s "A x" => id 1 v1 new`)
			if e.Body == nil {
				e = j.events[1]
			}
			if _, err := j.Append(t.Context(), 2, registry.Batch{Events: []registry.Event{e}}); err != nil {
				t.Fatal(err)
			}
			_, err := registry.Open(t.Context(), node{j}, registry.Options{Formats: fakeFormats})
			var ours *registry.Error
			if !errors.As(err, &ours) || ours.Code != registry.CodeStore || !strings.Contains(err.Error(), "event 3") {
				t.Errorf("Open answers %v, want CodeStore that names event 3", err)
			}
			// A registry that follows the journal stops writing, and says so.
			if got := do(t.Context(), r, `register s "B"`); got != "50001" {
				t.Errorf("a registry that cannot follow answers %s", got)
			}
			if r.Err() == nil {
				t.Error("a registry that cannot follow says it is well")
			}
			if got := do(t.Context(), r, `get s 1`); got != "id 1 v1" {
				t.Errorf("reading what it knows answers %s", got)
			}
		})
	}
}

func TestOpenRefusesAGap(t *testing.T) {
	t.Parallel()
	s := registry.NewState()
	err := s.Apply(registry.Record{Event: registry.Event{Revision: 2, Kind: registry.KindInstalled, Body: []byte(`{"v":1}`)}})
	if err == nil || !strings.Contains(err.Error(), "gap") {
		t.Errorf("a gap is answered with %v", err)
	}
}

// The events that no command writes yet are folded and kept all the same.
func TestEveryKindIsFolded(t *testing.T) {
	t.Parallel()
	guid := "00000000000000000000000000000001"
	bodies := []struct{ kind, body, text string }{
		{registry.KindInstalled, `{"v":1,"installation":"here"}`, ""},
		{registry.KindVersionRegistered, `{"v":1,"context":".emea","subject":"s","version":7,"id":90,"type":"AVRO","guid":"` + guid + `",` +
			`"metadata":{"tags":{"a":["x"]},"properties":{"owner":"me"},"sensitive":["owner"]},"references":[{"name":"N","subject":":.:t","version":3}],` +
			`"ruleSet":{"domainRules":[{"name":"r","kind":"CONDITION","mode":"WRITE","type":"CEL","expr":"true","tags":["t"],"params":{"p":"v"}}],"enableAt":"ALL"}}`, "A x"},
		{registry.KindVersionRegistered, `{"v":1,"context":".emea","subject":"s","version":3,"id":91,"type":"THRIFT","guid":"` + guid + `"}`, "A y"},
		{registry.KindModeSet, `{"v":1,"context":".emea","after":"IMPORT"}`, ""},
		{registry.KindConfigSet, `{"v":1,"context":".emea","subject":"s","after":{"compatibility":"FULL","verdictPolicy":"BOTH","compatibilityPolicy":"LOGICAL","validateRules":true}}`, ""},
		{registry.KindExceptionSet, `{"v":1,"context":".","subject":"s","fingerprint":"f","reason":"because"}`, ""},
		{registry.KindExceptionSet, `{"v":1,"context":".","subject":"s","fingerprint":"g"}`, ""},
		{registry.KindExceptionCleared, `{"v":1,"context":".","subject":"s","fingerprint":"g"}`, ""},
		{registry.KindVersionDeleted, `{"v":1,"context":".emea","subject":"s","versions":[7]}`, ""},
		{registry.KindMarksSet, `{"v":1,"context":".emea","high":91,"subjects":[{"subject":"s","high":11,"gone":[{"version":9,"guid":"` + guid + `","type":"AVRO"}]}]}`, ""},
	}
	j := newShared()
	var batch registry.Batch
	for _, b := range bodies {
		e := registry.Event{Kind: b.kind, Body: []byte(b.body), Time: time.UnixMilli(5).UTC()}
		if b.text != "" {
			e.Text = registry.HashOf(b.text)
			batch.Texts = append(batch.Texts, registry.Text{Hash: e.Text, Text: b.text})
		}
		batch.Events = append(batch.Events, e)
	}
	if _, err := j.Append(t.Context(), 0, batch); err != nil {
		t.Fatal(err)
	}
	r := openOn(t, node{j})
	play(t, r, `
		contexts => [. .emea]
		versions :.emea:s deleted => [3 7]
		get :.emea:s 7 deleted => id 90 v7 deleted
		get s 3 => id 91 v3
		id 90 => 40403
		id 91 s => :.emea:s v3
		id 90 :.emea: => :.emea:s v7
		id 90 :.emea:s => :.emea:s v7
		id 90 :.emea:t => 40403
		subjects s => []
		subjects => [:.emea:s]
		subjects ":.emea:s" => [:.emea:s]
		list ":*:s" deleted => [:.emea:s/3 :.emea:s/7]
		configInForce :.emea:s => {level=FULL rules=true policy=LOGICAL verdict=BOTH}
		modeInForce :.emea:s => IMPORT
		register s "A" => id 1 v1 new
		get s 1 => id 1 v1
		deleteContext .emea => 42211
	`)
	if got := r.MaxID(".emea"); got != 91 {
		t.Errorf("the highest id is %d, want 91", got)
	}
	stored, err := r.ByGUID(t.Context(), schemas.GUID{15: 1})
	if err != nil || stored.ID.Number != 90 || stored.Metadata.Properties["owner"] != "me" || stored.RuleSet.Domain[0].Params["p"] != "v" || stored.Source.References[0].Subject != ":.:t" {
		t.Errorf("by GUID: %+v, %v", stored, err)
	}
	state := registry.StateOf(r)
	decoded, err := registry.DecodeState(state, func(h registry.Hash) (string, bool) { s, ok := j.texts[h]; return s, ok })
	if err != nil || !bytes.Equal(decoded.Encode(), state) {
		t.Errorf("the decoded state is another: %v", err)
	}
}

// A snapshot that cannot be used costs time, never data.
func TestUnusableSnapshots(t *testing.T) {
	t.Parallel()
	j := newShared()
	r := openOn(t, node{j})
	play(t, r, `
		register s "A x" => id 1 v1 new
		register t "T" ref=A:s:1 => id 2 v1 new
		config s level=FULL => {level=FULL}
	`)
	state := registry.StateOf(r)
	textOf := func(h registry.Hash) (string, bool) { s, ok := j.texts[h]; return s, ok }
	for n := range len(state) {
		if _, err := registry.DecodeState(state[:n], textOf); err == nil {
			t.Fatalf("the first %d bytes are a state", n)
		}
		bad := bytes.Clone(state)
		bad[n] ^= 0x41
		if _, err := registry.DecodeState(bad, textOf); err == nil {
			t.Fatalf("a state with byte %d changed is one", n)
		}
	}
	for name, data := range map[string][]byte{"nothing": {}, "another form": {99, 1, 2, 3, 4, 5}, "cut": state[:len(state)/2]} {
		j.snapshot = registry.Snapshot{Revision: 3, State: data}
		again := openOn(t, node{j})
		if !bytes.Equal(registry.StateOf(again), state) {
			t.Errorf("%s: the state is another", name)
		}
	}
	j.snapshot = registry.Snapshot{Revision: 4, State: state}
	delete(j.texts, registry.HashOf("A x"))
	if _, err := registry.Open(t.Context(), node{j}, registry.Options{}); err == nil || !strings.Contains(err.Error(), "backup") {
		t.Errorf("a missing text is answered with %v", err)
	}
	j.texts[registry.HashOf("A x")] = "A another"
	if _, err := registry.Open(t.Context(), node{j}, registry.Options{}); err == nil || !strings.Contains(err.Error(), "backup") {
		t.Errorf("a changed text is answered with %v", err)
	}
}

// Permanent deletion erases a text, once nothing has it any more; its events
// stay.
func TestErase(t *testing.T) {
	t.Parallel()
	j := newShared()
	r := openOn(t, node{j})
	secret, shared := registry.HashOf("Secret x"), registry.HashOf("Shared x")
	play(t, r, `
		register s "Secret x" => id 1 v1 new
		register s "Shared x" force => id 2 v2 new
		register t "Shared x" => id 2 v1 new
		register u "Shared x" type=JSON => id 3 v1 new
		delete s => [1 2]
		delete s permanent => [1 2]
	`)
	if _, ok := j.texts[secret]; ok {
		t.Error("the text is still there")
	}
	play(t, r, `
		delete t => [1]
		delete t permanent => [1]
	`)
	if _, ok := j.texts[shared]; !ok {
		t.Fatal("a text that is in use is gone")
	}
	play(t, r, `
		delete u => [1]
		delete u permanent => [1]
	`)
	if len(j.texts) != 0 {
		t.Errorf("%d texts are left", len(j.texts))
	}
	state := registry.StateOf(r)
	if again := openOn(t, node{j}); !bytes.Equal(registry.StateOf(again), state) {
		t.Error("the journal folds into another state without its texts")
	}
	play(t, r, `register v "Secret x" => id 4 v1 new`)
	if j.texts[secret] != "Secret x" {
		t.Error("the text did not come back")
	}
}

// Events carry who did what and when, in milliseconds.
func TestEventsAreAnAuditTrail(t *testing.T) {
	t.Parallel()
	j := newShared()
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.FixedZone("there", 3600))
	r := openOn(t, node{j}, func(o *registry.Options) { o.Now = func() time.Time { return at } })
	q := inSubject("s", "A x")
	ana := registry.By(t.Context(), registry.Author{Actor: "ana", Request: "r-1"})
	stored, err := r.Register(ana, q)
	if err != nil {
		t.Fatal(err)
	}
	playIn(registry.By(t.Context(), registry.Author{Request: "r-2"}), t, r, `
		config s level=FULL => {level=FULL}
		config s level=NONE => {level=NONE}
		clearConfig s => {level=NONE}
		config s level=NONE => {level=NONE}
		config s level=NONE => {level=NONE}
		mode s READONLY => 
		mode s READONLY => 
		clearMode s => READONLY
		delete s 1 => 1
		delete s permanent => [1]
	`)
	var got []string
	for _, e := range j.events {
		got = append(got, e.Actor+" "+e.Kind+" "+string(e.Body))
		if want := time.Date(2026, 1, 2, 2, 4, 5, 678_000_000, time.UTC); !e.Time.Equal(want) {
			t.Errorf("event %d is of %v, want %v", e.Revision, e.Time, want)
		}
	}
	want := []string{
		`anonymous installed {"v":1,"installation":"` + r.Installation() + `"}`,
		`ana version-registered {"v":1,"context":".","subject":"s","version":1,"id":1,"type":"AVRO","guid":"` + stored.GUID.String() + `"}`,
		`anonymous config-set {"v":1,"context":".","subject":"s","after":{"compatibility":"FULL"}}`,
		`anonymous config-set {"v":1,"context":".","subject":"s","before":{"compatibility":"FULL"},"after":{"compatibility":"NONE"}}`,
		`anonymous config-cleared {"v":1,"context":".","subject":"s","before":{"compatibility":"NONE"}}`,
		`anonymous config-set {"v":1,"context":".","subject":"s","after":{"compatibility":"NONE"}}`,
		`anonymous mode-set {"v":1,"context":".","subject":"s","after":"READONLY"}`,
		`anonymous mode-cleared {"v":1,"context":".","subject":"s","before":"READONLY"}`,
		`anonymous version-deleted {"v":1,"context":".","subject":"s","versions":[1]}`,
		`anonymous subject-deleted {"v":1,"context":".","subject":"s","versions":[1],"permanent":true}`,
		`anonymous config-cleared {"v":1,"context":".","subject":"s","before":{"compatibility":"NONE"}}`,
	}
	if len(got) != len(want) {
		t.Fatalf("the journal has\n%s", strings.Join(got, "\n"))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("event %d\n got %s\nwant %s", i+1, got[i], want[i])
		}
	}
	for _, e := range j.events[2:] {
		if e.Request != "r-2" {
			t.Errorf("event %d (%s) has request %q", e.Revision, e.Kind, e.Request)
		}
	}
	if j.events[1].Request != "r-1" || stored.Time != j.events[1].Time {
		t.Errorf("the registration has request %q and time %v", j.events[1].Request, stored.Time)
	}
	if r.Revision() != registry.Revision(len(want)) {
		t.Errorf("revision %d after %d events", r.Revision(), len(want))
	}
}

func TestWritesEndWithTheirContext(t *testing.T) {
	t.Parallel()
	r := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Register(ctx, inSubject("s", "A x")); !errors.Is(err, context.Canceled) {
		t.Errorf("registering in a context that has ended: %v", err)
	}
	play(t, r, `versions s => 40401`)
}

// overtaken is a journal in which others are always faster, for a while: each
// append is preceded by one of theirs that the decision depends on.
type overtaken struct {
	node
	left int
}

func (o *overtaken) Append(ctx context.Context, after registry.Revision, b registry.Batch) (registry.Revision, error) {
	if o.left > 0 {
		o.left--
		e := registry.Event{Kind: registry.KindModeSet, Body: []byte(`{"v":1,"context":".","subject":"x","after":"READWRITE"}`)}
		if _, err := o.node.Append(ctx, after, registry.Batch{Events: []registry.Event{e}}); err != nil {
			return 0, err
		}
	}
	return o.node.Append(ctx, after, b)
}

func TestOthersAreAlwaysFaster(t *testing.T) {
	t.Parallel()
	j := &overtaken{node: node{newShared()}}
	r := openOn(t, j)
	j.left = 20
	play(t, r, `register s "A x" => id 1 v1 new`)
	if j.left != 0 {
		t.Errorf("it won with %d races to go", j.left)
	}
	j.left = 20
	play(t, r, `
		config s level=FULL => {level=FULL}
		delete s => [1]
		register s "A x" => id 1 v2 new
	`)
}
