package framing

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas"
)

// The headers of Cartório: the same names on every broker, exact case.
const (
	SchemaVersion = "schemaVersion"
	SchemaSubject = "schemaSubject"
	SchemaID      = "schemaId"
	SchemaGUID    = "schemaGuid"
	SchemaType    = "schemaType"
	SchemaMessage = "schemaMessage"

	KeySchemaVersion = "keySchemaVersion"
	KeySchemaSubject = "keySchemaSubject"
	KeySchemaID      = "keySchemaId"
	KeySchemaGUID    = "keySchemaGuid"
	KeySchemaType    = "keySchemaType"
	KeySchemaMessage = "keySchemaMessage"

	MessageID     = "messageId"
	MessageKey    = "messageKey"
	EventSequence = "eventSequence"

	// BinaryValue and BinaryKey are the binary headers of newer Confluent
	// clients; see [SplitHeader].
	BinaryValue = "__value_schema_id"
	BinaryKey   = "__key_schema_id"
)

// LongestText is the most bytes that a subject or a message id may have.
const LongestText = 255

// ErrMalformed says that a header's value is not what its name promises.
var ErrMalformed = errors.New("header is malformed")

// Header is one header of a message, as its broker's library gives it. A nil
// value is the same as no header.
type Header struct {
	Name  string
	Value any
}

// Text is the value as text; ok is false when there is none.
//
// Text, bytes that are UTF-8 without a byte-order mark, and integers of every
// size (as their decimal text) are read.
//
// Errors: ErrMalformed for an empty value, and for every other kind of value:
// brokers and libraries lose or change those on the way.
// Source: client specification 1.12.
func (h Header) Text() (text string, ok bool, err error) {
	switch v := h.Value.(type) {
	case nil:
		return "", false, nil
	case string:
		text = v
	case []byte:
		if v == nil {
			return "", false, nil
		}
		text = string(v)
	case int:
		return strconv.Itoa(v), true, nil
	case int8:
		return strconv.FormatInt(int64(v), 10), true, nil
	case int16:
		return strconv.FormatInt(int64(v), 10), true, nil
	case int32:
		return strconv.FormatInt(int64(v), 10), true, nil
	case int64:
		return strconv.FormatInt(v, 10), true, nil
	case uint:
		return strconv.FormatUint(uint64(v), 10), true, nil
	case uint8:
		return strconv.FormatUint(uint64(v), 10), true, nil
	case uint16:
		return strconv.FormatUint(uint64(v), 10), true, nil
	case uint32:
		return strconv.FormatUint(uint64(v), 10), true, nil
	case uint64:
		return strconv.FormatUint(v, 10), true, nil
	default:
		return "", false, h.malformed(fmt.Sprintf("a value of kind %T is neither text, bytes nor an integer", v))
	}
	switch {
	case text == "":
		return "", false, h.malformed("the value is empty")
	case !utf8.ValidString(text):
		return "", false, h.malformed("the value is not UTF-8")
	case len(text) >= 3 && text[:3] == "\ufeff":
		return "", false, h.malformed("the value begins with a byte-order mark")
	}
	return text, true, nil
}

// Bytes is the value as bytes, for the binary headers; ok is false when there
// is none.
//
// Errors: ErrMalformed for a value that is neither bytes nor text.
func (h Header) Bytes() (value []byte, ok bool, err error) {
	switch v := h.Value.(type) {
	case nil:
		return nil, false, nil
	case []byte:
		return v, v != nil, nil
	case string:
		return []byte(v), true, nil
	}
	return nil, false, h.malformed(fmt.Sprintf("a value of kind %T is not bytes", h.Value))
}

func (h Header) malformed(why string) error {
	return fmt.Errorf("read the header %s: %w: %s", h.Name, ErrMalformed, why)
}

// ParseVersion reads the value of schemaVersion: 1 to 2147483647 in decimal
// digits without sign, space or leading zero. Never "latest": a message names
// one schema for ever.
//
// Errors: ErrMalformed.
func ParseVersion(text string) (schemas.Version, error) {
	n, err := parseNumber(text)
	if err != nil {
		return 0, fmt.Errorf("read the version %s: %w", quoted(text), err)
	}
	return schemas.Version(n), nil
}

// ParseID reads the value of schemaId, by the grammar of ParseVersion. Another
// product's schemaId of 32 hex digits is not ours: see [IsAzureID].
//
// Errors: ErrMalformed.
func ParseID(text string) (int32, error) {
	n, err := parseNumber(text)
	if err != nil {
		return 0, fmt.Errorf("read the schema id %s: %w", quoted(text), err)
	}
	return n, nil
}

// ParseGUID reads the value of schemaGuid: UUID text or its 32 hex digits, in
// any letter case. Writers write UUID text in lower case.
//
// Errors: ErrMalformed.
func ParseGUID(text string) (schemas.GUID, error) {
	g, err := schemas.ParseGUID(text)
	if err != nil {
		return g, fmt.Errorf("read the schema GUID %s: %w: UUID text is expected", quoted(text), ErrMalformed)
	}
	return g, nil
}

// ParseType reads the value of schemaType: AVRO, PROTOBUF or JSON.
//
// Errors: ErrMalformed.
func ParseType(text string) (schemas.Type, error) {
	if text != "" {
		if t, err := schemas.ParseType(text); err == nil {
			return t, nil
		}
	}
	return "", fmt.Errorf("read the schema type %s: %w: AVRO, PROTOBUF or JSON is expected", quoted(text), ErrMalformed)
}

// ParseText reads the value of a header that is free text, such as
// schemaSubject: 1 to 255 bytes.
//
// Errors: ErrMalformed.
func ParseText(name, text string) (string, error) {
	if text == "" || len(text) > LongestText {
		return "", fmt.Errorf("read the header %s: %w: %d bytes, and 1 to %d are allowed", name, ErrMalformed, len(text), LongestText)
	}
	return text, nil
}

func parseNumber(text string) (int32, error) {
	if text == "" || len(text) > 10 || text[0] < '1' || text[0] > '9' {
		return 0, fmt.Errorf("%w: digits from 1 to 2147483647 are expected", ErrMalformed)
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%w: digits from 1 to 2147483647 are expected", ErrMalformed)
	}
	return int32(n), nil
}

// quoted shows a foreign text without letting it flood a log.
func quoted(text string) string {
	const most = 64
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}
