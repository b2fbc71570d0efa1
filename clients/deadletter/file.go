package deadletter

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// line is a letter in a file: one JSON object a line. Headers are a flat list of
// names and values, so that order and duplicates stay; a value that is no text
// is an object with one member that names its kind.
type line struct {
	ID         string            `json:"id"`
	Place      string            `json:"place,omitempty"`
	Time       string            `json:"time,omitempty"`
	Key        *string           `json:"keyBase64,omitempty"`
	MessageID  string            `json:"messageId,omitempty"`
	Type       string            `json:"contentType,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
	Headers    []any             `json:"headers"`
	Payload    *string           `json:"payloadBase64"` // null is a tombstone
}

// longestLine bounds a line: a payload of 8 MiB in Base64 and its headers.
const longestLine = 16 << 20

// Write appends a letter to a file of JSON lines.
func Write(w io.Writer, l *Letter) error {
	one := line{ID: l.ID(), Place: l.Place, MessageID: l.Message.MessageID, Type: l.Message.ContentType, Properties: l.Properties, Headers: []any{}}
	if !l.Time.IsZero() {
		one.Time = l.Time.UTC().Format(time.RFC3339Nano)
	}
	encoded := func(b []byte) *string {
		if b == nil {
			return nil
		}
		text := base64.StdEncoding.EncodeToString(b)
		return &text
	}
	one.Key, one.Payload = encoded(l.Key), encoded(l.Message.Payload)
	for _, h := range l.Message.Headers {
		one.Headers = append(one.Headers, h.Name, shown(h.Value))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(one); err != nil {
		return fmt.Errorf("write the letter %s: %w", one.ID, err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func shown(value any) any {
	switch v := value.(type) {
	case nil, string:
		return v
	case []byte:
		return map[string]string{"base64": base64.StdEncoding.EncodeToString(v)}
	case bool:
		return map[string]bool{"bool": v}
	case int, int8, int16, int32, int64, uint8, uint16, uint32:
		return map[string]string{"integer": fmt.Sprint(v)}
	case float32, float64:
		return map[string]string{"float": fmt.Sprint(v)}
	case time.Time:
		return map[string]string{"time": v.UTC().Format(time.RFC3339Nano)}
	}
	// Lists and tables are a broker's bookkeeping, and written for people only.
	return map[string]string{"text": fmt.Sprint(value)}
}

// unshown reads what shown wrote; ok is false for what is not carried.
func unshown(raw any) (value any, ok bool, err error) {
	object, is := raw.(map[string]any)
	if !is {
		_, text := raw.(string)
		if !text && raw != nil {
			return nil, false, errors.New("a header's value is neither a text nor an object with one member")
		}
		return raw, true, nil
	}
	for kind, v := range object {
		text, _ := v.(string)
		switch kind {
		case "base64":
			value, err = base64.StdEncoding.DecodeString(text)
		case "bool":
			value = v
		case "integer":
			value, err = strconv.ParseInt(text, 10, 64)
		case "float":
			value, err = strconv.ParseFloat(text, 64)
		case "time":
			value, err = time.Parse(time.RFC3339Nano, text)
		case "text":
			return nil, false, nil
		default:
			err = fmt.Errorf("a header's value of the kind %q is not known", kind)
		}
		return value, true, err
	}
	return nil, false, errors.New("a header's value is an empty object")
}

// Read gives the letters of a file of JSON lines, one after the other.
//
// Errors: a line that is no letter, with its number; what each answers.
func Read(r io.Reader, each func(*Letter) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), longestLine)
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		l, err := parse(text)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := each(l); err != nil {
			return err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("line %d: it has more than %d bytes", n+1, longestLine)
	} else if err != nil {
		return err
	}
	return nil
}

func parse(text []byte) (*Letter, error) {
	var one line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&one); err != nil {
		return nil, fmt.Errorf("it is no letter of an export: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it is no letter of an export: more than one value stands there")
	}
	l := &Letter{Place: one.Place, Properties: one.Properties, Message: validate.Message{MessageID: one.MessageID, ContentType: one.Type}}
	var err error
	if one.Time != "" {
		if l.Time, err = time.Parse(time.RFC3339Nano, one.Time); err != nil {
			return nil, fmt.Errorf("its time is no moment as RFC 3339 has it: %q", one.Time)
		}
	}
	decoded := func(what string, text *string) []byte {
		if text == nil || err != nil {
			return nil
		}
		var b []byte
		if b, err = base64.StdEncoding.DecodeString(*text); err != nil {
			err = fmt.Errorf("its %s is not Base64: %w", what, err)
		}
		return b
	}
	l.Key, l.Message.Payload = decoded("keyBase64", one.Key), decoded("payloadBase64", one.Payload)
	if err != nil {
		return nil, err
	}
	if len(one.Headers)%2 != 0 {
		return nil, errors.New("its headers are no list of names and values")
	}
	for i := 0; i < len(one.Headers); i += 2 {
		name, ok := one.Headers[i].(string)
		if !ok {
			return nil, fmt.Errorf("its headers: item %d is no name", i)
		}
		value, kept, err := unshown(one.Headers[i+1])
		if err != nil {
			return nil, fmt.Errorf("its header %s: %w", name, err)
		}
		if kept {
			l.Message.Headers = append(l.Message.Headers, validate.Header{Name: name, Value: value})
		}
	}
	return l, nil
}

// Import puts the letters of a file into the box, in their order, and answers
// how many are there for sure.
func Import(ctx context.Context, b Box, r io.Reader, dry bool) (n int, err error) {
	err = Read(r, func(l *Letter) error {
		if !dry {
			if err := b.Put(ctx, l); err != nil {
				return fmt.Errorf("import %s: %w", l.ID(), err)
			}
		}
		n++
		return nil
	})
	return n, err
}
