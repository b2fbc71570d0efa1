package protobuf

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// printer writes a File as canonical text.
//
// Sections inside a block are set apart by an empty line, and lines of a block,
// the empty ones too, carry its indentation: that is the reference's layout,
// byte for byte.
//
// Source: REST contract 5.1.3.
type printer struct {
	strings.Builder
	indent int
	// proto2 prints the syntax line of proto2 too.
	proto2 bool
}

// print gives the canonical text of f; withProto2 says whether `syntax =
// "proto2"` is printed where it was written.
func (f *File) print(withProto2 bool) string {
	p := &printer{proto2: withProto2}
	p.print(f)
	return p.String()
}

func (p *printer) line(format string, args ...any) {
	p.pad()
	p.printf(format, args...)
	p.WriteByte('\n')
}

// printf cannot fail: the builder never does.
func (p *printer) printf(format string, args ...any) { _, _ = fmt.Fprintf(p, format, args...) }

func (p *printer) pad() {
	for range p.indent {
		p.WriteString("  ")
	}
}

// gap is the empty line in front of a section of the file.
func (p *printer) gap(n int) bool {
	if n == 0 {
		return false
	}
	p.WriteByte('\n')
	return true
}

func (p *printer) print(f *File) {
	switch {
	case f.Edition != "":
		p.line("edition = %s;", quote(f.Edition))
	case f.Syntax != "" && (p.proto2 || f.IsProto3()):
		p.line("syntax = %s;", quote(f.Syntax))
	}
	if f.Package != "" {
		p.line("package %s;", f.Package)
	}
	plain, public := 0, 0
	for _, i := range f.Imports {
		if i.Public {
			public++
		} else {
			plain++
		}
	}
	p.gap(plain + public)
	for _, i := range f.Imports {
		if !i.Public {
			p.line("import %s;", quote(i.Path))
		}
	}
	for _, i := range f.Imports {
		if i.Public {
			p.line("import public %s;", quote(i.Path))
		}
	}
	if p.gap(len(f.Options)) {
		p.options(f.Options)
	}
	p.gap(len(f.Messages) + len(f.Enums))
	for _, m := range f.Messages {
		p.message(m, "message "+m.Name)
	}
	for _, e := range f.Enums {
		p.enum(e)
	}
	p.gap(len(f.Extends))
	for _, x := range f.Extends {
		p.extend(x)
	}
	p.gap(len(f.Services))
	for _, s := range f.Services {
		p.service(s)
	}
}

// block is an open brace and its sections.
type block struct {
	p     *printer
	empty bool
}

func (p *printer) open(head string) *block {
	p.pad()
	p.WriteString(head)
	p.WriteString(" {")
	return &block{p, true}
}

// section ends the brace's line, or sets the next section apart.
func (b *block) section(n int) bool {
	if n == 0 {
		return false
	}
	if b.empty {
		b.p.WriteByte('\n')
		b.p.indent++
		b.empty = false
		return true
	}
	b.p.indent--
	b.p.pad()
	b.p.indent++
	b.p.WriteByte('\n')
	return true
}

// more continues the last section, or begins the first.
func (b *block) more(n int) bool {
	if b.empty {
		return b.section(n)
	}
	return n > 0
}

func (b *block) close(end string) {
	if !b.empty {
		b.p.indent--
		b.p.pad()
	}
	b.p.WriteString(end)
	b.p.WriteByte('\n')
}

func (p *printer) message(m *Message, head string) {
	b := p.open(head)
	if b.section(len(m.Reserved)) {
		p.reserved(m.Reserved)
	}
	if b.section(len(m.Options)) {
		p.options(m.Options)
	}
	if b.section(len(m.Fields)) {
		p.fields(m.Fields)
	}
	if b.section(len(m.Oneofs)) {
		for _, o := range m.Oneofs {
			p.oneof(o)
		}
	}
	if b.section(len(m.Groups)) {
		p.groups(m.Groups)
	}
	if b.section(len(m.Extensions)) {
		for _, x := range m.Extensions {
			p.pad()
			p.WriteString("extensions " + ranges(x.Ranges))
			p.bracketed(x.Options)
			p.WriteString(";\n")
		}
	}
	if b.section(len(m.Extends)) {
		for _, x := range m.Extends {
			p.extend(x)
		}
	}
	if b.section(len(m.Messages) + len(m.Enums)) {
		for _, n := range m.Messages {
			p.message(n, "message "+n.Name)
		}
		for _, e := range m.Enums {
			p.enum(e)
		}
	}
	b.close("}")
}

func (p *printer) oneof(o *Oneof) {
	b := p.open("oneof " + o.Name)
	if b.section(len(o.Options)) {
		p.options(o.Options)
	}
	if b.section(len(o.Fields)) {
		p.fields(o.Fields)
	}
	if b.section(len(o.Groups)) {
		p.groups(o.Groups)
	}
	b.close("}")
}

func (p *printer) groups(list []*Group) {
	for _, g := range list {
		head := "group " + g.Body.Name + " = " + strconv.Itoa(int(g.Number))
		if g.Label != NoLabel {
			head = g.Label.String() + " " + head
		}
		if len(g.Options) > 0 {
			sub := &printer{indent: p.indent}
			sub.bracketed(g.Options)
			head += sub.String()
		}
		p.message(g.Body, head)
	}
}

func (p *printer) enum(e *Enum) {
	b := p.open("enum " + e.Name)
	if b.section(len(e.Reserved)) {
		p.reserved(e.Reserved)
	}
	if b.more(len(e.Options)) {
		p.options(e.Options)
	}
	if b.more(len(e.Values)) {
		for _, v := range e.Values {
			p.pad()
			p.printf("%s = %d", v.Name, v.Number)
			p.bracketed(v.Options)
			p.WriteString(";\n")
		}
	}
	b.close("}")
}

func (p *printer) extend(x *Extend) {
	b := p.open("extend " + x.Extendee)
	if b.section(len(x.Fields)) {
		p.fields(x.Fields)
	}
	if b.section(len(x.Groups)) {
		p.groups(x.Groups)
	}
	b.close("}")
}

func (p *printer) service(s *Service) {
	b := p.open("service " + s.Name)
	if b.section(len(s.Options)) {
		p.options(s.Options)
	}
	if b.section(len(s.Methods)) {
		for _, m := range s.Methods {
			p.method(m)
		}
	}
	b.close("}")
}

func (p *printer) method(m *Method) {
	stream := func(is bool) string {
		if is {
			return "stream "
		}
		return ""
	}
	head := fmt.Sprintf("rpc %s (%s%s) returns (%s%s)", m.Name, stream(m.ClientStream), m.Input, stream(m.ServerStream), m.Output)
	if len(m.Options) == 0 {
		p.line("%s;", head)
		return
	}
	b := p.open(head)
	b.section(len(m.Options))
	p.options(m.Options)
	b.close("};")
}

func (p *printer) reserved(list []Reserved) {
	for _, r := range list {
		var items []string
		if len(r.Ranges) > 0 {
			items = append(items, ranges(r.Ranges))
		}
		for _, name := range r.Names {
			if !r.Bare {
				name = quote(name)
			}
			items = append(items, name)
		}
		p.line("reserved %s;", strings.Join(items, ", "))
	}
}

func ranges(list []Range) string {
	items := make([]string, len(list))
	for i, r := range list {
		switch {
		case r.Max:
			items[i] = fmt.Sprintf("%d to max", r.Start)
		case r.Start == r.End:
			items[i] = strconv.Itoa(int(r.Start))
		default:
			items[i] = fmt.Sprintf("%d to %d", r.Start, r.End)
		}
	}
	return strings.Join(items, ", ")
}

func (p *printer) fields(list []*Field) {
	for _, f := range list {
		p.pad()
		if f.Label != NoLabel {
			p.WriteString(f.Label.String() + " ")
		}
		if f.IsMap() {
			p.WriteString("map<" + f.Key + ", " + f.Value + ">")
		} else {
			p.WriteString(f.Type)
		}
		p.WriteByte(' ')
		p.WriteString(f.Name)
		p.WriteString(" = ")
		p.WriteString(strconv.Itoa(int(f.Number)))
		all := f.Options[:len(f.Options):len(f.Options)]
		if f.Default != nil {
			all = append(all, Option{Name: []NamePart{{Name: "default"}}, Value: *f.Default})
		}
		if f.JSONName != nil {
			all = append(all, Option{Name: []NamePart{{Name: "json_name"}}, Value: Value{Kind: String, Text: *f.JSONName}})
		}
		p.bracketed(all)
		p.WriteString(";\n")
	}
}

// options prints statements.
func (p *printer) options(list []Option) {
	for _, o := range list {
		p.pad()
		p.WriteString("option ")
		p.assignment(o)
		p.WriteString(";\n")
	}
}

// bracketed prints options behind a declaration: one inline, several on lines
// of their own.
func (p *printer) bracketed(list []Option) {
	switch len(list) {
	case 0:
	case 1:
		p.WriteString(" [")
		p.assignment(list[0])
		p.WriteString("]")
	default:
		p.WriteString(" [\n")
		p.indent++
		for i, o := range list {
			p.pad()
			p.assignment(o)
			if i < len(list)-1 {
				p.WriteByte(',')
			}
			p.WriteByte('\n')
		}
		p.indent--
		p.pad()
		p.WriteString("]")
	}
}

func (p *printer) assignment(o Option) {
	p.WriteString(o.name())
	p.WriteString(" = ")
	p.value(o.Value)
}

// name is the option's name as it is written.
func (o Option) name() string {
	parts := make([]string, len(o.Name))
	for i, n := range o.Name {
		parts[i] = n.Name
		if n.Extension {
			parts[i] = "(" + n.Name + ")"
		}
	}
	return strings.Join(parts, ".")
}

func (p *printer) value(v Value) {
	switch v.Kind {
	case Ident, Number:
		p.WriteString(v.Text)
	case String:
		p.WriteString(quote(v.Text))
	case List:
		p.nested("[", "]", len(v.Items), func(i int) { p.value(v.Items[i]) })
	case Aggregate:
		p.nested("{", "}", len(v.Fields), func(i int) {
			p.WriteString(v.Fields[i].Name + ": ")
			p.value(v.Fields[i].Value)
		})
	}
}

func (p *printer) nested(open, end string, n int, item func(int)) {
	p.WriteString(open + "\n")
	p.indent++
	for i := range n {
		p.pad()
		item(i)
		if i < n-1 {
			p.WriteByte(',')
		}
		p.WriteByte('\n')
	}
	p.indent--
	p.pad()
	p.WriteString(end)
}

// quote writes a string literal: the reference's escapes, and octal ones for
// what is no text, so that the result is always valid UTF-8.
func quote(s string) string {
	const named = "\a\b\f\n\r\t\v\\\"'"
	const letters = `abfnrtv\"'`
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch at := strings.IndexByte(named, s[i]); {
		case at >= 0:
			b.WriteByte('\\')
			b.WriteByte(letters[at])
		case r == utf8.RuneError && n == 1, r < ' ', r == 0x7f:
			fmt.Fprintf(&b, `\%03o`, s[i])
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	b.WriteByte('"')
	return b.String()
}
