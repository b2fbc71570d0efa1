package activemq

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Message is a message of ActiveMQ.
type Message struct {
	// Headers are all but those of the frame itself. STOMP carries text: numbers and
	// booleans are sent as such, and come as text.
	Headers []validate.Header
	// ContentType, CorrelationID and ReplyTo are the frame's. Priority is 0 to 9,
	// where 0 leaves it to the broker, which takes 4.
	ContentType, CorrelationID, ReplyTo string
	Priority                            uint8
	// Expires is when the broker may drop the message; zero for never.
	Expires time.Time
	// Type is the full name of the record or message that the body is, where that is
	// needed (a Protobuf file with several messages, subjects by type); JMSType to
	// JMS.
	Type string
	// MessageID is the producer's id, in the header messageId; made when empty. The
	// broker gives ids of its own, which mean nothing here.
	MessageID string
	// Key is what the message is in order with, in the header messageKey. It is the
	// message's JMSXGroupID too, by which the broker gives one key to one consumer.
	Key  string
	Body []byte

	// Destination, Redelivered and Timestamp, when the broker took it, are of a
	// message that was received.
	Destination string
	Redelivered bool
	Timestamp   time.Time
}

// The headers of ours that are not validate's.
const (
	messageIDHeader  = "messageId"
	messageKeyHeader = "messageKey"
	groupHeader      = "JMSXGroupID"

	// RetryAttempts is the header that counts the attempts made on a message; STOMP
	// tells that one was redelivered and not how often.
	RetryAttempts = "retryAttempts"

	scheduledDelay     = "AMQ_SCHEDULED_DELAY"
	originalDestHeader = "original-destination"
)

const (
	// LongestLine is how long one header may be: its name, a colon and its value,
	// escaped. The broker ends the connection over a longer one.
	LongestLine = 10_240
	// MostHeaders is how many the broker takes, those of the frame included.
	MostHeaders = 1000
)

// frameWords are headers that a frame has for itself. A message that had one of
// them would mean something else, or nothing.
//
// Source: client specification 1.10; STOMP 1.2; ActiveMQ's Stomp.Headers.
var frameWords = []string{
	"destination", "message-id", "receipt", "receipt-id", "ack", "id", "selector", "subscription", "transaction", "content-length", "content-type",
	"redelivered", "timestamp", "persistent", "priority", "expires", "type", "correlation-id", "reply-to", "transformation", "transformation-error", "amq-msg-type",
}

func isFrameWord(name string) bool { return slices.Contains(frameWords, name) }

// isBrokers tells a header that the broker wrote and that must not go back to it:
// one of them would have the message wait once more.
func isBrokers(name string) bool {
	switch name {
	case "scheduledJobId", "originalExpiration", "originalDeliveryMode":
		return true
	}
	return strings.HasPrefix(name, "AMQ_SCHEDULED_")
}

// queueName is a queue's bare name.
func queueName(destination string) string {
	for _, prefix := range []string{"/queue/", "queue://"} {
		if name, ok := strings.CutPrefix(destination, prefix); ok {
			return name
		}
	}
	return destination
}

// frameDestination is a destination in STOMP's words: a name without a prefix is
// a queue's. Brokers have more kinds than these, as RabbitMQ's /amq/queue/.
func frameDestination(destination string) string {
	if strings.HasPrefix(destination, "/") {
		return destination
	}
	for _, kind := range []string{"queue", "topic", "temp-queue", "temp-topic"} {
		if name, ok := strings.CutPrefix(destination, kind+"://"); ok {
			return "/" + kind + "/" + name
		}
	}
	return "/queue/" + destination
}

// textOf is a header's value as STOMP carries it; ok is false for no value.
func textOf(value any) (text string, ok bool) {
	switch v := value.(type) {
	case nil:
		return "", false
	case string:
		return v, true
	case []byte:
		return string(v), v != nil
	}
	return fmt.Sprint(value), true
}

// lineSize is how long a header is on the wire.
func lineSize(name, value string) int { return escapedSize(name) + 1 + escapedSize(value) }

func escapedSize(s string) int {
	n := len(s)
	for i := range len(s) {
		switch s[i] {
		case '\\', '\n', '\r', ':':
			n++
		}
	}
	return n
}

// cutLine cuts a value so that its header fits a line.
func cutLine(name, value string) string {
	over := lineSize(name, value) - LongestLine
	if over <= 0 {
		return value
	}
	end := len(value)
	for ; end > 0 && over > 0; end-- {
		over -= escapedSize(value[end-1 : end])
	}
	return strings.ToValidUTF8(value[:end], "")
}

var errTwice = errors.New("the broker keeps the first value of a header and drops the others")

// sendFrame is a message as a frame.
//
// Errors: a *Error of the fate Refused or TooLarge, whose message nothing was
// sent of.
func sendFrame(destination string, m *Message) (*frame.Frame, error) {
	fail := func(fate Fate, err error) (*frame.Frame, error) {
		return nil, &Error{Fate: fate, Destination: destination, MessageID: m.MessageID, Err: err}
	}
	f := bareFrame(destination, m)
	seen := map[string]string{}
	for _, h := range m.Headers {
		text, ok := textOf(h.Value)
		if !ok {
			continue
		}
		before, twice := seen[h.Name]
		switch {
		case h.Name == "":
			return fail(Refused, errors.New("a header has no name"))
		case isFrameWord(h.Name):
			return fail(Refused, fmt.Errorf("the header %s is one of the frame's own: set the message's member for it, or name yours otherwise", h.Name))
		case twice && before != text:
			return fail(Refused, fmt.Errorf("the header %s stands twice with different values: %w", h.Name, errTwice))
		case twice:
			continue
		}
		seen[h.Name] = text
		f.Header.Add(h.Name, text)
	}
	if m.Key != "" && seen[groupHeader] == "" {
		f.Header.Add(groupHeader, m.Key)
	}
	for i := range f.Header.Len() {
		name, value := f.Header.GetAt(i)
		if n := lineSize(name, value); n > LongestLine {
			return fail(TooLarge, fmt.Errorf("the header %s has %d bytes with its name, and the broker takes %d: carry less in headers", name, n, LongestLine))
		}
		if strings.ContainsRune(name+value, 0) {
			return fail(Refused, fmt.Errorf("the header %s has a zero byte in it", name))
		}
	}
	if n := f.Header.Len() + 1; n > MostHeaders {
		return fail(TooLarge, fmt.Errorf("it has %d headers, and the broker takes %d", n, MostHeaders))
	}
	return f, nil
}

// bareFrame is a frame with the body and what a message has beside its headers.
// It is persistent always: STOMP's own default is lost when the broker is.
func bareFrame(destination string, m *Message) *frame.Frame {
	f := frame.New(frame.SEND, frame.Destination, frameDestination(destination), "persistent", "true", frame.ContentLength, strconv.Itoa(len(m.Body)))
	f.Body = m.Body
	for _, h := range [][2]string{{frame.ContentType, m.ContentType}, {"correlation-id", m.CorrelationID}, {"reply-to", m.ReplyTo}, {"type", m.Type}} {
		if h[1] != "" {
			f.Header.Add(h[0], h[1])
		}
	}
	if m.Priority > 0 {
		f.Header.Add("priority", strconv.Itoa(int(min(m.Priority, 9))))
	}
	if !m.Expires.IsZero() {
		f.Header.Add("expires", strconv.FormatInt(m.Expires.UnixMilli(), 10))
	}
	return f
}

// resend is a received message as a frame to send on, headers of the caller's. It
// never expires: what is set aside must stay. A header that a STOMP frame has no
// room for, which another protocol may have brought, is cut: the broker would
// end the connection again and again.
func resend(destination string, m *Message, headers []validate.Header) *frame.Frame {
	kept := *m
	kept.Expires = time.Time{}
	f := bareFrame(destination, &kept)
	for _, h := range headers {
		text, ok := textOf(h.Value)
		if !ok || isFrameWord(h.Name) || isBrokers(h.Name) || f.Header.Len() >= MostHeaders-8 {
			continue
		}
		f.Header.Add(h.Name, cutLine(h.Name, text))
	}
	return f
}

// messageOf reads a MESSAGE frame.
func messageOf(f *frame.Frame) *Message {
	m := &Message{
		ContentType: f.Header.Get(frame.ContentType), CorrelationID: f.Header.Get("correlation-id"), ReplyTo: f.Header.Get("reply-to"),
		Type: f.Header.Get("type"), Destination: f.Header.Get(frame.Destination), Redelivered: f.Header.Get("redelivered") == "true",
		MessageID: f.Header.Get(messageIDHeader), Key: f.Header.Get(messageKeyHeader), Body: f.Body,
	}
	if m.Body == nil {
		m.Body = []byte{} // STOMP has no tombstone: an empty body is a payload
	}
	if n, err := strconv.ParseUint(f.Header.Get("priority"), 10, 8); err == nil {
		m.Priority = uint8(n)
	}
	if n, err := strconv.ParseInt(f.Header.Get("expires"), 10, 64); err == nil && n > 0 {
		m.Expires = time.UnixMilli(n)
	}
	if n, err := strconv.ParseInt(f.Header.Get("timestamp"), 10, 64); err == nil && n > 0 {
		m.Timestamp = time.UnixMilli(n)
	}
	for i := range f.Header.Len() {
		if name, value := f.Header.GetAt(i); !isFrameWord(name) {
			m.Headers = append(m.Headers, validate.Header{Name: name, Value: value})
		}
	}
	return m
}

// attemptsOf is how many attempts were made on a message before.
func attemptsOf(m *Message) int {
	n, err := strconv.ParseUint(headerOf(m.Headers, RetryAttempts), 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

// headerOf is the text of the first header of a name, "" when there is none.
func headerOf(list []validate.Header, name string) string {
	for _, h := range list {
		if h.Name == name {
			text, _ := textOf(h.Value)
			return text
		}
	}
	return ""
}
