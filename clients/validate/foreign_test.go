package validate_test

import (
	"bytes"
	"compress/zlib"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

func zipped(data []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = w.Write(data)
	_ = w.Close()
	return out.Bytes()
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// TestForeignFramings reads what other products write, through a lookup that
// knows their identities, and names them where none does.
func TestForeignFramings(t *testing.T) {
	t.Parallel()
	f := newFixture()
	const hex32 = "00112233445566778899aabbccddeeff"
	uuid := []byte("\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff")
	known := &foreignShelf{shelf: f.shelf, knows: map[string]schemas.Found{}}
	as := func(identity string, found schemas.Found) string {
		known.knows[identity] = found
		return identity
	}
	glue := as("aws-glue schemaVersionId 00112233-4455-6677-8899-aabbccddeeff", f.order1)
	_ = as("azure schemaId "+hex32, f.user1)
	_ = as("apicurio globalId 7", f.shop1)
	_ = as("apicurio contentId 8", f.order1)
	_ = as("apicurio contentHash abc", f.order1)
	_ = as("apicurio artifact shop/orders@1", f.order1)
	eight := []byte{0, 0, 0, 0, 0, 0, 0, 0, 7}
	good, number := text(`{"id":1}`), []byte{8, 1}
	for _, tt := range []struct {
		name    string
		m       validate.Message
		framing validate.Framing
		glue    schemas.Found // what Glue's identity stands for, when another
		reason  validate.Reason
		message string
		payload []byte
		says    string
	}{
		{name: "glue", m: validate.Message{Payload: join([]byte{3, 0}, uuid, good)}, framing: validate.Detect, payload: good},
		{name: "glue, compressed", m: validate.Message{Payload: join([]byte{3, 5}, uuid, zipped(good))}, framing: validate.Confluent, payload: good},
		{name: "glue, broken compression", m: validate.Message{Payload: join([]byte{3, 5}, uuid, good)}, framing: validate.Detect, reason: validate.PayloadUnreadable, says: "inflate"},
		{name: "glue, a bomb", m: validate.Message{Payload: join([]byte{3, 5}, uuid, zipped(make([]byte, 9<<20)))}, framing: validate.Detect, reason: validate.PayloadTooLarge},
		{name: "glue, protobuf", glue: f.shop1, m: validate.Message{Payload: join([]byte{3, 0}, uuid, []byte{1, 10, 1, 'x'})}, framing: validate.Detect, message: "acme.Refund", payload: []byte{10, 1, 'x'}},
		{name: "glue, no such message", glue: f.shop1, m: validate.Message{Payload: join([]byte{3, 0}, uuid, []byte{9, 8, 1})}, framing: validate.Detect, reason: validate.PayloadUnreadable},
		{name: "glue, nothing behind", glue: f.shop1, m: validate.Message{Payload: join([]byte{3, 0}, uuid)}, framing: validate.Detect, reason: validate.PayloadUnreadable},
		{name: "azure, old", m: validate.Message{Payload: join([]byte{0, 0, 0, 0}, text(hex32), []byte{2})}, framing: validate.Confluent, payload: []byte{2}},
		{name: "azure, content type", m: validate.Message{ContentType: "avro/binary+" + hex32, Payload: []byte{2}}, payload: []byte{2}},
		{name: "apicurio, 8 bytes and the helper", m: validate.Message{Payload: join(eight, []byte{8, 10, 6}, text("Refund"), []byte{10, 1, 'x'})}, framing: validate.Confluent, message: "acme.Refund", payload: []byte{10, 1, 'x'}},
		{name: "apicurio, 8 bytes, no helper", m: validate.Message{Payload: join(eight, []byte{200})}, framing: validate.Confluent, reason: validate.PayloadUnreadable},
		{name: "apicurio, an unknown message", m: validate.Message{Payload: join(eight, []byte{4, 10, 2}, text("No"), number)}, framing: validate.Confluent, reason: validate.PayloadUnreadable, says: `no message "No"`},
		{name: "apicurio, global id in a header", m: validate.Message{Headers: []validate.Header{{Name: "apicurio.value.globalId", Value: eight[1:]}, {Name: "apicurio.protobuf.type", Value: "acme.Refund"}}, Payload: []byte{10, 1, 'x'}}, message: "acme.Refund", payload: []byte{10, 1, 'x'}},
		{name: "apicurio, content id in a header", m: validate.Message{Headers: []validate.Header{{Name: "apicurio.value.contentId", Value: []byte{0, 0, 0, 0, 0, 0, 0, 8}}}, Payload: good}, payload: good},
		{name: "apicurio, hash", m: validate.Message{Headers: []validate.Header{{Name: "apicurio.value.contentHash", Value: "abc"}}, Payload: good}, payload: good},
		{name: "apicurio, artifact", m: validate.Message{Headers: []validate.Header{{Name: "apicurio.value.groupId", Value: "shop"}, {Name: "apicurio.value.artifactId", Value: "orders"}, {Name: "apicurio.value.version", Value: "1"}}, Payload: good}, payload: good},
		{name: "apicurio of the key is not the value's", m: validate.Message{Headers: []validate.Header{{Name: "apicurio.key.contentHash", Value: "abc"}}, Payload: good}, reason: validate.HeaderMissing},
		{name: "ours and theirs differ", m: validate.Message{Headers: append(stamped(f.order2), validate.Header{Name: "apicurio.value.contentHash", Value: "abc"}), Payload: good}, reason: validate.IdentityConflict},
		{name: "ours and theirs agree", m: validate.Message{Headers: append(stamped(f.order1), validate.Header{Name: "apicurio.value.contentHash", Value: "abc"}), Payload: good}, payload: good},
		{name: "theirs is not known beside ours", m: validate.Message{Headers: append(stamped(f.order1), validate.Header{Name: "apicurio.value.contentHash", Value: "other"}), Payload: good}, payload: good},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &foreignShelf{shelf: f.shelf, knows: map[string]schemas.Found{}}
			for k, found := range known.knows {
				l.knows[k] = found
			}
			if tt.glue.Version != 0 {
				l.knows[glue] = tt.glue
			}
			v, _ := open(t, l, validate.Options{})
			whole := bytes.Clone(tt.m.Payload)
			o := v.BeforeConsume(ctx, &tt.m, &validate.Expect{Framing: tt.framing})
			if o.Reason != tt.reason || o.Message != tt.message || tt.reason == validate.NoReason && !bytes.Equal(o.Payload, tt.payload) {
				t.Errorf("%s %s, message %q, payload %x: %v", o.Verdict, o.Reason, o.Message, o.Payload, o.Err)
			}
			if tt.says != "" && (o.Err == nil || !strings.Contains(o.Err.Error(), tt.says)) {
				t.Errorf("it says %v", o.Err)
			}
			if !bytes.Equal(whole, tt.m.Payload) {
				t.Error("the message was changed")
			}
			// Who knows none of them says what was seen, and guesses nothing.
			if len(tt.m.Headers) < 5 && tt.reason == validate.NoReason {
				plain, _ := open(t, f.shelf, validate.Options{})
				o := plain.BeforeConsume(ctx, &tt.m, &validate.Expect{Framing: tt.framing})
				if o.Reason != validate.HeaderMissing || !strings.Contains(o.Err.Error(), "which the lookup does not know") {
					t.Errorf("without a lookup that knows it: %s %s: %v", o.Verdict, o.Reason, o.Err)
				}
			}
		})
	}
}

// TestPrefixOfAnEvent refuses to put a prefix before a structured CloudEvent: it
// would replace the event by its data.
func TestPrefixOfAnEvent(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, _ := open(t, f.shelf, validate.Options{})
	event := `{"specversion":"1.0","id":"1","source":"/s","type":"t","data":{"id":1}}`
	pin := validate.Version(validate.Fixed("orders-value"), 1)
	m := &validate.Message{ContentType: "application/cloudevents+json", Payload: text(event)}
	if err := v.BeforePublish(ctx, m, &pin); err != nil || string(m.Payload) != event {
		t.Errorf("without a prefix: %v, %s", err, m.Payload)
	}
	prefixed := pin.WithPrefix()
	m = &validate.Message{ContentType: "application/cloudevents+json", Payload: text(event)}
	if err := v.BeforePublish(ctx, m, &prefixed); err == nil || string(m.Payload) != event || len(m.Headers) != 0 {
		t.Errorf("with a prefix: %v, %s", err, m.Payload)
	}
}
