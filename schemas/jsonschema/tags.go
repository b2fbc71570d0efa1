package jsonschema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// tagsKeyword holds the inline tags of an object or property.
//
// Source: REST contract 5.7.
const tagsKeyword = "confluent:tags"

// tagged is a part of a schema and where it stands in the canonical text.
type tagged struct {
	schemas.Tagged
	at *jsontext.Value
}

// parts lists the object schemas and properties that the text has, in reading
// order: "object" is the outermost object, "object.a" its property, "object.a.object"
// the object that the property holds, "object.a.array.object" that of its items;
// branches are "allof.0", definitions "definitions.Name". A property and the
// object that it holds are one place, and so have the same tags.
func (s *Schema) parts() (root *jsontext.Value, list []tagged) {
	root, err := jsontext.Parse(s.canonical, jsontext.Options{})
	if err != nil {
		return nil, nil // a canonical text is JSON
	}
	tagsAt := func(v *jsontext.Value) []string { return schemas.TagSet(v.Get(tagsKeyword).Strings()) }
	var walk func(v *jsontext.Value, path string)
	walk = func(v *jsontext.Value, path string) {
		if v == nil || v.Kind != jsontext.Object || len(path) > schemas.LongestTagPath {
			return
		}
		properties := v.Get("properties")
		kind := v.Get("type")
		if kind != nil && kind.Kind == jsontext.String && kind.Text == "object" || properties != nil {
			list = append(list, tagged{schemas.Tagged{Path: path + "object", Tags: tagsAt(v)}, v})
		}
		for _, m := range v.Members {
			switch m.Name {
			case "properties":
				for _, p := range m.Value.Members {
					if len(path)+len(p.Name) > schemas.LongestTagPath {
						continue
					}
					at := schemas.Tagged{Path: path + "object." + p.Name, Field: true, Tags: tagsAt(p.Value)}
					if v == root {
						at.Top = p.Name
					}
					list = append(list, tagged{at, p.Value})
					walk(p.Value, at.Path+".")
				}
			case "items", "prefixItems", "additionalItems":
				if m.Value.Kind == jsontext.Array {
					for i, item := range m.Value.Items {
						walk(item, path+"array."+strconv.Itoa(i)+".")
					}
				} else {
					walk(m.Value, path+"array.")
				}
			case "allOf", "anyOf", "oneOf":
				for i, branch := range m.Value.Items {
					walk(branch, path+strings.ToLower(m.Name)+"."+strconv.Itoa(i)+".")
				}
			case "not", "if", "then", "else":
				walk(m.Value, path+m.Name+".")
			case "$defs", "definitions":
				for _, d := range m.Value.Members {
					walk(d.Value, path+m.Name+"."+d.Name+".")
				}
			}
		}
	}
	walk(root, "")
	return root, list
}

func tags(s schemas.Schema) (list []schemas.Tagged) {
	parsed, ok := s.(*Schema)
	if !ok {
		return nil
	}
	_, parts := parsed.parts()
	for _, p := range parts {
		list = append(list, p.Tagged)
	}
	return list
}

func retag(s schemas.Schema, parts []schemas.Tagged) (string, error) {
	parsed, ok := s.(*Schema)
	if !ok {
		return "", fmt.Errorf("tag a schema: it is a %T", s)
	}
	root, known := parsed.parts()
	wanted, found := schemas.WantedOf(parts), schemas.Wanted{}
	for _, p := range known {
		list, ok := wanted[p.Part()]
		if !ok {
			continue
		}
		found[p.Part()] = list
		if p.at.Kind == jsontext.Bool && len(list) > 0 { // which has no place for tags: what means the same has
			*p.at = jsontext.Value{Kind: jsontext.Object, Bool: p.at.Bool}
			if !p.at.Bool {
				p.at.Set("not", &jsontext.Value{Kind: jsontext.Object})
			}
		}
		if len(list) == 0 {
			p.at.Unset(tagsKeyword)
		} else {
			p.at.Set(tagsKeyword, jsontext.StringArray(list))
		}
	}
	if err := wanted.Missing(found); err != nil {
		return "", err
	}
	return root.String(), nil
}
