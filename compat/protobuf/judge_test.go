package protobuf_test

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cartorio-registry/cartorio/compat"
)

// likeness compares what was written with what was read. byName tells how fields
// correspond.
type likeness struct {
	byName bool
	// excuses is the ledger of one message: the fields of it that protobuf-go reads
	// otherwise than other runtimes, or that are not compared here.
	excuses []string
}

func (l *likeness) excuse(fd protoreflect.FieldDescriptor, why string) string {
	l.excuses = append(l.excuses, string(fd.FullName())+": "+why)
	return ""
}

// same names the first difference, empty for none.
func (l *likeness) same(w, r protoreflect.Message) (text string) {
	byName := l.byName
	wd, rd := w.Descriptor(), r.Descriptor()
	w.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		to := rd.Fields().ByName(fd.Name())
		if to != nil && to.Number() != fd.Number() && !byName {
			text = fmt.Sprintf("%s arrives under another number", fd.FullName())
			return false
		}
		if to == nil {
			to = rd.Fields().ByNumber(fd.Number())
			if byName && (to == nil || wd.Fields().ByName(to.Name()) != nil) {
				to = rd.Fields().ByJSONName(fd.JSONName())
			}
			if to == nil {
				return true
			}
			if !byName && wd.Fields().ByName(to.Name()) != nil {
				if r.Has(to) && !w.Has(wd.Fields().ByName(to.Name())) {
					text = fmt.Sprintf("%s lands in %s", fd.FullName(), to.FullName())
				}
				return text == ""
			}
		}
		text = l.sameField(fd, v, to, r.Get(to), r.Has(to))
		return text == ""
	})
	return text
}

func (l *likeness) sameField(wf protoreflect.FieldDescriptor, v protoreflect.Value, rf protoreflect.FieldDescriptor, got protoreflect.Value, has bool) (text string) {
	switch {
	case wf.IsMap() && rf.IsMap():
		if v.Map().Len() != got.Map().Len() {
			return fmt.Sprintf("%s has %d keys of %d", wf.FullName(), got.Map().Len(), v.Map().Len())
		}
		read := map[string]protoreflect.Value{}
		got.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool { read[k.String()] = v; return true })
		v.Map().Range(func(k protoreflect.MapKey, one protoreflect.Value) bool {
			other, ok := read[k.String()]
			if !ok {
				text = fmt.Sprintf("%s lost the key %s", wf.FullName(), k)
			} else {
				text = l.sameValue(wf.MapValue(), one, rf.MapValue(), other)
			}
			return text == ""
		})
		return text
	case wf.IsList() && rf.IsList():
		if v.List().Len() != got.List().Len() {
			return fmt.Sprintf("%s has %d elements of %d", wf.FullName(), got.List().Len(), v.List().Len())
		}
		for i := range v.List().Len() {
			if text = l.sameValue(wf, v.List().Get(i), rf, got.List().Get(i)); text != "" {
				return text
			}
		}
		return ""
	case wf.IsMap() || rf.IsMap():
		return l.excuse(wf, "a map on one side only: the reading tests compare its entries")
	case rf.IsList():
		if got.List().Len() != 1 {
			return fmt.Sprintf("%s has %d elements instead of one", wf.FullName(), got.List().Len())
		}
		return l.sameValue(wf, v, rf, got.List().Get(0))
	case wf.IsList():
		if v.List().Len() != 1 {
			return fmt.Sprintf("%s has one element instead of %d", wf.FullName(), v.List().Len())
		}
		if !has && (wf.Message() != nil || rf.HasPresence()) {
			return fmt.Sprintf("%s is not there", wf.FullName())
		}
		return l.sameValue(wf, v.List().Get(0), rf, got)
	}
	if wf.Message() != nil && rf.Kind() == protoreflect.BytesKind && !l.byName {
		return l.excuse(wf, "the message as opaque bytes, which are not there when empty")
	}
	if !has && (wf.Message() != nil || rf.HasPresence()) {
		return fmt.Sprintf("%s is not there", wf.FullName())
	}
	return l.sameValue(wf, v, rf, got)
}

func (l *likeness) sameValue(wf protoreflect.FieldDescriptor, v protoreflect.Value, rf protoreflect.FieldDescriptor, got protoreflect.Value) string {
	if wf.Message() != nil || rf.Message() != nil {
		if wf.Message() == nil || rf.Message() == nil {
			if rf.Kind() == protoreflect.BytesKind {
				return l.excuse(wf, "the message as opaque bytes")
			}
			return fmt.Sprintf("%s is a message on one side only", wf.FullName())
		}
		return l.same(v.Message(), got.Message())
	}
	text := func(fd protoreflect.FieldDescriptor, v protoreflect.Value) string {
		switch fd.Kind() {
		case protoreflect.EnumKind:
			return fmt.Sprint(int64(v.Enum()))
		case protoreflect.BoolKind:
			if v.Bool() {
				return "1"
			}
			return "0"
		case protoreflect.BytesKind:
			return string(v.Bytes())
		case protoreflect.FloatKind, protoreflect.DoubleKind:
			return fmt.Sprintf("%.0f", v.Float())
		default:
			return fmt.Sprint(v.Interface())
		}
	}
	isText := func(k protoreflect.Kind) bool { return k == protoreflect.StringKind || k == protoreflect.BytesKind }
	if isText(wf.Kind()) != isText(rf.Kind()) {
		return fmt.Sprintf("%s is a text on one side only", wf.FullName())
	}
	if e := rf.Enum(); e != nil && e.IsClosed() && e.Values().ByNumber(got.Enum()) == nil {
		l.excuse(rf, "a closed enum, which protobuf-go keeps open")
	}
	if a, b := text(wf, v), text(rf, got); a != b {
		return fmt.Sprintf("%s %q is read as %q", wf.FullName(), a, b)
	}
	return ""
}

// carry sends a message from writer to reader and says what was hurt, and what
// was not looked at.
func carry(writer, reader *judge, m protoreflect.Message, layer compat.Layer) (text string, excuses []string, ok bool) {
	l := &likeness{byName: layer != compat.Wire}
	to := reader.message(m.Descriptor().FullName())
	if to == nil {
		// The package may have changed. A message that went to another file with it
		// is one that the reader does not have.
		if name := protoreflect.FullName(reader.schema.File().Package).Append(m.Descriptor().Name()); slices.Contains(reader.schema.Names(), string(name)) {
			to = reader.message(name)
		}
	}
	if to == nil {
		return "", nil, false
	}
	if layer == compat.Wire {
		raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(m.Interface())
		if err != nil {
			return "", nil, false
		}
		if err := proto.Unmarshal(raw, to.Interface()); err != nil {
			return err.Error(), nil, true
		}
		text = l.same(m, to)
		return text, l.excuses, true
	}
	raw, err := protojson.MarshalOptions{Resolver: writer.types}.Marshal(m.Interface())
	if err != nil {
		return "", nil, false
	}
	if err := (protojson.UnmarshalOptions{Resolver: reader.types, DiscardUnknown: true}).Unmarshal(raw, to.Interface()); err != nil {
		return err.Error(), nil, true
	}
	text = l.same(m, to)
	return text, l.excuses, true
}
