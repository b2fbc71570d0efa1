package protobuf

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// none is the place of what is not there.
var none schemas.Place

func (c *categories) message(o, n *message) {
	for _, f := range o.fields {
		if f.extends {
			continue // told with the file that declares it
		}
		if g := n.withNumber(f.number); g != nil && !g.extends {
			c.field(o, n, f, g)
			continue
		}
		path := o.name + "." + f.name
		c.add("FIELD_NO_DELETE", path, f.place, n.place, "field %s, number %d, was deleted", f.name, f.number)
		if !n.reserved.has(int64(f.number)) {
			c.add("FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED", path, f.place, n.place, "field %s was deleted without reserving the number %d", f.name, f.number)
		}
		if !slices.Contains(n.reserved.names, f.name) {
			c.add("FIELD_NO_DELETE_UNLESS_NAME_RESERVED", path, f.place, n.place, "field %s was deleted without reserving its name", f.name)
		}
	}
	needs := func(m *message) (out []int) {
		for _, f := range m.fields {
			if f.card == required && !f.extends {
				out = append(out, int(f.number))
			}
		}
		return out
	}
	if before, after := needs(o), needs(n); !slices.Equal(before, after) {
		c.add("MESSAGE_SAME_REQUIRED_FIELDS", o.name, o.place, n.place, "the required fields changed from %v to %v", before, after)
	}
	for _, one := range o.oneofs {
		if n.desc().Oneofs().ByName(protoreflect.Name(one.name)) == nil {
			c.add("ONEOF_NO_DELETE", o.name+"."+one.name, one.place, n.place, "oneof %s was deleted", one.name)
		}
	}
	c.reserved("RESERVED_MESSAGE_NO_DELETE", o.name, o.place, n.place, o.reserved, n.reserved)
	for i := 0; i < len(o.ranges); i += 2 {
		r := [2]int64{int64(o.ranges[i]), int64(o.ranges[i+1])}
		var after reservation
		for j := 0; j < len(n.ranges); j += 2 {
			after.ranges = append(after.ranges, [2]int64{int64(n.ranges[j]), int64(n.ranges[j+1])})
		}
		after.tidy()
		if len(minus(r, after.ranges)) > 0 {
			c.add("EXTENSION_MESSAGE_NO_DELETE", o.name, o.place, n.place, "the extension range %s was deleted", rangeText(r))
		}
	}
	if !o.accessor && n.accessor {
		c.add("MESSAGE_NO_REMOVE_STANDARD_DESCRIPTOR_ACCESSOR", o.name, o.place, n.place, "the standard descriptor accessor was removed")
	}
	if protobuf.AllowsJSON(o.desc()) && !protobuf.AllowsJSON(n.desc()) {
		c.add("MESSAGE_SAME_JSON_FORMAT", o.name, o.place, n.place, "support of JSON is no longer promised")
	}
}

func (c *categories) reserved(rule, path string, old, next schemas.Place, before, after reservation) {
	for _, r := range before.ranges {
		for _, part := range minus(r, after.ranges) {
			c.add(rule, path, old, next, "%s is no longer reserved", rangeText(part))
		}
	}
	for _, name := range before.names {
		if !slices.Contains(after.names, name) {
			c.add(rule, path, old, next, "the name %s is no longer reserved", name)
		}
	}
}

func (c *categories) enum(o, n *enum) {
	places := make(map[string]schemas.Place, len(o.values))
	for _, v := range o.values {
		places[v.name] = v.place
	}
	for _, number := range distinct(o.values) {
		names := o.names[number]
		path := o.name + "." + names[0]
		place := places[names[0]]
		if len(n.names[number]) == 0 {
			c.add("ENUM_VALUE_NO_DELETE", path, place, n.place, "enum value %s, number %d, was deleted", names[0], number)
			if !n.reserved.has(int64(number)) {
				c.add("ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED", path, place, n.place, "enum value %s was deleted without reserving the number %d", names[0], number)
			}
			for _, name := range names {
				if !slices.Contains(n.reserved.names, name) {
					c.add("ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED", path, place, n.place, "enum value %s was deleted without reserving its name", name)
					break
				}
			}
			continue
		}
		for _, name := range names {
			if !slices.Contains(n.names[number], name) {
				c.add("ENUM_VALUE_SAME_NAME", path, place, n.place, "number %d is no longer called %s", number, name)
			}
		}
	}
	if o.closed != n.closed {
		c.add("ENUM_SAME_TYPE", o.name, o.place, n.place, "the enum was %s and is %s", openText(o), openText(n))
	}
	c.reserved("RESERVED_ENUM_NO_DELETE", o.name, o.place, n.place, o.reserved, n.reserved)
	if protobuf.AllowsJSON(o.desc()) && !protobuf.AllowsJSON(n.desc()) {
		c.add("ENUM_SAME_JSON_FORMAT", o.name, o.place, n.place, "support of JSON is no longer promised")
	}
}

func openText(e *enum) string {
	if e.closed {
		return "closed"
	}
	return "open"
}

// distinct are the numbers of values in text order, each once.
func distinct(values []value) (out []protoreflect.EnumNumber) {
	seen := map[protoreflect.EnumNumber]bool{}
	for _, v := range values {
		if !seen[v.number] {
			seen[v.number] = true
			out = append(out, v.number)
		}
	}
	return out
}

func (c *categories) field(om, nm *message, o, n *field) {
	path := om.name + "." + o.name
	add := func(rule, format string, args ...any) { c.add(rule, path, o.place, n.place, format, args...) }
	if o.name != n.name {
		add("FIELD_SAME_NAME", "field %d was called %s and is called %s", o.number, o.name, n.name)
	}
	if o.key != n.key {
		add("FIELD_SAME_JSON_NAME", "the JSON name of field %s changed from %s to %s", o.name, o.key, n.key)
	}
	if oneofName(o) != oneofName(n) {
		add("FIELD_SAME_ONEOF", "field %s was in %s and is in %s", o.name, orNoOneof(o), orNoOneof(n))
	}
	c.bufTypes(path, o, n)
	if o.card != n.card {
		text := fmt.Sprintf("field %s was %s and is %s", o.name, o.card, n.card)
		add("FIELD_SAME_CARDINALITY", "%s", text)
		if wireGroup(o.card) != wireGroup(n.card) {
			add("FIELD_WIRE_COMPATIBLE_CARDINALITY", "%s", text)
		}
		if jsonGroup(o.card) != jsonGroup(n.card) {
			add("FIELD_WIRE_JSON_COMPATIBLE_CARDINALITY", "%s", text)
		}
	}
	if before, after, ok := bufDefaults(o, n); ok && before != after {
		add("FIELD_SAME_DEFAULT", "the default of field %s changed from %q to %q", o.name, before, after)
	}
	if b, a := fieldOptions(o), fieldOptions(n); o.kind == n.kind {
		if b.GetJstype() != a.GetJstype() && is64(o.kind) {
			add("FIELD_SAME_JSTYPE", "the JavaScript type of field %s changed from %s to %s", o.name, b.GetJstype(), a.GetJstype())
		}
		if b.GetCtype() != a.GetCtype() && (o.kind == protoreflect.StringKind || o.kind == protoreflect.BytesKind) {
			add("FIELD_SAME_CPP_STRING_TYPE", "the C++ type of field %s changed from %s to %s", o.name, b.GetCtype(), a.GetCtype())
		}
	}
	if o.kind == protoreflect.StringKind && n.kind == o.kind && o.checked != n.checked {
		add("FIELD_SAME_UTF8_VALIDATION", "the validation of text in field %s changed", o.name)
	}
}

func is64(k protoreflect.Kind) bool {
	return strings.HasSuffix(k.String(), "64")
}

func fieldOptions(f *field) *descriptorpb.FieldOptions {
	if f.raw != nil {
		return f.raw
	}
	return &descriptorpb.FieldOptions{}
}

func oneofName(f *field) string {
	if f.oneof == nil {
		return ""
	}
	return f.oneof.name
}

func orNoOneof(f *field) string {
	if f.oneof == nil {
		return "no oneof"
	}
	return "oneof " + f.oneof.name
}

func wireGroup(c cardinality) int {
	return [...]int{implicit: 0, explicit: 0, required: 1, repeated: 2, mapped: 2}[c]
}

func jsonGroup(c cardinality) int {
	return [...]int{implicit: 0, explicit: 0, required: 1, repeated: 2, mapped: 3}[c]
}

// bufDefaults are the defaults as buf compares them: by value, an implied one
// included, and only of fields that can have one.
func bufDefaults(o, n *field) (before, after string, ok bool) {
	if o.card.isMany() || n.card.isMany() || o.message != nil || n.message != nil {
		return "", "", false
	}
	return defaultText(o), defaultText(n), o.kind == n.kind || o.enum == nil && n.enum == nil && numeric(o.kind) && numeric(n.kind)
}

func numeric(k protoreflect.Kind) bool {
	return k != protoreflect.StringKind && k != protoreflect.BytesKind && k != protoreflect.BoolKind && k != protoreflect.EnumKind
}

func defaultText(f *field) string {
	switch {
	case f.enum != nil:
		return fmt.Sprint(fallbackNumber(f))
	case f.fallback == "":
		return zeroText(f.kind)
	}
	return f.fallback
}

// The groups of kinds that buf lets change into one another.
//
// Source: protobuf compatibility, C.1.
var (
	bufWire = kindGroups("int32 int64 uint32 uint64 bool", "sint32 sint64", "fixed32 sfixed32", "fixed64 sfixed64")
	bufJSON = kindGroups("int32 uint32", "int64 uint64", "fixed32 sfixed32", "fixed64 sfixed64")
)

func kindGroups(lists ...string) map[protoreflect.Kind]int {
	out := map[protoreflect.Kind]int{}
	for i, list := range lists {
		for _, name := range strings.Fields(list) {
			out[kindNamed[name]] = i + 1
		}
	}
	return out
}

func (c *categories) bufTypes(path string, o, n *field) {
	text := fmt.Sprintf("field %s changed its type from %s to %s", o.name, typeText(o), typeText(n))
	add := func(rule string) { c.add(rule, path, o.place, n.place, "%s", text) }
	if o.card == mapped && n.card == mapped {
		if o.message.simple() != n.message.simple() {
			// The entry is named after the field, which buf takes for another type.
			add("FIELD_SAME_TYPE")
			add("FIELD_WIRE_COMPATIBLE_TYPE")
			add("FIELD_WIRE_JSON_COMPATIBLE_TYPE")
		}
		for _, number := range []protoreflect.FieldNumber{1, 2} {
			if a, b := o.message.withNumber(number), n.message.withNumber(number); a != nil && b != nil {
				c.bufTypes(path, a, b)
			}
		}
		return
	}
	typeName := func(f *field) string {
		switch {
		case f.message != nil:
			return f.message.name
		case f.enum != nil:
			return f.enum.name
		}
		return ""
	}
	if o.kind == n.kind && typeName(o) == typeName(n) {
		return
	}
	add("FIELD_SAME_TYPE")
	var wire, asJSON bool
	switch {
	case o.kind != n.kind:
		wire = bufWire[o.kind] != 0 && bufWire[o.kind] == bufWire[n.kind] || o.kind == protoreflect.StringKind && n.kind == protoreflect.BytesKind
		asJSON = bufJSON[o.kind] != 0 && bufJSON[o.kind] == bufJSON[n.kind]
	case o.enum != nil:
		wire = o.enum.simple() == n.enum.simple() && o.enum.isWithin(n.enum)
		asJSON = wire
	}
	if !wire {
		add("FIELD_WIRE_COMPATIBLE_TYPE")
	}
	if !asJSON {
		add("FIELD_WIRE_JSON_COMPATIBLE_TYPE")
	}
}

// isWithin tells whether other has every value of e.
func (e *enum) isWithin(other *enum) bool {
	for name, number := range e.byName {
		if n, ok := other.byName[name]; !ok || n != number {
			return false
		}
	}
	return true
}

// bufFileOptions are the options of which buf has a rule FILE_SAME_ each.
var bufFileOptions = []protoreflect.Name{
	"cc_enable_arenas", "cc_generic_services", "csharp_namespace", "go_package", "java_generic_services", "java_multiple_files",
	"java_outer_classname", "java_package", "objc_class_prefix", "optimize_for", "php_class_prefix", "php_metadata_namespace",
	"php_namespace", "py_generic_services", "ruby_package", "swift_prefix",
}

func (c *categories) file(o, n protoreflect.FileDescriptor) {
	path := c.old.path[o]
	if o.Package() != n.Package() {
		c.add("FILE_SAME_PACKAGE", path, none, none, "the package changed from %s to %s", orNone(string(o.Package())), orNone(string(n.Package())))
	}
	if o.Syntax() != n.Syntax() {
		c.add("FILE_SAME_SYNTAX", path, none, none, "the syntax changed from %s to %s", o.Syntax(), n.Syntax())
	}
	options := func(fd protoreflect.FileDescriptor) protoreflect.Message {
		if f, ok := fd.Options().(*descriptorpb.FileOptions); ok && f != nil {
			return f.ProtoReflect()
		}
		return (&descriptorpb.FileOptions{}).ProtoReflect()
	}
	before, after := options(o), options(n)
	for _, name := range bufFileOptions {
		fd := before.Descriptor().Fields().ByName(name)
		if a, b := before.Get(fd).String(), after.Get(fd).String(); a != b {
			c.add("FILE_SAME_"+strings.ToUpper(string(name)), path, none, none, "option %s changed from %q to %q", name, a, b)
		}
	}
}

func (c *categories) services(o, n protoreflect.FileDescriptor, packaged bool) {
	for i := range o.Services().Len() {
		s := o.Services().Get(i)
		var other protoreflect.ServiceDescriptor
		if n != nil {
			if other = n.Services().ByName(s.Name()); other == nil {
				c.add("SERVICE_NO_DELETE", string(s.FullName()), none, none, "service %s was deleted from its file", s.Name())
			}
		}
		if other == nil && packaged && !c.next.inPackage(o.Package(), func(fd protoreflect.FileDescriptor) bool { return fd.Services().ByName(s.Name()) != nil }) {
			c.add("PACKAGE_SERVICE_NO_DELETE", string(s.FullName()), none, none, "service %s was deleted from its package", s.Name())
		}
		if other != nil {
			c.methods(s, other)
		}
	}
}

func (c *categories) methods(o, n protoreflect.ServiceDescriptor) {
	for i := range o.Methods().Len() {
		m := o.Methods().Get(i)
		path := string(m.FullName())
		other := n.Methods().ByName(m.Name())
		if other == nil {
			c.add("RPC_NO_DELETE", path, none, none, "rpc %s was deleted", m.Name())
			continue
		}
		if a, b := m.Input().FullName(), other.Input().FullName(); a != b {
			c.add("RPC_SAME_REQUEST_TYPE", path, none, none, "the request of rpc %s changed from %s to %s", m.Name(), a, b)
		}
		if a, b := m.Output().FullName(), other.Output().FullName(); a != b {
			c.add("RPC_SAME_RESPONSE_TYPE", path, none, none, "the response of rpc %s changed from %s to %s", m.Name(), a, b)
		}
		if m.IsStreamingClient() != other.IsStreamingClient() {
			c.add("RPC_SAME_CLIENT_STREAMING", path, none, none, "the client stream of rpc %s changed", m.Name())
		}
		if m.IsStreamingServer() != other.IsStreamingServer() {
			c.add("RPC_SAME_SERVER_STREAMING", path, none, none, "the server stream of rpc %s changed", m.Name())
		}
		level := func(m protoreflect.MethodDescriptor) descriptorpb.MethodOptions_IdempotencyLevel {
			if o, ok := m.Options().(*descriptorpb.MethodOptions); ok && o != nil {
				return o.GetIdempotencyLevel()
			}
			return descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN
		}
		if a, b := level(m), level(other); a != b {
			c.add("RPC_SAME_IDEMPOTENCY_LEVEL", path, none, none, "the idempotency level of rpc %s changed from %s to %s", m.Name(), a, b)
		}
	}
}
