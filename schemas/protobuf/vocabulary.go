package protobuf

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Vocabulary lists every field of a file descriptor that a schema can set, as
// "Message.field" in the words of descriptor.proto, in its order. Source
// positions, generated-code and uninterpreted forms are no part of a schema.
func Vocabulary() []string {
	var out []string
	seen := map[protoreflect.FullName]bool{}
	var walk func(protoreflect.MessageDescriptor)
	walk = func(md protoreflect.MessageDescriptor) {
		switch md.Name() {
		case "SourceCodeInfo", "UninterpretedOption":
			return
		}
		if seen[md.FullName()] {
			return
		}
		seen[md.FullName()] = true
		for i := range md.Fields().Len() {
			fd := md.Fields().Get(i)
			if fd.Message() != nil && (fd.Message().Name() == "SourceCodeInfo" || fd.Message().Name() == "UninterpretedOption") {
				continue
			}
			out = append(out, strings.TrimPrefix(string(md.FullName()), "google.protobuf.")+"."+string(fd.Name()))
		}
		for i := range md.Fields().Len() {
			if m := md.Fields().Get(i).Message(); m != nil {
				walk(m)
			}
		}
	}
	walk((&descriptorpb.FileDescriptorProto{}).ProtoReflect().Descriptor())
	return out
}
