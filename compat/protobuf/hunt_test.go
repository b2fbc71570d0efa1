package protobuf_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/cartorio-registry/cartorio/compat"
	checker "github.com/cartorio-registry/cartorio/compat/protobuf"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// drawnField is a field of a drawn file.
type drawnField struct {
	label, kind, name, options string
	number                     int
	oneof                      string
}

type drawnMessage struct {
	name   string
	fields []drawnField
}

type drawnValue struct {
	name   string
	number int
}

// drawing is a file that can be changed step by step and written as text.
type drawing struct {
	syntax   string // proto2, proto3, 2023
	pack     string
	messages []drawnMessage
	enums    []struct {
		name   string
		values []drawnValue
		closed bool
	}
}

var drawnKinds = []string{
	"int32", "int64", "uint32", "uint64", "sint32", "sint64", "bool", "fixed32", "fixed64", "sfixed32", "sfixed64", "float", "double",
	"string", "bytes", "E0", "E1", "M0", "M1", "M2", "map<string, int32>", "map<int32, M1>", "map<uint32, string>", "map<bool, E0>",
}

func draw(r *rand.Rand) *drawing {
	d := &drawing{syntax: []string{"proto2", "proto3", "proto3", "2023"}[r.IntN(4)], pack: "p"}
	for i := range 3 {
		m := drawnMessage{name: fmt.Sprintf("M%d", i)}
		for range 1 + r.IntN(4) {
			d.grow(r, &m)
		}
		d.messages = append(d.messages, m)
	}
	for i := range 2 {
		d.enums = append(d.enums, struct {
			name   string
			values []drawnValue
			closed bool
		}{fmt.Sprintf("E%d", i), []drawnValue{{fmt.Sprintf("E%d_A", i), 0}, {fmt.Sprintf("E%d_B", i), 1}, {fmt.Sprintf("E%d_C", i), 2}}, r.IntN(4) == 0})
	}
	return d
}

func (d *drawing) grow(r *rand.Rand, m *drawnMessage) {
	f := drawnField{name: string(rune('a' + r.IntN(8))), number: 1 + r.IntN(8), kind: drawnKinds[r.IntN(len(drawnKinds))]}
	f.label = []string{"", "", "optional", "repeated", "required"}[r.IntN(5)]
	if r.IntN(6) == 0 {
		f.oneof = string(rune('x' + r.IntN(2)))
	}
	if r.IntN(10) == 0 {
		f.options = fmt.Sprintf("json_name = %q", string(rune('a'+r.IntN(8)))+"J")
	}
	if !slices.ContainsFunc(m.fields, func(g drawnField) bool { return g.name == f.name || g.number == f.number }) {
		m.fields = append(m.fields, f)
	}
}

// change makes one or a few steps of what people do to files.
func (d *drawing) change(r *rand.Rand) *drawing {
	c := &drawing{syntax: d.syntax, pack: d.pack}
	for _, m := range d.messages {
		c.messages = append(c.messages, drawnMessage{m.name, slices.Clone(m.fields)})
	}
	for _, e := range d.enums {
		e.values = slices.Clone(e.values)
		c.enums = append(c.enums, e)
	}
	for range 1 + r.IntN(3) {
		m := &c.messages[r.IntN(len(c.messages))]
		e := &c.enums[r.IntN(len(c.enums))]
		n := len(m.fields)
		switch op := r.IntN(15); {
		case op == 0:
			c.grow(r, m)
		case op == 1:
			e.values = append(e.values, drawnValue{fmt.Sprintf("%s_%c", e.name, 'D'+rune(r.IntN(4))), 3 + r.IntN(3)})
		case op == 2 && len(e.values) > 1:
			e.values = e.values[:len(e.values)-1]
		case op == 3:
			e.values[len(e.values)-1].name += "X"
		case op == 4:
			e.closed = !e.closed
		case op == 5:
			c.syntax = []string{"proto2", "proto3", "2023"}[r.IntN(3)]
		case op == 6 && len(e.values) > 2:
			e.values[1].number, e.values[2].number = e.values[2].number, e.values[1].number
		case n == 0:
		case op == 7:
			i := r.IntN(n)
			m.fields = slices.Delete(m.fields, i, i+1)
		case op == 8:
			m.fields[r.IntN(n)].name = string(rune('a' + r.IntN(8)))
		case op == 9:
			m.fields[r.IntN(n)].number = 1 + r.IntN(8)
		case op == 10:
			m.fields[r.IntN(n)].oneof = []string{"", "x", "y"}[r.IntN(3)]
		case op == 11:
			m.fields[r.IntN(n)].options = []string{"", fmt.Sprintf("json_name = %q", string(rune('a'+r.IntN(8)))+"J")}[r.IntN(2)]
		case op == 12:
			m.fields[r.IntN(n)].label = []string{"", "optional", "repeated", "required"}[r.IntN(4)]
		default:
			m.fields[r.IntN(n)].kind = drawnKinds[r.IntN(len(drawnKinds))]
		}
	}
	return c
}

func (d *drawing) text() string {
	var b strings.Builder
	if d.syntax == "2023" {
		b.WriteString("edition = \"2023\";\n")
	} else {
		fmt.Fprintf(&b, "syntax = %q;\n", d.syntax)
	}
	fmt.Fprintf(&b, "package %s;\n", d.pack)
	for _, e := range d.enums {
		fmt.Fprintf(&b, "enum %s {\n", e.name)
		if d.syntax == "2023" && e.closed {
			b.WriteString("  option features.enum_type = CLOSED;\n")
		}
		for _, v := range e.values {
			fmt.Fprintf(&b, "  %s = %d;\n", v.name, v.number)
		}
		b.WriteString("}\n")
	}
	for _, m := range d.messages {
		fmt.Fprintf(&b, "message %s {\n", m.name)
		oneofs := map[string][]drawnField{}
		for _, f := range m.fields {
			if f.oneof != "" && !strings.HasPrefix(f.kind, "map") {
				oneofs[f.oneof] = append(oneofs[f.oneof], f)
				continue
			}
			label, options := f.label, f.options
			switch {
			case strings.HasPrefix(f.kind, "map"):
				label = ""
			case d.syntax == "proto2" && label == "":
				label = "optional"
			case d.syntax == "proto3" && label == "required":
				label = ""
			case d.syntax == "2023" && label == "required":
				label, options = "", join(options, "features.field_presence = LEGACY_REQUIRED")
			case d.syntax == "2023" && label == "optional":
				label = ""
			case d.syntax == "2023" && label == "" && f.kind[0] >= 'a':
				options = join(options, "features.field_presence = IMPLICIT")
			}
			b.WriteString(d.line(f, label, options))
		}
		for _, name := range slices.Sorted(maps.Keys(oneofs)) {
			fmt.Fprintf(&b, "  oneof %s_ {\n", name)
			for _, f := range oneofs[name] {
				b.WriteString(d.line(f, "", f.options))
			}
			b.WriteString("  }\n")
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

func (d *drawing) line(f drawnField, label, options string) string {
	if options != "" {
		options = " [" + options + "]"
	}
	if label != "" {
		label += " "
	}
	return fmt.Sprintf("  %s%s %s = %d%s;\n", label, f.kind, f.name, f.number, options)
}

// judge is a schema as protobuf-go knows it.
type judge struct {
	schema *protobuf.Schema
	types  *dynamicpb.Types
}

func newJudge(t *testing.T, text string) (*judge, error) {
	s, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		return nil, err
	}
	schema := s.(*protobuf.Schema)
	text, err = schema.Serialized()
	if err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	file := &descriptorpb.FileDescriptorProto{}
	if err := proto.Unmarshal(raw, file); err != nil {
		return nil, err
	}
	fd, err := protodesc.NewFile(file, nil)
	if err != nil {
		return nil, err
	}
	files := &protoregistry.Files{}
	if err := files.RegisterFile(fd); err != nil {
		return nil, err
	}
	return &judge{schema, dynamicpb.NewTypes(files)}, nil
}

func (j *judge) message(name protoreflect.FullName) protoreflect.Message {
	m, err := j.types.FindMessageByName(name)
	if err != nil {
		return nil
	}
	return m.New()
}

// fill puts random values into m: boundaries as often as anything.
func fill(r *rand.Rand, m protoreflect.Message, depth int) {
	list := m.Descriptor().Fields()
	for i := range list.Len() {
		fd := list.Get(i)
		if fd.Cardinality() != protoreflect.Required && (r.IntN(3) == 0 || depth > 3) {
			continue
		}
		switch {
		case fd.IsMap():
			values := m.Mutable(fd).Map()
			for range r.IntN(3) {
				v := values.NewValue()
				if fd.MapValue().Message() != nil {
					fill(r, v.Message(), depth+1)
				} else {
					v = scalar(r, fd.MapValue())
				}
				values.Set(scalar(r, fd.MapKey()).MapKey(), v)
			}
		case fd.IsList():
			values := m.Mutable(fd).List()
			for range r.IntN(3) {
				if fd.Message() != nil {
					fill(r, values.AppendMutable().Message(), depth+1)
				} else {
					values.Append(scalar(r, fd))
				}
			}
		case fd.Message() != nil:
			if depth < 12 {
				fill(r, m.Mutable(fd).Message(), depth+1)
			}
		default:
			m.Set(fd, scalar(r, fd))
		}
	}
}

func scalar(r *rand.Rand, fd protoreflect.FieldDescriptor) protoreflect.Value {
	n := []uint64{0, 1, 2, 1 << 31, 1<<31 - 1, 1 << 32, 1 << 63, ^uint64(0), r.Uint64(), uint64(r.IntN(300))}[r.IntN(10)]
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(n&1 == 1)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(n))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(n)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(n) / 3)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(n) / 3)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString([]string{"", "a", "12", "é", "\n", "\x08\x01"}[r.IntN(6)])
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([][]byte{{}, []byte("a"), {0xff, 0xfe}, {8, 1}}[r.IntN(4)])
	default:
		values := fd.Enum().Values()
		return protoreflect.ValueOfEnum(values.Get(r.IntN(values.Len())).Number())
	}
}

// TestHunt lets protobuf-go judge random messages of random pairs: on a layer
// without any break nothing may be refused or changed, on one with soft breaks
// only nothing may be refused; every hard break must show a witness, and
// protobuf-go must agree with it, but for closed enums, which it keeps open.
// CARTORIO_HUNT=1h hunts for longer.
func TestHunt(t *testing.T) {
	t.Parallel()
	length := 2 * time.Second
	if text := os.Getenv("CARTORIO_HUNT"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	// An ordinary run is the same everywhere; a hunt draws anew.
	seed := uint64(1)
	if os.Getenv("CARTORIO_HUNT") != "" {
		seed = rand.Uint64()
	}
	pairs, messages, calm, soft, hard, open, closed := 0, 0, 0, 0, 0, 0, 0
	for start, i := time.Now(), uint64(0); time.Since(start) < length && !t.Failed(); i++ {
		r := rand.New(rand.NewPCG(seed, i))
		drawn := draw(r)
		oldText, newText := drawn.text(), drawn.change(r).text()
		old, err := newJudge(t, oldText)
		if err != nil {
			continue // the drawing was no schema
		}
		next, err := newJudge(t, newText)
		if err != nil {
			continue
		}
		pairs++
		told := fmt.Sprintf("seed %d pair %d\nold: %s\nnew: %s", seed, i, oldText, newText)
		effects, changes := checker.Checker.Truth(old.schema, next.schema, compat.Budget{})
		for _, layer := range []compat.Layer{compat.Wire, compat.JSONMapping} {
			for d := range 2 {
				pick := func(e compat.Effect) compat.Outcome { return [2]compat.Outcome{e.NewReadsOld, e.OldReadsNew}[d] }
				writer, reader := old, next
				if d == 1 {
					writer, reader = next, old
				}
				whole, worst := pick(effects[layer]), compat.Reads
				for _, c := range changes {
					o := pick(c.Effects[layer])
					worst = worst.Combine(o)
					if !o.IsHard() {
						continue
					}
					w := c.Witness[layer][d]
					if w == nil {
						t.Errorf("%s at %s breaks on %s without a witness\n%s", c.Rule, c.Path, layer, told)
						continue
					}
					hard++
					m := writer.message(protoreflect.FullName(w.Message))
					if err := proto.Unmarshal(w.Bytes, m.Interface()); err != nil {
						t.Errorf("%s at %s: its writer refuses the witness %x: %v\n%s", c.Rule, c.Path, w.Bytes, err, told)
						continue
					}
					if text, ok := carry(writer, reader, m, layer); ok && text == "" {
						if strings.Contains(newText+oldText, "CLOSED") || strings.Contains(newText+oldText, "proto2") || strings.Contains(newText+oldText, "map<") {
							closed++ // the ledger: closed enums, and lists that became maps
							continue
						}
						t.Errorf("%s at %s on %s: protobuf-go reads the witness %x %s unharmed (%s)\n%s", c.Rule, c.Path, layer, w.Bytes, w.JSON, w.Text, told)
					}
				}
				switch {
				case whole.Answer == compat.Unchecked:
					open++
					if os.Getenv("CARTORIO_HUNT_OPEN") != "" {
						t.Fatalf("direction %d on %s stays open: %+v\n%s", d, layer, changes, told)
					}
					continue
				case whole.IsHard():
					continue
				case worst == compat.Reads:
					calm++
				default:
					soft++
				}
				for range 12 {
					m := writer.message(protoreflect.FullName(fmt.Sprintf("p.M%d", r.IntN(3))))
					fill(r, m, 0)
					if proto.CheckInitialized(m.Interface()) != nil {
						continue
					}
					text, ok := carry(writer, reader, m, layer)
					if !ok {
						continue
					}
					messages++
					if text != "" && (worst == compat.Reads || strings.HasPrefix(text, "proto:")) {
						raw, _ := proto.Marshal(m.Interface())
						t.Fatalf("direction %d on %s is called safe, and %s %x: %s\n%v\n%s", d, layer, m.Descriptor().FullName(), raw, text, changes, told)
					}
				}
			}
		}
	}
	t.Logf("seed %d: %d pairs, %d messages; directions: %d without a break, %d with soft ones, %d open; %d hard breaks with a witness, %d of them as the ledger says",
		seed, pairs, messages, calm, soft, open, hard, closed)
	if pairs == 0 || messages == 0 || hard == 0 {
		t.Error("nothing was hunted")
	}
}
