package validate_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// chain is a validator over the client over the real server.
type chain struct {
	t      *testing.T
	client *sr.Client
	v      *validate.Validator
	clock  *clock
}

func newChain(t *testing.T) *chain {
	t.Helper()
	journal, err := sqlite.Open(sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	reg, err := registry.Open(ctx, journal, registry.Options{Formats: formats(), Checkers: checkers.All()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api.New(reg, api.Options{}))
	t.Cleanup(func() {
		server.Close()
		_ = reg.Close()
	})
	client, err := sr.New(sr.Options{URLs: []string{server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.SetConfig(ctx, sr.Global, sr.Config{Level: "NONE"}); err != nil {
		t.Fatal(err)
	}
	c := &chain{t: t, client: client}
	c.v, c.clock = open(t, client, validate.Options{})
	return c
}

func (c *chain) register(subject string, t schemas.Type, text string, refs ...schemas.Reference) schemas.Found {
	c.t.Helper()
	f, err := c.client.Register(ctx, schemas.ParseSubject(subject), sr.Registration{Source: schemas.Source{Type: t, Text: text, References: refs}})
	if err != nil {
		c.t.Fatal(err)
	}
	return f
}

func (c *chain) publish(p validate.Pin, m *validate.Message) *validate.Message {
	c.t.Helper()
	if err := c.v.BeforePublish(ctx, m, &p); err != nil {
		c.t.Fatal(err)
	}
	return m
}

func (c *chain) expect(m *validate.Message, e *validate.Expect, want validate.Verdict, reason validate.Reason) validate.Outcome {
	c.t.Helper()
	o := c.v.BeforeConsume(ctx, m, e)
	if o.Verdict != want || o.Reason != reason {
		c.t.Errorf("%s %s (%v), want %s %s", o.Verdict, o.Reason, o.Err, want, reason)
	}
	return o
}

func TestChainReferences(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	c.register("users", schemas.Avro, userV1)
	c.register("user.proto", schemas.Protobuf, "syntax = \"proto3\";\npackage acme;\nmessage User { int64 id = 1; }\n")
	c.register("user.json", schemas.JSON, `{"type":"object","required":["id"]}`)
	for _, tt := range []struct {
		f       schemas.Found
		typ     string
		payload []byte
	}{
		{c.register("a-value", schemas.Avro, `{"type":"record","name":"Order","namespace":"acme","fields":[{"name":"buyer","type":"acme.User"}]}`, schemas.Reference{Name: "acme.User", Subject: "users", Version: 1}), "", []byte{2}},
		{c.register("p-value", schemas.Protobuf, "syntax = \"proto3\";\npackage acme;\nimport \"user.proto\";\nmessage First { int32 n = 1; }\nmessage Order { User buyer = 1; }\n", schemas.Reference{Name: "user.proto", Subject: "user.proto", Version: 1}), "acme.Order", []byte{10, 2, 8, 1}},
		{c.register("j-value", schemas.JSON, `{"type":"object","properties":{"buyer":{"$ref":"user.json"}},"required":["buyer"]}`, schemas.Reference{Name: "user.json", Subject: "user.json", Version: 1}), "", []byte(`{"buyer":{"id":1}}`)},
	} {
		s := validate.Fixed(tt.f.Subject.String())
		for name, pin := range map[string]validate.Pin{
			"version": validate.Version(s, 1), "guid": validate.GUID(s, tt.f.GUID), "latest": validate.Latest(s, 0), "text": validate.ByText(s, tt.f.Source),
			"prefix": validate.Version(s, 1).WithPrefix(), "binary": validate.Version(s, 1).WithBinaryHeader(),
		} {
			m := c.publish(pin, &validate.Message{Type: tt.typ, Payload: tt.payload})
			e := &validate.Expect{Subject: s, Reads: validate.MustReads("1"), Value: true}
			if name == "prefix" {
				e.Framing = validate.Confluent
			}
			o := c.expect(m, e, validate.Accept, validate.NoReason)
			if o.GUID != tt.f.GUID || o.ID != tt.f.ID || o.Version != 1 || o.Message != tt.typ || string(o.Payload) != string(tt.payload) || o.Value == nil || o.ForeignID || o.UnknownVersion || o.Unverified {
				t.Errorf("%s by %s: %+v", tt.f.Source.Type, name, o)
			}
			// Each identity alone names the same schema.
			for _, only := range []string{"schemaGuid", "schemaId", "schemaVersion"} {
				bare := &validate.Message{Payload: tt.payload}
				for _, h := range m.Headers {
					if h.Name == only || h.Name == "schemaMessage" {
						bare.Headers = append(bare.Headers, h)
					}
				}
				if o := c.expect(bare, &validate.Expect{Subject: s, Reads: validate.MustReads("1")}, validate.Accept, validate.NoReason); o.Version != 1 {
					t.Errorf("%s by %s alone: version %d", tt.f.Source.Type, only, o.Version)
				}
			}
		}
	}
}

// What was stamped stays readable through soft deletion and re-registration, and
// is refused, not misread, once it is gone for good.
func TestChainDeletion(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	c.register("orders-value", schemas.JSON, orderV1)
	two := c.register("orders-value", schemas.JSON, orderV2)
	orders := validate.Fixed("orders-value")
	old := c.publish(validate.Version(orders, 2), &validate.Message{Payload: text(`{"id":1}`)})

	if _, err := c.client.DeleteVersion(ctx, two.Subject, 2, false); err != nil {
		t.Fatal(err)
	}
	fresh := func() *validate.Validator {
		v, clock := open(t, c.client, validate.Options{})
		c.v, c.clock = v, clock
		return v
	}
	fresh()
	c.expect(old, &validate.Expect{Subject: orders}, validate.Accept, validate.VersionRetired)

	again := c.register("orders-value", schemas.JSON, orderV2)
	if again.Version == 2 {
		t.Fatalf("version 2 was given twice")
	}
	fresh()
	o := c.v.BeforeConsume(ctx, old, &validate.Expect{Subject: orders})
	if o.Verdict != validate.Accept || o.GUID != two.GUID {
		t.Errorf("after registering it again: %s %s (%v)", o.Verdict, o.Reason, o.Err)
	}

	if _, err := c.client.DeleteSubject(ctx, two.Subject, false); err != nil {
		t.Fatal(err)
	}
	if _, err := c.client.DeleteSubject(ctx, two.Subject, true); err != nil {
		t.Fatal(err)
	}
	next := c.register("orders-value", schemas.JSON, `{"type":"object","title":"another"}`)
	if next.Version <= again.Version {
		t.Fatalf("version %s after a permanent deletion: numbers are never used twice", next.Version)
	}
	fresh()
	e := &validate.Expect{Subject: orders}
	if o := c.v.BeforeConsume(ctx, old, e); o.Verdict != validate.Hold {
		t.Errorf("gone for good: %s %s, want a grace first", o.Verdict, o.Reason)
	}
	c.clock.pass(31 * time.Second)
	if o := c.v.BeforeConsume(ctx, old, e); o.Verdict != validate.Reject || !strings.HasSuffix(o.Reason.String(), "_unknown") {
		t.Errorf("gone for good: %s %s", o.Verdict, o.Reason)
	}
}

func TestChainUnknownNames(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	c.register("orders-value", schemas.JSON, orderV1)
	orders := validate.Fixed("orders-value")
	for reason, pin := range map[validate.Reason]validate.Pin{
		validate.VersionUnknown: validate.Version(orders, 7),
		validate.SubjectUnknown: validate.Version(validate.Fixed("nobody/at all?"), 1),
		validate.SchemaUnknown:  validate.GUID(orders, schemas.GUID{1: 1}),
	} {
		err := c.v.BeforePublish(ctx, &validate.Message{Payload: text(`{"id":1}`)}, &pin)
		var e *validate.Error
		if !errors.As(err, &e) || e.Reason != reason || !errors.Is(err, validate.ErrPermanent) {
			t.Errorf("%v, want %s", err, reason)
		}
	}
}

// Online and offline answer the same questions; a validator cannot tell them
// apart.
var (
	_ validate.Lookup  = (*sr.Client)(nil)
	_ validate.Lookup  = (*folder.Folder)(nil)
	_ schemas.Messages = (*protobuf.Schema)(nil)
)

// TestChainReadsCompatible asks the real server for verdicts.
func TestChainReadsCompatible(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	v1 := c.register("users-value", schemas.Avro, userV1)
	c.register("users-value", schemas.Avro, `{"type":"record","name":"User","namespace":"acme","fields":[{"name":"id","type":"long"},{"name":"note","type":"string","default":""}]}`)
	v3 := c.register("users-value", schemas.Avro, `{"type":"record","name":"User","namespace":"acme","fields":[{"name":"id","type":"string"}]}`)
	e := &validate.Expect{Subject: validate.Fixed("users-value"), Reads: validate.ReadsCompatible(2), Reader: 2}
	if err := c.v.Warm(ctx, e, ""); err != nil {
		t.Fatal(err)
	}
	c.expect(&validate.Message{Headers: stamped(v1), Payload: []byte{2}}, e, validate.Accept, validate.NoReason)
	o := c.expect(&validate.Message{Headers: stamped(v3), Payload: []byte{2, 'x'}}, e, validate.Reject, validate.VersionUnsupported)
	if o.Err == nil || !strings.Contains(o.Err.Error(), "id") {
		t.Errorf("it does not say what breaks: %v", o.Err)
	}
}
