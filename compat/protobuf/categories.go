package protobuf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// categoryRules says in which of buf's categories each of its rules is: F is
// FILE, P PACKAGE, J WIRE_JSON, W WIRE, C CSR.
//
// Source: protobuf compatibility, C.1 (buf 1.75.0, configuration v2).
var categoryRules = map[string]string{
	"FIELD_SAME_TYPE": "FPC", "FIELD_WIRE_COMPATIBLE_TYPE": "W", "FIELD_WIRE_JSON_COMPATIBLE_TYPE": "JC",
	"FIELD_SAME_CARDINALITY": "FP", "FIELD_WIRE_COMPATIBLE_CARDINALITY": "W", "FIELD_WIRE_JSON_COMPATIBLE_CARDINALITY": "JC",
	"FIELD_SAME_ONEOF": "FPJWC", "FIELD_SAME_NAME": "FPJC", "FIELD_SAME_JSON_NAME": "FPJC", "FIELD_SAME_DEFAULT": "FPJWC",
	"FIELD_NO_DELETE": "FPC", "FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED": "WJC", "FIELD_NO_DELETE_UNLESS_NAME_RESERVED": "JC",
	"FIELD_SAME_JSTYPE": "FP", "FIELD_SAME_CPP_STRING_TYPE": "FP", "FIELD_SAME_UTF8_VALIDATION": "FP",
	"MESSAGE_SAME_REQUIRED_FIELDS": "FPJWC", "MESSAGE_NO_DELETE": "FC", "PACKAGE_MESSAGE_NO_DELETE": "P",
	"MESSAGE_SAME_JSON_FORMAT": "FPJC", "ENUM_SAME_JSON_FORMAT": "FPJC", "MESSAGE_NO_REMOVE_STANDARD_DESCRIPTOR_ACCESSOR": "FPC",
	"RESERVED_MESSAGE_NO_DELETE": "FPJWC", "RESERVED_ENUM_NO_DELETE": "FPJWC",
	"EXTENSION_MESSAGE_NO_DELETE": "FPC", "EXTENSION_NO_DELETE": "F", "PACKAGE_EXTENSION_NO_DELETE": "P",
	"ONEOF_NO_DELETE": "FPC", "ENUM_NO_DELETE": "FC", "PACKAGE_ENUM_NO_DELETE": "P",
	"ENUM_VALUE_NO_DELETE": "FPC", "ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED": "WJC", "ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED": "JC",
	"ENUM_VALUE_SAME_NAME": "FPJC", "ENUM_SAME_TYPE": "FP",
	"SERVICE_NO_DELETE": "F", "PACKAGE_SERVICE_NO_DELETE": "P", "RPC_NO_DELETE": "FP",
	"RPC_SAME_REQUEST_TYPE": "FPJWC", "RPC_SAME_RESPONSE_TYPE": "FPJWC", "RPC_SAME_CLIENT_STREAMING": "FPJWC",
	"RPC_SAME_SERVER_STREAMING": "FPJWC", "RPC_SAME_IDEMPOTENCY_LEVEL": "FPJWC",
	"FILE_SAME_PACKAGE": "FPJWC", "FILE_SAME_SYNTAX": "FPC", "FILE_NO_DELETE": "FC", "PACKAGE_NO_DELETE": "P",
}

// categoryLetters are buf's categories as categoryRules writes them.
var categoryLetters = map[string]string{"FILE": "F", "PACKAGE": "P", "WIRE_JSON": "J", "WIRE": "W", "CSR": "C"}

// CategoryNames lists buf's categories, the strictest first.
func CategoryNames() []string { return []string{"FILE", "PACKAGE", "CSR", "WIRE_JSON", "WIRE"} }

// Categories tells what buf would refuse in a change from old to next in one of
// its categories, one difference a finding, by file and in the order of the old
// text: Type is buf's rule, Path the element, Info a sentence. buf has no
// direction: it judges for both.
//
// The references that the registry brings are files like the schema's own and
// are compared by path; bundled files are not looked at.
//
// Errors: compat.ErrNotChecked, wrapped, when a side is no Protobuf schema or
// does not compile; an unknown category.
// Source: protobuf compatibility, C.1.
func Categories(old, next schemas.Schema, category string) ([]compat.Difference, error) {
	letter, ok := categoryLetters[category]
	if !ok {
		return nil, fmt.Errorf("category %q is none of %s", category, strings.Join(CategoryNames(), ", "))
	}
	var sides [2]*module
	for i, s := range []schemas.Schema{old, next} {
		p := compiledOf(s)
		if p == nil {
			return nil, fmt.Errorf("%w: the %s schema is no Protobuf schema", compat.ErrNotChecked, [2]string{"old", "new"}[i])
		}
		m := modelOf(p)
		if m == nil {
			return nil, fmt.Errorf("%w: the %s schema does not compile: %w", compat.ErrNotChecked, [2]string{"old", "new"}[i], p.Problem())
		}
		sides[i] = newModule(m)
	}
	c := &categories{old: sides[0], next: sides[1], letter: letter}
	c.modules()
	return c.list, nil
}

// module is the files that buf would be given.
type module struct {
	model *model
	files []protoreflect.FileDescriptor
	path  map[protoreflect.FileDescriptor]string
}

func newModule(m *model) *module {
	out := &module{model: m, path: map[protoreflect.FileDescriptor]string{}}
	own := m.schema.Descriptor()
	whole, _ := m.schema.Whole()
	for _, l := range whole.All() {
		fd := l.Desc()
		if fd != own && m.schema.Bundled(fd.Path()) != nil {
			continue
		}
		out.files = append(out.files, fd)
		if out.path[fd] = fd.Path(); fd == own {
			out.path[fd] = "" // it may have another name on each side
		}
	}
	slices.SortFunc(out.files, func(a, b protoreflect.FileDescriptor) int { return cmp.Compare(out.path[a], out.path[b]) })
	return out
}

func (m *module) file(path string) protoreflect.FileDescriptor {
	for _, fd := range m.files {
		if m.path[fd] == path {
			return fd
		}
	}
	return nil
}

// isElsewhere tells whether a file of the closure is not the schema's own.
func (m *module) isElsewhere(fd protoreflect.FileDescriptor) bool {
	return fd.Path() != m.model.schema.Descriptor().Path()
}

// inPackage tells whether find holds for some file of the package.
func (m *module) inPackage(name protoreflect.FullName, find func(protoreflect.FileDescriptor) bool) bool {
	return slices.ContainsFunc(m.files, func(fd protoreflect.FileDescriptor) bool { return fd.Package() == name && find(fd) })
}

type categories struct {
	old, next *module
	letter    string
	elsewhere [2]bool // of what is being compared; see within
	list      []compat.Difference
}

// within compares what the old file o and the new file n declare. Their places
// are elsewhere where the file is not the schema's own; n is nil where it is gone.
func (c *categories) within(o, n protoreflect.FileDescriptor, compare func()) {
	around := c.elsewhere
	defer func() { c.elsewhere = around }()
	c.elsewhere[0] = c.old.isElsewhere(o)
	if c.elsewhere[1] = c.elsewhere[0]; n != nil {
		c.elsewhere[1] = c.next.isElsewhere(n)
	}
	compare()
}

// add tells one finding of a rule, if the category has it.
func (c *categories) add(rule, path string, old, next schemas.Place, format string, args ...any) {
	letters, known := categoryRules[rule]
	if !known {
		letters = "FP" // FILE_SAME_ and an option
	}
	if !strings.Contains(letters, c.letter) {
		return
	}
	c.list = append(c.list, compat.Difference{Type: rule, Path: path, Info: fmt.Sprintf(format, args...), Writer: old, Reader: next, Elsewhere: c.elsewhere})
}

func (c *categories) modules() {
	for _, o := range c.old.files {
		path := c.old.path[o]
		n := c.next.file(path)
		c.within(o, n, func() {
			if n != nil {
				c.file(o, n)
			} else {
				c.add("FILE_NO_DELETE", path, schemas.Place{}, schemas.Place{}, "file %s was deleted", path)
			}
			c.declared(o, path)
		})
	}
	told := map[protoreflect.FullName]bool{}
	for _, o := range c.old.files {
		if name := o.Package(); name != "" && !told[name] && !c.next.inPackage(name, func(protoreflect.FileDescriptor) bool { return true }) {
			told[name] = true
			c.within(o, c.next.file(c.old.path[o]), func() {
				c.add("PACKAGE_NO_DELETE", string(name), schemas.Place{}, schemas.Place{}, "package %s was deleted", name)
			})
		}
	}
}

// declared tells which declarations of a file are gone from the file or the
// package, and compares those that are left.
func (c *categories) declared(o protoreflect.FileDescriptor, path string) {
	n := c.next.file(path)
	packaged := c.next.inPackage(o.Package(), func(protoreflect.FileDescriptor) bool { return true })
	messages, enums := flat(o)
	for _, m := range messages {
		name := local(m)
		var other protoreflect.MessageDescriptor
		if n != nil {
			other = messageNamed(n, name)
		}
		here := c.old.model.message(string(m.FullName()))
		switch {
		case n != nil && other == nil:
			c.add("MESSAGE_NO_DELETE", string(m.FullName()), here.place, schemas.Place{}, "message %s was deleted from its file", m.FullName())
		case other != nil:
			c.message(here, c.next.model.message(string(other.FullName())))
		}
		if other == nil {
			for _, fd := range c.next.files {
				if moved := messageNamed(fd, name); moved != nil && fd.Package() == o.Package() {
					other = moved
				}
			}
			if other == nil && c.next.inPackage(o.Package(), func(fd protoreflect.FileDescriptor) bool { return fd.Messages().Len() > 0 }) {
				c.add("PACKAGE_MESSAGE_NO_DELETE", string(m.FullName()), here.place, schemas.Place{}, "message %s was deleted from its package", m.FullName())
			}
			if other != nil && c.letter == "P" {
				c.within(o, other.ParentFile(), func() { c.message(here, c.next.model.message(string(other.FullName()))) })
			}
		}
	}
	for _, e := range enums {
		name := local(e)
		var other protoreflect.EnumDescriptor
		if n != nil {
			other = enumNamed(n, name)
		}
		here := c.old.model.enum(string(e.FullName()))
		switch {
		case n != nil && other == nil:
			c.add("ENUM_NO_DELETE", string(e.FullName()), here.place, schemas.Place{}, "enum %s was deleted from its file", e.FullName())
		case other != nil:
			c.enum(here, c.next.model.enum(string(other.FullName())))
		}
		if other == nil {
			for _, fd := range c.next.files {
				if moved := enumNamed(fd, name); moved != nil && fd.Package() == o.Package() {
					other = moved
				}
			}
			// buf compares the enums of packages that have one left.
			if other == nil && c.next.inPackage(o.Package(), func(fd protoreflect.FileDescriptor) bool { _, list := flat(fd); return len(list) > 0 }) {
				c.add("PACKAGE_ENUM_NO_DELETE", string(e.FullName()), here.place, schemas.Place{}, "enum %s was deleted from its package", e.FullName())
			}
			if other != nil && c.letter == "P" {
				c.within(o, other.ParentFile(), func() { c.enum(here, c.next.model.enum(string(other.FullName()))) })
			}
		}
	}
	c.extensions(o, n, packaged)
	c.services(o, n, packaged)
}

// flat lists the messages, map entries left out, and the enums of a file.
func flat(fd protoreflect.FileDescriptor) (messages []protoreflect.MessageDescriptor, enums []protoreflect.EnumDescriptor) {
	var walk func(protoreflect.MessageDescriptors, protoreflect.EnumDescriptors)
	walk = func(list protoreflect.MessageDescriptors, own protoreflect.EnumDescriptors) {
		for i := range own.Len() {
			enums = append(enums, own.Get(i))
		}
		for i := range list.Len() {
			if m := list.Get(i); !m.IsMapEntry() {
				messages = append(messages, m)
				walk(m.Messages(), m.Enums())
			}
		}
	}
	walk(fd.Messages(), fd.Enums())
	return messages, enums
}

func messageNamed(fd protoreflect.FileDescriptor, name string) protoreflect.MessageDescriptor {
	parts := strings.Split(name, ".")
	m := fd.Messages().ByName(protoreflect.Name(parts[0]))
	for _, part := range parts[1:] {
		if m == nil {
			return nil
		}
		m = m.Messages().ByName(protoreflect.Name(part))
	}
	return m
}

func enumNamed(fd protoreflect.FileDescriptor, name string) protoreflect.EnumDescriptor {
	around, last := "", name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		around, last = name[:i], name[i+1:]
	}
	if around == "" {
		return fd.Enums().ByName(protoreflect.Name(last))
	}
	if m := messageNamed(fd, around); m != nil {
		return m.Enums().ByName(protoreflect.Name(last))
	}
	return nil
}

func (c *categories) extensions(o, n protoreflect.FileDescriptor, packaged bool) {
	for _, x := range extensionsOf(o) {
		name := local(x)
		var other protoreflect.FieldDescriptor
		if n != nil {
			if other = extensionNamed(n, name); other == nil {
				c.add("EXTENSION_NO_DELETE", string(x.FullName()), schemas.Place{}, schemas.Place{}, "extension %s was deleted from its file", x.FullName())
			}
		}
		for _, fd := range c.next.files {
			if other == nil && fd.Package() == o.Package() {
				other = extensionNamed(fd, name)
			}
		}
		if other == nil && packaged {
			c.add("PACKAGE_EXTENSION_NO_DELETE", string(x.FullName()), schemas.Place{}, schemas.Place{}, "extension %s was deleted from its package", x.FullName())
		}
		// As fields they are known by number.
		before, after := c.old.model.message(string(x.ContainingMessage().FullName())), c.next.model.message(string(x.ContainingMessage().FullName()))
		if after == nil {
			continue
		}
		f, g := before.withNumber(x.Number()), after.withNumber(x.Number())
		if f != nil && g != nil && g.extends {
			// Their places are those of the messages that they extend.
			c.within(before.desc().ParentFile(), after.desc().ParentFile(), func() { c.field(before, after, f, g) })
		}
	}
}

func extensionsOf(fd protoreflect.FileDescriptor) (out []protoreflect.FieldDescriptor) {
	var walk func(protoreflect.ExtensionDescriptors, protoreflect.MessageDescriptors)
	walk = func(list protoreflect.ExtensionDescriptors, nested protoreflect.MessageDescriptors) {
		for i := range list.Len() {
			out = append(out, list.Get(i))
		}
		for i := range nested.Len() {
			walk(nested.Get(i).Extensions(), nested.Get(i).Messages())
		}
	}
	walk(fd.Extensions(), fd.Messages())
	return out
}

func extensionNamed(fd protoreflect.FileDescriptor, name string) protoreflect.FieldDescriptor {
	for _, x := range extensionsOf(fd) {
		if local(x) == name {
			return x
		}
	}
	return nil
}
