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
	list, err := x.view().Subjects(x.ctx(), x.prefix(":*:"), x.visible(), page)
	if err != nil {
		return err
	}
	return x.subjects(list)
}

// registration reads a RegisterSchemaRequest.
//
// Errors: those of reading a body; 42201 for an unknown type.
// Source: REST contract 3.6.
func (x *exchange) registration() (registry.Registration, error) {
	q := registry.Registration{Subject: x.subject(), Normalize: x.flag("normalize")}
	body, err := x.read()
	if err != nil {
		return q, err
	}
	m, err := parse(body, registrationMembers...)
	if err != nil {
		return q, err
	}
	q.Source.Text = m.text("schema")
	kind := m.text("schemaType")
	q.Source.References = m.references("references")
	if n := m.integer("version"); n != nil {
		q.Version = schemas.Version(*n)
	}
	if n := m.integer("id"); n != nil && *n >= 0 {
		q.ID = n
	}
	q.Metadata = m.metadata("metadata")
	q.RuleSet = m.rules("ruleSet")
	q.AddTags, q.RemoveTags = m.tags("schemaTagsToAdd"), m.tags("schemaTagsToRemove")
	propagate := m.boolean("propagateSchemaTags")
	q.PropagateTags = propagate != nil && *propagate
	if m.err != nil {
		return q, m.err
	}
	if q.Source.Type, err = schemas.ParseType(kind); err != nil {
		return q, coded(42201, "%s", err)
	}
	return q, nil
}

var registrationMembers = []string{"schema", "schemaType", "references", "version", "id", "metadata", "ruleSet", "schemaTagsToAdd", "schemaTagsToRemove", "propagateSchemaTags"}

// lookup answers POST /subjects/{subject}.
func lookup(x *exchange) error {
	q, err := x.registration()
	if err != nil {
		return err
	}
	v, err := x.shown(x.server.registry.Lookup(x.ctx(), q, x.flag("deleted")))
	if err != nil {
		return err
	}
	return x.answer(x.schema(nil, v))
}

// deleteSubject answers DELETE /subjects/{subject}.
func deleteSubject(x *exchange) error {
	list, err := x.server.registry.DeleteSubject(x.authored(), x.subject(), x.flag("permanent"))
	if err != nil {
		return err
	}
	return numbers(x, list)
}

// searchMetadata answers GET /subjects/{subject}/metadata: key and value are
// paired by their place, what is left over says nothing.
func searchMetadata(x *exchange) error {
	keys, values := x.params()["key"], x.params()["value"]
	want := map[string]string{}
	for i := range min(len(keys), len(values)) {
		want[keys[i]] = values[i]
	}
	v, err := x.shown(x.server.registry.WithMetadata(x.ctx(), x.subject(), want, x.flag("deleted")))
	if err != nil {
		return err
	}
	return x.answer(x.schema(nil, v))
}

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
	list, err := x.view().Versions(x.ctx(), x.subject(), d, page)
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
	if name := q.Subject.Name; x.server.options.RefuseEmptySubject && (name == "" || name == "*") {
		return coded(42208, "the subject %s is refused by this registry's settings: name a topic or a type", strconv.Quote(name))
	}
	q.Force = x.flag("force")
	v, err := x.shown(x.server.registry.Register(x.authored(), q))
	x.server.metrics.registered(v.Fresh, err)
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
	return x.view().Version(x.ctx(), x.subject(), v, x.flag("deleted"))
}

// getVersion answers GET /subjects/{subject}/versions/{version}.
func getVersion(x *exchange) error {
	found, err := x.stored()
	v, err := x.shown(found, err)
	if err != nil {
		return err
	}
	body, err := x.withTags(x.schema(nil, v), found)
	if err != nil {
		return err
	}
	return x.answer(body)
}

// getText answers GET /subjects/{subject}/versions/{version}/schema.
func getText(x *exchange) error {
	return x.remembered(noCacheValue, func() ([]byte, error) {
		return textOf(x.shown(x.stored()))
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
	n, err := x.server.registry.DeleteVersion(x.authored(), x.subject(), v, x.flag("permanent"))
	if err != nil {
		return err
	}
	return x.answer(strconv.AppendInt(nil, int64(n), 10))
}
