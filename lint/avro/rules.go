package avro

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

func risk(id string) lint.Rule { return lint.Rule{ID: "avro." + id, Severity: compat.Risk} }
func note(id string) lint.Rule { return lint.Rule{ID: "avro." + id, Severity: compat.Note} }
func asked(id string) lint.Rule {
	return lint.Rule{ID: "avro." + id, Severity: compat.Note, Optional: true}
}

// rules are the rules in the order in which they are listed.
var rules = []rule{
	{Rule: risk("nullable-without-default"), field: func(v *visit, _ *avro.Named, f *avro.Field) {
		if f.Default == nil && branchOf(f.Type, avro.Null) >= 0 && len(f.Type.Branches) > 1 {
			v.say(f.Pointer(), "type", fmt.Sprintf("the field %s may be null and has no default", quote(f.Name)), "")
		}
	}},
	{Rule: note("null-not-first"), field: func(v *visit, _ *avro.Named, f *avro.Field) {
		if i := branchOf(f.Type, avro.Null); i > 0 && (f.Default == nil || f.Default.Kind == jsontext.Null) {
			v.say(f.Pointer(), "type", fmt.Sprintf("null is branch %d of the union of field %s", i+1, quote(f.Name)), "")
		}
	}},
	{Rule: risk("enum-without-default"), named: func(v *visit, n *avro.Named) {
		if n.Kind == avro.Enum && !n.HasDefault {
			v.say(n.Pointer(), "name", fmt.Sprintf("the enum %s has no default", quote(n.Name)), "")
		}
	}},
	{Rule: risk("default-unusable"), schema: doubt(avro.DefaultUnusable)},
	{Rule: risk("default-is-text-null"), schema: doubt(avro.DefaultNullText)},
	{Rule: risk("logical-type-unknown"), schema: doubt(avro.LogicalUnknown)},
	{Rule: risk("logical-type-unfit"), schema: doubt(avro.LogicalUnfit)},
	{Rule: risk("logical-type-misplaced"), schema: doubt(avro.LogicalOnField)},
	{Rule: risk("alias-ambiguous"), schema: doubt(avro.AliasAmbiguous)},
	{Rule: risk("record-endless"), schema: doubt(avro.RecordEndless)},
	{Rule: risk("member-repeated"), schema: doubt(avro.MemberRepeated)},
	{Rule: risk("attribute-misspelt"), named: func(v *visit, n *avro.Named) {
		words := map[avro.Kind][]string{
			avro.Record: {"fields", "aliases", "namespace", "doc"},
			avro.Enum:   {"symbols", "aliases", "namespace", "default", "doc"},
			avro.Fixed:  {"size", "aliases", "namespace", "logicalType", "precision", "scale"},
		}[n.Kind]
		for _, a := range n.Attributes {
			v.misspelt(n.Pointer(), a.Name, words)
		}
	}, field: func(v *visit, _ *avro.Named, f *avro.Field) {
		for _, a := range f.Attributes {
			v.misspelt(f.Pointer(), a.Name, []string{"default", "aliases", "order", "doc"})
		}
	}, written: func(v *visit, t *avro.Type) {
		for _, a := range t.Attributes {
			v.misspelt(t.Pointer(), a.Name, []string{"logicalType", "precision", "scale"})
		}
	}},
	{Rule: risk("names-alike"), named: func(v *visit, n *avro.Named) {
		seen := map[string]string{}
		for _, f := range n.Fields {
			if other, ok := seen[lint.Plain(f.Name)]; ok {
				v.say(f.Pointer(), "name", fmt.Sprintf("the names of the fields %s and %s differ in case and signs alone", quote(other), quote(f.Name)), f.Name)
			}
			seen[lint.Plain(f.Name)] = f.Name
		}
	}},
	{Rule: risk("symbols-alike"), named: func(v *visit, n *avro.Named) {
		seen := map[string]string{}
		for _, s := range n.Symbols {
			if other, ok := seen[lint.Plain(s)]; ok {
				v.say(n.Pointer(), "symbols", fmt.Sprintf("the symbols %s and %s differ in case and signs alone", quote(other), quote(s)), s)
			}
			seen[lint.Plain(s)] = s
		}
	}},
	{Rule: risk("money-as-float"), field: func(v *visit, _ *avro.Named, f *avro.Field) {
		if t := bare(f.Type); (t.Kind == avro.Float || t.Kind == avro.Double) && lint.Money(f.Name) {
			v.say(f.Pointer(), "type", fmt.Sprintf("the field %s sounds like money and is a %s", quote(f.Name), t.Kind), "")
		}
	}},
	{Rule: risk("namespace-missing"), schema: func(v *visit) {
		if n := v.schema.Root().Named; n != nil && n.Namespace == "" {
			v.at = n.Full
			v.say(n.Pointer(), "name", fmt.Sprintf("the %s %s is in no namespace", n.Kind, quote(n.Name)), "")
		}
	}},
	{Rule: risk("namespace-overruled"), named: func(v *visit, n *avro.Named) {
		object := v.edit.At(n.Pointer())
		if name := object.Get("name"); name != nil && strings.Contains(name.Text, ".") && object.Get("namespace") != nil {
			v.say(n.Pointer(), "namespace", fmt.Sprintf("the name %s holds a namespace already, so this one is ignored", quote(name.Text)), "", v.take(n.Pointer(), "namespace")...)
		}
	}},
	{Rule: note("namespace-repeated"), named: func(v *visit, n *avro.Named) {
		if at := v.edit.At(n.Pointer()).Get("namespace"); at != nil && at.Text == v.around(n) && at.Text != "" {
			v.say(n.Pointer(), "namespace", fmt.Sprintf("the namespace %s is that of the type around it", quote(at.Text)), "", v.take(n.Pointer(), "namespace")...)
		}
	}},
	{Rule: note("namespace-style"), named: func(v *visit, n *avro.Named) {
		parts := strings.Split(n.Namespace, ".")
		if n.Namespace != "" && slices.ContainsFunc(parts, func(p string) bool { return !lint.IsSnake(p) }) && v.around(n) != n.Namespace {
			v.say(n.Pointer(), "namespace", fmt.Sprintf("the namespace %s is not in small letters", quote(n.Namespace)), n.Namespace)
		}
	}},
	{Rule: note("type-name-style"), named: func(v *visit, n *avro.Named) {
		if !lint.IsPascal(n.Name) {
			v.say(n.Pointer(), "name", fmt.Sprintf("the type %s is not called as types are, %s", quote(n.Name), quote(lint.Pascal(n.Name))), "")
		}
	}},
	{Rule: note("field-name-style"), field: func(v *visit, _ *avro.Named, f *avro.Field) {
		if !lint.IsCamel(f.Name) && !lint.IsSnake(f.Name) {
			v.say(f.Pointer(), "name", fmt.Sprintf("the field %s is neither snake_case nor camelCase", quote(f.Name)), "")
		}
	}},
	{Rule: note("field-names-mixed"), named: func(v *visit, n *avro.Named) {
		var snake, camel string
		for _, f := range n.Fields {
			switch {
			case lint.IsSnake(f.Name) && strings.Contains(f.Name, "_"):
				snake = f.Name
			case lint.IsCamel(f.Name) && f.Name != strings.ToLower(f.Name):
				camel = f.Name
			}
		}
		if snake != "" && camel != "" {
			v.say(n.Pointer(), "name", fmt.Sprintf("the fields of %s are in two styles, as %s and %s", quote(n.Name), quote(snake), quote(camel)), "")
		}
	}},
	{Rule: note("symbol-style"), named: func(v *visit, n *avro.Named) {
		for _, s := range n.Symbols {
			if !lint.IsUpperSnake(s) {
				v.say(n.Pointer(), "symbols", fmt.Sprintf("the symbol %s is not in capitals, as %s", quote(s), quote(lint.UpperSnake(s))), s)
			}
		}
	}},
	{Rule: note("doc-missing"), named: func(v *visit, n *avro.Named) {
		if strings.TrimSpace(n.Doc) == "" {
			v.say(n.Pointer(), "name", fmt.Sprintf("the %s %s has no doc", n.Kind, quote(n.Name)), "")
		}
	}},
	{Rule: asked("field-doc-missing"), field: func(v *visit, _ *avro.Named, f *avro.Field) {
		if strings.TrimSpace(f.Doc) == "" {
			v.say(f.Pointer(), "name", fmt.Sprintf("the field %s has no doc", quote(f.Name)), "")
		}
	}},
	{Rule: note("sensitive-untagged"), field: func(v *visit, n *avro.Named, f *avro.Field) {
		if lint.Sensitive(f.Name) && !tagged(f) && !slices.Contains(v.subject.Tagged, n.Full+"."+f.Name) {
			v.say(f.Pointer(), "name", fmt.Sprintf("the field %s sounds personal or secret and has no tag", quote(f.Name)), "")
		}
	}},
	{Rule: note("time-as-number"), field: func(v *visit, _ *avro.Named, f *avro.Field) {
		if t := bare(f.Type); (t.Kind == avro.Long || t.Kind == avro.Int) && t.Logical.IsZero() && !hasLogical(t) && lint.Moment(f.Name) {
			v.say(f.Pointer(), "type", fmt.Sprintf("the field %s sounds like a point in time and is a plain %s", quote(f.Name), t.Kind), "")
		}
	}},
	{Rule: note("union-of-many"), written: func(v *visit, t *avro.Type) {
		values := slices.DeleteFunc(slices.Clone(t.Branches), func(b *avro.Type) bool { return b.Kind == avro.Null })
		if len(values) > 1 {
			v.say(t.Pointer(), "", fmt.Sprintf("the union holds %d types beside null", len(values)), "")
		}
	}},
	{Rule: note("union-of-one"), written: func(v *visit, t *avro.Type) {
		if t.Kind == avro.Union && len(t.Branches) < 2 {
			v.say(t.Pointer(), "", "the union has no choice: it holds "+lint.Plural(len(t.Branches), "type", "types"), "")
		}
	}},
	{Rule: note("null-alone"), field: func(v *visit, _ *avro.Named, f *avro.Field) {
		if f.Type.Kind == avro.Null {
			v.say(f.Pointer(), "type", fmt.Sprintf("the field %s can hold nothing but null", quote(f.Name)), "")
		}
	}},
	{Rule: note("type-empty"), named: func(v *visit, n *avro.Named) {
		switch {
		case n.Kind == avro.Record && len(n.Fields) == 0:
			v.say(n.Pointer(), "fields", fmt.Sprintf("the record %s has no fields", quote(n.Name)), "")
		case n.Kind == avro.Enum && len(n.Symbols) == 0:
			v.say(n.Pointer(), "symbols", fmt.Sprintf("the enum %s has no symbols", quote(n.Name)), "")
		}
	}},
	{Rule: note("alias-of-itself"), named: func(v *visit, n *avro.Named) {
		v.itself(n.Pointer().Append("aliases"), n.Full, n.Name, n.Namespace)
	}, field: func(v *visit, _ *avro.Named, f *avro.Field) {
		v.itself(f.Pointer().Append("aliases"), f.Name, f.Name, "")
	}},
	{Rule: note("order-is-default"), field: func(v *visit, _ *avro.Named, f *avro.Field) {
		if at := v.edit.At(f.Pointer()).Get("order"); at != nil && at.Text == "ascending" {
			v.say(f.Pointer(), "order", fmt.Sprintf("the order of field %s is the one that it has anyway", quote(f.Name)), "", v.take(f.Pointer(), "order")...)
		}
	}},
	{Rule: note("type-wrapped"), written: func(v *visit, t *avro.Type) {
		if at := v.edit.At(t.Pointer()); t.Kind.IsPrimitive() && at != nil && at.Kind == jsontext.Object && len(at.Members) == 1 {
			v.say(t.Pointer(), "", fmt.Sprintf("the object holds nothing but the type %s", t.Kind), "", v.edit.Replace(at, jsontext.Quoted(t.Kind.String())))
		}
	}},
	{Rule: note("java-string"), written: func(v *visit, t *avro.Type) {
		for _, a := range t.Attributes {
			if a.Name == "avro.java.string" {
				v.say(t.Pointer(), a.Name, "the attribute avro.java.string is for one language alone", "")
			}
		}
	}},
	{Rule: asked("file-name"), schema: func(v *visit) {
		n := v.schema.Root().Named
		if n == nil || v.subject.Path == "" {
			return
		}
		stem, _, _ := strings.Cut(path.Base(v.subject.Path), ".")
		full := strings.TrimSuffix(path.Base(v.subject.Path), path.Ext(v.subject.Path))
		if lint.Plain(stem) != lint.Plain(n.Name) && full != n.Full {
			v.at = n.Full
			v.say(n.Pointer(), "name", fmt.Sprintf("the file %s is not called after the %s %s", quote(path.Base(v.subject.Path)), n.Kind, quote(n.Name)), "")
		}
	}},
}
