package avro

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// The peer's kinds. The last one is ours for its "unexpected exception".
const (
	nameMismatch        = "NAME_MISMATCH"
	fixedSizeMismatch   = "FIXED_SIZE_MISMATCH"
	missingSymbols      = "MISSING_ENUM_SYMBOLS"
	missingDefault      = "READER_FIELD_MISSING_DEFAULT_VALUE"
	typeMismatch        = "TYPE_MISMATCH"
	missingBranch       = "MISSING_UNION_BRANCH"
	unexpectedException = "UNEXPECTED_EXCEPTION"
)

// mostDifferences is how many differences one answer spells out. A fault met
// again is told again, so that a small text could fill any memory; past this
// many the rest is left out, which changes no verdict.
const mostDifferences = 1_000

// fault is a difference before it is spelled out: most are tried and dropped in
// the branches of unions.
type fault struct {
	kind           string
	path           []token
	reader, writer placed
	causes         *faults
	spelled        *compat.Difference // once it was, as pairs that are met again share it
}

// faults is a list that is joined without copying; nil is the empty one. The
// lists of pairs that are met again and again share their parts.
type faults struct {
	one         *fault
	left, right *faults
}

// merge joins two lists.
func merge(a, b *faults) *faults {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &faults{left: a, right: b}
}

// differences spells out the first of the list, room at most.
func (f *faults) differences(room *int) (out []compat.Difference) {
	for stack := []*faults{f}; len(stack) > 0 && *room > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch {
		case n == nil:
		case n.one == nil:
			stack = append(stack, n.right, n.left)
		default:
			*room--
			out = append(out, n.one.difference(room))
		}
	}
	return out
}

func (f *fault) difference(room *int) compat.Difference {
	if f.spelled == nil {
		f.spelled = &compat.Difference{
			Type: f.kind, Path: spellPath(f.path), Info: f.info(),
			Reader: f.reader.Place(), Writer: f.writer.Place(), Causes: f.causes.differences(room),
		}
	}
	return *f.spelled
}

// info is the peer's short text, which follows from the kind and the two sides.
func (f *fault) info() string {
	switch r := f.reader.(type) {
	case *avro.Field:
		if w, ok := f.writer.(*avro.Named); ok && f.kind == unexpectedException {
			return fmt.Sprintf("Reader record field %s matches multiple fields in writer record schema %s", r.Name, w.Full)
		}
		return r.Name
	case *avro.Named:
		w, ok := f.writer.(*avro.Named)
		switch {
		case !ok:
		case f.kind == nameMismatch:
			return "expected: " + w.Full
		case f.kind == fixedSizeMismatch:
			return fmt.Sprintf("expected: %d, found: %d", w.Size, r.Size)
		case f.kind == missingSymbols:
			missing := missingIn(r, w)
			slices.Sort(missing)
			return "[" + strings.Join(missing, ", ") + "]"
		}
	case *avro.Type:
		w, ok := f.writer.(*avro.Type)
		switch {
		case !ok:
		case f.kind == missingBranch:
			return "reader union lacking writer type: " + upper(w)
		default:
			return fmt.Sprintf("reader type: %s not compatible with writer type: %s", upper(r), upper(w))
		}
	}
	return ""
}

func upper(t *avro.Type) string { return strings.ToUpper(t.Kind.String()) }

func spellPath(path []token) string {
	if len(path) == 0 {
		return "/"
	}
	var b []byte
	for _, t := range path {
		b = append(b, '/')
		if t.word != "" {
			b = append(b, t.word...)
		} else {
			b = strconv.AppendInt(b, int64(t.number), 10)
		}
	}
	return string(b)
}

// message writes a difference in the words that the reference registry has for
// it, with our rule behind the sentence.
func message(d compat.Difference, reader, writer, rule string) string {
	var text string
	switch d.Type {
	case nameMismatch:
		text = fmt.Sprintf("The name of the schema has changed (path '%s')", d.Path)
	case fixedSizeMismatch:
		text = fmt.Sprintf("The size of FIXED type field at path '%s' in the %s schema does not match with the %s schema", d.Path, reader, writer)
	case missingSymbols:
		text = fmt.Sprintf("The %s schema is missing enum symbols '%s' at path '%s' in the %s schema", reader, d.Info, d.Path, writer)
	case missingDefault:
		text = fmt.Sprintf("The field '%s' at path '%s' in the %s schema has no default value and is missing in the %s schema", d.Info, d.Path, reader, writer)
	case typeMismatch:
		text = fmt.Sprintf("The type (path '%s') of a field in the %s schema does not match with the %s schema", d.Path, reader, writer)
	case missingBranch:
		text = fmt.Sprintf("The %s schema is missing a type inside a union field at path '%s' in the %s schema", reader, d.Path, writer)
	case unexpectedException:
		text = fmt.Sprintf("Unexpected exception during compatibility check at path '%s'", d.Path)
	default:
		return compat.Message(d, reader, writer, rule)
	}
	return compat.Entry(d.Type, text, d.Info, rule)
}
