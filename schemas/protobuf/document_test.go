package protobuf_test

import (
	"bytes"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	s := parse(t, `syntax = "proto3"; package p; message Order { int64 order_id = 1; string note = 2; } message Other { bool on = 1; }`)
	for _, tt := range []struct {
		name, message, document string
		payload                 []byte
	}{
		{"the first message", "", `{"orderId":"7","note":"x"}`, []byte{8, 7, 18, 1, 'x'}},
		{"a named message", "p.Other", `{"on":true}`, []byte{8, 1}},
		{"nothing", "", `{}`, []byte{}},
	} {
		got, violations := s.PayloadOf([]byte(tt.document), tt.message, schemas.ReadOptions{})
		if len(violations) > 0 || !bytes.Equal(got, tt.payload) {
			t.Errorf("%s: %x, %v", tt.name, got, violations)
		}
		back, violations := s.DocumentOf(schemas.Payload{Bytes: tt.payload, Message: tt.message}, schemas.ReadOptions{})
		if len(violations) > 0 || string(back) != tt.document {
			t.Errorf("%s: %s, %v", tt.name, back, violations)
		}
	}
	for name, document := range map[string]string{"an unknown member": `{"x":1}`, "another kind": `{"note":1}`, "no JSON": `{`} {
		if _, violations := s.PayloadOf([]byte(document), "", schemas.ReadOptions{}); len(violations) == 0 {
			t.Errorf("%s is taken", name)
		}
	}
	if _, violations := s.DocumentOf(schemas.Payload{Bytes: []byte{8}}, schemas.ReadOptions{}); len(violations) == 0 || violations[0].Kind != schemas.Unreadable {
		t.Errorf("a cut payload: %v", violations)
	}
	if doc, violations := s.DocumentOf(schemas.Payload{Bytes: []byte{0x98, 6, 1}}, schemas.ReadOptions{}); len(violations) > 0 || string(doc) != "{}" {
		t.Errorf("an unknown field: %s, %v", doc, violations)
	}
}
