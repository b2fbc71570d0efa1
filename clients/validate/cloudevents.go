package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/schemas"
)

// cloudEvents are the ways in which bindings write an attribute's header.
var cloudEvents = [...]string{"cloudEvents_", "cloudEvents:", "ce_", "ce-"}

func isCloudEvent(header, attribute string) bool {
	for _, prefix := range cloudEvents {
		if len(header) == len(prefix)+len(attribute) && strings.HasPrefix(header, prefix) && strings.HasSuffix(header, attribute) {
			return true
		}
	}
	return false
}

// parseDataschema reads a CloudEvents dataschema: urn:uuid:GUID, or a URL whose
// path ends in /schemas/ids/N, /schemas/guids/GUID or /subjects/S/versions/N.
// The URL is read and never fetched. Any other URI is an identity that is not
// ours, which is no error.
//
// Source: client specification 1.8.
func parseDataschema(text string) (n name, ok bool) {
	if rest, is := strings.CutPrefix(text, "urn:uuid:"); is {
		g, err := framing.ParseGUID(rest)
		return name{kind: byGUID, guid: g}, err == nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return name{}, false
	}
	parts := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	for i := range parts {
		if parts[i], err = url.PathUnescape(parts[i]); err != nil {
			return name{}, false
		}
	}
	end := func(back int) string {
		if back > len(parts) {
			return ""
		}
		return parts[len(parts)-back]
	}
	context := schemas.DefaultContext
	switch {
	case end(3) == "schemas" && end(2) == "ids":
		number, err := framing.ParseID(end(1))
		if end(5) == "contexts" {
			if context, ok = contextOf(end(4)); !ok {
				return name{}, false
			}
		}
		return name{kind: byID, subject: schemas.Subject{Context: context}, number: number}, err == nil
	case end(3) == "schemas" && end(2) == "guids":
		g, err := framing.ParseGUID(end(1))
		return name{kind: byGUID, guid: g}, err == nil
	case end(4) == "subjects" && end(2) == "versions" && end(3) != "":
		number, err := framing.ParseVersion(end(1))
		subject := schemas.ParseSubject(end(3))
		if end(6) == "contexts" {
			if context, ok = contextOf(end(5)); !ok {
				return name{}, false
			}
			if subject.Context == schemas.DefaultContext {
				subject.Context = context
			}
		}
		return name{kind: byVersion, subject: subject, number: int32(number)}, err == nil
	}
	return name{}, false
}

func contextOf(text string) (schemas.Context, bool) {
	c, err := schemas.ParseContext(text)
	return c, err == nil
}

// isStructured tells whether the whole event stands in the body.
func isStructured(contentType string) bool {
	return len(contentType) >= 23 && strings.EqualFold(contentType[:23], "application/cloudevents")
}

const mostPayload = 8 << 20

// unwrap takes the data and the dataschema out of a structured event.
func unwrap(contentType string, id *identity, x *extra) *failure {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	if strings.TrimSpace(kind) != "application/cloudevents+json" {
		return fail(PayloadUnreadable, "the content type %s: of structured CloudEvents only application/cloudevents+json is read", strconv.Quote(cut(contentType, 100)))
	}
	if len(x.payload) > mostPayload {
		return fail(PayloadTooLarge, "the event has %d bytes, and %d are allowed", len(x.payload), mostPayload)
	}
	x.isEvent = true
	event, err := members(x.payload)
	if err != nil {
		return &failure{reason: PayloadUnreadable, err: fmt.Errorf("read a structured CloudEvent: %w", err)}
	}
	if raw, ok := event["dataschema"]; ok {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return fail(HeaderMalformed, "the event's dataschema is no string")
		}
		if id.dataschema != "" && text != "" && id.dataschema != text {
			return fail(IdentityConflict, "dataschema is %q in the headers and %q in the event", cut(id.dataschema, 100), cut(text, 100))
		}
		if len(text) <= longestDataschema {
			id.dataschema = text
		}
	}
	data, isData := event["data"]
	encoded, isEncoded := event["data_base64"]
	switch {
	case isData && isEncoded:
		return fail(PayloadUnreadable, "the event has both data and data_base64")
	case isData:
		x.payload = data
	case isEncoded:
		var raw []byte // x itself is to stay on the stack of the hot path
		if err := json.Unmarshal(encoded, &raw); err != nil {
			return fail(PayloadUnreadable, "data_base64 is not base64: %w", err)
		}
		x.payload = raw
	default:
		x.payload = nil // an event without data is a tombstone
	}
	return nil
}

// members reads the members of one JSON object, and refuses a name that stands
// twice.
func members(text []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("a JSON object is expected")
	}
	out := map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, ok := t.(string)
		if !ok {
			return nil, errors.New("a member's name is expected")
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, err
		}
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("the member %q stands twice", cut(key, 100))
		}
		out[key] = raw
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text follows the object")
	}
	return out, nil
}
