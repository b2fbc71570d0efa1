package jsonschema

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

func quote(s string) string { return strconv.Quote(s) }
func itoa(n int) string     { return strconv.Itoa(n) }

// short is a value for people.
func short(v *jsontext.Value) string {
	const most = 40
	text := v.String()
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

var dialects = []jsonschema.Dialect{jsonschema.Draft4, jsonschema.Draft6, jsonschema.Draft7, jsonschema.Draft2019, jsonschema.Draft2020}

// known tells whether an address is that of a dialect.
func known(uri string) bool {
	_, rest, _ := strings.Cut(strings.TrimSuffix(uri, "#"), "://")
	if rest == "json-schema.org/schema" {
		return true
	}
	return slices.ContainsFunc(dialects, func(d jsonschema.Dialect) bool { return strings.HasSuffix(d.URI(), "://"+rest) })
}

func nameOf(d jsonschema.Dialect) string {
	return [...]string{"draft-04", "draft-06", "draft-07", "2019-09", "2020-12"}[d]
}

var words = jsonschema.Vocabulary()

func isWord(name string) bool { return slices.Contains(words, name) }

// openAPI are words that look like keywords and are another language's.
var openAPI = []string{"nullable", "discriminator", "xml", "externalDocs", "example"}

// silent are the keywords that assert nothing.
var silent = []string{"$comment", "$schema", "$id", "id", "$defs", "definitions", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}

// extension tells whether a word announces itself as somebody's own.
func extension(name string) bool {
	return strings.HasPrefix(name, "x-") || strings.HasPrefix(name, "$") || strings.ContainsAny(name, ":.") ||
		slices.Contains([]string{"version", "javaType", "existingJavaType", "tsType", "javaInterfaces", "markdownDescription", "enumNames", "enumDescriptions", "customAnnotation"}, name)
}

// misspelt is the keyword that an unknown word is probably meant to be.
func (v *visit) misspelt(p *part, name string) string {
	if isWord(name) || slices.Contains(openAPI, name) || extension(name) {
		return ""
	}
	word := lint.Near(name, words)
	if word == "" || p.get(word) != nil {
		return ""
	}
	return word
}

// kindOf is the type that an assertion is about; empty for those about all.
func kindOf(keyword string) string {
	switch keyword {
	case "minLength", "maxLength", "pattern":
		return "string"
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return "number"
	case "items", "prefixItems", "additionalItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems", "unevaluatedItems":
		return "array"
	case "properties", "patternProperties", "additionalProperties", "propertyNames", "required", "minProperties", "maxProperties",
		"dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties":
		return "object"
	}
	return ""
}

// typesOf are the types that a schema names.
func typesOf(v *jsontext.Value) []string {
	t := v.Get("type")
	switch {
	case t == nil:
		return nil
	case t.Kind == jsontext.String:
		return []string{t.Text}
	}
	return t.Strings()
}

func overlaps(t string, types []string) bool {
	return slices.ContainsFunc(types, func(o string) bool {
		return o == t || o == "number" && t == "integer" || o == "integer" && t == "number"
	})
}

func fits(v *jsontext.Value, types []string) bool {
	kind := v.Kind.String()
	return slices.ContainsFunc(types, func(t string) bool {
		if t == "integer" && kind == "number" {
			r, ok := new(big.Rat).SetString(bounded(v.Text))
			return !ok || r.IsInt()
		}
		return t == kind
	})
}

// bounded is a number's text, unless its exponent would make it huge.
func bounded(text string) string {
	if _, e, has := strings.Cut(strings.ToLower(text), "e"); has {
		if n, err := strconv.Atoi(e); err != nil || n > 400 || n < -400 {
			return "?"
		}
	}
	return text
}

// exact tells whether a double holds a number.
func exact(text string) bool {
	want, ok := new(big.Rat).SetString(bounded(text))
	if !ok {
		return true
	}
	if !want.IsInt() { // decimal fractions are expected to be rounded
		return true
	}
	f, _ := want.Float64()
	got := new(big.Rat).SetFloat64(f)
	return got != nil && got.Cmp(want) == 0
}

func closed(v *jsontext.Value) bool {
	a := v.Get("additionalProperties")
	return a != nil && a.Kind == jsontext.Bool && !a.Bool
}

// bounds are the pairs of which the first may not be above the second.
var bounds = [][2]string{
	{"minimum", "maximum"},
	{"exclusiveMinimum", "maximum"},
	{"minimum", "exclusiveMaximum"},
	{"exclusiveMinimum", "exclusiveMaximum"},
	{"minLength", "maxLength"},
	{"minItems", "maxItems"},
	{"minProperties", "maxProperties"},
	{"minContains", "maxContains"},
}

func saysNothing(keyword string, v *jsontext.Value) bool {
	switch keyword {
	case "minLength", "minItems", "minProperties":
		return v.Kind == jsontext.Number && jsonschema.ParseNumber(v.Text).Compare(jsonschema.ParseNumber("0")) == 0
	case "uniqueItems":
		return v.Kind == jsontext.Bool && !v.Bool
	case "required":
		return v.Kind == jsontext.Array && len(v.Items) == 0
	}
	return false
}

// follow is the schema that a reference inside the text leads to, else the
// schema itself.
func (v *visit) follow(one *jsontext.Value) *jsontext.Value {
	if ref := one.Get("$ref"); ref != nil {
		if p, ok := strings.CutPrefix(ref.Text, "#"); ok && (p == "" || p[0] == '/') {
			if to := v.edit.At(schemas.Pointer(p)); to != nil {
				return to
			}
		}
	}
	return one
}

// names are the properties that a schema itself declares.
func names(one *jsontext.Value) map[string]bool {
	out := map[string]bool{}
	if list := one.Get("properties"); list != nil {
		for _, m := range list.Members {
			out[m.Name] = true
		}
	}
	return out
}

// members are the properties that a schema declares.
func (v *visit) members(one *jsontext.Value) (names []string) {
	if list := v.follow(one).Get("properties"); list != nil {
		for _, m := range list.Members {
			names = append(names, m.Name)
		}
	}
	return names
}

// used tells whether any reference may mean a definition.
func (v *visit) used(at schemas.Pointer, definition *jsontext.Value) bool {
	if v.meant == nil {
		v.meant = map[string]bool{}
		for ref := range v.refs {
			base, fragment, _ := strings.Cut(ref, "#")
			pointer := unescaped(fragment)
			const most = 10 // steps of a pointer
			for n := 0; pointer != "" && n < most; n++ {
				v.meant["#"+pointer] = true
				pointer = pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
			}
			if base != "" { // a relative address of an embedded document
				v.meant[base[strings.LastIndexByte(base, '/')+1:]] = true
			}
		}
	}
	if v.meant["#"+string(at)] {
		return true
	}
	for _, key := range []string{"$id", "id", "$anchor", "$dynamicAnchor"} {
		if one := definition.Get(key); one != nil {
			name := strings.TrimPrefix(one.Text, "#")
			if v.meant["#"+name] || v.meant[name[strings.LastIndexByte(name, '/')+1:]] {
				return true
			}
		}
	}
	// Something elsewhere may mean a definition of a document that is for that.
	return len(v.edit.Root.Members) <= 4 && !(&part{value: v.edit.Root}).has("type", "properties", "allOf", "anyOf", "oneOf", "$ref", "items")
}

// unescaped turns the percent signs of a fragment into what they stand for.
func unescaped(fragment string) string {
	var b strings.Builder
	for i := 0; i < len(fragment); i++ {
		if fragment[i] == '%' && i+2 < len(fragment) {
			if n, err := strconv.ParseUint(fragment[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(fragment[i])
	}
	return b.String()
}

// refuses tells whether a schema surely refuses a value.
func (v *visit) refuses(p *part, value *jsontext.Value) bool {
	n := v.node(p.at)
	if n == nil || v.schema.IsDynamic() {
		return false
	}
	const steps = 100_000
	ok, decided := n.Holds(v.edit.Spell(value), steps)
	return decided && !ok
}

// node finds the compiled schema of a place in the own text; nil for one that
// nothing reaches.
func (v *visit) node(at schemas.Pointer) *jsonschema.Node {
	if v.nodes == nil {
		v.nodes = map[schemas.Pointer]*jsonschema.Node{}
		v.reach(v.schema.Root())
	}
	return v.nodes[at]
}

func (v *visit) reach(n *jsonschema.Node) {
	if n == nil || n.Document() != "" {
		return
	}
	at := n.Pointer()
	if v.nodes[at] != nil {
		return
	}
	v.nodes[at] = n
	for _, one := range [][]*jsonschema.Node{
		n.Prefix, n.AllOf, n.AnyOf, n.OneOf,
		{n.Items, n.AdditionalItems, n.Contains, n.UnevaluatedItems, n.AdditionalProperties, n.PropertyNames, n.UnevaluatedProperties, n.Not, n.If, n.Then, n.Else, n.Ref},
	} {
		for _, inner := range one {
			v.reach(inner)
		}
	}
	for _, one := range append(slices.Clone(n.Properties), n.DependentSchemas...) {
		v.reach(one.Node)
	}
	for _, one := range n.PatternProperties {
		v.reach(one.Node)
	}
}

// patterns calls fn for each pattern of a schema with the member that holds it.
func (v *visit) patterns(p *part, fn func(member, pattern string)) {
	if one := p.get("pattern"); one != nil && one.Kind == jsontext.String {
		fn("pattern", one.Text)
	}
	if list := p.get("patternProperties"); list != nil && list.Kind == jsontext.Object {
		for _, m := range list.Members {
			fn("patternProperties", m.Name)
		}
	}
}

// foreign finds a piece of a pattern that other languages know and ECMA-262
// reads as something else; empty for none.
func foreign(pattern string) string {
	class := false
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			if i+1 < len(pattern) && strings.IndexByte("AzZGQEhHRX", pattern[i+1]) >= 0 {
				return pattern[i : i+2]
			}
			i++
		case '[':
			if class && i+1 < len(pattern) && pattern[i+1] == ':' {
				if end := strings.Index(pattern[i:], ":]"); end > 0 {
					return pattern[i : i+end+2]
				}
			}
			class = true
		case ']':
			class = false
		}
	}
	return ""
}

// formatNames are the formats of the drafts.
var formatNames = []string{
	"date", "time", "date-time", "duration", "email", "idn-email", "hostname", "host-name", "idn-hostname", "ipv4", "ip-address", "ipv6", "uri", "uri-reference",
	"iri", "iri-reference", "uri-template", "json-pointer", "relative-json-pointer", "uuid", "regex", "color", "phone", "style", "utc-millisec",
}

// gap is what stands between the bracket of an object and its first member, to
// stand behind a member that is put before it.
func (v *visit) gap(from, to int) string {
	if text := v.edit.Text[from:to]; strings.Contains(text, "\n") {
		return text
	}
	return " "
}
