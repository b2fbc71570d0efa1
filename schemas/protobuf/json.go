package protobuf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/cartorio-registry/cartorio/schemas"
)

// mapping is the closure's descriptors built anew by protobuf-go: those that
// the compiler links forget required fields and UTF-8 of editions, and serve
// where there is no edition.
type mapping struct {
	types resolving
	err   error
}

// resolving is what the library asks for types.
type resolving interface {
	protoregistry.MessageTypeResolver
	protoregistry.ExtensionTypeResolver
}

// closure finds the messages of files that declare no extensions, without a
// registry of all their names.
type closure []*Linked

func (c closure) FindMessageByName(name protoreflect.FullName) (protoreflect.MessageType, error) {
	for _, l := range c {
		if md, ok := findIn(l.Desc(), name).(protoreflect.MessageDescriptor); ok {
			return dynamicpb.NewMessageType(md), nil
		}
	}
	return nil, protoregistry.NotFound
}

func (c closure) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	return c.FindMessageByName(protoreflect.FullName(url[strings.LastIndexByte(url, '/')+1:]))
}

func (closure) FindExtensionByName(protoreflect.FullName) (protoreflect.ExtensionType, error) {
	return nil, protoregistry.NotFound
}

func (closure) FindExtensionByNumber(protoreflect.FullName, protoreflect.FieldNumber) (protoreflect.ExtensionType, error) {
	return nil, protoregistry.NotFound
}

func (s *Schema) mapped() (*mapping, error) {
	if s.problem != nil {
		return nil, fmt.Errorf("the schema does not compile: %w", s.problem)
	}
	s.rebuild.Do(func() {
		files := &protoregistry.Files{}
		list := s.linked.all()
		if s.alone() && !slices.ContainsFunc(list, func(l *Linked) bool {
			return l.Desc().Syntax() == protoreflect.Editions || aliases[l.path] != ""
		}) {
			s.rebuilt = &mapping{types: closure(list)}
			return
		}
		editions := slices.ContainsFunc(list, func(l *Linked) bool { return l.Desc().Syntax() == protoreflect.Editions })
		err := guard(func() error {
			for _, l := range list {
				fd := l.Desc()
				if editions {
					var err error
					if fd, err = l.again(); err != nil {
						return err
					}
				}
				if err := files.RegisterFile(fd); err != nil {
					return err
				}
			}
			return nil
		})
		s.rebuilt = &mapping{types: dynamicpb.NewTypes(files), err: err}
	})
	return s.rebuilt, s.rebuilt.err
}

// guard turns a panic of the library into an error.
func guard(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the protobuf library gave up: %v", p)
		}
	}()
	return fn()
}

func (s *Schema) newMessage(name string) (proto.Message, *mapping, error) {
	m, err := s.mapped()
	if err != nil {
		return nil, nil, err
	}
	if name == "" {
		if list := s.Shown().Messages; len(list) > 0 {
			name = list[0].FullName
		}
	}
	t, err := m.types.FindMessageByName(protoreflect.FullName(strings.TrimPrefix(name, ".")))
	if err != nil {
		return nil, nil, fmt.Errorf("the schema has no message %q", name)
	}
	return t.New().Interface(), m, nil
}

// ToJSON writes a payload in Protobuf's JSON mapping, compact, members in the
// order of the declarations. Unknown fields are left out. Of options the bounds
// count.
//
// Errors: the payload is not readable with s; the mapping has no form for it,
// as for an Any of an unknown type.
func (s *Schema) ToJSON(payload schemas.Payload, options schemas.ReadOptions) ([]byte, error) {
	fail := func(err error) ([]byte, error) {
		return nil, fmt.Errorf("write the payload as JSON: %s", plain(err))
	}
	m, types, err := s.newMessage(payload.Message)
	if err != nil {
		return fail(err)
	}
	// The slow reader's bounds are the library's protection.
	options.Value = true
	if r := s.Reads(s, payload, options); !r.OK() {
		return fail(errors.New(r.Violations[0].Text))
	}
	var out bytes.Buffer
	err = guard(func() error {
		if err := (proto.UnmarshalOptions{Resolver: types.types}).Unmarshal(payload.Bytes, m); err != nil {
			return err
		}
		raw, err := protojson.MarshalOptions{Resolver: types.types}.Marshal(m)
		if err != nil {
			return err
		}
		return json.Compact(&out, raw)
	})
	if err != nil {
		return fail(err)
	}
	return out.Bytes(), nil
}

// FromJSON reads a message from its JSON mapping and answers its bytes, fields
// in order of their numbers. message is a full name; empty means the first.
// Unknown members are refused. Of options the bounds count.
//
// Errors: the text is over a bound, no JSON, or not of the message's shape.
func (s *Schema) FromJSON(message string, text []byte, options schemas.ReadOptions) ([]byte, error) {
	fail := func(err error) ([]byte, error) {
		return nil, fmt.Errorf("read the message from JSON: %s", plain(err))
	}
	o := options.OrDefault()
	m, types, err := s.newMessage(message)
	if err != nil {
		return fail(err)
	}
	if len(text) > o.Bytes {
		return fail(fmt.Errorf("the text has %d bytes, %d are allowed", len(text), o.Bytes))
	}
	if err := boundJSON(text, o.Depth); err != nil {
		return fail(err)
	}
	var out []byte
	err = guard(func() error {
		if err := (protojson.UnmarshalOptions{Resolver: types.types, RecursionLimit: o.Depth + 1}).Unmarshal(text, m); err != nil {
			return err
		}
		out, err = proto.MarshalOptions{Deterministic: true}.Marshal(m)
		return err
	})
	if err != nil {
		return fail(err)
	}
	return out, nil
}

// plain undoes the library's habit of varying its error texts.
func plain(err error) string { return strings.ReplaceAll(err.Error(), "\u00a0", " ") }

// boundJSON bounds nesting and the number of values, so that the library's
// objects stay in proportion to the text.
func boundJSON(text []byte, most int) error {
	depth, values := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			values++
			if depth++; depth > 2*most {
				return fmt.Errorf("the text is nested deeper than %d levels", 2*most)
			}
		case '}', ']':
			depth--
		case ',':
			values++
		}
		if values > maxNodes {
			return fmt.Errorf("the text holds more than %d values", maxNodes)
		}
	}
	return nil
}
