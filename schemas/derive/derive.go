// Package derive proposes a schema from messages: what was seen becomes types,
// and what had to be guessed is said in the schema's own documentation.
//
// It sees JSON values and writes texts; it parses no schema and proves nothing.
// Whoever prints a proposal reads the messages with it first: [Shape.Sampler]
// gives each in the form in which the format's schema reads it.
//
// Start with [New]; add every message, then ask for a text.
package derive

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

const (
	// Deepest is how deep messages may be nested.
	Deepest = 64
	// Widest is how many members one object of a proposal may have.
	Widest = 2000
)

// Shape is what the values of one place look like.
type Shape struct {
	seen                                     int // values
	nulls, bools, whole, broken, texts       int
	arrays, objects                          int
	beyondLong, beyondUnsigned, beyondDouble bool
	negative                                 bool
	items                                    *Shape
	members                                  []*member // in the order in which they were first seen
	index                                    map[string]*member
	keyed                                    bool // has names that no Avro or Protobuf field can have
	formats                                  []string
}

type member struct {
	name  string
	shape *Shape
}

// New is a shape that has seen nothing.
func New() *Shape { return &Shape{} }

// Seen is how many values the shape has seen.
func (s *Shape) Seen() int { return s.seen }

// Add takes a message into account.
//
// Errors: it is nested deeper than Deepest, or has more members than Widest.
func (s *Shape) Add(v *jsontext.Value) error { return s.add(v, 0) }

var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (s *Shape) add(v *jsontext.Value, depth int) error {
	if depth > Deepest {
		return fmt.Errorf("derive a schema: a message is nested deeper than %d levels", Deepest)
	}
	s.seen++
	switch v.Kind {
	case jsontext.Null:
		s.nulls++
	case jsontext.Bool:
		s.bools++
	case jsontext.Number:
		s.number(v.Text)
	case jsontext.String:
		s.text(v.Text)
	case jsontext.Array:
		s.arrays++
		if s.items == nil {
			s.items = New()
		}
		for _, item := range v.Items {
			if err := s.items.add(item, depth+1); err != nil {
				return err
			}
		}
	case jsontext.Object:
		s.objects++
		for _, m := range v.Members {
			one := s.index[m.Name]
			if one == nil {
				if len(s.members) >= Widest {
					return fmt.Errorf("derive a schema: an object has more than %d different members", Widest)
				}
				one = &member{m.Name, New()}
				if s.index == nil {
					s.index = map[string]*member{}
				}
				s.index[m.Name] = one
				s.members = append(s.members, one)
				s.keyed = s.keyed || !fieldName.MatchString(m.Name)
			}
			if err := one.shape.add(m.Value, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Shape) number(text string) {
	if strings.ContainsAny(text, ".eE") {
		s.broken++
		return
	}
	s.whole++
	digits := strings.TrimPrefix(text, "-")
	s.negative = s.negative || digits != text
	over := func(most string) bool {
		return len(digits) > len(most) || len(digits) == len(most) && digits > most
	}
	long := "9223372036854775807"
	if digits != text {
		long = "9223372036854775808"
	}
	s.beyondLong = s.beyondLong || over(long)
	s.beyondUnsigned = s.beyondUnsigned || over("18446744073709551615")
	s.beyondDouble = s.beyondDouble || over("9007199254740992")
}

// looks are the formats that texts may have, by what they look like.
var looks = []struct {
	name string
	like *regexp.Regexp
}{
	{"date-time", regexp.MustCompile(`^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)},
	{"date", regexp.MustCompile(`^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$`)},
	{"uuid", regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)},
}

func (s *Shape) text(text string) {
	if s.texts++; s.texts == 1 {
		for _, l := range looks {
			s.formats = append(s.formats, l.name)
		}
	}
	for _, l := range looks {
		if !l.like.MatchString(text) {
			s.formats = slices.DeleteFunc(s.formats, func(f string) bool { return f == l.name })
		}
	}
}

// format is what all texts look like; empty for nothing in particular.
func (s *Shape) format() string {
	if len(s.formats) == 0 {
		return ""
	}
	return s.formats[0]
}

// kinds is how many kinds of values were seen beside null; numbers are one.
func (s *Shape) kinds() int {
	n := 0
	for _, count := range []int{s.bools, s.whole + s.broken, s.texts, s.arrays, s.objects} {
		if count > 0 {
			n++
		}
	}
	return n
}

// guesses say what of a member was guessed; of is the object around it.
func (m *member) guesses(of *Shape) string {
	s := m.shape
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if s.seen < of.objects {
		add("optional, since %d of %s have it", s.seen, count(of.objects, "message", "messages"))
	} else {
		add("required, since all of %s have it", count(of.objects, "message", "messages"))
	}
	if s.nulls > 0 && s.nulls < s.seen {
		add("null %s", count(s.nulls, "time", "times"))
	}
	switch {
	case s.nulls == s.seen:
		add("never anything but null")
	case s.kinds() > 1:
		add("values of several types")
	case s.arrays > 0 && s.items.seen == 0:
		add("only empty lists, so the type of the items is open")
	case s.broken > 0 && s.whole > 0:
		add("whole and broken numbers")
	}
	if f := s.format(); f != "" && s.kinds() == 1 {
		add("looks like %s", f)
	}
	return "guess: " + strings.Join(list, "; ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Options name what is derived.
type Options struct {
	Name string // of the message: PascalCase; empty is Message
	// Namespace is Avro's namespace and Protobuf's package; empty is none.
	Namespace string
}

func (o Options) name() string {
	if o.Name == "" {
		return "Message"
	}
	return o.Name
}

// Text proposes a schema of a format.
//
// Errors: nothing was seen; a name that the format cannot have; values that no
// type of the format holds.
func (s *Shape) Text(of schemas.Type, o Options) (string, error) {
	if s.seen == 0 {
		return "", fmt.Errorf("derive a schema: there is no message")
	}
	for _, part := range append(strings.Split(o.Namespace, "."), o.name()) {
		if part != "" && !fieldName.MatchString(part) || part == "" && o.Namespace != "" {
			return "", fmt.Errorf("derive a schema: %q is no name: letters, digits and underscores, no digit first", part)
		}
	}
	switch of {
	case schemas.Avro:
		return s.avro(o)
	case schemas.JSON:
		return s.jsonSchema(o), nil
	case schemas.Protobuf:
		return s.protobuf(o)
	}
	return "", fmt.Errorf("derive a schema: type %s is not part of this", of)
}

// Sampler gives messages in the form in which the derived schema of a format
// reads them as documents; the schema's text was asked for with the same options.
func (s *Shape) Sampler(of schemas.Type, o Options) func(*jsontext.Value) string {
	if of != schemas.Avro {
		return (*jsontext.Value).String
	}
	w := newAvroWriter(o)
	_, _ = w.value(s, w.root()) // names are given in the order of the text
	return func(v *jsontext.Value) string { return w.sample(s, w.root(), v).String() }
}
