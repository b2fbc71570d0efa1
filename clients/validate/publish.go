package validate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/schemas"
)

// BeforePublish validates a message and stamps it: the schema headers and
// messageId are added to m.Headers, m.MessageID is filled, and the payload gets
// its prefix when the pin asks for one. A header that is there already must
// agree and is left alone, so stamping twice is as stamping once.
//
// After an error nothing of m has changed.
//
// Errors: *Error. errors.Is(err, ErrPermanent) says that the message is refused
// for good, errors.Is(err, ErrUnavailable) that it could not be judged now and
// must not be published.
// Source: client specification 2.
func (v *Validator) BeforePublish(ctx context.Context, m *Message, p *Pin) error {
	start := v.options.Now()
	s := stamper{v: v, m: m, p: p}
	f := s.run(ctx)
	large := v.isLarge(m)
	if large && f == nil {
		v.warnLarge(m, &s)
	}
	if v.observes() {
		e := Event{Side: Publish, Verdict: Accept, Subject: s.subject, Version: s.version, Bytes: len(m.Payload), Large: large, Took: v.options.Now().Sub(start), Cached: s.cached}
		if f != nil {
			e.Verdict, e.Reason = f.Reason.Verdict(), f.Reason
		} else if s.retired {
			e.Retired = true
		}
		v.decided(ctx, m, &e)
	}
	if f != nil {
		return f
	}
	return nil
}

// isLarge tells whether a payload is more than a bus is for. One that was kept
// elsewhere is a reference by now.
func (v *Validator) isLarge(m *Message) bool {
	return v.options.LargePayload >= 0 && len(m.Payload) > v.options.LargePayload
}

// warnLarge warns of a payload, once a minute at most.
func (v *Validator) warnLarge(m *Message, s *stamper) {
	now, told := v.options.Now().UnixNano(), v.large.Load()
	if told != 0 && now-told < int64(time.Minute) || !v.large.CompareAndSwap(told, now) {
		return
	}
	v.Logger().Warn("a large payload is published: a bus is for kilobytes; keep it elsewhere and send a reference (clients/claim)",
		"destination", m.Destination, "subject", s.subject.String(), "version", int(s.version), "bytes", len(m.Payload), "limit_bytes", v.options.LargePayload)
}

// stamper stamps one message.
type stamper struct {
	v       *Validator
	m       *Message
	p       *Pin
	subject schemas.Subject
	version schemas.Version
	record  *record
	message string
	retired bool
	cached  bool
}

func (s *stamper) fail(r Reason, err error) *Error {
	e := &Error{Reason: r, Subject: s.subject, Version: s.version, Err: err}
	if s.record != nil {
		e.ID = s.record.found.ID
	}
	return e
}

func (s *stamper) run(ctx context.Context) *Error {
	if s.p.claims != nil {
		return s.claimed(ctx)
	}
	return s.stamp(ctx)
}

func (s *stamper) stamp(ctx context.Context) *Error {
	var id identity
	x := extra{}
	if f := collect(s.m, &Expect{Subject: s.p.subject}, &id, &x); f != nil {
		return s.fail(f.reason, f.err)
	}
	if f := id.checkTexts(&x); f != nil {
		return s.fail(f.reason, f.err)
	}
	if f := s.pin(ctx, x.original); f != nil {
		return f
	}
	s.message = s.m.Type
	if s.record.found.Source.Type == schemas.Protobuf && s.message == "" {
		if messages, ok := s.record.parsed.schema.(schemas.Messages); ok {
			s.message, _ = messages.MessageAt(firstMessage)
		}
	}
	stamps, f := s.stamps(&id)
	if f != nil {
		return f
	}
	payload, prefixed, f := s.payload(&id, &x)
	if f != nil {
		return f
	}
	if f := s.validate(payload); f != nil {
		return f
	}
	messageID, f := s.messageID()
	if f != nil {
		return f
	}
	s.m.Headers = append(s.m.Headers, stamps...)
	s.carry(ctx)
	if _, ok := s.m.header(framing.MessageID); !ok {
		s.m.set(framing.MessageID, messageID)
	}
	s.m.MessageID, s.m.Payload = messageID, prefixed
	return nil
}

// carry stamps the trace, unless the message is of one already.
func (s *stamper) carry(ctx context.Context) {
	if s.v.tracer == nil {
		return
	}
	carried := s.v.tracer.Carry(ctx)
	for _, h := range carried {
		if _, there := s.m.header(h.Name); there {
			return
		}
	}
	s.m.Headers = append(s.m.Headers, carried...)
}

// pin resolves the subject and the schema that the pin names.
func (s *stamper) pin(ctx context.Context, original string) *Error {
	destination := s.m.Destination
	if original != "" {
		destination = original
	}
	record := s.m.Type
	if s.p.subject.needsType() && record == "" {
		var f *Error
		if record, f = s.typeOfPin(ctx); f != nil {
			return f
		}
	}
	var err error
	if s.subject, err = s.p.subject.subject(s.m, destination, record); err != nil {
		return s.fail(SubjectMismatch, err)
	}
	var n name
	a := asking{}
	switch s.p.kind {
	case pinVersion:
		s.version = s.p.version
		n = name{kind: byVersion, subject: s.subject, number: int32(s.p.version)}
		if s.p.version < 1 {
			return s.fail(VersionUnknown, fmt.Errorf("pin a version: %d is not in 1…2147483647", s.p.version))
		}
	case pinGUID:
		n = guidName(s.p.guid, s.subject.Context)
	case pinLatest:
		n, a.fresh = name{kind: byLatest, subject: s.subject}, s.p.maxAge
	case pinText:
		n, a.source = name{kind: bySource, subject: s.subject, print: s.p.print}, s.p.source
	default:
		return s.fail(VersionUnknown, errors.New("pin a schema: the pin is empty: make one with Version, GUID, Latest or ByText"))
	}
	if s.record, s.cached, err = s.v.get(ctx, n, a); err != nil {
		return s.fail(reasonOf(err), err)
	}
	s.version, s.retired = s.record.found.Version, s.record.found.Deleted
	if s.p.kind == pinVersion {
		s.version = s.p.version
	}
	if s.p.kind == pinGUID {
		return s.versionOfGUID(ctx)
	}
	return nil
}

// typeOfPin is the full name of the pinned schema, where the pin gives the
// schema without its subject.
func (s *stamper) typeOfPin(ctx context.Context) (string, *Error) {
	var schema schemas.Schema
	title := ""
	switch s.p.kind {
	case pinGUID:
		r, _, err := s.v.get(ctx, guidName(s.p.guid, ""), asking{})
		if err != nil {
			return "", s.fail(reasonOf(err), err)
		}
		schema, title = r.parsed.schema, r.parsed.title
	case pinText:
		parsed, err := s.v.parse(ctx, schemas.Found{Source: s.p.source})
		if err != nil {
			return "", s.fail(reasonOf(err), err)
		}
		schema, title = parsed, titleOf(s.p.source)
	default:
		return "", s.fail(SubjectMismatch, errors.New("name the subject by type: set Message.Type to the payload's full name"))
	}
	b := binding{typ: schema.Source().Type, parsed: &parsed{schema: schema, title: title}}
	return b.recordName(""), nil
}

// versionOfGUID finds the version that a pinned GUID is in the subject. Not to
// know it is no error: the GUID says more.
func (s *stamper) versionOfGUID(ctx context.Context) *Error {
	s.version = 0
	source := s.record.found.Source
	r, cached, err := s.v.get(ctx, name{kind: bySource, subject: s.subject, print: printOf(source)}, asking{source: source})
	s.cached = s.cached && cached
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	if r.found.GUID == s.p.guid {
		s.version, s.retired = r.found.Version, r.found.Deleted
		s.record = &record{found: r.found, parsed: s.record.parsed, fetched: r.fetched}
	}
	return nil
}

// stamps gives the headers to add: those that are not there. Those that are
// must say the same.
func (s *stamper) stamps(id *identity) ([]Header, *Error) {
	f := &s.record.found
	names := &valueNames
	if s.m.IsKey {
		names = &keyNames
	}
	texts := s.record.texts(s.subject, s.version)
	message := stampText{}
	if f.Source.Type == schemas.Protobuf {
		message = stampTextOf(s.message)
	}
	out := make([]Header, 0, 8)
	for _, one := range [...]struct {
		name, there string
		stamp       *stampText
	}{
		{names.subject, id.subject, &texts.subject},
		{names.version, id.version, &texts.version},
		{names.id, id.id, &texts.id},
		{names.guid, id.guid, &texts.guid},
		{names.typ, id.typ, &texts.typ},
		{names.message, id.message, &message},
	} {
		stamp := one.stamp.text
		switch {
		case one.there == "" && stamp != "":
			if len(stamp) > framing.LongestText {
				return nil, s.fail(SubjectMismatch, fmt.Errorf("stamp the header %s: %d bytes, and %d are allowed", one.name, len(stamp), framing.LongestText))
			}
			out = append(out, Header{Name: one.name, Value: one.stamp.value})
		case one.there != "" && stamp != "" && !s.agrees(one.name, one.there, stamp):
			return nil, s.fail(IdentityConflict, fmt.Errorf("the header %s says %q already, and the pinned schema's is %q: remove it, or pin what it says", one.name, cut(one.there, 100), stamp))
		}
	}
	version, guid := texts.version.text, texts.guid.text
	agrees := id.binary == framing.Prefix{Form: framing.ByGUID, GUID: f.GUID} || id.binary == framing.Prefix{Form: framing.ByID, ID: f.ID.Number}
	if id.binary.Form != 0 && !agrees {
		return nil, s.fail(IdentityConflict, fmt.Errorf("the header %s says %s already, and the pinned schema is guid %s", names.binary, id.binary, guid))
	}
	if n, ok := parseDataschema(id.dataschema); ok && !s.isOf(n) {
		return nil, s.fail(IdentityConflict, fmt.Errorf("the dataschema says %q already, and the pinned schema is %s version %s (guid %s)", cut(id.dataschema, 100), s.subject, version, guid))
	}
	if s.p.binary && id.binary.Form == 0 {
		h, e := s.binaryHeader(names)
		if e != nil {
			return nil, e
		}
		out = append(out, h)
	}
	return append(out, s.dataschema(guid)...), nil
}

// isOf tells whether a name is one of the pinned schema's.
func (s *stamper) isOf(n name) bool {
	f := s.record.found
	switch n.kind {
	case byGUID:
		return n.guid == f.GUID
	case byID:
		return n.number == f.ID.Number
	default:
		return n.subject == s.subject && n.number == int32(s.version)
	}
}

// agrees compares a header that is there with what would be stamped.
func (s *stamper) agrees(header, there, stamp string) bool {
	if there == stamp {
		return true
	}
	switch header {
	case framing.SchemaGUID, framing.KeySchemaGUID:
		g, err := framing.ParseGUID(there)
		return err == nil && g.String() == stamp
	case framing.SchemaSubject, framing.KeySchemaSubject:
		return schemas.ParseSubject(there) == schemas.ParseSubject(stamp)
	}
	return false
}

func (s *stamper) binaryHeader(names *headerNames) (Header, *Error) {
	if s.record.found.GUID == (schemas.GUID{}) {
		return Header{}, s.fail(SchemaUnknown, fmt.Errorf("stamp the header %s: the registry does not give GUIDs", names.binary))
	}
	path, f := s.indexes()
	if f != nil {
		return Header{}, f
	}
	value, err := framing.JoinHeader(s.record.found.GUID, path)
	if err != nil {
		return Header{}, s.fail(PayloadInvalid, err)
	}
	return Header{Name: names.binary, Value: value}, nil
}

// indexes is the path of the Protobuf message; nil for the other formats.
func (s *stamper) indexes() (framing.Indexes, *Error) {
	if s.record.found.Source.Type != schemas.Protobuf {
		return nil, nil
	}
	messages, ok := s.record.parsed.schema.(schemas.Messages)
	if !ok {
		return nil, s.fail(SchemaUnparsable, errors.New("the format cannot give a message's indexes"))
	}
	path := messages.IndexesOf(s.message)
	if path == nil {
		return nil, s.fail(PayloadInvalid, fmt.Errorf("the schema has no message %q", cut(s.message, 255)))
	}
	return path, nil
}

// dataschema stamps the attribute of a message that is a CloudEvent already.
func (s *stamper) dataschema(guid string) []Header {
	if guid == "" || s.m.IsKey {
		return nil
	}
	prefix := ""
	for _, h := range s.m.Headers {
		if isCloudEvent(h.Name, "dataschema") && h.Value != nil {
			return nil
		}
		if isCloudEvent(h.Name, "specversion") {
			prefix = h.Name[:len(h.Name)-len("specversion")]
		}
	}
	if prefix == "" {
		return nil
	}
	return []Header{{Name: prefix + "dataschema", Value: "urn:uuid:" + guid}}
}

// payload gives the data to validate and the payload to publish. A payload that
// was stamped before keeps its prefix.
func (s *stamper) payload(id *identity, x *extra) (data, publish []byte, f *Error) {
	data = x.payload
	if !s.p.prefix || data == nil {
		return data, s.m.Payload, nil
	}
	if x.isEvent {
		return nil, nil, s.fail(PayloadInvalid, errors.New("put the prefix before the payload: it is a structured CloudEvent, whose data stands inside: pin without WithPrefix, or send the event in binary mode"))
	}
	want := framing.Prefix{Form: framing.ByID, ID: s.record.found.ID.Number}
	path, f := s.indexes()
	if f != nil {
		return nil, nil, f
	}
	head, err := framing.Join(make([]byte, 0, len(data)+16), want)
	if err == nil && path != nil {
		head, err = framing.AppendIndexes(head, path)
	}
	if err != nil {
		return nil, nil, s.fail(SchemaUnknown, fmt.Errorf("put the prefix before the payload: %w", err))
	}
	if id.id != "" && id.version != "" && len(data) >= len(head) && string(data[:len(head)]) == string(head) {
		return data[len(head):], s.m.Payload, nil
	}
	return data, append(head, data...), nil
}

func (s *stamper) validate(payload []byte) *Error {
	if payload == nil {
		return nil
	}
	schema := s.record.parsed.schema
	message := ""
	if s.record.found.Source.Type == schemas.Protobuf {
		message = s.message
	}
	reading := schema.Reads(schema, schemas.Payload{Bytes: payload, Message: message}, s.v.options.Read)
	if reading.OK() {
		return nil
	}
	f := s.fail(kindReason(reading.Violations[0].Kind), nil)
	f.Violations, f.More = bounded(reading.Violations)
	return f
}

// messageID is the producer's id: the one that is there, or a new random one.
func (s *stamper) messageID() (string, *Error) {
	there := ""
	if h, ok := s.m.header(framing.MessageID); ok {
		text, _, err := h.Text()
		if err == nil {
			_, err = framing.ParseText(framing.MessageID, text)
		}
		if err != nil {
			return "", s.fail(HeaderMalformed, err)
		}
		there = text
	}
	switch given := s.m.MessageID; {
	case len(given) > framing.LongestText:
		return "", s.fail(HeaderMalformed, fmt.Errorf("the message id has %d bytes, and %d are allowed", len(given), framing.LongestText))
	case there != "" && given != "" && there != given:
		return "", s.fail(IdentityConflict, fmt.Errorf("the header messageId says %q, the message's id is %q", there, given))
	case there != "":
		return there, nil
	case given != "":
		return given, nil
	}
	return rand.Text(), nil
}
