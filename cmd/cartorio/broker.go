package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
	stompbox "github.com/cartorio-registry/cartorio/clients/deadletter/activemq"
	amqp10box "github.com/cartorio-registry/cartorio/clients/deadletter/amqp10"
	kafkabox "github.com/cartorio-registry/cartorio/clients/deadletter/kafka"
	rabbitbox "github.com/cartorio-registry/cartorio/clients/deadletter/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

const brokerHelp = `ADDRESS is amqp://HOST/VHOST#QUEUE (RabbitMQ), kafka://HOST:PORT,HOST:PORT/TOPIC,
stomp://HOST/QUEUE (ActiveMQ) or amqp10://HOST/QUEUE (AMQP 1.0); amqps, stomps and amqp10s are encrypted, and
kafka takes ?tls=true and ?sasl=plain, scram-sha-256 or scram-sha-512. User and password stand in it, escaped
as in any URL, or in CARTORIO_BROKER_USER and CARTORIO_BROKER_PASSWORD; they are never printed.
CARTORIO_BROKER_CA names a file of the authorities to trust instead of the machine's,
CARTORIO_BROKER_CERTIFICATE and CARTORIO_BROKER_KEY those of a certificate of one's own, all PEM.`

// brokerAddress reads the address of a queue or topic.
func brokerAddress(text string) (brokers.Address, error) {
	return addressBy(text, "CARTORIO_BROKER")
}

// addressBy reads an address; what it has not stands in variables of a prefix.
func addressBy(text, prefix string) (brokers.Address, error) {
	a, err := brokers.Parse(text, os.Getenv(prefix+"_USER"), os.Getenv(prefix+"_PASSWORD"))
	if err != nil {
		return a, fail(exitUsage, err)
	}
	if a.Trust, err = trustBy(prefix); err != nil {
		return a, fail(exitUsage, err)
	}
	if a.Trust != nil && !a.TLS {
		return a, failf(exitUsage, "%s: %s_CA or %s_CERTIFICATE is set, and the address is not encrypted: write amqps, stomps, amqp10s or ?tls=true", a, prefix, prefix)
	}
	return a, nil
}

// trustBy is whom TLS trusts and who it says we are, by the variables of a prefix;
// nil where none is set.
func trustBy(prefix string) (*tls.Config, error) {
	authorities, certificate, key := os.Getenv(prefix+"_CA"), os.Getenv(prefix+"_CERTIFICATE"), os.Getenv(prefix+"_KEY")
	if authorities == "" && certificate == "" && key == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if authorities != "" {
		text, err := os.ReadFile(authorities)
		if err != nil {
			return nil, fmt.Errorf("%s_CA: reading %s: %w", prefix, authorities, bare(err))
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s_CA: %s holds no certificate in PEM", prefix, authorities)
		}
	}
	if certificate == "" && key == "" {
		return c, nil
	}
	if certificate == "" || key == "" {
		return nil, fmt.Errorf("%s_CERTIFICATE and %s_KEY belong together: set both", prefix, prefix)
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("%s_CERTIFICATE and %s_KEY: reading %s and %s: %w", prefix, prefix, certificate, key, bare(err))
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// openBox opens what lies at an address. It connects when it is used.
func openBox(a brokers.Address) (deadletter.Box, error) {
	switch a.Kind {
	case brokers.RabbitMQ:
		return rabbitbox.Open(a), nil
	case brokers.Kafka:
		return kafkabox.Open(a), nil
	case brokers.STOMP:
		return stompbox.Open(a), nil
	case brokers.AMQP10:
		return amqp10box.Open(a), nil
	}
	return nil, failf(exitUsage, "%s: this protocol is not spoken here", a)
}

// brokerFailed is an error of a broker, or of the registry that was asked about
// its messages, with its exit code.
func brokerFailed(a brokers.Address, err error) error {
	return fail(codeOfBroker(err), fmt.Errorf("%s: %w", a, err))
}

// codeOfBroker is the exit code of a broker that could not be asked, of one that
// refuses this caller, and of a queue or a letter that is not there.
func codeOfBroker(err error) int {
	var held *deadletter.HeldError
	switch {
	case errors.As(err, &held) && held.Outcome.Reason == validate.RegistryRefused, errors.Is(err, brokers.ErrRefused):
		return exitRefused
	case errors.Is(err, brokers.ErrMissing), errors.Is(err, deadletter.ErrNoLetter):
		return exitNotCompared
	}
	return exitUnreachable
}

// madeByAsking warns of a queue that seems empty at a broker that makes each one
// that is asked for; "" elsewhere.
func madeByAsking(a brokers.Address) string {
	if a.Kind != brokers.STOMP && a.Kind != brokers.AMQP10 {
		return ""
	}
	return "ActiveMQ makes a queue that is asked for: if something should be there, check the name"
}

// judgeOver makes a validator that asks the registry at url, after a bundle where
// one is named. Nothing that is unknown is waited for.
func judgeOver(client *sr.Client, bundles ...validate.Lookup) *validate.Validator {
	lookups := append(bundles, client)
	return validate.NewWith(validate.InOrder(lookups...), validate.Options{Grace: -1}, formats.All...)
}

// violationsOf are violations as documents show them.
func violationsOf(list []schemas.Violation) []violation {
	out := make([]violation, 0, len(list))
	for _, one := range list {
		out = append(out, violation{Kind: one.Kind.String(), Rule: one.Rule, Text: one.Text, Payload: one.Payload, Offset: one.Offset, Schema: one.Schema})
	}
	return out
}
