package queues

import (
	"encoding/json"
	"strings"
)

// object is a JSON object; RabbitMQ's writes an empty one as an empty list.
type object map[string]any

// UnmarshalJSON reads an object, and takes anything else for an empty one.
func (o *object) UnmarshalJSON(text []byte) error {
	*o = nil
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	m := map[string]any{}
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	*o = m
	return nil
}

// mostText bounds a text that somebody else wrote, in bytes.
const mostText = 500

func cut(text string) string {
	if len(text) > mostText {
		return strings.ToValidUTF8(text[:mostText], "") + "…" // a letter may lie across the end
	}
	return text
}
