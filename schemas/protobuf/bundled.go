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

// aliases are second paths to a file; they are no files of their own in
// look-ups by name.
var aliases = map[string]string{"confluent/types/decimal.proto": "confluent/type/decimal.proto"}

// roots are the first parts of all names that bundled files define.
var roots = []string{"google.", "confluent.", "pb."}

// bundledFile is one of them, made at its first use: a program that reads one
// small schema needs none. They are part of the program, so a defect in one is
// a panic, which every test meets.
type bundledFile struct {
	linked func() protoreflect.FileDescriptor
	unit   func() *unit
}

var bundledFiles = func() map[string]bundledFile {
	out := map[string]bundledFile{}
	for path := range bundledPaths {
		linkedFile := sync.OnceValue(func() protoreflect.FileDescriptor { return linkBundled(path) })
		out[path] = bundledFile{linkedFile, sync.OnceValue(func() *unit {
			f, err := fromProto(protoutil.ProtoFromFileDescriptor(linkedFile()))
			if err != nil {
				panic(fmt.Sprintf("bundled file %s: %v", path, err))
			}
			u, err := readText(path, f.print(true), schemas.DefaultLimits(), true)
			if err != nil {
				panic(fmt.Sprintf("bundled file %s: %v", path, err))
			}
			return u
		})}
	}
	return out
}()

// wholes are the bundled files that were asked for with their imports; each is
// there once.
var wholes schemas.Shared

func wholeBundled(path string) *Linked {
	return wholes.Once(path, func() any {
		fd := bundledFiles[path].linked()
		var imports []*Linked
		for i := range fd.Imports().Len() {
			imports = append(imports, wholeBundled(fd.Imports().Get(i).Path()))
		}
		l := newLinked(fd, imports)
		l.digest("bundled " + path)
		return l
	}).(*Linked)
}

func linkBundled(path string) protoreflect.FileDescriptor {
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
	files, err := (&protocompile.Compiler{Resolver: standard}).Compile(context.Background(), path)
	if err != nil {
		panic(fmt.Sprintf("bundled file %s: %v", path, err))
	}
	return files[0]
}

// bundledSymbols are the names that all bundled files define.
var bundledSymbols = sync.OnceValue(func() symbols {
	x := symbols{}
	for _, path := range Bundled() {
		if _, ok := aliases[path]; !ok {
			for name, s := range bundledFiles[path].unit().symbols() {
				if _, taken := x[name]; !taken {
					x[name] = s
				}
			}
		}
	}
	return x
})

// bundledTypes are their types and options.
var bundledTypes = sync.OnceValue(func() *dynamicpb.Types {
	list := make([]protoreflect.FileDescriptor, 0, len(bundledPaths))
	for _, path := range Bundled() {
		list = append(list, bundledFiles[path].linked())
	}
	return typesOf(list)
})
