package protobuf_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/compat"
	checker "github.com/cartorio-registry/cartorio/compat/protobuf"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// tree is a few files that import one another by their paths.
type tree map[string]string

func (f tree) source(t *testing.T, path string) schemas.Source {
	t.Helper()
	out, err := protobuf.Outline(path, f[path], schemas.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s := schemas.Source{Type: schemas.Protobuf, Text: f[path]}
	for _, need := range out.Needs {
		s.References = append(s.References, schemas.Reference{Name: need, Subject: need, Version: 1})
	}
	return s
}

func (f tree) parse(t *testing.T, path string) (schemas.Schema, error) {
	t.Helper()
	return protobuf.Parse(t.Context(), f.source(t, path), schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		return schemas.Resolved{Subject: ref.Target(in), Version: 1, Source: f.source(t, ref.Name)}, nil
	}), schemas.ParseOptions{})
}

// dependents is what the file at path is on both sides, without being compiled.
func dependents(t *testing.T, old, next tree, path string, compiled *int) (before, after schemas.Schema, ok bool) {
	t.Helper()
	d := compat.Dependent{Source: next.source(t, path)}
	count := func(f tree) func() (schemas.Schema, error) {
		return func() (schemas.Schema, error) {
			*compiled++
			return f.parse(t, path)
		}
	}
	d.Old, d.Next = count(old), count(next)
	seen := map[string]bool{}
	var closure func(path string) bool
	closure = func(path string) (differs bool) {
		differs = old[path] != next[path]
		for _, ref := range next.source(t, path).References {
			if !seen[ref.Name] {
				seen[ref.Name] = true
				d.Closure = append(d.Closure, next[ref.Name])
			}
			differs = closure(ref.Name) || differs
		}
		return differs
	}
	closure(path)
	for _, ref := range d.Source.References {
		out, err := protobuf.Outline(ref.Name, next[ref.Name], schemas.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		r := compat.Referred{Names: out.Names}
		was := seen
		if closure(ref.Name) {
			if old[ref.Name] == next[ref.Name] {
				if r.Old, r.Next, ok = dependents(t, old, next, ref.Name, compiled); !ok {
					return nil, nil, false
				}
			} else {
				var errOld, errNext error
				r.Old, errOld = old.parse(t, ref.Name)
				r.Next, errNext = next.parse(t, ref.Name)
				if errOld != nil || errNext != nil {
					return nil, nil, false
				}
			}
		}
		seen = was
		d.References = append(d.References, r)
	}
	return checker.Dependents(d)
}

const (
	common = `syntax = "proto3"; package acme.common; enum Tone { LOW = 0; HIGH = 1; } message Money { int64 units = 1; string code = 2; Part part = 3; message Part { int32 a = 1; } }`
	middle = `syntax = "proto3"; package acme.model; import "common.proto"; import "still.proto";
message Order { oneof paid { .acme.common.Money paid_now = 1; string paid_by = 9; } repeated .acme.common.Money rest = 2; map<string, common.Money.Part> by_key = 3; optional common.Tone tone = 4; Still still = 5; message Inner { Order around = 1; } }`
	still = `syntax = "proto3"; package acme.model; enum Never { NEVER = 0; } message Still { string s = 1; Never n = 2; }`
	far   = `syntax = "proto3"; package acme.event; import "middle.proto"; import "google/protobuf/timestamp.proto";
// It is told of.
message Event { option deprecated = true; acme.model.Order order_of_it = 1; google.protobuf.Timestamp at = 2; repeated int32 numbers = 3; reserved 7 to 9; } service Events { rpc Tell(Event) returns (Event); }`
)

// TestDependentsCompareAsTheirSchemas holds what is told of files whose imports
// changed, compiled and not, against each other.
func TestDependentsCompareAsTheirSchemas(t *testing.T) {
	t.Parallel()
	before := tree{"common.proto": common, "middle.proto": middle, "still.proto": still, "far.proto": far}
	for _, c := range []struct{ name, common string }{
		{"a field more", `syntax = "proto3"; package acme.common; enum Tone { LOW = 0; HIGH = 1; } message Money { int64 units = 1; string code = 2; Part part = 3; message Part { int32 a = 1; } bool extra = 4; }`},
		{"a field renamed", `syntax = "proto3"; package acme.common; enum Tone { LOW = 0; HIGH = 1; } message Money { int64 units = 1; string currency = 2; Part part = 3; message Part { int32 a = 1; } }`},
		{"another kind", `syntax = "proto3"; package acme.common; enum Tone { LOW = 0; HIGH = 1; } message Money { string units = 1; string code = 2; Part part = 3; message Part { int32 a = 1; } }`},
		{"a kind inside a map's value", `syntax = "proto3"; package acme.common; enum Tone { LOW = 0; HIGH = 1; } message Money { int64 units = 1; string code = 2; Part part = 3; message Part { repeated string a = 1; } }`},
		{"a renumbered field", `syntax = "proto3"; package acme.common; enum Tone { LOW = 0; HIGH = 1; } message Money { int64 units = 8; string code = 2; Part part = 3; message Part { int32 a = 1; } }`},
		{"an enum value more", `syntax = "proto3"; package acme.common; enum Tone { LOW = 0; HIGH = 1; HIGHEST = 2; } message Money { int64 units = 1; string code = 2; Part part = 3; message Part { int32 a = 1; } }`},
		{"an enum value less", `syntax = "proto3"; package acme.common; enum Tone { LOW = 0; } message Money { int64 units = 1; string code = 2; Part part = 3; message Part { int32 a = 1; } }`},
		{"a comment", "// Money.\n" + common},
		{"an unused message more", common + ` message Purse { Money held = 1; }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			after := tree{"common.proto": c.common, "middle.proto": middle, "still.proto": still, "far.proto": far}
			for _, path := range []string{"middle.proto", "far.proto"} {
				compiled := 0
				old, next, ok := dependents(t, before, after, path, &compiled)
				if !ok {
					t.Fatalf("%s has to be compiled", path)
				}
				o, err := before.parse(t, path)
				if err != nil {
					t.Fatal(err)
				}
				n, err := after.parse(t, path)
				if err != nil {
					t.Fatal(err)
				}
				for _, policy := range []compat.VerdictPolicy{compat.Reference, compat.Both} {
					ask := func(old, next schemas.Schema) compat.Report {
						r := compat.Check(compat.Question{
							Checkers: []compat.Checker{checker.Checker}, Subject: path, Level: compat.Full, VerdictPolicy: policy,
							Next: next, History: []compat.Old{{Label: path, Schema: old}},
						})
						r.Compared[0].Old.Schema = nil
						return r
					}
					got, want := ask(old, next), ask(o, n)
					// The whole of a dependent is no place of its own.
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s under %v (-compiled +not):\n%s", path, policy, diff)
					}
					if c.name != "a comment" && c.name != "an unused message more" && len(got.Compared[0].Findings) == 0 {
						t.Errorf("%s under %v: nothing is told", path, policy)
					}
				}
			}
		})
	}
}

// TestDependentsThatMustBeCompiled names what a shape does not tell.
func TestDependentsThatMustBeCompiled(t *testing.T) {
	t.Parallel()
	const base = `syntax = "proto3"; package p; message A { string a = 1; }`
	more := func(text string) string { return base + " " + text }
	for _, c := range []struct{ name, file, old, next string }{
		{"plain", `syntax = "proto3"; package q; import "base.proto"; message M { p.A a = 1; }`, base, more("message Other {}")},
		{"a name that it may now mean", `syntax = "proto3"; package p.q; import "base.proto"; message M { p.A a = 1; }`, base, more("message q {}")},
		{"a name that it defines", `syntax = "proto3"; package p; import "base.proto"; message Other { p.A a = 1; }`, base, more("message Other {}")},
		{"a type that is gone", `syntax = "proto3"; import "base.proto"; message M { p.B b = 1; }`, more("message B {}"), base},
		{"a type that is there at last", `syntax = "proto3"; import "base.proto"; message M { p.B b = 1; }`, base, more("message B {}")},
		{"a message that is an enum now", `syntax = "proto3"; import "base.proto"; message M { p.B b = 1; }`, more("message B {}"), more("enum B { ZERO = 0; }")},
		{"proto2", `syntax = "proto2"; import "base.proto"; message M { optional p.A a = 1; }`, base, more("message Other {}")},
		{"an option of its own", `syntax = "proto3"; import "base.proto"; message M { p.A a = 1 [json_name = "b"]; }`, base, more("message Other {}")},
		{"a number twice", `syntax = "proto3"; import "base.proto"; message M { p.A a = 1; p.A b = 1; }`, base, more("message Other {}")},
		{"a public import", `syntax = "proto3"; import public "base.proto"; message M { p.A a = 1; }`, base, more("message Other {}")},
		{"no messages", `syntax = "proto3"; import "base.proto"; enum E { ZERO = 0; }`, base, more("message Other {}")},
		{"a first part that leads nowhere", `syntax = "proto3"; package q.p; import "base.proto"; message M { p.A a = 1; }`, base, more("message Other {}")},
	} {
		compiled := 0
		_, _, ok := dependents(t, tree{"base.proto": c.old, "m.proto": c.file}, tree{"base.proto": c.next, "m.proto": c.file}, "m.proto", &compiled)
		if want := c.name == "plain"; ok != want || compiled > 0 {
			t.Errorf("%s: known without compiling: %v, want %v; compiled %d times", c.name, ok, want, compiled)
		}
	}
}

// TestDependentsAreCompiledForPayloadsOnly counts.
func TestDependentsAreCompiledForPayloadsOnly(t *testing.T) {
	t.Parallel()
	before := tree{"common.proto": common, "middle.proto": middle, "still.proto": still}
	for part, want := range map[string]int{"bool extra = 4;": 0, "string units = 1;": 2} {
		after := tree{"common.proto": `syntax = "proto3"; package acme.common; enum Tone { LOW = 0; HIGH = 1; } message Money { string code = 2; Part part = 3; message Part { int32 a = 1; } ` + part + " }", "middle.proto": middle, "still.proto": still}
		compiled := 0
		old, next, ok := dependents(t, before, after, "middle.proto", &compiled)
		if !ok {
			t.Fatal("it has to be compiled")
		}
		_, changes := checker.Checker.Truth(old, next, compat.Budget{})
		if compiled != want || !slices.ContainsFunc(changes, func(c compat.Change) bool { return c.Elsewhere == [2]bool{true, true} }) {
			t.Errorf("%s: compiled %d times, want %d: %+v", part, compiled, want, changes)
		}
	}
}
