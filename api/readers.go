package api

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// postReaders answers POST /api/v1/readers: what one consumer reads. A report is
// kept as far as it can be, since a consumer would only send the rest again.
func postReaders(x *exchange) error {
	body, err := x.read()
	if err != nil {
		return err
	}
	m, err := parse(body, "consumer", "environment", "reads")
	if err != nil {
		return err
	}
	told := schemas.Readership{Consumer: m.text("consumer"), Environment: m.text("environment")}
	if m.err != nil {
		return m.err
	}
	if err := m.get("reads").each(registry.MostReads, func(v value) error {
		one, err := x.readRead(v)
		told.Reads = append(told.Reads, one)
		return err
	}); err != nil {
		return err
	}
	kept, passed, err := x.server.registry.ReportReadership(x.ctx(), told)
	if err != nil {
		return err
	}
	o := begin(32)
	o.number("kept", int64(kept))
	o.number("passed", int64(passed))
	return x.answer(o.end())
}

func (x *exchange) readRead(v value) (r schemas.SubjectRead, err error) {
	m, err := v.pick("subject", "context", "versions", "accepts", "pinned", "seen", "accepted", "rejected")
	if err != nil {
		return r, err
	}
	// The subject is a name inside the context, or qualified where none is given.
	name := m.text("subject")
	if in := m.text("context"); in != "" {
		context, err := schemas.ParseContext(in)
		if err != nil {
			return r, bare(http.StatusBadRequest, err.Error())
		}
		r.Subject = schemas.Subject{Context: context, Name: name}
	} else {
		r.Subject = schemas.ParseSubject(qualify(x.context, name))
	}
	r.Accepts = m.text("accepts")
	if n := m.integer("pinned"); n != nil {
		r.Pinned = schemas.Version(*n)
	}
	r.Accepted, r.Rejected = m.count("accepted"), m.count("rejected")
	seen := m.text("seen")
	if m.err != nil {
		return r, m.err
	}
	if seen != "" {
		if r.Seen, err = time.Parse(time.RFC3339Nano, seen); err != nil {
			return r, bare(http.StatusBadRequest, "seen '"+seen+"' is no moment as RFC 3339 has it, such as 2026-12-31T23:59:59Z")
		}
	}
	err = m.get("versions").each(registry.MostReads, func(v value) error {
		n, err := strconv.ParseInt(string(v.raw), 10, 32)
		if err != nil {
			return v.wrong("a version number")
		}
		r.Versions = append(r.Versions, schemas.Version(n))
		return nil
	})
	return r, err
}

// count is a whole number from 0; null and absent are 0.
func (m *members) count(name string) uint64 {
	v := m.get(name)
	if v.null() {
		return 0
	}
	n, err := strconv.ParseUint(string(v.raw), 10, 64)
	if err != nil {
		m.fail(v.wrong("a whole number from 0"))
	}
	return n
}

// getReaders answers GET /api/v1/readers.
func getReaders(x *exchange) error {
	list, err := x.server.registry.Readers(x.ctx())
	if err != nil {
		return err
	}
	consumer, environment := x.text("consumer"), x.text("environment")
	list = slices.DeleteFunc(list, func(r registry.Reader) bool {
		return consumer != "" && r.Consumer != consumer || environment != "" && r.Environment != environment
	})
	return x.answerReaders(list)
}

// getReadersOfSubject answers GET /api/v1/subjects/{subject}/readers.
func getReadersOfSubject(x *exchange) error {
	list, err := x.server.registry.ReadersOf(x.ctx(), x.subject())
	if err != nil {
		return err
	}
	environment := x.text("environment")
	if environment != "" {
		list = slices.DeleteFunc(list, func(r registry.Reader) bool { return r.Environment != environment })
	}
	return x.answerReaders(list)
}

// answerReaders writes each consumer once, with all that it reads.
func (x *exchange) answerReaders(list []registry.Reader) error {
	type who struct{ environment, consumer string }
	reads := map[who][]*registry.Reader{}
	var order []who
	for i := range list {
		w := who{list[i].Environment, list[i].Consumer}
		if reads[w] == nil {
			order = append(order, w)
		}
		reads[w] = append(reads[w], &list[i])
	}
	slices.SortFunc(order, func(a, b who) int {
		switch {
		case a == b:
			return 0
		case a.environment < b.environment || a.environment == b.environment && a.consumer < b.consumer:
			return -1
		}
		return 1
	})
	o := begin(64 + 256*len(list))
	o.key("readers")
	o.b = appendList(o.b, len(order), func(b []byte, i int) []byte {
		c := object{append(b, '{')}
		c.always("consumer", order[i].consumer)
		c.text("environment", order[i].environment)
		mine := reads[order[i]]
		c.key("reads")
		c.b = appendList(c.b, len(mine), func(b []byte, i int) []byte { return appendReader(b, mine[i]) })
		return c.end()
	})
	return x.answer(o.end())
}

func appendReader(b []byte, r *registry.Reader) []byte {
	moment := func(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
	o := object{append(b, '{')}
	o.always("subject", r.Subject.Name)
	o.always("context", string(r.Subject.Context))
	o.key("versions")
	o.b = appendList(o.b, len(r.Uses), func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(r.Uses[i].Version), 10) })
	o.text("accepts", r.Accepts)
	if r.Pinned != 0 {
		o.number("pinned", int64(r.Pinned))
	}
	if seen := r.Seen(); !seen.IsZero() {
		o.always("seen", moment(seen))
	}
	o.always("told", moment(r.Told))
	o.list("uses", len(r.Uses), func(b []byte, i int) []byte {
		u := object{append(b, '{')}
		u.number("version", int64(r.Uses[i].Version))
		u.always("seen", moment(r.Uses[i].Seen))
		return u.end()
	})
	o.number("accepted", int64(r.Accepted)) //nolint:gosec // the store keeps 63 bits
	o.number("rejected", int64(r.Rejected)) //nolint:gosec // likewise
	return o.end()
}

var (
	environmentParam = Param{"environment", "string", "only consumers that run there", nil}
	readMembers      = []Member{
		{"subject", stringShape, true, "its name inside the context; in a request without context it may be qualified"},
		{"context", stringShape, false, "with its leading dot; always in answers"},
		{"versions", versionsShape, false, "of which messages came, always in answers; in a request none says that it only declares"},
		{"accepts", stringShape, false, "the range that it declares to read, as 1..3; absent is any"},
		{"pinned", integerShape, false, "the version that payloads are read with; absent is the writer's own"},
		{"seen", stringShape, false, "RFC 3339, when the newest of the messages came"},
		{"accepted", integerShape, false, "in a request: messages since the last report"},
		{"rejected", integerShape, false, "likewise"},
	}
	readershipShape = &Shape{Name: "Readership", Type: "object", Members: []Member{
		{"consumer", stringShape, true, "the group or service, 255 bytes at most"},
		{"environment", stringShape, false, "where it runs"},
		{"reads", &Shape{Type: "array", Items: &Shape{Name: "SubjectRead", Type: "object", Members: readMembers}}, false, "10,000 declarations and versions at most"},
	}}
	readershipKeptShape = &Shape{Name: "ReadershipKept", Type: "object", Members: []Member{
		{"kept", integerShape, true, "reads that were kept"},
		{"passed", integerShape, true, "declarations and versions that were not: of what the registry never had, or beyond what it has room for"},
	}}
	readersShape = &Shape{Name: "Readers", Type: "object", Members: []Member{
		{"readers", &Shape{Type: "array", Items: &Shape{Name: "Reader", Type: "object", Members: []Member{
			{"consumer", stringShape, true, ""},
			{"environment", stringShape, false, ""},
			{"reads", &Shape{Type: "array", Items: &Shape{Name: "ReaderRead", Type: "object", Members: join(readMembers, []Member{
				{"told", stringShape, true, "RFC 3339, when the consumer last said so"},
				{"uses", &Shape{Type: "array", Items: &Shape{Name: "VersionUse", Type: "object", Members: []Member{
					{"version", integerShape, true, ""}, {"seen", stringShape, true, "RFC 3339, when the newest message of it came"},
				}}}, false, ""},
			})}}, true, ""},
		}}}, true, "by environment and consumer; who has told nothing for 30 days is not there any more"},
	}}
)
