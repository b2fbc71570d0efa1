package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// compare answers POST /api/v1/compare: the findings document of any two texts,
// versions or subjects.
func compare(x *exchange) error {
	p, err := x.pair()
	if err != nil {
		return err
	}
	report, advice, err := x.server.registry.Compare(x.ctx(), p)
	if err != nil {
		return err
	}
	d := compat.NewDocument("cartorio "+orElse(x.server.options.Version, "unknown"), report)
	if advice != nil {
		d.Advice = []compat.Advice{*advice}
	}
	if x.flag("impact") {
		if d.Consumers, err = x.server.registry.Impact(x.ctx(), p); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		return err
	}
	x.Header().Set(risksHeader, strconv.Itoa(report.Risks))
	return x.answer(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// pair reads what is to be compared. With reader= and writer= only that one
// direction is asked; they name the body's sides, or versions of their own.
func (x *exchange) pair() (p registry.Pair, err error) {
	reader, oneWay := x.given("reader")
	writer, both := x.given("writer")
	if oneWay != both {
		return p, bare(http.StatusBadRequest, "reader and writer are given together: each is old, new, or SUBJECT@VERSION")
	}
	p.Level, p.Advise = compat.Full, x.flag("advise")
	named := oneWay && !isSide(reader) && !isSide(writer)
	body, err := x.read()
	if err != nil {
		// Two named versions need no body.
		if empty, ok := err.(*problem); !named || !ok || empty.status != http.StatusUnprocessableEntity { //nolint:errorlint // read answers it bare
			return p, err
		}
		body = []byte("{}")
	}
	m, err := parse(body, "old", "new", "subject", "level", "compatibilityPolicy", "verdictPolicy")
	if err != nil {
		return p, err
	}
	if p.Old, err = x.side(m.get("old")); err != nil {
		return p, err
	}
	if p.New, err = x.side(m.get("new")); err != nil {
		return p, err
	}
	subject, level, policy, verdictPolicy := m.text("subject"), m.text("level"), m.text("compatibilityPolicy"), m.text("verdictPolicy")
	if m.err != nil {
		return p, m.err
	}
	if subject != "" {
		p.Subject = schemas.ParseSubject(qualify(x.context, subject))
	}
	if level != "" {
		if p.Level, err = compat.ParseLevel(level); err != nil {
			return p, coded(42203, "%s", err)
		}
	}
	if policy != "" {
		one, err := compat.ParsePolicy(policy)
		if err != nil {
			return p, bare(http.StatusBadRequest, "the member /compatibilityPolicy: "+err.Error())
		}
		p.Policy = &one
	}
	if verdictPolicy != "" {
		one, err := compat.ParseVerdictPolicy(verdictPolicy)
		if err != nil {
			return p, bare(http.StatusBadRequest, "the member /verdictPolicy: "+err.Error())
		}
		p.VerdictPolicy = &one
	}
	if oneWay {
		return p, x.direct(&p, reader, writer)
	}
	return p, nil
}

// direct leaves one direction of a pair. A reader or writer that is no side of
// the body takes the place of one: a reader's is the new side unless the writer
// is that.
func (x *exchange) direct(p *registry.Pair, reader, writer string) error {
	if reader == writer && isSide(reader) {
		return bare(http.StatusBadRequest, "reader and writer are the same side: say old and new")
	}
	p.Level = compat.Backward
	if reader == "old" || writer == "new" {
		p.Level = compat.Forward
	}
	for _, one := range []struct {
		named string
		side  *registry.Side
	}{{reader, pick(p, p.Level == compat.Forward)}, {writer, pick(p, p.Level == compat.Backward)}} {
		if isSide(one.named) {
			continue
		}
		at := strings.LastIndexByte(one.named, '@')
		if at <= 0 {
			return bare(http.StatusBadRequest, "reader or writer is "+strconv.Quote(one.named)+", which is none of old, new, SUBJECT@VERSION")
		}
		v, err := schemas.ParseVersion(one.named[at+1:])
		if err != nil {
			return coded(42202, "%s", err)
		}
		*one.side = registry.Side{Subject: schemas.ParseSubject(qualify(x.context, one.named[:at])), Version: v}
	}
	return nil
}

func pick(p *registry.Pair, old bool) *registry.Side {
	if old {
		return &p.Old
	}
	return &p.New
}

func isSide(name string) bool { return name == "old" || name == "new" }

// side reads one side: a text as a registration has it, or subject and version.
func (x *exchange) side(v value) (s registry.Side, err error) {
	if v.null() {
		return s, nil
	}
	m, err := v.pick("schema", "schemaType", "references", "subject", "version")
	if err != nil {
		return s, err
	}
	s.Source.Text = m.text("schema")
	kind := m.text("schemaType")
	s.Source.References = m.references("references")
	subject := m.text("subject")
	if n := m.get("version"); !n.null() && n.raw[0] == '"' {
		if s.Version, err = schemas.ParseVersion(m.text("version")); err != nil {
			return s, coded(42202, "%s", err)
		}
	} else if number := m.integer("version"); number != nil {
		if s.Version = schemas.Version(*number); s.Version == 0 {
			return s, coded(42202, "the member %s is 0: a number from 1, \"latest\" or -1 is expected", n.at())
		}
	}
	if m.err != nil {
		return s, m.err
	}
	s.Subject = schemas.ParseSubject(qualify(x.context, subject))
	if s.Source.Type, err = schemas.ParseType(kind); err != nil {
		return s, coded(42201, "%s", err)
	}
	return s, nil
}
