package protobuf_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// tree is a folder of files; imports are references to subjects of their path.
type tree map[string]string

func (f tree) source(t *testing.T, path string) schemas.Source {
	t.Helper()
	source := schemas.Source{Type: schemas.Protobuf, Text: f[path]}
	out, err := protobuf.Outline(path, f[path], schemas.Limits{})
	if err != nil {
		return source
	}
	for _, need := range out.Needs {
		if _, ok := f[need]; ok {
			source.References = append(source.References, schemas.Reference{Name: need, Subject: need, Version: 1})
		}
	}
	return source
}

func (f tree) parse(t *testing.T, path string, options schemas.ParseOptions) (schemas.Schema, error) {
	t.Helper()
	return f.parseSource(t, f.source(t, path), options)
}

// parseSource answers references by texts alone, so that a reference's own are
// not looked for.
func (f tree) parseSource(t *testing.T, source schemas.Source, options schemas.ParseOptions) (schemas.Schema, error) {
	return protobuf.Parse(t.Context(), source, schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		return schemas.Resolved{Subject: ref.Target(in), Version: 1, Source: f.source(t, ref.Subject)}, nil
	}), options)
}

// TestSharedParsesAnswerTheSame parses every file of a tree alone and with all
// that the tree's parses share, at the same time and twice.
func TestSharedParsesAnswerTheSame(t *testing.T) {
	t.Parallel()
	files := tree{
		"base.proto":   `syntax = "proto3"; package p; message Base { string id = 1; } enum Kind { NONE = 0; }`,
		"twin.proto":   `syntax = "proto3"; package p; message Base { int32 other = 1; }`, // the same name in another file
		"left.proto":   `syntax = "proto3"; package p; import "base.proto"; message Left { Base base = 1; Kind kind = 2; }`,
		"right.proto":  `syntax = "proto3"; package p; import "twin.proto"; message Right { Base base = 1; }`,
		"both.proto":   `syntax = "proto3"; package p; import "left.proto"; import "right.proto"; message Both { Left left = 1; Right right = 2; }`,
		"top.proto":    `syntax = "proto3"; package q; import "left.proto"; import "google/protobuf/any.proto"; message Top { p.Left left = 1; google.protobuf.Any any = 2; }`,
		"again.proto":  `edition = "2023"; package q; import public "base.proto"; message Again { p.Base base = 1 [features.field_presence = LEGACY_REQUIRED]; }`,
		"public.proto": `syntax = "proto3"; package r; import "again.proto"; message Public { p.Base base = 1; q.Again again = 2; }`,
		"hidden.proto": `syntax = "proto3"; package io.p; import "base.proto"; message Hidden { p.Base base = 1; }`,
		"bare.proto":   `syntax = "proto3"; package p; message Bare { google.protobuf.Timestamp at = 1; }`,
		"user.proto":   `syntax = "proto3"; package p; import "bare.proto"; import "hidden.proto"; message User { Bare bare = 1; io.p.Hidden hidden = 2; }`,
		"weak.proto":   `syntax = "proto2"; package p; import weak "base.proto"; message Weak { optional string a = 1; }`,
		"mixed.proto":  `syntax = "proto3"; package p; message Mixed { reserved 1, "a"; }`,
		"wrong.proto":  `syntax = "proto3"; package p; message Wrong { Nowhere x = 1; }`,
		"needs.proto":  `syntax = "proto3"; package p; import "wrong.proto"; message Needs { Wrong x = 1; }`,
		"broken.proto": `syntax = "proto3"; message {`,
		"self.proto":   `syntax = "proto3"; package p; import "self.proto"; message Self {}`,
	}
	for _, mode := range []schemas.Mode{schemas.New, schemas.Stored} {
		shared := &schemas.Shared{}
		var all sync.WaitGroup
		for path := range files {
			for n := range 3 {
				all.Go(func() {
					got, gotErr := files.parse(t, path, schemas.ParseOptions{Mode: mode, Name: path, Shared: shared, Leaf: n == 2})
					want, wantErr := files.parse(t, path, schemas.ParseOptions{Mode: mode})
					if diff := cmp.Diff(told(want, wantErr), told(got, gotErr)); diff != "" {
						t.Errorf("%s in mode %d (-alone +shared):\n%s", path, mode, diff)
					}
				})
			}
		}
		all.Wait()
	}
}

// told is what can be told of a schema.
func told(s schemas.Schema, err error) []string {
	if err != nil {
		return []string{err.Error()}
	}
	one := s.(*protobuf.Schema)
	text, references := one.Normalized()
	print := one.Fingerprint()
	out := append([]string{one.Canonical(), text, print.String()}, one.Names()...)
	for _, r := range references {
		out = append(out, r.Name)
	}
	for _, f := range one.References() {
		origin := one.OriginOf(f)
		out = append(out, f.Path, origin.Subject.String(), map[bool]string{true: "direct"}[origin.Direct])
	}
	serialized, err := one.Serialized()
	if err != nil {
		return append(out, err.Error())
	}
	raw, err := one.FromJSON("", []byte(`{}`), schemas.ReadOptions{})
	if err != nil {
		return append(out, serialized, err.Error())
	}
	return append(out, serialized, string(raw))
}
