package validate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/schemas"
)

// identity is everything that a message says of its schema, as written, and
// what the subject depends on. Equal identities are bound to the same schema, so
// it is the key of the hot path.
type identity struct {
	expect      *Expect
	guid        string
	id          string
	subject     string
	version     string
	typ         string
	message     string
	dataschema  string
	binary      framing.Prefix // of the binary header
	prefix      framing.Prefix // of the payload, when it counts as an identity
	destination string
	routing     string
	isKey       bool
}

// append writes the identity as bytes, so that different ones differ.
func (id *identity) append(dst []byte) []byte {
	for _, s := range [...]string{id.guid, id.id, id.subject, id.version, id.typ, id.message, id.dataschema, id.destination, id.routing} {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	for _, p := range [...]*framing.Prefix{&id.binary, &id.prefix} {
		dst = append(dst, byte(p.Form))
		switch p.Form {
		case framing.ByID:
			dst = binary.BigEndian.AppendUint32(dst, uint32(p.ID))
		case framing.ByGUID:
			dst = append(dst, p.GUID[:]...)
		}
	}
	if id.isKey {
		dst = append(dst, 1)
	}
	return dst
}

// says tells whether the message names a schema at all.
func (id *identity) says() bool {
	return id.guid != "" || id.id != "" || id.version != "" || id.dataschema != "" || id.binary.Form != 0 || id.prefix.Form != 0
}

// inHeaders is says, without the payload's prefix.
func (id *identity) inHeaders() bool {
	return id.guid != "" || id.id != "" || id.version != "" || id.dataschema != "" || id.binary.Form != 0
}

// extra is what is read beside the identity.
type extra struct {
	payload []byte // without framing
	indexes []byte // of the binary header, Protobuf
	isSplit bool   // a prefix was taken off the payload
	// tentative is a prefix that Detect may yet take for data.
	tentative   framing.Prefix
	isConfirmed bool // the registry says that it is the bound schema's
	behind      []byte
	foreign     framing.Foreign
	original    string // dlqOriginalDestination
	apicurio    string // the message's name of Apicurio's serializers
	isEvent     bool   // the payload was taken out of a structured CloudEvent
}

type slot uint8

const (
	noSlot slot = iota
	slotGUID
	slotID
	slotSubject
	slotVersion
	slotType
	slotMessage
	slotBinary
	slotDataschema
	slotOriginal
	slotForeign
)

// slotOf tells which part of an identity a header is.
func slotOf(h string, key bool) slot {
	if len(h) < 8 || len(h) > 32 {
		return noSlot
	}
	switch h[0] {
	case 's', 'k', '_':
		return ownSlot(h, key)
	case 'c':
		if isCloudEvent(h, "dataschema") {
			return slotDataschema
		}
	case 'd':
		if h == DLQOriginalDestination {
			return slotOriginal
		}
	case 'a':
		if strings.HasPrefix(h, "apicurio.") {
			return slotForeign
		}
	}
	return noSlot
}

func ownSlot(h string, key bool) slot {
	s, isKey := noSlot, false
	switch h {
	case framing.SchemaGUID:
		s = slotGUID
	case framing.SchemaID:
		s = slotID
	case framing.SchemaSubject:
		s = slotSubject
	case framing.SchemaVersion:
		s = slotVersion
	case framing.SchemaType:
		s = slotType
	case framing.SchemaMessage:
		s = slotMessage
	case framing.BinaryValue:
		s = slotBinary
	case framing.KeySchemaGUID:
		s, isKey = slotGUID, true
	case framing.KeySchemaID:
		s, isKey = slotID, true
	case framing.KeySchemaSubject:
		s, isKey = slotSubject, true
	case framing.KeySchemaVersion:
		s, isKey = slotVersion, true
	case framing.KeySchemaType:
		s, isKey = slotType, true
	case framing.KeySchemaMessage:
		s, isKey = slotMessage, true
	case framing.BinaryKey:
		s, isKey = slotBinary, true
	}
	if isKey != key {
		return noSlot
	}
	return s
}

// longestDataschema bounds what is kept of a message beside its binding.
const longestDataschema = 2 << 10

// collect reads what a message says of its schema. It asks nobody, and checks
// kinds and duplicates; the grammar of what was read is checked when it is
// bound, once per identity.
func collect(m *Message, e *Expect, id *identity, x *extra) *failure {
	id.expect, id.isKey = e, m.IsKey
	x.payload = m.Payload
	isForeign := false
	for i := range m.Headers {
		h := &m.Headers[i]
		s := slotOf(h.Name, m.IsKey)
		switch s {
		case noSlot:
			continue
		case slotForeign:
			isForeign = true
			continue
		default:
		}
		if f := id.take(s, h, x); f != nil {
			return f
		}
	}
	if isForeign {
		x.takeForeign(m)
	}
	if e.Subject.needsDestination() {
		id.destination = m.Destination
		if x.original != "" {
			id.destination = x.original
		}
	}
	if e.Subject.kind == byRoutingKey {
		id.routing = m.RoutingKey
	}
	if m.ContentType != "" {
		if f, ok := framing.RecognizeContentType(m.ContentType); ok && x.foreign.Vendor == "" {
			x.foreign = f
		}
		if isStructured(m.ContentType) {
			if f := unwrap(m.ContentType, id, x); f != nil {
				return f
			}
		}
	}
	return unframe(e, id, x)
}

// take puts one header into the identity.
func (id *identity) take(s slot, h *Header, x *extra) *failure {
	switch s {
	case slotBinary:
		return id.takeBinary(h, x)
	default:
	}
	text, ok := plainText(h.Value)
	if !ok {
		var err error
		if text, ok, err = h.Text(); err != nil {
			return &failure{reason: HeaderMalformed, err: err}
		}
		if !ok {
			return nil
		}
	}
	var field *string
	switch s {
	case slotGUID:
		field = &id.guid
	case slotID:
		if framing.IsAzureID(text) {
			x.foreign, _ = framing.RecognizeHeader(Header{Name: framing.SchemaID, Value: text}, false)
			return nil
		}
		field = &id.id
	case slotSubject:
		field = &id.subject
	case slotVersion:
		field = &id.version
	case slotType:
		field = &id.typ
	case slotMessage:
		field = &id.message
	case slotDataschema:
		if len(text) > longestDataschema {
			return nil // a URI, and none of ours
		}
		field = &id.dataschema
	case slotOriginal:
		field = &x.original
	default:
		return nil
	}
	if *field != "" && *field != text {
		return fail(HeaderConflict, "the header %s stands twice with two values, %q and %q", h.Name, cut(*field, 64), cut(text, 64))
	}
	*field = text
	return nil
}

// plainText is a header's value as it is, without the checks of Header.Text but
// that it is not empty: those are made once for each identity, when it is bound.
// Bytes are not copied, so the text lives as long as the message: whatever is
// kept is cloned.
func plainText(value any) (text string, ok bool) {
	switch v := value.(type) {
	case string:
		return v, v != ""
	case []byte:
		return unsafe.String(unsafe.SliceData(v), len(v)), len(v) > 0
	}
	return "", false
}

// checkTexts makes the checks that plainText left out, for headers that have no
// grammar of their own.
func (id *identity) checkTexts(x *extra) *failure {
	names := &valueNames
	if id.isKey {
		names = &keyNames
	}
	original := ""
	if id.expect.Subject.needsDestination() {
		original = x.original
	}
	for _, one := range [...]struct{ name, text string }{{names.subject, id.subject}, {names.message, id.message}, {"dataschema", id.dataschema}, {DLQOriginalDestination, original}} {
		if one.text == "" {
			continue
		}
		if _, _, err := (Header{Name: one.name, Value: one.text}).Text(); err != nil {
			return &failure{reason: HeaderMalformed, err: err}
		}
	}
	return nil
}

// clone is the identity in memory of its own.
func (id identity) clone() identity {
	for _, s := range [...]*string{&id.guid, &id.id, &id.subject, &id.version, &id.typ, &id.message, &id.dataschema, &id.destination, &id.routing} {
		*s = strings.Clone(*s)
	}
	return id
}

// slot is where an identity is looked for first.
func (id *identity) slot() uint8 {
	h := uint8(len(id.message)) + uint8(id.prefix.ID) + id.prefix.GUID[15] + id.binary.GUID[15]
	for _, s := range [...]string{id.guid, id.version, id.id, id.subject} {
		if s != "" {
			h = h*31 + s[len(s)-1]
		}
	}
	return h % mostRecent
}

func (id *identity) takeBinary(h *Header, x *extra) *failure {
	value, ok, err := h.Bytes()
	if !ok && err == nil {
		return nil
	}
	var p framing.Prefix
	var rest []byte
	if err == nil {
		p, rest, err = framing.SplitHeader(value)
	}
	if err != nil {
		return &failure{reason: HeaderMalformed, err: fmt.Errorf("the header %s: %w", h.Name, err)}
	}
	if id.binary.Form != 0 && (id.binary != p || string(rest) != string(x.indexes)) {
		return fail(HeaderConflict, "the header %s stands twice with two values", h.Name)
	}
	id.binary, x.indexes = p, rest
	return nil
}

// unframe takes the payload's prefix off, where there is to be one.
func unframe(e *Expect, id *identity, x *extra) *failure {
	if e.Framing == Plain || id.binary.Form != 0 || x.payload == nil {
		return nil
	}
	p, data, err := framing.Split(x.payload)
	if err == nil && isDigitsID(p) && framing.IsAzure(x.payload) {
		// An old form of Azure's reads as a prefix whose id is its first digit.
		err = fmt.Errorf("split a value: %w: it looks like an identity of Azure's", framing.ErrUnframed)
	}
	if e.Framing == Confluent {
		if err == nil {
			id.prefix, x.payload, x.isSplit = p, data, true
			return nil
		}
		f, ok := framing.Recognize(x.payload)
		if !ok {
			return &failure{reason: PayloadUnreadable, err: err}
		}
		if x.foreign.Vendor == "" {
			x.foreign = f
		}
		if id.says() {
			return &failure{reason: PayloadUnreadable, err: fmt.Errorf("%w; it looks like %s", err, f)}
		}
		return nil
	}
	if err == nil {
		x.tentative, x.behind = p, data
		if !id.inHeaders() {
			id.prefix = p
		}
	} else if f, ok := framing.Recognize(x.payload); ok && x.foreign.Vendor == "" {
		x.foreign = f
	}
	return nil
}

// isDigitsID tells whether an id may be the first of Azure's digits.
func isDigitsID(p framing.Prefix) bool { return p.ID >= '0' && p.ID <= 'f' }

// detected decides, once the schema is known, whether the tentative prefix of
// Detect is one, and takes it off.
func (x *extra) detected(id *identity, b *binding) *failure {
	p := x.tentative
	if p.Form == 0 {
		return nil
	}
	agrees := x.isConfirmed || p.Form == framing.ByID && p.ID == b.id.Number || p.Form == framing.ByGUID && p.GUID == b.guid
	if p.Form == framing.ByID && !agrees && id.id != "" {
		n, err := framing.ParseID(id.id)
		agrees = err == nil && n == p.ID
	}
	switch {
	case id.prefix.Form != 0 && b.typ == schemas.Avro:
		return fail(HeaderMissing, "the payload may begin with a prefix (%s), and Avro data may begin like one: an agreeing header is needed, or the framing Confluent", p)
	case id.prefix.Form != 0 || agrees:
		x.payload, x.isSplit = x.behind, true
	case b.typ != schemas.Avro:
		// Neither JSON nor Protobuf data begins with these bytes, so this is a
		// prefix, and it names another schema.
		return fail(IdentityConflict, "the payload's prefix says %s, the headers say %s", p, b)
	}
	return nil
}

// isOpen tells whether nobody knows yet if the tentative prefix is one of the bound
// schema: a schema that was found by its GUID has no id. Avro's data may look like a
// prefix with any id, so no registry is asked about it.
func (x *extra) isOpen(id *identity, b *binding) bool {
	return x.tentative.Form == framing.ByID && id.prefix.Form == 0 && b.failure == nil && b.id.Number == 0 && b.guid != (schemas.GUID{}) && b.typ != schemas.Avro
}

// confirm asks which schema the tentative prefix names.
func (v *Validator) confirm(ctx context.Context, id *identity, x *extra, b *binding) *failure {
	in := b.subject.Context
	if id.subject != "" {
		in = schemas.ParseSubject(strings.Clone(id.subject)).Context // it is kept
	}
	if in == "" {
		in = schemas.DefaultContext
	}
	n := prefixName(x.tentative, in)
	r, _, err := v.get(ctx, n, asking{})
	if err == nil {
		x.isConfirmed = r.found.GUID == b.guid
		return nil
	}
	if reason := reasonOf(err); reason.Verdict() == Hold {
		return &failure{reason: reason, err: fmt.Errorf("look up the payload's prefix: %w", err), subject: b.subject, version: b.version, name: n}
	}
	return nil // unknown ids agree with nothing
}

// firstMessage is the path of nearly every message, kept so that none is made.
var firstMessage = framing.Indexes{0}

// messageOf gives the Protobuf message of a payload: by the indexes, else by the
// header schemaMessage, else none (the file's first).
func (x *extra) messageOf(id *identity, b *binding) (string, *failure) {
	if b.foreign {
		return x.unwrapForeign(b)
	}
	if b.typ != schemas.Protobuf {
		return "", nil
	}
	indexes := x.indexes
	if x.isSplit {
		indexes = x.payload
	} else if len(indexes) == 0 {
		return b.message, nil
	}
	path, rest, err := firstMessage, indexes[min(1, len(indexes)):], error(nil)
	if len(indexes) == 0 || indexes[0] != 0 {
		path, rest, err = framing.SplitIndexes(indexes, nil)
	}
	if err != nil {
		if x.isSplit {
			return "", &failure{reason: PayloadUnreadable, err: err}
		}
		return "", &failure{reason: HeaderMalformed, err: err}
	}
	if x.isSplit {
		x.payload = rest
	} else if len(rest) > 0 {
		return "", fail(HeaderMalformed, "the binary schema header has %d bytes behind its message indexes", len(rest))
	}
	messages, ok := b.parsed.schema.(schemas.Messages)
	if !ok {
		return "", &failure{reason: SchemaUnparsable, err: errors.New("the format cannot name a message by its indexes")}
	}
	message, err := messages.MessageAt(path)
	if err != nil {
		return "", &failure{reason: PayloadUnreadable, err: fmt.Errorf("the message indexes name a message that the schema does not have: %w", err)}
	}
	if id.message != "" && id.message != message {
		return "", fail(IdentityConflict, "the message indexes say %s, the header schemaMessage says %s", message, cut(id.message, 255))
	}
	return message, nil
}

// nearMisses names the headers that would be ours in another letter case.
func nearMisses(m *Message) []string {
	var near []string
	for _, h := range m.Headers {
		for _, own := range []string{framing.SchemaVersion, framing.SchemaSubject, framing.SchemaID, framing.SchemaGUID, framing.KeySchemaVersion, framing.KeySchemaSubject, framing.KeySchemaID, framing.KeySchemaGUID} {
			if h.Name != own && strings.EqualFold(h.Name, own) && len(near) < 8 {
				near = append(near, fmt.Sprintf("%s (for %s)", h.Name, own))
			}
		}
	}
	return near
}
