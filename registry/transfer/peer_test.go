package transfer_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/transfer"
	"github.com/cartorio-registry/cartorio/schemas"
)

// peer is a registry of another maker, which scripts/peers.sh starts.
func peer(t *testing.T) *sr.Client {
	t.Helper()
	url := os.Getenv("CARTORIO_TEST_PEER")
	if url == "" {
		t.Skip("CARTORIO_TEST_PEER is not set: no registry of another maker was asked (scripts/peers.sh starts one)")
	}
	return dial(t, url)
}

// fillPeer registers by the peer's own API what users have there, under names of
// this run.
func fillPeer(t *testing.T, c *sr.Client) (run string) {
	t.Helper()
	run = fmt.Sprintf("run%d", time.Now().UnixNano())
	name := func(s string) schemas.Subject {
		return schemas.Subject{Context: schemas.DefaultContext, Name: run + "-" + s}
	}
	register := func(subject string, source schemas.Source) schemas.Version {
		t.Helper()
		source.Text = strings.ReplaceAll(source.Text, "RUN", run)
		found, err := c.Register(t.Context(), name(subject), sr.Registration{Source: source})
		if err != nil {
			t.Fatal(err)
		}
		return found.Version
	}
	user := register("user", schemas.Source{Type: schemas.Avro, Text: `{"type": "record", "name": "User", "namespace": "RUN",  "fields": [{"name": "id", "type": "long", "doc": "über"}]}`})
	register("user", schemas.Source{Type: schemas.Avro, Text: `{"type":"record","name":"User","namespace":"RUN","fields":[{"name":"id","type":"long"},{"name":"mail","type":"string","default":""}]}`})
	register("order", schemas.Source{
		Type: schemas.Avro, Text: `{"type":"record","name":"Order","namespace":"RUN","fields":[{"name":"buyer","type":"RUN.User"}]}`,
		References: []schemas.Reference{{Name: run + ".User", Subject: name("user").Name, Version: user}},
	})
	register("event", schemas.Source{Type: schemas.JSON, Text: `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","title":"RUN","properties":{"n":{"minimum":1.50}}}`})
	base := register("base.proto", schemas.Source{Type: schemas.Protobuf, Text: "syntax = \"proto3\";\npackage RUN;\n\n// a comment\nmessage Base {\n  int64 id = 1;\n}\n"})
	register("uses.proto", schemas.Source{
		Type: schemas.Protobuf, Text: "syntax = \"proto3\";\npackage RUN.uses;\nimport \"base.proto\";\n\nmessage Uses {\n  RUN.Base base = 1;\n}\n",
		References: []schemas.Reference{{Name: "base.proto", Subject: name("base.proto").Name, Version: base}},
	})
	first := register("gone", schemas.Source{Type: schemas.Avro, Text: `{"type":"enum","name":"RUN.G","symbols":["A"]}`})
	register("gone", schemas.Source{Type: schemas.Avro, Text: `{"type":"enum","name":"RUN.G","symbols":["A","B"]}`})
	if _, err := c.DeleteVersion(t.Context(), name("gone"), first, false); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SetConfig(t.Context(), name("user"), sr.Config{Level: "FULL"}); err != nil {
		t.Fatal(err)
	}
	return run
}

// A registry of another maker moves in with nothing lost and no difference.
// The tests of the peer share it, so they run one after the other.
func TestPeer(t *testing.T) {
	c := peer(t)
	t.Run("in", func(t *testing.T) {
		run := fillPeer(t, c)
		r := open(t)
		to := serve(t, r)
		g := gather(t, c)
		report, err := transfer.ToRegistry(t.Context(), to, g, transfer.Options{Pace: unpaced})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range report.Losses {
			t.Errorf("lost: %s", l)
		}
		verified(t, c, to)
		if n := len(of(run, g)); n != 8 {
			t.Errorf("%d versions of the run came, want 8", n)
		}
		gone, err := r.Version(t.Context(), schemas.Subject{Name: run + "-gone"}, 1, true)
		if err != nil || !gone.Deleted {
			t.Errorf("the deleted version: %+v, %v", gone, err)
		}
		if level := r.ConfigInForce(schemas.Subject{Name: run + "-user"}).Level.String(); level != "FULL" {
			t.Errorf("the level is %s, want FULL", level)
		}
		// What is registered next gets ids of its own.
		fresh, err := r.Register(t.Context(), registry.Registration{Subject: schemas.Subject{Name: "next"}, Source: schemas.Source{Type: schemas.Avro, Text: `"bytes"`}})
		if err != nil || slices.ContainsFunc(g.Versions, func(v registry.Held) bool { return v.ID.Number >= fresh.ID.Number }) {
			t.Errorf("the next id is %d, %v", fresh.ID.Number, err)
		}
	})
	t.Run("out", func(t *testing.T) {
		r := open(t)
		from := serve(t, r)
		// A fresh peer counts from 1 as well: ours are to be others.
		far, high := schemas.Subject{Name: "far"}, int32(1_000_000)
		if err := r.SetMode(t.Context(), far, registry.Import, true); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Register(t.Context(), registry.Registration{Subject: far, Source: schemas.Source{Type: schemas.Avro, Text: `"double"`}, ID: &high, Version: 1}); err != nil {
			t.Fatal(err)
		}
		run := fillPeer(t, from)
		owned := registry.Registration{Subject: schemas.Subject{Name: run + "-owned"}, Source: schemas.Source{Type: schemas.Avro, Text: `"string"`}, Metadata: &schemas.Metadata{Properties: map[string]string{"owner": run}}}
		if _, err := r.Register(t.Context(), owned); err != nil {
			t.Fatal(err)
		}
		if err := r.SetMode(t.Context(), schemas.Subject{Name: run + "-event"}, registry.ReadOnly, false); err != nil {
			t.Fatal(err)
		}
		g := gather(t, from)
		before := len(gather(t, c).Versions)
		if _, err := transfer.ToRegistry(t.Context(), c, g, transfer.Options{Pace: unpaced}); !errors.Is(err, transfer.ErrRenumbered) {
			t.Fatalf("a peer that gives its own ids: %v, want ErrRenumbered", err)
		}
		if after := len(gather(t, c).Versions); after > before+1 {
			t.Errorf("%d versions were written before it stopped", after-before)
		}
		report, err := transfer.ToRegistry(t.Context(), c, g, transfer.Options{Pace: unpaced, Renumber: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range of(run, g) {
			if !slices.ContainsFunc(report.Losses, func(l transfer.Loss) bool {
				return l.Subject == v.Subject.String() && l.Version == v.Version && l.ID == v.ID.Number
			}) {
				t.Errorf("that %s version %d lost its id is not told", v.Subject, v.Version)
			}
		}
		v, err := transfer.Verify(t.Context(), g, from, c, unpaced)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"metadata", "mode", "id"} {
			if !slices.ContainsFunc(v.Differences, func(d transfer.Difference) bool { return d.What == want && strings.Contains(d.Subject, run) }) {
				t.Errorf("the verification tells no difference of %s", want)
			}
		}
		for _, l := range report.Losses {
			t.Logf("not taken: %s", l)
		}
	})
}

// of are the versions of one run.
func of(run string, g transfer.Gathered) (list []registry.Held) {
	for _, v := range g.Versions {
		if strings.Contains(v.Subject.Name, run) {
			list = append(list, v)
		}
	}
	return list
}
