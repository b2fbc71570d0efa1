package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// mostAttached bounds how many properties, tags or rules one list or map of a
// request may have.
const mostAttached = 20_000

// metadata is a Metadata; null and absent are nil, {} is empty.
//
// Source: REST contract 3.2.
func (m *members) metadata(name string) *schemas.Metadata {
	v := m.get(name)
	if v.null() {
		return nil
	}
	one, err := v.pick("tags", "properties", "sensitive")
	if err != nil {
		m.fail(err)
		return nil
	}
	out := &schemas.Metadata{Properties: one.texts("properties"), Sensitive: one.list("sensitive")}
	one.entries("tags", func(path string, v value) {
		if out.Tags == nil {
			out.Tags = map[string][]string{}
		}
		out.Tags[path] = one.listOf(v)
	})
	m.failIf(one.err)
	return out
}

// rules is a RuleSet; null and absent are nil, {} is empty. Whether a rule is
// complete is the domain's question; a word that no member of its type knows is
// 400.
//
// Source: REST contract 3.3.
func (m *members) rules(name string) *schemas.RuleSet {
	v := m.get(name)
	if v.null() {
		return nil
	}
	one, err := v.pick("migrationRules", "domainRules", "encodingRules", "enableAt")
	if err != nil {
		m.fail(err)
		return nil
	}
	list := func(name string) (out []schemas.ContractRule) {
		m.failIf(one.get(name).each(mostAttached, func(v value) error {
			r, err := v.pick("name", "doc", "kind", "mode", "type", "tags", "params", "expr", "onSuccess", "onFailure", "disabled")
			if err != nil {
				return err
			}
			disabled := r.boolean("disabled")
			out = append(out, schemas.ContractRule{
				Name: r.text("name"), Doc: r.text("doc"), Type: r.text("type"),
				Kind: r.word("kind", "TRANSFORM", "CONDITION"), Mode: r.word("mode", "WRITEREAD", "WRITE", "READ", "UPGRADE", "DOWNGRADE", "UPDOWN"),
				Tags: r.list("tags"), Params: r.texts("params"),
				Expr: r.text("expr"), OnSuccess: r.text("onSuccess"), OnFailure: r.text("onFailure"), Disabled: disabled != nil && *disabled,
			})
			return r.err
		}))
		return out
	}
	out := &schemas.RuleSet{
		Migration: list("migrationRules"), Domain: list("domainRules"), Encoding: list("encodingRules"),
		EnableAt: one.word("enableAt", "ALL", "CLIENT", "GATEWAY", "SERVER", "NONE"),
	}
	m.failIf(one.err)
	return out
}

func (m *members) failIf(err error) {
	if err != nil {
		m.fail(err)
	}
}

// word is a string that must be one of words; null and absent are empty.
func (m *members) word(name string, words ...string) string {
	text := m.text(name)
	v := m.get(name)
	if v.null() || slices.Contains(words, text) {
		return text
	}
	m.fail(bare(http.StatusBadRequest, "the member "+string(v.at())+" is none of "+strings.Join(words, ", ")))
	return ""
}

// entries gives each member of an object that is not null, whatever its name; of
// a repeated one the last counts.
func (m *members) entries(name string, each func(string, value)) {
	v := m.get(name)
	switch {
	case v.null():
		return
	case v.raw[0] != '{':
		m.fail(v.wrong("an object"))
		return
	}
	n := 0
	v.walk(func(key []byte, one value) bool {
		if n++; n > mostAttached {
			m.fail(coded(42210, "the member %s has more than %d members", v.at(), mostAttached))
			return false
		}
		if one := (value{one.raw, v.at(), string(key)}); !one.null() {
			each(one.name, one)
		}
		return m.err == nil
	})
}

// texts is an object of strings; null, absent and {} are nil.
func (m *members) texts(name string) map[string]string {
	var out map[string]string
	m.entries(name, func(key string, v value) {
		var s string
		if v.raw[0] != '"' || json.Unmarshal(v.raw, &s) != nil {
			m.fail(v.wrong("a string"))
			return
		}
		if out == nil {
			out = map[string]string{}
		}
		out[key] = s
	})
	return out
}

// list is an array of strings; null and absent are nil.
func (m *members) list(name string) []string { return m.listOf(m.get(name)) }

func (m *members) listOf(v value) (out []string) {
	err := v.each(mostAttached, func(item value) error {
		var s string
		if item.raw[0] != '"' || json.Unmarshal(item.raw, &s) != nil {
			return item.wrong("a string")
		}
		out = append(out, s)
		return nil
	})
	if err != nil {
		m.fail(err)
	}
	return out
}

func emptyMetadata(m *schemas.Metadata) bool {
	return m == nil || len(m.Tags) == 0 && len(m.Properties) == 0 && len(m.Sensitive) == 0
}

func emptyRules(s *schemas.RuleSet) bool {
	return s == nil || len(s.Migration) == 0 && len(s.Domain) == 0 && len(s.Encoding) == 0 && s.EnableAt == ""
}

// metadata writes a Metadata, left out when it says nothing.
func (o *object) metadata(name string, m *schemas.Metadata) {
	if emptyMetadata(m) {
		return
	}
	o.key(name)
	one := object{append(o.b, '{')}
	if len(m.Tags) > 0 {
		one.key("tags")
		tags := object{append(one.b, '{')}
		for _, path := range sortedNames(m.Tags) {
			tags.quoted(path)
			tags.b = appendList(tags.b, len(m.Tags[path]), func(b []byte, i int) []byte { return appendString(b, m.Tags[path][i]) })
		}
		one.b = tags.end()
	}
	one.texts("properties", m.Properties)
	one.strings("sensitive", m.Sensitive)
	o.b = one.end()
}

// rules writes a RuleSet, left out when it says nothing.
func (o *object) rules(name string, s *schemas.RuleSet) {
	if emptyRules(s) {
		return
	}
	o.key(name)
	one := object{append(o.b, '{')}
	list := func(name string, rules []schemas.ContractRule) {
		one.list(name, len(rules), func(b []byte, i int) []byte {
			r := rules[i]
			rule := object{append(b, '{')}
			rule.text("name", r.Name)
			rule.text("doc", r.Doc)
			rule.text("kind", r.Kind)
			rule.text("mode", r.Mode)
			rule.text("type", r.Type)
			rule.strings("tags", r.Tags)
			rule.texts("params", r.Params)
			rule.text("expr", r.Expr)
			rule.text("onSuccess", r.OnSuccess)
			rule.text("onFailure", r.OnFailure)
			rule.boolean("disabled", r.Disabled)
			return rule.end()
		})
	}
	list("migrationRules", s.Migration)
	list("domainRules", s.Domain)
	list("encodingRules", s.Encoding)
	one.text("enableAt", s.EnableAt)
	o.b = one.end()
}

// texts writes an object of strings by name, left out when empty.
func (o *object) texts(name string, m map[string]string) {
	if len(m) == 0 {
		return
	}
	o.key(name)
	one := object{append(o.b, '{')}
	for _, key := range sortedNames(m) {
		one.quoted(key)
		one.b = appendString(one.b, m[key])
	}
	o.b = one.end()
}

// strings writes an array of strings, left out when empty.
func (o *object) strings(name string, list []string) {
	o.list(name, len(list), func(b []byte, i int) []byte { return appendString(b, list[i]) })
}

// quoted begins a member whose name is a user's.
func (o *object) quoted(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(appendString(o.b, name), ':')
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
