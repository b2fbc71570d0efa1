package avro

import (
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// tagsAttribute holds the inline tags of a record or field.
//
// Source: REST contract 5.7.
const tagsAttribute = "confluent:tags"

// tagged is a part of a schema and where it stands in the canonical text.
type tagged struct {
	schemas.Tagged
	at *jsontext.Value
}

// parts lists the records that the text defines and their fields, in reading
// order. The path of a record inside a field is that of the field and its own
// full name; arrays, maps and unions leave no trace in it.
func (s *Schema) parts() (root *jsontext.Value, list []tagged) {
	root, err := jsontext.Parse(s.canonical, jsontext.Options{})
	if err != nil {
		return nil, nil // a canonical text is JSON
	}
	var walk func(v *jsontext.Value, space, path, short string)
	walk = func(v *jsontext.Value, space, path, short string) {
		switch {
		case v == nil:
			return
		case v.Kind == jsontext.Array:
			for _, branch := range v.Items {
				walk(branch, space, path, short)
			}
			return
		case v.Kind != jsontext.Object || len(path) > schemas.LongestTagPath:
			return
		}
		kind := v.Get("type")
		if kind == nil || kind.Kind != jsontext.String {
			walk(kind, space, path, short)
			return
		}
		switch kind.Text {
		case "array":
			walk(v.Get("items"), space, path, short)
			return
		case "map":
			walk(v.Get("values"), space, path, short)
			return
		case "record", "error":
		default:
			return
		}
		outermost := path == "" && v == root
		name, full := v.Get("name").Text, ""
		if own := v.Get("namespace"); own != nil {
			space = own.Text
		}
		if full = name; space != "" && !strings.Contains(name, ".") {
			full = space + "." + name
		}
		path, short = path+full, short+name
		list = append(list, tagged{schemas.Tagged{Path: path, Short: short, Tags: schemas.TagSet(v.Get(tagsAttribute).Strings())}, v})
		fields := v.Get("fields")
		if fields == nil {
			return
		}
		for _, f := range fields.Items {
			name := f.Get("name").Text
			at := schemas.Tagged{Path: path + "." + name, Short: short + "." + name, Field: true, Tags: schemas.TagSet(f.Get(tagsAttribute).Strings())}
			if outermost {
				at.Top = name
			}
			if len(at.Path) <= schemas.LongestTagPath {
				list = append(list, tagged{at, f})
			}
			walk(f.Get("type"), space, at.Path+".", at.Short+".")
		}
	}
	walk(root, "", "", "")
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
		if len(list) == 0 {
			p.at.Unset(tagsAttribute)
		} else {
			p.at.Set(tagsAttribute, jsontext.StringArray(list))
		}
	}
	if err := wanted.Missing(found); err != nil {
		return "", err
	}
	return root.String(), nil
}
