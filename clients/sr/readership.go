package sr

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// readershipBody is a request that tells what one consumer reads.
type readershipBody struct {
	Consumer    string     `json:"consumer"`
	Environment string     `json:"environment,omitempty"`
	Reads       []readBody `json:"reads"`
}

type readBody struct {
	Subject  string            `json:"subject"` // without its context
	Context  schemas.Context   `json:"context"`
	Versions []schemas.Version `json:"versions"`
	Accepts  string            `json:"accepts,omitempty"`
	Pinned   schemas.Version   `json:"pinned,omitempty"`
	Seen     string            `json:"seen,omitempty"` // RFC 3339, UTC
	Accepted uint64            `json:"accepted"`
	Rejected uint64            `json:"rejected"`
}

// ReportReadership tells what one consumer reads; with it a *Client is a
// validate.Reporter. It is sent once: a count that may have arrived is not sent
// again by this call.
//
// POST /api/v1/readers
func (c *Client) ReportReadership(ctx context.Context, r schemas.Readership) error {
	b := readershipBody{Consumer: r.Consumer, Environment: r.Environment, Reads: []readBody{}}
	for _, one := range r.Reads {
		in := one.Subject.Context
		if in == "" {
			in = schemas.DefaultContext
		}
		read := readBody{
			Subject: one.Subject.Name, Context: in, Versions: one.Versions, Accepts: one.Accepts, Pinned: one.Pinned,
			Accepted: one.Accepted, Rejected: one.Rejected,
		}
		if read.Versions == nil {
			read.Versions = []schemas.Version{}
		}
		if !one.Seen.IsZero() {
			read.Seen = one.Seen.UTC().Format(time.RFC3339Nano)
		}
		b.Reads = append(b.Reads, read)
	}
	return c.call(ctx, request{method: http.MethodPost, path: "/api/v1/readers", body: b, once: true}, nil)
}

// CanRead gives the registry's verdict on whether one version of a subject
// reads data of another; why says what breaks when it does not. Only Cartório
// answers: other registries compare with what a subject's level asks for, which
// may be the other direction.
//
// POST /api/v1/compare?reader=&writer=
// Errors: wraps schemas.ErrVersionUnknown; ErrUnintelligible when the registry
// cannot compare in one direction.
func (c *Client) CanRead(ctx context.Context, s schemas.Subject, reader, writer schemas.Version) (ok bool, why string, err error) {
	at := func(v schemas.Version) string { return s.String() + "@" + v.String() }
	q := query(url.Values{}).text("reader", at(reader)).text("writer", at(writer))
	r := request{method: http.MethodPost, path: "/api/v1/compare", query: q.values(), body: struct{}{}}
	var b struct {
		Verdict  string `json:"verdict"`
		Compared []struct {
			Reason string `json:"reason"`
		} `json:"compared"`
		Findings []struct {
			Severity string `json:"severity"`
			Message  string `json:"message"`
			Path     string `json:"path"`
		} `json:"findings"`
	}
	if err := c.call(ctx, r, &b); err != nil {
		return false, "", err
	}
	switch b.Verdict {
	case "compatible":
		return true, "", nil
	case "not_checked":
		why = "the registry could not compare them"
		if len(b.Compared) > 0 && b.Compared[0].Reason != "" {
			why += ": " + cut(b.Compared[0].Reason, 500)
		}
		return false, why, nil
	case "breaking":
		breaks := 0
		for _, f := range b.Findings {
			if f.Severity != "breaking" {
				continue
			}
			if breaks++; breaks == 1 {
				why = cut(f.Message, 500)
				if f.Path != "" {
					why += " at " + cut(f.Path, 200)
				}
			}
		}
		if breaks > 1 {
			why += fmt.Sprintf("; and %d more", breaks-1)
		}
		return false, why, nil
	}
	return false, "", &Error{Method: r.method, URL: c.bases[c.good.Load()].url + r.path, Status: http.StatusOK, Message: "the answer has no verdict that is known", Err: schemas.ErrUnintelligible}
}
