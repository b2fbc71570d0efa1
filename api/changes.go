package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

const eventStream = "text/event-stream"

// Bounds of the change feed.
const (
	changesPerPage = 100              // unless a caller asks for another number
	mostStreams    = 256              // readers at once
	heartbeat      = 15 * time.Second // proxies end what is silent for longer
	slowest        = 10 * time.Second // how long a reader may take for what is written at once
)

// wantsEvents tells whether an Accept header names the event stream; wildcards
// mean JSON.
func wantsEvents(lines []string) bool {
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ",") {
			kind, params, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(kind), eventStream) {
				q, given := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
				n, err := strconv.ParseFloat(q, 64)
				return !given || err != nil || n > 0
			}
		}
	}
	return false
}

// after is a revision as text; empty is 0.
func after(what, text string) (registry.Revision, error) {
	if text = strings.TrimSpace(text); text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, notFound(what + " is " + strconv.Quote(text) + ", which is no revision")
	}
	return registry.Revision(n), nil
}

// listChanges answers GET /api/v1/changes with a page.
func listChanges(x *exchange) error {
	from, err := after("the query parameter after", x.text("after"))
	if err != nil {
		return err
	}
	limit, err := x.integer("limit")
	if err != nil {
		return err
	}
	if limit <= 0 {
		limit = changesPerPage
	}
	list, end, err := x.server.registry.Audit(x.ctx(), from, limit)
	if err != nil {
		return err
	}
	o := begin(256 + 256*len(list))
	o.key("changes")
	o.b = appendList(o.b, len(list), func(b []byte, i int) []byte { return appendAudited(b, &list[i]) })
	if len(list) > 0 {
		from = list[len(list)-1].Revision
	}
	o.number("next", int64(from))
	o.number("end", int64(end))
	return x.answer(o.end())
}

// streamChanges answers GET /api/v1/changes as server-sent events until the
// reader goes, the server stops, or the reader is too slow: nothing is kept for
// it but its place in the journal, with which it can come back.
func streamChanges(x *exchange) error {
	what, text := "the header Last-Event-ID", x.request.Header.Get("Last-Event-ID")
	if text == "" {
		what, text = "the query parameter after", x.text("after")
	}
	from, err := after(what, text)
	if err != nil {
		return err
	}
	s := x.server
	if s.streams.Add(1) > mostStreams {
		s.streams.Add(-1)
		x.Header().Set("Retry-After", "60")
		return bare(http.StatusServiceUnavailable, "too many streams of changes are open ("+strconv.Itoa(mostStreams)+"): try again later, or read pages")
	}
	defer s.streams.Add(-1)
	grown := s.registry.Grown()
	list, _, err := s.registry.Audit(x.ctx(), from, changesPerPage)
	if err != nil {
		return err
	}
	out := newStream(x)
	if x.request.Method == http.MethodHead {
		return nil
	}
	tick := time.NewTicker(s.beat)
	defer tick.Stop()
	b := []byte(": changes behind revision " + strconv.FormatUint(uint64(from), 10) + "\n\n")
	for {
		for i := range list {
			b = appendEvent(b, &list[i])
			from = list[i].Revision
		}
		if len(b) > 0 && !out.write(b) {
			return nil
		}
		b = b[:0]
		if len(list) == 0 {
			select {
			case <-grown:
			case <-tick.C:
				b = append(b, ":\n\n"...)
			case <-s.stopping:
				out.write([]byte(": the server is stopping\n\n"))
				return nil
			case <-x.ctx().Done():
				return nil
			}
		}
		grown = s.registry.Grown()
		if list, _, err = s.registry.Audit(x.ctx(), from, changesPerPage); err != nil {
			s.log.Warn("a stream of changes ends", "request", x.requestID, "error", err)
			return nil // half an answer is out
		}
	}
}

// stream writes to a reader that may be slow.
type stream struct {
	*exchange
	control *http.ResponseController
}

// newStream sends the head.
func newStream(x *exchange) stream {
	h := x.Header()
	h["Cache-Control"] = noCacheValue
	h["X-Xss-Protection"] = xssValue
	h.Set("Content-Type", eventStream)
	h.Set("X-Accel-Buffering", "no") // proxies that gather answers must not
	x.done, x.wrote = true, http.StatusOK
	s := stream{x, http.NewResponseController(x.ResponseWriter)}
	// The server's time for a whole request is not for what never ends. A writer
	// without deadlines has nobody slow behind it.
	_ = s.control.SetReadDeadline(time.Time{})
	_ = s.control.SetWriteDeadline(time.Now().Add(x.server.slowest))
	x.WriteHeader(http.StatusOK)
	return s
}

// write tells whether the reader has taken b in time.
func (s stream) write(b []byte) bool {
	_ = s.control.SetWriteDeadline(time.Now().Add(s.server.slowest))
	if _, err := s.Write(b); err != nil {
		return false
	}
	return s.control.Flush() == nil
}

// appendEvent writes a as a server-sent event. Its JSON has no line break.
func appendEvent(b []byte, a *registry.Audited) []byte {
	b = append(b, "id: "...)
	b = strconv.AppendUint(b, uint64(a.Revision), 10)
	b = append(b, "\nevent: "...)
	b = append(b, a.Kind...)
	b = append(b, "\ndata: "...)
	b = appendAudited(b, a)
	return append(b, "\n\n"...)
}

// appendAudited writes one item of the change feed.
func appendAudited(b []byte, a *registry.Audited) []byte {
	o := object{append(b, '{')}
	o.number("revision", int64(a.Revision))
	o.always("time", a.Time.UTC().Format("2006-01-02T15:04:05.000Z"))
	o.always("actor", a.Actor)
	o.text("request", a.Request)
	o.always("kind", a.Kind)
	o.text("context", string(a.Scope.Context))
	if a.Scope.Name != "" {
		o.always("subject", a.Scope.String())
	}
	o.list("versions", len(a.Versions), func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(a.Versions[i]), 10) })
	if a.Kind == registry.KindVersionDeleted || a.Kind == registry.KindSubjectDeleted {
		o.boolean("permanent", a.Permanent)
	}
	o.text("fingerprint", a.Fingerprint)
	o.text("reason", a.Reason)
	o.text("owner", a.Owner)
	if !a.Until.IsZero() {
		o.always("until", a.Until.Format(time.RFC3339))
	}
	side := func(name string, c *registry.Config, m registry.Mode) {
		switch {
		case c != nil:
			o.key(name)
			o.b = append(o.b, configBody(*c, "compatibility")...)
		case m != "":
			o.key(name)
			o.b = append(o.b, modeBody(m)...)
		}
	}
	side("before", a.ConfigBefore, a.ModeBefore)
	side("after", a.ConfigAfter, a.ModeAfter)
	if f := a.Registered; f != nil {
		o.key("after")
		one := object{append(o.b, '{')}
		one.number("version", int64(f.Version))
		one.number("id", int64(f.ID.Number))
		one.always("guid", f.GUID.String())
		one.always("schemaType", string(f.Source.Type))
		one.references(f.Source.References, nil)
		one.metadata("metadata", f.Metadata)
		one.rules("ruleSet", f.RuleSet)
		one.number("ts", f.Time.UnixMilli())
		o.b = one.end()
	}
	return o.end()
}

// references writes a list of references, qualified as seen from a context when
// that is given; left out when empty.
func (o *object) references(list []schemas.Reference, from *schemas.Context) {
	o.list("references", len(list), func(b []byte, i int) []byte {
		r := list[i]
		subject := r.Subject
		if from != nil {
			subject = r.Target(*from).String()
		}
		one := object{append(b, '{')}
		one.always("name", r.Name)
		one.always("subject", subject)
		one.number("version", int64(r.Version))
		return one.end()
	})
}

var (
	changeShape = &Shape{Name: "Change", Type: "object", Members: []Member{
		{"revision", integerShape, true, "of the journal, from 1 without a gap"},
		{"time", stringShape, true, "RFC 3339, UTC, in milliseconds"},
		{"actor", stringShape, true, "anonymous until there are users"},
		{"request", stringShape, false, "the X-Request-ID of the request"},
		{"kind", &Shape{Type: "string", Enum: registry.Kinds()}, true, ""},
		{"context", stringShape, false, ""},
		{"subject", stringShape, false, "absent for a context and for the registry"},
		{"versions", versionsShape, false, "that were deleted, or that the new version hides"},
		{"permanent", booleanShape, false, "of a deletion"},
		{"fingerprint", stringShape, false, "of an exception"},
		{"reason", stringShape, false, "of an exception"},
		{"owner", stringShape, false, "of an exception"},
		{"until", stringShape, false, "of an exception; absent is for ever"},
		{"before", &Shape{Type: "object", Doc: "config or mode"}, false, ""},
		{"after", &Shape{Type: "object", Doc: "config, mode, or the new version without its text; values of sensitive properties are left out"}, false, ""},
	}}
	changesShape = &Shape{Name: "Changes", Type: "object", Members: []Member{
		{"changes", &Shape{Type: "array", Items: changeShape}, true, "in the order of the journal"},
		{"next", integerShape, true, "to be sent as after for the next page"},
		{"end", integerShape, true, "the newest revision there is"},
	}}
)
