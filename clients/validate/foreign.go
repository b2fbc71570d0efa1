package validate

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/schemas"
)

// takeForeign reads what the headers of another product's serializers say.
func (x *extra) takeForeign(m *Message) {
	if f, ok := framing.RecognizeHeaders(m.Headers, m.IsKey); ok && x.foreign.Vendor == "" {
		x.foreign = f
	}
	name := framing.ApicurioMessage
	if m.IsKey {
		name = framing.ApicurioKeyMessage
	}
	if h, ok := m.header(name); ok {
		if text, ok, err := h.Text(); ok && err == nil && len(text) <= framing.LongestText {
			x.apicurio = text
		}
	}
}

// unwrapForeign takes the framing of the product whose identity the lookup knew
// off the payload, and gives the Protobuf message that the framing names.
//
// Source: client specification 1.5 to 1.7.
func (x *extra) unwrapForeign(b *binding) (message string, f *failure) {
	x.payload = x.payload[min(x.foreign.Size, len(x.payload)):]
	if x.foreign.Compression != 0 {
		if f := x.inflate(); f != nil {
			return "", f
		}
	}
	if b.typ != schemas.Protobuf {
		return "", nil
	}
	messages, ok := b.parsed.schema.(schemas.Messages)
	if !ok {
		return "", &failure{reason: SchemaUnparsable, err: errors.New("the format cannot name a message by its place")}
	}
	switch {
	case x.foreign.Vendor == framing.Glue:
		return x.glueMessage(messages)
	case x.apicurio != "":
		return messageNamed(messages, x.apicurio)
	case x.foreign.Vendor == framing.Apicurio && x.foreign.Size > 0:
		return x.apicurioMessage(messages)
	}
	return b.message, nil
}

// inflate undoes Glue's compression, within what a payload may have.
func (x *extra) inflate() *failure {
	in, err := zlib.NewReader(bytes.NewReader(x.payload))
	if err != nil {
		return &failure{reason: PayloadUnreadable, err: fmt.Errorf("inflate the payload: %w", err)}
	}
	data, err := io.ReadAll(io.LimitReader(in, mostPayload+1))
	if err != nil {
		return &failure{reason: PayloadUnreadable, err: fmt.Errorf("inflate the payload: %w", err)}
	}
	if len(data) > mostPayload {
		return fail(PayloadTooLarge, "inflated the payload has over %d bytes", mostPayload)
	}
	x.payload = data
	return nil
}

// glueMessage reads the number of the message, an unsigned varint. How nested
// messages are counted is not known, so only those of the top level are.
func (x *extra) glueMessage(messages schemas.Messages) (string, *failure) {
	n, size := binary.Uvarint(x.payload)
	if size <= 0 || n > 1<<20 {
		return "", fail(PayloadUnreadable, "the payload does not begin with the number of its message, as AWS Glue's do")
	}
	x.payload = x.payload[size:]
	name, err := messages.MessageAt([]int{int(n)})
	if err != nil {
		return "", &failure{reason: PayloadUnreadable, err: fmt.Errorf("AWS Glue's number %d names no message of the top level: %w", n, err)}
	}
	return name, nil
}

// apicurioMessage reads the helper that stands before the data: its length, then
// a message whose field 1 is the type's name.
func (x *extra) apicurioMessage(messages schemas.Messages) (string, *failure) {
	length, size := binary.Uvarint(x.payload)
	if size <= 0 || length > uint64(len(x.payload)-size) {
		return "", fail(PayloadUnreadable, "the payload does not begin with the name of its message, as Apicurio's do")
	}
	helper := x.payload[size : size+int(length)]
	x.payload = x.payload[size+int(length):]
	if len(helper) < 2 || helper[0] != 0x0a || int(helper[1]) != len(helper)-2 || helper[1] >= 0x80 {
		return "", fail(PayloadUnreadable, "the payload does not begin with the name of its message, as Apicurio's do")
	}
	return messageNamed(messages, string(helper[2:]))
}

// messageNamed finds a message by its full name, or by its own name alone where
// one of the top level has it.
func messageNamed(messages schemas.Messages, name string) (string, *failure) {
	if messages.IndexesOf(name) != nil {
		return name, nil
	}
	for i := 0; ; i++ {
		full, err := messages.MessageAt([]int{i})
		if err != nil {
			return "", fail(PayloadUnreadable, "the schema has no message %q", cut(name, 255))
		}
		if full == name || strings.HasSuffix(full, "."+name) {
			return full, nil
		}
	}
}
