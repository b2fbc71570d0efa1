package protobuf

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Normalized is the canonical text with order that means nothing sorted and
// names made absolute, and the references sorted and made distinct.
//
// Message, enum, service and rpc order is kept, since payloads carry message
// indexes; so is the first value of an enum, which is the default of the closed
// ones and must be zero in the open ones.
//
// Source: protobuf compatibility, E.3; REST contract 5.1.3.
func (s *Schema) Normalized() (string, []schemas.Reference) {
	n := &normalizer{schema: s}
	n.rewriter = &rewriter{
		index: s.index, visible: visibleTo(s.file, s.fileAt), own: s.file,
		absolute: func(s Symbol) string { return "." + s.Name },
		option:   func(s Symbol) string { return s.Name },
	}
	f := n.rewriter.file(s.file)
	n.file(f)
	refs := slices.Clone(s.source.References)
	slices.SortFunc(refs, func(a, b schemas.Reference) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Name, b.Name))
	})
	return f.print(false), slices.Compact(refs)
}

// normalizer sorts a File that is a copy of its own.
type normalizer struct {
	schema   *Schema
	rewriter *rewriter
}

func (n *normalizer) file(f *File) {
	f.Imports = slices.Clone(f.Imports)
	slices.SortStableFunc(f.Imports, func(a, b Import) int { return cmp.Compare(a.Path, b.Path) })
	f.Imports = slices.CompactFunc(f.Imports, func(a, b Import) bool { return a.Path == b.Path && a.Public == b.Public })
	f.Options = n.options(f.Options)
	for _, m := range f.Messages {
		n.message(m)
	}
	for _, e := range f.Enums {
		n.enum(e)
	}
	f.Extends = n.extends(f.Extends)
	for _, s := range f.Services {
		s.Options = n.options(s.Options)
		for _, m := range s.Methods {
			m.Options = n.options(m.Options)
		}
	}
}

func (n *normalizer) message(m *Message) {
	m.Reserved = splitReserved(m.Reserved)
	m.Options = n.options(m.Options)
	n.fields(m.Fields)
	m.Oneofs = slices.DeleteFunc(m.Oneofs, func(o *Oneof) bool { return len(o.Fields)+len(o.Groups) == 0 })
	for _, o := range m.Oneofs {
		o.Options = n.options(o.Options)
		n.fields(o.Fields)
		n.groups(o.Groups)
	}
	slices.SortStableFunc(m.Oneofs, func(a, b *Oneof) int { return cmp.Compare(a.lowest(), b.lowest()) })
	n.groups(m.Groups)
	var ranges []ExtensionRanges
	for _, x := range m.Extensions {
		for _, r := range x.Ranges {
			ranges = append(ranges, ExtensionRanges{Ranges: []Range{r}, Options: n.options(x.Options)})
		}
	}
	slices.SortStableFunc(ranges, func(a, b ExtensionRanges) int { return cmp.Compare(a.Ranges[0].Start, b.Ranges[0].Start) })
	m.Extensions = ranges
	m.Extends = n.extends(m.Extends)
	for _, nested := range m.Messages {
		n.message(nested)
	}
	for _, e := range m.Enums {
		n.enum(e)
	}
}

// lowest is the lowest number of a member.
func (o *Oneof) lowest() int32 {
	low := int32(math.MaxInt32)
	for _, f := range o.Fields {
		low = min(low, f.Number)
	}
	for _, g := range o.Groups {
		low = min(low, g.Number)
	}
	return low
}

func (n *normalizer) fields(list []*Field) {
	for _, f := range list {
		f.Options = n.options(f.Options)
		if f.Default != nil {
			v := n.value(*f.Default)
			f.Default = &v
		}
	}
	slices.SortStableFunc(list, func(a, b *Field) int { return cmp.Compare(a.Number, b.Number) })
}

func (n *normalizer) groups(list []*Group) {
	for _, g := range list {
		g.Options = n.options(g.Options)
		n.message(g.Body)
	}
	slices.SortStableFunc(list, func(a, b *Group) int { return cmp.Compare(a.Number, b.Number) })
}

func (n *normalizer) enum(e *Enum) {
	e.Reserved = splitReserved(e.Reserved)
	e.Options = n.options(e.Options)
	for _, v := range e.Values {
		v.Options = n.options(v.Options)
	}
	if len(e.Values) > 1 {
		slices.SortStableFunc(e.Values[1:], func(a, b *EnumValue) int {
			return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name))
		})
	}
}

func (n *normalizer) extends(list []*Extend) []*Extend {
	var out []*Extend
	at := map[string]*Extend{}
	for _, x := range list {
		if first := at[x.Extendee]; first != nil {
			first.Fields = append(first.Fields, x.Fields...)
			first.Groups = append(first.Groups, x.Groups...)
			continue
		}
		at[x.Extendee] = x
		out = append(out, x)
	}
	for _, x := range out {
		n.fields(x.Fields)
		n.groups(x.Groups)
	}
	return out
}

// splitReserved gives each number range and each name a statement of its own.
func splitReserved(list []Reserved) []Reserved {
	var numbers, names []Reserved
	for _, r := range list {
		for _, one := range r.Ranges {
			numbers = append(numbers, Reserved{Ranges: []Range{one}})
		}
		for _, one := range r.Names {
			names = append(names, Reserved{Names: []string{one}, Bare: r.Bare})
		}
	}
	slices.SortStableFunc(numbers, func(a, b Reserved) int { return cmp.Compare(a.Ranges[0].Start, b.Ranges[0].Start) })
	slices.SortStableFunc(names, func(a, b Reserved) int { return cmp.Compare(a.Names[0], b.Names[0]) })
	return append(numbers, names...)
}

// options sorts options by name and folds paths into values: what is said of
// one option in several assignments becomes one aggregate.
func (n *normalizer) options(list []Option) []Option {
	var out []Option
	at := map[string]int{}
	more := map[int][]Value{} // of out[i], what else is assigned to it
	for _, o := range list {
		_, repeated := n.optionType(o.Name[0])
		o.Value = n.value(o.Value)
		for i := len(o.Name) - 1; i > 0; i-- {
			name := o.Name[i].Name
			if o.Name[i].Extension {
				name = "[" + name + "]"
			}
			o.Value = Value{Kind: Aggregate, Fields: []ValueField{{name, o.Value}}}
		}
		o.Name = o.Name[:1]
		i, ok := at[o.name()]
		if !ok || repeated || o.Value.Kind != Aggregate || out[i].Value.Kind != Aggregate {
			at[o.name()] = len(out)
			out = append(out, o)
			continue
		}
		more[i] = append(more[i], o.Value)
	}
	for i := range out {
		if rest := more[i]; rest != nil {
			message, _ := n.optionType(out[i].Name[0])
			out[i].Value = n.merge(append([]Value{out[i].Value}, rest...), message)
		}
	}
	slices.SortStableFunc(out, func(a, b Option) int { return cmp.Compare(a.Name[0].Name, b.Name[0].Name) })
	return out
}

// optionType is the message type of an option, nil for none known, and whether
// the option may be set more than once.
func (n *normalizer) optionType(head NamePart) (*Message, bool) {
	if !head.Extension {
		return nil, repeatedOptions()[head.Name]
	}
	s, ok := n.rewriter.resolve("", head.Name, Symbol.isExtension)
	if !ok {
		return nil, false
	}
	return n.messageOf(s.Scope, s.Extension), s.Extension.Label == Repeated
}

// repeatedOptions are the options without parentheses that may be set more than
// once.
var repeatedOptions = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, m := range bundledFiles["google/protobuf/descriptor.proto"].unit().file.Messages {
		for _, f := range m.Fields {
			if strings.HasSuffix(m.Name, "Options") && f.Label == Repeated {
				out[f.Name] = true
			}
		}
	}
	return out
})

func (n *normalizer) messageOf(scope string, f *Field) *Message {
	if f == nil || f.IsMap() {
		return nil
	}
	s, ok := n.rewriter.resolve(scope, f.Type, Symbol.IsType)
	if !ok {
		return nil
	}
	return s.Message
}

// merge makes one aggregate of several, all values of one option or field of
// type m, which may be unknown.
func (n *normalizer) merge(list []Value, m *Message) Value {
	out := Value{Kind: Aggregate}
	at := map[string]int{}
	var all [][]Value
	for _, v := range list {
		for _, entry := range v.Fields {
			i, ok := at[entry.Name]
			if !ok {
				i = len(all)
				at[entry.Name] = i
				out.Fields = append(out.Fields, ValueField{Name: entry.Name})
				all = append(all, nil)
			}
			all[i] = append(all[i], entry.Value)
		}
	}
	for i, values := range all {
		out.Fields[i].Value = n.mergeField(values, m, out.Fields[i].Name)
	}
	sortEntries(out.Fields)
	return out
}

func (n *normalizer) mergeField(values []Value, m *Message, name string) Value {
	if len(values) == 1 {
		return values[0]
	}
	field := m.named(name)
	single := field == nil || field.Label != Repeated && !field.IsMap()
	if single && !slices.ContainsFunc(values, func(v Value) bool { return v.Kind != Aggregate }) {
		var sub *Message
		if field != nil {
			sub = n.messageOf(m.FullName, field)
		}
		return n.merge(values, sub)
	}
	joined := Value{Kind: List}
	for _, v := range values {
		if v.Kind == List {
			joined.Items = append(joined.Items, v.Items...)
		} else {
			joined.Items = append(joined.Items, v)
		}
	}
	return joined
}

// named finds a field of a message that may be nil, by its name.
func (m *Message) named(name string) *Field {
	if m == nil {
		return nil
	}
	all := m.Fields[:len(m.Fields):len(m.Fields)]
	for _, o := range m.Oneofs {
		all = append(all, o.Fields...)
	}
	for _, f := range all {
		if f.Name == name {
			return f
		}
	}
	return nil
}

func sortEntries(list []ValueField) {
	slices.SortStableFunc(list, func(a, b ValueField) int { return cmp.Compare(a.Name, b.Name) })
}

// value sorts the keys of aggregates and rewrites numbers.
func (n *normalizer) value(v Value) Value {
	v.Items, v.Fields = slices.Clone(v.Items), slices.Clone(v.Fields)
	for i := range v.Items {
		v.Items[i] = n.value(v.Items[i])
	}
	for i := range v.Fields {
		v.Fields[i].Value = n.value(v.Fields[i].Value)
	}
	sortEntries(v.Fields)
	if v.Kind == Number {
		v.Text = decimal(v.Text)
	}
	return v
}

// decimal writes a number without base prefix and without exponent. All digits
// stay: the peer keeps three fraction digits, which changes values.
func decimal(text string) string {
	sign, digits := "", text
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		sign, digits = "-", rest
	}
	base := 10
	switch {
	case strings.HasPrefix(digits, "0x"), strings.HasPrefix(digits, "0X"):
		base, digits = 16, digits[2:]
	case len(digits) > 1 && digits[0] == '0' && !strings.ContainsAny(digits, ".eE"):
		base = 8
	}
	if n, err := strconv.ParseUint(digits, base, 64); err == nil {
		return sign + strconv.FormatUint(n, 10)
	}
	if f, err := strconv.ParseFloat(digits, 64); err == nil && base == 10 && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return sign + strconv.FormatFloat(f, 'f', -1, 64)
	}
	return text
}
