package protobuf

import (
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// dependent is one side of a text that both sides have. What happens to its data
// happens in what it imports, so that its own messages are known by their shape
// and nothing is compiled, unless a payload is to be tried.
type dependent struct {
	source      schemas.Source
	fingerprint schemas.Fingerprint
	model       *model
	// news are the names that one side's closure has and the other's has not.
	news     []string
	compiled func() *protobuf.Schema // nil where it does not compile
}

// mostClosure is in bytes; no limit on a closure is met within it.
const mostClosure = 256 << 10

// Dependents answers the two sides of d. They compare as the schemas themselves
// would and are compiled only where payloads have to be tried. As with files that
// are the same on both sides, what is wrong with the text itself is not told.
//
// ok is false where the text is not plain, where a name that it may use came or
// went with its imports, or where the closure is large: then both sides have to
// be compiled.
func Dependents(d compat.Dependent) (old, next schemas.Schema, ok bool) {
	shape, ok := protobuf.ShapeOf(d.Source.Text)
	if !ok || len(shape.Messages) == 0 {
		return nil, nil, false
	}
	size := 0
	for _, text := range d.Closure {
		size += len(text)
	}
	if size > mostClosure {
		return nil, nil, false
	}
	var sides [2]*dependent
	var names []string
	for _, r := range d.Source.References {
		names = append(names, r.Name)
	}
	for i := range sides {
		s := &dependent{source: d.Source}
		var uses []schemas.Fingerprint
		for _, r := range d.References {
			var f schemas.Fingerprint
			if r.Old != nil {
				f = [2]schemas.Schema{r.Old, r.Next}[i].Fingerprint()
			}
			uses = append(uses, f)
		}
		s.fingerprint = schemas.FingerprintOf(schemas.Protobuf, d.Source.Text, names, uses)
		parse := [2]func() (schemas.Schema, error){d.Old, d.Next}[i]
		s.compiled = sync.OnceValue(func() *protobuf.Schema {
			got, err := parse()
			if err != nil {
				return nil
			}
			return compiledOf(got)
		})
		sides[i] = s
	}
	for _, r := range d.References {
		if r.Old == nil {
			continue
		}
		news, ok := newsOf(r.Old, r.Next)
		if !ok {
			return nil, nil, false
		}
		sides[0].news = append(sides[0].news, news...)
	}
	sides[1].news = sides[0].news
	for _, name := range sides[0].news {
		if strings.Contains(d.Source.Text, name) {
			return nil, nil, false
		}
		holders := 0
		for _, text := range d.Closure {
			if strings.Contains(text, name) {
				holders++
			}
		}
		if holders > 1 { // it may be defined twice now
			return nil, nil, false
		}
	}
	var b [2]*shaper
	for i := range b {
		b[i] = newShaper(shape, d, i)
		if !b[i].build() {
			return nil, nil, false
		}
		sides[i].model = b[i].model
	}
	return sides[0], sides[1], b[0].met == b[1].met
}

// dependents tells whether two schemas are the sides of one text.
func dependents(old, next schemas.Schema) (o, n *dependent, ok bool) {
	o, is := old.(*dependent)
	n, too := next.(*dependent)
	return o, n, is && too && o.source.Text == n.source.Text
}

// compiledOf is a schema as it was compiled, nil for none.
func compiledOf(s schemas.Schema) *protobuf.Schema {
	switch s := s.(type) {
	case *protobuf.Schema:
		return s
	case *dependent:
		return s.compiled()
	}
	return nil
}

// newsOf lists the names that came or went in a closure; ok is false where the
// types of its files are not apart.
func newsOf(old, next schemas.Schema) ([]string, bool) {
	if d, ok := next.(*dependent); ok {
		return d.news, true
	}
	o, n := compiledOf(old), compiledOf(next)
	if o == nil || n == nil {
		return nil, false
	}
	before, apart := o.Whole()
	after, too := n.Whole()
	if before == nil || after == nil || !apart || !too {
		return nil, false
	}
	a, b := symbolsOf(before), symbolsOf(after)
	var news []string
	for name := range a {
		if !b[name] {
			news = append(news, string(name.Name()))
		}
	}
	for name := range b {
		if !a[name] {
			news = append(news, string(name.Name()))
		}
	}
	return news, true
}

// symbolsOf are the full names that another file may use or clash with.
func symbolsOf(l *protobuf.Linked) map[protoreflect.FullName]bool {
	out := map[protoreflect.FullName]bool{}
	var types func(protoreflect.MessageDescriptors, protoreflect.EnumDescriptors)
	types = func(messages protoreflect.MessageDescriptors, enums protoreflect.EnumDescriptors) {
		for i := range enums.Len() {
			out[enums.Get(i).FullName()] = true
		}
		for i := range messages.Len() {
			m := messages.Get(i)
			out[m.FullName()] = true
			types(m.Messages(), m.Enums())
		}
	}
	for _, one := range l.All() {
		fd := one.Desc()
		if strings.HasPrefix(fd.Path(), "google/protobuf/") {
			continue // a closure without it does not use it
		}
		types(fd.Messages(), fd.Enums())
		for i := range fd.Enums().Len() {
			values := fd.Enums().Get(i).Values()
			for j := range values.Len() {
				out[values.Get(j).FullName()] = true
			}
		}
		for i := range fd.Services().Len() {
			out[fd.Services().Get(i).FullName()] = true
		}
	}
	return out
}

func (d *dependent) Source() schemas.Source { return d.source }

// Fingerprint is equal for both sides where nothing is different in what they
// refer to. It is not the compiled schema's.
func (d *dependent) Fingerprint() schemas.Fingerprint { return d.fingerprint }

func (d *dependent) Canonical() string {
	if s := d.compiled(); s != nil {
		return s.Canonical()
	}
	return d.source.Text
}

func (d *dependent) Normalized() (string, []schemas.Reference) {
	if s := d.compiled(); s != nil {
		return s.Normalized()
	}
	return d.source.Text, slices.Clone(d.source.References)
}

func (d *dependent) Equivalent(other schemas.Schema) bool {
	s, o := d.compiled(), compiledOf(other)
	return s != nil && o != nil && s.Equivalent(o)
}

func (d *dependent) Names() []string {
	if s := d.compiled(); s != nil {
		return s.Names()
	}
	return nil
}

func (d *dependent) Reads(writer schemas.Schema, payload schemas.Payload, options schemas.ReadOptions) schemas.Reading {
	s := d.compiled()
	if s == nil {
		return schemas.Reading{Violations: []schemas.Violation{{Kind: schemas.Invalid, Rule: "schema", Text: "the schema does not compile"}}}
	}
	if w := compiledOf(writer); w != nil {
		writer = w
	}
	return s.Reads(writer, payload, options)
}

func (d *dependent) Weight() int { return len(d.source.Text) }
