package jsonschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

func risk(id string) lint.Rule { return lint.Rule{ID: "json." + id, Severity: compat.Risk} }
func note(id string) lint.Rule { return lint.Rule{ID: "json." + id, Severity: compat.Note} }
func asked(id string) lint.Rule {
	return lint.Rule{ID: "json." + id, Severity: compat.Note, Optional: true}
}

// rules are the rules in the order in which they are listed.
var rules = []rule{
	{Rule: risk("dialect-missing"), text: func(v *visit) {
		root := v.edit.Root
		if root.Kind != jsontext.Object || root.Get("$schema") != nil {
			return
		}
		const uri = `"http://json-schema.org/draft-07/schema#"`
		edit := jsontext.Edit{Start: root.Start + 1, End: root.Start + 1, Text: `"$schema": ` + uri}
		if len(root.Members) > 0 {
			first := root.Members[0].Start
			edit = jsontext.Edit{Start: first, End: first, Text: `"$schema": ` + uri + "," + v.gap(root.Start+1, first)}
		}
		v.say(&part{value: root}, "", "the schema does not say which draft it is; it is read as draft-07", "", edit)
	}},
	{Rule: risk("dialect-unknown"), text: func(v *visit) {
		uri := v.edit.Root.Get("$schema")
		if uri != nil && !known(uri.Text) {
			v.say(&part{value: v.edit.Root}, "$schema", fmt.Sprintf("the dialect %s is not known; the schema is read as draft-07", quote(uri.Text)), uri.Text)
		}
	}},
	{Rule: risk("member-repeated"), text: func(v *visit) {
		for _, r := range v.repeated {
			at := schemas.PositionAt(v.edit.Text, r.offset)
			v.Add(lint.Remark{Rule: v.rule, Place: schemas.Place{Position: at, End: at}, Text: fmt.Sprintf("the member %s is given twice; only the last one counts", quote(r.name)), Value: r.name})
		}
	}},
	{Rule: risk("keyword-misspelt"), part: func(v *visit, p *part) {
		for _, m := range p.words() {
			if word := v.misspelt(p, m.Name); word != "" {
				v.say(p, m.Name, fmt.Sprintf("%s is no keyword; is %s meant?", quote(m.Name), word), m.Name)
			}
		}
	}},
	{Rule: risk("keyword-of-openapi"), part: func(v *visit, p *part) {
		for _, m := range p.words() {
			if slices.Contains(openAPI, m.Name) {
				v.say(p, m.Name, fmt.Sprintf("%s is a keyword of OpenAPI and means nothing here", m.Name), m.Name)
			}
		}
	}},
	{Rule: risk("keyword-of-another-draft"), part: func(v *visit, p *part) {
		for _, m := range p.words() {
			if isWord(m.Name) && !p.dialect.Knows(m.Name) {
				v.say(p, m.Name, fmt.Sprintf("%s means nothing in %s", m.Name, nameOf(p.dialect)), m.Name)
			}
		}
	}},
	{Rule: note("keyword-unknown"), part: func(v *visit, p *part) {
		for _, m := range p.words() {
			if !isWord(m.Name) && !slices.Contains(openAPI, m.Name) && !extension(m.Name) && v.misspelt(p, m.Name) == "" {
				v.say(p, m.Name, fmt.Sprintf("%s is no keyword of any draft", quote(m.Name)), m.Name)
			}
		}
	}},
	{Rule: risk("keyword-without-effect"), part: func(v *visit, p *part) {
		types := typesOf(p.value)
		if len(types) == 0 {
			return
		}
		for _, m := range p.words() {
			kind := kindOf(m.Name)
			if kind != "" && p.dialect.Knows(m.Name) && !slices.ContainsFunc(types, func(t string) bool { return t == kind || kind == "number" && t == "integer" }) {
				v.say(p, m.Name, fmt.Sprintf("%s judges only values of type %s, and the type is %s", m.Name, kind, strings.Join(types, " or ")), m.Name)
			}
		}
	}},
	{Rule: risk("ref-siblings-ignored"), part: func(v *visit, p *part) {
		if p.get("$ref") == nil || p.dialect.IsModern() {
			return
		}
		for _, m := range p.words() {
			if m.Name != "$ref" && isWord(m.Name) && !slices.Contains(silent, m.Name) {
				v.say(p, m.Name, fmt.Sprintf("%s beside $ref means nothing in %s", m.Name, nameOf(p.dialect)), m.Name)
			}
		}
	}},
	{Rule: risk("type-missing"), part: func(v *visit, p *part) {
		if p.branch || p.has("type", "enum", "const", "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if") {
			return
		}
		for _, m := range p.words() {
			if kind := kindOf(m.Name); kind != "" && p.dialect.Knows(m.Name) {
				v.say(p, m.Name, fmt.Sprintf("%s judges only values of type %s, and every other type passes", m.Name, kind), "")
				return
			}
		}
	}},
	{Rule: risk("unsatisfiable"), part: func(v *visit, p *part) {
		for _, pair := range bounds {
			low, high := p.get(pair[0]), p.get(pair[1])
			if low == nil || high == nil || low.Kind != jsontext.Number || high.Kind != jsontext.Number {
				continue
			}
			order := jsonschema.ParseNumber(low.Text).Compare(jsonschema.ParseNumber(high.Text))
			open := strings.HasPrefix(pair[0], "exclusive") || strings.HasPrefix(pair[1], "exclusive")
			if order > 0 || order == 0 && open {
				v.say(p, pair[0], fmt.Sprintf("nothing fits: %s %s and %s %s", pair[0], low.Text, pair[1], high.Text), pair[0])
			}
		}
		if list := p.get("enum"); list != nil && list.Kind == jsontext.Array && len(list.Items) == 0 {
			v.say(p, "enum", "nothing fits: enum is empty", "enum")
		}
		if closed(p.value) {
			own := names(p.value)
			for _, name := range p.get("required").Strings() {
				if !own[name] && p.get("patternProperties") == nil {
					v.say(p, "required", fmt.Sprintf("no object fits: %s is required and not allowed", quote(name)), name)
				}
			}
		}
		never := map[string]bool{}
		if list := p.get("properties"); list != nil {
			for _, m := range list.Members {
				never[m.Name] = m.Value.Kind == jsontext.Bool && !m.Value.Bool
			}
		}
		for _, name := range p.get("required").Strings() {
			if never[name] {
				v.say(p, "required", fmt.Sprintf("no object fits: %s is required and its schema is false", quote(name)), name)
			}
		}
	}},
	{Rule: risk("enum-outside-type"), part: func(v *visit, p *part) {
		types := typesOf(p.value)
		list := p.get("enum")
		if len(types) == 0 {
			return
		}
		if list != nil && list.Kind == jsontext.Array {
			for _, item := range list.Items {
				if !fits(item, types) {
					v.say(p, "enum", fmt.Sprintf("the value %s of enum is no %s", short(item), strings.Join(types, " or ")), short(item))
				}
			}
		}
		if one := p.get("const"); one != nil && p.dialect.Knows("const") && !fits(one, types) {
			v.say(p, "const", fmt.Sprintf("the value %s of const is no %s", short(one), strings.Join(types, " or ")), short(one))
		}
	}},
	{Rule: risk("branch-unreachable"), part: func(v *visit, p *part) {
		for _, word := range []string{"anyOf", "oneOf"} {
			list := p.get(word)
			if list == nil || list.Kind != jsontext.Array {
				continue
			}
			seen := map[string]int{}
			for i, b := range list.Items {
				text := string(b.Append(nil, true))
				first, again := seen[text]
				switch {
				case b.Kind == jsontext.Bool && !b.Bool:
					v.say(p, word, fmt.Sprintf("branch %d of %s is false: nothing reaches it", i+1, word), itoa(i))
				case again && word == "oneOf":
					v.say(p, word, fmt.Sprintf("branches %d and %d of oneOf are the same: what fits both is refused", first+1, i+1), text)
				case again:
					v.say(p, word, fmt.Sprintf("branches %d and %d of anyOf are the same", first+1, i+1), text)
				}
				if !again {
					seen[text] = i
				}
			}
		}
		types := typesOf(p.value)
		for _, word := range []string{"anyOf", "oneOf"} {
			if list := p.get(word); list != nil && len(types) > 0 {
				for i, b := range list.Items {
					if own := typesOf(b); len(own) > 0 && !slices.ContainsFunc(own, func(t string) bool { return overlaps(t, types) }) {
						v.say(p, word, fmt.Sprintf("branch %d of %s is for %s, and the type around it is %s", i+1, word, strings.Join(own, " or "), strings.Join(types, " or ")), itoa(i))
					}
				}
			}
		}
	}},
	{Rule: risk("condition-incomplete"), part: func(v *visit, p *part) {
		if !p.dialect.Knows("if") {
			return
		}
		switch {
		case p.has("then", "else") && p.get("if") == nil:
			word := "then"
			if p.get("then") == nil {
				word = "else"
			}
			v.say(p, word, word+" without if means nothing", "")
		case p.get("if") != nil && !p.has("then", "else"):
			v.say(p, "if", "if without then and else means nothing", "")
		}
	}},
	{Rule: risk("closed-with-all-of"), part: func(v *visit, p *part) {
		list := p.get("allOf")
		if list == nil || list.Kind != jsontext.Array || !closed(p.value) {
			return
		}
		own := names(p.value)
		for _, b := range list.Items {
			for _, name := range v.members(b) {
				if !own[name] && p.get("patternProperties") == nil {
					v.say(p, "additionalProperties", fmt.Sprintf("additionalProperties does not see the properties of allOf: %s is refused", quote(name)), "")
					return
				}
			}
		}
	}},
	{Rule: risk("closed-branches"), part: func(v *visit, p *part) {
		list := p.get("allOf")
		if list == nil || list.Kind != jsontext.Array {
			return
		}
		others := append([]*jsontext.Value{p.value}, list.Items...)
		const most = 50 // branches: each closed one is held against each other
		for i, b := range list.Items[:min(len(list.Items), most)] {
			b = v.follow(b)
			if !closed(b) || b.Get("patternProperties") != nil {
				continue
			}
			own := names(b)
			for j, o := range others[:min(len(others), most)] {
				if j-1 == i {
					continue
				}
				for _, name := range v.members(o) {
					if !own[name] {
						v.say(p, "allOf", fmt.Sprintf("branch %d of allOf is closed and refuses %s, which another part declares", i+1, quote(name)), itoa(i))
						return
					}
				}
			}
		}
	}},
	{Rule: risk("required-undeclared"), part: func(v *visit, p *part) {
		if p.branch || p.get("properties") == nil || closed(p.value) || p.has("patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if") {
			return
		}
		own := names(p.value)
		for _, name := range p.get("required").Strings() {
			if !own[name] {
				v.say(p, "required", fmt.Sprintf("%s is required and not among the properties", quote(name)), name)
			}
		}
	}},
	{Rule: risk("default-invalid"), part: func(v *visit, p *part) {
		if at := p.get("default"); at != nil && v.refuses(p, at) {
			v.say(p, "default", fmt.Sprintf("the schema refuses its own default %s", short(at)), "")
		}
	}},
	{Rule: risk("example-invalid"), part: func(v *visit, p *part) {
		list := p.get("examples")
		if list == nil || list.Kind != jsontext.Array || !p.dialect.Knows("examples") {
			return
		}
		for i, item := range list.Items {
			if v.refuses(p, item) {
				v.say(p, "examples", fmt.Sprintf("the schema refuses its example %d", i+1), short(item))
			}
		}
	}},
	{Rule: risk("pattern-of-another-language"), part: func(v *visit, p *part) {
		v.patterns(p, func(member, pattern string) {
			if what := foreign(pattern); what != "" {
				v.say(p, member, fmt.Sprintf("%s is no part of ECMA-262: it means the letters themselves", what), pattern)
			}
		})
	}},
	{Rule: risk("names-alike"), part: func(v *visit, p *part) {
		seen := map[string]string{}
		if list := p.get("properties"); list != nil {
			for _, m := range list.Members {
				key := lint.Plain(m.Name)
				if other, ok := seen[key]; ok && key != "" {
					v.say(p, "properties", fmt.Sprintf("the names of the properties %s and %s differ in case and signs alone", quote(other), quote(m.Name)), m.Name)
				}
				seen[key] = m.Name
			}
		}
	}},
	{Rule: note("number-imprecise"), part: func(v *visit, p *part) {
		for _, word := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "const", "default"} {
			if at := p.get(word); at != nil && at.Kind == jsontext.Number && !exact(at.Text) {
				v.say(p, word, fmt.Sprintf("%s %s is no double: readers that use doubles see another number", word, short(at)), word)
			}
		}
	}},
	{Rule: note("pattern-unanchored"), part: func(v *visit, p *part) {
		v.patterns(p, func(member, pattern string) {
			if member == "pattern" && !strings.HasPrefix(pattern, "^") && !strings.HasSuffix(pattern, "$") && !strings.Contains(pattern, "|") {
				v.say(p, member, fmt.Sprintf("the pattern %s fits anywhere in the text", quote(pattern)), "")
			}
		})
	}},
	{Rule: note("format-unknown"), part: func(v *visit, p *part) {
		if f := p.get("format"); f != nil && f.Kind == jsontext.String && !slices.Contains(formatNames, f.Text) {
			near := ""
			if word := lint.Near(f.Text, formatNames); word != "" {
				near = "; is " + word + " meant?"
			}
			v.say(p, "format", fmt.Sprintf("the format %s is not known and asserts nothing%s", quote(f.Text), near), f.Text)
		}
	}},
	{Rule: note("enum-repeated"), part: func(v *visit, p *part) {
		list := p.get("enum")
		if list == nil || list.Kind != jsontext.Array {
			return
		}
		seen := map[string]bool{}
		for i, item := range list.Items {
			text := string(item.Append(nil, true))
			if seen[text] {
				v.say(p, "enum", fmt.Sprintf("the value %s stands in enum twice", short(item)), short(item), v.edit.Remove(list, i))
			}
			seen[text] = true
		}
	}},
	{Rule: note("type-list-of-one"), part: func(v *visit, p *part) {
		if t := p.get("type"); t != nil && t.Kind == jsontext.Array && len(t.Items) == 1 {
			v.say(p, "type", "the list of types holds one", "", v.edit.Replace(t, v.edit.Spell(t.Items[0])))
		}
	}},
	{Rule: note("keyword-says-nothing"), part: func(v *visit, p *part) {
		for _, m := range p.words() {
			if saysNothing(m.Name, m.Value) && p.dialect.Knows(m.Name) {
				v.say(p, m.Name, fmt.Sprintf("%s %s refuses nothing", m.Name, short(m.Value)), m.Name)
			}
		}
	}},
	{Rule: note("combination-of-one"), part: func(v *visit, p *part) {
		for _, word := range []string{"allOf", "anyOf", "oneOf"} {
			if list := p.get(word); list != nil && len(list.Items) == 1 && (len(p.value.Members) == 1 || p.dialect.IsModern()) {
				v.say(p, word, word+" has one branch", word)
			}
		}
	}},
	{Rule: note("definition-unused"), part: func(v *visit, p *part) {
		for _, word := range []string{"$defs", "definitions"} {
			list := p.get(word)
			if list == nil || list.Kind != jsontext.Object {
				continue
			}
			for _, m := range list.Members {
				if !v.used(p.at.Append(word).Append(m.Name), m.Value) {
					v.Add(lint.Remark{Rule: v.rule, Place: v.places[p.at.Append(word).Append(m.Name)], Path: joined(p.path, word+"."+m.Name), Text: fmt.Sprintf("nothing refers to the definition %s", quote(m.Name))})
				}
			}
		}
	}},
	{Rule: note("definitions-of-another-draft"), part: func(v *visit, p *part) {
		switch {
		case p.get("definitions") != nil && p.dialect.IsModern():
			v.say(p, "definitions", "definitions are called $defs in "+nameOf(p.dialect), "")
		case p.get("$defs") != nil && !p.dialect.IsModern():
			v.say(p, "$defs", "$defs are called definitions in "+nameOf(p.dialect), "")
		}
	}},
	{Rule: note("items-missing"), part: func(v *visit, p *part) {
		if slices.Equal(typesOf(p.value), []string{"array"}) && !p.has("items", "prefixItems", "contains", "unevaluatedItems", "enum", "const", "$ref") {
			v.say(p, "type", "the items of the array may be anything", "")
		}
	}},
	{Rule: note("sensitive-untagged"), part: func(v *visit, p *part) {
		if p.name == "" || !lint.Sensitive(p.name) || p.has("confluent:tags", "x-sensitive") || slices.Contains(v.subject.Tagged, p.path) || p.branch {
			return
		}
		v.say(p, "", fmt.Sprintf("the property %s sounds personal or secret and has no tag", quote(p.name)), "")
	}},
	{Rule: note("time-as-number"), part: func(v *visit, p *part) {
		if types := typesOf(p.value); p.name != "" && lint.Moment(p.name) && !p.branch && slices.ContainsFunc(types, func(t string) bool { return t == "integer" || t == "number" }) {
			v.say(p, "type", fmt.Sprintf("the property %s sounds like a point in time and is a number", quote(p.name)), "")
		}
	}},
	{Rule: note("property-names-mixed"), part: func(v *visit, p *part) {
		var snake, camel string
		if list := p.get("properties"); list != nil {
			for _, m := range list.Members {
				switch {
				case lint.IsSnake(m.Name) && strings.Contains(m.Name, "_"):
					snake = m.Name
				case lint.IsCamel(m.Name) && m.Name != strings.ToLower(m.Name):
					camel = m.Name
				}
			}
		}
		if snake != "" && camel != "" {
			v.say(p, "properties", fmt.Sprintf("the properties are in two styles, as %s and %s", quote(snake), quote(camel)), "")
		}
	}},
	{Rule: note("title-missing"), text: func(v *visit) {
		if root := v.edit.Root; root.Kind == jsontext.Object && root.Get("title") == nil && root.Get("description") == nil {
			v.say(&part{value: root}, "", "the schema has neither title nor description", "")
		}
	}},
	{Rule: asked("description-missing"), part: func(v *visit, p *part) {
		if p.name != "" && !p.branch && !p.has("description", "title", "$ref") {
			v.say(p, "", fmt.Sprintf("the property %s has no description", quote(p.name)), "")
		}
	}},
	{Rule: asked("id-missing"), text: func(v *visit) {
		if root := v.edit.Root; root.Kind == jsontext.Object && root.Get("$id") == nil && root.Get("id") == nil {
			v.say(&part{value: root}, "", "the schema has no $id by which others could refer to it", "")
		}
	}},
	{Rule: asked("object-model-unsaid"), part: func(v *visit, p *part) {
		if slices.Contains(typesOf(p.value), "object") && p.get("properties") != nil && !p.has("additionalProperties", "unevaluatedProperties") {
			v.say(p, "properties", "the schema does not say whether other members are allowed", "")
		}
	}},
	{Rule: asked("text-unbounded"), part: func(v *visit, p *part) {
		if slices.Contains(typesOf(p.value), "string") && !p.has("maxLength", "enum", "const", "format", "pattern") {
			v.say(p, "type", "a text may be of any length", "")
		}
	}},
}
