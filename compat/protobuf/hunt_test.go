package protobuf_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

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
	extended bool // M0 has an extension
	// away is what was asked to stand in the other file, with what it refers to.
	away     map[string]bool
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
	// The shape of an entry, so that lists of it become maps and back.
	"Entry", "group", "google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.StringValue", "google.protobuf.Any",
}

// drawnOptions are what a field may say of itself, where its file may.
var drawnOptions = []string{
	"", "json_name = %q", "packed = true", "packed = false", "features.message_encoding = DELIMITED",
	"features.repeated_field_encoding = EXPANDED", "features.utf8_validation = NONE", "default = 1", "deprecated = true",
}

func draw(r *rand.Rand) *drawing {
	d := &drawing{syntax: []string{"proto2", "proto3", "proto3", "2023"}[r.IntN(4)], pack: "p", away: map[string]bool{}}
	d.move(r)
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

// move puts something into the other file, or back.
func (d *drawing) move(r *rand.Rand) {
	if name := []string{"M0", "M1", "M2", "E0", "E1", ""}[r.IntN(6)]; name != "" {
		d.away[name] = !d.away[name]
	}
}

var drawnTypes = regexp.MustCompile(`\b(M\d|E\d|Entry)\b`)

// isAway tells what stands in the other file: what was asked for, and all that
// it refers to, since files cannot import each other.
func (d *drawing) isAway() map[string]bool {
	uses := map[string][]string{"Entry": {"M1"}}
	for _, m := range d.messages {
		for _, f := range m.fields {
			kind := strings.ReplaceAll(f.kind, "group", "M1")
			uses[m.name] = append(uses[m.name], drawnTypes.FindAllString(kind, -1)...)
		}
	}
	out := map[string]bool{}
	var take func(name string)
	take = func(name string) {
		if !out[name] {
			out[name] = true
			for _, one := range uses[name] {
				take(one)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.away)) {
		if d.away[name] {
			take(name)
		}
	}
	return out
}

func (d *drawing) grow(r *rand.Rand, m *drawnMessage) {
	f := drawnField{name: string(rune('a' + r.IntN(8))), number: 1 + r.IntN(8), kind: drawnKinds[r.IntN(len(drawnKinds))]}
	f.label = []string{"", "", "optional", "repeated", "required"}[r.IntN(5)]
	if r.IntN(6) == 0 {
		f.oneof = string(rune('x' + r.IntN(2)))
	}
	if r.IntN(6) == 0 {
		f.options = drawOptions(r)
	}
	if !slices.ContainsFunc(m.fields, func(g drawnField) bool { return g.name == f.name || g.number == f.number }) {
		m.fields = append(m.fields, f)
	}
}

func drawOptions(r *rand.Rand) string {
	o := drawnOptions[r.IntN(len(drawnOptions))]
	if strings.Contains(o, "%q") {
		o = fmt.Sprintf(o, string(rune('a'+r.IntN(8)))+"J")
	}
	return o
}

func (d *drawing) clone() *drawing {
	c := &drawing{syntax: d.syntax, pack: d.pack, extended: d.extended, away: maps.Clone(d.away)}
	for _, m := range d.messages {
		c.messages = append(c.messages, drawnMessage{m.name, slices.Clone(m.fields)})
	}
	for _, e := range d.enums {
		e.values = slices.Clone(e.values)
		c.enums = append(c.enums, e)
	}
	return c
}

// change makes one or a few steps of what people do to files.
func (d *drawing) change(r *rand.Rand) *drawing {
	c := d.clone()
	c.extended = d.extended != (r.IntN(20) == 0)
	if r.IntN(4) == 0 {
		c.move(r)
	}
	for range 1 + r.IntN(3) {
		m := &c.messages[r.IntN(len(c.messages))]
		e := &c.enums[r.IntN(len(c.enums))]
		n := len(m.fields)
		switch op := r.IntN(18); {
		case op == 15:
			c.pack = []string{"p", "p", "q"}[r.IntN(3)]
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
			m.fields[r.IntN(n)].options = drawOptions(r)
		case op == 16:
			respell(r, &m.fields[r.IntN(n)])
		case op == 12:
			m.fields[r.IntN(n)].label = []string{"", "optional", "repeated", "required"}[r.IntN(4)]
		default:
			m.fields[r.IntN(n)].kind = drawnKinds[r.IntN(len(drawnKinds))]
		}
	}
	return c
}

// texts are the file and the one that it imports.
func (d *drawing) texts() (main, other string) {
	away := d.isAway()
	return d.text(away, false), d.text(away, true)
}

func (d *drawing) text(away map[string]bool, other bool) string {
	var b strings.Builder
	if d.syntax == "2023" {
		b.WriteString("edition = \"2023\";\n")
	} else {
		fmt.Fprintf(&b, "syntax = %q;\n", d.syntax)
	}
	fmt.Fprintf(&b, "package %s;\n", d.pack)
	for _, name := range []string{"timestamp", "duration", "wrappers", "any"} {
		fmt.Fprintf(&b, "import \"google/protobuf/%s.proto\";\n", name)
	}
	if !other {
		fmt.Fprintf(&b, "import %q;\n", otherFile)
	}
	entry := "message Entry { int32 key = 1; M1 value = 2; }\n"
	if d.syntax == "proto2" {
		entry = "message Entry { optional int32 key = 1; optional M1 value = 2; }\n"
	}
	if away["Entry"] == other {
		b.WriteString(entry)
	}
	if !other && d.extended && d.syntax != "proto3" {
		label := map[string]string{"proto2": "optional "}[d.syntax]
		fmt.Fprintf(&b, "extend M0 { %sint32 far = 100; repeated M1 near = 101; }\n", label)
	}
	for _, e := range d.enums {
		if away[e.name] != other {
			continue
		}
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
		if away[m.name] != other {
			continue
		}
		fmt.Fprintf(&b, "message %s {\n", m.name)
		if m.name == "M0" && d.syntax != "proto3" {
			b.WriteString("  extensions 100 to 110;\n")
		}
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
	if f.kind == "group" {
		if d.syntax != "proto2" {
			f.kind = "M1"
		} else {
			if label == "" && f.oneof == "" {
				label = "optional"
			}
			return fmt.Sprintf("  %s group G%s = %d { optional int32 x = 1; optional string y = 2; }\n", label, f.name, f.number)
		}
	}
	if d.syntax != "2023" && strings.Contains(options, "features.") || d.syntax == "2023" && strings.Contains(options, "packed") || d.syntax == "proto3" && strings.Contains(options, "default") {
		options = ""
	}
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

// otherFile is what a drawn file imports.
const otherFile = "other.proto"

func newJudge(t *testing.T, text, other string) (*judge, error) {
	source := schemas.Source{Type: schemas.Protobuf, Text: text, References: []schemas.Reference{{Name: otherFile, Subject: otherFile, Version: 1}}}
	s, err := protobuf.Parse(t.Context(), source, schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		return schemas.Resolved{Subject: ref.Target(in), Version: 1, Source: schemas.Source{Type: schemas.Protobuf, Text: other}}, nil
	}), schemas.ParseOptions{})
	if err != nil {
		return nil, err
	}
	return judgeOf(s.(*protobuf.Schema))
}

// judgeOf builds what protobuf-go needs from the descriptors of a closure.
func judgeOf(schema *protobuf.Schema) (*judge, error) {
	whole, _ := schema.Whole()
	files := &protoregistry.Files{}
	done := map[string]bool{}
	var add func(l *protobuf.Linked) error
	add = func(l *protobuf.Linked) error {
		if done[l.Desc().Path()] {
			return nil
		}
		done[l.Desc().Path()] = true
		for _, one := range l.Imports() {
			if err := add(one); err != nil {
				return err
			}
		}
		fd, err := protodesc.NewFile(protodesc.ToFileDescriptorProto(l.Desc()), files)
		if err != nil {
			return err
		}
		return files.RegisterFile(fd)
	}
	if err := add(whole); err != nil {
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
// protobuf-go must agree with it, but for the ledger. CARTORIO_HUNT=1h hunts for
// longer.
func TestHunt(t *testing.T) {
	t.Parallel()
	h := newHunter(t)
	for i := uint64(0); h.hunts(); i++ {
		r := rand.New(rand.NewPCG(h.seed, i))
		drawn := draw(r)
		h.drawn(r, i, drawn, drawn.change(r))
	}
	h.conclude()
}

// drawn hunts a pair, if both sides are schemas.
func (h *hunter) drawn(r *rand.Rand, i uint64, drawn, changed *drawing) {
	oldText, oldOther := drawn.texts()
	newText, newOther := changed.texts()
	old, err := newJudge(h.t, oldText, oldOther)
	if err != nil {
		return
	}
	next, err := newJudge(h.t, newText, newOther)
	if err != nil {
		return
	}
	if len(old.schema.Names()) == 0 || len(next.schema.Names()) == 0 {
		return // all of it stands in the other file
	}
	if !maps.Equal(drawn.isAway(), changed.isAway()) {
		h.moves++
	}
	h.pair(r, old, next, fmt.Sprintf("seed %d pair %d\nold: %s%s: %s\nnew: %s%s: %s", h.seed, i, oldText, otherFile, oldOther, newText, otherFile, newOther))
}
