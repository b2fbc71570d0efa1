package gitops

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/compat"
)

// member is a member of a config by its name on the wire.
type member struct {
	name    string
	builtIn string // what counts where nobody says anything
	judges  bool   // whether verdicts depend on it
	get     func(sr.Config) string
	set     func(*sr.Config, string)
	want    func(Settings) string
}

var members = []member{
	{"compatibility", "BACKWARD", true, func(c sr.Config) string { return c.Level }, func(c *sr.Config, v string) { c.Level = v }, func(s Settings) string { return strings.ToUpper(s.Level) }},
	{"compatibilityPolicy", "STRICT", true, func(c sr.Config) string { return c.Policy }, func(c *sr.Config, v string) { c.Policy = v }, func(s Settings) string { return strings.ToUpper(s.Policy) }},
	{"verdictPolicy", "REFERENCE", true, func(c sr.Config) string { return c.VerdictPolicy }, func(c *sr.Config, v string) { c.VerdictPolicy = v }, func(s Settings) string { return strings.ToUpper(s.VerdictPolicy) }},
	{"normalize", "false", false, func(c sr.Config) string {
		if c.Normalize == nil {
			return ""
		}
		return strconv.FormatBool(*c.Normalize)
	}, func(c *sr.Config, v string) { on := v == "true"; c.Normalize = &on }, func(s Settings) string {
		if s.Normalize == nil {
			return ""
		}
		return strconv.FormatBool(*s.Normalize)
	}},
	alias,
}

// alias is set apart from the others: once it stands, what is registered under the
// subject goes to the other one.
var alias = member{"alias", "", false, func(c sr.Config) string { return c.Alias }, func(c *sr.Config, v string) { c.Alias = v }, func(s Settings) string { return s.Alias }}

func memberNamed(name string) member {
	return members[slices.IndexFunc(members, func(m member) bool { return m.name == name })]
}

// wants is what is declared for a member, by the subject or for all.
func (s *subject) wants(name string) string {
	m := memberNamed(name)
	if text := m.want(s.Settings); text != "" {
		return text
	}
	return m.want(s.Defaults)
}

// isAbsent tells whether a scope says nothing itself.
func isAbsent(err error) bool {
	var answer *sr.Error
	return errors.As(err, &answer) && answer.Status == http.StatusNotFound && answer.Code != 0
}

// observeSettings asks for the settings about which something is declared.
func (m *maker) observeSettings(ctx context.Context, s *subject) error {
	own, all := false, false
	for _, one := range members {
		said := one.want(s.Settings) != ""
		own = own || said
		all = all || !said && one.want(s.Defaults) != ""
	}
	if own {
		config, err := m.registry.Config(ctx, s.Name, false)
		switch {
		case err == nil:
			s.own = &config
		case !isAbsent(err):
			return err
		}
	}
	if all {
		config, err := m.registry.Config(ctx, s.Name, true)
		if err != nil && !isAbsent(err) {
			return err
		}
		s.force = &config
	}
	if s.Mode == "" {
		return nil
	}
	mode, err := m.registry.Mode(ctx, s.Name, false)
	if err != nil && !isAbsent(err) {
		return err
	}
	s.mode = mode
	return nil
}

// changes are the members that get another value.
func (s *subject) changes() []Change {
	var list []Change
	for _, one := range members {
		have := ""
		want := one.want(s.Settings)
		switch {
		case want != "" && s.own != nil:
			have = one.get(*s.own)
		case want == "":
			if want = one.want(s.Defaults); want == "" {
				continue
			}
			if have = one.get(*s.force); have == "" {
				have = one.builtIn
			}
		}
		if want != have {
			list = append(list, Change{one.name, have, want})
		}
	}
	return list
}

// judgedOtherwise tells whether the plan changes what the registry judges by.
func (s *subject) judgedOtherwise() bool {
	return slices.ContainsFunc(s.changes(), func(c Change) bool { return memberNamed(c.Name).judges })
}

// settingsSteps are the steps before and after a subject's versions are
// registered.
func (m *maker) settingsSteps(s *subject) (before, after []Step) {
	step := func(a Action, changes []Change, do func(context.Context, *Step) (undo, error)) Step {
		return Step{Action: a, State: Planned, Subject: s.Name.String(), Changes: changes, subject: s.Name, do: do}
	}
	if s.Mode != "" && s.Mode != s.mode {
		mode := step(SetMode, []Change{{"mode", s.mode, s.Mode}}, m.setMode(s))
		// What opens a subject comes first, what closes it last.
		if s.Mode == "READWRITE" {
			before = append(before, mode)
		} else {
			after = append(after, mode)
		}
	}
	if s.exceptions != nil {
		before = append(before, *s.exceptions)
	}
	var plain, other []Change
	for _, c := range s.changes() {
		if c.Name == alias.name {
			other = append(other, c)
		} else {
			plain = append(plain, c)
		}
	}
	if len(plain) > 0 {
		before = append(before, step(Configure, plain, m.setConfig(s, plain)))
	}
	if len(other) > 0 {
		after = append([]Step{step(SetAlias, other, m.setConfig(s, other))}, after...)
	}
	return before, after
}

// except plans to tell the registry of the exceptions that a verdict rests on. It
// is false when the registry knows them already, or keeps none.
func (m *maker) except(ctx context.Context, n *node, v *Verdict) (bool, error) {
	s := n.of
	var wanted []compat.Exception
	for _, f := range v.Findings {
		if f.Accepted == nil {
			continue
		}
		if i := slices.IndexFunc(m.desired.Exceptions, func(e compat.Exception) bool { return e.Fingerprint == f.Fingerprint }); i >= 0 {
			wanted = append(wanted, m.desired.Exceptions[i])
		}
	}
	if len(wanted) == 0 {
		return false, nil
	}
	has, err := m.registry.Exceptions(ctx, s.Name)
	if isForeign(err) {
		s.note("%s: %d breaks are accepted here, and this registry keeps no exceptions: it judges without them", n.declared().Path, len(wanted))
		return false, nil
	}
	if err != nil {
		return false, err
	}
	next := slices.DeleteFunc(slices.Clone(has), func(e sr.Exception) bool { return !e.Until.IsZero() && m.desired.At.After(e.Until) })
	var changes []Change
	for _, e := range exceptionsOf(wanted) {
		i := slices.IndexFunc(next, func(o sr.Exception) bool { return o.Fingerprint == e.Fingerprint })
		switch {
		case i < 0:
			next = append(next, e)
		case next[i].Reason == e.Reason && next[i].Owner == e.Owner && next[i].Until.Equal(e.Until):
			continue
		default:
			next[i] = e
		}
		changes = append(changes, Change{Name: e.Fingerprint, To: "accepted by " + e.Owner + ": " + e.Reason})
	}
	if len(changes) == 0 {
		return false, nil
	}
	s.exceptions = &Step{
		Action: Except, State: Planned, Subject: s.Name.String(), Changes: changes, subject: s.Name,
		do: func(ctx context.Context, _ *Step) (undo, error) {
			return func(ctx context.Context) error { return m.registry.SetExceptions(ctx, s.Name, has) }, m.registry.SetExceptions(ctx, s.Name, next)
		},
	}
	return true, nil
}

// isForeign tells whether a registry does not know one of our own routes.
func isForeign(err error) bool {
	var answer *sr.Error
	return errors.As(err, &answer) && (answer.Status == http.StatusNotFound || answer.Status == http.StatusMethodNotAllowed)
}
