package jsonschema

import "strings"

// Dialect is a draft of JSON Schema.
type Dialect uint8

// The dialects, oldest first.
const (
	Draft4 Dialect = iota
	Draft6
	Draft7
	Draft2019
	Draft2020
)

var dialectURIs = [...]string{
	"http://json-schema.org/draft-04/schema",
	"http://json-schema.org/draft-06/schema",
	"http://json-schema.org/draft-07/schema",
	"https://json-schema.org/draft/2019-09/schema",
	"https://json-schema.org/draft/2020-12/schema",
}

// URI names the dialect's meta-schema, without a fragment.
func (d Dialect) URI() string { return dialectURIs[d] }

// IsModern tells whether keywords beside $ref assert: 2019-09 and later.
func (d Dialect) IsModern() bool { return d >= Draft2019 }

// dialectOf reads a $schema: with or without "#", http or https. An unknown one
// is draft-07, and so is an absent one. The versionless address is draft-04,
// which it named when schemas that use it were written.
//
// Source: JSON Schema specification 2.1.2.
func dialectOf(uri string) Dialect {
	uri = strings.TrimSuffix(uri, "#")
	rest, ok := strings.CutPrefix(uri, "https://")
	if !ok {
		rest, _ = strings.CutPrefix(uri, "http://")
	}
	for d, name := range dialectURIs {
		if _, tail, _ := strings.Cut(name, "://"); tail == rest {
			return Dialect(d)
		}
	}
	if rest == "json-schema.org/schema" {
		return Draft4
	}
	return Draft7
}

// idKeyword is the keyword of identity.
func (d Dialect) idKeyword() string {
	if d == Draft4 {
		return "id"
	}
	return "$id"
}

// shape is where subschemas stand in a keyword's value.
type shape uint8

const (
	plain       shape = iota // no subschema
	schema                   // the value itself
	list                     // each item
	mapping                  // each member
	schemaOrSet              // items: a schema or a list of them
	dependent                // dependencies: members that are schemas; others are lists of names
)

// keyword is one keyword of the language.
type keyword struct {
	name  string
	shape shape
	since Dialect
	until Dialect
	// inPlace subschemas judge the same value as the schema around them.
	inPlace bool
}

// keywords is the language. The buckets are looked into in every dialect:
// schemas in use keep their parts under $defs whatever they declare.
// dependencies asserts in every dialect.
var keywords = []keyword{
	{name: "$anchor", since: Draft2019, until: Draft2020},
	{name: "$comment", since: Draft7, until: Draft2020},
	{name: "$defs", shape: mapping, since: Draft4, until: Draft2020},
	{name: "$dynamicAnchor", since: Draft2020, until: Draft2020},
	{name: "$dynamicRef", since: Draft2020, until: Draft2020},
	{name: "$id", since: Draft6, until: Draft2020},
	{name: "$recursiveAnchor", since: Draft2019, until: Draft2019},
	{name: "$recursiveRef", since: Draft2019, until: Draft2019},
	{name: "$ref", since: Draft4, until: Draft2020},
	{name: "$schema", since: Draft4, until: Draft2020},
	{name: "$vocabulary", since: Draft2019, until: Draft2020},
	{name: "additionalItems", shape: schema, since: Draft4, until: Draft2019},
	{name: "additionalProperties", shape: schema, since: Draft4, until: Draft2020},
	{name: "allOf", shape: list, since: Draft4, until: Draft2020, inPlace: true},
	{name: "anyOf", shape: list, since: Draft4, until: Draft2020, inPlace: true},
	{name: "const", since: Draft6, until: Draft2020},
	{name: "contains", shape: schema, since: Draft6, until: Draft2020},
	{name: "contentEncoding", since: Draft7, until: Draft2020},
	{name: "contentMediaType", since: Draft7, until: Draft2020},
	{name: "contentSchema", shape: schema, since: Draft2019, until: Draft2020},
	{name: "default", since: Draft4, until: Draft2020},
	{name: "definitions", shape: mapping, since: Draft4, until: Draft2020},
	{name: "dependencies", shape: dependent, since: Draft4, until: Draft2020, inPlace: true},
	{name: "dependentRequired", since: Draft2019, until: Draft2020},
	{name: "dependentSchemas", shape: mapping, since: Draft2019, until: Draft2020, inPlace: true},
	{name: "deprecated", since: Draft2019, until: Draft2020},
	{name: "description", since: Draft4, until: Draft2020},
	{name: "else", shape: schema, since: Draft7, until: Draft2020, inPlace: true},
	{name: "enum", since: Draft4, until: Draft2020},
	{name: "examples", since: Draft6, until: Draft2020},
	{name: "exclusiveMaximum", since: Draft4, until: Draft2020},
	{name: "exclusiveMinimum", since: Draft4, until: Draft2020},
	{name: "format", since: Draft4, until: Draft2020},
	{name: "id", since: Draft4, until: Draft4},
	{name: "if", shape: schema, since: Draft7, until: Draft2020, inPlace: true},
	{name: "items", shape: schemaOrSet, since: Draft4, until: Draft2020},
	{name: "maxContains", since: Draft2019, until: Draft2020},
	{name: "maxItems", since: Draft4, until: Draft2020},
	{name: "maxLength", since: Draft4, until: Draft2020},
	{name: "maxProperties", since: Draft4, until: Draft2020},
	{name: "maximum", since: Draft4, until: Draft2020},
	{name: "minContains", since: Draft2019, until: Draft2020},
	{name: "minItems", since: Draft4, until: Draft2020},
	{name: "minLength", since: Draft4, until: Draft2020},
	{name: "minProperties", since: Draft4, until: Draft2020},
	{name: "minimum", since: Draft4, until: Draft2020},
	{name: "multipleOf", since: Draft4, until: Draft2020},
	{name: "not", shape: schema, since: Draft4, until: Draft2020, inPlace: true},
	{name: "oneOf", shape: list, since: Draft4, until: Draft2020, inPlace: true},
	{name: "pattern", since: Draft4, until: Draft2020},
	{name: "patternProperties", shape: mapping, since: Draft4, until: Draft2020},
	{name: "prefixItems", shape: list, since: Draft2020, until: Draft2020},
	{name: "properties", shape: mapping, since: Draft4, until: Draft2020},
	{name: "propertyNames", shape: schema, since: Draft6, until: Draft2020},
	{name: "readOnly", since: Draft7, until: Draft2020},
	{name: "required", since: Draft4, until: Draft2020},
	{name: "then", shape: schema, since: Draft7, until: Draft2020, inPlace: true},
	{name: "title", since: Draft4, until: Draft2020},
	{name: "type", since: Draft4, until: Draft2020},
	{name: "unevaluatedItems", shape: schema, since: Draft2019, until: Draft2020},
	{name: "unevaluatedProperties", shape: schema, since: Draft2019, until: Draft2020},
	{name: "uniqueItems", since: Draft4, until: Draft2020},
	{name: "writeOnly", since: Draft7, until: Draft2020},
}

var keywordsByName = func() map[string]keyword {
	out := make(map[string]keyword, len(keywords))
	for _, k := range keywords {
		out[k.name] = k
	}
	return out
}()

// Knows tells whether keyword has a meaning in the dialect.
func (d Dialect) Knows(name string) bool {
	k, ok := keywordsByName[name]
	return ok && d >= k.since && d <= k.until
}

// words are the vocabulary of the format: every keyword, and attribute, which
// stands for the members that no dialect knows.
func words() []string { return append(Vocabulary(), "attribute") }

// Vocabulary lists every keyword of every dialect, sorted.
func Vocabulary() []string {
	out := make([]string, len(keywords))
	for i, k := range keywords {
		out[i] = k.name
	}
	return out
}
