package main

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// inspection is the document of a run.
type inspection struct {
	Version  int        `json:"version"`
	Tool     string     `json:"tool"`
	Messages []examined `json:"messages"`
}

// examined is what is known of one message.
type examined struct {
	Source   string       `json:"source"`
	Encoding string       `json:"encoding"`
	Bytes    int          `json:"bytes"`
	Null     bool         `json:"null,omitempty"` // a tombstone
	Framing  string       `json:"framing"`
	Headers  []headerText `json:"headers"`
	Schema   *schemaNamed `json:"schema"`
	// Verdict is valid, invalid, or unknown where there is no schema.
	Verdict    string          `json:"verdict"`
	Reason     string          `json:"reason,omitempty"`
	Problem    string          `json:"problem,omitempty"`
	Violations []violation     `json:"violations,omitempty"`
	Document   json.RawMessage `json:"document,omitempty"`
	// Fields are those of a Protobuf message whose schema is not known.
	Fields []wireField `json:"fields,omitempty"`
	// Base64 is the payload without its framing, where it is no document.
	Base64 string `json:"payloadBase64,omitempty"`

	payload []byte
}

type headerText struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type schemaNamed struct {
	Label   string          `json:"label"`
	Subject string          `json:"subject,omitempty"`
	Version schemas.Version `json:"version,omitempty"`
	ID      int32           `json:"id,omitempty"`
	GUID    string          `json:"guid,omitempty"`
	Type    schemas.Type    `json:"type"`
	Message string          `json:"message,omitempty"`
}

// examiner decodes messages.
type examiner struct {
	ask       inspecting
	with      *known // of --schema, else nil
	validator *validate.Validator
	end       func()
}

func (a *app) newExaminer(ctx context.Context, i inspecting) (*examiner, error) {
	e := &examiner{ask: i, end: func() {}}
	if i.schema != "" {
		var err error
		if e.with, err = a.subjectSchema(ctx, i.schema, validating{root: i.root, registry: i.registry}); err != nil {
			return nil, err
		}
		if err := e.with.knows(i.message); err != nil {
			return nil, fail(exitUsage, err)
		}
		return e, nil
	}
	client, err := dial(i.registry)
	if err != nil {
		return nil, err
	}
	var bundles []validate.Lookup
	if i.bundle != "" {
		b, err := openBundle(ctx, i.bundle)
		if err != nil {
			return nil, err
		}
		bundles = append(bundles, b.Bundle)
	}
	e.validator = judgeOver(client, bundles...)
	e.end = func() {
		e.validator.Close()
		client.Close()
	}
	return e, nil
}

func (e *examiner) close() { e.end() }

// examine says all that can be said of a message, and the exit code for it.
func (e *examiner) examine(ctx context.Context, in incoming) (examined, int) {
	m := in.message
	x := examined{Source: in.source, Encoding: in.encoding, Bytes: len(m.Payload), Null: m.Payload == nil, Headers: []headerText{}, Verdict: "unknown", payload: m.Payload}
	for _, h := range m.Headers {
		x.Headers = append(x.Headers, headerText{h.Name, headerValue(h)})
	}
	if in.problem != "" {
		x.Problem = in.problem
		return x, exitNotCompared
	}
	foreign, isForeign := e.frame(&x, &m)
	if x.Null {
		x.Verdict, x.Problem = "valid", "the payload is null: a tombstone"
		return x, exitOK
	}
	if e.with != nil {
		return e.withSchema(x, &m, in)
	}
	return e.withRegistry(ctx, x, &m, in, foreign, isForeign)
}

// frame says how the message names its schema.
func (e *examiner) frame(x *examined, m *validate.Message) (framing.Foreign, bool) {
	if e.ask.framing == "none" {
		x.Framing = "none"
		return framing.Foreign{}, false
	}
	var ways []string
	binary := framing.BinaryValue
	if m.IsKey {
		binary = framing.BinaryKey
	}
	for _, h := range m.Headers {
		if h.Name == binary {
			value, _, _ := h.Bytes()
			if p, _, err := framing.SplitHeader(value); err == nil {
				ways = append(ways, "header "+h.Name+", "+p.String())
			} else {
				ways = append(ways, "header "+h.Name+", malformed")
			}
		}
	}
	foreign, isForeign := framing.RecognizeHeaders(m.Headers, m.IsKey)
	if !isForeign {
		if foreign, isForeign = framing.RecognizeContentType(m.ContentType); !isForeign {
			foreign, isForeign = framing.Recognize(m.Payload)
		}
	}
	switch {
	case isForeign:
		ways = append(ways, foreign.String())
	default:
		if p, _, err := framing.Split(m.Payload); err == nil {
			ways = append(ways, "Confluent prefix, "+p.String())
		}
	}
	if strings.HasPrefix(m.ContentType, "application/cloudevents") {
		ways = append(ways, "CloudEvents, structured")
	}
	if slices.ContainsFunc(m.Headers, func(h validate.Header) bool {
		return h.Name == framing.SchemaGUID || h.Name == framing.SchemaVersion || h.Name == framing.SchemaID && !framing.IsAzureID(headerValue(h))
	}) {
		ways = append(ways, "headers of Cartório")
	}
	if len(ways) == 0 {
		ways = []string{"none"}
	}
	x.Framing = strings.Join(ways, "; ")
	return foreign, isForeign
}

// withSchema reads with the schema that was named. A prefix is taken off where
// the payload has one and does not fit with it.
func (e *examiner) withSchema(x examined, m *validate.Message, in incoming) (examined, int) {
	s := e.with
	x.Schema = &schemaNamed{Label: s.label, Type: s.schema.Source().Type, Message: e.ask.message}
	if in.readsJSON(s.schema) {
		return x.readJSON(s, m.Payload, e.ask.message)
	}
	payload := schemas.Payload{Bytes: m.Payload, Message: e.ask.message}
	prefix, _, err := framing.Split(m.Payload)
	reading := s.schema.Reads(s.schema, payload, schemas.ReadOptions{})
	if e.ask.framing == "confluent" || e.ask.framing == "auto" && err == nil && prefix.Form != 0 && !reading.OK() {
		if payload, err = s.unframe(payload); err != nil {
			x.Verdict, x.Reason, x.Problem = "invalid", validate.PayloadUnreadable.String(), err.Error()
			x.guess(m.Payload)
			return x, exitFindings
		}
		reading = s.schema.Reads(s.schema, payload, schemas.ReadOptions{})
	}
	x.Schema.Message, x.payload = payload.Message, payload.Bytes
	if !reading.OK() {
		x = x.invalid(reading.Violations[0].Kind.String(), "", reading.Violations)
		x.hintJSON(s.schema, payload)
		return x, exitFindings
	}
	x.show(s.schema, payload)
	return x, exitOK
}

// withRegistry finds the schema that the message names.
func (e *examiner) withRegistry(ctx context.Context, x examined, m *validate.Message, in incoming, foreign framing.Foreign, isForeign bool) (examined, int) {
	expect := validate.Expect{Framing: validate.Detect}
	prefix, rest, err := framing.Split(m.Payload)
	isFramed := err == nil && prefix.Form != 0 && e.ask.framing != "none" && (!isForeign || foreign.Vendor != framing.Azure)
	switch {
	case e.ask.framing == "none":
		expect.Framing = validate.Plain
	case e.ask.framing == "confluent":
		expect.Framing = validate.Confluent
	case isFramed && !e.namesSchema(m):
		expect.Framing = validate.Confluent
	}
	o := e.validator.BeforeConsume(ctx, m, &expect)
	x.payload = m.Payload
	if o.Payload != nil {
		x.payload = o.Payload
	}
	if o.Writer != nil {
		x.Schema = &schemaNamed{
			Label: o.Subject.String(), Subject: o.Subject.String(), Version: o.Version, ID: o.ID.Number, Type: o.Type, Message: o.Message,
		}
		if o.GUID != (schemas.GUID{}) {
			x.Schema.GUID = o.GUID.String()
		}
	}
	if o.Writer != nil && in.readsJSON(o.Writer) {
		return x.readJSON(&known{schema: o.Writer}, m.Payload, o.Message)
	}
	if o.Verdict == validate.Accept {
		x.Reason = o.Reason.String()
		x.show(o.Writer, schemas.Payload{Bytes: x.payload, Message: o.Message})
		return x, exitOK
	}
	problem := ""
	if o.Err != nil {
		problem = o.Err.Error()
	}
	if o.Writer == nil {
		if isFramed {
			x.payload = rest
		}
		if isForeign {
			x.payload, problem = unwrapped(m.Payload, foreign, problem)
		}
	}
	switch o.Reason {
	case validate.HeaderMissing:
		x.Reason, x.Problem = o.Reason.String(), orWord(problem, "nothing in it names a schema: say --schema or --header")
		x.guess(x.payload)
		return x, exitOK
	case validate.RegistryUnreachable, validate.RegistryUnintelligible:
		x.Reason, x.Problem = o.Reason.String(), problem
		x.guess(x.payload)
		return x, exitUnreachable
	case validate.RegistryRefused:
		x.Reason, x.Problem = o.Reason.String(), problem
		x.guess(x.payload)
		return x, exitRefused
	case validate.SubjectUnknown, validate.VersionUnknown, validate.SchemaUnknown, validate.SchemaUnparsable:
		x.Reason, x.Problem = o.Reason.String(), problem
		x.guess(x.payload)
		return x, exitNotCompared
	default:
		x = x.invalid(o.Reason.String(), problem, o.Violations)
		if o.Writer != nil {
			x.hintJSON(o.Writer, schemas.Payload{Bytes: x.payload, Message: o.Message})
		}
		return x, exitFindings
	}
}

// namesSchema tells whether headers name the schema, so that a prefix need not.
func (e *examiner) namesSchema(m *validate.Message) bool {
	return slices.ContainsFunc(m.Headers, func(h validate.Header) bool {
		return slices.Contains([]string{
			framing.SchemaGUID, framing.SchemaID, framing.SchemaVersion, framing.BinaryValue,
			framing.KeySchemaGUID, framing.KeySchemaID, framing.KeySchemaVersion, framing.BinaryKey,
		}, h.Name)
	})
}

func (x examined) invalid(reason, problem string, list []schemas.Violation) examined {
	x.Verdict, x.Reason, x.Violations = "invalid", reason, violationsOf(list)
	if len(list) == 0 || problem != list[0].Text {
		x.Problem = problem
	}
	x.guess(x.payload)
	return x
}

// show writes a payload that its schema reads.
func (x *examined) show(s schemas.Schema, p schemas.Payload) {
	x.Verdict, x.payload = "valid", p.Bytes
	if s.Source().Type == schemas.JSON {
		x.Document = bytes.Clone(p.Bytes)
		return
	}
	documents, ok := s.(schemas.Documents)
	if !ok {
		x.guess(p.Bytes)
		return
	}
	text, list := documents.DocumentOf(p, schemas.ReadOptions{})
	if len(list) > 0 {
		x.Problem = "it is valid and has no form as a document: " + list[0].Text
		x.guess(p.Bytes)
		return
	}
	x.Document = text
}

// guess shows a payload without a schema.
func (x *examined) guess(payload []byte) {
	if json.Valid(payload) {
		x.Document = bytes.Clone(payload)
		return
	}
	x.Base64 = base64.StdEncoding.EncodeToString(payload)
	if fields, ok := wireFields(payload); ok {
		x.Fields = fields
	}
}

// mostInflated bounds what a compressed payload becomes.
const mostInflated = 8 << 20

// unwrapped takes another product's framing off.
func unwrapped(payload []byte, f framing.Foreign, problem string) ([]byte, string) {
	payload = payload[min(f.Size, len(payload)):]
	why := "it names its schema in a registry that is not ours: " + f.String()
	if problem != "" {
		why += " (" + problem + ")"
	}
	if f.Compression == 0 {
		return payload, why
	}
	r, err := zlib.NewReader(bytes.NewReader(payload))
	var out []byte
	if err == nil {
		if out, err = io.ReadAll(io.LimitReader(r, mostInflated+1)); err == nil && len(out) > mostInflated {
			err = fmt.Errorf("it becomes more than %d bytes", mostInflated)
		}
	}
	if err != nil {
		return payload, why + "; its payload is said to be compressed and is not readable: " + err.Error()
	}
	return out, why
}

// headerValue is a header's value for people.
func headerValue(h validate.Header) string {
	switch v := h.Value.(type) {
	case nil:
		return "null"
	case string:
		return v
	case []byte:
		if utf8.Valid(v) && !slices.ContainsFunc(v, func(b byte) bool { return b < ' ' }) {
			return string(v)
		}
		return fmt.Sprintf("hex:%x", v)
	}
	return fmt.Sprint(h.Value)
}

func sortedNames(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
