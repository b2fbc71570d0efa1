package translate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// Op is what a change does.
type Op string

// The changes there are.
const (
	// Rename gives a member another name, in its place. That the member is not
	// there is no error; that the new name is taken is one.
	Rename Op = "rename"
	// Default adds a member that is not there, where its parent is.
	Default Op = "default"
	// Drop removes a member.
	Drop Op = "drop"
	// Cast writes a value as one of another kind: only what has the same meaning
	// exactly. Null stays null.
	Cast Op = "cast"
)

// Change is one change to a document.
type Change struct {
	Op Op
	// Path is a JSON pointer to a member. A token * stands for every item of an
	// array, or every value of an object.
	Path schemas.Pointer
	// To is the new name (Rename), or the kind: string, integer, number, boolean
	// (Cast).
	To string
	// Value is what Default adds; with Nulls it also replaces a null.
	Value *jsontext.Value
	Nulls bool

	tokens []string
}

// String shows the change as it stands in a file, in short.
func (c *Change) String() string {
	if c.To != "" {
		return fmt.Sprintf("%s %s to %s", c.Op, c.Path, c.To)
	}
	return fmt.Sprintf("%s %s", c.Op, c.Path)
}

var unescapes = strings.NewReplacer("~1", "/", "~0", "~")

// tokensOf reads a path.
func tokensOf(path string) ([]string, error) {
	if !strings.HasPrefix(path, "/") || path == "/" {
		return nil, errors.New("a path is a JSON pointer to a member, such as /customer/name or /lines/*/sku")
	}
	tokens := strings.Split(path[1:], "/")
	for i, t := range tokens {
		for j := range len(t) {
			if t[j] == '~' && (j+1 == len(t) || t[j+1] != '0' && t[j+1] != '1') {
				return nil, errors.New("in a path ~ is written ~0, and / inside a name ~1")
			}
		}
		tokens[i] = unescapes.Replace(t)
	}
	return tokens, nil
}

// casts are the kinds that Cast knows.
var casts = []string{"string", "integer", "number", "boolean"}

func (c *Change) apply(root *jsontext.Value) error {
	return c.walk(root, c.tokens, "")
}

// walk goes down to the parents of what the path names. A place that is not there
// is passed over.
func (c *Change) walk(v *jsontext.Value, tokens []string, at schemas.Pointer) error {
	if v.Kind == jsontext.Null {
		return nil
	}
	token := tokens[0]
	if len(tokens) == 1 {
		return c.change(v, token, at)
	}
	if token != "*" {
		if v.Kind != jsontext.Object {
			return fmt.Errorf("at %q: a %s has no member %q", string(at), v.Kind, token)
		}
		if next := v.Get(token); next != nil {
			return c.walk(next, tokens[1:], at.Append(token))
		}
		return nil
	}
	return every(v, at, func(child **jsontext.Value, at schemas.Pointer) error { return c.walk(*child, tokens[1:], at) })
}

// every visits the items of an array or the values of an object.
func every(v *jsontext.Value, at schemas.Pointer, visit func(child **jsontext.Value, at schemas.Pointer) error) error {
	switch v.Kind {
	case jsontext.Array:
		for i := range v.Items {
			if err := visit(&v.Items[i], at.Append(fmt.Sprint(i))); err != nil {
				return err
			}
		}
	case jsontext.Object:
		for i := range v.Members {
			if err := visit(&v.Members[i].Value, at.Append(v.Members[i].Name)); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("at %q: * stands for the items of an array or the values of an object, and there is a %s", string(at), v.Kind)
	}
	return nil
}

// change works on the member of v that the last token names.
func (c *Change) change(v *jsontext.Value, token string, at schemas.Pointer) error {
	if token == "*" { // a cast: the others are refused when the file is read
		return every(v, at, func(child **jsontext.Value, at schemas.Pointer) error { return c.cast(child, at) })
	}
	if v.Kind != jsontext.Object {
		return fmt.Errorf("at %q: a %s has no member %q", string(at), v.Kind, token)
	}
	i := slices.IndexFunc(v.Members, func(m jsontext.Member) bool { return m.Name == token })
	switch c.Op {
	case Rename:
		if i < 0 {
			return nil
		}
		if v.Get(c.To) != nil {
			return fmt.Errorf("at %q: there is a member %q already", string(at), c.To)
		}
		v.Members[i].Name = c.To
	case Default:
		switch {
		case i < 0:
			v.Members = append(v.Members, jsontext.Member{Name: token, Value: clone(c.Value)})
		case c.Nulls && v.Members[i].Value.Kind == jsontext.Null:
			v.Members[i].Value = clone(c.Value)
		}
	case Drop:
		if i >= 0 {
			v.Members = slices.Delete(v.Members, i, i+1)
		}
	case Cast:
		if i >= 0 {
			return c.cast(&v.Members[i].Value, at.Append(token))
		}
	}
	return nil
}

// clone copies a value, because later changes may work on it.
func clone(v *jsontext.Value) *jsontext.Value {
	out := *v
	out.Items = slices.Clone(v.Items)
	for i, item := range v.Items {
		out.Items[i] = clone(item)
	}
	out.Members = slices.Clone(v.Members)
	for i, m := range v.Members {
		out.Members[i].Value = clone(m.Value)
	}
	return &out
}

func (c *Change) cast(at **jsontext.Value, p schemas.Pointer) error {
	v := *at
	if v.Kind == jsontext.Null {
		return nil
	}
	out, ok := castTo(v, c.To)
	if !ok {
		shown := v.String()
		if len(shown) > 60 {
			shown = "the " + v.Kind.String()
		}
		return fmt.Errorf("at %q: %s is no %s exactly", string(p), shown, c.To)
	}
	*at = out
	return nil
}

// castTo gives v as another kind, if it means the same exactly.
func castTo(v *jsontext.Value, kind string) (*jsontext.Value, bool) {
	scalar := v.Kind == jsontext.String || v.Kind == jsontext.Number || v.Kind == jsontext.Bool
	if !scalar {
		return nil, false
	}
	text := v.Text
	if v.Kind == jsontext.Bool {
		text = v.String()
	}
	switch kind {
	case "string":
		return &jsontext.Value{Kind: jsontext.String, Text: text}, true
	case "boolean":
		if text == "true" || text == "false" {
			return &jsontext.Value{Kind: jsontext.Bool, Bool: text == "true"}, v.Kind != jsontext.Number
		}
		return nil, false
	case "number":
		return &jsontext.Value{Kind: jsontext.Number, Text: text}, isNumber(text)
	case "integer":
		whole, fraction, _ := strings.Cut(text, ".")
		ok := isNumber(text) && !strings.ContainsAny(text, "eE") && strings.Trim(fraction, "0") == ""
		return &jsontext.Value{Kind: jsontext.Number, Text: whole}, ok
	}
	return nil, false
}

// isNumber tells whether a text is a number of JSON, within the limits.
func isNumber(text string) bool {
	limits := schemas.DefaultLimits()
	v, err := jsontext.Parse(text, jsontext.Options{Digits: limits.Digits, Exponent: limits.Exponent, Text: limits.Text})
	return err == nil && v.Kind == jsontext.Number && v.Text == text
}
