package protobuf

import (
	"math"
	"strconv"
	"strings"

	"github.com/bufbuild/protocompile/ast"

	"github.com/cartorio-registry/cartorio/schemas"
)

// maxTag is the largest field number.
const maxTag = 1<<29 - 1

// builder turns a syntax tree into a File.
type builder struct {
	tree *ast.FileNode
	scan *scanned
	file *File
}

// build reads tree, which parsed without an error.
func build(path string, tree *ast.FileNode, s *scanned) *File {
	b := &builder{tree: tree, scan: s, file: &File{Path: path}}
	f := b.file
	if tree.Syntax != nil {
		f.Syntax = tree.Syntax.Syntax.AsString()
	}
	if tree.Edition != nil {
		f.Edition = tree.Edition.Edition.AsString()
	}
	for _, d := range tree.Decls {
		if p, ok := d.(*ast.PackageNode); ok {
			f.Package = string(p.Name.AsIdentifier())
		}
	}
	root := schemas.Pointer("")
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.ImportNode:
			f.Imports = append(f.Imports, Import{
				Path: d.Name.AsString(), Public: d.Public != nil, Weak: d.Weak != nil,
				Place: b.place(d, (root + "/imports").Append(d.Name.AsString())),
			})
		case *ast.OptionNode:
			f.Options = append(f.Options, b.option(d, root))
		case *ast.MessageNode:
			f.Messages = append(f.Messages, b.message(d, d.Name.Val, &d.MessageBody, nil, root))
		case *ast.EnumNode:
			f.Enums = append(f.Enums, b.enum(d, nil, root))
		case *ast.ExtendNode:
			f.Extends = append(f.Extends, b.extend(d, nil, root))
		case *ast.ServiceNode:
			f.Services = append(f.Services, b.service(d, root))
		}
	}
	return f
}

func (b *builder) place(n ast.Node, p schemas.Pointer) schemas.Place {
	info := b.tree.NodeInfo(n)
	return schemas.Place{
		Pointer:  p,
		Position: b.scan.position(info.Start().Offset),
		End:      b.scan.position(info.End().Offset),
	}
}

func (b *builder) scope(parent *Message) string {
	if parent != nil {
		return parent.FullName
	}
	return b.file.Package
}

func join(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "." + name
}

func (b *builder) message(n ast.Node, name string, body *ast.MessageBody, parent *Message, at schemas.Pointer) *Message {
	at = (at + "/messages").Append(name)
	m := &Message{Name: name, FullName: join(b.scope(parent), name), File: b.file, Parent: parent, Place: b.place(n, at)}
	for _, d := range body.Decls {
		switch d := d.(type) {
		case *ast.OptionNode:
			m.Options = append(m.Options, b.option(d, at))
		case *ast.FieldNode:
			m.Fields = append(m.Fields, b.field(d, at+"/fields"))
		case *ast.MapFieldNode:
			m.Fields = append(m.Fields, b.mapField(d, at+"/fields"))
		case *ast.GroupNode:
			m.Groups = append(m.Groups, b.group(d, m, at, "/fields"))
		case *ast.OneofNode:
			m.Oneofs = append(m.Oneofs, b.oneof(d, m, at))
		case *ast.MessageNode:
			m.Messages = append(m.Messages, b.message(d, d.Name.Val, &d.MessageBody, m, at))
		case *ast.EnumNode:
			m.Enums = append(m.Enums, b.enum(d, m, at))
		case *ast.ExtendNode:
			m.Extends = append(m.Extends, b.extend(d, m, at))
		case *ast.ExtensionRangeNode:
			x := ExtensionRanges{Ranges: b.ranges(d.Ranges, maxTag), Place: b.place(d, at+"/extensions")}
			if d.Options != nil {
				for _, o := range d.Options.Options {
					x.Options = append(x.Options, b.option(o, at+"/extensions"))
				}
			}
			m.Extensions = append(m.Extensions, x)
		case *ast.ReservedNode:
			m.Reserved = b.reserved(m.Reserved, d, at, maxTag)
		}
	}
	return m
}

func label(l ast.FieldLabel) Label {
	switch {
	case !l.IsPresent():
		return NoLabel
	case l.Repeated:
		return Repeated
	case l.Required:
		return Required
	}
	return Optional
}

func tag(n *ast.UintLiteralNode) int32 {
	if n == nil || n.Val > math.MaxInt32 {
		return 0 // malformed; the compiler tells
	}
	return int32(n.Val)
}

func (b *builder) field(n *ast.FieldNode, at schemas.Pointer) *Field {
	f := &Field{
		Label: label(n.Label), Type: string(n.FldType.AsIdentifier()), Name: n.Name.Val, Number: tag(n.Tag),
	}
	f.Place = b.place(n, at.Append(strconv.Itoa(int(f.Number))))
	b.fieldOptions(f, n.Options)
	return f
}

func (b *builder) mapField(n *ast.MapFieldNode, at schemas.Pointer) *Field {
	f := &Field{
		Key: n.MapType.KeyType.Val, Value: string(n.MapType.ValueType.AsIdentifier()), Name: n.Name.Val, Number: tag(n.Tag),
	}
	f.Place = b.place(n, at.Append(strconv.Itoa(int(f.Number))))
	b.fieldOptions(f, n.Options)
	return f
}

func (b *builder) fieldOptions(f *Field, list *ast.CompactOptionsNode) {
	if list == nil {
		return
	}
	all := make([]Option, len(list.Options))
	for i, n := range list.Options {
		all[i] = b.option(n, f.Place.Pointer)
	}
	f.take(all)
}

// take gives a field its options.
func (f *Field) take(list []Option) {
	for _, o := range list {
		switch {
		case o.Is("default") && f.Default == nil:
			f.Default = &o.Value
		case o.Is("json_name") && o.Value.Kind == String && f.JSONName == nil:
			f.JSONName = &o.Value.Text
		default:
			f.Options = append(f.Options, o)
		}
	}
}

func (b *builder) group(n *ast.GroupNode, parent *Message, at, list schemas.Pointer) *Group {
	g := &Group{Label: label(n.Label), Number: tag(n.Tag)}
	g.Place = b.place(n, (at + list).Append(strconv.Itoa(int(g.Number))))
	if n.Options != nil {
		for _, o := range n.Options.Options {
			g.Options = append(g.Options, b.option(o, g.Place.Pointer))
		}
	}
	g.Body = b.message(n, n.Name.Val, &n.MessageBody, parent, at)
	return g
}

func (b *builder) oneof(n *ast.OneofNode, parent *Message, at schemas.Pointer) *Oneof {
	o := &Oneof{Name: n.Name.Val, Place: b.place(n, (at + "/oneofs").Append(n.Name.Val))}
	for _, d := range n.Decls {
		switch d := d.(type) {
		case *ast.OptionNode:
			o.Options = append(o.Options, b.option(d, o.Place.Pointer))
		case *ast.FieldNode:
			o.Fields = append(o.Fields, b.field(d, at+"/fields"))
		case *ast.GroupNode:
			o.Groups = append(o.Groups, b.group(d, parent, at, "/fields"))
		}
	}
	return o
}

func (b *builder) enum(n *ast.EnumNode, parent *Message, at schemas.Pointer) *Enum {
	at = (at + "/enums").Append(n.Name.Val)
	e := &Enum{Name: n.Name.Val, FullName: join(b.scope(parent), n.Name.Val), File: b.file, Place: b.place(n, at)}
	for _, d := range n.Decls {
		switch d := d.(type) {
		case *ast.OptionNode:
			e.Options = append(e.Options, b.option(d, at))
		case *ast.ReservedNode:
			e.Reserved = b.reserved(e.Reserved, d, at, math.MaxInt32)
		case *ast.EnumValueNode:
			v := &EnumValue{Name: d.Name.Val, Place: b.place(d, (at + "/values").Append(d.Name.Val))}
			v.Number, _ = ast.AsInt32(d.Number, math.MinInt32, math.MaxInt32)
			if d.Options != nil {
				for _, o := range d.Options.Options {
					v.Options = append(v.Options, b.option(o, v.Place.Pointer))
				}
			}
			e.Values = append(e.Values, v)
		}
	}
	return e
}

func (b *builder) extend(n *ast.ExtendNode, parent *Message, at schemas.Pointer) *Extend {
	x := &Extend{Extendee: string(n.Extendee.AsIdentifier()), Scope: b.scope(parent)}
	list := (at + "/extends").Append(x.Extendee)
	x.Place = b.place(n, list)
	for _, d := range n.Decls {
		switch d := d.(type) {
		case *ast.FieldNode:
			x.Fields = append(x.Fields, b.field(d, list+"/fields"))
		case *ast.GroupNode:
			x.Groups = append(x.Groups, b.group(d, parent, at, list[len(at):]+"/fields"))
		}
	}
	return x
}

func (b *builder) service(n *ast.ServiceNode, at schemas.Pointer) *Service {
	at = (at + "/services").Append(n.Name.Val)
	s := &Service{Name: n.Name.Val, Place: b.place(n, at)}
	for _, d := range n.Decls {
		switch d := d.(type) {
		case *ast.OptionNode:
			s.Options = append(s.Options, b.option(d, at))
		case *ast.RPCNode:
			m := &Method{
				Name: d.Name.Val, Place: b.place(d, (at + "/methods").Append(d.Name.Val)),
				Input: string(d.Input.MessageType.AsIdentifier()), ClientStream: d.Input.Stream != nil,
				Output: string(d.Output.MessageType.AsIdentifier()), ServerStream: d.Output.Stream != nil,
			}
			for _, o := range d.Decls {
				if o, ok := o.(*ast.OptionNode); ok {
					m.Options = append(m.Options, b.option(o, m.Place.Pointer))
				}
			}
			s.Methods = append(s.Methods, m)
		}
	}
	return s
}

// reserved appends a statement; one that was taken apart for the parser is put
// together again.
func (b *builder) reserved(list []Reserved, n *ast.ReservedNode, at schemas.Pointer, most int32) []Reserved {
	r := Reserved{Ranges: b.ranges(n.Ranges, most), Place: b.place(n, at+"/reserved")}
	for _, name := range n.Names {
		r.Names = append(r.Names, name.AsString())
	}
	for _, name := range n.Identifiers {
		r.Names, r.Bare = append(r.Names, name.Val), true
	}
	if len(list) > 0 && b.scan.isMade(b.tree.NodeInfo(n).Start().Offset) {
		last := &list[len(list)-1]
		last.Ranges, last.Names, last.Place.End = append(last.Ranges, r.Ranges...), append(last.Names, r.Names...), r.Place.End
		return list
	}
	return append(list, r)
}

func (b *builder) ranges(list []*ast.RangeNode, most int32) []Range {
	var out []Range
	for _, n := range list {
		var r Range
		r.Start, _ = n.StartValueAsInt32(math.MinInt32, most)
		r.End, _ = n.EndValueAsInt32(math.MinInt32, most)
		r.Max = n.Max != nil
		out = append(out, r)
	}
	return out
}

func (b *builder) option(n *ast.OptionNode, at schemas.Pointer) Option {
	o := Option{Value: b.value(n.Val)}
	var name strings.Builder
	for i, p := range n.Name.Parts {
		part := NamePart{Name: string(p.Name.AsIdentifier()), Extension: p.IsExtension()}
		if i > 0 {
			name.WriteByte('.')
		}
		if part.Extension {
			name.WriteString("(" + part.Name + ")")
		} else {
			name.WriteString(part.Name)
		}
		o.Name = append(o.Name, part)
	}
	o.Place = b.place(n, (at + "/options").Append(name.String()))
	return o
}

func (b *builder) value(n ast.ValueNode) Value {
	switch n := n.(type) {
	case ast.StringValueNode:
		return Value{Kind: String, Text: n.AsString()}
	case ast.IdentValueNode:
		return Value{Kind: Ident, Text: string(n.AsIdentifier())}
	case *ast.ArrayLiteralNode:
		v := Value{Kind: List}
		for _, e := range n.Elements {
			v.Items = append(v.Items, b.value(e))
		}
		return v
	case *ast.MessageLiteralNode:
		v := Value{Kind: Aggregate}
		at := map[string]int{}
		for _, e := range n.Elements {
			v.add(at, fieldReference(e.Name), b.value(e.Val))
		}
		return v
	case *ast.NegativeIntLiteralNode:
		return Value{Kind: Number, Text: "-" + b.tree.NodeInfo(n.Uint).RawText()}
	case *ast.SignedFloatLiteralNode:
		sign := ""
		if n.Sign.Rune == '-' {
			sign = "-"
		}
		return Value{Kind: Number, Text: sign + b.tree.NodeInfo(n.Float).RawText()}
	case *ast.SpecialFloatLiteralNode:
		return Value{Kind: Ident, Text: n.KeywordNode.Val}
	}
	return Value{Kind: Number, Text: b.tree.NodeInfo(n).RawText()}
}

func fieldReference(n *ast.FieldReferenceNode) string {
	switch {
	case n.IsAnyTypeReference():
		return "[" + string(n.URLPrefix.AsIdentifier()) + "/" + string(n.Name.AsIdentifier()) + "]"
	case n.IsExtension():
		return "[" + string(n.Name.AsIdentifier()) + "]"
	}
	return string(n.Name.AsIdentifier())
}

// add appends an entry; one that is there already becomes a list, which means
// the same in the text format. at holds the places of the names so far.
func (v *Value) add(at map[string]int, name string, value Value) {
	i, ok := at[name]
	if !ok {
		at[name] = len(v.Fields)
		v.Fields = append(v.Fields, ValueField{name, value})
		return
	}
	old := &v.Fields[i].Value
	if old.Kind != List {
		*old = Value{Kind: List, Items: []Value{*old}}
	}
	if value.Kind == List {
		old.Items = append(old.Items, value.Items...)
	} else {
		old.Items = append(old.Items, value)
	}
}
