package avro

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitName splits what stands in a name, type or alias attribute into a
// namespace and a simple name. enclosing serves names without a dot; ".R" is R
// in the null namespace.
//
// Source: Avro specification, names.
func splitName(text, enclosing string) (namespace, name string) {
	if dot := strings.LastIndexByte(text, '.'); dot >= 0 {
		return text[:dot], text[dot+1:]
	}
	return enclosing, text
}

func fullName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "." + name
}

// plainName is the rule for new schemas: [A-Za-z_][A-Za-z0-9_]*.
func plainName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || i > 0 && c >= '0' && c <= '9' {
			continue
		}
		return false
	}
	return s != ""
}

// wideName is the rule for stored schemas: letters and digits of any script and
// the underscore, no digit first.
func wideName(s string) bool {
	for i, r := range s {
		if r == utf8.RuneError {
			return false
		}
		if r == '_' || unicode.IsLetter(r) || i > 0 && unicode.IsDigit(r) {
			continue
		}
		return false
	}
	return s != ""
}

// nameFault says what is wrong with a name under the rule for new schemas, as
// "it starts with a digit"; empty when nothing is.
func nameFault(s string) string {
	if s == "" {
		return "it is empty"
	}
	for i, r := range s {
		switch {
		case r == '_' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z':
		case r >= '0' && r <= '9':
			if i == 0 {
				return "it starts with a digit"
			}
		default:
			return fmt.Sprintf("it has a %q", r)
		}
	}
	return ""
}

// namespaceFault is nameFault for the parts of a namespace.
func namespaceFault(namespace string) string {
	if namespace == "" {
		return ""
	}
	for part := range strings.SplitSeq(namespace, ".") {
		if part == "" {
			return "it has an empty part"
		}
		if fault := nameFault(part); fault != "" {
			return "its part " + quote(part) + " is no name: " + fault
		}
	}
	return ""
}

const nameRule = "use letters A-Z and a-z, digits and _, not starting with a digit"

// quote quotes what stands in a text, cut where it is long.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// otherWords are names that people write for types that Avro calls otherwise.
var otherWords = map[string]string{
	"bool": `"boolean"`, "integer": `"int" or "long"`, "number": `"double" or "long"`, "str": `"string"`, "text": `"string"`,
	"byte": `"bytes" or "int"`, "short": `"int"`, "int32": `"int"`, "int64": `"long"`, "float32": `"float"`, "float64": `"double"`,
	"object": `{"type": "record", "name": …, "fields": […]}`, "struct": `{"type": "record", "name": …, "fields": […]}`,
	"list": `{"type": "array", "items": …}`, "timestamp": `{"type": "long", "logicalType": "timestamp-millis"}`,
	"datetime": `{"type": "long", "logicalType": "timestamp-millis"}`,
	"decimal":  `{"type": "bytes", "logicalType": "decimal", "precision": …, "scale": …}`,
	"union":    `a JSON array of types, ["null", "string"]`, "void": `"null"`, "none": `"null"`,
	"char": `"string"`,
}

// complexHints say how the types with parts are written where a bare word
// stands in their place.
var complexHints = map[string]string{
	"record": `{"type": "record", "name": …, "fields": […]}`,
	"error":  `{"type": "error", "name": …, "fields": […]}`,
	"enum":   `{"type": "enum", "name": …, "symbols": […]}`,
	"fixed":  `{"type": "fixed", "name": …, "size": …}`,
	"array":  `{"type": "array", "items": …}`,
	"map":    `{"type": "map", "values": …}`,
}

// hintFor guesses what was meant by an unknown type name; empty when there is
// no guess.
func hintFor(name string) string {
	if shape, ok := complexHints[name]; ok {
		return "a type with parts stands in an object of its own: write " + shape
	}
	lower := strings.ToLower(name)
	if _, ok := primitives[lower]; ok {
		return "names are case-sensitive: write " + quote(lower)
	}
	if word, ok := otherWords[lower]; ok {
		return "Avro has no such type: write " + word
	}
	if bases, ok := logicalBases[name]; ok {
		return fmt.Sprintf(`it is a logical type and needs a base: write {"type": %q, "logicalType": %q}`, bases[0], name)
	}
	return ""
}
