package jsonschema

import (
	"context"
	"fmt"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// Within reads s anew, by the rules of a new schema, with another text in the
// place of what it refers to, itself or through others, by a name.
//
// Errors: those of parsing, and one when nothing is referred to by that name.
func (s *Schema) Within(reference, text string) (*Schema, error) {
	known := map[string]schemas.Resolved{}
	for _, d := range s.links {
		known[d.Reference.Name] = d.Resolved
	}
	changed, ok := known[reference]
	if !ok {
		return nil, fmt.Errorf("read the JSON Schema with another %s: it refers to nothing of that name", short(reference))
	}
	changed.Source.Text = text
	known[reference] = changed
	resolver := schemas.ResolverFunc(func(_ context.Context, _ schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		if got, ok := known[ref.Name]; ok {
			return got, nil
		}
		return schemas.Resolved{}, schemas.ErrSubjectUnknown
	})
	out, err := parse(context.Background(), s.source, resolver, schemas.ParseOptions{})
	if err != nil {
		return nil, err
	}
	return out.(*Schema), nil
}

// Editor edits the document that n stands in.
func (n *Node) Editor() jsontext.Editor {
	d := n.resource.document
	return jsontext.Editor{Text: d.text, Root: d.root}
}
