package deadletter_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/deadletter"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func full() *box {
	at := func(d time.Duration) string { return noon.Add(-d).Format(time.RFC3339Nano) }
	return &box{letters: []*deadletter.Letter{
		letter("a", "dlqReason", "version_unsupported", "schemaSubject", "orders", "schemaVersion", "2", "dlqFailedAt", at(time.Hour), "dlqOriginalQueue", "q", "dlqOriginalDestination", "x"),
		letter("b", "dlqReason", "payload_invalid", "schemaSubject", "orders", "schemaVersion", "2", "dlqFailedAt", at(time.Minute), "dlqOriginalQueue", "q", "dlqOriginalDestination", "x"),
		letter("c", "dlqReason", "version_unsupported", "schemaSubject", "orders", "schemaVersion", []byte("2"), "dlqFailedAt", at(2*time.Hour), "dlqOriginalQueue", "q", "dlqOriginalDestination", "x", "dlqReplays", "4"),
		letter("d", "dlqReason", "version_unsupported", "schemaSubject", "orders", "schemaVersion", "3", "dlqFailedAt", at(3*time.Hour), "dlqOriginalQueue", "q", "dlqReplays", "5"),
		letter("e", "x-first-death-reason", "rejected", "x-first-death-queue", "old", "x-first-death-exchange", "ex"),
		letter("f"),
	}}
}

func TestList(t *testing.T) {
	t.Parallel()
	groups, depth, err := deadletter.List(t.Context(), full(), deadletter.Filter{})
	if err != nil || depth != 6 {
		t.Fatal(depth, err)
	}
	var got []string
	for _, g := range groups {
		oldest := ""
		if !g.Oldest.IsZero() {
			oldest = " " + noon.Sub(g.Oldest).String() + " " + noon.Sub(g.Newest).String()
		}
		got = append(got, fmt.Sprintf("%d %s %s@%s%s", g.Count, g.Reason, g.Subject, g.Version, oldest))
	}
	want := []string{
		"2 version_unsupported orders@2 2h0m0s 1h0m0s", "1 broker rejected @", "1 payload_invalid orders@2 1m0s 1m0s",
		"1 unknown @", "1 version_unsupported orders@3 3h0m0s 3h0m0s",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		filter deadletter.Filter
		want   string
	}{
		"all":               {deadletter.Filter{}, "a b c d e f"},
		"an id":             {deadletter.Filter{IDs: []string{"c", "f", "none"}}, "c f"},
		"a reason":          {deadletter.Filter{Reasons: []string{"payload_invalid", "broker rejected"}}, "b e"},
		"reason and number": {deadletter.Filter{Reasons: []string{"version_unsupported"}, Versions: []string{"2"}}, "a c"},
		"a subject":         {deadletter.Filter{Subjects: []string{"orders"}}, "a b c d"},
		"old":               {deadletter.Filter{Before: noon.Add(-time.Hour)}, "c d"},
		"new":               {deadletter.Filter{After: noon.Add(-time.Hour)}, "a b"},
		"the first":         {deadletter.Filter{Limit: 2}, "a b"},
		"the first of some": {deadletter.Filter{Versions: []string{"2"}, Limit: 2}, "a b"},
	} {
		var got []string
		b := full()
		if _, err := deadletter.Drop(t.Context(), b, tt.filter, false, func(l *deadletter.Letter) error { got = append(got, l.MessageID()); return nil }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: chose %s, want %s", name, s, tt.want)
		}
		if len(b.letters)+len(got) != 6 {
			t.Errorf("%s: %d are left", name, len(b.letters))
		}
	}
}

func TestDropKeepsWhatCannotBeTold(t *testing.T) {
	t.Parallel()
	b := full()
	n, err := deadletter.Drop(t.Context(), b, deadletter.Filter{}, false, func(l *deadletter.Letter) error {
		if l.MessageID() == "c" {
			return errAway
		}
		return nil
	})
	if n != 2 || !errors.Is(err, errAway) || !slices.Equal(ids(b), []string{"c", "d", "e", "f"}) {
		t.Error(n, err, ids(b))
	}
	if _, err := deadletter.Find(t.Context(), b, deadletter.Filter{IDs: []string{"a"}}); !errors.Is(err, deadletter.ErrNoLetter) {
		t.Error(err)
	}
	if l, err := deadletter.Find(t.Context(), b, deadletter.Filter{IDs: []string{"d"}}); err != nil || l.Version() != "3" {
		t.Error(l, err)
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	judge := func(verdicts map[string]validate.Outcome) func(context.Context, *validate.Message) validate.Outcome {
		return func(_ context.Context, m *validate.Message) validate.Outcome {
			for _, h := range m.Headers {
				if o, ok := verdicts[fmt.Sprint(h.Value)]; ok && h.Name == "messageId" {
					return o
				}
			}
			return validate.Outcome{Verdict: validate.Accept}
		}
	}
	for name, tt := range map[string]struct {
		options      deadletter.ReplayOptions
		refuse       map[string]error
		sent, stayed string
		left         string
		err          error
	}{
		"all": {
			sent: "a>q b>q c>q e>old", left: "d f", stayed: "d too often, f no origin",
		},
		"forced": {
			options: deadletter.ReplayOptions{Force: true, Filter: deadletter.Filter{IDs: []string{"d"}}}, sent: "d>q", left: "a b c e f",
		},
		"elsewhere": {
			options: deadletter.ReplayOptions{To: &deadletter.Destination{Queue: "other"}, Force: true}, sent: "a>other b>other c>other d>other e>other f>other",
		},
		"through the exchange": {
			options: deadletter.ReplayOptions{Through: true, Filter: deadletter.Filter{IDs: []string{"a", "e"}}}, sent: "a>x e>ex", left: "b c d f",
		},
		"a limit": {
			options: deadletter.ReplayOptions{Filter: deadletter.Filter{Limit: 1, Reasons: []string{"version_unsupported"}}}, sent: "a>q", left: "b c d e f",
		},
		"dry": {
			options: deadletter.ReplayOptions{Dry: true}, left: "a b c d e f", stayed: "d too often, f no origin",
		},
		"not valid": {
			options: deadletter.ReplayOptions{Judge: judge(map[string]validate.Outcome{"b": {Verdict: validate.Reject, Reason: validate.PayloadInvalid}})},
			sent:    "a>q c>q e>old", left: "b d f", stayed: "b invalid, d too often, f no origin",
		},
		"of a version that is not known": {
			options: deadletter.ReplayOptions{Judge: judge(map[string]validate.Outcome{"b": {Verdict: validate.Hold, Reason: validate.VersionUnknown}})},
			sent:    "a>q c>q e>old", left: "b d f", stayed: "b invalid, d too often, f no origin",
		},
		"not to be judged": {
			options: deadletter.ReplayOptions{Judge: judge(map[string]validate.Outcome{"b": {Verdict: validate.Hold, Reason: validate.RegistryUnreachable, Err: errAway}})},
			sent:    "a>q", left: "b c d e f", err: errAway,
		},
		"refused for good": {
			refuse: map[string]error{"old": fmt.Errorf("no queue: %w", validate.ErrPermanent)},
			sent:   "a>q b>q c>q", left: "d e f", stayed: "d too often, e refused, f no origin",
		},
		"away": {
			refuse: map[string]error{"q": errAway}, left: "a b c d e f", err: errAway,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := full()
			b.refuse = tt.refuse
			var stayed []string
			tt.options.Tell = func(r deadletter.Replayed) {
				for word, err := range map[string]error{"too often": deadletter.ErrTooOften, "invalid": deadletter.ErrInvalid, "no origin": deadletter.ErrNoOrigin, "refused": validate.ErrPermanent} {
					if errors.Is(r.Err, err) {
						stayed = append(stayed, r.Letter.MessageID()+" "+word)
					}
				}
			}
			result, err := deadletter.Replay(t.Context(), b, tt.options)
			if !errors.Is(err, tt.err) {
				t.Fatal(err)
			}
			if s := strings.Join(b.sent, " "); s != tt.sent {
				t.Errorf("sent %s, want %s", s, tt.sent)
			}
			if s := strings.Join(ids(b), " "); s != tt.left {
				t.Errorf("%s are left, want %s", s, tt.left)
			}
			if s := strings.Join(stayed, ", "); s != tt.stayed {
				t.Errorf("stayed: %s, want %s", s, tt.stayed)
			}
			if !tt.options.Dry && result.Sent != len(b.sent) || result.Stayed != len(stayed) {
				t.Errorf("counted %+v", result)
			}
		})
	}
}

// What is sent again is what the producer wrote, and what a second failure keeps.
func TestReplayedHeaders(t *testing.T) {
	t.Parallel()
	b := &box{letters: []*deadletter.Letter{letter("a", "schemaVersion", "2", "dlqReason", "r", "dlqTrace", "t", "dlqAttempts", "3", "dlqFirstFailedAt", "then",
		"dlqOriginalDestination", "x", "dlqOriginalRoutingKey", "k", "dlqOriginalQueue", "q", "dlqReplays", "1", "retryAttempts", "3", "retryNotBefore", "later",
		"x-death", []any{}, "x-first-death-queue", "q", "__rule.name", "r", "dlqtime", "mine", "traceparent", "00-1")}}
	for _, keep := range []bool{false, true} {
		if _, err := deadletter.Replay(t.Context(), b, deadletter.ReplayOptions{KeepRules: keep, Filter: deadletter.Filter{}}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range b.headers["a"] {
			got = append(got, fmt.Sprintf("%s=%v", h.Name, h.Value))
		}
		want := []string{
			"messageId=a", "schemaVersion=2", "dlqFirstFailedAt=then", "dlqOriginalDestination=x", "dlqOriginalRoutingKey=k", "dlqOriginalQueue=q",
			"dlqtime=mine", "traceparent=00-1", "dlqReplays=2",
		}
		if keep {
			want = slices.Insert(want, 6, "__rule.name=r")
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		b.letters = []*deadletter.Letter{letter("a", "schemaVersion", "2", "dlqFirstFailedAt", "then", "dlqOriginalDestination", "x", "dlqOriginalRoutingKey", "k", "dlqOriginalQueue", "q", "__rule.name", "r", "dlqtime", "mine", "traceparent", "00-1", "dlqReplays", "1")}
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	b := full()
	began := time.Now()
	if _, err := deadletter.Replay(t.Context(), b, deadletter.ReplayOptions{Pace: 20 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 60*time.Millisecond {
		t.Errorf("4 letters 20 ms apart took %s", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	b = full()
	_, err := deadletter.Replay(ctx, b, deadletter.ReplayOptions{Pace: time.Hour, Tell: func(deadletter.Replayed) { cancel() }})
	if !errors.Is(err, context.Canceled) || len(b.sent) != 1 || len(b.letters) != 5 {
		t.Error(err, b.sent, len(b.letters))
	}
}

// What is exported and imported is the same, whatever headers hold.
func TestFile(t *testing.T) {
	t.Parallel()
	one := letter("a", "dup", "1", "dup", "2", "bytes", []byte{0, 0xff}, "null", nil, "int", int64(-7), "bool", true, "float", 1.5, "at", noon, "x-death", []any{"lost"}, "é", "<&>")
	one.Place, one.Key, one.Time, one.Properties = "0:7", []byte{1, 2}, noon, map[string]string{"correlation-id": "c"}
	one.Message.ContentType, one.Message.MessageID = "application/json", "a"
	tombstone := letter("t")
	tombstone.Message.Payload = nil
	empty := letter("e")
	empty.Message.Payload = []byte{}
	var file bytes.Buffer
	for _, l := range []*deadletter.Letter{one, tombstone, empty} {
		if err := deadletter.Write(&file, l); err != nil {
			t.Fatal(err)
		}
	}
	b := &box{}
	if n, err := deadletter.Import(t.Context(), b, bytes.NewReader(file.Bytes()), true); n != 3 || err != nil || len(b.letters) != 0 {
		t.Fatal(n, err, b.letters)
	}
	if n, err := deadletter.Import(t.Context(), b, &file, false); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	one.Message.Headers = slices.DeleteFunc(one.Message.Headers, func(h validate.Header) bool { return h.Name == "x-death" })
	if d := cmp.Diff([]*deadletter.Letter{one, tombstone, empty}, b.letters); d != "" {
		t.Error(d)
	}
	if b.letters[1].Message.Payload != nil || b.letters[2].Message.Payload == nil {
		t.Error("a tombstone and an empty payload are not told apart")
	}
}

func TestFileRefuses(t *testing.T) {
	t.Parallel()
	const good = `{"id":"a","headers":[],"payloadBase64":"AA=="}`
	for text, want := range map[string]string{
		"no json":                    "line 1: it is no letter",
		good + "\n{}x":               "line 2: it is no letter",
		`{"id":"a","heads":[]}`:      `unknown field "heads"`,
		`{"payloadBase64":"*"}`:      "payloadBase64 is not Base64",
		`{"keyBase64":"*"}`:          "keyBase64 is not Base64",
		`{"time":"noon"}`:            "no moment",
		`{"headers":["a"]}`:          "no list of names and values",
		`{"headers":[1,"a"]}`:        "item 0 is no name",
		`{"headers":["a",1]}`:        "header a: a header's value is neither",
		`{"headers":["a",{}]}`:       "empty object",
		`{"headers":["a",{"x":""}]}`: `kind "x"`,
	} {
		b := &box{}
		_, err := deadletter.Import(t.Context(), b, strings.NewReader(text), false)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
