// Package brokers reads the one text that names a place at a broker, for tools
// that speak to several: where the broker is, who asks, and the queue or topic.
//
//	amqp://[USER[:PASSWORD]@]HOST[:PORT][/VHOST]#QUEUE        RabbitMQ; amqps
//	kafka://[USER:PASSWORD@]HOST:PORT[,HOST:PORT]/TOPIC       Kafka; ?tls=true, ?sasl=plain, scram-sha-256 or scram-sha-512
//	stomp://[USER[:PASSWORD]@]HOST[:PORT]/QUEUE               ActiveMQ; stomps
//	amqp10://[USER[:PASSWORD]@]HOST[:PORT]/QUEUE              brokers of AMQP 1.0; amqp10s
//
// Passwords are never part of a text that is made for people.
//
// Start with [Parse].
package brokers

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Kind is a broker's protocol.
type Kind string

// The kinds.
const (
	RabbitMQ Kind = "amqp"
	Kafka    Kind = "kafka"
	STOMP    Kind = "stomp"
	AMQP10   Kind = "amqp10"
)

// Address is a queue or topic at a broker.
type Address struct {
	Kind Kind
	// TLS is asked for.
	TLS bool
	// Trust is whom TLS trusts and who it says we are; nil trusts the machine's
	// authorities.
	Trust *tls.Config
	// Hosts are HOST:PORT; only Kafka has several.
	Hosts          []string
	User, Password string
	VHost          string // RabbitMQ's; "/" for none
	Name           string // of the queue or topic
	SASL           string // Kafka's
}

// Forms says how an address is written.
const Forms = "amqp://HOST/VHOST#QUEUE, kafka://HOST:PORT/TOPIC, stomp://HOST/QUEUE or amqp10://HOST/QUEUE"

var schemes = map[string]struct {
	kind Kind
	tls  bool
	port string
}{
	"amqp": {RabbitMQ, false, "5672"}, "amqps": {RabbitMQ, true, "5671"},
	"kafka": {Kafka, false, "9092"},
	"stomp": {STOMP, false, "61613"}, "stomps": {STOMP, true, "61614"},
	"amqp10": {AMQP10, false, "5672"}, "amqp10s": {AMQP10, true, "5671"},
}

// Is tells whether a text begins as an address does.
func Is(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	_, known := schemes[scheme]
	return ok && known
}

// Parse reads an address. user and password are taken where it has none.
//
// Errors: what is wrong, and never the text itself, which may hold a password.
func Parse(text, user, password string) (Address, error) {
	a, err := parse(text)
	if err != nil {
		return Address{}, fmt.Errorf("read the address of a broker: %w", err)
	}
	if a.User == "" {
		a.User, a.Password = user, password
	} else if a.Password == "" {
		a.Password = password
	}
	if a.Kind == Kafka && a.User != "" && a.SASL == "" {
		a.SASL = "plain"
	}
	return a, nil
}

func parse(text string) (a Address, err error) {
	scheme, rest, ok := strings.Cut(text, "://")
	s, known := schemes[scheme]
	if !ok || !known {
		return a, fmt.Errorf("it begins with none of amqp, amqps, kafka, stomp, stomps, amqp10, amqp10s: write %s", Forms)
	}
	a.Kind, a.TLS = s.kind, s.tls
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, rest := rest[:end], rest[end:]
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		var who string
		who, authority = authority[:at], authority[at+1:]
		name, secret, _ := strings.Cut(who, ":")
		var err1, err2 error
		a.User, err1 = url.PathUnescape(name)
		a.Password, err2 = url.PathUnescape(secret)
		if err1 != nil || err2 != nil {
			return a, errors.New("user or password holds a percent sign that begins no escape: write it as %25")
		}
	}
	for one := range strings.SplitSeq(authority, ",") {
		host, err := hostPort(one, s.port)
		if err != nil {
			return a, err
		}
		a.Hosts = append(a.Hosts, host)
	}
	if len(a.Hosts) > 1 && a.Kind != Kafka {
		return a, errors.New("it names several hosts, and only Kafka has several")
	}
	// The rest holds no secrets, but what comes behind a slash in a password that
	// was not escaped would be one.
	u, err := url.Parse("x://x" + rest)
	if err != nil {
		return a, fmt.Errorf("what stands behind the host is not understood: write %s, and escape what is no plain text", Forms)
	}
	if err := a.query(u.Query()); err != nil {
		return a, err
	}
	path := strings.TrimPrefix(u.Path, "/")
	switch a.Kind {
	case RabbitMQ:
		a.VHost, a.Name = "/", u.Fragment
		if path != "" {
			a.VHost = path
		}
		if a.Name == "" {
			return a, errors.New("it names no queue: write amqp://HOST/VHOST#QUEUE")
		}
	default:
		a.Name = path
		if u.Fragment != "" {
			return a, fmt.Errorf("#%s is not understood: the queue or topic stands behind the host, as in %s://HOST/NAME; a # in a name is written %%23", u.Fragment, scheme)
		}
		if a.Name == "" {
			return a, fmt.Errorf("it names no queue or topic: write %s://HOST/NAME", scheme)
		}
	}
	return a, nil
}

func (a *Address) query(q url.Values) error {
	for name, values := range q {
		value := values[0]
		switch {
		case a.Kind == Kafka && name == "tls" && (value == "true" || value == "false"):
			a.TLS = value == "true"
		case a.Kind == Kafka && name == "sasl" && slices.Contains([]string{"plain", "scram-sha-256", "scram-sha-512"}, value):
			a.SASL = value
		default:
			return fmt.Errorf("?%s is not understood: Kafka's take tls=true and sasl=plain, scram-sha-256 or scram-sha-512", name)
		}
	}
	return nil
}

func hostPort(text, port string) (string, error) {
	if text == "" {
		return "", errors.New("it names no host")
	}
	host, p, err := net.SplitHostPort(text)
	if err != nil {
		host, p = strings.Trim(text, "[]"), port
	}
	if host == "" || p == "" || strings.ContainsAny(host, "/?#@") {
		return "", errors.New("its host is not understood: write HOST or HOST:PORT, and escape what is no plain text in the password")
	}
	return net.JoinHostPort(host, p), nil
}

// String names the place without user and password.
func (a Address) String() string {
	scheme := string(a.Kind)
	if a.TLS && a.Kind != Kafka {
		scheme += "s"
	}
	hosts := strings.Join(a.Hosts, ",")
	if a.Kind == RabbitMQ {
		vhost := ""
		if a.VHost != "/" {
			vhost = "/" + url.PathEscape(a.VHost)
		}
		return scheme + "://" + hosts + vhost + "#" + a.Name
	}
	return scheme + "://" + hosts + "/" + a.Name
}

// Server is the URL of the broker alone, with its secrets, as the libraries of
// RabbitMQ and of AMQP 1.0 take it.
func (a Address) Server() string {
	u := url.URL{Scheme: "amqp", Host: a.Hosts[0]}
	if a.TLS {
		u.Scheme = "amqps"
	}
	if a.Kind == RabbitMQ {
		u.Path, u.RawPath = "/"+a.VHost, "/"+url.PathEscape(a.VHost)
	}
	if a.User != "" {
		u.User = url.UserPassword(a.User, a.Password)
	}
	return u.String()
}

// TLSConfig is how TLS is spoken; nil where none is asked for.
func (a Address) TLSConfig() *tls.Config {
	if !a.TLS {
		return nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.Trust != nil {
		c = a.Trust.Clone()
	}
	return c
}

// Options are franz-go's, for Kafka.
func (a Address) Options() []kgo.Opt {
	list := []kgo.Opt{kgo.SeedBrokers(a.Hosts...)}
	if c := a.TLSConfig(); c != nil {
		list = append(list, kgo.DialTLSConfig(c))
	}
	switch a.SASL {
	case "plain":
		list = append(list, kgo.SASL(plain.Auth{User: a.User, Pass: a.Password}.AsMechanism()))
	case "scram-sha-256":
		list = append(list, kgo.SASL(scram.Auth{User: a.User, Pass: a.Password}.AsSha256Mechanism()))
	case "scram-sha-512":
		list = append(list, kgo.SASL(scram.Auth{User: a.User, Pass: a.Password}.AsSha512Mechanism()))
	}
	return list
}
