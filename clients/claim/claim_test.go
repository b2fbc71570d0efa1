package claim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/claim"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// memory is a store, and Objects, in memory. Its payloads can be lost and changed.
type memory struct {
	objects map[string][]byte
	fails   error
	looks   int
	// after is how many looks it takes until a payload shows.
	after int
}

func (s *memory) PutObject(_ context.Context, bucket, key string, payload []byte, _ time.Time) error {
	if s.fails != nil {
		return s.fails
	}
	if s.objects == nil {
		s.objects = map[string][]byte{}
	}
	s.objects[bucket+" "+key] = bytes.Clone(payload)
	return nil
}

func (s *memory) GetObject(_ context.Context, bucket, key string) (io.ReadCloser, error) {
	s.looks++
	payload, ok := s.objects[bucket+" "+key]
	switch {
	case s.fails != nil:
		return nil, s.fails
	case !ok || s.looks <= s.after:
		return nil, fmt.Errorf("NoSuchKey: %w", claim.ErrMissing)
	}
	return io.NopCloser(bytes.NewReader(payload)), nil
}

// change replaces the one payload.
func (s *memory) change(f func([]byte) []byte) {
	for name, payload := range s.objects {
		s.objects[name] = f(payload)
	}
}

// orders is a registry of one version of one subject.
type orders struct{}

func (orders) found() (schemas.Found, error) {
	return schemas.Found{
		Subject: schemas.ParseSubject("orders-value"), Version: 1, ID: schemas.ID{Number: 7},
		Source: schemas.Source{Type: schemas.JSON, Text: `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`},
	}, nil
}

func (o orders) ByGUID(context.Context, schemas.GUID) (schemas.Found, error)    { return o.found() }
func (o orders) ByID(context.Context, schemas.ID) (schemas.Found, error)        { return o.found() }
func (o orders) Latest(context.Context, schemas.Subject) (schemas.Found, error) { return o.found() }
func (o orders) ByVersion(context.Context, schemas.Subject, schemas.Version) (schemas.Found, error) {
	return o.found()
}

func (o orders) BySource(context.Context, schemas.Subject, schemas.Source) (schemas.Found, error) {
	return o.found()
}

var fast = retry.Policy{Attempts: 3, Base: time.Millisecond, Cap: time.Millisecond}

func keeper(t *testing.T, s claim.Store, o claim.Options) *claim.Keeper {
	t.Helper()
	o.Retry = fast
	if o.Threshold == 0 {
		o.Threshold = 100
	}
	k, err := claim.New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func order(n int) []byte { return fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("x", n)) }

// TestRoundTrip publishes and consumes through a validator, over each store.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	directory, err := claim.OpenDirectory(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer directory.Close()
	for _, tt := range []struct {
		name, base string
		store      claim.Store
	}{
		{"directory", "claim:", directory},
		{"bucket", "s3://payloads/orders/", claim.Bucket{Objects: &memory{}, Name: "payloads", Prefix: "orders/"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := validate.New(orders{}, jsonschema.Format)
			defer v.Close()
			k := keeper(t, tt.store, claim.Options{})
			pin := validate.Version(validate.ByDestination(), 1).WithClaims(k)
			expect := &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads("1"), Claims: k}
			for _, n := range []int{10, 5_000} {
				m := &validate.Message{Destination: "orders", Payload: order(n), MessageID: fmt.Sprint(n)}
				if err := v.BeforePublish(t.Context(), m, &pin); err != nil {
					t.Fatal(err)
				}
				ref := header(m, "claimRef")
				if (n > 100) != strings.HasPrefix(ref, tt.base) || (n > 100) != (len(m.Payload) < 250 && strings.Contains(string(m.Payload), ref) && ref != "") {
					t.Errorf("%d bytes: the reference is %q, the body %s", n, ref, m.Payload)
				}
				if header(m, "schemaVersion") != "1" {
					t.Error("the stamps of the payload are missing")
				}
				headers := len(m.Headers)
				if err := v.BeforePublish(t.Context(), m, &pin); err != nil || len(m.Headers) != headers {
					t.Errorf("%d bytes: a second stamp: %v, %d headers more", n, err, len(m.Headers)-headers)
				}
				o := v.BeforeConsume(t.Context(), m, expect)
				if o.Verdict != validate.Accept || !bytes.Equal(o.Payload, order(n)) {
					t.Errorf("%d bytes: %s %s %v", n, o.Verdict, o.Reason, o.Err)
				}
			}
			// Who does not know of claims refuses the reference, and says so.
			m := &validate.Message{Destination: "orders", Payload: order(5_000)}
			if err := v.BeforePublish(t.Context(), m, &pin); err != nil {
				t.Fatal(err)
			}
			if o := v.BeforeConsume(t.Context(), m, &validate.Expect{}); o.Reason != validate.PayloadInvalid {
				t.Errorf("without claims: %s %s", o.Verdict, o.Reason)
			}
		})
	}
}

func header(m *validate.Message, name string) string {
	for _, h := range m.Headers {
		if h.Name == name {
			return fmt.Sprint(h.Value)
		}
	}
	return ""
}

// set replaces a header, or removes it when the value is nil.
func set(m *validate.Message, name string, value any) {
	for i := range m.Headers {
		if m.Headers[i].Name == name {
			m.Headers[i].Value = value
		}
	}
}

// TestRefused has everything go wrong that can.
func TestRefused(t *testing.T) {
	t.Parallel()
	flip := func(p []byte) []byte { p[10] ^= 1; return p }
	for _, tt := range []struct {
		name   string
		spoil  func(s *memory, m *validate.Message)
		reason validate.Reason
		looks  int
	}{
		{"nothing", func(*memory, *validate.Message) {}, validate.NoReason, 1},
		{"late", func(s *memory, _ *validate.Message) { s.after = 2 }, validate.NoReason, 3},
		{"missing", func(s *memory, _ *validate.Message) { clear(s.objects) }, validate.ClaimMissing, 3},
		{"the store is down", func(s *memory, _ *validate.Message) { s.fails = errors.New("timeout") }, validate.ClaimUnreachable, 1},
		{"tampered", func(s *memory, _ *validate.Message) { s.change(flip) }, validate.ClaimInvalid, 1},
		{"shorter", func(s *memory, _ *validate.Message) { s.change(func(p []byte) []byte { return p[:50] }) }, validate.ClaimInvalid, 1},
		{"longer", func(s *memory, _ *validate.Message) { s.change(func(p []byte) []byte { return append(p, ' ') }) }, validate.ClaimInvalid, 1},
		{"empty", func(s *memory, _ *validate.Message) { s.change(func([]byte) []byte { return nil }) }, validate.ClaimInvalid, 1},
		{"up and out", func(_ *memory, m *validate.Message) { set(m, "claimRef", "s3://payloads/../../etc/passwd") }, validate.HeaderMalformed, 0},
		{"up and out in a name's length", func(_ *memory, m *validate.Message) { set(m, "claimRef", "s3://payloads/../../../../../etc/passwd") }, validate.HeaderMalformed, 0},
		{"another place", func(_ *memory, m *validate.Message) { set(m, "claimRef", "http://169.254.169.254/latest/meta-data/") }, validate.HeaderMalformed, 0},
		{"another bucket", func(_ *memory, m *validate.Message) { set(m, "claimRef", "s3://other/"+strings.Repeat("a", 26)) }, validate.HeaderMalformed, 0},
		{"no name", func(_ *memory, m *validate.Message) { set(m, "claimRef", "s3://payloads/") }, validate.HeaderMalformed, 0},
		{"an empty reference", func(_ *memory, m *validate.Message) { set(m, "claimRef", "") }, validate.HeaderMalformed, 0},
		{"two references", func(_ *memory, m *validate.Message) {
			m.Headers = append(m.Headers, validate.Header{Name: "claimRef", Value: "s3://payloads/" + strings.Repeat("a", 26)})
		}, validate.HeaderConflict, 0},
		{"no size", func(_ *memory, m *validate.Message) { set(m, "claimSize", nil) }, validate.HeaderMalformed, 0},
		{"no digest", func(_ *memory, m *validate.Message) { set(m, "claimSha256", nil) }, validate.HeaderMalformed, 0},
		{"a size that is none", func(_ *memory, m *validate.Message) { set(m, "claimSize", "0x10") }, validate.HeaderMalformed, 0},
		{"a negative size", func(_ *memory, m *validate.Message) { set(m, "claimSize", "-1") }, validate.HeaderMalformed, 0},
		{"a huge size", func(_ *memory, m *validate.Message) { set(m, "claimSize", "9223372036854775807") }, validate.PayloadTooLarge, 0},
		{"another size", func(_ *memory, m *validate.Message) { set(m, "claimSize", "17") }, validate.ClaimInvalid, 1},
		{"a digest that is none", func(_ *memory, m *validate.Message) { set(m, "claimSha256", "abc") }, validate.HeaderMalformed, 0},
		{"another digest", func(_ *memory, m *validate.Message) { set(m, "claimSha256", strings.Repeat("0", 64)) }, validate.ClaimInvalid, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &memory{}
			k := keeper(t, claim.Bucket{Objects: s, Name: "payloads"}, claim.Options{})
			v := validate.New(orders{}, jsonschema.Format)
			defer v.Close()
			pin := validate.Version(validate.ByDestination(), 1).WithClaims(k)
			m := &validate.Message{Destination: "orders", Payload: order(500)}
			if err := v.BeforePublish(t.Context(), m, &pin); err != nil {
				t.Fatal(err)
			}
			tt.spoil(s, m)
			o := v.BeforeConsume(t.Context(), m, &validate.Expect{Claims: k})
			if o.Reason != tt.reason || s.looks != tt.looks {
				t.Errorf("%s %s (%v) after %d looks, want %s after %d", o.Verdict, o.Reason, o.Err, s.looks, tt.reason, tt.looks)
			}
			if want := tt.reason.Verdict(); o.Verdict != want {
				t.Errorf("the verdict is %s, want %s", o.Verdict, want)
			}
		})
	}
}

// TestPublish: an invalid payload is never stored, and a message that cannot be
// stored is not changed.
func TestPublish(t *testing.T) {
	t.Parallel()
	s := &memory{}
	k := keeper(t, claim.Bucket{Objects: s, Name: "payloads"}, claim.Options{Limit: 1_000})
	v := validate.New(orders{}, jsonschema.Format)
	defer v.Close()
	pin := validate.Version(validate.ByDestination(), 1).WithClaims(k)
	for _, tt := range []struct {
		name   string
		m      validate.Message
		fails  error
		reason validate.Reason
	}{
		{"invalid", validate.Message{Payload: fmt.Appendf(nil, `{"text":%q`, strings.Repeat("x", 500))}, nil, validate.PayloadUnreadable},
		{"above the limit", validate.Message{Payload: order(2_000)}, nil, validate.PayloadTooLarge},
		{"the store is down", validate.Message{Payload: order(500)}, errors.New("timeout"), validate.ClaimUnreachable},
	} {
		s.fails = tt.fails
		m := tt.m
		m.Destination = "orders"
		before := m.Payload
		err := v.BeforePublish(t.Context(), &m, &pin)
		var e *validate.Error
		if !errors.As(err, &e) || e.Reason != tt.reason {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.reason)
		}
		if len(s.objects) != 0 || len(m.Headers) != 0 || !bytes.Equal(m.Payload, before) {
			t.Errorf("%s: %d payloads are stored, the message has %v", tt.name, len(s.objects), m.Headers)
		}
	}
	s.fails = nil
	tombstone := validate.Message{Destination: "orders"}
	if err := v.BeforePublish(t.Context(), &tombstone, &pin); err != nil || tombstone.Payload != nil || len(s.objects) != 0 {
		t.Errorf("a tombstone: %v, %q", err, tombstone.Payload)
	}
}

func TestCloudEvents(t *testing.T) {
	t.Parallel()
	s := &memory{}
	k := keeper(t, claim.Bucket{Objects: s, Name: "payloads"}, claim.Options{})
	v := validate.New(orders{}, jsonschema.Format)
	defer v.Close()
	pin := validate.Version(validate.ByDestination(), 1).WithClaims(k)
	m := &validate.Message{Destination: "orders", Payload: order(500), Headers: []validate.Header{{Name: "cloudEvents_specversion", Value: "1.0"}}}
	if err := v.BeforePublish(t.Context(), m, &pin); err != nil {
		t.Fatal(err)
	}
	if ref := header(m, "cloudEvents_dataref"); ref == "" || ref != header(m, "claimRef") || m.Payload == nil || len(m.Payload) != 0 {
		t.Errorf("dataref is %q, the body %q", ref, m.Payload)
	}
	if o := v.BeforeConsume(t.Context(), m, &validate.Expect{Claims: k}); o.Verdict != validate.Accept || !bytes.Equal(o.Payload, order(500)) {
		t.Errorf("%s %s %v", o.Verdict, o.Reason, o.Err)
	}
	structured := &validate.Message{
		Destination: "orders", ContentType: "application/cloudevents+json",
		Payload: fmt.Appendf(nil, `{"specversion":"1.0","id":"1","source":"s","type":"t","data":%s}`, order(500)),
	}
	var e *validate.Error
	if err := v.BeforePublish(t.Context(), structured, &pin); !errors.As(err, &e) || !strings.Contains(err.Error(), "binary mode") {
		t.Errorf("a structured event: %v", err)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	if _, err := claim.New(claim.Bucket{}, claim.Options{Expiry: time.Hour, Window: 2 * time.Hour}); err == nil || !strings.Contains(err.Error(), "at least as long") {
		t.Errorf("payloads that expire before their messages: %v", err)
	}
	if _, err := claim.New(claim.Bucket{}, claim.Options{Threshold: 10, Limit: 5}); err == nil {
		t.Error("a threshold above the limit is taken")
	}
	s := &memory{}
	k, err := claim.New(claim.Bucket{Objects: s}, claim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n, kept := range map[int]bool{64<<10 - 1: false, 64 << 10: true} {
		m := &validate.Message{Payload: make([]byte, n)}
		if err := k.CheckIn(t.Context(), m); err != nil || (header(m, "claimRef") != "") != kept {
			t.Errorf("%d bytes: %v, %q", n, err, header(m, "claimRef"))
		}
	}
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	d, err := claim.OpenDirectory(folder, "urn:payloads:")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	now := time.Now()
	name := func(c string) string { return strings.Repeat(c, 26) }
	for c, expires := range map[string]time.Time{"a": now.Add(time.Hour), "b": now.Add(2 * time.Hour)} {
		if err := d.Put(t.Context(), name(c), []byte("payload "+c), expires); err != nil {
			t.Fatal(err)
		}
	}
	foreign := filepath.Join(folder, "aa", "readme")
	if err := os.WriteFile(foreign, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "aa", name("a")[:2]+strings.Repeat("c", 24)+".part"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "..", "../x", name("A"), name("a") + "a", "../../../../../../etc/pass", strings.Repeat("/", 26), name("1")} {
		if _, err := d.Open(t.Context(), bad); err == nil || errors.Is(err, claim.ErrMissing) {
			t.Errorf("Open(%q): %v", bad, err)
		}
		if err := d.Put(t.Context(), bad, nil, now); err == nil {
			t.Errorf("Put(%q) works", bad)
		}
	}
	if err := d.Put(t.Context(), name("a"), []byte("other"), now.Add(time.Hour)); err != nil {
		t.Errorf("a payload cannot be put again: %v", err)
	}
	// A link must not lead out of the folder.
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "dd"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(folder, "dd", name("d"))); err != nil {
		t.Fatal(err)
	}
	if r, err := d.Open(t.Context(), name("d")); err == nil {
		_ = r.Close()
		t.Error("a link leads out of the folder")
	}
	if n, err := d.Expire(t.Context()); n != 0 || err != nil {
		t.Errorf("Expire = %d, %v, want none yet", n, err)
	}
	d.Now = func() time.Time { return now.Add(90 * time.Minute) }
	if _, err := d.Open(t.Context(), name("a")); !errors.Is(err, claim.ErrMissing) {
		t.Errorf("an expired payload: %v", err)
	}
	if n, err := d.Expire(t.Context()); n != 1 || err != nil {
		t.Errorf("Expire = %d, %v, want 1", n, err)
	}
	d.Now = func() time.Time { return now.Add(48 * time.Hour) }
	if n, err := d.Expire(t.Context()); n != 2 || err != nil { // b, and what was never finished
		t.Errorf("Expire = %d, %v, want 2", n, err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("a file of somebody else's is gone: %v", err)
	}
	if _, err := claim.OpenDirectory(filepath.Join(folder, "none"), ""); err == nil {
		t.Error("a folder that is not there is opened")
	}
}
