package transfer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// mostLine bounds one line of a dump: a schema text may be escaped throughout.
const mostLine = 64 << 20

// record is one record of a topic. Key and value are nil for null.
type record struct {
	line       int
	offset     int64 // −1 when the dump does not tell it
	time       time.Time
	key, value []byte
}

// lines reads the records of a dump, in any of the forms that Source names.
//
// Source: REST contract 10.1; the console consumer with print.key and, where
// wanted, print.timestamp, print.offset and print.partition; kcat -J.
type lines struct {
	in   *bufio.Reader
	line int
}

func newLines(r io.Reader) *lines { return &lines{in: bufio.NewReaderSize(r, 1<<16)} }

// next answers io.EOF behind the last record.
func (l *lines) next() (record, error) {
	for {
		text, err := l.read()
		if err != nil {
			return record{}, err
		}
		text = bytes.TrimRight(text, "\r\n")
		if len(bytes.TrimSpace(text)) == 0 || bytes.HasPrefix(text, []byte("Processed a total of ")) {
			continue
		}
		r, err := parseRecord(text)
		if err != nil {
			return r, fmt.Errorf("line %d: %w", l.line, err)
		}
		r.line = l.line
		return r, nil
	}
}

func (l *lines) read() ([]byte, error) {
	l.line++
	var whole []byte
	for {
		part, err := l.in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(whole)+len(part) > 0:
			return append(whole, part...), nil
		case err != nil:
			return nil, err
		}
		if whole = append(whole, part...); len(whole) > mostLine {
			return nil, fmt.Errorf("line %d: it is longer than %d bytes", l.line, mostLine)
		}
		if err == nil {
			return whole, nil
		}
	}
}

// parseRecord reads one line: an object with the members key and value, or the
// key, a separator and the value, behind what the console consumer puts first.
func parseRecord(text []byte) (record, error) {
	r := record{offset: -1}
	rest := text
	for {
		name, value, more := label(rest)
		if name == "" {
			break
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return r, fmt.Errorf("%s %q is no number", name, value)
		}
		switch name {
		case "Offset":
			r.offset = n
		case "CreateTime", "LogAppendTime":
			r.time = time.UnixMilli(n).UTC()
		}
		rest = more
	}
	d := json.NewDecoder(bytes.NewReader(rest))
	var first json.RawMessage
	if err := d.Decode(&first); err != nil {
		return r, fmt.Errorf("neither an object nor a key and a value, as the console consumer prints with print.key=true: %w", err)
	}
	tail := bytes.TrimSpace(rest[d.InputOffset():])
	if len(tail) == 0 {
		return r, r.object(first)
	}
	tail = bytes.TrimSpace(bytes.TrimLeft(tail, "\t|,;:"))
	var err error
	if r.key, err = plainJSON(first); err != nil {
		return r, fmt.Errorf("the key: %w", err)
	}
	if r.value, err = plainJSON(tail); err != nil {
		return r, fmt.Errorf("the value: %w", err)
	}
	return r, nil
}

// label takes "CreateTime:123", "Offset:7" and their like off the front.
func label(text []byte) (name, value string, rest []byte) {
	for _, name := range []string{"CreateTime", "LogAppendTime", "NoTimestamp", "Offset", "Partition"} {
		after, ok := bytes.CutPrefix(text, []byte(name))
		if !ok {
			continue
		}
		if name == "NoTimestamp" {
			return name, "0", bytes.TrimLeft(after, "\t ")
		}
		if after, ok = bytes.CutPrefix(after, []byte(":")); !ok {
			continue
		}
		end := bytes.IndexAny(after, "\t {")
		if end < 0 {
			continue
		}
		return name, string(after[:end]), bytes.TrimLeft(after[end:], "\t ")
	}
	return "", "", text
}

// object reads {"offset":…,"timestamp":…,"key":…,"value":…}; kcat calls the value
// payload and the time ts.
func (r *record) object(text json.RawMessage) error {
	var o struct {
		Offset    *int64           `json:"offset"`
		Timestamp *int64           `json:"timestamp"`
		TS        *int64           `json:"ts"`
		Key       json.RawMessage  `json:"key"`
		Value     json.RawMessage  `json:"value"`
		Payload   *json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return fmt.Errorf("the record: %w", err)
	}
	if o.Key == nil {
		return errors.New("the record has no member key")
	}
	if o.Offset != nil {
		r.offset = *o.Offset
	}
	if o.Timestamp == nil {
		o.Timestamp = o.TS
	}
	if o.Timestamp != nil && *o.Timestamp > 0 {
		r.time = time.UnixMilli(*o.Timestamp).UTC()
	}
	if o.Payload != nil {
		o.Value = *o.Payload
	}
	var err error
	if r.key, err = plainJSON(o.Key); err != nil {
		return fmt.Errorf("the key: %w", err)
	}
	if r.value, err = plainJSON(o.Value); err != nil {
		return fmt.Errorf("the value: %w", err)
	}
	return nil
}

// plainJSON is an object as it stands, or the one inside a string; nil for null
// and for nothing.
func plainJSON(text []byte) ([]byte, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	if text[0] == '"' {
		var inside string
		if err := json.Unmarshal(text, &inside); err != nil {
			return nil, err
		}
		return plainJSON([]byte(strings.TrimSpace(inside)))
	}
	if text[0] != '{' || !json.Valid(text) {
		return nil, fmt.Errorf("%.40q is no JSON object", text)
	}
	return text, nil
}
