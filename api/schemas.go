package api

import (
	"errors"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// listSchemas answers GET /schemas.
func listSchemas(x *exchange) error {
	page, err := x.page(mostSchemas)
	if err != nil {
		return err
	}
	d := registry.LiveOnly
	if x.flag("deleted") {
		d = registry.WithDeleted
	}
	list, err := x.view().List(x.ctx(), x.prefix(""), d, x.flag("latestOnly"), x.text("ruleType"), page)
	if err != nil {
		return err
	}
	var aliases map[schemas.Subject][]schemas.Subject
	if x.flag("aliases") {
		aliases = x.view().Aliases()
	}
	return x.list(len(list), func(b []byte, i int) []byte {
		b = x.schema(b, list[i])
		names := aliases[list[i].Subject]
		if len(names) == 0 {
			return b
		}
		o := object{b[:len(b)-1]} // without its closing brace
		o.list("aliases", len(names), func(b []byte, i int) []byte { return appendString(b, names[i].String()) })
		return o.end()
	})
}

// byID looks {id} up by the rules of subject=.
func (x *exchange) byID() (registry.Stored, error) {
	id, err := x.id()
	if err != nil {
		return registry.Stored{}, err
	}
	return x.view().ByID(x.ctx(), id, x.narrowed())
}

// getByID answers GET /schemas/ids/{id}.
func getByID(x *exchange) error {
	return x.remembered(noCacheValue, func() ([]byte, error) {
		found, err := x.byID()
		v, err := x.shown(found, err)
		if err != nil {
			return nil, err
		}
		return x.withTags(x.schemaString(v, true), found)
	})
}

// getTextByID answers GET /schemas/ids/{id}/schema.
func getTextByID(x *exchange) error {
	return x.remembered(noCacheValue, func() ([]byte, error) {
		return textOf(x.shown(x.byID()))
	})
}

// getSubjectsOfID answers GET /schemas/ids/{id}/subjects.
func getSubjectsOfID(x *exchange) error {
	id, err := x.id()
	if err != nil {
		return err
	}
	page, err := x.page(0)
	if err != nil {
		return err
	}
	d := registry.LiveOnly
	if x.flag("deleted") {
		d = registry.WithDeleted
	}
	list, err := x.server.registry.SubjectsOf(x.ctx(), id, x.narrowed(), d, page)
	if err != nil {
		return err
	}
	return x.subjects(list)
}

// getVersionsOfID answers GET /schemas/ids/{id}/versions.
func getVersionsOfID(x *exchange) error {
	id, err := x.id()
	if err != nil {
		return err
	}
	page, err := x.page(0)
	if err != nil {
		return err
	}
	d := registry.LiveOnly
	if x.flag("deleted") {
		d = registry.WithDeleted
	}
	list, err := x.server.registry.VersionsOf(x.ctx(), id, x.narrowed(), d, page)
	if err != nil {
		return err
	}
	return x.list(len(list), func(b []byte, i int) []byte {
		o := object{append(b, '{')}
		o.always("subject", list[i].Subject.String())
		o.number("version", int64(list[i].Version))
		return o.end()
	})
}

// byGUID looks {guid} up; text that is no GUID is a schema nobody has.
func (x *exchange) byGUID() (registry.Stored, error) {
	g, err := schemas.ParseGUID(x.segment("guid"))
	if err != nil {
		return registry.Stored{}, coded(40403, "schema %s not found: %s", x.segment("guid"), err)
	}
	return x.view().ByGUID(x.ctx(), g)
}

// getByGUID answers GET /schemas/guids/{guid}.
func getByGUID(x *exchange) error {
	return x.remembered(noCacheValue, func() ([]byte, error) {
		v, err := x.shown(x.byGUID())
		if err != nil {
			return nil, err
		}
		return x.schemaString(v, false), nil
	})
}

// getTextByGUID answers our own raw text by GUID. A GUID is the hash of the
// text, so this is the one answer that may be kept for ever.
func getTextByGUID(x *exchange) error {
	return x.remembered([]string{neverEnds}, func() ([]byte, error) {
		v, err := x.byGUID()
		if err != nil {
			return nil, err
		}
		return []byte(v.Source.Text), nil
	})
}

// getIDsOfGUID answers GET /schemas/guids/{guid}/ids; text that is no GUID has
// no ids.
func getIDsOfGUID(x *exchange) error {
	g, err := schemas.ParseGUID(x.segment("guid"))
	if err != nil {
		return x.answer([]byte("[]"))
	}
	list, err := x.server.registry.IDsOf(x.ctx(), g)
	if err != nil {
		return err
	}
	return x.list(len(list), func(b []byte, i int) []byte {
		o := object{append(b, '{')}
		o.always("context", string(list[i].Context))
		o.number("id", int64(list[i].Number))
		return o.end()
	})
}

// listTypes answers GET /schemas/types, in the contract's order.
func listTypes(x *exchange) error {
	known := map[schemas.Type]bool{}
	for _, t := range x.server.registry.Types() {
		known[t] = true
	}
	var list []string
	for _, t := range []schemas.Type{schemas.JSON, schemas.Protobuf, schemas.Avro} {
		if known[t] {
			list = append(list, string(t))
		}
	}
	return x.answer(stringList(list))
}

func (x *exchange) subjects(list []schemas.Subject) error {
	return x.list(len(list), func(b []byte, i int) []byte { return appendString(b, list[i].String()) })
}

// isInvalid tells whether err is a schema that cannot be taken, which a verbose
// compatibility check answers as a verdict.
func isInvalid(err error) (string, bool) {
	var told *registry.Error
	if errors.As(err, &told) && told.Code == registry.CodeSchemaInvalid {
		return told.Error(), true
	}
	var p *problem
	if errors.As(err, &p) && p.code == 42201 {
		return p.message, true
	}
	return "", false
}
