package protobuf

import (
	"context"
	"embed"
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/cartorio-registry/cartorio/schemas"
)

// The google/protobuf files come linked in with the compiler; google/type and
// confluent are written anew from their public definition.
//
//go:embed bundled
var bundledTexts embed.FS

var bundledPaths = map[string]bool{
	"google/protobuf/any.proto":             true,
	"google/protobuf/api.proto":             true,
	"google/protobuf/compiler/plugin.proto": true,
	"google/protobuf/descriptor.proto":      true,
	"google/protobuf/duration.proto":        true,
	"google/protobuf/empty.proto":           true,
	"google/protobuf/field_mask.proto":      true,
	// Editions name their language features from these; the reference, which
	// has no editions, lacks them.
	"google/protobuf/cpp_features.proto":   true,
	"google/protobuf/go_features.proto":    true,
	"google/protobuf/java_features.proto":  true,
	"google/protobuf/source_context.proto": true,
	"google/protobuf/struct.proto":         true,
	"google/protobuf/timestamp.proto":      true,
	"google/protobuf/type.proto":           true,
	"google/protobuf/wrappers.proto":       true,
	"google/type/calendar_period.proto":    true,
	"google/type/color.proto":              true,
	"google/type/date.proto":               true,
	"google/type/datetime.proto":           true,
	"google/type/dayofweek.proto":          true,
	"google/type/decimal.proto":            true,
	"google/type/expr.proto":               true,
	"google/type/fraction.proto":           true,
	"google/type/interval.proto":           true,
	"google/type/latlng.proto":             true,
	"google/type/localized_text.proto":     true,
	"google/type/money.proto":              true,
	"google/type/month.proto":              true,
	"google/type/phone_number.proto":       true,
	"google/type/postal_address.proto":     true,
	"google/type/quaternion.proto":         true,
	"google/type/timeofday.proto":          true,
	"confluent/meta.proto":                 true,
	"confluent/type/decimal.proto":         true,
	"confluent/type/variant.proto":         true,
	// Redpanda has the decimal file under this path.
	"confluent/types/decimal.proto": true,
}

// Bundled lists the import paths that resolve without a reference, sorted.
//
// Source: protobuf compatibility, E.6.
func Bundled() []string {
	list := make([]string, 0, len(bundledPaths))
	for path := range bundledPaths {
		list = append(list, path)
	}
	sort.Strings(list)
	return list
}

// library is the bundled files, parsed and linked.
type library struct {
	linked map[string]protoreflect.FileDescriptor
	units  map[string]*unit
	types  *dynamicpb.Types
	index  *index
}

// find answers the file that defines a full name.
func (l *library) find(name string) (Symbol, bool) {
	s, ok := l.index.symbols[name]
	return s, ok
}

// aliases are second paths to a file; they are no files of their own in
// look-ups by name.
var aliases = map[string]string{"confluent/types/decimal.proto": "confluent/type/decimal.proto"}

// bundled builds the library once. It is part of the program, so a defect in it
// is a panic at the first use, which every test meets.
var bundled = sync.OnceValue(func() *library {
	l := &library{linked: map[string]protoreflect.FileDescriptor{}, units: map[string]*unit{}, index: newIndex()}
	standard := protocompile.WithStandardImports(protocompile.ResolverFunc(func(path string) (protocompile.SearchResult, error) {
		from := path
		if other, ok := aliases[path]; ok {
			from = other
		}
		text, err := bundledTexts.ReadFile("bundled/" + from)
		if err != nil {
			return protocompile.SearchResult{}, err
		}
		return protocompile.SearchResult{Source: strings.NewReader(string(text))}, nil
	}))
	for _, path := range Bundled() {
		files, err := (&protocompile.Compiler{Resolver: standard}).Compile(context.Background(), path)
		if err != nil {
			panic(fmt.Sprintf("bundled file %s: %v", path, err))
		}
		l.linked[path] = files[0]
		f, err := fromProto(protoutil.ProtoFromFileDescriptor(files[0]))
		if err != nil {
			panic(fmt.Sprintf("bundled file %s: %v", path, err))
		}
		u, err := readText(path, f.print(true), schemas.DefaultLimits(), true)
		if err != nil {
			panic(fmt.Sprintf("bundled file %s: %v", path, err))
		}
		u.file.Origin = Origin{Bundled: true}
		l.units[path] = u
		if _, ok := aliases[path]; !ok {
			l.index.addFile(u.file)
		}
	}
	list := make([]protoreflect.FileDescriptor, 0, len(l.linked))
	for _, path := range Bundled() {
		list = append(list, l.linked[path])
	}
	l.types = typesOf(list)
	return l
})
