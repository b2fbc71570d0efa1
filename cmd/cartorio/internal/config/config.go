// Package config reads what cartorio.yaml says beside the settings of commands,
// and cartorio.exceptions.yaml.
//
// It knows the keys and their values, never what they do: a [File] is data. A
// key or value that is not known is a fault with its line; nothing is ignored.
// Where files are found, and which setting wins, is the caller's.
//
// Start with [NewReader].
package config

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// File is a configuration. The zero value says nothing.
type File struct {
	Name         string // as it was found; empty when there is none
	Subjects     []Subject
	Defaults     Choices
	Check        Check
	Severity     []Severity
	Stability    []Stability
	Gate         Gate
	Scope        Scope
	Lint         Lint
	Environments []Environment
	Context      string // registry.context: of subjects that name none
	Auth         Auth
}

// Choices are what may be chosen for all subjects or for one; empty is not said.
type Choices struct {
	Level, Policy, VerdictPolicy, Category string
	Normalize                              *bool
}

// Check narrows and loosens the gate. Paths are patterns of [folder.Match], seen
// from the configuration's folder.
type Check struct {
	Use, Except    []Entry // rules, or the beginning of rules before a "*"
	Ignore         []Entry // paths
	IgnoreOnly     []Only
	IgnoreUnstable *Entry // Protobuf packages such as acme.v1beta1; nil for no
}

// Entry is a value with the line where it stands.
type Entry struct {
	Text string
	Line int
}

// Only is a rule that does not count under some paths.
type Only struct {
	Rule  Entry
	Paths []string
}

// Severity is what a rule is shown as: breaking, risk, note or off.
type Severity struct {
	Rule Entry
	To   string
}

// Stability is how settled the subjects or packages of a pattern are.
type Stability struct {
	Of    Entry  // a subject or package, or a glob of them
	Level string // draft, alpha, beta or stable
}

// Gate is about the outcome of a check.
type Gate struct {
	FailOn             string // breaking or risk; empty is not said
	Comment            *bool
	Annotations        *bool
	MaxAnnotations     int // 0 is not said
	RequireVersionBump bool
}

// Scope is what of a registry this repository owns.
type Scope struct{ Prefix, Pattern string }

// Lint is for the command of that name.
type Lint struct{ Use, Except, Ignore []Entry }

// Environment is a registry by name.
type Environment struct {
	Name, URL, Context string
	Line               int
}

// Auth names environment variables, never secrets.
type Auth struct{ User, Password, Token string }

// Fault is what is wrong with a line.
type Fault struct {
	Line int
	Text string
}

// Reader gathers a File key by key.
type Reader struct {
	File   File
	Faults []Fault
}

// NewReader begins a configuration that was found as name.
func NewReader(name string) *Reader { return &Reader{File: File{Name: name}} }

func (r *Reader) complain(n *yaml.Node, format string, args ...any) {
	r.Faults = append(r.Faults, Fault{n.Line, fmt.Sprintf(format, args...)})
}

// keys says what reads each key; those of deeper levels are read by these.
var keys = map[string]func(*Reader, *yaml.Node){
	"subjects":              (*Reader).subjects,
	"defaults":              func(r *Reader, n *yaml.Node) { r.mapping("defaults", n, r.choices(&r.File.Defaults)) },
	"check.use":             func(r *Reader, n *yaml.Node) { r.File.Check.Use = r.rules("check.use", n) },
	"check.except":          func(r *Reader, n *yaml.Node) { r.File.Check.Except = r.rules("check.except", n) },
	"check.ignore":          func(r *Reader, n *yaml.Node) { r.File.Check.Ignore = r.paths("check.ignore", n) },
	"check.ignore_only":     (*Reader).ignoreOnly,
	"check.ignore_unstable": (*Reader).ignoreUnstable,
	"severity":              (*Reader).severity,
	"stability":             (*Reader).stability,
	"gate":                  (*Reader).gate,
	"scope":                 (*Reader).scope,
	"lint.use":              func(r *Reader, n *yaml.Node) { r.File.Lint.Use = r.rules("lint.use", n) },
	"lint.except":           func(r *Reader, n *yaml.Node) { r.File.Lint.Except = r.rules("lint.except", n) },
	"lint.ignore":           func(r *Reader, n *yaml.Node) { r.File.Lint.Ignore = r.paths("lint.ignore", n) },
	"environments":          (*Reader).environments,
	"registry.context":      func(r *Reader, n *yaml.Node) { r.context("registry.context", n, &r.File.Context) },
	"registry.auth":         (*Reader).auth,
}

// Keys lists the keys that Take reads, sorted.
func Keys() []string {
	var list []string
	for k := range keys {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// Take reads the value of a dotted key, and tells whether the key is one of
// these.
func (r *Reader) Take(key string, value *yaml.Node) bool {
	read, ok := keys[key]
	if ok && value.Tag != "!!null" {
		read(r, value)
	}
	return ok
}

// mapping reads the members of a mapping, each by its own function.
func (r *Reader) mapping(key string, n *yaml.Node, members map[string]func(*yaml.Node)) {
	r.members(key, n, func(name string, at, value *yaml.Node) {
		read, ok := members[name]
		if !ok {
			known := make([]string, 0, len(members))
			for m := range members {
				known = append(known, m)
			}
			slices.Sort(known)
			r.complain(at, "%s: %s is not known: there is %s", key, name, strings.Join(known, ", "))
			return
		}
		if value.Tag != "!!null" {
			read(value)
		}
	})
}

func (r *Reader) members(key string, n *yaml.Node, each func(name string, at, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.complain(n, "%s holds no keys", key)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		at, value := n.Content[i], n.Content[i+1]
		switch {
		case seen[at.Value]:
			r.complain(at, "%s: %s stands there twice", key, at.Value)
		case value.Kind == yaml.AliasNode:
			r.complain(value, "%s: aliases are not understood: write the value", key)
		default:
			each(at.Value, at, value)
		}
		seen[at.Value] = true
	}
}

func (r *Reader) text(key string, n *yaml.Node, to *string) bool {
	if n.Kind != yaml.ScalarNode {
		r.complain(n, "%s must be one value", key)
		return false
	}
	*to = n.Value
	return true
}

// context reads the name of a context, with its leading dot or without.
func (r *Reader) context(key string, n *yaml.Node, to *string) {
	var text string
	if !r.text(key, n, &text) {
		return
	}
	c, err := schemas.ParseContext(text)
	if err != nil {
		r.complain(n, "%s: %v", key, err)
	}
	*to = string(c)
}

func (r *Reader) texts(key string, n *yaml.Node) []Entry {
	list := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		list = n.Content
	}
	var out []Entry
	for _, item := range list {
		e := Entry{Line: item.Line}
		if r.text(key, item, &e.Text) {
			out = append(out, e)
		}
	}
	return out
}

func (r *Reader) choice(key string, n *yaml.Node, to *string, words ...string) {
	var text string
	if !r.text(key, n, &text) {
		return
	}
	if !slices.Contains(words, text) {
		r.complain(n, "%s: %q is none of %s", key, text, strings.Join(words, ", "))
		return
	}
	*to = text
}

func (r *Reader) truth(key string, n *yaml.Node, to *bool) {
	var text string
	if !r.text(key, n, &text) {
		return
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		r.complain(n, "%s: %q is neither true nor false", key, text)
		return
	}
	*to = b
}

func (r *Reader) choices(c *Choices) map[string]func(*yaml.Node) {
	check := func(key string, to *string, parse func(string) error) func(*yaml.Node) {
		return func(n *yaml.Node) {
			if r.text(key, n, to) {
				if err := parse(*to); err != nil {
					r.complain(n, "%s: %v", key, err)
				}
			}
		}
	}
	return map[string]func(*yaml.Node){
		"level":          check("level", &c.Level, func(s string) error { _, err := compat.ParseLevel(s); return err }),
		"policy":         check("policy", &c.Policy, func(s string) error { _, err := compat.ParsePolicy(s); return err }),
		"verdict_policy": check("verdict_policy", &c.VerdictPolicy, func(s string) error { _, err := compat.ParseVerdictPolicy(s); return err }),
		"category": func(n *yaml.Node) {
			r.choice("category", n, &c.Category, "FILE", "PACKAGE", "CSR", "WIRE_JSON", "WIRE")
		},
		"normalize": func(n *yaml.Node) { c.Normalize = new(bool); r.truth("normalize", n, c.Normalize) },
	}
}

// stabilities are the levels, the loosest first.
var stabilities = []string{"draft", "alpha", "beta", "stable"}

// Stabilities lists the levels of stability, the loosest first.
func Stabilities() []string { return slices.Clone(stabilities) }

// ruleName is an id, a peer's name, or the beginning of ids before a "*".
var ruleName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*\*?$|^\*$`)

func (r *Reader) rules(key string, n *yaml.Node) []Entry {
	list := r.texts(key, n)
	for _, e := range list {
		r.ruleName(key, e)
	}
	return list
}

func (r *Reader) ruleName(key string, e Entry) {
	if !ruleName.MatchString(e.Text) {
		r.Faults = append(r.Faults, Fault{e.Line, fmt.Sprintf("%s: %q is no rule: write one of cartorio rules, or its beginning and *", key, e.Text)})
	}
}

func (r *Reader) paths(key string, n *yaml.Node) []Entry {
	list := r.texts(key, n)
	for _, e := range list {
		if err := folder.CheckPattern(e.Text); err != nil {
			r.Faults = append(r.Faults, Fault{e.Line, fmt.Sprintf("%s: %v", key, err)})
		}
	}
	return list
}

func (r *Reader) ignoreOnly(n *yaml.Node) {
	r.members("check.ignore_only", n, func(name string, at, value *yaml.Node) {
		o := Only{Rule: Entry{name, at.Line}}
		r.ruleName("check.ignore_only", o.Rule)
		for _, e := range r.paths("check.ignore_only", value) {
			o.Paths = append(o.Paths, e.Text)
		}
		r.File.Check.IgnoreOnly = append(r.File.Check.IgnoreOnly, o)
	})
}

func (r *Reader) ignoreUnstable(n *yaml.Node) {
	var on bool
	if r.truth("check.ignore_unstable", n, &on); on {
		r.File.Check.IgnoreUnstable = &Entry{"true", n.Line}
	}
}

func (r *Reader) severity(n *yaml.Node) {
	r.members("severity", n, func(name string, at, value *yaml.Node) {
		s := Severity{Rule: Entry{name, at.Line}}
		r.ruleName("severity", s.Rule)
		r.choice("severity: "+name, value, &s.To, "breaking", "risk", "note", "off")
		r.File.Severity = append(r.File.Severity, s)
	})
}

func (r *Reader) stability(n *yaml.Node) {
	r.members("stability", n, func(name string, at, value *yaml.Node) {
		s := Stability{Of: Entry{name, at.Line}}
		if _, err := path.Match(name, ""); err != nil {
			r.complain(at, "stability: %q is no glob", name)
		}
		r.choice("stability: "+name, value, &s.Level, stabilities...)
		r.File.Stability = append(r.File.Stability, s)
	})
}

func (r *Reader) gate(n *yaml.Node) {
	g := &r.File.Gate
	r.mapping("gate", n, map[string]func(*yaml.Node){
		"fail_on":     func(n *yaml.Node) { r.choice("gate.fail_on", n, &g.FailOn, "breaking", "risk") },
		"comment":     func(n *yaml.Node) { g.Comment = new(bool); r.truth("gate.comment", n, g.Comment) },
		"annotations": func(n *yaml.Node) { g.Annotations = new(bool); r.truth("gate.annotations", n, g.Annotations) },
		"max_annotations": func(n *yaml.Node) {
			most, err := strconv.Atoi(n.Value)
			if err != nil || most < 1 || most > 10 {
				r.complain(n, "gate.max_annotations: %q is no number from 1 to 10: the platform shows no more", n.Value)
			}
			g.MaxAnnotations = most
		},
		"require_version_bump": func(n *yaml.Node) { r.truth("gate.require_version_bump", n, &g.RequireVersionBump) },
	})
}

func (r *Reader) scope(n *yaml.Node) {
	s := &r.File.Scope
	r.mapping("scope", n, map[string]func(*yaml.Node){
		"prefix": func(n *yaml.Node) { r.text("scope.prefix", n, &s.Prefix) },
		"pattern": func(n *yaml.Node) {
			r.text("scope.pattern", n, &s.Pattern)
			if _, err := path.Match(s.Pattern, ""); err != nil {
				r.complain(n, "scope.pattern: %q is no glob", s.Pattern)
			}
		},
	})
	if s.Prefix != "" && s.Pattern != "" {
		r.complain(n, "scope has both prefix and pattern: take one")
	}
}

func (r *Reader) environments(n *yaml.Node) {
	r.members("environments", n, func(name string, at, value *yaml.Node) {
		e := Environment{Name: name, Line: at.Line}
		if value.Kind == yaml.ScalarNode {
			e.URL = value.Value
		} else {
			r.mapping("environments: "+name, value, map[string]func(*yaml.Node){
				"url":     func(n *yaml.Node) { r.text("environments: url", n, &e.URL) },
				"context": func(n *yaml.Node) { r.context("environments: context", n, &e.Context) },
			})
		}
		if e.URL == "" {
			r.complain(at, "environments: %s needs the url of its registry", name)
		}
		r.File.Environments = append(r.File.Environments, e)
	})
}

// variableName is how environment variables are called. What is none of them
// could be a secret, so it is not repeated in the complaint.
var variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

func (r *Reader) auth(n *yaml.Node) {
	a := &r.File.Auth
	name := func(key string, to *string) func(*yaml.Node) {
		return func(n *yaml.Node) {
			if r.text("registry.auth."+key, n, to) && !variableName.MatchString(*to) {
				*to = ""
				r.complain(n, "registry.auth.%s must be the name of an environment variable, in capitals: secrets do not belong into this file", key)
			}
		}
	}
	r.mapping("registry.auth", n, map[string]func(*yaml.Node){
		"user": name("user", &a.User), "password": name("password", &a.Password), "token": name("token", &a.Token),
	})
	if a.Token != "" && (a.User != "" || a.Password != "") {
		r.complain(n, "registry.auth has both a token and a user: take one")
	}
}

// Names tells whether an entry names a rule: by its id, by one of the other
// names, or by its beginning.
func (e Entry) Names(rule string, aliases []string) bool {
	if start, ok := strings.CutSuffix(e.Text, "*"); ok {
		return strings.HasPrefix(rule, start)
	}
	return e.Text == rule || slices.Contains(aliases, e.Text)
}
