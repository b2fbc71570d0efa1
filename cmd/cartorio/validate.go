package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitfs"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// validating is what validate was asked.
type validating struct {
	root, registry, message, encoding, framing, format string
	assertFormat, refuseUnknown                        bool
}

func (a *app) validateCommand() *cobra.Command {
	var v validating
	cmd := &cobra.Command{
		Use:   "validate SCHEMA DATA...",
		Short: "Check payloads against a schema, as the client validators do",
		Long: `Checks each DATA file, or stdin as "-", as one payload against SCHEMA: a file, a
file of a git ref (git:REF#path=FILE), or registry:SUBJECT[@VERSION].

The encoding is json, binary, hex or base64; without --encoding a framed payload
and a file ending in .bin, .avro, .pb or .binpb is binary, .hex and .b64 are what
they say, and all else is JSON (for Avro its JSON encoding, for Protobuf its JSON
mapping). --framing confluent takes the five-byte prefix off the payload, and
Protobuf's message indexes behind it.

Exits 1 when a payload is invalid, 2 when schema or data could not be read.`,
		Example: `  cartorio validate user.avsc message.json
  cartorio validate --root proto --message acme.v1.Order proto/acme/v1/order.proto order.bin
  xxd -p message | cartorio validate --encoding hex --framing confluent registry:orders-value -`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return a.validate(cmd.Context(), args[0], args[1:], v) },
	}
	f := cmd.Flags()
	f.StringVar(&v.message, "message", "", "full `NAME` of the Protobuf message (default: the file's first)")
	f.StringVar(&v.encoding, "encoding", "", "json, binary, hex or base64")
	f.StringVar(&v.framing, "framing", "none", "none or confluent")
	f.StringVar(&v.format, "format", "text", "text or json")
	f.StringVar(&v.root, "root", "", "`FOLDER` in which references are found (default: the folder of SCHEMA)")
	f.BoolVar(&v.assertFormat, "assert-format", false, "JSON Schema: let format refuse payloads, not only describe them")
	f.BoolVar(&v.refuseUnknown, "refuse-unknown", false, "Protobuf: refuse fields that the schema does not know")
	remoteFlags(cmd, &v.registry)
	oneOf(cmd, "encoding", "json", "binary", "hex", "base64")
	oneOf(cmd, "framing", "none", "confluent")
	oneOf(cmd, "format", "text", "json")
	return cmd
}

// judged is what became of one payload.
type judged struct {
	Data       string      `json:"data"`
	Valid      bool        `json:"valid"`
	Violations []violation `json:"violations"`
}

// violation is why a payload is invalid. Line and column are its place in a
// JSON payload, offset its place in a binary one; SchemaLine and SchemaColumn
// are the place in the schema's text. 0 and -1 are not known.
type violation struct {
	Kind         string          `json:"kind"`
	Rule         string          `json:"rule,omitempty"`
	Text         string          `json:"text"`
	Payload      schemas.Pointer `json:"payload"`
	Line         int             `json:"line,omitempty"`
	Column       int             `json:"column,omitempty"`
	Offset       int             `json:"offset"`
	Schema       schemas.Pointer `json:"schema"`
	SchemaLine   int             `json:"schema_line,omitempty"`
	SchemaColumn int             `json:"schema_column,omitempty"`
}

// validation is the document of a run.
type validation struct {
	Version int          `json:"version"`
	Tool    string       `json:"tool"`
	Schema  string       `json:"schema"`
	Type    schemas.Type `json:"type"`
	Valid   bool         `json:"valid"`
	Results []judged     `json:"results"`
}

func (a *app) validate(ctx context.Context, schemaArg string, data []string, v validating) error {
	if err := v.check(data); err != nil {
		return fail(exitUsage, err)
	}
	s, err := a.subjectSchema(ctx, schemaArg, v)
	if err != nil {
		return err
	}
	if err := s.knows(v.message); err != nil {
		return fail(exitUsage, err)
	}
	doc := validation{Version: 1, Tool: "cartorio " + readBuild().Version, Schema: s.label, Type: s.schema.Source().Type, Valid: true, Results: []judged{}}
	var wrong []string
	for _, name := range data {
		raw, err := a.payload(name)
		if err == nil {
			var j judged
			if j, err = s.judge(name, raw, v); err == nil {
				doc.Results = append(doc.Results, j)
				doc.Valid = doc.Valid && j.Valid
				continue
			}
		}
		var usage *failure
		if errors.As(err, &usage) {
			return err
		}
		wrong = append(wrong, err.Error())
	}
	if err := a.write("", func(w io.Writer, colours bool) error {
		if v.format == "json" {
			return writeJSON(w, doc)
		}
		return doc.render(w, colours)
	}); err != nil {
		return err
	}
	switch {
	case len(wrong) > 0:
		return fail(exitNotCompared, errors.New(strings.Join(wrong, "\n")))
	case !doc.Valid:
		return fail(exitFindings, nil)
	}
	return nil
}

func (v validating) check(data []string) error {
	switch v.encoding {
	case "", "json", "binary", "hex", "base64":
	default:
		return fmt.Errorf("--encoding %q is none of json, binary, hex, base64", v.encoding)
	}
	if v.framing != "none" && v.framing != "confluent" {
		return fmt.Errorf("--framing %q is neither none nor confluent", v.framing)
	}
	if v.format != "text" && v.format != "json" {
		return fmt.Errorf("--format %q is neither text nor json", v.format)
	}
	stdin := 0
	for _, name := range data {
		if name == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return errors.New("stdin can be read once: name - once")
	}
	return nil
}

// known is a schema and what is known of where it came from.
type known struct {
	label  string
	schema schemas.Schema
	found  schemas.Found // of a registry, else zero
}

// subjectSchema opens the schema that the first argument names.
func (a *app) subjectSchema(ctx context.Context, arg string, v validating) (*known, error) {
	if subject, ok := strings.CutPrefix(arg, registryPrefix); ok {
		return v.fromRegistry(ctx, subject)
	}
	r := reading{root: v.root, declared: a.declared()}
	var s *side
	var err error
	if gitfs.Is(arg) {
		spec, parseErr := gitfs.Parse(arg)
		if parseErr != nil {
			return nil, fail(exitUsage, parseErr)
		}
		s, err = openGit(ctx, spec, nil, false, r)
	} else {
		s, err = openDisk(ctx, arg, r)
	}
	if err != nil {
		return nil, err
	}
	defer s.close()
	if s.file == "" {
		return nil, failf(exitUsage, "%s is a folder: name one schema file", arg)
	}
	entry, ok := s.folder.Entry(s.file)
	if !ok {
		return nil, failf(exitNotCompared, "%s is no schema file that is understood", arg)
	}
	schema, err := s.parse(ctx, entry, schemas.New, nil)
	if err != nil {
		return nil, fail(exitNotCompared, errors.New(strings.Join(describe(s.show(s.file), err), "\n")))
	}
	return &known{label: s.show(s.file), schema: schema}, nil
}

// knows refuses a message that payloads of the schema cannot be.
func (s *known) knows(message string) error {
	if message == "" {
		return nil
	}
	messages, ok := s.schema.(schemas.Messages)
	if !ok {
		return fmt.Errorf("--message %s: only a Protobuf schema holds messages, and %s is of type %s: leave it out", message, s.label, s.schema.Source().Type)
	}
	asked := s.schema.Reads(s.schema, schemas.Payload{Message: message}, schemas.ReadOptions{})
	if !slices.ContainsFunc(asked.Violations, func(v schemas.Violation) bool { return v.Rule == "message" }) {
		return nil
	}
	const most = 20
	var names []string
	for i := 0; ; i++ {
		name, err := messages.MessageAt([]int{i})
		if err != nil {
			break
		}
		if names = append(names, name); len(names) == most {
			names = append(names, "more")
			break
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("the schema has no message %s; it has none at all", message)
	}
	return fmt.Errorf("the schema has no message %s; it has %s", message, strings.Join(names, ", "))
}

// fromRegistry asks for SUBJECT or SUBJECT@VERSION.
func (v validating) fromRegistry(ctx context.Context, text string) (*known, error) {
	name, version := subjectAt(text)
	if version == 0 {
		version = schemas.Latest
	}
	if name == "" {
		return nil, failf(exitUsage, "registry: has no subject: write registry:SUBJECT or registry:SUBJECT@VERSION")
	}
	client, err := dial(v.registry)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	found, err := client.Version(ctx, schemas.ParseSubject(name), version, sr.VersionOptions{})
	if err != nil {
		return nil, fail(codeOf(err), err)
	}
	format, ok := formats.Named(found.Source.Type)
	if !ok {
		return nil, failf(exitNotCompared, "registry:%s is of type %s, which is not part of this binary", text, found.Source.Type)
	}
	schema, err := format.Parse(ctx, found.Source, remote{client}, schemas.ParseOptions{Mode: schemas.Stored, From: found.Subject.Context})
	if err != nil {
		return nil, failf(codeOf(err), "registry:%s: %w", text, err)
	}
	return &known{label: fmt.Sprintf("registry:%s@%s", found.Subject, found.Version), schema: schema, found: found}, nil
}

// mostPayload bounds what is read of one DATA: the payload limit, four times
// over for hex and white space.
const mostPayload = 32 << 20

func (a *app) payload(name string) ([]byte, error) {
	in := a.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, bare(err))
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, mostPayload+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, bare(err))
	}
	if len(raw) > mostPayload {
		return nil, fmt.Errorf("reading %s: it has more than %d bytes", name, mostPayload)
	}
	return raw, nil
}

// render prints one line for each payload that is valid, and one for each
// violation of one that is not.
func (d validation) render(w io.Writer, colours bool) error {
	var b strings.Builder
	for _, j := range d.Results {
		name := paint(colours, bold, plain(j.Data))
		if j.Valid {
			fmt.Fprintf(&b, "%s: %s\n", name, paint(colours, green, "valid"))
			continue
		}
		for _, v := range j.Violations {
			at := plain(j.Data)
			switch {
			case v.Line > 0:
				at += fmt.Sprintf(":%d:%d", v.Line, v.Column)
			case v.Offset >= 0:
				at += fmt.Sprintf(":byte %d", v.Offset)
			}
			fmt.Fprintf(&b, "%s: %s: %s", paint(colours, bold, at), paint(colours, red, "invalid"), plain(v.Text))
			if v.Payload != "" {
				fmt.Fprintf(&b, " at %s", plain(string(v.Payload)))
			}
			notes := []string{v.Kind}
			if v.Rule != "" {
				notes = append(notes, v.Rule)
			}
			if v.Schema != "" || v.SchemaLine > 0 {
				where := plain(d.Schema)
				if v.SchemaLine > 0 {
					where += fmt.Sprintf(":%d:%d", v.SchemaLine, v.SchemaColumn)
				}
				notes = append(notes, strings.TrimSpace(where+" "+plain(string(v.Schema))))
			}
			fmt.Fprintf(&b, " (%s)\n", strings.Join(notes, ", "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
