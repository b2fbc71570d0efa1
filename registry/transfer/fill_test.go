package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// openAt opens a registry on a database that is closed with the test.
func openAt(tb testing.TB, path string) *registry.Registry {
	tb.Helper()
	j, err := sqlite.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := registry.Open(context.Background(), j, registry.Options{Formats: formats.All, Checkers: checkers.All()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

func open(tb testing.TB) *registry.Registry { return openAt(tb, sqlite.Memory) }

func onDisk(tb testing.TB) *registry.Registry { return openAt(tb, filepath.Join(tb.TempDir(), "c.db")) }

// serve puts a registry behind its API.
func serve(tb testing.TB, r *registry.Registry) *sr.Client {
	tb.Helper()
	return dial(tb, serveURL(tb, r))
}

func serveURL(tb testing.TB, r *registry.Registry) string {
	tb.Helper()
	s := httptest.NewServer(api.New(r, api.Options{}))
	tb.Cleanup(s.Close)
	return s.URL
}

func dial(tb testing.TB, url string) *sr.Client {
	tb.Helper()
	c, err := sr.New(sr.Options{URLs: []string{url}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// random fills a registry as users do over the years: registrations in three
// formats and several contexts, references, deletions, registrations again,
// imports, metadata, rules, configs and modes. What the registry refuses is not
// done.
type random struct {
	*rand.Rand
	tb    testing.TB
	r     *registry.Registry
	known []schemas.Found // what references may point to
}

var contexts = []schemas.Context{schemas.DefaultContext, ".emea", ".a"}

func fill(tb testing.TB, r *registry.Registry, seed uint64, steps int) {
	tb.Helper()
	x := &random{Rand: rand.New(rand.NewPCG(seed, 7)), tb: tb, r: r}
	for range steps {
		x.step()
	}
}

func (x *random) subject() schemas.Subject {
	names := []string{"orders-value", "Orders-Value", "a/b c", "ä%", "s", "con", ".", "payments-key"}
	return schemas.Subject{Context: contexts[x.IntN(len(contexts))], Name: names[x.IntN(len(names))]}
}

func (x *random) source() schemas.Source {
	n := x.IntN(6)
	var s schemas.Source
	switch x.IntN(3) {
	case 0:
		s = schemas.Source{Type: schemas.Avro, Text: fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"f","type":"long"}]}`, n)}
	case 1:
		s = schemas.Source{Type: schemas.JSON, Text: fmt.Sprintf(`{"type":"object","title":"<%d>é"}`, n)}
	default:
		s = schemas.Source{Type: schemas.Protobuf, Text: fmt.Sprintf("syntax = \"proto3\";\npackage p%d;\n\nmessage M {\n  int64 id = 1;\n}\n", n)}
	}
	if len(x.known) == 0 || x.IntN(3) > 0 {
		return s
	}
	to := x.known[x.IntN(len(x.known))]
	ref := schemas.Reference{Subject: ":" + string(to.Subject.Context) + ":" + to.Subject.Name, Version: to.Version}
	switch to.Source.Type {
	case schemas.Avro:
		if _, err := fmt.Sscanf(to.Source.Text, `{"type":"record","name":"R%d"`, &n); err != nil {
			return s // it refers to another itself
		}
		ref.Name = fmt.Sprint("R", n)
		s = schemas.Source{Type: schemas.Avro, Text: fmt.Sprintf(`{"type":"record","name":"Uses%d","fields":[{"name":"r","type":"R%d"}]}`, n, n)}
	case schemas.JSON:
		ref.Name = "other.json"
		s = schemas.Source{Type: schemas.JSON, Text: fmt.Sprintf(`{"$ref":"other.json","title":"uses %d"}`, n)}
	case schemas.Protobuf:
		ref.Name = "other.proto"
		s = schemas.Source{Type: schemas.Protobuf, Text: fmt.Sprintf("syntax = \"proto3\";\npackage q%d;\n\nimport \"other.proto\";\n\nmessage U {\n  int32 n = 1;\n}\n", n)}
	}
	s.References = []schemas.Reference{ref}
	return s
}

func (x *random) registration() registry.Registration {
	q := registry.Registration{Subject: x.subject(), Source: x.source(), Force: true}
	switch x.IntN(6) {
	case 0:
		q.Metadata = &schemas.Metadata{}
	case 1:
		q.Metadata = &schemas.Metadata{Properties: map[string]string{"owner": fmt.Sprint(x.IntN(3))}, Tags: map[string][]string{"f": {"PII"}}, Sensitive: []string{"owner"}}
	case 2:
		q.RuleSet = &schemas.RuleSet{Domain: []schemas.ContractRule{{Name: "positive", Kind: "CONDITION", Mode: "WRITE", Type: "CEL", Expr: "message.id > 0", Params: map[string]string{"a": "b"}}}}
	}
	return q
}

func (x *random) step() {
	ctx := context.Background()
	var err error
	switch n := x.IntN(100); {
	case n < 50:
		err = x.register(x.registration())
	case n < 65:
		_, err = x.r.DeleteVersion(ctx, x.subject(), schemas.Version(1+x.IntN(4)), x.IntN(3) == 0)
	case n < 70:
		_, err = x.r.DeleteSubject(ctx, x.subject(), x.IntN(3) == 0)
	case n < 80:
		err = x.imported()
	case n < 92:
		err = x.configure()
	case n < 97:
		modes := []registry.Mode{registry.ReadWrite, registry.ReadOnly, registry.ReadOnlyOverride, registry.Import}
		err = x.r.SetMode(ctx, x.scope(), modes[x.IntN(len(modes))], true)
	default:
		_, err = x.r.ClearMode(ctx, x.scope(), true)
	}
	var told *registry.Error
	if err != nil && (!errors.As(err, &told) || told.Code == registry.CodeStore || told.Code == registry.CodeInternal) {
		x.tb.Fatal(err)
	}
}

func (x *random) register(q registry.Registration) error {
	told, err := x.r.Register(context.Background(), q)
	if err == nil {
		x.known = append(x.known, told.Found)
	}
	return err
}

// imported brings in a version as another registry had it: with its id and
// number, its text laid out in a way of its own.
func (x *random) imported() error {
	q := x.registration()
	if err := x.r.SetMode(context.Background(), q.Subject, registry.Import, true); err != nil {
		return err
	}
	id := int32(40 + x.IntN(40))
	q.ID, q.Version = &id, schemas.Version(x.IntN(9))
	if x.IntN(2) == 0 {
		q.Source.Text = " " + q.Source.Text
	}
	err := x.register(q)
	_, clear := x.r.ClearMode(context.Background(), q.Subject, false)
	return errors.Join(err, clear)
}

func (x *random) scope() schemas.Subject {
	s := x.subject()
	switch x.IntN(5) {
	case 0:
		s.Name = ""
	case 1:
		return schemas.Subject{Context: schemas.GlobalContext}
	}
	return s
}

func (x *random) configure() error {
	levels := []string{"NONE", "BACKWARD", "FULL_TRANSITIVE", "FORWARD"}
	level, err := compat.ParseLevel(levels[x.IntN(len(levels))])
	if err != nil {
		return err
	}
	yes := x.IntN(2) == 0
	c := registry.Config{Level: &level}
	scope := x.scope()
	switch x.IntN(6) {
	case 0:
		c.Normalize, c.ValidateFields = &yes, &yes
	case 1:
		c.OverrideMetadata = &schemas.Metadata{Properties: map[string]string{"team": "x"}}
	case 2:
		c.Group = "major"
	case 3:
		if scope.Name != "" {
			c.Alias = x.subject().Name
		}
	case 4:
		no := false
		c.ValidateNewSchemas = &no
	}
	_, err = x.r.SetConfig(context.Background(), scope, registry.ConfigChange{Set: c})
	return err
}
