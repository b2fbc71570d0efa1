package brokers_test

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/brokers"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, shown string
		want        brokers.Address
	}{
		{"amqp://localhost#orders.dlq", "amqp://localhost:5672#orders.dlq", brokers.Address{Kind: brokers.RabbitMQ, Hosts: []string{"localhost:5672"}, VHost: "/", Name: "orders.dlq", User: "u", Password: "p"}},
		{"amqp://a:b%2F%40@h:1/#q", "amqp://h:1#q", brokers.Address{Kind: brokers.RabbitMQ, Hosts: []string{"h:1"}, VHost: "/", Name: "q", User: "a", Password: "b/@"}},
		{"amqps://a@h/team#q", "amqps://h:5671/team#q", brokers.Address{Kind: brokers.RabbitMQ, TLS: true, Hosts: []string{"h:5671"}, VHost: "team", Name: "q", User: "a", Password: "p"}},
		{"kafka://h1:1,h2:2/orders.DLT?tls=true&sasl=scram-sha-512", "kafka://h1:1,h2:2/orders.DLT", brokers.Address{Kind: brokers.Kafka, TLS: true, Hosts: []string{"h1:1", "h2:2"}, Name: "orders.DLT", User: "u", Password: "p", SASL: "scram-sha-512"}},
		{"kafka://[::1]:9092/t", "kafka://[::1]:9092/t", brokers.Address{Kind: brokers.Kafka, Hosts: []string{"[::1]:9092"}, Name: "t", User: "u", Password: "p", SASL: "plain"}},
		{"stomp://h/DLQ.orders", "stomp://h:61613/DLQ.orders", brokers.Address{Kind: brokers.STOMP, Hosts: []string{"h:61613"}, Name: "DLQ.orders", User: "u", Password: "p"}},
		{"stomps://h/q%23a", "stomps://h:61614/q#a", brokers.Address{Kind: brokers.STOMP, TLS: true, Hosts: []string{"h:61614"}, Name: "q#a", User: "u", Password: "p"}},
		{"amqp10://h/q", "amqp10://h:5672/q", brokers.Address{Kind: brokers.AMQP10, Hosts: []string{"h:5672"}, Name: "q", User: "u", Password: "p"}},
		{"amqp10s://a:b@h/q", "amqp10s://h:5671/q", brokers.Address{Kind: brokers.AMQP10, TLS: true, Hosts: []string{"h:5671"}, Name: "q", User: "a", Password: "b"}},
	} {
		got, err := brokers.Parse(tt.text, "u", "p")
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.text, d)
		}
		if got.String() != tt.shown {
			t.Errorf("%s: shown as %s", tt.text, got)
		}
		if !brokers.Is(tt.text) {
			t.Errorf("%s is none", tt.text)
		}
	}
}

// What is not understood is told without the text, which may hold a password.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://secret@h/q":       "begins with none",
		"orders":                  "begins with none",
		"amqp://a:secret@h":       "no queue",
		"amqp://a:secret@#q":      "no host",
		"kafka://a:secret@h":      "no queue or topic",
		"kafka://h/t#secret":      "is not understood",
		"kafka://h/t?acks=0":      "?acks is not understood",
		"kafka://h/t?sasl=gssapi": "?sasl is not understood",
		"stomp://a:sec%ret@h/q":   "percent sign",
		"stomp://h1,h2/q":         "only Kafka",
		"stomp://h/q%zz":          "behind the host",
		"stomp://a:se/cret@h:x/q": "",
	} {
		_, err := brokers.Parse(text, "", "")
		if err == nil && want != "" {
			t.Errorf("%s is taken", text)
			continue
		}
		if err == nil {
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "a:se") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestServer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"amqp://h#q":           "amqp://h:5672/%2F",
		"amqps://a:b%40@h/v#":  "",
		"amqps://a:b%40@h/v#q": "amqps://a:b%40@h:5671/v",
		"amqp10s://a:b%40@h/q": "amqps://a:b%40@h:5671",
	} {
		a, err := brokers.Parse(text, "", "")
		if want == "" {
			if err == nil {
				t.Errorf("%s is taken", text)
			}
			continue
		}
		if got := a.Server(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if n := len(mustParse(t, "kafka://u:p@h/t?tls=true").Options()); n != 3 {
		t.Errorf("%d options", n)
	}
}

// TLS is spoken where it is asked for, with whom is trusted.
func TestTLSConfig(t *testing.T) {
	t.Parallel()
	if c := mustParse(t, "stomp://h/q").TLSConfig(); c != nil {
		t.Errorf("none was asked for: %v", c)
	}
	a := mustParse(t, "stomps://h/q")
	if c := a.TLSConfig(); c == nil || c.MinVersion != tls.VersionTLS12 {
		t.Errorf("%v", c)
	}
	a.Trust = &tls.Config{ServerName: "b", MinVersion: tls.VersionTLS13}
	if c := a.TLSConfig(); c.ServerName != "b" || c == a.Trust {
		t.Errorf("%v", c)
	}
}

func mustParse(t *testing.T, text string) brokers.Address {
	t.Helper()
	a, err := brokers.Parse(text, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return a
}
