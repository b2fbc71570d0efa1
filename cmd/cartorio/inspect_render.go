package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// renderExamined prints messages for people: what is known of each, then the
// message itself.
func renderExamined(w io.Writer, colours bool, list []examined) error {
	var b strings.Builder
	for i := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		list[i].render(&b, colours)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (x *examined) render(b *strings.Builder, colours bool) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "%s %s\n", paint(colours, bold, fmt.Sprintf("%-8s", name)), plain(fmt.Sprintf(format, args...)))
	}
	line("message", "%s", x.Source)
	line("payload", "%s, %s", plural(x.Bytes, "byte", "bytes"), x.Encoding)
	line("framing", "%s", x.Framing)
	if s := x.Schema; s != nil {
		text := s.Label
		if s.Version != 0 {
			text += fmt.Sprintf(" version %d", s.Version)
		}
		text += ", " + string(s.Type)
		if s.Message != "" {
			text += ", message " + s.Message
		}
		if s.ID != 0 {
			text += fmt.Sprintf(", id %d", s.ID)
		}
		if s.GUID != "" {
			text += ", guid " + s.GUID
		}
		line("schema", "%s", text)
	}
	for _, h := range x.Headers {
		line("header", "%s: %s", h.Name, h.Value)
	}
	colour, word := green, x.Verdict
	switch x.Verdict {
	case "invalid":
		colour = red
	case "unknown":
		colour, word = yellow, "schema not known"
	}
	text := paint(colours, colour, word)
	if x.Reason != "" {
		text += " (" + plain(x.Reason) + ")"
	}
	if x.Problem != "" {
		text += ": " + plain(x.Problem)
	}
	fmt.Fprintf(b, "%s %s\n", paint(colours, bold, "verdict "), text)
	for _, v := range x.Violations {
		at := string(v.Payload)
		if at == "" && v.Offset >= 0 {
			at = fmt.Sprintf("byte %d", v.Offset)
		}
		line("", "%s: %s", orWord(at, "/"), v.Text)
	}
	if x.Null {
		return
	}
	b.WriteString("\n")
	x.body(b)
}

// body is the message itself: formatted, field by field, or its bytes.
func (x *examined) body(b *strings.Builder) {
	if x.Document != nil {
		var out bytes.Buffer
		if err := json.Indent(&out, x.Document, "", "  "); err == nil {
			for text := range strings.Lines(out.String()) {
				b.WriteString(plain(strings.TrimSuffix(text, "\n")) + "\n")
			}
			return
		}
	}
	if x.Fields != nil {
		b.WriteString("# read as Protobuf without its schema: field, wire type, value\n")
		renderWire(b, x.Fields, "")
		return
	}
	const most = 64 << 10
	payload := x.payload
	if len(payload) > most {
		payload = payload[:most]
	}
	b.WriteString(hex.Dump(payload))
	if len(payload) < len(x.payload) {
		fmt.Fprintf(b, "… %d more bytes: --format json has all\n", len(x.payload)-len(payload))
	}
}

func renderWire(b *strings.Builder, list []wireField, indent string) {
	for _, f := range list {
		fmt.Fprintf(b, "%s%d %s ", indent, f.Number, f.Wire)
		switch {
		case f.Fields != nil:
			b.WriteString("{\n")
			renderWire(b, f.Fields, indent+"  ")
			b.WriteString(indent + "}\n")
		case f.Text != nil:
			b.WriteString(strconv.QuoteToGraphic(*f.Text) + "\n")
		default:
			b.WriteString(f.Value + "\n")
		}
	}
}
