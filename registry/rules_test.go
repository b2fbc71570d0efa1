package registry_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// 3.3: every rule about rules, each with a set that keeps it and one that does
// not.
func TestRuleSets(t *testing.T) {
	t.Parallel()
	type rule = schemas.ContractRule
	domain := func(rules ...rule) schemas.RuleSet { return schemas.RuleSet{Domain: rules} }
	migration := func(rules ...rule) schemas.RuleSet { return schemas.RuleSet{Migration: rules} }
	long := "n" + strings.Repeat("-", 255)
	for _, c := range []struct {
		rules schemas.RuleSet
		says  string // empty: it is valid
	}{
		{schemas.RuleSet{}, ""},
		{schemas.RuleSet{EnableAt: "GATEWAY"}, ""},
		{schemas.RuleSet{EnableAt: "MOON"}, "MOON"},
		{domain(rule{Name: "r", Type: "CEL"}), ""},
		{domain(rule{Type: "CEL"}), "no name"},
		{domain(rule{Name: "r"}), "no type"},
		{domain(rule{Name: long, Type: "CEL"}), ""},
		{domain(rule{Name: long + "x", Type: "CEL"}), "256"},
		{domain(rule{Name: "_a-9", Type: "CEL"}), ""},
		{domain(rule{Name: "9a", Type: "CEL"}), "9a"},
		{domain(rule{Name: "a b", Type: "CEL"}), "a b"},
		{domain(rule{Name: "a\n", Type: "CEL"}), "letter"},
		{domain(rule{Name: "r", Type: "CEL", Kind: "CONDITION"}), ""},
		{domain(rule{Name: "r", Type: "CEL", Kind: "ORDER"}), "ORDER"},
		{domain(rule{Name: "r", Type: "CEL", Mode: "READ"}), ""},
		{domain(rule{Name: "r", Type: "CEL", Mode: "UPGRADE"}), "UPGRADE"},
		{migration(rule{Name: "r", Type: "JSONATA", Mode: "UPDOWN"}), ""},
		{migration(rule{Name: "r", Type: "JSONATA"}), "WRITEREAD"},
		{schemas.RuleSet{Encoding: []rule{{Name: "r", Type: "ENCRYPT", Mode: "DOWNGRADE"}}}, "encodingRules"},
		{domain(rule{Name: "r", Type: "CEL"}, rule{Name: "r", Type: "CEL"}), "two rules"},
		{schemas.RuleSet{Domain: []rule{{Name: "r", Type: "CEL"}}, Encoding: []rule{{Name: "r", Type: "ENCRYPT"}}}, "two rules"},
		{domain(rule{Name: "r", Type: "CEL", OnFailure: "DLQ,NONE"}), ""},
		{domain(rule{Name: "r", Type: "CEL", Mode: "READ", OnFailure: "DLQ,NONE"}), "WRITEREAD"},
		{domain(rule{Name: "r", Type: "CEL", OnSuccess: "A,B,C"}), "more than two"},
		{migration(rule{Name: "r", Type: "X", Mode: "UPDOWN", OnSuccess: "A,B"}), ""},
		{migration(rule{Name: "r", Type: "X", Mode: "UPGRADE", OnSuccess: "A,B"}), "WRITEREAD"},
	} {
		r := open(t)
		q := registry.Registration{Subject: schemas.Subject{Name: "s"}, Source: schemas.Source{Type: schemas.Avro, Text: "A"}, RuleSet: &c.rules}
		_, err := r.Register(t.Context(), q)
		_, config := r.SetConfig(t.Context(), q.Subject, registry.ConfigChange{Set: registry.Config{DefaultRuleSet: &c.rules}})
		for _, err := range []error{err, config} {
			switch {
			case c.says == "" && err != nil:
				t.Errorf("%+v: %v", c.rules, err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%+v: want an error that says %q, got %v", c.rules, c.says, err)
			}
		}
	}
}

// 5.7: defaults go under what is sent or inherited, overrides over it.
func TestMergedAttachments(t *testing.T) {
	t.Parallel()
	r := open(t)
	set := func(c registry.Config) {
		t.Helper()
		if _, err := r.SetConfig(t.Context(), schemas.Subject{}, registry.ConfigChange{Set: c}); err != nil {
			t.Fatal(err)
		}
	}
	rules := func(names ...string) *schemas.RuleSet {
		out := &schemas.RuleSet{}
		for _, name := range names {
			name, doc, _ := strings.Cut(name, "=")
			out.Domain = append(out.Domain, schemas.ContractRule{Name: name, Doc: doc, Type: "CEL"})
		}
		return out
	}
	set(registry.Config{
		DefaultMetadata:  &schemas.Metadata{Properties: map[string]string{"a": "default", "b": "default"}, Tags: map[string][]string{"p": {"x"}}, Sensitive: []string{"b"}},
		OverrideMetadata: &schemas.Metadata{Properties: map[string]string{"c": "override"}, Tags: map[string][]string{"p": {"z"}}},
		DefaultRuleSet:   rules("one=default", "two=default"), OverrideRuleSet: rules("three=override"),
	})
	q := registry.Registration{
		Subject: schemas.Subject{Name: "s"}, Source: schemas.Source{Type: schemas.Avro, Text: "A"},
		Metadata: &schemas.Metadata{Properties: map[string]string{"a": "mine", "c": "mine"}, Tags: map[string][]string{"p": {"y", "x"}}, Sensitive: []string{"a"}},
		RuleSet:  rules("two=mine", "three=mine"),
	}
	first, err := r.Register(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	m := first.Metadata
	if m.Properties["a"] != "mine" || m.Properties["b"] != "default" || m.Properties["c"] != "override" ||
		strings.Join(m.Tags["p"], "") != "xyz" || strings.Join(m.Sensitive, "") != "ab" {
		t.Errorf("the metadata became %+v", m)
	}
	var told []string
	for _, rule := range first.RuleSet.Domain {
		told = append(told, rule.Name+"="+rule.Doc)
	}
	if got := strings.Join(told, " "); got != "one=default two=mine three=override" {
		t.Errorf("the rules became %s", got)
	}
	if first.GUID != schemas.GUIDOf("A", nil, m, first.RuleSet) {
		t.Error("the GUID does not cover what was merged")
	}
	// Sent again, and left out, it is the same version.
	for _, again := range []registry.Registration{q, {Subject: q.Subject, Source: q.Source}} {
		got, err := r.Register(t.Context(), again)
		if err != nil || got.Version != 1 || got.Fresh {
			t.Errorf("again: %+v, %v", got, err)
		}
		if got, err := r.Lookup(t.Context(), again, false); err != nil || got.Version != 1 {
			t.Errorf("looked up: %+v, %v", got, err)
		}
	}
	// A subject with a config of its own takes these members from nobody.
	if _, err := r.SetConfig(t.Context(), q.Subject, registry.ConfigChange{Set: registry.Config{Normalize: ptr(true)}}); err != nil {
		t.Fatal(err)
	}
	if c := r.ConfigInForce(q.Subject); c.DefaultMetadata != nil || c.OverrideRuleSet != nil {
		t.Errorf("the config in force is %+v", c)
	}
	got, err := r.Register(t.Context(), registry.Registration{Subject: q.Subject, Source: q.Source, Metadata: &schemas.Metadata{}})
	if err != nil || got.Version != 2 || len(got.Metadata.Properties) > 0 {
		t.Errorf("explicitly none: %+v, %v", got, err)
	}
	// All of it is in a snapshot.
	data := registry.StateOf(r)
	state, err := registry.DecodeState(data, func(registry.Hash) (string, bool) { return "A", true })
	if err != nil || !bytes.Equal(state.Encode(), data) {
		t.Errorf("the snapshot is not the state: %v", err)
	}
}
