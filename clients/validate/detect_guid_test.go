package validate_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// plainGUIDs answers for a GUID without an id, as registries do.
type plainGUIDs struct{ validate.Lookup }

func (p plainGUIDs) ByGUID(ctx context.Context, g schemas.GUID) (schemas.Found, error) {
	found, err := p.Lookup.ByGUID(ctx, g)
	found.ID = schemas.ID{}
	return found, err
}

// Whether a prefix and a GUID mean one schema is asked of the registry, which
// knows: in whatever order messages come, and once for many.
func TestDetectBesideAGUID(t *testing.T) {
	t.Parallel()
	f := newFixture()
	e := &validate.Expect{Framing: validate.Detect}
	guid := func(of schemas.Found) []validate.Header {
		return []validate.Header{{Name: "schemaGuid", Value: of.GUID.String()}}
	}
	order, shop := []byte(`{"id":1}`), []byte{0, 10, 1, 'x'}
	messages := []struct {
		name    string
		m       validate.Message
		verdict validate.Verdict
	}{
		{"bare json", validate.Message{Headers: guid(f.order1), Payload: order}, validate.Accept},
		{"json", validate.Message{Headers: guid(f.order1), Payload: framed(f.order1.ID.Number, order...)}, validate.Accept},
		{"json of another schema", validate.Message{Headers: guid(f.order1), Payload: framed(f.other.ID.Number, order...)}, validate.Reject},
		{"json of no schema", validate.Message{Headers: guid(f.order1), Payload: framed(9_999, order...)}, validate.Reject},
		{"protobuf", validate.Message{Headers: guid(f.shop1), Payload: framed(f.shop1.ID.Number, shop...)}, validate.Accept},
		{"protobuf of another schema", validate.Message{Headers: guid(f.shop1), Payload: framed(f.other.ID.Number, shop...)}, validate.Reject},
	}
	for first := range messages {
		v, _ := open(t, plainGUIDs{f.shelf}, validate.Options{})
		for i := range 2 * len(messages) {
			one := messages[(first+i)%len(messages)]
			o := v.BeforeConsume(ctx, &one.m, e)
			if o.Verdict != one.verdict || o.Verdict == validate.Reject && o.Reason != validate.IdentityConflict {
				t.Errorf("%s, begun with %s: %s %s (%v)", one.name, messages[first].name, o.Verdict, o.Reason, o.Err)
			}
		}
	}
}

// framed is a payload behind the prefix of an id.
func framed(id int32, payload ...byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(id)), payload...)
}
