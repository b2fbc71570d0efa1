package protobuf_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cartorio-registry/cartorio/schemas"
)

// randomSide writes a message of eight fields, names and numbers fixed, types
// and labels not.
func randomSide(r *rand.Rand) string {
	kinds := strings.Fields("int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool float double string bytes E M N")
	var b strings.Builder
	b.WriteString("syntax = \"proto3\"; message M {")
	inOneof := false
	for i := 1; i <= 8; i++ {
		kind := kinds[r.IntN(len(kinds))]
		label := []string{"", "", "optional ", "repeated ", "oneof", "map"}[r.IntN(6)]
		if (label == "oneof") != inOneof {
			if inOneof {
				b.WriteString("}")
			} else {
				fmt.Fprintf(&b, "oneof o%d {", i)
			}
			inOneof = !inOneof
		}
		switch label {
		case "map":
			keys := strings.Fields("int32 sint32 string bool")
			fmt.Fprintf(&b, "map<%s, %s> f%d = %d;", keys[r.IntN(len(keys))], kind, i, i)
		case "oneof":
			fmt.Fprintf(&b, "%s f%d = %d;", kind, i, i)
		default:
			fmt.Fprintf(&b, "%s%s f%d = %d;", label, kind, i, i)
		}
	}
	if inOneof {
		b.WriteString("}")
	}
	return b.String() + "} message N { int32 x = 1; string y = 2; } enum E { E0 = 0; E1 = 1; E7 = 7; }"
}

// TestLossesAgreeWithProtobufGo reads random payloads across random pairs of
// schemas: what protobuf-go shows as another value must be told, and nothing
// else may be; the quick answer and the slow one must be one.
func TestLossesAgreeWithProtobufGo(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	lossless, lossy, refused := 0, 0, 0
	for range 400 {
		wText, rText := randomSide(r), ""
		if rText = randomSide(r); r.IntN(3) == 0 {
			// A reader close to its writer: widen, if anything.
			rText = strings.NewReplacer(" int32 ", " int64 ", "{uint32 ", "{uint64 ", ";bool ", ";int32 ", ";string ", ";bytes ").Replace(wText)
		}
		writer, reader := parse(t, wText), parse(t, rText)
		wm, rm := dynamic(t, writer), dynamic(t, reader)
		for range 10 {
			m := wm.New()
			populate(r, m, 2)
			raw, err := proto.Marshal(m.Interface())
			if err != nil {
				t.Fatal(err)
			}
			payload := schemas.Payload{Bytes: raw}
			quick := reader.Reads(writer, payload, schemas.ReadOptions{})
			slow := reader.Reads(writer, payload, schemas.ReadOptions{Value: true})
			if quick.OK() != slow.OK() || len(quick.Losses) != len(slow.Losses) {
				t.Fatalf("%x\n%s\n%s\nquick %+v\nslow %+v", raw, wText, rText, quick, slow)
			}
			got, err, known := referee(rm, raw)
			if !known {
				continue
			}
			if slow.OK() != (err == nil) {
				t.Fatalf("%x\n%s\n%s\nwe say %+v, protobuf-go says %v", raw, wText, rText, slow.Violations, err)
			}
			if !slow.OK() {
				refused++
				continue
			}
			back, err, _ := referee(wm, raw)
			if err != nil {
				t.Fatal(err)
			}
			differs := differ(back.ProtoReflect(), got.ProtoReflect())
			if differs == otherForm {
				continue
			}
			if (differs != "") != (len(slow.Losses) > 0) {
				t.Fatalf("%x\n%s\n%s\nprotobuf-go: %q\nours: %+v", raw, wText, rText, differs, slow.Losses)
			}
			if differs == "" {
				lossless++
			} else {
				lossy++
			}
		}
	}
	if lossless < 100 || lossy < 100 || refused < 100 {
		t.Errorf("too one-sided: %d without loss, %d with, %d refused", lossless, lossy, refused)
	}
}

// otherForm is what differ has no answer to: a map on one side only. The cases
// of TestReadsOther have.
const otherForm = "?"

// differ compares two messages field by field, by number.
func differ(w, r protoreflect.Message) string {
	out := ""
	w.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		to := r.Descriptor().Fields().ByNumber(fd.Number())
		if to == nil {
			return true
		}
		if fd.IsMap() != to.IsMap() {
			out = otherForm
			return false
		}
		a, b := flat(fd, v), flat(to, r.Get(to))
		if !r.Has(to) {
			if fd.Cardinality() != protoreflect.Repeated && isZero(fd, v) && !to.HasPresence() && to.Cardinality() != protoreflect.Repeated {
				return true // a zero that was written, and the zero of an absent field
			}
			b = nil
		}
		if len(b) == 0 || fd.Cardinality() == protoreflect.Repeated && len(a) != len(b) {
			out = fmt.Sprintf("%s: %d elements, %d read", fd.Name(), len(a), len(b))
			return false
		}
		if fd.IsMap() {
			out = differMap(fd, v, to, r.Get(to))
			return out == ""
		}
		if fd.Cardinality() != protoreflect.Repeated {
			b = b[len(b)-1:]
		}
		for i := range a {
			if out = differValue(fd, a[i], to, b[i]); out != "" {
				return false
			}
		}
		return true
	})
	return out
}

func flat(fd protoreflect.FieldDescriptor, v protoreflect.Value) []protoreflect.Value {
	if fd.IsMap() {
		out := make([]protoreflect.Value, v.Map().Len())
		return out
	}
	if !fd.IsList() {
		return []protoreflect.Value{v}
	}
	var out []protoreflect.Value
	for i := range v.List().Len() {
		out = append(out, v.List().Get(i))
	}
	return out
}

func differValue(fd protoreflect.FieldDescriptor, a protoreflect.Value, to protoreflect.FieldDescriptor, b protoreflect.Value) string {
	switch {
	case fd.Message() != nil && to.Message() != nil:
		return differ(a.Message(), b.Message())
	case fd.Message() != nil && to.Kind() == protoreflect.BytesKind:
		return "" // opaque bytes count as kept
	case to.Message() != nil:
		if fd.Cardinality() != protoreflect.Repeated && plainText(fd, a) == "0" {
			return "" // nothing was written, or a zero as a map's value
		}
		if fd.Kind() == protoreflect.StringKind && a.String() == "" || fd.Kind() == protoreflect.BytesKind && len(a.Bytes()) == 0 {
			return ""
		}
		return "read as a message"
	}
	if x, y := plainText(fd, a), plainText(to, b); x != y {
		return fmt.Sprintf("%s: %s, read %s", fd.Name(), x, y)
	}
	return ""
}

func plainText(fd protoreflect.FieldDescriptor, v protoreflect.Value) string {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		if v.Bool() {
			return "1"
		}
		return "0"
	case protoreflect.EnumKind:
		return fmt.Sprint(int32(v.Enum()))
	case protoreflect.StringKind:
		return "text " + v.String()
	case protoreflect.BytesKind:
		return "text " + string(v.Bytes())
	case protoreflect.MessageKind:
		return "message"
	default:
		return fmt.Sprint(v.Interface())
	}
}

func isZero(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
	return fd.Message() == nil && (plainText(fd, v) == "0" || plainText(fd, v) == "text ")
}

func differMap(fd protoreflect.FieldDescriptor, a protoreflect.Value, to protoreflect.FieldDescriptor, b protoreflect.Value) string {
	if a.Map().Len() != b.Map().Len() {
		return "keys became one"
	}
	seen := map[string]protoreflect.Value{}
	b.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		seen[plainText(to.MapKey(), k.Value())] = v
		return true
	})
	out := ""
	a.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		other, ok := seen[plainText(fd.MapKey(), k.Value())]
		if !ok {
			out = "another key"
			return false
		}
		if isZero(fd.MapValue(), v) && isZero(to.MapValue(), other) {
			return true
		}
		out = differValue(fd.MapValue(), v, to.MapValue(), other)
		return out == ""
	})
	return out
}
