package validate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// The acceptance cases of the client specification that need no broker, each by
// its name. Some are shown elsewhere: F7 TestDetectNeverMisreads, H2 and H3 rows
// of TestConsume, H5 in H4, H7 TestReusedVersion and TestChainDeletion, P1
// TestPublishRefuses, P7 folder.TestTamperedBundle, C5 TestUnknownHasAGrace, C9
// TestTranslation.

func TestH1KindsOfValues(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, _ := open(t, f.shelf, validate.Options{})
	e := &validate.Expect{Subject: validate.Fixed("orders-value")}
	for _, tt := range []struct {
		name  string
		value any
		want  validate.Reason
	}{
		{"text", "1", validate.NoReason},
		{"bytes", []byte("1"), validate.NoReason},
		{"int32", int32(1), validate.NoReason},
		{"int64", int64(1), validate.NoReason},
		{"uint8", uint8(1), validate.NoReason},
		{"float", 1.0, validate.HeaderMalformed},
		{"bool", true, validate.HeaderMalformed},
		{"time", time.Unix(1, 0), validate.HeaderMalformed},
		{"list", []any{"1"}, validate.HeaderMalformed},
		{"table", map[string]any{"1": 1}, validate.HeaderMalformed},
		{"nil", nil, validate.HeaderMissing},
		{"nil bytes", []byte(nil), validate.HeaderMissing},
		{"empty text", "", validate.HeaderMalformed},
		{"empty bytes", []byte{}, validate.HeaderMalformed},
		{"not UTF-8", []byte{'1', 0xff}, validate.HeaderMalformed},
		{"byte-order mark", "\ufeff1", validate.HeaderMalformed},
		{"leading zero", "01", validate.HeaderMalformed},
		{"plus", "+1", validate.HeaderMalformed},
		{"space", " 1", validate.HeaderMalformed},
		{"point", "1.0", validate.HeaderMalformed},
		{"zero", "0", validate.HeaderMalformed},
		{"zero, int32", int32(0), validate.HeaderMalformed},
		{"negative", "-1", validate.HeaderMalformed},
		{"latest", "latest", validate.HeaderMalformed},
		{"v1", "v1", validate.HeaderMalformed},
		{"too large", "2147483648", validate.HeaderMalformed},
	} {
		o := v.BeforeConsume(ctx, &validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: tt.value}}, Payload: text(`{"id":1}`)}, e)
		if o.Reason != tt.want {
			t.Errorf("%s: %s %s (%v)", tt.name, o.Verdict, o.Reason, o.Err)
		}
	}
	// Texts without a grammar of their own are UTF-8, too.
	for _, name := range []string{"schemaSubject", "ce_dataschema"} {
		o := v.BeforeConsume(ctx, &validate.Message{Headers: append(stamped(f.order1)[1:], validate.Header{Name: name, Value: []byte("\xff\xfe")}), Payload: text(`{"id":1}`)}, &validate.Expect{})
		if o.Reason != validate.HeaderMalformed {
			t.Errorf("%s that is not UTF-8: %s %s", name, o.Verdict, o.Reason)
		}
	}
}

// TestH4ConflictingIdentities holds every kind of identity against every other.
func TestH4ConflictingIdentities(t *testing.T) {
	t.Parallel()
	f := newFixture()
	binary := func(x schemas.Found) any { return append([]byte{1}, x.GUID[:]...) }
	// Each adds one identity of a schema to a message.
	kinds := []struct {
		name string
		add  func(m *validate.Message, x schemas.Found)
	}{
		{"schemaGuid", func(m *validate.Message, x schemas.Found) { m.Headers = with(m.Headers, "schemaGuid", x.GUID.String()) }},
		{"binary header", func(m *validate.Message, x schemas.Found) {
			m.Headers = with(m.Headers, "__value_schema_id", binary(x))
		}},
		{"schemaVersion", func(m *validate.Message, x schemas.Found) {
			m.Headers = with(with(m.Headers, "schemaSubject", "orders-value"), "schemaVersion", x.Version.String())
		}},
		{"schemaId", func(m *validate.Message, x schemas.Found) {
			m.Headers = with(m.Headers, "schemaId", fmt.Sprint(x.ID.Number))
		}},
		{"prefix", func(m *validate.Message, x schemas.Found) {
			m.Payload = append([]byte{0, 0, 0, 0, byte(x.ID.Number)}, m.Payload...)
		}},
		{"dataschema", func(m *validate.Message, x schemas.Found) {
			m.Headers = with(m.Headers, "ce_dataschema", "urn:uuid:"+x.GUID.String())
		}},
	}
	for i, a := range kinds {
		for j, b := range kinds {
			if i == j {
				continue
			}
			for _, same := range []bool{true, false} {
				m := &validate.Message{Payload: text(`{"id":1}`)}
				a.add(m, f.order1)
				other := f.order2
				if same {
					other = f.order1
				}
				b.add(m, other)
				e := &validate.Expect{Subject: validate.Fixed("orders-value"), Framing: validate.Detect}
				if a.name == "prefix" || b.name == "prefix" {
					// The binary header of newer clients excludes a prefix.
					if a.name == "binary header" || b.name == "binary header" {
						continue
					}
					e.Framing = validate.Confluent
				}
				v, _ := open(t, f.shelf, validate.Options{})
				o := v.BeforeConsume(ctx, m, e)
				// A GUID that agrees with the schema unmasks an id of another registry.
				guid := func(name string) bool { return name == "schemaGuid" || name == "binary header" }
				id := func(name string) bool { return name == "schemaId" || name == "prefix" }
				switch {
				case same && o.Verdict != validate.Accept:
					t.Errorf("%s and %s agree: %s %s (%v)", a.name, b.name, o.Verdict, o.Reason, o.Err)
				case !same && (guid(a.name) && b.name == "schemaId" || guid(b.name) && a.name == "schemaId"):
					if o.Verdict != validate.Accept || !o.ForeignID { // H5
						t.Errorf("%s and %s, another registry's: %s %s (%v)", a.name, b.name, o.Verdict, o.Reason, o.Err)
					}
				case !same && (guid(a.name) && id(b.name) || guid(b.name) && id(a.name)):
					if o.Verdict != validate.Accept || !o.ForeignID {
						t.Errorf("%s and %s, another registry's: %s %s (%v)", a.name, b.name, o.Verdict, o.Reason, o.Err)
					}
				case !same && o.Reason != validate.IdentityConflict:
					t.Errorf("%s and %s differ: %s %s (%v)", a.name, b.name, o.Verdict, o.Reason, o.Err)
				}
			}
		}
	}
}

func TestH6AzuresSchemaIDIsNotOurs(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, _ := open(t, f.shelf, validate.Options{})
	h := with(stamped(f.order1), "schemaId", "00112233445566778899aabbccddeeff")
	if o := v.BeforeConsume(ctx, &validate.Message{Headers: h, Payload: text(`{"id":1}`)}, &validate.Expect{}); o.Verdict != validate.Accept {
		t.Errorf("%s %s (%v)", o.Verdict, o.Reason, o.Err)
	}
}

func TestP4RegistryDown(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, _ := open(t, f.shelf, validate.Options{})
	known, unknown := validate.Version(validate.Fixed("orders-value"), 1), validate.Version(validate.Fixed("orders-value"), 2)
	publish := func(p validate.Pin) (*validate.Message, error) {
		m := &validate.Message{Payload: text(`{"id":1}`)}
		return m, v.BeforePublish(ctx, m, &p)
	}
	if _, err := publish(known); err != nil {
		t.Fatal(err)
	}
	f.fail(schemas.ErrUnreachable)
	if _, err := publish(known); err != nil {
		t.Errorf("what is cached: %v", err)
	}
	m, err := publish(unknown)
	if !errors.Is(err, validate.ErrUnavailable) || errors.Is(err, validate.ErrPermanent) || len(m.Headers) != 0 {
		t.Errorf("what is not: %v, %v", err, m.Headers)
	}
}

func TestP5WarmUp(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, c := open(t, f.shelf, validate.Options{})
	e := &validate.Expect{Subject: validate.Fixed("orders-value"), Reads: validate.MustReads("1..2"), Reader: 2}
	f.fail(schemas.ErrUnreachable)
	if err := v.Warm(ctx, e, ""); !errors.Is(err, validate.ErrUnavailable) {
		t.Errorf("red: %v", err)
	}
	f.fail(nil)
	c.pass(time.Minute)
	if err := v.Warm(ctx, e, ""); err != nil {
		t.Errorf("green: %v", err)
	}
	f.fail(schemas.ErrUnreachable)
	for _, of := range []schemas.Found{f.order1, f.order2} {
		if o := v.BeforeConsume(ctx, &validate.Message{Headers: without(stamped(of), "schemaId", "schemaGuid"), Payload: text(`{"id":1}`)}, e); o.Verdict != validate.Accept || !o.Cached {
			t.Errorf("warm: %s %s (%v)", o.Verdict, o.Reason, o.Err)
		}
	}
	if err := v.Warm(ctx, &validate.Expect{Subject: validate.Fixed("orders-value"), Reads: validate.MustReads("1..9")}, ""); err == nil {
		t.Error("a bound that does not exist is no start error")
	}
}

// bundleOf puts a fixture's versions into a bundle.
func bundleOf(t *testing.T, list ...schemas.Found) *folder.Bundle {
	t.Helper()
	var entries []folder.BundleEntry
	for _, f := range list {
		entries = append(entries, folder.BundleEntry{Found: f, Latest: true})
	}
	made, err := folder.NewBundle(ctx, entries, time.Unix(0, 0), formats())
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := made.Pack(&file, nil, formats()); err != nil {
		t.Fatal(err)
	}
	b, err := folder.ReadBundle(ctx, file.Bytes(), folder.BundleOptions{Formats: formats()})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestP6BundleOnly(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, _ := open(t, bundleOf(t, f.order1, f.user1), validate.Options{})
	e := &validate.Expect{Subject: validate.Fixed("orders-value"), Reads: validate.MustReads("1")}
	if err := v.Warm(ctx, e, ""); err != nil {
		t.Errorf("it does not cover what is declared: %v", err)
	}
	for _, pin := range []validate.Pin{
		validate.Version(validate.Fixed("orders-value"), 1), validate.GUID(validate.Fixed("orders-value"), f.order1.GUID),
		validate.Latest(validate.Fixed("orders-value"), 0), validate.ByText(validate.Fixed("orders-value"), f.order1.Source),
	} {
		m := &validate.Message{Payload: text(`{"id":1}`), MessageID: "m"}
		if err := v.BeforePublish(ctx, m, &pin); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(with(stamped(f.order1), "messageId", "m"), m.Headers, cmp.Transformer("sorted", headerMap)); d != "" {
			t.Error(d)
		}
		if o := v.BeforeConsume(ctx, m, e); o.Verdict != validate.Accept {
			t.Errorf("%s %s (%v)", o.Verdict, o.Reason, o.Err)
		}
	}
	for _, h := range []validate.Header{{Name: "schemaId", Value: fmt.Sprint(f.user1.ID.Number)}, {Name: "schemaGuid", Value: f.user1.GUID.String()}} {
		if o := v.BeforeConsume(ctx, &validate.Message{Headers: []validate.Header{h}, Payload: []byte{2}}, &validate.Expect{}); o.Verdict != validate.Accept {
			t.Errorf("by %s alone: %s %s (%v)", h.Name, o.Verdict, o.Reason, o.Err)
		}
	}
	if o := v.BeforeConsume(ctx, &validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: "1"}}, Payload: text(`{"id":"x"}`)}, e); o.Reason != validate.PayloadInvalid {
		t.Errorf("an invalid payload: %s %s", o.Verdict, o.Reason)
	}
	// The bundle first, the registry second.
	second := newShelf()
	second.put("orders-value", schemas.JSON, orderV1)
	second.put("orders-value", schemas.JSON, orderV2)
	both, _ := open(t, validate.InOrder(bundleOf(t, f.order1), second), validate.Options{})
	wide := &validate.Expect{Subject: validate.Fixed("orders-value")}
	for version, asked := range map[string]int{"1": 0, "2": 1} {
		before := len(second.questions())
		if o := both.BeforeConsume(ctx, &validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: version}}, Payload: text(`{"id":1}`)}, wide); o.Verdict != validate.Accept {
			t.Errorf("version %s: %s %s (%v)", version, o.Verdict, o.Reason, o.Err)
		}
		if n := len(second.questions()) - before; n != asked {
			t.Errorf("version %s: the registry was asked %d times, want %d", version, n, asked)
		}
	}
}

func TestP8OneRequestForAThousand(t *testing.T) {
	t.Parallel()
	f := newFixture()
	f.gate = make(chan struct{})
	v, _ := open(t, f.shelf, validate.Options{})
	pin := validate.Version(validate.Fixed("orders-value"), 1)
	var all sync.WaitGroup
	errs := make(chan error, 1000)
	for range 1000 {
		all.Go(func() {
			errs <- v.BeforePublish(context.Background(), &validate.Message{Payload: text(`{"id":1}`)}, &pin)
		})
	}
	close(f.gate)
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := len(f.questions()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestP10RestampIsANoOp(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, _ := open(t, f.shelf, validate.Options{})
	for _, pin := range []validate.Pin{
		validate.Version(validate.Fixed("orders-value"), 1), validate.Version(validate.Fixed("orders-value"), 1).WithPrefix(),
		validate.Version(validate.Fixed("orders-value"), 1).WithBinaryHeader(),
	} {
		m := &validate.Message{Payload: text(`{"id":1}`)}
		if err := v.BeforePublish(ctx, m, &pin); err != nil {
			t.Fatal(err)
		}
		relayed := &validate.Message{Headers: append([]validate.Header(nil), m.Headers...), Payload: bytes.Clone(m.Payload)}
		if err := v.BeforePublish(ctx, relayed, &pin); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(m, relayed); d != "" {
			t.Error(d)
		}
		other := validate.Version(validate.Fixed("orders-value"), 2)
		if err := v.BeforePublish(ctx, relayed, &other); !errors.Is(err, validate.ErrPermanent) {
			t.Errorf("stamped as another version: %v", err)
		}
	}
}

func TestC4RegisteredDuringTheGrace(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, c := open(t, f.shelf, validate.Options{})
	e := &validate.Expect{Subject: validate.Fixed("bills-value")}
	m := &validate.Message{Headers: []validate.Header{{Name: "schemaVersion", Value: "1"}}, Payload: text(`{"id":1}`)}
	for range 10 {
		if o := v.BeforeConsume(ctx, m, e); o.Verdict != validate.Hold || o.Reason != validate.SubjectUnknown {
			t.Fatalf("%s %s", o.Verdict, o.Reason)
		}
		c.pass(2 * time.Second)
	}
	f.put("bills-value", schemas.JSON, orderV1)
	c.pass(time.Second)
	if o := v.BeforeConsume(ctx, m, e); o.Verdict != validate.Accept {
		t.Errorf("%s %s (%v)", o.Verdict, o.Reason, o.Err)
	}
}

func TestC10Tombstones(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, _ := open(t, f.shelf, validate.Options{})
	e := &validate.Expect{Subject: validate.Fixed("shop-value")}
	if o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(f.shop1)}, e); o.Verdict != validate.Accept || !o.Tombstone {
		t.Errorf("a tombstone: %s %s", o.Verdict, o.Reason)
	}
	if o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(f.shop1), Payload: []byte{}}, e); o.Verdict != validate.Accept || o.Tombstone || o.Payload == nil {
		t.Errorf("no bytes of Protobuf: %s %s (%v)", o.Verdict, o.Reason, o.Err)
	}
	pin := validate.Version(validate.Fixed("shop-value"), 1)
	m := &validate.Message{}
	if err := v.BeforePublish(ctx, m, &pin); err != nil || m.Payload != nil {
		t.Errorf("publishing a tombstone: %v, %v", err, m.Payload)
	}
}

func TestC11RetiredVersion(t *testing.T) {
	t.Parallel()
	f := newFixture()
	gone := f.order1
	gone.Deleted = true
	f.change(gone)
	v, _ := open(t, f.shelf, validate.Options{})
	m := &validate.Message{Headers: stamped(f.order1), Payload: text(`{"id":1}`)}
	o := v.BeforeConsume(ctx, m, &validate.Expect{Subject: validate.Fixed("orders-value")})
	if o.Verdict != validate.Accept || o.Reason != validate.VersionRetired || !o.Retired {
		t.Errorf("%s %s (%v)", o.Verdict, o.Reason, o.Err)
	}
	o = v.BeforeConsume(ctx, m, &validate.Expect{Subject: validate.Fixed("orders-value"), RefuseRetired: true})
	if o.Verdict != validate.Reject || o.Reason != validate.VersionRetired {
		t.Errorf("refused: %s %s (%v)", o.Verdict, o.Reason, o.Err)
	}
}
