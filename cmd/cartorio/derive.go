package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/derive"
	"github.com/cartorio-registry/cartorio/schemas/formats"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// deriving is what derive was asked.
type deriving struct {
	kind, name, namespace, output string
	items                         bool
}

// mostSamples bounds how many messages one schema is derived from, and so how
// many are read with it again.
const mostSamples = 100_000

func (a *app) deriveCommand() *cobra.Command {
	var c deriving
	cmd := &cobra.Command{
		Use:   "derive DATA...",
		Short: "Propose a schema from messages, and mark what was guessed",
		Long: `Reads JSON messages, one behind the other in each DATA file or on stdin as "-" (JSON
lines are such), and prints a schema that fits them all. Every guess stands in the
documentation of its field, after "guess:": which fields are optional, what a text
looks like, where the types differ. Read them, and delete them.

A field that a message lacks becomes optional; an object with names that no field
can have becomes a map (Avro, Protobuf). Before anything is printed, each message is
read with the schema: one that does not fit is told, and nothing is printed.

The same messages in the same order give the same schema. Exits 2 when a message
cannot be read, or no type of the format holds what it holds.`,
		Example: `  cartorio derive recorded.jsonl > order.schema.json
  cartorio derive --type AVRO --name Order --namespace com.acme a.json b.json
  cartorio derive --type PROTOBUF --name Order --namespace acme.v1 --output order.proto -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.derive(cmd.Context(), args, c) },
	}
	f := cmd.Flags()
	f.StringVar(&c.kind, "type", "JSON", "AVRO, JSON or PROTOBUF")
	f.StringVar(&c.name, "name", "Message", "`NAME` of the message")
	f.StringVar(&c.namespace, "namespace", "", "Avro's namespace or Protobuf's package")
	f.BoolVar(&c.items, "items", false, "take each item of a list as a message")
	f.StringVar(&c.output, "output", "", "write to `FILE` instead of stdout")
	oneOf(cmd, "type", "AVRO", "JSON", "PROTOBUF")
	return cmd
}

func (a *app) derive(ctx context.Context, args []string, c deriving) error {
	kind, err := schemas.ParseType(c.kind)
	format, ok := formats.Named(kind)
	if err != nil || !ok {
		return failf(exitUsage, "--type %s is none of AVRO, JSON, PROTOBUF", c.kind)
	}
	if kind == schemas.JSON && c.namespace != "" {
		return failf(exitUsage, "--namespace is for AVRO and PROTOBUF: a JSON Schema has none")
	}
	if err := (validating{framing: "none", format: "text"}).check(args); err != nil {
		return fail(exitUsage, err)
	}
	shape := derive.New()
	var samples []exampleMessage
	for _, name := range args {
		raw, err := a.payload(name)
		if err != nil {
			return fail(exitNotCompared, err)
		}
		list, err := samplesOf(name, raw, c.items)
		if err != nil {
			return fail(exitNotCompared, err)
		}
		if samples = append(samples, list...); len(samples) > mostSamples {
			return failf(exitNotCompared, "there are more than %d messages: fewer say as much", mostSamples)
		}
	}
	for _, one := range samples {
		if err := shape.Add(one.value); err != nil {
			return failf(exitNotCompared, "%s: %w", one.from, err)
		}
	}
	o := derive.Options{Name: c.name, Namespace: c.namespace}
	text, err := shape.Text(kind, o)
	if err != nil {
		return fail(exitNotCompared, err)
	}
	schema, err := format.Parse(ctx, schemas.Source{Type: kind, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		return failf(exitNotCompared, "what was derived is no schema of type %s: %w", kind, err)
	}
	documents, ok := schema.(schemas.Documents)
	if !ok {
		return failf(exitNotCompared, "messages cannot be read with a schema of type %s", kind)
	}
	sampler := shape.Sampler(kind, o)
	for _, one := range samples {
		if err := ctx.Err(); err != nil {
			return failf(exitNotCompared, "deriving: %w", err)
		}
		if _, violations := documents.PayloadOf([]byte(sampler(one.value)), "", schemas.ReadOptions{}); len(violations) > 0 {
			return failf(exitNotCompared, "%s does not fit what was derived: %s at %s; try another --type", one.from, violations[0].Text, orWord(string(violations[0].Payload), "the top"))
		}
	}
	a.say("derived from %s, and each of them fits", plural(shape.Seen(), "message", "messages"))
	return a.write(c.output, func(w io.Writer, _ bool) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// exampleMessage is one message and where it stands.
type exampleMessage struct {
	from  string
	value *jsontext.Value
}

// samplesOf reads JSON values that stand one behind the other.
func samplesOf(name string, raw []byte, items bool) (list []exampleMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	for n := 1; ; n++ {
		var one json.RawMessage
		start := d.InputOffset()
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: message %d: reading what begins at %s: %w", name, n, schemas.PositionAt(string(raw), int(start)), err)
		}
		v, err := jsontext.Parse(string(one), jsontext.Options{Strict: true, Depth: derive.Deepest + 2, Digits: 1000, Exponent: 400})
		if err != nil {
			return nil, fmt.Errorf("%s: message %d: %w", name, n, err)
		}
		from := fmt.Sprintf("%s: message %d", name, n)
		if items && v.Kind == jsontext.Array {
			for i, item := range v.Items {
				list = append(list, exampleMessage{fmt.Sprintf("%s, item %d", from, i+1), item})
			}
			continue
		}
		list = append(list, exampleMessage{from, v})
		if len(list) > mostSamples {
			break
		}
	}
	return list, nil
}
