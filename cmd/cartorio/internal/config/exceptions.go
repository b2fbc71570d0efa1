package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cartorio-registry/cartorio/compat"
)

// Exception is one entry of cartorio.exceptions.yaml.
type Exception struct {
	compat.Exception
	Rule, Path   string   // for readers
	Environments []string // where it counts; empty is everywhere
	Line         int
}

// LongestException is how long an exception may hold from now on.
const LongestException = 366 * 24 * time.Hour

// Fingerprint is the form of a finding's fingerprint.
var Fingerprint = regexp.MustCompile(`^[0-9a-f]{32}$`)

// ReadExceptions reads a file of exceptions that was found as name, at the
// moment now.
//
// A day as the end means the end of that day, UTC. Nothing is left out: what
// has ended is in the list too.
func ReadExceptions(name string, text []byte, now time.Time) ([]Exception, []Fault) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, []Fault{{0, strings.TrimPrefix(err.Error(), "yaml: ")}}
	}
	if doc.Kind == 0 {
		return nil, nil
	}
	r := NewReader(name)
	root := doc.Content[0]
	var list []Exception
	r.mapping("the file", root, map[string]func(*yaml.Node){
		"version": func(n *yaml.Node) {
			if n.Value != "1" {
				r.complain(n, "version %q is unknown: this cartorio reads version 1", n.Value)
			}
		},
		"exceptions": func(n *yaml.Node) {
			if n.Kind != yaml.SequenceNode {
				r.complain(n, "exceptions is no list")
				return
			}
			for _, item := range n.Content {
				if e, ok := r.exception(item, now); ok {
					if slices.ContainsFunc(list, func(o Exception) bool {
						return o.Fingerprint == e.Fingerprint && slices.Equal(o.Environments, e.Environments)
					}) {
						r.complain(item, "the fingerprint %s stands there twice", e.Fingerprint)
					}
					e.Source = fmt.Sprintf("%s, line %d", name, e.Line)
					list = append(list, e)
				}
			}
		},
	})
	return list, r.Faults
}

func (r *Reader) exception(item *yaml.Node, now time.Time) (Exception, bool) {
	e := Exception{Line: item.Line}
	until := ""
	before := len(r.Faults)
	r.mapping("exceptions", item, map[string]func(*yaml.Node){
		"fingerprint": func(n *yaml.Node) {
			if r.text("fingerprint", n, &e.Fingerprint) && !Fingerprint.MatchString(e.Fingerprint) {
				r.complain(n, "fingerprint %q is not 32 hexadecimal digits", e.Fingerprint)
			}
		},
		"rule":   func(n *yaml.Node) { r.text("rule", n, &e.Rule) },
		"path":   func(n *yaml.Node) { r.text("path", n, &e.Path) },
		"reason": func(n *yaml.Node) { r.text("reason", n, &e.Reason) },
		"owner":  func(n *yaml.Node) { r.text("owner", n, &e.Owner) },
		"until":  func(n *yaml.Node) { r.text("until", n, &until) },
		"environments": func(n *yaml.Node) {
			for _, one := range r.texts("environments", n) {
				e.Environments = append(e.Environments, one.Text)
			}
		},
	})
	if len(r.Faults) > before {
		return e, false
	}
	for _, must := range []struct{ name, text string }{{"fingerprint", e.Fingerprint}, {"reason", e.Reason}, {"owner", e.Owner}, {"until", until}} {
		if strings.TrimSpace(must.text) == "" {
			r.complain(item, "an exception needs fingerprint, reason, owner and until: %s is missing", must.name)
			return e, false
		}
	}
	end, err := ParseUntil(until)
	if err != nil {
		r.complain(item, "%v", err)
		return e, false
	}
	if end.Sub(now) > LongestException {
		r.complain(item, "until %s is more than a year away: an exception is looked at again within a year", until)
		return e, false
	}
	e.Until = end
	return e, true
}

// ParseUntil reads a day or a moment; a day ends with its last second, UTC.
//
// Errors: neither.
func ParseUntil(text string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.Add(24*time.Hour - time.Second), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	return time.Time{}, fmt.Errorf("until %q is neither a day such as 2026-12-31 nor a moment such as 2026-12-31T12:00:00Z", text)
}
