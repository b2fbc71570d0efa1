package protobuf

import "github.com/cartorio-registry/cartorio/schemas"

// statement reads the word option and what follows it.
func (s *sketch) statement(at schemas.Pointer) (o Option, ok bool) {
	begin := s.here()
	if !s.next() {
		return o, false
	}
	o, ok = s.option(at)
	if !ok || !s.takes(';') {
		return o, false
	}
	o.Place = s.since(begin, o.Place.Pointer)
	return o, true
}

// option reads a name and a plain value.
func (s *sketch) option(at schemas.Pointer) (o Option, ok bool) {
	begin, name := s.here(), ""
	part := NamePart{}
	if s.takes('(') {
		dot := ""
		if s.kind == '.' {
			if dot = "."; !s.next() {
				return o, false
			}
		}
		path, ok := s.path()
		if !ok || !s.takes(')') {
			return o, false
		}
		part = NamePart{Name: dot + path, Extension: true}
		name = "(" + part.Name + ")"
	} else {
		if name, ok = s.name(); !ok {
			return o, false
		}
		part.Name = name
	}
	if !s.takes('=') {
		return o, false
	}
	value, ok := s.constant()
	if !ok || s.made == nil {
		return o, ok
	}
	return Option{Name: []NamePart{part}, Value: value, Place: s.since(begin, (at + "/options").Append(name))}, true
}

func (s *sketch) constant() (Value, bool) {
	token := s.token
	switch s.kind {
	case 'i':
		return Value{Kind: Ident, Text: token}, s.next()
	case 'n':
		return Value{Kind: Number, Text: token}, s.next()
	case 's':
		return Value{Kind: String, Text: token[1 : len(token)-1]}, s.next() && s.kind != 's' // a text in pieces is the parser's
	case '-':
		if !s.next() {
			return Value{}, false
		}
		token = s.token
		return Value{Kind: Number, Text: "-" + token}, s.takes('n')
	}
	return Value{}, false
}

// options reads options in brackets, if any.
func (s *sketch) options(at schemas.Pointer) (list []Option, ok bool) {
	if s.kind != '[' {
		return nil, true
	}
	if !s.next() {
		return nil, false
	}
	for {
		o, ok := s.option(at)
		if !ok {
			return nil, false
		}
		if s.made != nil {
			list = append(list, o)
		}
		if s.kind == ']' {
			return list, s.next()
		}
		if !s.takes(',') {
			return nil, false
		}
	}
}
