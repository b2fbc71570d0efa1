package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// impact asks who reads a subject, and what becomes of them when the new version
// is written. A registry that keeps no readers is asked once.
func (h *history) impact(ctx context.Context, subject schemas.Subject, q compat.Question, report compat.Report) error {
	if h.client == nil || h.deaf || !changes(report) {
		return nil
	}
	list, err := h.client.Readers(ctx, subject)
	var answer *sr.Error
	switch {
	case unknown(err):
		return nil
	case errors.Is(err, schemas.ErrUnintelligible), errors.Is(err, schemas.ErrRefused), errors.As(err, &answer) && (answer.Status == http.StatusNotFound || answer.Status == http.StatusMethodNotAllowed):
		h.deaf = true
		return nil
	case err != nil:
		return err
	}
	number := schemas.Version(0)
	known := map[schemas.Version]schemas.Schema{}
	for _, old := range q.History {
		number = max(number, old.Version)
		known[old.Version] = old.Schema
	}
	h.consumers = append(h.consumers, compat.Impacts(q, number+1, impactsOf(list), func(v schemas.Version) (schemas.Schema, error) {
		if s := known[v]; s != nil {
			return s, nil
		}
		return h.schema(ctx, subject, v)
	})...)
	return nil
}

// changes tells whether the new side is another schema than the newest version.
func changes(r compat.Report) bool {
	return len(r.Compared) > 0 && (!r.Compatible || len(r.Compared[0].Changes)+len(r.Compared[0].Findings) > 0)
}

// impactsOf are consumers as they are judged.
func impactsOf(list []schemas.Readership) []compat.Impact {
	var out []compat.Impact
	for _, one := range list {
		for _, read := range one.Reads {
			i := compat.Impact{Subject: read.Subject.String(), Consumer: one.Consumer, Environment: one.Environment, Accepts: read.Accepts, Pinned: read.Pinned, Versions: read.Versions}
			if i.Versions == nil {
				i.Versions = []schemas.Version{}
			}
			if !read.Seen.IsZero() {
				i.Seen = read.Seen.UTC().Format(time.RFC3339)
			}
			out = append(out, i)
		}
	}
	return out
}

// mostImpactRemarks bounds the lines about consumers; the JSON form has all.
const mostImpactRemarks = 20

// impactRemarks tell which consumers a change would hurt.
func impactRemarks(list []compat.Impact) []string {
	var lines []string
	hurt, fine := 0, 0
	for _, i := range list {
		text := i.Remark()
		switch {
		case text == "":
			fine++
		case len(lines) < mostImpactRemarks:
			lines = append(lines, text)
			hurt++
		default:
			hurt++
		}
	}
	if more := hurt - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("%s more are hurt: the form json has all", plural(more, "consumer", "consumers")))
	}
	if hurt > 0 && fine > 0 {
		lines = append(lines, plural(fine, "consumer reads on", "consumers read on"))
	}
	return lines
}
