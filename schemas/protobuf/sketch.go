package protobuf

import (
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
)

// sketch reads what a text declares without building a tree: a folder of a
// thousand files is outlined before it is known which of them must be compiled.
// It takes a part of the language and nothing outside the language: what it does
// not know, wrong or not, it leaves to the parser, which has the words for it.
type sketch struct {
	text  string
	at    int
	token string // empty at the end
	kind  byte   // of token: i(dentifier), n(umber), s(tring), or the punctuation itself

	pack            string
	messages, enums []string
	inner           []string // enums inside messages, told behind those of the file
	needs           []string
	shape           *shaping // nil where nobody asks for it
}

// outlineOf gives ok false for a text that it does not know.
func outlineOf(path, text string) (out schemas.Outline, ok bool) {
	s := &sketch{text: text}
	if !s.next() || !s.file() {
		return out, false
	}
	names := append([]string{path}, s.messages...)
	return schemas.Outline{Schema: true, Names: append(append(names, s.enums...), s.inner...), Needs: s.needs}, true
}

// next goes to the next token; false is a text of another kind.
func (s *sketch) next() bool {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			s.at++
		case c == '/' && s.at+1 < len(s.text) && s.text[s.at+1] == '/':
			for s.at < len(s.text) && s.text[s.at] != '\n' {
				if s.text[s.at] == 0 {
					return false
				}
				s.at++
			}
		default:
			return s.read(c)
		}
	}
	s.token, s.kind = "", 0
	return true
}

func (s *sketch) read(c byte) bool {
	start := s.at
	switch {
	case isIdentStart(c):
		for s.at < len(s.text) && (isIdentStart(s.text[s.at]) || isDigit(s.text[s.at])) {
			s.at++
		}
		s.kind = 'i'
	case isDigit(c):
		for s.at < len(s.text) && isDigit(s.text[s.at]) {
			s.at++
		}
		// Other bases, fractions and what is too long for a number are the
		// parser's.
		if s.at-start > 9 || c == '0' && s.at-start > 1 || s.at < len(s.text) && (isIdentStart(s.text[s.at]) || s.text[s.at] == '.') {
			return false
		}
		s.kind = 'n'
	case c == '"' || c == '\'':
		for s.at++; s.at < len(s.text) && s.text[s.at] != c; s.at++ {
			if b := s.text[s.at]; b == '\\' || b == '\n' || b == 0 {
				return false
			}
		}
		if s.at == len(s.text) {
			return false
		}
		s.at++
		s.kind = 's'
	case slices.Contains([]byte("{}()[]<>=;,.-"), c):
		s.at++
		s.kind = c
	default:
		return false
	}
	s.token = s.text[start:s.at]
	return true
}

// takes goes on when the token is of the kind.
func (s *sketch) takes(kind byte) bool { return s.kind == kind && s.next() }

// word goes on when the token is that word.
func (s *sketch) word(word string) bool { return s.kind == 'i' && s.token == word && s.next() }

// name reads an identifier.
func (s *sketch) name() (string, bool) {
	name := s.token
	return name, s.takes('i')
}

// path reads identifiers joined by dots, which stand together.
func (s *sketch) path() (string, bool) {
	start := s.at - len(s.token)
	if s.kind != 'i' {
		return "", false
	}
	for s.at < len(s.text) && s.text[s.at] == '.' {
		s.at++
		if s.at == len(s.text) || !isIdentStart(s.text[s.at]) || !s.read(s.text[s.at]) {
			return "", false
		}
	}
	path := s.text[start:s.at]
	return path, s.next()
}

func (s *sketch) file() bool {
	if s.word("syntax") {
		if !s.takes('=') {
			return false
		}
		syntax := s.token
		if len(syntax) < 2 || syntax[1:len(syntax)-1] != "proto3" && syntax[1:len(syntax)-1] != "proto2" || !s.takes('s') || !s.takes(';') {
			return false
		}
		s.shape.syntax(syntax[1 : len(syntax)-1])
	}
	for s.token != "" {
		if s.kind != 'i' || !s.declaration() {
			return false
		}
	}
	return true
}

func (s *sketch) declaration() bool {
	switch s.token {
	case "package":
		if s.pack != "" || len(s.messages)+len(s.enums) > 0 || !s.next() {
			return false
		}
		var ok bool
		s.pack, ok = s.path()
		return ok && s.takes(';')
	case "import":
		return s.next() && s.imports()
	case "option":
		return s.next() && s.option() && s.takes(';')
	case "message":
		return s.next() && s.message(s.pack)
	case "enum":
		return s.next() && s.enum(s.pack, &s.enums)
	case "service":
		return s.next() && s.service()
	}
	return false
}

func (s *sketch) imports() bool {
	if s.token == "public" && s.kind == 'i' {
		s.shape.refuse()
		if !s.next() {
			return false
		}
	}
	if s.kind != 's' {
		return false
	}
	path := s.token[1 : len(s.token)-1]
	s.shape.imports(path)
	if !bundledPaths[path] && !slices.Contains(s.needs, path) {
		s.needs = append(s.needs, path)
	}
	return s.next() && s.takes(';')
}

// option reads a name and a plain value.
func (s *sketch) option() bool {
	if s.takes('(') {
		s.shape.refuse()
		if s.kind == '.' && !s.next() {
			return false
		}
		if _, ok := s.path(); !ok || !s.takes(')') {
			return false
		}
	} else if name, ok := s.name(); ok {
		s.shape.option(name)
	} else {
		return false
	}
	return s.takes('=') && s.constant()
}

func (s *sketch) constant() bool {
	switch s.kind {
	case 'i', 'n':
		return s.next()
	case 's':
		return s.next() && s.kind != 's' // a text in pieces is the parser's
	case '-':
		return s.next() && s.takes('n')
	}
	return false
}

// options reads options in brackets, if any.
func (s *sketch) options() bool {
	if s.kind != '[' {
		return true
	}
	if !s.next() {
		return false
	}
	for s.option() {
		if s.kind == ']' {
			return s.next()
		}
		if !s.takes(',') {
			return false
		}
	}
	return false
}

func (s *sketch) message(scope string) bool {
	name, ok := s.name()
	if !ok || !s.takes('{') {
		return false
	}
	full := join(scope, name)
	s.messages = append(s.messages, full)
	around := s.shape.open(full)
	for s.kind != '}' {
		if s.kind != 'i' && s.kind != '.' || !s.element(full) {
			return false
		}
	}
	s.shape.shut(around)
	return s.next()
}

// element reads one statement of a message. A field whose type looks like the
// start of something else is the parser's.
func (s *sketch) element(scope string) bool {
	switch s.token {
	case "message":
		return s.next() && s.message(scope)
	case "enum":
		return s.next() && s.enum(scope, &s.inner)
	case "oneof":
		return s.next() && s.oneof()
	case "option":
		return s.next() && s.option() && s.takes(';')
	case "reserved":
		return s.next() && s.reserved()
	case "map":
		return s.next() && s.mapField()
	case "extend", "extensions", "group", "stream", "rpc", "returns", "service", "import", "package", "syntax", "edition", "weak", "public", "to", "max":
		return false
	case "optional", "repeated", "required":
		label := labels[s.token]
		return s.next() && s.token != "group" && s.field(label, "")
	}
	return s.field(NoLabel, "")
}

var labels = map[string]Label{"optional": Optional, "repeated": Repeated, "required": Required}

// field reads type, name, number and options of a field, in a oneof or in none.
func (s *sketch) field(label Label, oneof string) bool {
	switch s.token {
	case "message", "enum", "oneof", "option", "reserved", "map", "extend", "extensions", "group", "stream", "optional", "repeated", "required",
		"rpc", "returns", "service", "import", "package", "syntax", "edition", "weak", "public", "to", "max":
		return false
	}
	kind, ok := s.typeName()
	return ok && s.numbered(ShapeField{Label: label, Type: kind, Oneof: oneof})
}

// typeName reads the name of a type, with the dot that may stand before it.
func (s *sketch) typeName() (string, bool) {
	dot := s.kind == '.'
	if dot && !s.next() {
		return "", false
	}
	name, ok := s.path()
	if dot && s.shape != nil {
		name = "." + name
	}
	return name, ok
}

// numbered reads name, number and options.
func (s *sketch) numbered(f ShapeField) bool {
	name, ok := s.name()
	if !ok || !s.takes('=') {
		return false
	}
	number := s.token
	if !s.takes('n') {
		return false
	}
	s.shape.field(f, name, number)
	return s.options() && s.takes(';')
}

func (s *sketch) mapField() bool {
	if !s.takes('<') {
		return false
	}
	key := s.token
	if key == "float" || key == "double" || key == "bytes" || !scalars[key] || !s.next() || !s.takes(',') {
		return false
	}
	kind, ok := s.typeName()
	return ok && s.takes('>') && s.numbered(ShapeField{Key: key, Type: kind})
}

func (s *sketch) oneof() bool {
	name, ok := s.name()
	if !ok || !s.takes('{') {
		return false
	}
	for s.kind != '}' {
		if s.kind != 'i' && s.kind != '.' || !s.field(NoLabel, name) {
			return false
		}
	}
	return s.next()
}

// reserved reads numbers or names, not both.
func (s *sketch) reserved() bool {
	first := s.kind
	for {
		switch {
		case s.kind != first:
			return false
		case first == 's':
			if !s.next() || s.kind == 's' {
				return false
			}
		case first == 'n':
			if !s.next() || s.word("to") && !s.word("max") && !s.takes('n') {
				return false
			}
		default:
			return false
		}
		if s.kind == ';' {
			return s.next()
		}
		if !s.takes(',') {
			return false
		}
	}
}

func (s *sketch) enum(scope string, list *[]string) bool {
	name, ok := s.name()
	if !ok || !s.takes('{') {
		return false
	}
	*list = append(*list, join(scope, name))
	for s.kind != '}' {
		switch {
		case s.kind == 'i' && s.token == "option":
			if !s.next() || !s.option() || !s.takes(';') {
				return false
			}
			continue
		case s.kind == 'i' && s.token == "reserved":
			if !s.next() || !s.reserved() {
				return false
			}
			continue
		}
		if _, ok := s.name(); !ok || !s.takes('=') {
			return false
		}
		if s.kind == '-' && !s.next() {
			return false
		}
		if !s.takes('n') || !s.options() || !s.takes(';') {
			return false
		}
	}
	return s.next()
}

func (s *sketch) service() bool {
	if _, ok := s.name(); !ok || !s.takes('{') {
		return false
	}
	for s.kind != '}' {
		if s.token == "option" {
			if !s.next() || !s.option() || !s.takes(';') {
				return false
			}
			continue
		}
		if !s.word("rpc") {
			return false
		}
		if _, ok := s.name(); !ok || !s.call() || !s.word("returns") || !s.call() {
			return false
		}
		if !s.takes(';') {
			return false // a body
		}
	}
	return s.next()
}

// call reads the type that a method takes or gives.
func (s *sketch) call() bool {
	if !s.takes('(') {
		return false
	}
	if s.token == "stream" && !s.next() {
		return false
	}
	if s.kind == '.' && !s.next() {
		return false
	}
	_, ok := s.path()
	return ok && s.takes(')')
}
