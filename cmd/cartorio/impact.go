package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/report"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// impact asks who reads a subject, and what becomes of them when the new version
// is written.
func (h *history) impact(ctx context.Context, subject schemas.Subject, q compat.Question, told compat.Report) error {
	if h.client == nil || !changes(told) {
		return nil
	}
	list, err := h.readers(ctx, subject)
	if err != nil {
		return err
	}
	number := schemas.Version(0)
	known := map[schemas.Version]schemas.Schema{}
	for _, old := range q.History {
		number = max(number, old.Version)
		if old.Schema != nil {
			known[old.Version] = old.Schema
		}
	}
	h.consumers = append(h.consumers, compat.Impacts(q, number+1, impactsOf(list), func(v schemas.Version) (schemas.Schema, error) {
		if s := known[v]; s != nil {
			return s, nil
		}
		return h.schema(ctx, subject, v)
	})...)
	return nil
}

// readers asks who reads a subject. A registry that keeps no readers is asked once.
func (h *history) readers(ctx context.Context, subject schemas.Subject) ([]schemas.Readership, error) {
	if h.deaf {
		return nil, nil
	}
	list, err := h.client.Readers(ctx, subject)
	var answer *sr.Error
	switch {
	case unknown(err):
		return nil, nil
	case errors.Is(err, schemas.ErrUnintelligible), errors.Is(err, schemas.ErrRefused), errors.As(err, &answer) && (answer.Status == http.StatusNotFound || answer.Status == http.StatusMethodNotAllowed):
		h.deaf = true
		return nil, nil
	}
	return list, err
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

// readersOf asks the registry who reads what changed between two trees, as
// registering the head would change it. The verdict of a change does not depend on
// it, so that there a registry that cannot be asked ends no run and what is missing
// is told; that of a deletion does.
func (a *app) readersOf(ctx context.Context, c *checking, head *side, results []result) error {
	client, err := dial(c.registry, a.config.Auth)
	if err != nil {
		return err
	}
	defer client.Close()
	h := &history{app: a, client: client, past: client, head: head, label: registryPrefix}
	if err := h.removed(ctx, c.gate, results); err != nil {
		return err
	}
	for _, r := range results {
		if r.pair.New == nil || r.broken != nil || r.pair.Err != nil || !changes(r.report) {
			continue
		}
		if err := h.impactOn(ctx, r); err != nil {
			if ctx.Err() != nil {
				return failf(exitNotCompared, "asking who reads %s: %w", r.pair.New.Subject, ctx.Err())
			}
			c.unread = append(c.unread, fmt.Sprintf("who reads %s is not known: %s", r.pair.New.Subject, err))
			if code := codeOf(err); code == exitUnreachable || code == exitRefused {
				break // it would answer no other question either
			}
		}
		if h.deaf {
			break
		}
	}
	if h.deaf {
		c.unread = append(c.unread, "who reads the subjects is not known: the registry keeps no readers")
	}
	c.consumers = h.consumers
	return nil
}

// impactOn asks for one file of a tree.
func (h *history) impactOn(ctx context.Context, r result) error {
	subject := r.pair.New.Subject
	next, err := h.now(ctx, r.pair.New)
	if err != nil {
		return err
	}
	versions, err := h.versions(ctx, subject, compat.Backward)
	switch {
	case err != nil:
		return err
	case len(versions) == 0 && r.pair.Old != nil:
		// It may know it by another name: see --subject.
		return fmt.Errorf("the registry has no subject %s", subject)
	case len(versions) == 0:
		return nil // nobody reads what is new
	}
	q := compat.Question{Checkers: allCheckers(), Subject: r.report.Subject, Next: next, History: []compat.Old{{Version: versions[0]}}}
	return h.impact(ctx, subject, q, r.report)
}

// readers prints who is hurt, by subject.
func (t *text) readers(doc compat.Document) {
	for _, one := range report.Consumers(doc) {
		fmt.Fprintf(&t.b, "%s: %s\n", t.paint(bold, plain(one.Subject)), plain(one.Summary()))
		for _, c := range one.Hurt {
			who := c.Who
			if c.Where != "" {
				who += " in " + c.Where
			}
			if c.Seen != "" {
				who += ", last message " + c.Seen
			}
			fmt.Fprintf(&t.b, "    %s: %s: %s\n", plain(who), t.paint(red, c.What), plain(c.Why))
		}
	}
}
