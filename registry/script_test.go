package registry_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
)

// open makes a registry of fake formats on a new journal in memory.
func open(t testing.TB, change ...func(*registry.Options)) *registry.Registry {
	t.Helper()
	j, err := sqlite.Open(sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	return openOn(t, j, change...)
}

func openOn(t testing.TB, j registry.Journal, change ...func(*registry.Options)) *registry.Registry {
	t.Helper()
	o := registry.Options{Formats: fakeFormats, Checkers: fakeCheckers}
	for _, c := range change {
		c(&o)
	}
	r, err := registry.Open(t.Context(), j, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// wire are the numbers that the REST contract has for the codes.
var wire = map[registry.Code]string{
	registry.CodeSubjectUnknown: "40401", registry.CodeVersionUnknown: "40402", registry.CodeSchemaUnknown: "40403",
	registry.CodeSubjectSoftDeleted: "40404", registry.CodeSubjectNotSoftDeleted: "40405",
	registry.CodeVersionSoftDeleted: "40406", registry.CodeVersionNotSoftDeleted: "40407",
	registry.CodeIncompatible: "409", registry.CodeSchemaInvalid: "42201", registry.CodeVersionInvalid: "42202",
	registry.CodeModeInvalid: "42204", registry.CodeNotPermitted: "42205", registry.CodeReferenced: "42206",
	registry.CodeSubjectInvalid: "42208", registry.CodeSchemaTooLarge: "42209", registry.CodeRuleSetInvalid: "42210",
	registry.CodeContextNotEmpty: "42211", registry.CodeInternal: "500", registry.CodeStore: "50001",
}

var word = regexp.MustCompile(`"[^"]*"|\S+`)

// play runs a script: one command a line, " => " and what it must answer.
func play(t *testing.T, r *registry.Registry, script string) {
	t.Helper()
	playIn(t.Context(), t, r, script)
}

func playIn(ctx context.Context, t *testing.T, r *registry.Registry, script string) {
	t.Helper()
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		command, want, _ := strings.Cut(line, " => ")
		if got := do(ctx, r, command); got != want {
			t.Errorf("%s\n got %s\nwant %s", command, got, want)
		}
	}
}

type command struct {
	verb  string
	args  []string
	named map[string]string
	refs  []schemas.Reference
}

func (c *command) has(name string) bool { _, ok := c.named[name]; return ok }

func (c *command) number(name string) int {
	if c.named[name] == "latest" {
		return int(schemas.Latest)
	}
	n, _ := strconv.Atoi(c.named[name])
	return n
}

// flags are the words that are options without a value.
var flags = map[string]bool{"deleted": true, "deletedOnly": true, "negative": true, "permanent": true, "normalize": true, "force": true, "latestOnly": true, "recursive": true}

func parseCommand(text string) *command {
	c := &command{named: map[string]string{}}
	for i, w := range word.FindAllString(text, -1) {
		name, value, isNamed := strings.Cut(w, "=")
		switch {
		case i == 0:
			c.verb = w
		case strings.HasPrefix(w, `"`):
			c.args = append(c.args, strings.Trim(w, `"`))
		case isNamed && name == "ref": // ref=name:subject:version, with / for : in the subject
			parts := strings.Split(value, ":")
			n, _ := strconv.Atoi(parts[2])
			c.refs = append(c.refs, schemas.Reference{Name: parts[0], Subject: strings.ReplaceAll(parts[1], "/", ":"), Version: schemas.Version(n)})
		case isNamed || flags[w]:
			c.named[name] = value
		default:
			c.args = append(c.args, w)
		}
	}
	return c
}

func (c *command) deletedChoice() registry.Deleted {
	switch {
	case c.has("negative"):
		return registry.DeletedAsNegative
	case c.has("deletedOnly"):
		return registry.DeletedOnly
	case c.has("deleted"):
		return registry.WithDeleted
	}
	return registry.LiveOnly
}

func (c *command) page() registry.Page {
	return registry.Page{Offset: c.number("offset"), Limit: c.number("limit")}
}

func (c *command) registration() registry.Registration {
	q := registry.Registration{
		Subject: schemas.ParseSubject(c.args[0]), Version: schemas.Version(c.number("version")),
		Source:    schemas.Source{Type: schemas.Avro, Text: c.args[1], References: c.refs},
		Normalize: c.has("normalize"), Force: c.has("force"),
	}
	if c.has("type") {
		q.Source.Type = schemas.Type(c.named["type"])
	}
	if c.has("id") {
		q.ID = ptr(int32(c.number("id")))
	}
	if c.has("metadata") {
		q.Metadata = &schemas.Metadata{}
		if p := c.named["metadata"]; p != "" {
			q.Metadata.Properties = map[string]string{p: "x"}
		}
	}
	return q
}

func (c *command) version(i int) schemas.Version {
	if c.args[i] == "latest" {
		return schemas.Latest
	}
	n, _ := strconv.Atoi(c.args[i])
	return schemas.Version(n)
}

func told(s registry.Stored) string {
	out := fmt.Sprintf("id %d v%d", s.ID.Number, s.Version)
	if s.Fresh {
		out += " new"
	}
	if s.Deleted {
		out += " deleted"
	}
	return out
}

// do runs one command and tells its answer, or the wire's number for its error.
func do(ctx context.Context, r *registry.Registry, text string) string {
	c := parseCommand(text)
	answer, err := c.run(ctx, r)
	var e *registry.Error
	switch {
	case errors.As(err, &e):
		return wire[e.Code]
	case err != nil:
		return "error: " + err.Error()
	}
	return answer
}

func (c *command) run(ctx context.Context, r *registry.Registry) (string, error) {
	switch c.verb {
	case "register":
		s, err := r.Register(ctx, c.registration())
		return told(s), err
	case "lookup":
		s, err := r.Lookup(ctx, c.registration(), c.has("deleted"))
		return told(s), err
	case "check":
		q := c.registration()
		var v *schemas.Version
		if c.has("version") {
			v, q.Version = ptr(q.Version), 0
		}
		report, err := r.Check(ctx, q, v)
		return string(report.Verdict()), err
	case "get":
		s, err := r.Version(ctx, schemas.ParseSubject(c.args[0]), c.version(1), c.has("deleted"))
		return told(s), err
	case "text":
		s, err := r.Version(ctx, schemas.ParseSubject(c.args[0]), c.version(1), true)
		return strings.TrimSpace(fmt.Sprint(s.Source.Text, " ", strings.Trim(fmt.Sprint(s.Source.References), "[]"))), err
	case "id", "subjectsOf", "versionsOf":
		return c.runID(ctx, r)
	case "versions":
		list, err := r.Versions(ctx, schemas.ParseSubject(c.args[0]), c.deletedChoice(), c.page())
		return fmt.Sprint(numbers(list)), err
	case "subjects", "list":
		return c.runList(ctx, r)
	case "referencedby":
		list, err := r.ReferencedBy(ctx, schemas.ParseSubject(c.args[0]), c.version(1), c.has("deleted"), c.page())
		return fmt.Sprint(list), err
	case "delete":
		if len(c.args) == 1 {
			list, err := r.DeleteSubject(ctx, schemas.ParseSubject(c.args[0]), c.has("permanent"))
			return fmt.Sprint(numbers(list)), err
		}
		v, err := r.DeleteVersion(ctx, schemas.ParseSubject(c.args[0]), c.version(1), c.has("permanent"))
		return fmt.Sprint(int(v)), err
	case "contexts":
		return fmt.Sprint(r.Contexts("", c.page())), nil
	case "deleteContext":
		return "", r.DeleteContext(ctx, schemas.Context(c.args[0]))
	}
	return c.runSettings(ctx, r)
}

func numbers(list []schemas.Version) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = int(v)
	}
	return out
}

func (c *command) runID(ctx context.Context, r *registry.Registry) (string, error) {
	n, _ := strconv.Atoi(c.args[0])
	var subject *schemas.Subject
	if len(c.args) > 1 {
		subject = ptr(schemas.ParseSubject(c.args[1]))
	}
	switch c.verb {
	case "id":
		s, err := r.ByID(ctx, int32(n), subject)
		return fmt.Sprintf("%s v%d", s.Subject, s.Version), err
	case "subjectsOf":
		list, err := r.SubjectsOf(ctx, int32(n), subject, c.deletedChoice(), c.page())
		return fmt.Sprint(list), err
	}
	list, err := r.VersionsOf(ctx, int32(n), subject, c.deletedChoice(), c.page())
	return places(list), err
}

func places(list []registry.Stored) string {
	out := []string{}
	for _, s := range list {
		out = append(out, fmt.Sprintf("%s/%d", s.Subject, s.Version))
	}
	return fmt.Sprint(out)
}

func (c *command) runList(ctx context.Context, r *registry.Registry) (string, error) {
	prefix := schemas.Subject{Context: schemas.AnyContext}
	if len(c.args) > 0 {
		prefix = schemas.ParseSubject(c.args[0])
	}
	if c.verb == "subjects" {
		list, err := r.Subjects(ctx, prefix, c.deletedChoice(), c.page())
		return fmt.Sprint(list), err
	}
	list, err := r.List(ctx, prefix, c.deletedChoice(), c.has("latestOnly"), c.named["rule"], c.page())
	return places(list), err
}

func (c *command) runSettings(ctx context.Context, r *registry.Registry) (string, error) {
	scope := schemas.ParseSubject(c.args[0])
	switch c.verb {
	case "config":
		config, err := r.SetConfig(ctx, scope, c.change())
		return showConfig(config), err
	case "clearConfig":
		config, err := r.ClearConfig(ctx, scope)
		return showConfig(config), err
	case "configOf":
		config, ok := r.ConfigOf(scope)
		return fmt.Sprintf("%s %v", showConfig(config), ok), nil
	case "configInForce":
		return showConfig(r.ConfigInForce(scope)), nil
	case "mode":
		return "", r.SetMode(ctx, scope, registry.Mode(c.args[1]), c.has("force"))
	case "clearMode":
		m, err := r.ClearMode(ctx, scope, c.has("recursive"))
		return string(m), err
	case "modeOf":
		m, ok := r.ModeOf(scope)
		return fmt.Sprintf("%s %v", m, ok), nil
	case "modeInForce":
		return string(r.ModeInForce(scope)), nil
	}
	return "", fmt.Errorf("no command %q", c.verb)
}

// change reads level=, normalize=, new=, policy=, verdict= and clear=a,b.
func (c *command) change() (change registry.ConfigChange) {
	for name, value := range c.named {
		switch name {
		case "level":
			l, _ := compat.ParseLevel(value)
			change.Set.Level = &l
		case "normalize":
			change.Set.Normalize = ptr(value == "true")
		case "new":
			change.Set.ValidateNewSchemas = ptr(value == "true")
		case "fields":
			change.Set.ValidateFields = ptr(value == "true")
		case "rules":
			change.Set.ValidateRules = ptr(value == "true")
		case "policy":
			change.Set.PolicyName = value
		case "verdict":
			p, _ := compat.ParseVerdictPolicy(value)
			change.Set.VerdictPolicy = &p
		case "clear":
			change.Clear = strings.Split(value, ",")
		}
	}
	return change
}

func showConfig(c registry.Config) string {
	out := []string{}
	add := func(name string, there bool, value func() any) {
		if there {
			out = append(out, fmt.Sprint(name, "=", value()))
		}
	}
	add("level", c.Level != nil, func() any { return *c.Level })
	add("normalize", c.Normalize != nil, func() any { return *c.Normalize })
	add("fields", c.ValidateFields != nil, func() any { return *c.ValidateFields })
	add("new", c.ValidateNewSchemas != nil, func() any { return *c.ValidateNewSchemas })
	add("rules", c.ValidateRules != nil, func() any { return *c.ValidateRules })
	add("policy", c.PolicyName != "", func() any { return c.PolicyName })
	add("verdict", c.VerdictPolicy != nil, func() any { return *c.VerdictPolicy })
	return "{" + strings.Join(out, " ") + "}"
}
