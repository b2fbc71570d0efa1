package avro

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

func quote(s string) string { return strconv.Quote(s) }

// branchOf is the index of the first branch of a kind; -1 for none, and for a
// type that is no union.
func branchOf(t *avro.Type, kind avro.Kind) int {
	return slices.IndexFunc(t.Branches, func(b *avro.Type) bool { return b.Kind == kind })
}

// bare is the one type that a nullable field holds; else the type itself.
func bare(t *avro.Type) *avro.Type {
	if len(t.Branches) == 2 && branchOf(t, avro.Null) >= 0 {
		return t.Branches[1-branchOf(t, avro.Null)]
	}
	return t
}

func hasLogical(t *avro.Type) bool {
	return slices.ContainsFunc(t.Attributes, func(a avro.Attribute) bool { return a.Name == "logicalType" })
}

func tagged(f *avro.Field) bool {
	return slices.ContainsFunc(f.Attributes, func(a avro.Attribute) bool { return a.Name == "confluent:tags" && len(a.Value.Items) > 0 })
}

// misspelt remarks on an attribute that is nearly a word of the language.
func (v *visit) misspelt(node schemas.Pointer, attribute string, words []string) {
	if strings.ContainsAny(attribute, ".:") {
		return // of somebody else's vocabulary
	}
	if word := lint.Near(attribute, words); word != "" && v.edit.At(node).Get(word) == nil {
		v.say(node, attribute, fmt.Sprintf("the attribute %s means nothing; is %s meant?", quote(attribute), word), attribute)
	}
}

// around is the namespace in which a definition is written.
func (v *visit) around(n *avro.Named) string { return v.outer(n.Pointer()).namespace }

// inner is a definition or field, as what is inside it sees it.
type inner struct{ path, namespace string }

// outer is the innermost definition or field strictly around a place.
func (v *visit) outer(at schemas.Pointer) inner {
	if v.inside == nil {
		v.inside = map[schemas.Pointer]inner{}
		for _, n := range v.schema.Definitions() {
			v.inside[n.Pointer()] = inner{n.Full, n.Namespace}
			for _, f := range n.Fields {
				v.inside[f.Pointer()] = inner{n.Full + "." + f.Name, n.Namespace}
			}
		}
	}
	for at != "" {
		at = at[:strings.LastIndexByte(string(at), '/')]
		if found, ok := v.inside[at]; ok {
			return found
		}
	}
	return inner{}
}

// itself remarks on the alias that is the name of what it stands at.
func (v *visit) itself(at schemas.Pointer, full, name, namespace string) {
	list := v.edit.At(at)
	if list == nil || list.Kind != jsontext.Array {
		return
	}
	for i, item := range list.Items {
		if item.Text != full && (item.Text != name || namespace != "" && full != namespace+"."+name) {
			continue
		}
		v.say(at.Append(strconv.Itoa(i)), "", fmt.Sprintf("the alias %s is the name itself", quote(item.Text)), item.Text)
	}
}
