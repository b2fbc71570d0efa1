package api

import (
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// entry writes the members that Schema, SchemaString and RegisterSchemaResponse
// share, from guid on.
//
// Source: REST contract 3.4 to 3.7.
func (x *exchange) entry(o *object, v registry.Stored) {
	if v.GUID != (schemas.GUID{}) {
		o.always("guid", v.GUID.String())
	}
	o.always("schemaType", string(v.Source.Type))
	var from *schemas.Context
	if strings.EqualFold(x.text("referenceFormat", "reference_format"), "qualified") {
		from = &v.Subject.Context
	}
	o.references(v.Source.References, from)
	o.metadata("metadata", v.Metadata)
	o.rules("ruleSet", v.RuleSet)
	o.always("schema", v.Source.Text)
	if v.Fresh || v.ByContent {
		return
	}
	if !v.Time.IsZero() {
		o.number("ts", v.Time.UnixMilli())
	}
	o.boolean("deleted", v.Deleted)
	if v.Erased {
		o.boolean("erased", true)
	}
}

// schema is a Schema: lookup, one version, an item of a list.
func (x *exchange) schema(b []byte, v registry.Stored) []byte {
	o := object{append(b, '{')}
	o.always("subject", v.Subject.String())
	o.number("version", int64(v.Version))
	o.number("id", int64(v.ID.Number))
	x.entry(&o, v)
	return o.end()
}

// schemaString is a SchemaString: by id with the place where it is used, by
// GUID without.
func (x *exchange) schemaString(v registry.Stored, placed bool) []byte {
	o := begin(256 + len(v.Source.Text) + len(v.Source.Text)/4)
	if placed {
		o.always("subject", v.Subject.String())
		o.number("version", int64(v.Version))
	}
	x.entry(o, v)
	if placed && x.flag("fetchMaxId", "fetch_max_id") {
		o.number("maxId", int64(x.view().MaxID(v.ID.Context)))
	}
	return o.end()
}

func registered(x *exchange, v registry.Stored) []byte {
	o := begin(256 + len(v.Source.Text) + len(v.Source.Text)/4)
	o.number("id", int64(v.ID.Number))
	o.number("version", int64(v.Version))
	x.entry(o, v)
	return o.end()
}

func stringList(list []string) []byte {
	return appendList(nil, len(list), func(b []byte, i int) []byte { return appendString(b, list[i]) })
}

func numbers[N ~int32](x *exchange, list []N) error {
	return x.list(len(list), func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(list[i]), 10) })
}

// shown gives v with its text in the form that format= asks for. Empty,
// "default" and what means nothing for the schema's type is the text as it is.
//
// Source: REST contract 5.1.4.
func (x *exchange) shown(v registry.Stored, err error) (registry.Stored, error) {
	name := x.text("format")
	if err != nil || name == "" || v.Erased {
		return v, err
	}
	v.Source.Text, err = x.server.registry.InForm(x.ctx(), v, name)
	return v, err
}

// page is the part of a list that was asked for. A limit beyond most (0: no
// most) counts as the default; a negative offset counts as 0.
//
// Errors: 404 for integers that do not parse.
func (x *exchange) page(most int) (registry.Page, error) {
	offset, err := x.integer("offset")
	if err != nil {
		return registry.Page{}, err
	}
	limit, err := x.integer("limit")
	if err != nil {
		return registry.Page{}, err
	}
	if limit <= 0 || most > 0 && limit > most {
		limit = most
	}
	return registry.Page{Offset: max(offset, 0), Limit: limit}, nil
}

// most schemas that one list answers, and the default.
const mostSchemas = 1000

// visible is what a list shows: deletedOnly wins over deleted.
func (x *exchange) visible() registry.Deleted {
	switch {
	case x.flag("deletedOnly", "deleted_only"):
		return registry.DeletedOnly
	case x.flag("deleted"):
		return registry.WithDeleted
	}
	return registry.LiveOnly
}

// narrowed is the subject= of the id endpoints: nil when none was given and the
// URL names no context.
func (x *exchange) narrowed() *schemas.Subject {
	text := x.text("subject")
	if x.context != "" {
		text = qualify(x.context, text)
	}
	if text == "" {
		return nil
	}
	s := x.view().Alias(schemas.ParseSubject(text))
	return &s
}

// prefix is the subjectPrefix= of the lists. other is used when none was given
// and the URL names no context.
func (x *exchange) prefix(other string) schemas.Subject {
	text, given := x.given("subjectPrefix")
	switch {
	case x.context != "":
		text = qualify(x.context, text)
	case !given:
		text = other
	}
	return schemas.ParseSubject(text)
}
