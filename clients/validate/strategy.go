package validate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

type strategyKind uint8

const (
	noStrategy strategyKind = iota
	fixed
	byDestination
	byType
	byDestinationAndType
	byRoutingKey
)

// Strategy names the subject of a message. The first three make the same names
// as Confluent's strategies. The zero Strategy names none: a consumer then takes
// the subject that the message says.
type Strategy struct {
	kind   strategyKind
	fixed  schemas.Subject
	routes []Route
}

// Fixed is one subject for every message; it may be qualified with a context.
func Fixed(subject string) Strategy {
	return Strategy{kind: fixed, fixed: schemas.ParseSubject(subject)}
}

// ByDestination names <destination>-value, or <destination>-key for keys.
func ByDestination() Strategy { return Strategy{kind: byDestination} }

// ByType names the full name of the record or message; for JSON Schema its
// title, and a schema without one has no such name.
func ByType() Strategy { return Strategy{kind: byType} }

// ByDestinationAndType names <destination>-<full name>.
func ByDestinationAndType() Strategy { return Strategy{kind: byDestinationAndType} }

// Route maps routing keys to a subject.
type Route struct {
	// Pattern is words with dots between; * stands for one word, # and > for
	// any number of them.
	Pattern string
	Subject string
}

// ByRoutingKey names the subject of the first route that a message's routing
// key matches. A raw routing key is never a subject: keys may hold ids, and
// subjects would grow without end.
//
// Errors: no route; a route without pattern or subject.
func ByRoutingKey(routes ...Route) (Strategy, error) {
	if len(routes) == 0 {
		return Strategy{}, errors.New("name subjects by routing key: no route is given")
	}
	for i, r := range routes {
		if r.Pattern == "" || r.Subject == "" {
			return Strategy{}, fmt.Errorf("name subjects by routing key: route %d (%q to %q): both pattern and subject are needed", i+1, r.Pattern, r.Subject)
		}
	}
	return Strategy{kind: byRoutingKey, routes: append([]Route(nil), routes...)}, nil
}

// needsType tells whether the subject depends on the record's name.
func (s Strategy) needsType() bool { return s.kind == byType || s.kind == byDestinationAndType }

// needsDestination tells whether the subject depends on the destination.
func (s Strategy) needsDestination() bool {
	return s.kind == byDestination || s.kind == byDestinationAndType
}

// subject names the subject of m. record is the full name, for the strategies
// that need it.
//
// Errors: what the strategy needs is not there; no route matches.
func (s Strategy) subject(m *Message, destination, record string) (schemas.Subject, error) {
	if s.needsDestination() && destination == "" {
		return schemas.Subject{}, errors.New("name the subject by destination: the message has no destination")
	}
	if s.needsType() && record == "" {
		return schemas.Subject{}, errors.New("name the subject by type: the payload's full name is not known: set Message.Type, give a JSON Schema a title, or name a fixed subject")
	}
	switch s.kind {
	case fixed:
		return s.fixed, nil
	case byDestination:
		if m.IsKey {
			return schemas.ParseSubject(destination + "-key"), nil
		}
		return schemas.ParseSubject(destination + "-value"), nil
	case byType:
		return schemas.ParseSubject(record), nil
	case byDestinationAndType:
		return schemas.ParseSubject(destination + "-" + record), nil
	case byRoutingKey:
		for _, r := range s.routes {
			if matches(r.Pattern, m.RoutingKey) {
				return schemas.ParseSubject(r.Subject), nil
			}
		}
		return schemas.Subject{}, fmt.Errorf("name the subject by routing key: no route matches %q", m.RoutingKey)
	default:
		return schemas.Subject{}, errors.New("name the subject: no strategy is set")
	}
}

// matches compares a routing key with a topic pattern. It runs in time
// proportional to the product of their words, whatever the pattern.
func matches(pattern, key string) bool {
	p, k := strings.Split(pattern, "."), strings.Split(key, ".")
	if key == "" {
		k = nil
	}
	// reach[j] tells whether the pattern's words so far match the first j words.
	reach := make([]bool, len(k)+1)
	reach[0] = true
	for _, word := range p {
		if word == "#" || word == ">" {
			for j := 1; j <= len(k); j++ {
				reach[j] = reach[j] || reach[j-1]
			}
			continue
		}
		for j := len(k); j > 0; j-- {
			reach[j] = reach[j-1] && (word == "*" || word == k[j-1])
		}
		reach[0] = false
	}
	return reach[len(k)]
}

// String describes the strategy for people.
func (s Strategy) String() string {
	switch s.kind {
	case fixed:
		return s.fixed.String()
	case byDestination:
		return "by destination"
	case byType:
		return "by type"
	case byDestinationAndType:
		return "by destination and type"
	case byRoutingKey:
		return "by routing key"
	default:
		return "any subject"
	}
}
