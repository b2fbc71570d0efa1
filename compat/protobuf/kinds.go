package protobuf

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// fit says what is proved of a kind that reads another. Whatever is not proved
// is tried with real payloads.
type fit uint8

const (
	untold fit = iota // some values may be hurt
	cast              // values that the reader's kind can hold stay, others change
	exact             // every value stays
)

type kindPair struct{ writer, reader protoreflect.Kind }

// wireFits holds the cells "=" and "~" of the table of kinds on the wire, but
// those of equal kinds and of closed enums.
//
// Source: protobuf compatibility, B.1.
var wireFits = fitsOf(
	map[string]string{
		"int32": "int64 enum", "uint32": "int64 uint64", "bool": "int32 int64 uint32 uint64 enum", "enum": "int32 int64",
		"sint32": "sint64", "string": "bytes", "message": "bytes",
	},
	map[string]string{
		"int32": "uint32 uint64 bool", "int64": "int32 uint32 uint64 bool enum", "uint32": "int32 bool enum",
		"uint64": "int32 int64 uint32 bool enum", "sint32": "bool", "sint64": "sint32 bool", "enum": "uint32 uint64 bool",
		"fixed32": "sfixed32", "sfixed32": "fixed32", "fixed64": "sfixed64", "sfixed64": "fixed64",
	},
)

// jsonFits is the same for the JSON mapping; of the rounding cells only those
// that never fail are casts.
//
// Source: protobuf compatibility, B.7.
var jsonFits = fitsOf(
	map[string]string{
		"int32": "int64 sint32 sint64 enum sfixed32 sfixed64 double", "int64": "sint64 sfixed64",
		"uint32": "int64 uint64 sint64 fixed32 fixed64 sfixed64 double", "uint64": "fixed64",
		"sint32": "int32 int64 sint64 enum sfixed32 sfixed64 double", "sint64": "int64 sfixed64",
		"fixed32": "int64 uint32 uint64 sint64 fixed64 sfixed64 double", "sfixed32": "int32 int64 sint32 sint64 enum sfixed64 double",
		"fixed64": "uint64", "sfixed64": "int64 sint64",
	},
	map[string]string{
		"int32": "float", "uint32": "float", "sint32": "float", "fixed32": "float", "sfixed32": "float",
		"int64": "float double", "uint64": "float double", "sint64": "float double", "fixed64": "float double", "sfixed64": "float double",
		"float": "double",
	},
)

// keyFits is the same for the keys of maps in JSON, which are texts.
var keyFits = fitsOf(
	map[string]string{
		"int32":  "int64 sint32 sint64 sfixed32 sfixed64 string",
		"int64":  "sint64 sfixed64 string",
		"uint32": "int64 uint64 sint64 fixed32 fixed64 sfixed64 string",
		"uint64": "fixed64 string",
		"sint32": "int32 int64 sint64 sfixed32 sfixed64 string", "sint64": "int64 sfixed64 string",
		"fixed32": "int64 uint32 uint64 sint64 fixed64 sfixed64 string", "sfixed32": "int32 int64 sint32 sint64 sfixed64 string",
		"fixed64": "uint64 string", "sfixed64": "int64 sint64 string", "bool": "string",
	}, nil,
)

func fitsOf(exactly, casting map[string]string) map[kindPair]fit {
	out := map[kindPair]fit{}
	for f, list := range map[fit]map[string]string{exact: exactly, cast: casting} {
		for writer, readers := range list {
			for _, reader := range strings.Fields(readers) {
				out[kindPair{kindNamed[writer], kindNamed[reader]}] = f
			}
		}
	}
	return out
}

// kindNamed finds a kind by its keyword.
var kindNamed = func() map[string]protoreflect.Kind {
	out := map[string]protoreflect.Kind{}
	for k := protoreflect.Kind(1); k.IsValid(); k++ {
		out[k.String()] = k
	}
	return out
}()
