package avro_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/linkedin/goavro/v2"
	twmb "github.com/twmb/avro"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// ledger counts where a referee says something else than we do, by the reason.
// What has no reason here is a failure.
type ledger map[string]int

// The reasons. They are the referees' ways, not ours: avro-compat 8, 13, 17, 18.
const (
	// twmb refuses defaults that registration accepts: no symbol of an enum, a
	// fixed of another length, aliases that collide.
	twmbSchema = "twmb refuses the schema"
	// twmb writes every default out at parsing, with all that it leans on and without
	// remembering a part: a default that holds itself twice keeps it busy for ever.
	twmbDefaults = "twmb would write defaults without end"
	// twmb fills a nullable field without a default with null.
	twmbNullable = "twmb fills a nullable field without a default"
	// A default of 2e3 is no integer by the rules of registration, and fits the
	// float behind it.
	twmbWhole = "twmb takes a default with an exponent for an integer"
	// twmb takes an alias for every namespace.
	twmbAlias = "twmb matches an alias by its simple name"
	// Two branches of the reader list the writer's name: twmb takes the first, we
	// the first that resolves without error.
	twmbTwice = "twmb takes the first of two branches with one alias"
	// twmb compares what stands inside a record that no finite value fits.
	twmbEndless = "twmb refuses what nobody can write"
	// An int in a union of float and long: twmb takes the first branch that can read
	// it, we the nearest, which loses no digits.
	twmbBranch = "twmb takes the first branch that a number can be promoted to"
	// Of a key that a map holds twice the last value counts, as in Avro Java and
	// twmb.
	goavroKeys = "goavro refuses a key twice in a map"
	// goavro refuses empty unions, fixed of no size, and names of the null
	// namespace inside another one.
	goavroSchema = "goavro refuses the schema"
)

// referee reads a writer's payloads with two other libraries.
type referee struct {
	writer, reader *avro.Schema
	own            *twmb.Schema // reads with the writer's schema
	resolved       *twmb.Schema // reads with the reader's
	refused        error        // the pair as a whole
	codec          *goavro.Codec
}

// refereeOf gives what the referees can judge of a pair; nil when twmb does not
// take a schema, or would not come back from one.
func refereeOf(writer, reader *avro.Schema, l ledger) *referee {
	r := &referee{writer: writer, reader: reader}
	// Logical types change no value, and twmb would give types of its own for them,
	// and hold decimals to their scale.
	if writesWithoutEnd(writer) || writesWithoutEnd(reader) {
		l[twmbDefaults]++
		return nil
	}
	plainly := func(s *avro.Schema) (*twmb.Schema, error) {
		return twmb.Parse(strings.ReplaceAll(s.Source().Text, `"logicalType"`, `"wasLogicalType"`))
	}
	w, err := plainly(writer)
	if err != nil {
		l[twmbSchema]++
		return nil
	}
	read, err := plainly(reader)
	if err != nil {
		l[twmbSchema]++
		return nil
	}
	r.own = w
	r.resolved, r.refused = twmb.Resolve(w, read)
	// goavro does not survive a record without a finite value.
	if !hasEndless(writer) {
		if r.codec, err = goavro.NewCodec(writer.ParsingForm()); err != nil {
			l[goavroSchema]++
			r.codec = nil
		}
	}
	return r
}

// writesWithoutEnd tells whether twmb takes more than so many steps to write a
// default of a schema: the defaults of the fields that it leaves out are written
// too, every branch of a union is tried, and only depth ends that. What reaches the
// depth it cannot write.
func writesWithoutEnd(s *avro.Schema) bool {
	const mostSteps, mostDepth = 20_000, 1_000 // its own bound of depth
	var left int
	var write func(t *avro.Type, v *jsontext.Value, depth int)
	write = func(t *avro.Type, v *jsontext.Value, depth int) {
		if left--; left <= 0 || v == nil {
			return
		}
		if depth >= mostDepth {
			left = 0 // it gives up, and refuses the default of the other branch too
			return
		}
		switch {
		case t.Kind == avro.Union:
			for _, b := range t.Branches {
				write(b, v, depth+1)
			}
		case t.Kind == avro.Array && v.Kind == jsontext.Array:
			for _, item := range v.Items {
				write(t.Items, item, depth+1)
			}
		case t.Kind == avro.Map && v.Kind == jsontext.Object:
			for _, m := range v.Members {
				write(t.Items, m.Value, depth+1)
			}
		case t.Kind == avro.Record && v.Kind == jsontext.Object:
			for _, f := range t.Named.Fields {
				if member := v.Get(f.Name); member != nil {
					write(f.Type, member, depth+1)
				} else {
					write(f.Type, f.Default, depth+1)
				}
			}
		}
	}
	for _, n := range s.Known() {
		for _, f := range n.Fields {
			if left = mostSteps; f.Default != nil {
				write(f.Type, f.Default, 0)
			}
			if left <= 0 {
				return true
			}
		}
	}
	return false
}

// wrote tells whether the payload is one of the writer's, to both.
func (r *referee) wrote(payload []byte, l ledger) error {
	var value any
	if rest, err := r.own.Decode(payload, &value); err != nil || len(rest) > 0 {
		return fmt.Errorf("twmb does not read %x with the schema that wrote it: %w, %d left over", payload, err, len(rest))
	}
	if r.codec == nil {
		return nil
	}
	switch _, rest, err := r.codec.NativeFromBinary(payload); {
	case err != nil && strings.Contains(err.Error(), "duplicate key"):
		l[goavroKeys]++
	case err != nil || len(rest) > 0:
		return fmt.Errorf("goavro does not read %x with the schema that wrote it: %w, %d left over", payload, err, len(rest))
	}
	return nil
}

// reads is what the second reader makes of a payload: an error, or its value and
// the writer's own.
func (r *referee) reads(payload []byte) (value, written any, err error) {
	if r.refused != nil {
		return nil, nil, r.refused
	}
	if _, err := r.resolved.Decode(payload, &value); err != nil {
		return nil, nil, err
	}
	if _, err := r.own.Decode(payload, &written); err != nil {
		return nil, nil, err
	}
	return plain(value), plain(written), nil
}

// plain brings the numbers and bytes of two libraries to one form.
func plain(v any) any {
	switch v := v.(type) {
	case int32:
		return int64(v)
	case int:
		return int64(v)
	case float32:
		return float64(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = plain(v[k])
		}
		return out
	}
	if b := reflect.ValueOf(v); b.IsValid() && (b.Kind() == reflect.Array || b.Kind() == reflect.Slice) && b.Type().Elem().Kind() == reflect.Uint8 {
		return fmt.Sprintf("%x", v)
	}
	return v
}

// has tells whether some type of a schema is as asked.
func has(s *avro.Schema, is func(*avro.Type) bool) bool { return hasType(s.Root(), is) }

// hasType tells whether a type, or one that it is made of, is as asked.
func hasType(t *avro.Type, is func(*avro.Type) bool) bool {
	seen := map[*avro.Named]bool{}
	var any func(t *avro.Type) bool
	any = func(t *avro.Type) bool {
		if is(t) {
			return true
		}
		if t.Named != nil {
			if seen[t.Named] {
				return false
			}
			seen[t.Named] = true
			return slices.ContainsFunc(t.Named.Fields, func(f *avro.Field) bool { return any(f.Type) })
		}
		return t.Items != nil && any(t.Items) || slices.ContainsFunc(t.Branches, any)
	}
	return any(t)
}

// whyRefused finds the reason for which the second reader refuses what we read.
func (r *referee) whyRefused() string {
	if hasEndless(r.writer) {
		return twmbEndless
	}
	if r.hasAliasTwice() {
		return twmbTwice
	}
	return ""
}

// hasAliasTwice tells whether two branches of a union of the reader list one name
// of the writer's types.
func (r *referee) hasAliasTwice() bool {
	return has(r.writer, func(w *avro.Type) bool {
		return w.Named != nil && has(r.reader, func(t *avro.Type) bool {
			n := 0
			for _, b := range t.Branches {
				if b.Named != nil && b.Kind == w.Kind && slices.Contains(b.Named.Aliases, w.Named.Full) {
					n++
				}
			}
			return n > 1
		})
	})
}

// whyDiffers finds the reason for which it reads another value.
func (r *referee) whyDiffers() string {
	ways := func(kinds ...avro.Kind) bool {
		return has(r.reader, func(t *avro.Type) bool {
			n := 0
			for _, b := range t.Branches {
				if slices.Contains(kinds, b.Kind) {
					n++
				}
			}
			return n > 1
		})
	}
	if ways(avro.Long, avro.Float, avro.Double) {
		return twmbBranch
	}
	given := func(is func(f *avro.Field) bool) bool {
		return has(r.reader, func(t *avro.Type) bool { return t.Kind == avro.Record && slices.ContainsFunc(t.Named.Fields, is) })
	}
	hasDefault := func(kind jsontext.Kind, signs string) bool {
		return given(func(f *avro.Field) bool {
			return f.Default != nil && strings.ContainsAny(f.Default.String(), signs) && (f.Default.Kind == kind || len(f.Default.Items)+len(f.Default.Members) > 0)
		})
	}
	switch {
	case hasDefault(jsontext.Number, "eE."):
		return twmbWhole
	case hasDefault(jsontext.Object, "{") && given(func(f *avro.Field) bool { return f.Default == nil && r.isNullable(f.Place().Pointer) }):
		return twmbNullable
	}
	return ""
}

// whyTaken finds the reason for which it reads what we refuse.
func (r *referee) whyTaken(w *compat.Witness) string {
	got := r.reader.Reads(r.writer, schemas.Payload{Bytes: w.Bytes}, schemas.ReadOptions{})
	all := func(is func(v schemas.Violation) bool) bool {
		return !got.OK() && !slices.ContainsFunc(got.Violations, func(v schemas.Violation) bool { return !is(v) })
	}
	nullable := func(v schemas.Violation) bool { return v.Rule == "field-missing" && r.isNullable(v.Schema) }
	switch {
	case all(nullable):
		return twmbNullable
	case all(func(v schemas.Violation) bool { return v.Rule == "name" || v.Rule == "union-branch" || nullable(v) }) && r.hasSimpleAlias():
		return twmbAlias
	}
	return ""
}

// isNullable tells whether a pointer of the reader's schema leads to a field that
// null may fill.
func (r *referee) isNullable(p schemas.Pointer) bool {
	return has(r.reader, func(t *avro.Type) bool {
		return t.Kind == avro.Record && slices.ContainsFunc(t.Named.Fields, func(f *avro.Field) bool {
			return f.Place().Pointer == p && (f.Type.Kind == avro.Null ||
				slices.ContainsFunc(f.Type.Branches, func(b *avro.Type) bool { return b.Kind == avro.Null }))
		})
	})
}

// hasSimpleAlias tells whether an alias of the reader ends in the simple name of
// a writer's type.
func (r *referee) hasSimpleAlias() bool {
	return has(r.reader, func(t *avro.Type) bool {
		return t.Named != nil && slices.ContainsFunc(t.Named.Aliases, func(a string) bool {
			return has(r.writer, func(w *avro.Type) bool {
				return w.Named != nil && w.Named.Name == a[strings.LastIndexByte(a, '.')+1:]
			})
		})
	})
}
