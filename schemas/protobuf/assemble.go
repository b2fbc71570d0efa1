package protobuf

import (
	"fmt"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// assembly makes the descriptor of a proto3 file without the compiler, which
// takes several times as long. It knows plain declarations and the commonest
// options. Whatever it does not know, or what might be wrong, it leaves to the
// compiler, which has the words for it: it never takes what the compiler
// refuses, and what it makes is what the compiler would.
type assembly struct {
	file    *File
	imports []*Linked
	// visible are the files whose types the file may use.
	visible []protoreflect.FileDescriptor
	// names are the full names that the file declares.
	names  map[string]declared
	failed bool
}

// declared is what a full name stands for; the zero value is anything but a type.
type declared uint8

const (
	otherName declared = iota
	messageName
	enumName
	packageName
)

// The compiler's own bounds on a package's name and on the numbers of fields.
const (
	mostPackage   = 500
	mostParts     = 100
	firstReserved = 19_000
	lastReserved  = 19_999
)

// mostLookups bounds the names of a file by the files that it sees.
const mostLookups = 1 << 16

// assemble answers nil for a file that is the compiler's. Its imports have their
// names in the table; with keep it puts its own there. What protobuf-go makes of a
// stored file, which was accepted once, waits until somebody asks for it: to compare
// takes none of that.
func assemble(path string, u *unit, imports []*Linked, names *nameTable, keep, stored bool) *Linked {
	a := &assembly{file: u.file, imports: imports}
	fd := a.draft(path, u.scan)
	if fd == nil || !a.sound(fd) {
		return nil
	}
	var l *Linked
	if stored {
		l = newLazy(path, u.file.Package, imports, sync.OnceValue(func() protoreflect.FileDescriptor {
			desc, err := link(fd, imports)
			if err != nil {
				panic(fmt.Sprintf("file %s is sound and cannot be linked: %v", path, err)) // a defect of sound
			}
			return desc
		}))
	} else {
		desc, err := link(fd, imports)
		if err != nil {
			return nil
		}
		l = newLinked(desc, imports)
	}
	l.plain = fd
	if !names.takes(l, keep) {
		return nil
	}
	l.digest(u.scan.text)
	return l
}

func link(fd *descriptorpb.FileDescriptorProto, imports []*Linked) (protoreflect.FileDescriptor, error) {
	files := make(importing, len(imports))
	for i, one := range imports {
		files[i] = one.Desc()
	}
	return protodesc.NewFile(fd, files)
}

// draft is the descriptor of the file; nil where it is the compiler's.
func (a *assembly) draft(path string, s *scanned) *descriptorpb.FileDescriptorProto {
	f := a.file
	if f.Syntax != "proto3" || len(f.Extends) > 0 || s.apart || len(f.Package) > mostPackage || strings.Count(f.Package, ".") > mostParts {
		return nil
	}
	// What the bundled files define is in nobody's table of names.
	for _, root := range roots {
		if strings.HasPrefix(f.Package+".", root) {
			return nil
		}
	}
	a.names = make(map[string]declared, s.declarations)
	a.see()
	if len(a.visible)*s.declarations > mostLookups {
		return nil
	}
	a.declare()
	if fd := a.descriptor(path); !a.failed {
		return fd
	}
	return nil
}

// fail leaves the file to the compiler.
func (a *assembly) fail() { a.failed = true }

// see lists the imported files, with what they import publicly.
func (a *assembly) see() {
	seen := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(fd protoreflect.FileDescriptor) {
		if seen[fd.Path()] {
			return
		}
		seen[fd.Path()] = true
		a.visible = append(a.visible, fd)
		for i := range fd.Imports().Len() {
			if one := fd.Imports().Get(i); one.IsPublic {
				add(one.FileDescriptor)
			}
		}
	}
	for _, one := range a.imports {
		add(one.Desc())
		if o, ok := one.Desc().Options().(*descriptorpb.FileOptions); !ok || o.GetOptimizeFor() == descriptorpb.FileOptions_LITE_RUNTIME {
			a.fail()
		}
	}
}

func (a *assembly) name(full string, d declared) {
	if _, taken := a.names[full]; taken {
		a.fail()
	}
	a.names[full] = d
}

// declare collects the names of the file.
func (a *assembly) declare() {
	f := a.file
	a.enums(f.Package, f.Enums)
	for _, s := range f.Services {
		full := join(f.Package, s.Name)
		a.name(full, otherName)
		for _, m := range s.Methods {
			a.name(full+"."+m.Name, otherName)
		}
	}
	f.each(func(m *Message) {
		if len(m.Groups)+len(m.Extensions)+len(m.Extends) > 0 {
			a.fail()
		}
		a.name(m.FullName, messageName)
		a.enums(m.FullName, m.Enums)
		for _, o := range m.Oneofs {
			a.name(m.FullName+"."+o.Name, otherName)
		}
		a.members(m)
	})
}

// members declares the fields of a message, and what the compiler makes of them.
func (a *assembly) members(m *Message) {
	field := func(f *Field) {
		a.name(m.FullName+"."+f.Name, otherName)
		if f.Number < 1 || f.Number > maxTag || f.Number >= firstReserved && f.Number <= lastReserved {
			a.fail()
		}
		if f.Default != nil || f.JSONName != nil || f.Label == Required || f.Name[0] == '_' {
			a.fail()
		}
		switch {
		case f.IsMap():
			a.name(m.FullName+"."+entryName(f.Name), otherName)
		case f.Label == Optional:
			a.name(m.FullName+"._"+f.Name, otherName)
		}
	}
	for _, f := range m.Fields {
		field(f)
	}
	for _, o := range m.Oneofs {
		for _, f := range o.Fields {
			field(f)
		}
	}
}

// entryName is the name of the message that a map's entries are.
func entryName(field string) string {
	name := jsonName(field)
	return strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):] + "Entry"
}

func (a *assembly) enums(scope string, list []*Enum) {
	for _, e := range list {
		a.name(e.FullName, enumName)
		seen := map[string]bool{}
		own := folded(e.Name)
		for _, v := range e.Values {
			a.name(join(scope, v.Name), otherName)
			// Values whose names are alike but for case, underscores and the
			// enum's name may be one in JSON.
			alike := folded(v.Name)
			if rest := strings.TrimPrefix(alike, own); rest != "" {
				alike = rest
			}
			if seen[alike] {
				a.fail()
			}
			seen[alike] = true
		}
	}
}

func folded(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// nameTable holds the names of the files of a tree that others import, so that
// no two files of a closure define one. Two that never meet in a closure may
// clash in it, which costs time and is no fault.
type nameTable struct {
	mu       sync.Mutex
	names    map[string]string // full names to the paths of their files
	packages map[string]string // and every part that packages begin with, to one that has it
}

// takes is false where a name of the file is another's; else, with keep, its
// names are kept.
func (t *nameTable) takes(l *Linked, keep bool) bool {
	path, pack := l.path, l.pack
	tops := l.tops()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range tops {
		if other, taken := t.names[name]; taken && other != path {
			return false
		}
		if _, taken := t.packages[name]; taken {
			return false
		}
	}
	parts := packageParts(pack)
	for _, part := range parts {
		if _, taken := t.names[part]; taken {
			return false
		}
	}
	if !keep {
		return true
	}
	for _, name := range tops {
		t.names[name] = path
	}
	for _, part := range parts {
		t.packages[part] = path
	}
	return true
}

// packageParts are a, a.b and a.b.c of a.b.c.
func packageParts(pack string) (list []string) {
	for i := range len(pack) {
		if pack[i] == '.' {
			list = append(list, pack[:i])
		}
	}
	if pack != "" {
		list = append(list, pack)
	}
	return list
}

// tops are the full names that a file defines in its package.
func (l *Linked) tops() (list []string) {
	if l.plain == nil {
		return topNames(l.Desc())
	}
	for _, m := range l.plain.MessageType {
		list = append(list, join(l.pack, m.GetName()))
	}
	for _, e := range l.plain.EnumType {
		list = append(list, join(l.pack, e.GetName()))
		for _, v := range e.Value {
			list = append(list, join(l.pack, v.GetName()))
		}
	}
	for _, s := range l.plain.Service {
		list = append(list, join(l.pack, s.GetName()))
	}
	return list
}

// topNames are those of a linked file.
func topNames(fd protoreflect.FileDescriptor) (list []string) {
	for i := range fd.Messages().Len() {
		list = append(list, string(fd.Messages().Get(i).FullName()))
	}
	for i := range fd.Enums().Len() {
		e := fd.Enums().Get(i)
		list = append(list, string(e.FullName()))
		for j := range e.Values().Len() {
			list = append(list, string(e.Values().Get(j).FullName()))
		}
	}
	for i := range fd.Services().Len() {
		list = append(list, string(fd.Services().Get(i).FullName()))
	}
	for i := range fd.Extensions().Len() {
		list = append(list, string(fd.Extensions().Get(i).FullName()))
	}
	return list
}
