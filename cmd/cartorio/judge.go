package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// encodingOf says how a payload is written.
func (v validating) encodingOf(name string) string {
	if v.encoding != "" {
		return v.encoding
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".bin", ".avro", ".pb", ".binpb":
		return "binary"
	case ".hex":
		return "hex"
	case ".b64", ".base64":
		return "base64"
	case ".json":
		return "json"
	}
	if v.framing == "confluent" {
		return "binary"
	}
	return "json"
}

// judge checks one payload. An error is something that kept it from being
// looked at; what is wrong with it is in the answer.
func (s *known) judge(name string, raw []byte, v validating) (judged, error) {
	j := judged{Data: name, Violations: []violation{}}
	encoding := v.encodingOf(name)
	var err error
	switch encoding {
	case "hex":
		if raw, err = hex.DecodeString(strings.Join(strings.Fields(string(raw)), "")); err != nil {
			return j, fmt.Errorf("reading %s as hex: %s", name, strings.TrimPrefix(err.Error(), "encoding/hex: "))
		}
	case "base64":
		if raw, err = fromBase64(raw); err != nil {
			return j, fmt.Errorf("reading %s as base64: %w", name, err)
		}
	}
	format := s.schema.Source().Type
	if encoding == "json" && v.framing == "confluent" && format != schemas.JSON {
		return j, failf(exitUsage, "a framed %s payload is binary: leave out --encoding json", format)
	}
	payload := schemas.Payload{Bytes: raw, Message: v.message}
	if v.framing == "confluent" {
		if payload, err = s.unframe(payload); err != nil {
			j.Violations = append(j.Violations, violation{Kind: schemas.Unreadable.String(), Rule: "framing", Text: err.Error(), Offset: 0})
			return j, nil //nolint:nilerr // what is wrong with the payload is the answer
		}
	}
	options := schemas.ReadOptions{Formats: v.assertFormat, Unknown: v.refuseUnknown}
	isJSON := encoding == "json" || format == schemas.JSON
	text := string(payload.Bytes)
	var list []schemas.Violation
	if encoding == "json" && format != schemas.JSON {
		if payload.Bytes, list, err = s.binary(payload, options); err != nil {
			return j, err
		}
	}
	if len(list) == 0 {
		list = s.schema.Reads(s.schema, payload, options).Violations
	}
	j.Valid = len(list) == 0
	inPayload := map[schemas.Pointer]schemas.Place{}
	if isJSON && !j.Valid {
		inPayload = places(text)
	}
	inSchema := map[schemas.Pointer]schemas.Place{}
	if format != schemas.Protobuf && !j.Valid {
		inSchema = places(s.schema.Source().Text)
	}
	if looksFramed(encoding, format, raw, v) && len(list) > 0 {
		list[0].Text += "; is it framed? say --framing confluent"
	}
	for _, one := range list {
		w := violation{Kind: one.Kind.String(), Rule: one.Rule, Text: one.Text, Payload: one.Payload, Offset: one.Offset, Schema: one.Schema}
		if p, ok := inPayload[one.Payload]; ok && (one.Payload != "" || one.Offset < 0) {
			w.Line, w.Column = p.Position.Line, p.Position.Column
		} else if isJSON && one.Offset >= 0 && one.Offset <= len(text) {
			p := schemas.PositionAt(text, one.Offset)
			w.Line, w.Column = p.Line, p.Column
		}
		// The place stands before the text, and need not be in it.
		w.Text = strings.Replace(w.Text, fmt.Sprintf("line %d, column %d: ", w.Line, w.Column), "", 1)
		if p, ok := inSchema[one.Schema]; ok {
			w.SchemaLine, w.SchemaColumn = p.Position.Line, p.Position.Column
		}
		j.Violations = append(j.Violations, w)
	}
	return j, nil
}

// looksFramed tells of a payload that may be invalid only for the prefix that it
// begins with.
func looksFramed(encoding string, format schemas.Type, raw []byte, v validating) bool {
	if v.framing != "none" || encoding == "json" && format != schemas.JSON {
		return false
	}
	prefix, _, err := framing.Split(raw)
	return err == nil && prefix.Form == framing.ByID
}

// fromJSON is what a format with a binary form of its own can do with the JSON
// form of a payload.
type fromJSON interface {
	BinaryOf(text []byte, options schemas.ReadOptions) ([]byte, []schemas.Violation)
}

// messageFromJSON is the same for a format whose schemas hold several messages.
type messageFromJSON interface {
	FromJSON(message string, text []byte, options schemas.ReadOptions) ([]byte, error)
}

// binary makes the binary form that a payload's JSON form stands for.
func (s *known) binary(p schemas.Payload, o schemas.ReadOptions) ([]byte, []schemas.Violation, error) {
	switch schema := s.schema.(type) {
	case fromJSON:
		b, list := schema.BinaryOf(p.Bytes, o)
		return b, list, nil
	case messageFromJSON:
		if most := o.OrDefault().Bytes; len(p.Bytes) > most {
			return nil, []schemas.Violation{{Kind: schemas.TooLarge, Rule: "size", Offset: -1, Text: fmt.Sprintf("the text has %d bytes, %d are allowed", len(p.Bytes), most)}}, nil
		}
		b, err := schema.FromJSON(p.Message, p.Bytes, o)
		if err != nil {
			return nil, []schemas.Violation{mappingViolation(string(p.Bytes), err)}, nil
		}
		return b, nil, nil
	}
	return nil, nil, failf(exitUsage, "a %s payload cannot be read from JSON: say --encoding binary", s.schema.Source().Type)
}

// linePlace is how the library of Protobuf's JSON mapping tells a place.
var linePlace = regexp.MustCompile(`(?:proto: )?\(line (\d+):(\d+)\): `)

// mappingViolation says why a text is not the JSON form of a message.
func mappingViolation(text string, err error) schemas.Violation {
	v := schemas.Violation{Kind: schemas.Invalid, Rule: "json-mapping", Text: err.Error(), Offset: -1}
	// A tree of a text at the limit would take gigabytes; its grammar is enough.
	if !json.Valid([]byte(text)) || !utf8.ValidString(text) {
		v.Kind = schemas.Unreadable
	}
	m := linePlace.FindStringSubmatch(v.Text)
	if m == nil {
		return v
	}
	v.Text = strings.Replace(v.Text, m[0], "", 1)
	line, _ := strconv.Atoi(m[1])
	column, _ := strconv.Atoi(m[2])
	offset := 0
	for n := range strings.Lines(text) {
		if line--; line == 0 {
			if column <= len(n)+1 {
				v.Offset = offset + column - 1
			}
			break
		}
		offset += len(n)
	}
	return v
}

// mostPlaced bounds the texts whose parts are placed: each part takes a hundred
// times its bytes. Pointers tell the way in larger ones.
const mostPlaced = 1 << 20

// places finds where the parts of a JSON text stand; a text that is none has
// no parts.
func places(text string) map[schemas.Pointer]schemas.Place {
	v, err := jsontext.Parse(text, jsontext.Options{Depth: 1000, Text: mostPlaced, Comments: true})
	if err != nil {
		return nil
	}
	return jsontext.PositionsOf(text, v)
}

// unframe takes the prefix off, and what it says of the message.
func (s *known) unframe(p schemas.Payload) (schemas.Payload, error) {
	prefix, rest, err := framing.Split(p.Bytes)
	switch {
	case len(p.Bytes) == 0:
		return p, errors.New("the payload is empty: it has no schema id to begin with")
	case errors.Is(err, framing.ErrUnframed) && p.Bytes[0] > 1:
		return p, fmt.Errorf("it begins with 0x%02x, not 0x00 and a schema id: leave out --framing confluent", p.Bytes[0])
	case err != nil:
		return p, err
	}
	if want := s.found.ID.Number; prefix.Form == framing.ByID && want != 0 && prefix.ID != want {
		return p, fmt.Errorf("the prefix names schema id %d, and %s is id %d", prefix.ID, s.label, want)
	}
	if want := s.found.GUID; prefix.Form == framing.ByGUID && want != (schemas.GUID{}) && prefix.GUID != want {
		return p, fmt.Errorf("the prefix names GUID %s, and %s is %s", prefix.GUID, s.label, want)
	}
	p.Bytes = rest
	messages, ok := s.schema.(schemas.Messages)
	if !ok {
		return p, nil
	}
	path, rest, err := framing.SplitIndexes(rest, nil)
	if err != nil {
		return p, err
	}
	name, err := messages.MessageAt(path)
	if err != nil {
		return p, err
	}
	if p.Message != "" && p.Message != name {
		return p, fmt.Errorf("the message indexes name %s, and --message %s", name, p.Message)
	}
	p.Bytes, p.Message = rest, name
	return p, nil
}

// fromBase64 reads the standard and the URL alphabet, padded or not, white
// space anywhere.
func fromBase64(raw []byte) ([]byte, error) {
	text := strings.TrimRight(strings.Join(strings.Fields(string(raw)), ""), "=")
	text = strings.NewReplacer("-", "+", "_", "/").Replace(text)
	out, err := base64.RawStdEncoding.DecodeString(text)
	var at base64.CorruptInputError
	if errors.As(err, &at) {
		return nil, fmt.Errorf("character %d is not of the alphabet, or the text ends early", int64(at)+1)
	}
	return out, err
}
