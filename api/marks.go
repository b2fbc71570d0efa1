package api

import (
	"net/http"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// getMarks answers GET /api/v1/marks: what a migration must carry and the
// contract has no words for.
func getMarks(x *exchange) error {
	m := x.server.registry.Marks()
	o := begin(256)
	o.list("contexts", len(m.Contexts), func(b []byte, i int) []byte {
		c := object{append(b, '{')}
		c.always("context", string(m.Contexts[i].Name))
		c.boolean("listed", m.Contexts[i].Listed)
		c.number("highestId", int64(m.Contexts[i].High))
		return c.end()
	})
	o.list("subjects", len(m.Subjects), func(b []byte, i int) []byte { return appendMarked(b, &m.Subjects[i]) })
	o.list("configs", len(m.Configs), func(b []byte, i int) []byte { return appendString(b, scopeText(m.Configs[i])) })
	o.list("modes", len(m.Modes), func(b []byte, i int) []byte { return appendString(b, scopeText(m.Modes[i])) })
	return x.answer(o.end())
}

// scopeText is a scope as its path has it; the global one, whose path has none,
// is ":.:".
func scopeText(s schemas.Subject) string {
	if isGlobal(s) {
		return ":.:"
	}
	return s.String()
}

func appendMarked(b []byte, m *registry.MarkedSubject) []byte {
	o := object{append(b, '{')}
	o.always("subject", m.Subject.String())
	o.number("highestVersion", int64(m.High))
	o.list("gone", len(m.Gone), func(b []byte, i int) []byte {
		g := object{append(b, '{')}
		g.number("version", int64(m.Gone[i].Version))
		g.always("guid", m.Gone[i].GUID.String())
		g.always("schemaType", string(m.Gone[i].Type))
		return g.end()
	})
	o.list("hidden", len(m.Hidden), func(b []byte, i int) []byte {
		h := object{append(b, '{')}
		h.number("version", int64(m.Hidden[i].Version))
		h.number("by", int64(m.Hidden[i].By))
		return h.end()
	})
	return o.end()
}

// mostMarks bounds what one request makes us keep; a caller sends the rest in
// the next.
const mostMarks = 20_000

// putMarks answers PUT /api/v1/marks. Members that it does not know are ignored,
// so that what GET answers can be sent.
func putMarks(x *exchange) error {
	body, err := x.read()
	if err != nil {
		return err
	}
	all, err := parse(body, "contexts", "subjects")
	if err != nil {
		return err
	}
	var m registry.Marks
	err = all.get("contexts").each(mostMarks, func(v value) error {
		c, err := v.pick("context", "listed", "highestId")
		if err != nil {
			return err
		}
		name, err := schemas.ParseContext(c.text("context"))
		if err != nil {
			return bare(http.StatusBadRequest, err.Error())
		}
		listed, high := c.boolean("listed"), c.integer("highestId")
		held := registry.HeldContext{Name: name, Listed: listed != nil && *listed}
		if high != nil {
			held.High = *high
		}
		m.Contexts = append(m.Contexts, held)
		return c.err
	})
	if err != nil {
		return err
	}
	err = all.get("subjects").each(mostMarks, func(v value) error {
		u, err := readMarked(v)
		m.Subjects = append(m.Subjects, u)
		return err
	})
	if err != nil {
		return err
	}
	if err := x.server.registry.SetMarks(x.authored(), m); err != nil {
		return err
	}
	return x.answer([]byte("{}"))
}

func readMarked(v value) (u registry.MarkedSubject, err error) {
	one, err := v.pick("subject", "highestVersion", "gone", "hidden")
	if err != nil {
		return u, err
	}
	number := func(m *members, name string) schemas.Version {
		if n := m.integer(name); n != nil {
			return schemas.Version(*n)
		}
		return 0
	}
	u.Subject, u.High = schemas.ParseSubject(one.text("subject")), number(one, "highestVersion")
	err = one.get("gone").each(mostMarks, func(v value) error {
		g, err := v.pick("version", "guid", "schemaType")
		if err != nil {
			return err
		}
		gone := registry.Gone{Version: number(g, "version"), Type: schemas.Type(g.text("schemaType"))}
		if g.err != nil {
			return g.err
		}
		if gone.GUID, err = schemas.ParseGUID(g.text("guid")); err != nil {
			return bare(http.StatusBadRequest, err.Error())
		}
		if gone.Type, err = schemas.ParseType(string(gone.Type)); err != nil {
			return bare(http.StatusBadRequest, err.Error())
		}
		u.Gone = append(u.Gone, gone)
		return nil
	})
	if err != nil {
		return u, err
	}
	err = one.get("hidden").each(mostMarks, func(v value) error {
		h, err := v.pick("version", "by")
		if err != nil {
			return err
		}
		u.Hidden = append(u.Hidden, registry.Hidden{Version: number(h, "version"), By: number(h, "by")})
		return h.err
	})
	if err != nil {
		return u, err
	}
	return u, one.err
}

var marksShape = &Shape{Name: "Marks", Type: "object", Members: []Member{
	{"contexts", &Shape{Type: "array", Items: &Shape{Name: "ContextMarks", Type: "object", Members: []Member{
		{"context", stringShape, true, "with its leading dot"},
		{"listed", booleanShape, true, ""},
		{"highestId", integerShape, true, "the highest id ever given; a request can only raise it"},
	}}}, false, ""},
	{"subjects", &Shape{Type: "array", Items: &Shape{Name: "SubjectMarks", Type: "object", Members: []Member{
		{"subject", stringShape, true, ""},
		{"highestVersion", integerShape, true, "the highest number ever given; a request can only raise it"},
		{"gone", &Shape{Type: "array", Items: &Shape{Name: "GoneVersion", Type: "object", Members: []Member{
			{"version", integerShape, true, ""}, {"guid", stringShape, true, ""}, {"schemaType", typeShape, true, ""},
		}}}, false, "numbers that were permanently deleted"},
		{"hidden", &Shape{Type: "array", Items: &Shape{Name: "HiddenVersion", Type: "object", Members: []Member{
			{"version", integerShape, true, ""}, {"by", integerShape, true, "the version that took its place"},
		}}}, false, "soft-deleted numbers whose schema was registered again"},
	}}}, false, "only those whose marks say more than their versions"},
	{"configs", &Shape{Type: "array", Items: stringShape}, false, "the scopes that have a config, :.: being the global one; ignored in a request"},
	{"modes", &Shape{Type: "array", Items: stringShape}, false, "the scopes that have a mode; ignored in a request"},
}}
