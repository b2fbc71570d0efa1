package protobuf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// The options that hold inline tags, and the file that declares them.
//
// Source: REST contract 5.7.
const (
	metaFile    = "confluent/meta.proto"
	messageMeta = "confluent.message_meta"
	fieldMeta   = "confluent.field_meta"
	tagsField   = "tags"
)

// isMeta tells whether o sets the option meta, or a member of it.
func (o Option) isMeta(meta string) bool {
	return len(o.Name) > 0 && o.Name[0].Extension && strings.TrimPrefix(o.Name[0].Name, ".") == meta
}

func (o Option) isMetaTags() bool { return len(o.Name) == 2 && o.Name[1].Name == tagsField }

// tagsOf are the tags that options give by meta, however they are written.
func tagsOf(list []Option, meta string) []string {
	var out []string
	texts := func(v Value) {
		if v.Kind == String {
			out = append(out, v.Text)
		}
		for _, item := range v.Items {
			if item.Kind == String {
				out = append(out, item.Text)
			}
		}
	}
	for _, o := range list {
		switch {
		case !o.isMeta(meta):
		case o.isMetaTags():
			texts(o.Value)
		case len(o.Name) == 1:
			for _, f := range o.Value.Fields {
				if f.Name == tagsField {
					texts(f.Value)
				}
			}
		}
	}
	return schemas.TagSet(out)
}

// withTags is list with exactly these tags by meta. They join the aggregate that
// is there, or stand apart where the members of the option do.
func withTags(list []Option, meta string, tags []string) []Option {
	var out []Option
	aggregate, apart := -1, false
	for _, o := range list {
		switch {
		case o.isMeta(meta) && o.isMetaTags():
			apart = true
			continue
		case o.isMeta(meta) && len(o.Name) == 1:
			o.Value.Fields = slices.DeleteFunc(slices.Clone(o.Value.Fields), func(f ValueField) bool { return f.Name == tagsField })
			if len(o.Value.Fields) == 0 {
				continue
			}
			aggregate = len(out)
		case o.isMeta(meta):
			apart = true
		}
		out = append(out, o)
	}
	if len(tags) == 0 {
		return out
	}
	set := Value{Kind: List}
	for _, tag := range tags {
		set.Items = append(set.Items, Value{Kind: String, Text: tag})
	}
	name := NamePart{Name: meta, Extension: true}
	switch {
	case aggregate >= 0:
		out[aggregate].Value.Fields = append(out[aggregate].Value.Fields, ValueField{tagsField, set})
	case apart:
		for _, item := range set.Items {
			out = append(out, Option{Name: []NamePart{name, {Name: tagsField}}, Value: item})
		}
	default:
		out = append(out, Option{Name: []NamePart{name}, Value: Value{Kind: Aggregate, Fields: []ValueField{{tagsField, set}}}})
	}
	return out
}

// allFields are the fields of the message itself, those in oneofs last.
func (m *Message) allFields() []*Field {
	list := m.Fields[:len(m.Fields):len(m.Fields)]
	for _, o := range m.Oneofs {
		list = append(list, o.Fields...)
	}
	return list
}

func tags(s schemas.Schema) (list []schemas.Tagged) {
	parsed, ok := s.(*Schema)
	if !ok {
		return nil
	}
	f := parsed.file
	f.each(func(m *Message) {
		list = append(list, schemas.Tagged{Path: "." + m.FullName, Short: m.LocalName(), Tags: tagsOf(m.Options, messageMeta)})
		for _, field := range m.allFields() {
			at := schemas.Tagged{Path: "." + m.FullName + "." + field.Name, Short: m.LocalName() + "." + field.Name, Field: true, Tags: tagsOf(field.Options, fieldMeta)}
			if len(f.Messages) > 0 && m == f.Messages[0] {
				at.Top = field.Name
			}
			list = append(list, at)
		}
	})
	return list
}

func retag(s schemas.Schema, parts []schemas.Tagged) (string, error) {
	parsed, ok := s.(*Schema)
	if !ok {
		return "", fmt.Errorf("tag a schema: it is a %T", s)
	}
	r := retagger{wanted: schemas.WantedOf(parts), found: schemas.Wanted{}}
	f := *parsed.file
	f.Messages = r.messages(f.Messages)
	if err := r.wanted.Missing(r.found); err != nil {
		return "", err
	}
	if r.tagged && !slices.ContainsFunc(f.Imports, func(i Import) bool { return i.Path == metaFile }) {
		f.Imports = append(slices.Clone(f.Imports), Import{Path: metaFile})
	}
	return f.print(true), nil
}

// retagger copies what it changes: a File is never changed.
type retagger struct {
	wanted, found schemas.Wanted
	tagged        bool
}

func (r *retagger) options(list []Option, path, meta string) []Option {
	part := schemas.Part{Path: path, Field: meta == fieldMeta}
	tags, ok := r.wanted[part]
	if !ok {
		return list
	}
	r.found[part] = tags
	r.tagged = r.tagged || len(tags) > 0
	return withTags(list, meta, tags)
}

func (r *retagger) messages(list []*Message) []*Message {
	out := make([]*Message, len(list))
	for i, m := range list {
		out[i] = r.message(m)
	}
	return out
}

func (r *retagger) message(m *Message) *Message {
	out := *m
	out.Options = r.options(m.Options, "."+m.FullName, messageMeta)
	out.Fields = r.fields(m, m.Fields)
	out.Groups = r.groups(m.Groups)
	out.Oneofs = make([]*Oneof, len(m.Oneofs))
	for i, o := range m.Oneofs {
		one := *o
		one.Fields, one.Groups = r.fields(m, o.Fields), r.groups(o.Groups)
		out.Oneofs[i] = &one
	}
	out.Messages = r.messages(m.Messages)
	return &out
}

func (r *retagger) fields(m *Message, list []*Field) []*Field {
	out := make([]*Field, len(list))
	for i, f := range list {
		one := *f
		one.Options = r.options(f.Options, "."+m.FullName+"."+f.Name, fieldMeta)
		out[i] = &one
	}
	return out
}

func (r *retagger) groups(list []*Group) []*Group {
	out := make([]*Group, len(list))
	for i, g := range list {
		one := *g
		one.Body = r.message(g.Body)
		out[i] = &one
	}
	return out
}
