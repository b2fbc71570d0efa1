package bridge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Config is the file of a bridge.
type Config struct {
	Version int `yaml:"version"` // of the file's form: 1
	// Subject is what is read; Reads is the version that the target gets, and the one
	// that messages are translated to.
	Subject string          `yaml:"subject"`
	Reads   schemas.Version `yaml:"reads"`
	// Translations is a mapping file; empty passes messages of that version alone.
	Translations string `yaml:"translations"`
	From         Source `yaml:"from"`
	To           Target `yaml:"to"`
}

// Source is where messages are read.
type Source struct {
	Address    string `yaml:"address"`
	DeadLetter string `yaml:"dead_letter"` // a queue or topic at the same broker
	Group      string `yaml:"group"`       // Kafka's
	// Framing is plain (the schema stands in headers), confluent or detect.
	Framing string `yaml:"framing"`
	// Workers is how many messages are on their way at once; with more than one,
	// order is kept by key when Keyed, else not at all.
	Workers int  `yaml:"workers"`
	Keyed   bool `yaml:"keyed"`
}

// Target is where messages are published.
type Target struct {
	Address string `yaml:"address"`
	// Exchange takes RabbitMQ's messages instead of the address's queue, with
	// RoutingKey, or the key that the message came with.
	Exchange   string `yaml:"exchange"`
	RoutingKey string `yaml:"routing_key"`
	// Subject and Version are what messages are stamped as; the source's when empty.
	Subject string          `yaml:"subject"`
	Version schemas.Version `yaml:"version"`
	// Framing is plain, confluent (a prefix before the payload) or header (Kafka's
	// binary header of newer Confluent clients).
	Framing string `yaml:"framing"`
}

// inType is what the library says of members that are not known.
var inType = regexp.MustCompile(`field (\S+) not found in type \S+`)

// ParseConfig reads a file. Members that are not known are errors.
func ParseConfig(text []byte) (Config, error) {
	var c Config
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	err := d.Decode(&c)
	switch {
	case errors.Is(err, io.EOF):
		return c, errors.New("the file is empty: it needs version, subject, reads, from and to")
	case err != nil:
		return c, errors.New(inType.ReplaceAllString(err.Error(), "there is no member $1"))
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return c, errors.New("the file holds more than one document")
	}
	return c, c.check()
}

// check tells everything that is wrong.
func (c *Config) check() error {
	var errs []error
	wrong := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	oneOf := func(what, value string, known ...string) {
		wrong(value == "" || slices.Contains(known, value), "%s: %q is none of %v", what, value, known)
	}
	wrong(c.Version == 1, "version: the form %d is not known: this program reads 1", c.Version)
	wrong(c.Subject != "", "subject: it is missing: name what is read")
	wrong(c.Reads > 0, "reads: it is missing: name the version that messages are translated to")
	wrong(c.From.Address != "", "from.address: it is missing: write %s", brokers.Forms)
	wrong(c.To.Address != "", "to.address: it is missing: write %s", brokers.Forms)
	wrong(c.From.DeadLetter != "", "from.dead_letter: it is missing: name the queue or topic for messages that cannot be translated")
	wrong(c.From.Workers >= 0, "from.workers: it cannot be negative")
	wrong(c.To.Version >= 0, "to.version: versions count from 1")
	wrong(c.To.Version == 0 || c.To.Subject != "", "to.version: it is of to.subject, which is missing: the version of the source's subject is reads")
	wrong(c.To.RoutingKey == "" || c.To.Exchange != "", "to.routing_key: it is for to.exchange, which is missing")
	oneOf("from.framing", c.From.Framing, "plain", "confluent", "detect")
	oneOf("to.framing", c.To.Framing, "plain", "confluent", "header")
	return errors.Join(errs...)
}

// fits tells whether the members fit the brokers.
func (c *Config) fits(from, to brokers.Address) error {
	var errs []error
	if from.Kind == brokers.Kafka && c.From.Group == "" {
		errs = append(errs, errors.New("from.group: it is missing: Kafka keeps by it what was read"))
	}
	if from.Kind != brokers.Kafka && c.From.Group != "" {
		errs = append(errs, errors.New("from.group: only Kafka has groups"))
	}
	if to.Kind != brokers.RabbitMQ && c.To.Exchange != "" {
		errs = append(errs, errors.New("to.exchange: only RabbitMQ has exchanges"))
	}
	if to.Kind != brokers.Kafka && c.To.Framing == "header" {
		errs = append(errs, errors.New("to.framing: only Kafka carries the binary header whole"))
	}
	if from.String() == to.String() {
		errs = append(errs, errors.New("to.address: it is from.address: what is published would come again for ever"))
	}
	return errors.Join(errs...)
}

// Check tells whether a file fits the brokers that it names.
func (o *Options) Check() error { return o.Config.fits(o.From, o.To) }
