package validate

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/schemas"
)

// sight is what a message looked like that was bound, in memory of its own, and
// all that followed from its look. Another message that looks the same is bound
// the same; to see that takes one look at each header, where collecting an
// identity, finding it and finding the message takes many.
//
// The names of all headers count, in their order; the values of those alone that
// say something about the schema.
type sight struct {
	expect      *Expect
	headers     []seen
	contentType string
	destination string // where the subject depends on it
	routing     string
	isKey       bool
	mayBeAzures bool   // the prefix may be another product's framing
	front       string // what was taken off the payload: a prefix, and message indexes

	binding *binding
	message string
	judge   schemas.Judge // of the message; nil where it is not that simple

	missed atomic.Uint32
}

// seen is one header. counts tells that its value does.
type seen struct {
	name, value string
	counts      bool
}

const (
	mostSights = 64
	// oftenMissed is how many messages of another look a sight keeps its place
	// against: none is made for each message where no two look the same.
	oftenMissed = 16
	// longestSight bounds the bytes that are kept of a message's look, each header
	// counted as a few more.
	longestSight = 8 << 10
)

// size is what a sight of m would keep, roughly.
func (m *Message) size() int {
	n := len(m.ContentType) + len(m.Destination) + len(m.RoutingKey)
	for i := range m.Headers {
		h := &m.Headers[i]
		n += 48 + len(h.Name)
		if text, ok := plainText(h.Value); ok && slotOf(h.Name, m.IsKey) != noSlot {
			n += len(text)
		}
	}
	return n
}

// place is where a message's sight is looked for: by what changes most between
// one schema and the next, the end of the first header that may be a GUID, an id
// or a version.
func (m *Message) place(e *Expect) uint8 {
	h := uint8(len(m.Headers))
	if p := m.Payload; e.Framing == Confluent && len(p) > 4 {
		h += 31 * p[4]
	}
	for i := range m.Headers {
		name := m.Headers[i].Name
		if len(name) < 8 || name[0] != 's' && name[0] != 'k' && name[0] != '_' {
			continue
		}
		if last := name[len(name)-1]; last != 'd' && last != 'n' {
			continue
		}
		if text, ok := plainText(m.Headers[i].Value); ok {
			h = h*31 + text[len(text)-1]
			break
		}
	}
	return h % mostSights
}

// sighted finds what a message that looks like m was bound to, if that is still
// fresh.
func (c *cache) sighted(m *Message, e *Expect, clock func() time.Time) *sight {
	s := c.sights[m.place(e)].Load()
	if s == nil {
		return nil
	}
	if !s.shows(m, e) || s.binding.isOver(clock) {
		s.missed.Add(1)
		return nil
	}
	s.binding.parsed.use()
	return s
}

// shows tells whether m looks as s does.
func (s *sight) shows(m *Message, e *Expect) bool {
	if s.expect != e || len(s.headers) != len(m.Headers) || s.isKey != m.IsKey || s.contentType != m.ContentType {
		return false
	}
	for i := range s.headers {
		one, h := &s.headers[i], &m.Headers[i]
		if h.Name != one.name {
			return false
		}
		if one.counts {
			if text, ok := plainText(h.Value); !ok || text != one.value {
				return false
			}
		}
	}
	if n := len(s.front); n > 0 && (len(m.Payload) < n || string(m.Payload[:n]) != s.front || s.mayBeAzures && framing.IsAzure(m.Payload)) {
		return false
	}
	if e.Subject.needsDestination() && s.destination != m.Destination {
		return false
	}
	return e.Subject.kind != byRoutingKey || s.routing == m.RoutingKey
}

// sight remembers how a message looked that was bound and judged. Not where more
// than its look decided: another product's framing, an event that was taken
// apart, a prefix that may be data.
func (v *Validator) sight(m *Message, e *Expect, b *binding, x *extra, message string) {
	if b.as == nil || b.failure != nil || x.foreign.Vendor != "" || x.isEvent || e.Framing == Detect {
		return
	}
	place := &v.cache.sights[m.place(e)]
	if old := place.Load(); old != nil && old.missed.Load() < oftenMissed && old.binding != nil && !old.binding.isOver(v.options.Now) {
		return
	}
	if m.size() > longestSight {
		return
	}
	s := &sight{
		expect: e, contentType: strings.Clone(m.ContentType), destination: strings.Clone(m.Destination), routing: strings.Clone(m.RoutingKey),
		isKey: m.IsKey, binding: b, message: message,
	}
	for i := range m.Headers {
		h := &m.Headers[i]
		one := seen{name: strings.Clone(h.Name)}
		switch slotOf(h.Name, m.IsKey) {
		case noSlot:
		case slotForeign:
			return
		default:
			text, ok := plainText(h.Value)
			if !ok {
				return
			}
			one.value, one.counts = strings.Clone(text), true
		}
		s.headers = append(s.headers, one)
	}
	if x.isSplit {
		s.front = string(m.Payload[:len(m.Payload)-len(x.payload)])
		s.mayBeAzures = isDigitsID(b.as.identity.prefix)
	}
	options := v.options.Read
	e.shape(&options)
	if p, ok := b.parsed.schema.(schemas.Preparer); ok && b.readsItself() {
		s.judge = p.Prepare(message, options)
	}
	place.Store(s)
}

// judgeAs judges a message that looks as s does.
func (v *Validator) judgeAs(o *Outcome, m *Message, e *Expect, s *sight) {
	b := s.binding
	b.tell(o)
	o.Cached = true
	o.Message, o.Payload = s.message, m.Payload[len(s.front):]
	if s.judge == nil {
		v.readPayload(o, e, b, s.message)
		return
	}
	if reading := s.judge(o.Payload); reading != nil {
		o.read(reading)
		return
	}
	o.accept()
}
