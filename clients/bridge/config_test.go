package bridge_test

import (
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/bridge"
	"github.com/cartorio-registry/cartorio/clients/brokers"
)

const whole = `version: 1
subject: orders-value
reads: 2
translations: mapping.yaml
from: {address: "kafka://h:1/t", dead_letter: t.dlt, group: g, framing: detect, workers: 2, keyed: true}
to: {address: "amqp://h#q", exchange: x, routing_key: k, subject: orders-v2-value, version: 1, framing: confluent}
`

func TestConfig(t *testing.T) {
	t.Parallel()
	c, err := bridge.ParseConfig([]byte(whole))
	if err != nil || c.Reads != 2 || c.From.Workers != 2 || c.To.Version != 1 || c.Translations != "mapping.yaml" {
		t.Errorf("%+v, %v", c, err)
	}
	for name, tt := range map[string]struct{ from, to, want string }{
		"an unknown member":   {"reads: 2", "reads: 2\nspeed: 1", "line 4: there is no member speed"},
		"an inner one":        {"keyed: true", "keys: true", "line 5: there is no member keys"},
		"another kind":        {"reads: 2", "reads: two", "line 3: cannot unmarshal"},
		"another form":        {"version: 1\n", "version: 2\n", "the form 2 is not known"},
		"no subject":          {"subject: orders-value\n", "", "subject: it is missing"},
		"no version":          {"reads: 2\n", "", "reads: it is missing"},
		"no dead letter":      {"dead_letter: t.dlt, ", "", "from.dead_letter: it is missing"},
		"a framing":           {"framing: detect", "framing: guess", `from.framing: "guess" is none of`},
		"a key alone":         {"exchange: x, ", "", "to.routing_key: it is for to.exchange"},
		"a version alone":     {"subject: orders-v2-value, ", "", "to.version: it is of to.subject"},
		"a negative number":   {"workers: 2", "workers: -1", "from.workers"},
		"two documents":       {"version: 1\n", "version: 1\n---\n", ""},
		"a document too many": {"framing: confluent}\n", "framing: confluent}\n---\na: 1\n", "more than one document"},
	} {
		_, err := bridge.ParseConfig([]byte(strings.Replace(whole, tt.from, tt.to, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := bridge.ParseConfig(nil); err == nil {
		t.Error("an empty file is taken")
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		from, to string
		change   func(*bridge.Config)
		want     string
	}{
		"it fits":        {"kafka://h/t", "amqp://h#q", func(*bridge.Config) {}, ""},
		"no group":       {"kafka://h/t", "amqp://h#q", func(c *bridge.Config) { c.From.Group = "" }, "from.group: it is missing"},
		"a group":        {"amqp://h#p", "amqp://h#q", func(*bridge.Config) {}, "only Kafka has groups"},
		"an exchange":    {"kafka://h/t", "stomp://h/q", func(*bridge.Config) {}, "only RabbitMQ has exchanges"},
		"a binary form":  {"kafka://h/t", "amqp://h#q", func(c *bridge.Config) { c.To.Framing = "header" }, "only Kafka carries"},
		"into itself":    {"kafka://h/t", "kafka://h/t", func(c *bridge.Config) { c.To.Exchange = "" }, "would come again for ever"},
		"another's name": {"kafka://h/t", "kafka://h/u", func(c *bridge.Config) { c.To.Exchange = "" }, ""},
	} {
		c, err := bridge.ParseConfig([]byte(whole))
		if err != nil {
			t.Fatal(err)
		}
		tt.change(&c)
		o := bridge.Options{Config: c}
		if o.From, err = brokers.Parse(tt.from, "", ""); err != nil {
			t.Fatal(err)
		}
		if o.To, err = brokers.Parse(tt.to, "", ""); err != nil {
			t.Fatal(err)
		}
		err = o.Check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
