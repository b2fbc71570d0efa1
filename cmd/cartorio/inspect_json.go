package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// isJSONFile tells a file whose name and content say that it is a JSON text, as
// validate takes them.
func isJSONFile(name string, raw []byte) bool {
	return strings.EqualFold(filepath.Ext(name), ".json") && isJSONText(raw)
}

// isJSONText tells JSON texts from bytes that happen to be one: a number alone
// is as likely a binary message.
func isJSONText(raw []byte) bool {
	text := bytes.TrimLeft(raw, " \t\r\n")
	return len(text) > 0 && strings.IndexByte(`{["`, text[0]) >= 0 && json.Valid(raw)
}

// readsJSON tells whether a message is to be read from the JSON form of a
// schema whose messages are binary.
func (in incoming) readsJSON(s schemas.Schema) bool {
	return in.asJSON && s.Source().Type != schemas.JSON
}

// readJSON reads a JSON text as the JSON encoding of an Avro schema, or as the
// JSON mapping of a Protobuf message.
func (x examined) readJSON(s *known, text []byte, message string) (examined, int) {
	x.Encoding = "json"
	p, list := s.fromJSON(schemas.Payload{Bytes: text, Message: message})
	if len(list) > 0 {
		x.payload = text
		return x.invalid(list[0].Kind.String(), "", list), exitFindings
	}
	x.show(s.schema, p)
	return x, exitOK
}

// fromJSON is the binary form of a JSON text, and what is wrong with it.
func (s *known) fromJSON(p schemas.Payload) (schemas.Payload, []schemas.Violation) {
	b, list, err := s.binary(p, schemas.ReadOptions{})
	if err != nil {
		return p, []schemas.Violation{{Kind: schemas.Unreadable, Rule: "encoding", Offset: -1, Text: err.Error()}}
	}
	if p.Bytes = b; len(list) == 0 {
		list = s.schema.Reads(s.schema, p, schemas.ReadOptions{}).Violations
	}
	return p, list
}

// hintJSON says that a binary message is a JSON text, which no violation of the
// binary form tells.
func (x *examined) hintJSON(s schemas.Schema, payload schemas.Payload) {
	format := s.Source().Type
	if format == schemas.JSON || !isJSONText(payload.Bytes) {
		return
	}
	fits := "does not fit"
	if _, list := (&known{schema: s}).fromJSON(payload); len(list) == 0 {
		fits = "fits"
	}
	if x.Problem != "" {
		x.Problem += "; "
	}
	x.Problem += "the payload is JSON text, where consumers expect " + string(format) + "'s binary form: as JSON it " + fits + " the schema, and --encoding json reads it so"
}
