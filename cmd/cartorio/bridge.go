package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/clients/bridge"
	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/translate"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// bridging is what bridge was asked.
type bridging struct {
	registry, logFormat, logLevel, environment string
	check, quiet                               bool
}

func (a *app) bridgeCommand() *cobra.Command {
	var b bridging
	cmd := &cobra.Command{
		Use:   "bridge FILE",
		Short: "Translate messages of one version into another between two destinations",
		Long: `Reads messages at one queue or topic, translates those of older versions by the
declared steps, validates them, and publishes them at another, of the same broker
or of another kind. Ids, keys and traces are kept, and what names the schema is
stamped anew. A message is acknowledged when the broker at the other side has it.

FILE is YAML:

  version: 1
  subject: orders-value          # what is read
  reads: 2                       # translated to this version
  translations: mapping.yaml     # rename, default, drop and cast, by version
  from:
    address: amqp://localhost#orders-v1
    dead_letter: orders-v1.dlq   # for what cannot be translated
    # group: orders-bridge       Kafka's
    # framing: plain             or confluent, detect
    # workers: 1, keyed: false
  to:
    address: kafka://localhost:9092/orders-v2
    # exchange, routing_key      RabbitMQ's, instead of the address's queue
    # subject, version           where the target's subject is another one
    # framing: plain             or confluent, header

Addresses are those of cartorio dlq. User and password of each side stand in its
address, or in the variables CARTORIO_BRIDGE_FROM_USER, CARTORIO_BRIDGE_FROM_PASSWORD,
and the same with TO; so do _CA, _CERTIFICATE and _KEY, the files for TLS.

It runs until SIGTERM or SIGINT, then finishes what is on its way.

` + remoteHelp,
		Example: `  cartorio bridge bridge.yaml
  cartorio bridge bridge.yaml --check`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.bridge(cmd.Context(), args[0], b) },
	}
	f := cmd.Flags()
	remoteFlags(cmd, &b.registry)
	f.BoolVar(&b.check, "check", false, "only check the file, the translations and the schemas")
	f.StringVar(&b.environment, "environment", "", "`NAME` of where it runs, under which the registry is told what it reads")
	f.BoolVar(&b.quiet, "no-report", false, "do not tell the registry what is read")
	f.StringVar(&b.logFormat, "log-format", "text", "text or json, on stderr")
	f.StringVar(&b.logLevel, "log-level", "info", "debug, info, warn or error")
	oneOf(cmd, "log-format", "text", "json")
	oneOf(cmd, "log-level", "debug", "info", "warn", "error")
	return cmd
}

func (a *app) bridge(ctx context.Context, file string, b bridging) error {
	logger, err := serving{logFormat: b.logFormat, logLevel: b.logLevel}.logger(a)
	if err != nil {
		return fail(exitUsage, err)
	}
	o, err := readBridge(file)
	if err != nil {
		return err
	}
	client, err := dial(b.registry)
	if err != nil {
		return err
	}
	defer client.Close()
	options := validate.Options{Environment: b.environment}
	if !b.quiet && !b.check {
		options.Readership = client
	}
	v := validate.NewWith(client, options, formats.All...)
	defer v.Close()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	o.Validator, o.Logger, o.Done = v, logger, &bridge.Counts{}
	switch err := prepareBridge(ctx, client, o); {
	case ctx.Err() != nil && !b.check:
		logger.Info("stopped before it began")
		return nil
	case err != nil:
		return failf(codeOf(err), "%s: %w", file, err)
	}
	if b.check {
		_, _ = fmt.Fprintf(a.out, "%s: %s %s, from %s to %s\n", plain(file), plain(o.Config.Subject), plain(o.Expect.Reads.String()), plain(o.From.String()), plain(o.To.String()))
		return nil
	}
	_, _ = fmt.Fprintf(a.out, "cartorio %s bridges %s to %s\n", readBuild().Version, plain(o.From.String()), plain(o.To.String()))
	err = bridge.Run(ctx, *o)
	logger.Info("stopped", "published", o.Done.Published.Load(), "translated", o.Done.Translated.Load(), "dead_lettered", o.Done.DeadLettered.Load())
	if err != nil {
		return fail(exitUnreachable, err)
	}
	return nil
}

// readBridge reads the file and the mapping that it names.
func readBridge(file string) (*bridge.Options, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, failf(exitNotCompared, "reading %s: %w", file, bare(err))
	}
	o := &bridge.Options{}
	if o.Config, err = bridge.ParseConfig(text); err != nil {
		return nil, failf(exitUsage, "%s: %w", file, err)
	}
	for _, one := range []struct {
		member, text, variable string
		to                     *brokers.Address
	}{{"from", o.Config.From.Address, "CARTORIO_BRIDGE_FROM", &o.From}, {"to", o.Config.To.Address, "CARTORIO_BRIDGE_TO", &o.To}} {
		if *one.to, err = addressBy(one.text, one.variable); err != nil {
			return nil, failf(exitUsage, "%s: %s.address: %w", file, one.member, err)
		}
	}
	if err := o.Check(); err != nil {
		return nil, failf(exitUsage, "%s: %w", file, err)
	}
	o.Expect = &validate.Expect{Subject: validate.Fixed(o.Config.Subject), Reads: validate.MustReads(o.Config.Reads.String()), Consumer: "cartorio-bridge " + o.From.Name}
	switch o.Config.From.Framing {
	case "confluent":
		o.Expect.Framing = validate.Confluent
	case "detect":
		o.Expect.Framing = validate.Detect
	}
	subject, version := o.Config.To.Subject, o.Config.To.Version
	switch {
	case subject == "":
		o.Pin = validate.Version(validate.Fixed(o.Config.Subject), o.Config.Reads)
	case version == 0:
		o.Pin = validate.Latest(validate.Fixed(subject), 0)
	default:
		o.Pin = validate.Version(validate.Fixed(subject), version)
	}
	if o.Config.Translations == "" {
		return o, nil
	}
	mapping := o.Config.Translations
	if !filepath.IsAbs(mapping) {
		mapping = filepath.Join(filepath.Dir(file), filepath.FromSlash(mapping))
	}
	if text, err = os.ReadFile(mapping); err != nil {
		return nil, failf(exitNotCompared, "reading %s: %w", mapping, bare(err))
	}
	m, err := translate.Parse(text)
	if err != nil {
		return nil, failf(exitUsage, "%s", strings.Join(describe(mapping, err), "\n"))
	}
	o.Expect.Steps = m.Steps()
	if err := o.Expect.Check(); err != nil {
		return nil, failf(exitUsage, "%s: %w", mapping, err)
	}
	return o, nil
}

// prepareBridge fetches what will be needed, so that a bridge that starts can
// work.
//
// Errors: a version that is not there; contract rules that would have to run; the
// registry cannot be asked.
func prepareBridge(ctx context.Context, client *sr.Client, o *bridge.Options) error {
	if err := o.Validator.Warm(ctx, o.Expect, o.From.Name); err != nil {
		return err
	}
	if err := o.Validator.WarmPin(ctx, &o.Pin, o.To.Name); err != nil {
		return err
	}
	subject := schemas.ParseSubject(o.Config.Subject)
	found, err := client.Version(ctx, subject, o.Config.Reads, sr.VersionOptions{Deleted: true})
	if err != nil {
		return err
	}
	// Declared steps come first: rules are refused only where nothing stands in
	// their place.
	if len(o.Expect.Steps) == 0 {
		if err := translate.Unsupported(found.RuleSet); err != nil {
			return fmt.Errorf("%s version %s: %w", subject, o.Config.Reads, err)
		}
	}
	if o.Config.To.Subject == "" {
		return nil
	}
	version := o.Config.To.Version
	if version == 0 {
		version = schemas.Latest
	}
	to, err := client.Version(ctx, schemas.ParseSubject(o.Config.To.Subject), version, sr.VersionOptions{Deleted: true})
	if err != nil {
		return err
	}
	format, ok := formats.Named(to.Source.Type)
	if !ok {
		return fmt.Errorf("%s is of type %s, which is not part of this binary", to.Subject, to.Source.Type)
	}
	schema, err := format.Parse(ctx, to.Source, remote{client}, schemas.ParseOptions{Mode: schemas.Stored, From: to.Subject.Context})
	if err != nil {
		return err
	}
	// Messages are stamped as what they were made for, whatever comes later.
	o.Pin = validate.Version(validate.Fixed(o.Config.To.Subject), to.Version)
	o.Recode, err = recoder(schema)
	return err
}

// recoder makes payloads of a schema from documents of another.
func recoder(to schemas.Schema) (func(*validate.Outcome) ([]byte, error), error) {
	target, ok := to.(schemas.Documents)
	if !ok {
		return nil, errors.New("the target's format has no form as a document")
	}
	return func(o *validate.Outcome) ([]byte, error) {
		from, ok := o.Writer.(schemas.Documents)
		if !ok {
			return nil, errors.New("the message's format has no form as a document")
		}
		document, list := from.DocumentOf(schemas.Payload{Bytes: o.Payload, Message: o.Message}, schemas.ReadOptions{})
		if len(list) > 0 {
			return nil, fmt.Errorf("read it as a document: %s at %q", list[0].Text, list[0].Payload)
		}
		payload, list := target.PayloadOf(document, o.Message, schemas.ReadOptions{})
		if len(list) > 0 {
			return nil, fmt.Errorf("write it for the target's subject: %s at %q", list[0].Text, list[0].Payload)
		}
		return payload, nil
	}, nil
}
