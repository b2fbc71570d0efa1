package protobuf

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// codeOptions are the options of a file that name generated code.
//
// Source: protobuf compatibility, C.3.
var codeOptions = []protoreflect.Name{
	"java_package", "java_outer_classname", "java_multiple_files", "go_package", "cc_generic_services", "java_generic_services",
	"py_generic_services", "objc_class_prefix", "csharp_namespace", "swift_prefix", "php_class_prefix", "php_namespace",
	"php_metadata_namespace", "ruby_package",
}

// file tells changes of the file itself and of its services.
func (d *differ) file() {
	o, n := d.old, d.next
	if before, after := o.pack, n.pack; before != after {
		t := calm(o.whole, n.whole, "", fmt.Sprintf("the package changed from %s to %s", orNone(before), orNone(after)))
		t.path, t.before, t.after, t.source = "package", before, after, codeOther
		d.report(&packageChangedRule, t)
	}
	if before, after := syntaxOf(o.file), syntaxOf(n.file); before != after {
		t := calm(o.whole, n.whole, "syntax", fmt.Sprintf("the file was written in %s and is in %s", before, after))
		t.before, t.after = before, after
		d.report(&syntaxChanged, t)
	}
	before, after := fileOptions(o), fileOptions(n)
	for _, name := range codeOptions {
		a, b := optionValue(before, name), optionValue(after, name)
		if a == b {
			continue
		}
		t := calm(d.optionPlace(0, name), d.optionPlace(1, name), "option "+string(name), fmt.Sprintf("option %s, which names generated code, changed from %s to %s", name, orNone(a), orNone(b)))
		t.before, t.after, t.source = a, b, codeOther
		d.report(&fileCodeChanged, t)
	}
	without := append([]protoreflect.Name{"features"}, codeOptions...)
	if optionsText(before, without...) != optionsText(after, without...) {
		d.report(&optionChanged, calm(o.whole, n.whole, "options", "options of the file changed"))
	}
	d.services()
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// syntaxOf names the rules that a file is written by.
func syntaxOf(f *protobuf.File) string {
	switch {
	case f.Edition != "":
		return "edition " + f.Edition
	case f.Syntax != "":
		return f.Syntax
	}
	return "proto2"
}

func fileOptions(m *model) *descriptorpb.FileOptions {
	if p := m.linked.Plain(); p != nil && p.Options != nil {
		return p.Options
	} else if p != nil {
		return &descriptorpb.FileOptions{}
	}
	if o, ok := m.linked.Desc().Options().(*descriptorpb.FileOptions); ok && o != nil {
		return o
	}
	return &descriptorpb.FileOptions{}
}

func optionValue(o *descriptorpb.FileOptions, name protoreflect.Name) string {
	r := o.ProtoReflect()
	fd := r.Descriptor().Fields().ByName(name)
	if fd == nil || !r.Has(fd) {
		return ""
	}
	if v := r.Get(fd); fd.Kind() != protoreflect.BoolKind || v.Bool() {
		return v.String()
	}
	return "" // false is what it is anyway
}

func (d *differ) optionPlace(side int, name protoreflect.Name) schemas.Place {
	m := [2]*model{d.old, d.next}[side]
	if m.file == m.schema.File() {
		for _, o := range m.file.Options {
			if o.Is(string(name)) {
				return o.Place
			}
		}
	}
	return m.whole
}

func (m *model) servicePlace(service, method string) schemas.Place {
	if m.file != m.schema.File() {
		return m.whole
	}
	for _, s := range m.file.Services {
		if s.Name != service {
			continue
		}
		for _, one := range s.Methods {
			if one.Name == method {
				return one.Place
			}
		}
		return s.Place
	}
	return m.whole
}

// serves tells whether the file may declare services.
func (m *model) serves() bool {
	p := m.linked.Plain()
	return p == nil || len(p.Service) > 0
}

func (d *differ) services() {
	if !d.old.serves() && !d.next.serves() {
		return
	}
	before, after := d.old.linked.Desc().Services(), d.next.linked.Desc().Services()
	for i := range before.Len() {
		s := before.Get(i)
		other := after.ByName(s.Name())
		name := string(s.Name())
		if other == nil {
			t := calm(d.old.servicePlace(name, ""), d.next.whole, name, fmt.Sprintf("service %s was removed", name))
			t.before, t.source = name, codeGone
			d.report(&serviceRemoved, t)
			continue
		}
		d.methods(name, s.Methods(), other.Methods())
		if serviceOptions(s) != serviceOptions(other) {
			d.report(&optionChanged, calm(d.old.servicePlace(name, ""), d.next.servicePlace(name, ""), name, fmt.Sprintf("options of service %s changed", name)))
		}
	}
	for i := range after.Len() {
		s := after.Get(i)
		if name := string(s.Name()); before.ByName(s.Name()) == nil {
			t := calm(d.old.whole, d.next.servicePlace(name, ""), name, fmt.Sprintf("service %s was added", name))
			t.after, t.source = name, codeCome
			d.report(&serviceAdded, t)
		}
	}
}

func serviceOptions(s protoreflect.ServiceDescriptor) string {
	if o, ok := s.Options().(*descriptorpb.ServiceOptions); ok && o != nil {
		return optionsText(o, "features")
	}
	return ""
}

func (d *differ) methods(service string, before, after protoreflect.MethodDescriptors) {
	for i := range before.Len() {
		m := before.Get(i)
		name := string(m.Name())
		path := service + "." + name
		other := after.ByName(m.Name())
		from := d.old.servicePlace(service, name)
		if other == nil {
			t := calm(from, d.next.servicePlace(service, ""), path, fmt.Sprintf("rpc %s was removed", path))
			t.before, t.source = name, codeGone
			d.report(&rpcRemoved, t)
			continue
		}
		to := d.next.servicePlace(service, name)
		if a, b := d.signature(m, d.old), d.signature(other, d.next); a != b {
			t := calm(from, to, path, fmt.Sprintf("rpc %s changed from %s to %s", path, a, b))
			t.before, t.after, t.source = a, b, codeOther
			d.report(&rpcChanged, t)
		}
		if a, b := methodOptions(m), methodOptions(other); a != b {
			d.report(&optionChanged, calm(from, to, path, fmt.Sprintf("options of rpc %s changed", path)))
		}
	}
	for i := range after.Len() {
		m := after.Get(i)
		if name := string(m.Name()); before.ByName(m.Name()) == nil {
			path := service + "." + name
			t := calm(d.old.servicePlace(service, ""), d.next.servicePlace(service, name), path, fmt.Sprintf("rpc %s was added", path))
			t.after, t.source = name, codeCome
			d.report(&rpcAdded, t)
		}
	}
}

// signature is what a caller of an rpc sees. A type of the file itself has its
// name without the package, whose change is told once.
func (d *differ) signature(m protoreflect.MethodDescriptor, side *model) string {
	one := func(t protoreflect.MessageDescriptor, streams bool) string {
		name := string(t.FullName())
		if string(t.ParentFile().Package()) == side.pack {
			name = local(t)
		}
		if streams {
			return "(stream " + name + ")"
		}
		return "(" + name + ")"
	}
	return one(m.Input(), m.IsStreamingClient()) + " returns " + one(m.Output(), m.IsStreamingServer())
}

func methodOptions(m protoreflect.MethodDescriptor) string {
	if o, ok := m.Options().(*descriptorpb.MethodOptions); ok && o != nil {
		return optionsText(o, "features")
	}
	return ""
}
