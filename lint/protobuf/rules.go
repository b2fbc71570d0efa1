package protobuf

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

func risk(id string, peers ...string) lint.Rule {
	return lint.Rule{ID: "protobuf." + id, Severity: compat.Risk, Peers: peers}
}

func note(id string, peers ...string) lint.Rule {
	return lint.Rule{ID: "protobuf." + id, Severity: compat.Note, Peers: peers}
}

func asked(id string, peers ...string) lint.Rule {
	return lint.Rule{ID: "protobuf." + id, Severity: compat.Note, Optional: true, Peers: peers}
}

// rules are the rules in the order in which they are listed; the peer is buf.
var rules = []rule{
	{Rule: risk("syntax-missing", "SYNTAX_SPECIFIED"), file: func(v *visit, f *protobuf.File) {
		if f.Syntax == "" && f.Edition == "" {
			v.say(v.start(), "the file does not say its syntax; it is read as proto2", "", v.atTop("syntax = \"proto2\";\n\n"))
		}
	}},
	{Rule: risk("package-missing", "PACKAGE_DEFINED"), file: func(v *visit, f *protobuf.File) {
		if f.Package == "" {
			v.say(v.start(), "the file is in no package", "")
		}
	}},
	{Rule: note("package-style", "PACKAGE_LOWER_SNAKE_CASE"), file: func(v *visit, f *protobuf.File) {
		if slices.ContainsFunc(strings.Split(f.Package, "."), func(p string) bool { return p != "" && !lint.IsSnake(p) }) {
			v.say(v.packageLine(), fmt.Sprintf("the package %s is not in small letters", f.Package), "")
		}
	}},
	{Rule: note("package-version-missing", "PACKAGE_VERSION_SUFFIX"), file: func(v *visit, f *protobuf.File) {
		if f.Package != "" && !versioned.MatchString(f.Package) {
			v.say(v.packageLine(), fmt.Sprintf("the package %s does not end with a version, as %s.v1", f.Package, f.Package), "")
		}
	}},
	{Rule: note("package-directory", "PACKAGE_DIRECTORY_MATCH", "DIRECTORY_SAME_PACKAGE"), file: func(v *visit, f *protobuf.File) {
		want := strings.ReplaceAll(f.Package, ".", "/")
		if dir := path.Dir(v.subject.Path); f.Package != "" && v.subject.Path != "" && dir != want && !strings.HasSuffix(dir, "/"+want) {
			v.say(v.packageLine(), fmt.Sprintf("the file of package %s lies in the folder %s, not in %s", f.Package, dir, want), "")
		}
	}},
	{Rule: note("file-name-style", "FILE_LOWER_SNAKE_CASE"), file: func(v *visit, _ *protobuf.File) {
		if stem := strings.TrimSuffix(path.Base(v.subject.Path), ".proto"); v.subject.Path != "" && !lint.IsSnake(stem) {
			v.say(v.start(), fmt.Sprintf("the file %s is not called in small letters, as %s.proto", path.Base(v.subject.Path), lint.Snake(stem)), "")
		}
	}},
	{Rule: note("import-unused", "IMPORT_USED"), file: func(v *visit, f *protobuf.File) {
		for _, i := range f.Imports {
			if !i.Public && !v.usesFile(i.Path) && v.doesWithout(i) {
				v.say(i.Place, fmt.Sprintf("nothing of the import %s is used", quote(i.Path)), i.Path, v.cut(i.Place))
			}
		}
	}},
	{Rule: note("import-public", "IMPORT_NO_PUBLIC"), file: func(v *visit, f *protobuf.File) {
		for _, i := range f.Imports {
			if i.Public {
				v.say(i.Place, fmt.Sprintf("the import %s is passed on to whoever imports this file", quote(i.Path)), i.Path)
			}
		}
	}},
	{Rule: risk("import-weak", "IMPORT_NO_WEAK"), file: func(v *visit, _ *protobuf.File) {
		// The file does not tell: weak imports are forgotten, as the reference does.
		for _, at := range weakImport.FindAllStringIndex(v.text, -1) {
			place := schemas.Place{Position: schemas.PositionAt(v.text, at[0]), End: schemas.PositionAt(v.text, at[1])}
			name := v.text[at[0]:at[1]]
			name = name[strings.IndexAny(name, `"'`)+1 : len(name)-1]
			v.say(place, fmt.Sprintf("the import %s is weak: most languages ignore the word", quote(name)), name)
		}
	}},
	{Rule: note("message-name-style", "MESSAGE_PASCAL_CASE"), message: func(v *visit, m *protobuf.Message) {
		if !lint.IsPascal(m.Name) {
			v.say(v.nameOf(m.Place, m.Name), fmt.Sprintf("the message %s is not called as messages are, %s", m.Name, lint.Pascal(m.Name)), "")
		}
	}},
	{Rule: note("field-name-style", "FIELD_LOWER_SNAKE_CASE"), field: func(v *visit, _ *protobuf.Message, f *protobuf.Field) {
		if !lint.IsSnake(f.Name) {
			v.say(f.Place, fmt.Sprintf("the field %s is not in small letters, as %s", f.Name, lint.Snake(f.Name)), "")
		}
	}},
	{Rule: note("oneof-name-style", "ONEOF_LOWER_SNAKE_CASE"), message: func(v *visit, m *protobuf.Message) {
		for _, o := range m.Oneofs {
			if !lint.IsSnake(o.Name) {
				v.say(v.nameOf(o.Place, o.Name), fmt.Sprintf("the oneof %s is not in small letters, as %s", o.Name, lint.Snake(o.Name)), o.Name)
			}
		}
	}},
	{Rule: note("enum-name-style", "ENUM_PASCAL_CASE"), enum: func(v *visit, e *protobuf.Enum) {
		if !lint.IsPascal(e.Name) {
			v.say(v.nameOf(e.Place, e.Name), fmt.Sprintf("the enum %s is not called as enums are, %s", e.Name, lint.Pascal(e.Name)), "")
		}
	}},
	{Rule: note("value-name-style", "ENUM_VALUE_UPPER_SNAKE_CASE"), enum: func(v *visit, e *protobuf.Enum) {
		for _, one := range e.Values {
			if !lint.IsUpperSnake(one.Name) {
				v.say(one.Place, fmt.Sprintf("the value %s is not in capitals, as %s", one.Name, lint.UpperSnake(one.Name)), one.Name)
			}
		}
	}},
	{Rule: note("value-prefix", "ENUM_VALUE_PREFIX"), enum: func(v *visit, e *protobuf.Enum) {
		prefix := lint.UpperSnake(e.Name) + "_"
		for _, one := range e.Values {
			if !strings.HasPrefix(one.Name, prefix) {
				v.say(one.Place, fmt.Sprintf("the value %s does not begin with %s", one.Name, prefix), one.Name)
			}
		}
	}},
	{Rule: note("zero-value-name", "ENUM_ZERO_VALUE_SUFFIX"), enum: func(v *visit, e *protobuf.Enum) {
		for _, one := range e.Values {
			if one.Number == 0 && !strings.HasSuffix(one.Name, "_UNSPECIFIED") && !strings.HasSuffix(one.Name, "_UNKNOWN") {
				v.say(one.Place, fmt.Sprintf("the value 0 of %s is called %s: it is also what is read where nothing was written", e.Name, one.Name), "")
				return
			}
		}
	}},
	{Rule: risk("first-value-not-zero", "ENUM_FIRST_VALUE_ZERO"), enum: func(v *visit, e *protobuf.Enum) {
		if len(e.Values) > 0 && e.Values[0].Number != 0 {
			v.say(e.Values[0].Place, fmt.Sprintf("the first value of %s is %d, not 0", e.Name, e.Values[0].Number), "")
		}
	}},
	{Rule: risk("enum-alias", "ENUM_NO_ALLOW_ALIAS"), enum: func(v *visit, e *protobuf.Enum) {
		for _, o := range e.Options {
			if o.Is("allow_alias") && o.Value.Text == "true" {
				v.say(o.Place, fmt.Sprintf("two values of %s may share a number", e.Name), "")
			}
		}
	}},
	{Rule: risk("values-alike"), enum: func(v *visit, e *protobuf.Enum) {
		seen := map[string]string{}
		prefix := lint.Plain(e.Name)
		for _, one := range e.Values {
			key := strings.TrimPrefix(lint.Plain(one.Name), prefix)
			if other, ok := seen[key]; ok {
				v.say(one.Place, fmt.Sprintf("the values %s and %s differ in case, signs and the enum's name alone", other, one.Name), one.Name)
			}
			seen[key] = one.Name
		}
	}},
	{Rule: risk("field-required", "FIELD_NOT_REQUIRED"), field: func(v *visit, _ *protobuf.Message, f *protobuf.Field) {
		if f.Label == protobuf.Required {
			v.say(f.Place, fmt.Sprintf("the field %s is required for ever", f.Name), "")
		}
	}},
	{Rule: risk("group"), message: func(v *visit, m *protobuf.Message) {
		for _, g := range groups(m) {
			v.say(g.Place, fmt.Sprintf("%s is a group", g.Body.Name), g.Body.Name)
		}
	}},
	{Rule: risk("names-alike"), message: func(v *visit, m *protobuf.Message) {
		seen := map[string]string{}
		fields(m, func(f *protobuf.Field) {
			key := lint.Plain(f.Name)
			if other, ok := seen[key]; ok {
				v.say(f.Place, fmt.Sprintf("the names of the fields %s and %s differ in case and signs alone", other, f.Name), f.Name)
			}
			seen[key] = f.Name
		})
	}},
	{Rule: risk("money-as-float"), field: func(v *visit, _ *protobuf.Message, f *protobuf.Field) {
		if (f.Type == "float" || f.Type == "double") && lint.Money(f.Name) {
			v.say(f.Place, fmt.Sprintf("the field %s sounds like money and is a %s", f.Name, f.Type), "")
		}
	}},
	{Rule: note("time-as-number"), field: func(v *visit, _ *protobuf.Message, f *protobuf.Field) {
		if slices.Contains(wholeNumbers, f.Type) && lint.Moment(f.Name) {
			v.say(f.Place, fmt.Sprintf("the field %s sounds like a point in time and is a plain %s", f.Name, f.Type), "")
		}
	}},
	{Rule: note("sensitive-untagged"), field: func(v *visit, m *protobuf.Message, f *protobuf.Field) {
		if lint.Sensitive(f.Name) && len(f.Options) == 0 && (m == nil || !slices.Contains(v.subject.Tagged, m.FullName+"."+f.Name)) {
			v.say(f.Place, fmt.Sprintf("the field %s sounds personal or secret and has no tag", f.Name), "")
		}
	}},
	{Rule: note("number-unreserved"), message: func(v *visit, m *protobuf.Message) {
		if gaps := gapsOf(m); gaps != "" {
			v.say(v.nameOf(m.Place, m.Name), unreserved(gaps, m.Name), gaps)
		}
	}},
	{Rule: note("value-unreserved"), enum: func(v *visit, e *protobuf.Enum) {
		if gaps := valueGaps(e); gaps != "" {
			v.say(v.nameOf(e.Place, e.Name), unreserved(gaps, e.Name), gaps)
		}
	}},
	{Rule: note("reserved-names-missing"), message: func(v *visit, m *protobuf.Message) {
		names, numbers := false, -1
		for i, r := range m.Reserved {
			if names = names || len(r.Names) > 0; len(r.Ranges) > 0 && numbers < 0 {
				numbers = i
			}
		}
		if numbers >= 0 && !names {
			v.say(m.Reserved[numbers].Place, fmt.Sprintf("%s reserves numbers and no names", m.Name), "")
		}
	}},
	{Rule: note("number-large"), field: func(v *visit, _ *protobuf.Message, f *protobuf.Field) {
		const most = 1 << 18 // a tag of more than three bytes
		if f.Number >= most {
			v.say(f.Place, fmt.Sprintf("the number %d of field %s costs %d bytes in each message", f.Number, f.Name, tagBytes(f.Number)), "")
		}
	}},
	{Rule: note("small-number-free"), message: func(v *visit, m *protobuf.Message) {
		lowest := int32(0)
		fields(m, func(f *protobuf.Field) {
			if lowest == 0 || f.Number < lowest {
				lowest = f.Number
			}
		})
		if lowest > 15 && len(m.Reserved) == 0 && len(m.Extensions) == 0 {
			v.say(v.nameOf(m.Place, m.Name), fmt.Sprintf("no field of %s has one of the numbers 1 to 15, which cost one byte", m.Name), "")
		}
	}},
	{Rule: note("repeated-unpacked"), field: func(v *visit, _ *protobuf.Message, f *protobuf.Field) {
		if f.Label == protobuf.Repeated && v.schema.File().Edition == "" && !v.schema.File().IsProto3() && packable(f.Type) &&
			!slices.ContainsFunc(f.Options, func(o protobuf.Option) bool { return o.Is("packed") }) {
			v.say(f.Place, fmt.Sprintf("the field %s is not packed: each number carries its tag", f.Name), "")
		}
	}},
	{Rule: note("oneof-of-one"), message: func(v *visit, m *protobuf.Message) {
		for _, o := range m.Oneofs {
			if len(o.Fields)+len(o.Groups) == 1 {
				v.say(v.nameOf(o.Place, o.Name), fmt.Sprintf("the oneof %s has one field", o.Name), o.Name)
			}
		}
	}},
	{Rule: asked("message-empty"), message: func(v *visit, m *protobuf.Message) {
		if len(m.Fields)+len(m.Oneofs)+len(m.Groups)+len(m.Extensions)+len(m.Messages)+len(m.Enums) == 0 {
			v.say(v.nameOf(m.Place, m.Name), fmt.Sprintf("the message %s has no fields", m.Name), "")
		}
	}},
	{Rule: note("service-name-style", "SERVICE_PASCAL_CASE"), service: func(v *visit, s *protobuf.Service) {
		if !lint.IsPascal(s.Name) {
			v.say(v.nameOf(s.Place, s.Name), fmt.Sprintf("the service %s is not called as services are, %s", s.Name, lint.Pascal(s.Name)), "")
		}
	}},
	{Rule: note("service-suffix", "SERVICE_SUFFIX"), service: func(v *visit, s *protobuf.Service) {
		if !strings.HasSuffix(s.Name, "Service") {
			v.say(v.nameOf(s.Place, s.Name), fmt.Sprintf("the name of the service %s does not end with Service", s.Name), "")
		}
	}},
	{Rule: note("rpc-name-style", "RPC_PASCAL_CASE"), service: func(v *visit, s *protobuf.Service) {
		for _, m := range s.Methods {
			if !lint.IsPascal(m.Name) {
				v.say(m.Place, fmt.Sprintf("the rpc %s is not called as rpcs are, %s", m.Name, lint.Pascal(m.Name)), m.Name)
			}
		}
	}},
	{Rule: note("rpc-request-name", "RPC_REQUEST_STANDARD_NAME"), service: func(v *visit, s *protobuf.Service) {
		for _, m := range s.Methods {
			if name := last(m.Input); name != m.Name+"Request" && name != s.Name+m.Name+"Request" {
				v.say(m.Place, fmt.Sprintf("the request of %s is %s, not %sRequest", m.Name, name, m.Name), m.Name)
			}
		}
	}},
	{Rule: note("rpc-response-name", "RPC_RESPONSE_STANDARD_NAME"), service: func(v *visit, s *protobuf.Service) {
		for _, m := range s.Methods {
			if name := last(m.Output); name != m.Name+"Response" && name != s.Name+m.Name+"Response" {
				v.say(m.Place, fmt.Sprintf("the response of %s is %s, not %sResponse", m.Name, name, m.Name), m.Name)
			}
		}
	}},
	{Rule: note("rpc-message-shared", "RPC_REQUEST_RESPONSE_UNIQUE"), file: func(v *visit, f *protobuf.File) {
		used := map[string]string{}
		for _, s := range f.Services {
			for _, m := range s.Methods {
				for _, name := range []string{m.Input, m.Output} {
					if other, ok := used[last(name)]; ok {
						v.at = s.Name + "." + m.Name
						v.say(m.Place, fmt.Sprintf("%s is the message of %s and of %s", last(name), other, m.Name), name)
					}
					used[last(name)] = m.Name
				}
			}
		}
	}},
	{Rule: asked("rpc-streaming", "RPC_NO_CLIENT_STREAMING", "RPC_NO_SERVER_STREAMING"), service: func(v *visit, s *protobuf.Service) {
		for _, m := range s.Methods {
			if m.ClientStream || m.ServerStream {
				v.say(m.Place, fmt.Sprintf("the rpc %s streams", m.Name), m.Name)
			}
		}
	}},
	{Rule: asked("comment-missing", "COMMENT_MESSAGE", "COMMENT_ENUM", "COMMENT_SERVICE"), message: func(v *visit, m *protobuf.Message) {
		if m.Parent == nil && !v.commented(m.Place) {
			v.say(v.nameOf(m.Place, m.Name), fmt.Sprintf("the message %s has no comment", m.Name), "")
		}
	}, enum: func(v *visit, e *protobuf.Enum) {
		if !v.commented(e.Place) {
			v.say(v.nameOf(e.Place, e.Name), fmt.Sprintf("the enum %s has no comment", e.Name), "")
		}
	}, service: func(v *visit, s *protobuf.Service) {
		if !v.commented(s.Place) {
			v.say(v.nameOf(s.Place, s.Name), fmt.Sprintf("the service %s has no comment", s.Name), "")
		}
	}},
	{Rule: asked("field-comment-missing", "COMMENT_FIELD"), field: func(v *visit, _ *protobuf.Message, f *protobuf.Field) {
		if !v.commented(f.Place) {
			v.say(f.Place, fmt.Sprintf("the field %s has no comment", f.Name), "")
		}
	}},
	{Rule: note("json-name-is-default"), field: func(v *visit, _ *protobuf.Message, f *protobuf.Field) {
		if f.JSONName != nil && *f.JSONName == jsonName(f.Name) {
			v.say(f.Place, fmt.Sprintf("the json_name %s of field %s is the one that it has anyway", quote(*f.JSONName), f.Name), "")
		}
	}},
}

// atTop inserts a text before the first statement, behind the comments that
// stand at the top of the file.
func (v *visit) atTop(text string) jsontext.Edit {
	at := 0
	for at < len(v.text) {
		rest := v.text[at:]
		trimmed := strings.TrimLeft(rest, " \t\r\n")
		skipped := len(rest) - len(trimmed)
		switch {
		case strings.HasPrefix(trimmed, "//"):
			end := strings.IndexByte(trimmed, '\n')
			if end < 0 {
				return jsontext.Edit{Start: len(v.text), End: len(v.text), Text: "\n" + text}
			}
			at += skipped + end + 1
			continue
		case strings.HasPrefix(trimmed, "/*"):
			if end := strings.Index(trimmed, "*/"); end > 0 {
				at += skipped + end + 2
				continue
			}
		}
		at += skipped
		break
	}
	return jsontext.Edit{Start: at, End: at, Text: text}
}
