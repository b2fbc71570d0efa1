package queues

import (
	"context"

	"github.com/cartorio-registry/cartorio/clients/deadletter"
	"github.com/cartorio-registry/cartorio/clients/framing"
)

// LargePayload is from how many bytes on a payload belongs elsewhere.
const LargePayload = 256 << 10

// mostNamed is how many messages of one lack are named.
const mostNamed = 5

// Sample is what messages of a queue lack.
type Sample struct {
	// Messages were looked at.
	Messages int `json:"messages"`
	// ID, Version and Key are the messages without messageId, schemaVersion and
	// messageKey (or Kafka's record key).
	ID      Lack `json:"id"`
	Version Lack `json:"version"`
	Key     Lack `json:"key"`
	// Otherwise counts those of Version that carry another identity of a schema: its
	// GUID or id, in a header or before the payload.
	Otherwise int `json:"otherwise"`
	// Large are the messages above LargePayload, and MeanBytes their mean size, all
	// together.
	Large     Lack  `json:"large"`
	MeanBytes int64 `json:"meanBytes"`
	bytes     int64
}

// Lack counts messages, and names the first five: by partition and offset on
// Kafka, else by message id, else by the first of the payload's SHA-256.
type Lack struct {
	Count int      `json:"count"`
	Which []string `json:"which,omitempty"`
}

func (l *Lack) add(m *deadletter.Letter) {
	if l.Count++; len(l.Which) < mostNamed {
		l.Which = append(l.Which, cut(m.ID()))
	}
}

// Look looks at most messages of a box, which stay where they are.
//
// Errors: the box's.
func Look(ctx context.Context, box deadletter.Box, most int) (Sample, error) {
	s := Sample{}
	if most <= 0 {
		return s, nil
	}
	err := box.Walk(ctx, func(_ context.Context, m *deadletter.Letter) (deadletter.Fate, error) {
		s.look(m)
		if s.Messages >= most {
			return deadletter.Stop, nil
		}
		return deadletter.Keep, nil
	})
	if err != nil {
		return Sample{}, err
	}
	if s.Messages > 0 {
		s.MeanBytes = s.bytes / int64(s.Messages)
	}
	return s, nil
}

func (s *Sample) look(m *deadletter.Letter) {
	s.Messages++
	s.bytes += int64(len(m.Message.Payload))
	if m.MessageID() == "" {
		s.ID.add(m)
	}
	// A tombstone has no payload to be of a version.
	if m.Version() == "" && m.Message.Payload != nil {
		s.Version.add(m)
		if isIdentified(m) {
			s.Otherwise++
		}
	}
	if m.Header("messageKey") == "" && m.Key == nil {
		s.Key.add(m)
	}
	if len(m.Message.Payload) > LargePayload {
		s.Large.add(m)
	}
}

// isIdentified tells whether a message without a version says its schema
// otherwise.
func isIdentified(m *deadletter.Letter) bool {
	for _, h := range m.Message.Headers {
		switch h.Name {
		case framing.SchemaGUID, framing.SchemaID, framing.BinaryValue:
			return true
		}
	}
	_, _, err := framing.Split(m.Message.Payload)
	return err == nil
}
