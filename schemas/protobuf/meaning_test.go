package protobuf_test

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// checkMeaning demands that the canonical text compiles to the descriptor of
// the original, and the normalized text to the same but for order.
func checkMeaning(t *testing.T, s schemas.Schema, resolver schemas.Resolver) {
	t.Helper()
	compile := func(text string, refs []schemas.Reference) *descriptorpb.FileDescriptorProto {
		other, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: text, References: refs}, resolver, schemas.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return descriptor(t, other)
	}
	original := descriptor(t, s)
	if len(original.WeakDependency) > 0 {
		return // canonical text has none
	}
	if diff := gocmp.Diff(sorted(original), sorted(compile(s.Canonical(), s.Source().References)), protocmp.Transform()); diff != "" {
		t.Fatalf("canonical text means something else (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff(sorted(original), sorted(compile(s.Normalized())), protocmp.Transform()); diff != "" {
		t.Fatalf("normalized text means something else (-want +got):\n%s", diff)
	}
}

func descriptor(t *testing.T, s schemas.Schema) *descriptorpb.FileDescriptorProto {
	t.Helper()
	text, err := s.(*protobuf.Schema).Serialized()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	fd := &descriptorpb.FileDescriptorProto{}
	if err := proto.Unmarshal(raw, fd); err != nil {
		t.Fatal(err)
	}
	return fd
}

// sorted brings what has no order into one, and drops the fields that say how
// it was ordered. Types, enums, services and their members keep theirs.
func sorted(fd *descriptorpb.FileDescriptorProto) *descriptorpb.FileDescriptorProto {
	fd = proto.CloneOf(fd)
	public := map[string]bool{}
	for _, i := range fd.PublicDependency {
		public[fd.Dependency[i]] = true
	}
	fd.PublicDependency, fd.WeakDependency = nil, nil
	slices.SortFunc(fd.Dependency, func(a, b string) int {
		return cmp.Or(cmp.Compare(btoi(public[a]), btoi(public[b])), cmp.Compare(a, b))
	})
	for _, m := range fd.MessageType {
		sortMessage(m)
	}
	for _, e := range fd.EnumType {
		sortEnum(e)
	}
	sortFields(fd.Extension, nil)
	for _, s := range fd.Service {
		for _, m := range s.Method {
			if proto.Size(m.Options) == 0 {
				m.Options = nil // empty braces are nothing
			}
		}
	}
	if fd.GetSyntax() == "proto2" {
		fd.Syntax = nil
	}
	return fd
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func sortFields(list []*descriptorpb.FieldDescriptorProto, oneofs []*descriptorpb.OneofDescriptorProto) {
	slices.SortStableFunc(list, func(a, b *descriptorpb.FieldDescriptorProto) int {
		return cmp.Or(cmp.Compare(a.GetExtendee(), b.GetExtendee()), cmp.Compare(a.GetNumber(), b.GetNumber()))
	})
	for _, f := range list {
		if f.OneofIndex != nil && oneofs != nil {
			// The index says where the oneof stands; its name says which it is.
			f.JsonName = proto.String(f.GetJsonName() + " in " + oneofs[f.GetOneofIndex()].GetName())
			f.OneofIndex = nil
		}
	}
}

func sortEnum(e *descriptorpb.EnumDescriptorProto) {
	if len(e.Value) > 1 {
		slices.SortStableFunc(e.Value[1:], func(a, b *descriptorpb.EnumValueDescriptorProto) int {
			return cmp.Or(cmp.Compare(a.GetNumber(), b.GetNumber()), cmp.Compare(a.GetName(), b.GetName()))
		})
	}
	slices.Sort(e.ReservedName)
	slices.SortFunc(e.ReservedRange, func(a, b *descriptorpb.EnumDescriptorProto_EnumReservedRange) int {
		return cmp.Compare(a.GetStart(), b.GetStart())
	})
}

func sortMessage(m *descriptorpb.DescriptorProto) {
	sortFields(m.Field, m.OneofDecl)
	sortFields(m.Extension, nil)
	slices.SortFunc(m.OneofDecl, func(a, b *descriptorpb.OneofDescriptorProto) int { return cmp.Compare(a.GetName(), b.GetName()) })
	slices.SortStableFunc(m.NestedType, func(a, b *descriptorpb.DescriptorProto) int { return cmp.Compare(a.GetName(), b.GetName()) })
	slices.Sort(m.ReservedName)
	slices.SortFunc(m.ReservedRange, func(a, b *descriptorpb.DescriptorProto_ReservedRange) int {
		return cmp.Compare(a.GetStart(), b.GetStart())
	})
	slices.SortFunc(m.ExtensionRange, func(a, b *descriptorpb.DescriptorProto_ExtensionRange) int {
		return cmp.Compare(a.GetStart(), b.GetStart())
	})
	for _, n := range m.NestedType {
		sortMessage(n)
	}
	for _, e := range m.EnumType {
		sortEnum(e)
	}
}

// JSON carries a map's keys once each and in no order: what a payload says of the
// order, or of a key that comes again, is nothing that could be lost.
func TestMapsInJSON(t *testing.T) {
	t.Parallel()
	s := parse(t, "syntax = \"proto3\"; enum E { O = 0; A = 1; B = 2; } message M { map<bool, E> m = 1; }")
	for _, payload := range []string{
		"0a04080110010a021002", // true is A, then false is B
		"0a0210020a0408011001",
		"0a04080110010a0408011002", // true is A, and then B
		"0a04080110010a0210020a021001",
	} {
		b, err := hex.DecodeString(payload)
		if err != nil {
			t.Fatal(err)
		}
		text, got, err := s.ReadsJSON(s, schemas.Payload{Bytes: b}, schemas.ReadOptions{})
		if err != nil || !got.OK() || len(got.Losses) > 0 {
			t.Errorf("%s, as %s: %v, %v %v", payload, text, err, got.Violations, got.Losses)
		}
	}
}
