package protobuf

import (
	"math"
	"slices"
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas"
)

func (s *sketch) file() bool {
	if s.word("syntax") {
		if !s.takes('=') {
			return false
		}
		syntax := s.token
		if len(syntax) < 2 || syntax[1:len(syntax)-1] != "proto3" && syntax[1:len(syntax)-1] != "proto2" || !s.takes('s') || !s.takes(';') {
			return false
		}
		if s.made != nil {
			s.made.Syntax = syntax[1 : len(syntax)-1]
		}
	}
	for s.token != "" {
		if s.kind != 'i' || !s.declaration() {
			return false
		}
	}
	return true
}

func (s *sketch) declaration() bool {
	begin := s.here()
	switch s.token {
	case "package":
		if s.pack != "" || len(s.messages)+len(s.enums) > 0 || !s.next() {
			return false
		}
		var ok bool
		s.pack, ok = s.path()
		return ok && s.takes(';')
	case "import":
		return s.next() && s.imports(begin)
	case "option":
		o, ok := s.statement("")
		if ok && s.made != nil {
			s.made.Options = append(s.made.Options, o)
		}
		return ok
	case "message":
		m, ok := s.message(nil)
		if ok && s.made != nil {
			s.made.Messages = append(s.made.Messages, m)
		}
		return ok
	case "enum":
		e, ok := s.enum(nil, &s.enums)
		if ok && s.made != nil {
			s.made.Enums = append(s.made.Enums, e)
		}
		return ok
	case "service":
		return s.service()
	}
	return false
}

func (s *sketch) imports(begin schemas.Position) bool {
	public := s.token == "public" && s.kind == 'i'
	if public && !s.next() {
		return false
	}
	if s.kind != 's' {
		return false
	}
	path := s.token[1 : len(s.token)-1]
	if !bundledPaths[path] && !slices.Contains(s.needs, path) {
		s.needs = append(s.needs, path)
	}
	if !s.next() || !s.takes(';') {
		return false
	}
	if s.made != nil {
		at := schemas.Pointer("/imports").Append(path)
		s.made.Imports = append(s.made.Imports, Import{Path: path, Public: public, Place: s.since(begin, at)})
	}
	return true
}

// message reads one that stands in another, or in none. Without a file in the
// making it has no more than its full name.
func (s *sketch) message(parent *Message) (m *Message, ok bool) {
	begin := s.here()
	if !s.next() {
		return nil, false
	}
	name, ok := s.name()
	if !ok || !s.takes('{') {
		return nil, false
	}
	m = &Message{FullName: join(s.scope(parent), name)}
	s.messages = append(s.messages, m.FullName)
	var at schemas.Pointer
	if s.made != nil {
		m.Name, m.File, m.Parent = name, s.made, parent
		at = parent.pointer() + "/messages/" + schemas.Pointer(name)
		m.Place.Pointer = at
	}
	for s.kind != '}' {
		if s.kind != 'i' && s.kind != '.' || !s.element(m) {
			return nil, false
		}
	}
	if !s.next() {
		return nil, false
	}
	m.Place = s.since(begin, at)
	return m, true
}

func (m *Message) pointer() schemas.Pointer {
	if m == nil {
		return ""
	}
	return m.Place.Pointer
}

// scope is what a name inside parent, nil for the file, is joined to.
func (s *sketch) scope(parent *Message) string {
	if parent != nil {
		return parent.FullName
	}
	return s.pack
}

// element reads one statement of a message. A field whose type looks like the
// start of something else is the parser's.
func (s *sketch) element(m *Message) bool {
	begin, label := s.here(), NoLabel
	switch s.token {
	case "message":
		inner, ok := s.message(m)
		if ok && s.made != nil {
			m.Messages = append(m.Messages, inner)
		}
		return ok
	case "enum":
		e, ok := s.enum(m, &s.inner)
		if ok && s.made != nil {
			m.Enums = append(m.Enums, e)
		}
		return ok
	case "oneof":
		return s.next() && s.oneof(begin, m)
	case "option":
		o, ok := s.statement(m.Place.Pointer)
		if ok && s.made != nil {
			m.Options = append(m.Options, o)
		}
		return ok
	case "reserved":
		r, ok := s.reserved(m.Place.Pointer, maxTag)
		if ok && s.made != nil {
			m.Reserved = append(m.Reserved, r)
		}
		return ok
	case "map":
		return s.next() && s.mapField(begin, m)
	case "extend", "extensions", "group", "stream", "rpc", "returns", "service", "import", "package", "syntax", "edition", "weak", "public", "to", "max":
		return false
	case "optional", "repeated", "required":
		label = labels[s.token]
		if !s.next() || s.token == "group" {
			return false
		}
	}
	f, ok := s.field(begin, label, m)
	if ok && s.made != nil {
		m.Fields = append(m.Fields, f)
	}
	return ok
}

var labels = map[string]Label{"optional": Optional, "repeated": Repeated, "required": Required}

// field reads type, name, number and options of a field.
func (s *sketch) field(begin schemas.Position, label Label, m *Message) (*Field, bool) {
	switch s.token {
	case "message", "enum", "oneof", "option", "reserved", "map", "extend", "extensions", "group", "stream", "optional", "repeated", "required",
		"rpc", "returns", "service", "import", "package", "syntax", "edition", "weak", "public", "to", "max":
		return nil, false
	}
	kind, ok := s.typeName()
	if !ok {
		return nil, false
	}
	return s.numbered(begin, Field{Label: label, Type: kind}, m)
}

// typeName reads the name of a type, with the dot that may stand before it.
func (s *sketch) typeName() (string, bool) {
	dot := s.kind == '.'
	if dot && !s.next() {
		return "", false
	}
	name, ok := s.path()
	if dot && s.made != nil {
		name = "." + name
	}
	return name, ok
}

// numbered reads name, number and options; what it answers is nil without a file
// in the making.
func (s *sketch) numbered(begin schemas.Position, f Field, m *Message) (*Field, bool) {
	name, ok := s.name()
	if !ok || !s.takes('=') {
		return nil, false
	}
	number := s.token
	if !s.takes('n') {
		return nil, false
	}
	if s.made == nil {
		_, ok := s.options("")
		return nil, ok && s.takes(';')
	}
	f.Name, f.Number = name, numberOf(number)
	at := m.Place.Pointer + "/fields/" + schemas.Pointer(number)
	list, ok := s.options(at)
	if !ok || !s.takes(';') {
		return nil, false
	}
	f.Place = s.since(begin, at)
	f.take(list)
	return &f, true
}

// numberOf is a token that is a number, of nine digits at most.
func numberOf(token string) int32 {
	n, _ := strconv.ParseInt(token, 10, 32)
	return int32(n)
}

func (s *sketch) mapField(begin schemas.Position, m *Message) bool {
	if !s.takes('<') {
		return false
	}
	key := s.token
	if key == "float" || key == "double" || key == "bytes" || !scalars[key] || !s.next() || !s.takes(',') {
		return false
	}
	kind, ok := s.typeName()
	if !ok || !s.takes('>') {
		return false
	}
	f, ok := s.numbered(begin, Field{Key: key, Value: kind}, m)
	if ok && s.made != nil {
		m.Fields = append(m.Fields, f)
	}
	return ok
}

func (s *sketch) oneof(begin schemas.Position, m *Message) bool {
	name, ok := s.name()
	if !ok || !s.takes('{') {
		return false
	}
	o := &Oneof{Name: name}
	for s.kind != '}' {
		if s.kind != 'i' && s.kind != '.' {
			return false
		}
		f, ok := s.field(s.here(), NoLabel, m)
		if !ok {
			return false
		}
		if s.made != nil {
			o.Fields = append(o.Fields, f)
		}
	}
	if !s.next() {
		return false
	}
	if s.made != nil {
		o.Place = s.since(begin, m.Place.Pointer+"/oneofs/"+schemas.Pointer(name))
		m.Oneofs = append(m.Oneofs, o)
	}
	return true
}

// reserved reads numbers up to most or names, not both.
func (s *sketch) reserved(at schemas.Pointer, most int32) (r Reserved, ok bool) {
	begin := s.here()
	if !s.next() {
		return r, false
	}
	first := s.kind
	for {
		token := s.token
		switch {
		case s.kind != first:
			return r, false
		case first == 's':
			if !s.next() || s.kind == 's' {
				return r, false
			}
			r.Names = append(r.Names, token[1:len(token)-1])
		case first == 'n':
			if !s.next() {
				return r, false
			}
			one := Range{Start: numberOf(token), End: numberOf(token)}
			if s.word("to") {
				token = s.token
				switch {
				case s.word("max"):
					one.End, one.Max = most, true
				case s.takes('n'):
					one.End = numberOf(token)
				default:
					return r, false
				}
			}
			if one.Start > most || one.End > most {
				return r, false
			}
			r.Ranges = append(r.Ranges, one)
		default:
			return r, false
		}
		if s.kind == ';' {
			if !s.next() {
				return r, false
			}
			r.Place = s.since(begin, at+"/reserved")
			return r, true
		}
		if !s.takes(',') {
			return r, false
		}
	}
}

// enum reads one that stands in a message, or in none; its name joins the list.
func (s *sketch) enum(parent *Message, list *[]string) (e *Enum, ok bool) {
	begin := s.here()
	if !s.next() {
		return nil, false
	}
	name, ok := s.name()
	if !ok || !s.takes('{') {
		return nil, false
	}
	e = &Enum{Name: name, FullName: join(s.scope(parent), name), File: s.made}
	*list = append(*list, e.FullName)
	var at schemas.Pointer
	if s.made != nil {
		at = parent.pointer() + "/enums/" + schemas.Pointer(name)
	}
	for s.kind != '}' {
		switch {
		case s.kind == 'i' && s.token == "option":
			o, ok := s.statement(at)
			if !ok {
				return nil, false
			}
			e.Options = append(e.Options, o)
		case s.kind == 'i' && s.token == "reserved":
			r, ok := s.reserved(at, math.MaxInt32)
			if !ok {
				return nil, false
			}
			e.Reserved = append(e.Reserved, r)
		default:
			if !s.value(e, at) {
				return nil, false
			}
		}
	}
	if !s.next() {
		return nil, false
	}
	e.Place = s.since(begin, at)
	return e, true
}

// value reads one value of an enum.
func (s *sketch) value(e *Enum, at schemas.Pointer) bool {
	begin, sign := s.here(), int32(1)
	name, ok := s.name()
	if !ok || !s.takes('=') {
		return false
	}
	if s.kind == '-' {
		if sign = -1; !s.next() {
			return false
		}
	}
	number := s.token
	if !s.takes('n') {
		return false
	}
	if s.made == nil {
		_, ok := s.options("")
		return ok && s.takes(';')
	}
	at += "/values/" + schemas.Pointer(name)
	list, ok := s.options(at)
	if !ok || !s.takes(';') {
		return false
	}
	e.Values = append(e.Values, &EnumValue{Name: name, Number: sign * numberOf(number), Options: list, Place: s.since(begin, at)})
	return true
}

func (s *sketch) service() bool {
	begin := s.here()
	if !s.next() {
		return false
	}
	name, ok := s.name()
	if !ok || !s.takes('{') {
		return false
	}
	out := &Service{Name: name}
	at := "/services/" + schemas.Pointer(name)
	for s.kind != '}' {
		if s.token == "option" {
			o, ok := s.statement(at)
			if !ok {
				return false
			}
			out.Options = append(out.Options, o)
			continue
		}
		m, ok := s.method(at)
		if !ok {
			return false
		}
		out.Methods = append(out.Methods, m)
	}
	if !s.next() {
		return false
	}
	if s.made != nil {
		out.Place = s.since(begin, at)
		s.made.Services = append(s.made.Services, out)
	}
	return true
}

func (s *sketch) method(at schemas.Pointer) (m *Method, ok bool) {
	begin := s.here()
	if !s.word("rpc") {
		return nil, false
	}
	m = &Method{}
	if m.Name, ok = s.name(); !ok {
		return nil, false
	}
	if m.Input, m.ClientStream, ok = s.call(); !ok || !s.word("returns") {
		return nil, false
	}
	if m.Output, m.ServerStream, ok = s.call(); !ok || !s.takes(';') {
		return nil, false // a body
	}
	m.Place = s.since(begin, at+"/methods/"+schemas.Pointer(m.Name))
	return m, true
}

// call reads the type that a method takes or gives.
func (s *sketch) call() (name string, stream, ok bool) {
	if !s.takes('(') {
		return "", false, false
	}
	if stream = s.token == "stream"; stream && !s.next() {
		return "", false, false
	}
	name, ok = s.typeName()
	return name, stream, ok && s.takes(')')
}
