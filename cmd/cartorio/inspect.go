package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// inspecting is what inspect was asked.
type inspecting struct {
	registry, bundle, schema, root, message string
	encoding, framing, format               string
	hex, base64, id, contentType            string
	headers                                 []string
	limit                                   int
	isKey                                   bool
}

func (a *app) inspectCommand() *cobra.Command {
	var i inspecting
	cmd := &cobra.Command{
		Use:   "inspect [FILE | ADDRESS]",
		Short: "Show a message decoded, or say what is wrong with it",
		Long: `Reads a message from FILE, from stdin, from --hex or --base64, or from a broker,
where it stays. Recognises how it is written (raw, hex, Base64 of either alphabet,
padded or not) and how it names its schema: headers, Confluent's prefix or header,
CloudEvents, and the framings of Apicurio, Azure and AWS Glue. Fetches the schema
from the registry or a bundle, or takes --schema, and prints the message with its
members in order and its numbers exact. Without a schema JSON is formatted,
Protobuf is shown field by field, and all else as bytes.

Messages of Avro and Protobuf are binary. A file that ends in .json and holds JSON
text, and any message with --encoding json, is read as Avro's JSON encoding, or
Protobuf's JSON mapping; elsewhere it is said when a message is JSON text.

A file that ends in .jsonl holds one message a line, as exports of dead letters do.

` + brokerHelp + `

Exits 1 when a message is not valid, 2 when its schema could not be had.

` + remoteHelp,
		Example: `  cartorio inspect message.bin --header schemaSubject=orders-value --header schemaVersion=2
  cartorio inspect --base64 AAAAAAcCAmFi
  cartorio inspect amqp://localhost#orders.dlq
  cartorio inspect kafka://localhost:9092/orders.DLT --id 0:42
  kcat -C -t orders -c 1 | cartorio inspect --schema order.avsc`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			// Such a script means a message that it lost, not stdin.
			for _, name := range []string{"hex", "base64"} {
				if f := cmd.Flags().Lookup(name); f.Changed && strings.TrimSpace(f.Value.String()) == "" {
					return failf(exitUsage, "--%s is empty: it is the message itself; an empty message is read from a file or stdin", name)
				}
			}
			return a.inspect(cmd.Context(), args, i)
		},
	}
	f := cmd.Flags()
	remoteFlags(cmd, &i.registry)
	f.StringVar(&i.bundle, "bundle", "", "`FILE` or folder of a bundle that is asked before the registry")
	f.StringVar(&i.schema, "schema", "", "`SCHEMA` to read with: a file, git:REF#path=FILE or registry:SUBJECT[@VERSION]")
	f.StringVar(&i.root, "root", "", "`FOLDER` in which references of --schema are found")
	f.StringVar(&i.message, "message", "", "full `NAME` of the Protobuf message, with --schema")
	f.StringVar(&i.hex, "hex", "", "the message itself, in `HEX`")
	f.StringVar(&i.base64, "base64", "", "the message itself, in `BASE64`")
	f.StringVar(&i.encoding, "encoding", "auto", "how the message is written: auto, raw, hex, base64 or json")
	f.StringVar(&i.framing, "framing", "auto", "auto, none or confluent")
	f.StringArrayVar(&i.headers, "header", nil, "`NAME=VALUE` of a header; hex:… and base64:… are bytes; may stand several times")
	f.StringVar(&i.contentType, "content-type", "", "the message's content `TYPE`")
	f.BoolVar(&i.isKey, "key", false, "the message is a Kafka key, whose headers begin with key")
	f.StringVar(&i.id, "id", "", "`ID` of the message at a broker: messageId, or PARTITION:OFFSET")
	f.IntVar(&i.limit, "limit", 1, "how many messages of a broker are shown")
	f.StringVar(&i.format, "format", "text", "text or json")
	oneOf(cmd, "encoding", "auto", "raw", "hex", "base64", "json")
	oneOf(cmd, "framing", "auto", "none", "confluent")
	oneOf(cmd, "format", "text", "json")
	return cmd
}

func (i inspecting) check(args []string) error {
	for _, one := range []struct {
		flag, value string
		known       []string
	}{{"encoding", i.encoding, []string{"auto", "raw", "hex", "base64", "json"}}, {"framing", i.framing, []string{"auto", "none", "confluent"}}, {"format", i.format, []string{"text", "json"}}} {
		if !slices.Contains(one.known, one.value) {
			return fmt.Errorf("--%s %q is none of %s", one.flag, one.value, strings.Join(one.known, ", "))
		}
	}
	sources := len(args)
	for _, text := range []string{i.hex, i.base64} {
		if text != "" {
			sources++
		}
	}
	isBroker := len(args) == 1 && brokers.Is(args[0])
	switch {
	case sources > 1:
		return errors.New("name one source: a file, an address, --hex or --base64")
	case i.id != "" && !isBroker:
		return errors.New("--id is for messages at a broker")
	case i.encoding == "json" && i.framing == "confluent":
		return errors.New("--encoding json is a text, and --framing confluent a prefix of bytes: leave one out")
	case i.limit < 1:
		return fmt.Errorf("--limit %d: at least one message is shown", i.limit)
	case i.message != "" && i.schema == "":
		return errors.New("--message is for --schema: messages name theirs themselves")
	}
	return nil
}

// incoming is a message as it was found. encoding is how it was written.
type incoming struct {
	source, encoding string
	message          validate.Message
	problem          string // why there is none
	// asJSON takes the text for the JSON form of a schema with binary messages.
	asJSON bool
}

func (a *app) inspect(ctx context.Context, args []string, i inspecting) error {
	if err := i.check(args); err != nil {
		return fail(exitUsage, err)
	}
	headers, err := parseHeaders(i.headers)
	if err != nil {
		return fail(exitUsage, err)
	}
	e, err := a.newExaminer(ctx, i)
	if err != nil {
		return err
	}
	defer e.close()
	var list []examined
	code := exitOK
	err = a.incoming(ctx, args, i, func(in incoming) error {
		in.message.Headers = append(in.message.Headers, headers...)
		if i.contentType != "" {
			in.message.ContentType = i.contentType
		}
		in.message.IsKey = i.isKey
		in.asJSON = in.asJSON || i.encoding == "json"
		one, c := e.examine(ctx, in)
		code = max(code, c)
		list = append(list, one)
		return nil
	})
	if err != nil && len(list) == 0 {
		return err
	}
	if writeErr := a.write("", func(w io.Writer, colours bool) error {
		if i.format == "json" {
			return writeJSON(w, inspection{Version: 1, Tool: "cartorio " + readBuild().Version, Messages: list})
		}
		return renderExamined(w, colours, list)
	}); writeErr != nil {
		return writeErr
	}
	if err != nil {
		return err
	}
	if code != exitOK {
		return fail(code, nil)
	}
	return nil
}

// incoming gives the messages of the source.
func (a *app) incoming(ctx context.Context, args []string, i inspecting, each func(incoming) error) error {
	switch {
	case i.hex != "":
		return decoded("--hex", []byte(i.hex), "hex", each)
	case i.base64 != "":
		return decoded("--base64", []byte(i.base64), "base64", each)
	case len(args) == 1 && brokers.Is(args[0]):
		return a.incomingFrom(ctx, args[0], i, each)
	}
	name := "-"
	if len(args) == 1 {
		name = args[0]
	}
	if strings.EqualFold(filepath.Ext(name), ".jsonl") {
		return a.messages([]string{name}, func(m recorded) error {
			in := incoming{source: m.where, encoding: "recorded", problem: m.unusable, message: validate.Message{Payload: m.payload}}
			for _, h := range sortedNames(m.headers) {
				in.message.Headers = append(in.message.Headers, validate.Header{Name: h, Value: m.headers[h]})
			}
			return each(in)
		})
	}
	raw, err := a.payload(name)
	if err != nil {
		return fail(exitNotCompared, err)
	}
	if name == "-" {
		name = "stdin"
	}
	return decoded(name, raw, i.encoding, each)
}

func (a *app) incomingFrom(ctx context.Context, address string, i inspecting, each func(incoming) error) error {
	at, err := brokerAddress(address)
	if err != nil {
		return err
	}
	box, err := openBox(at)
	if err != nil {
		return err
	}
	defer box.Close() //nolint:errcheck // it was only read
	n := 0
	err = box.Walk(ctx, func(_ context.Context, l *deadletter.Letter) (deadletter.Fate, error) {
		if i.id != "" && !l.Is(i.id) {
			return deadletter.Keep, nil
		}
		n++
		if err := each(incomingLetter(at, l)); err != nil {
			return deadletter.Stop, err
		}
		if n == i.limit {
			return deadletter.Stop, nil
		}
		return deadletter.Keep, nil
	})
	if err == nil && n == 0 {
		err = deadletter.ErrNoLetter
	}
	if err != nil {
		return brokerFailed(at, err)
	}
	return nil
}

func incomingLetter(at brokers.Address, l *deadletter.Letter) incoming {
	m := l.Message
	m.Headers = slices.Clone(m.Headers)
	return incoming{source: at.String() + " " + l.ID(), encoding: "raw", message: m}
}

// decoded reads a text that holds a message.
func decoded(source string, raw []byte, encoding string, each func(incoming) error) error {
	in := incoming{source: source, encoding: encoding}
	if encoding == "auto" {
		in.encoding, in.asJSON = encodingIn(raw), isJSONFile(source, raw)
	}
	var err error
	switch in.encoding {
	case "hex":
		in.message.Payload, err = fromHexText(raw)
	case "base64":
		in.message.Payload, err = fromBase64(raw)
	default:
		in.message.Payload = raw
	}
	if err != nil {
		return failf(exitNotCompared, "reading %s as %s: %w", source, in.encoding, err)
	}
	if in.message.Payload == nil {
		in.message.Payload = []byte{}
	}
	return each(in)
}

// fromHexText reads hex with white space, colons or a leading 0x.
func fromHexText(raw []byte) ([]byte, error) {
	text := strings.NewReplacer(":", "", "0x", "", "\\x", "").Replace(strings.Join(strings.Fields(string(raw)), ""))
	out, err := hex.DecodeString(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "encoding/hex: "))
	}
	return out, nil
}

// encodingIn guesses how a message is written. Text that is JSON is itself; what
// has other bytes than text is raw.
func encodingIn(raw []byte) string {
	if !utf8.Valid(raw) || slices.ContainsFunc(raw, func(b byte) bool { return b < ' ' && b != '\n' && b != '\r' && b != '\t' }) {
		return "raw"
	}
	text := strings.Join(strings.Fields(string(raw)), "")
	isHex := func() bool {
		b, err := fromHexText(raw)
		return err == nil && len(b) > 0
	}
	switch {
	case text == "":
		return "raw"
	// A number alone is more often the beginning of hex than a message.
	case json.Valid(raw) && (len(text) < 10 || !isHex()):
		return "raw"
	case isHex():
		return "hex"
	}
	if len(text) >= 4 {
		t := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
		if _, err := base64.RawStdEncoding.DecodeString(t); err == nil {
			return "base64"
		}
	}
	return "raw"
}

// parseHeaders reads NAME=VALUE.
func parseHeaders(list []string) ([]validate.Header, error) {
	var out []validate.Header
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--header %q: write NAME=VALUE", text)
		}
		h := validate.Header{Name: name, Value: value}
		var err error
		if rest, is := strings.CutPrefix(value, "hex:"); is {
			h.Value, err = fromHexText([]byte(rest))
		} else if rest, is := strings.CutPrefix(value, "base64:"); is {
			h.Value, err = fromBase64([]byte(rest))
		}
		if err != nil {
			return nil, fmt.Errorf("--header %s: %w", name, err)
		}
		out = append(out, h)
	}
	return out, nil
}
