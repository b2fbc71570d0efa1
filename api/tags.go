package api

import (
	"net/http"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// mostTags bounds how many parts one list of tags may name.
const mostTags = 20_000

// The words of the wire for the two kinds of parts.
const (
	recordEntity = "sr_record"
	fieldEntity  = "sr_field"
)

// tags is a list of SchemaTags; null and absent are nil. Whether the schema has
// the parts is the domain's question.
//
// Source: REST contract 3.4.
func (m *members) tags(name string) (list []schemas.Tagged) {
	m.failIf(m.get(name).each(mostTags, func(v value) error {
		if v.null() {
			return v.wrong("an object")
		}
		one, err := v.pick("schemaEntity", "tags")
		if err != nil {
			return err
		}
		entity := one.get("schemaEntity")
		if entity.null() {
			return bare(http.StatusBadRequest, "the member "+string(v.at())+" has no schemaEntity")
		}
		e, err := entity.pick("entityPath", "entityType")
		if err != nil {
			return err
		}
		part := schemas.Tagged{Path: e.text("entityPath"), Field: e.word("entityType", recordEntity, fieldEntity) == fieldEntity, Tags: one.list("tags")}
		if e.err == nil && e.text("entityType") == "" {
			return bare(http.StatusBadRequest, "the member "+string(entity.at())+" has no entityType: write "+recordEntity+" or "+fieldEntity)
		}
		if e.err != nil {
			return e.err
		}
		list = append(list, part)
		return one.err
	}))
	return list
}

// withTags is body, an object, with the parts of v that findTags asks for.
//
// Source: REST contract 3.4 and 4.1.
func (x *exchange) withTags(body []byte, v registry.Stored) ([]byte, error) {
	wanted := append(x.all("findTags"), x.all("find_tags")...)
	if len(wanted) == 0 || v.Erased {
		return body, nil
	}
	list, err := x.server.registry.Tags(x.ctx(), v, wanted)
	if err != nil {
		return nil, err
	}
	o := object{body[:len(body)-1]} // without its closing brace
	o.list("schemaTags", len(list), func(b []byte, i int) []byte {
		p := list[i]
		one := object{append(b, '{')}
		one.key("schemaEntity")
		entity := object{append(one.b, '{')}
		entity.always("entityPath", p.Path)
		kind := recordEntity
		if p.Field {
			kind = fieldEntity
		}
		entity.always("entityType", kind)
		one.b = entity.end()
		one.strings("tags", p.Tags)
		return one.end()
	})
	return o.end(), nil
}

// all are the values of a query parameter that say something.
func (x *exchange) all(name string) (list []string) {
	if x.request.URL.RawQuery == "" {
		return nil
	}
	for _, value := range x.params()[name] {
		if value != "" {
			list = append(list, value)
		}
	}
	return list
}

// tagVersion answers POST /subjects/{subject}/versions/{version}/tags.
func tagVersion(x *exchange) error {
	v, err := x.version()
	if err != nil {
		return err
	}
	body, err := x.read()
	if err != nil {
		return err
	}
	m, err := parse(body, "newVersion", "tagsToAdd", "tagsToRemove", "metadata", "ruleSet", "rulesToMerge", "rulesToRemove")
	if err != nil {
		return err
	}
	c := registry.TagChange{
		Subject: x.subject(), Version: v, Add: m.tags("tagsToAdd"), Remove: m.tags("tagsToRemove"),
		Metadata: m.metadata("metadata"), RuleSet: m.rules("ruleSet"), MergeRules: m.rules("rulesToMerge"), RemoveRules: m.list("rulesToRemove"),
	}
	if n := m.integer("newVersion"); n != nil {
		c.NewVersion = schemas.Version(*n)
	}
	if m.err != nil {
		return m.err
	}
	stored, err := x.shown(x.server.registry.Tag(x.authored(), c))
	x.server.metrics.registered(stored.Fresh, err)
	if err != nil {
		return err
	}
	return x.answer(registered(x, stored))
}
