package api

import (
	"strconv"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// listSubjects answers GET /subjects: all contexts, unless a prefix or the URL
// says otherwise.
func listSubjects(x *exchange) error {
	page, err := x.page(0)
	if err != nil {
		return err
	}
	list, err := x.server.registry.Subjects(x.ctx(), x.prefix(":*:"), x.visible(), page)
	if err != nil {
		return err
	}
	return x.subjects(list)
}

// registration reads a RegisterSchemaRequest.
//
// Errors: those of reading a body; 42201 for an unknown type; 42210 for what
// comes with metadata.
// Source: REST contract 3.6.
func (x *exchange) registration() (registry.Registration, error) {
	q := registry.Registration{Subject: x.subject(), Normalize: x.flag("normalize"), Actor: "anonymous", Request: x.requestID}
	body, err := x.read()
	if err != nil {
		return q, err
	}
	var kind string
	var refused error
	refuse := func(what string) func(value) error {
		return func(v value) error {
			if v.says() && refused == nil {
				refused = later(42210, "leave out the member "+what+": it is")
			}
			return nil
		}
	}
	err = parse(body, map[string]func(value) error{
		"schema":     func(v value) (err error) { q.Source.Text, err = v.text(); return err },
		"schemaType": func(v value) (err error) { kind, err = v.text(); return err },
		"references": func(v value) (err error) { q.Source.References, err = v.references(); return err },
		"version": func(v value) error {
			n, err := v.integer()
			if n != nil {
				q.Version = schemas.Version(*n)
			}
			return err
		},
		"id": func(v value) error {
			n, err := v.integer()
			if n != nil && *n >= 0 {
				q.ID = n
			}
			return err
		},
		"metadata":            typed(refuse("metadata"), value.beObject),
		"ruleSet":             typed(refuse("ruleSet"), value.beObject),
		"schemaTagsToAdd":     typed(refuse("schemaTagsToAdd"), value.beArray),
		"schemaTagsToRemove":  typed(refuse("schemaTagsToRemove"), value.beArray),
		"propagateSchemaTags": typed(refuse("propagateSchemaTags"), value.beBoolean),
	})
	if err != nil {
		return q, err
	}
	if refused != nil {
		return q, refused
	}
	if q.Source.Type, err = schemas.ParseType(kind); err != nil {
		return q, coded(42201, "%s", err)
	}
	return q, nil
}

// typed checks a member's JSON type before it is looked at.
func typed(then func(value) error, check func(value) error) func(value) error {
	return func(v value) error {
		if err := check(v); err != nil {
			return err
		}
		return then(v)
	}
}

func (v value) beObject() error {
	if v.raw[0] != '{' && !v.null() {
		return v.wrong("an object")
	}
	return nil
}

func (v value) beArray() error {
	if v.raw[0] != '[' && !v.null() {
		return v.wrong("an array")
	}
	return nil
}

func (v value) beBoolean() error {
	_, err := v.boolean()
	return err
}

// mostReferences bounds what one request makes us keep; how many a schema may
// have is the domain's limit.
const mostReferences = 20_000

// references reads the list of SchemaReference; whether one is complete is the
// domain's question.
func (v value) references() ([]schemas.Reference, error) {
	var list []schemas.Reference
	err := v.each(mostReferences, func(v value) error {
		if v.null() {
			return v.wrong("an object")
		}
		var r schemas.Reference
		err := v.object(map[string]func(value) error{
			"name":    func(v value) (err error) { r.Name, err = v.text(); return err },
			"subject": func(v value) (err error) { r.Subject, err = v.text(); return err },
			"version": func(v value) error {
				n, err := v.integer()
				if n != nil {
					r.Version = schemas.Version(*n)
				}
				return err
			},
		})
		list = append(list, r)
		return err
	})
	return list, err
}

// lookup answers POST /subjects/{subject}.
func lookup(x *exchange) error {
	q, err := x.registration()
	if err != nil {
		return err
	}
	if err := x.format(q.Source.Type); err != nil {
		return err
	}
	v, err := x.server.registry.Lookup(x.ctx(), q, x.flag("deleted"))
	if err := x.shown(v, err); err != nil {
		return err
	}
	return x.answer(x.schema(nil, v))
}

// deleteSubject answers DELETE /subjects/{subject}.
func deleteSubject(x *exchange) error {
	list, err := x.server.registry.DeleteSubject(x.ctx(), x.subject(), x.flag("permanent"))
	if err != nil {
		return err
	}
	return numbers(x, list)
}

// searchMetadata answers GET /subjects/{subject}/metadata, which comes with
// metadata.
func searchMetadata(*exchange) error { return later(42210, "searching by metadata is") }

// listVersions answers GET /subjects/{subject}/versions.
func listVersions(x *exchange) error {
	page, err := x.page(0)
	if err != nil {
		return err
	}
	d := x.visible()
	if x.flag("deletedAsNegative") {
		d = registry.DeletedAsNegative
	}
	list, err := x.server.registry.Versions(x.ctx(), x.subject(), d, page)
	if err != nil {
		return err
	}
	return numbers(x, list)
}

// register answers POST /subjects/{subject}/versions.
func register(x *exchange) error {
	q, err := x.registration()
	if err != nil {
		return err
	}
	if err := x.format(q.Source.Type); err != nil {
		return err
	}
	if name := q.Subject.Name; x.server.options.RefuseEmptySubject && (name == "" || name == "*") {
		return coded(42208, "the subject %s is refused by this registry's settings: name a topic or a type", strconv.Quote(name))
	}
	q.Force = x.flag("force")
	v, err := x.server.registry.Register(x.ctx(), q)
	if err != nil {
		return err
	}
	return x.answer(registered(x, v))
}

// stored looks {subject} and {version} up.
func (x *exchange) stored() (registry.Stored, error) {
	v, err := x.version()
	if err != nil {
		return registry.Stored{}, err
	}
	return x.server.registry.Version(x.ctx(), x.subject(), v, x.flag("deleted"))
}

// getVersion answers GET /subjects/{subject}/versions/{version}.
func getVersion(x *exchange) error {
	if err := x.tagless(); err != nil {
		return err
	}
	v, err := x.stored()
	if err := x.shown(v, err); err != nil {
		return err
	}
	return x.answer(x.schema(nil, v))
}

// getText answers GET /subjects/{subject}/versions/{version}/schema.
func getText(x *exchange) error {
	return x.remembered(noCacheValue, func() ([]byte, error) {
		v, err := x.stored()
		if err := x.shown(v, err); err != nil {
			return nil, err
		}
		return []byte(v.Source.Text), nil
	})
}

// listReferrers answers GET /subjects/{subject}/versions/{version}/referencedby.
func listReferrers(x *exchange) error {
	v, err := x.version()
	if err != nil {
		return err
	}
	page, err := x.page(mostSchemas)
	if err != nil {
		return err
	}
	list, err := x.server.registry.ReferencedBy(x.ctx(), x.subject(), v, x.flag("deleted"), page)
	if err != nil {
		return err
	}
	ids := make([]int32, len(list))
	for i, id := range list {
		ids[i] = id.Number
	}
	return numbers(x, ids)
}

// deleteVersion answers DELETE /subjects/{subject}/versions/{version}.
func deleteVersion(x *exchange) error {
	v, err := x.version()
	if err != nil {
		return err
	}
	n, err := x.server.registry.DeleteVersion(x.ctx(), x.subject(), v, x.flag("permanent"))
	if err != nil {
		return err
	}
	return x.answer(strconv.AppendInt(nil, int64(n), 10))
}

// tagVersion answers POST /subjects/{subject}/versions/{version}/tags, which
// comes with metadata.
func tagVersion(*exchange) error { return later(42210, "tagging a version is") }
