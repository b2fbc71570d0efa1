package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// recorded is one message of a recording.
type recorded struct {
	where    string // file, and line or number in it
	name     string // of the file, which may tell the encoding
	payload  []byte
	isText   bool // a JSON text, where the recording says so by its form
	headers  map[string]string
	unusable string // why the recording holds no message there
}

// mostLine bounds one line of a recording, in bytes: a payload of 8 MiB in
// base64, and what stands around it.
const mostLine = 16 << 20

// messages reads recordings one message at a time: a file of JSON lines, a JSON
// array, a file that is one payload, or a folder of these.
func (a *app) messages(list []string, each func(recorded) error) error {
	for _, name := range list {
		if name == "-" {
			if err := readLines("stdin", a.in, each); err != nil {
				return err
			}
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return failf(exitNotCompared, "reading messages from %s: %w", name, bare(err))
		}
		if !info.IsDir() {
			if err := readRecording(name, info, each); err != nil {
				return err
			}
			continue
		}
		found := 0
		err = filepath.WalkDir(name, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return failf(exitNotCompared, "reading messages from %s: %w", p, bare(err))
			}
			if d.IsDir() && p != name && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			if !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") {
				return nil
			}
			found++
			if err := a.spareFile(p); err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return failf(exitNotCompared, "reading messages from %s: %w", p, bare(err))
			}
			return readRecording(p, info, each)
		})
		if err != nil {
			return err
		}
		if found == 0 {
			return failf(exitNotCompared, "%s holds no messages", name)
		}
	}
	return nil
}

func readRecording(name string, info fs.FileInfo, each func(recorded) error) error {
	if !info.Mode().IsRegular() {
		return failf(exitNotCompared, "reading messages from %s: it is neither a file nor a folder", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return failf(exitNotCompared, "reading messages from %s: %w", name, bare(err))
	}
	defer f.Close() //nolint:errcheck // it was only read
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson", ".jsonlines":
		return readLines(name, f, each)
	}
	if info.Size() > mostLine {
		return failf(exitNotCompared, "reading a message from %s: it has %d bytes, more than %d: a recording of many messages ends in .jsonl", name, info.Size(), mostLine)
	}
	raw, err := io.ReadAll(io.LimitReader(f, mostLine))
	if err != nil {
		return failf(exitNotCompared, "reading messages from %s: %w", name, err)
	}
	// RabbitMQ's management answers an array of what it took from a queue.
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); strings.EqualFold(filepath.Ext(name), ".json") && bytes.HasPrefix(trimmed, []byte("[")) {
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) == nil && len(items) > 0 && isEnvelope(items[0]) {
			for i, item := range items {
				m := unwrap(item)
				m.where, m.name = fmt.Sprintf("%s, message %d", name, i+1), name
				if err := each(m); err != nil {
					return err
				}
			}
			return nil
		}
	}
	m := recorded{payload: raw}
	if isEnvelope(raw) {
		m = unwrap(raw)
	}
	m.where, m.name = name, name
	return each(m)
}

// readLines reads one message from each line that is not empty.
func readLines(name string, r io.Reader, each func(recorded) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), mostLine)
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		m := recorded{payload: bytes.Clone(line), isText: true}
		if isEnvelope(line) {
			m = unwrap(line)
		}
		m.where, m.name = fmt.Sprintf("%s:%d", name, n), name
		if err := each(m); err != nil {
			return err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return failf(exitNotCompared, "reading messages from %s: line %d has more than %d bytes", name, n+1, mostLine)
	} else if err != nil {
		return failf(exitNotCompared, "reading messages from %s: %w", name, err)
	}
	return nil
}

// envelope is how tools record a message with what stood around it: kcat -J,
// RabbitMQ's management, and exports of dead letters.
type envelope struct {
	Headers    json.RawMessage `json:"headers"`
	Properties *struct {
		Headers json.RawMessage `json:"headers"`
	} `json:"properties"`
	Payload  json.RawMessage `json:"payload"`
	Value    json.RawMessage `json:"value"`
	Base64   *string         `json:"payloadBase64"`
	Encoding string          `json:"encoding"`
	Rabbit   string          `json:"payload_encoding"`
}

// isEnvelope tells a recorded message from a payload that is a JSON object: it
// has a payload and something that only a recording has beside it.
func isEnvelope(text []byte) bool {
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		return false
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return false
	}
	has := func(names ...string) bool {
		for _, n := range names {
			if _, ok := members[n]; ok {
				return true
			}
		}
		return false
	}
	return has("payloadBase64") || has("payload", "value") && has("headers", "payload_encoding", "encoding", "partition", "routing_key")
}

func unwrap(text []byte) recorded {
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return recorded{unusable: "the recording is not understood: " + err.Error()}
	}
	m := recorded{headers: headersOf(e.Headers)}
	if e.Properties != nil && e.Properties.Headers != nil { // an exported dead letter keeps its own beside them
		m.headers = headersOf(e.Properties.Headers)
	}
	encoding := orWord(e.Encoding, e.Rabbit)
	payload := e.Payload
	if payload == nil {
		payload = e.Value
	}
	if e.Base64 != nil {
		payload, encoding = nil, "base64"
		if b, err := json.Marshal(*e.Base64); err == nil {
			payload = b
		}
	}
	if payload == nil || string(payload) == "null" {
		return m // a tombstone
	}
	var s string
	if err := json.Unmarshal(payload, &s); err != nil {
		m.payload, m.isText = payload, true // the value itself stands there
		return m
	}
	switch encoding {
	case "base64":
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			m.unusable = "its payload is not base64"
		}
		m.payload = b
	case "", "string", "json", "utf-8", "utf8":
		m.payload, m.isText = []byte(s), true
	case "hex":
		b, err := fromHex(s)
		if err != nil {
			m.unusable = "its payload is not hex"
		}
		m.payload = b
	default:
		m.unusable = fmt.Sprintf("its encoding %q is none of base64, hex, string", encoding)
	}
	return m
}

// headersOf reads headers as an object, or as the flat list of kcat.
func headersOf(text json.RawMessage) map[string]string {
	out := map[string]string{}
	put := func(name string, value any) {
		switch v := value.(type) {
		case string:
			out[name] = v
		case json.Number:
			out[name] = v.String()
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return out
	}
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			put(name, value)
		}
	case []any:
		for i := 0; i+1 < len(v); i += 2 {
			if name, ok := v[i].(string); ok {
				put(name, v[i+1])
			}
		}
	}
	return out
}

// encoded says how a message is written, for a schema's format.
func (m recorded) encoded(said string, format schemas.Type) string {
	switch {
	case said != "":
		return said
	case m.isText, format == schemas.JSON:
		return "json"
	case m.headers != nil:
		return "binary"
	}
	return validating{}.encodingOf(m.name)
}
