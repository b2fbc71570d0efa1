package protobuf

import (
	"strings"

	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Derived is what make answered the first time it was asked of s: whoever
// compares schemas keeps its own view of one with it. There is one per schema,
// so there is one kind of caller.
func (s *Schema) Derived(make func() any) any {
	s.derive.Do(func() { s.derived = make() })
	return s.derived
}

// ChecksUTF8 tells whether parsers refuse a string field whose bytes are not
// UTF-8.
//
// Source: protobuf compatibility, B.5.
func ChecksUTF8(fd protoreflect.FieldDescriptor) bool { return mustBeUTF8(fd) }

var jsonFeature = (&descriptorpb.FeatureSet{}).ProtoReflect().Descriptor().Fields().ByName("json_format")

// AllowsJSON tells whether compilers promise that a message's or enum's JSON
// mapping works.
//
// Source: protobuf compatibility, B.6.
func AllowsJSON(d protoreflect.Descriptor) bool {
	switch d.ParentFile().Syntax() {
	case protoreflect.Proto2:
		return false
	case protoreflect.Proto3:
		return true
	default: // editions
	}
	v, err := protoutil.ResolveFeature(d, jsonFeature)
	return err != nil || v.Enum() == protoreflect.EnumNumber(descriptorpb.FeatureSet_ALLOW)
}

// ReadsJSON judges whether s reads what writer writes of a payload in
// Protobuf's JSON mapping, as [Schema.Reads] does for the bytes, and answers
// the JSON text too. Members that s does not know are no violation.
//
// Fields correspond by name, or by number where a name is on one side only, or
// by JSON name: the mapping carries names, but a rename is still the same field.
//
// Errors: the writer cannot write the payload as JSON.
// Source: protobuf compatibility, B.7.
func (s *Schema) ReadsJSON(writer *Schema, payload schemas.Payload, options schemas.ReadOptions) (text []byte, reading schemas.Reading, err error) {
	text, err = writer.ToJSON(payload, options)
	if err != nil {
		return nil, schemas.Reading{}, err
	}
	o := options.OrDefault()
	wt, rt := writer.compiled(), s.compiled()
	wm, rm, problem := messagesOf(wt, rt, payload.Message)
	if problem != "" {
		return text, refused(schemas.Invalid, "message", problem), nil
	}
	m, types, err := s.newMessage(rm.name)
	if err != nil {
		return text, refused(schemas.Invalid, "message", err.Error()), nil
	}
	var raw []byte
	err = guard(func() error {
		options := protojson.UnmarshalOptions{Resolver: types.types, DiscardUnknown: true, RecursionLimit: o.Depth + 1}
		if err := options.Unmarshal(text, m); err != nil {
			return err
		}
		raw, err = proto.MarshalOptions{Deterministic: true}.Marshal(m)
		return err
	})
	if err != nil {
		return text, refused(schemas.Unreadable, "json", "the JSON is refused: "+detail(err)), nil
	}
	written, _ := decode(wt, wm, payload.Bytes, o)
	read, by := decode(rt, rm, raw, o)
	if len(by.violations) > 0 {
		return text, schemas.Reading{Violations: by.violations}, nil
	}
	c := &comparer{plans: &s.plans, writer: wt, reader: rt, byName: true}
	c.messages(written, read)
	return text, schemas.Reading{Losses: c.list}, nil
}

// detail is an error of the library without its prefix and position.
func detail(err error) string {
	text := strings.TrimPrefix(plain(err), "proto: ")
	if rest, ok := strings.CutPrefix(text, "(line "); ok {
		if _, after, ok := strings.Cut(rest, "): "); ok {
			return after
		}
	}
	return text
}

// pairByName finds what becomes of each field of w in the JSON mapping.
func pairByName(w, r *message) *pair {
	p := newPair(w, r)
	for i, f := range w.fields {
		known := p.fates[i]
		to := r.byName()[f.name]
		if to == nil && !known.astray {
			to = known.to
		}
		if to == nil {
			to = r.byJSON()[f.json]
		}
		p.fates[i] = fate{to: to}
	}
	return p
}
