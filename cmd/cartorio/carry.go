package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
)

// pin gives references the versions that the registry answered for their files.
func (j *job) pin() {
	j.pinned = true
	for i := range j.source.References {
		ref := &j.source.References[i]
		use, ours := j.uses[ref.Name]
		if !ours {
			continue
		}
		if use.done.Version == 0 {
			j.pinned = false
			continue
		}
		ref.Version = schemas.Version(use.done.Version)
	}
}

func (p *plan) registration(j *job) sr.Registration {
	return sr.Registration{Source: j.source, Normalize: j.normalize, Metadata: j.metadata}
}

// foresee asks the registry what is there already and what it would refuse.
func (p *plan) foresee(ctx context.Context) {
	for _, j := range p.jobs {
		j.pin()
		if !j.pinned {
			// What it refers to has no version yet, so the registry cannot be
			// asked; it will judge when the time comes.
			if p.g.dryRun {
				p.foreseeUnpinned(ctx, j)
			}
			continue
		}
		found, err := p.client.Lookup(ctx, j.entry.Subject, p.registration(j), false)
		switch {
		case err == nil:
			j.found(found, statusExisted)
			continue
		case errors.Is(err, schemas.ErrSubjectUnknown):
			j.done.Status = statusWould
			continue
		case !unknown(err):
			p.failed(j, err)
			if p.worst > exitNotCompared {
				return
			}
			continue
		}
		answer, err := p.client.CheckAll(ctx, j.entry.Subject, p.registration(j), true)
		switch {
		case err != nil:
			p.failed(j, err)
			if p.worst > exitNotCompared {
				return
			}
		case !answer.Compatible:
			j.done.Status, j.done.Reason = statusRefused, answer.Messages
			p.raise(exitFindings, nil)
		default:
			j.done.Status = statusWould
		}
	}
}

// foreseeUnpinned tells of a schema whose references are new: under a new
// subject it will register, else nobody can say yet.
func (p *plan) foreseeUnpinned(ctx context.Context, j *job) {
	_, err := p.client.Versions(ctx, j.entry.Subject, sr.LiveOnly, sr.Page{})
	switch {
	case errors.Is(err, schemas.ErrSubjectUnknown):
		j.done.Status = statusWould
	case err != nil:
		p.failed(j, err)
	default:
		j.done.Status = statusNotChecked
		j.done.Reason = []string{"it refers to schemas that are not registered yet, so the registry cannot compare it beforehand"}
		p.raise(exitNotCompared, nil)
	}
}

// carryOut registers what is not there, in order, and stops at what cannot go
// on; what does not refer to a refused schema is registered all the same.
func (p *plan) carryOut(ctx context.Context) {
	for _, j := range p.jobs {
		if j.done.Status == statusExisted {
			continue
		}
		j.pin()
		if !j.pinned {
			j.done.Status = statusSkipped
			j.done.Reason = []string{"what it refers to was not registered"}
			continue
		}
		// References that are new now may make a known schema of it.
		if found, err := p.client.Lookup(ctx, j.entry.Subject, p.registration(j), false); err == nil {
			j.found(found, statusExisted)
			continue
		}
		found, err := p.client.Register(ctx, j.entry.Subject, p.registration(j))
		if err != nil {
			p.failed(j, err)
			if p.worst > exitNotCompared {
				return
			}
			continue
		}
		j.found(found, statusRegistered)
	}
}

func (j *job) found(f schemas.Found, status string) {
	j.done.Status, j.done.Version, j.done.ID = status, int(f.Version), f.ID.Number
	if f.GUID != (schemas.GUID{}) {
		j.done.GUID = f.GUID.String()
	}
}

// failed notes an error under its schema and for the exit code.
func (p *plan) failed(j *job, err error) {
	j.done.Status = statusFailed
	if isIncompatible(err) {
		j.done.Status = statusRefused
	}
	var answer *sr.Error
	text := err.Error()
	if errors.As(err, &answer) && answer.Message != "" {
		text = fmt.Sprintf("%s (code %d)", answer.Message, answer.Code)
	}
	j.done.Reason = []string{text}
	code := codeOf(err)
	if code == exitUnreachable || code == exitRefused {
		p.raise(code, fmt.Errorf("registering %s: %w", j.done.Subject, err))
		return
	}
	p.raise(code, nil)
}

// raise keeps the highest code, which is the one that says most.
func (p *plan) raise(code int, err error) {
	if code > p.worst {
		p.worst, p.err = code, err
	}
}

// The entries of a refusal in the contract's form: objects as text, the quotes
// inside them as they are.
var (
	difference = regexp.MustCompile(`(?s)^\{ ?errorType: ?['"](.*?)['"], description: ?['"](.*?)['"](?:, additionalInfo: ?['"].*['"])? ?\}$`)
	comparedTo = regexp.MustCompile(`^\{ ?oldSchemaVersion: ?(\d+) ?\}$`)
	underLevel = regexp.MustCompile(`^\{.*compatibility: ?['"](\w+)['"] ?\}$`)
)

// readable makes sentences of a refusal's entries. The old text is left out: it is
// in the registry. What has another form is told as it came.
func readable(entries []string) []string {
	var out, about []string
	for _, e := range entries {
		if m := difference.FindStringSubmatch(e); m != nil {
			out = append(out, m[1]+": "+m[2])
		} else if m := comparedTo.FindStringSubmatch(e); m != nil {
			about = append(about, "version "+m[1])
		} else if m := underLevel.FindStringSubmatch(e); m != nil {
			about = append(about, "at level "+m[1])
		} else if !strings.HasPrefix(e, "{oldSchema:") {
			out = append(out, e)
		}
	}
	if len(about) > 0 {
		out = append(out, "compared with "+strings.Join(about, " "))
	}
	return out
}

// word makes a text one word of a shell.
func word(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+:/._-@,=", r)
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// print tells what became of each schema.
func (p *plan) print(w io.Writer, colours bool) error {
	if p.g.format == "json" {
		list := make([]registered, 0, len(p.jobs))
		for _, j := range p.jobs {
			if j.done.Status != "" {
				list = append(list, j.done)
			}
		}
		return writeJSON(w, list)
	}
	var b strings.Builder
	colour := map[string]string{statusRegistered: green, statusWould: green, statusRefused: red, statusFailed: red, statusNotChecked: red, statusSkipped: yellow}
	for _, j := range p.jobs {
		d := j.done
		if d.Status == "" {
			continue
		}
		status := paint(colours && colour[d.Status] != "", colour[d.Status], fmt.Sprintf("%-14s", d.Status))
		fmt.Fprintf(&b, "%s %s", status, plain(d.Subject))
		if d.Version > 0 {
			fmt.Fprintf(&b, " version %d id %d", d.Version, d.ID)
		}
		fmt.Fprintf(&b, " (%s)\n", plain(d.Path))
		if p.err != nil && d.Status == statusFailed {
			continue // the reason is told on stderr
		}
		for _, reason := range readable(d.Reason) {
			fmt.Fprintf(&b, "    %s\n", plain(reason))
		}
		if d.Status == statusRefused {
			fmt.Fprintf(&b, "    see: cartorio check %s --against %s\n", word(d.Path), word(registryPrefix+d.Subject))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
