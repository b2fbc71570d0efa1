package registry

import (
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// validFields is the check that validateFields asks for beyond parsing: JSON
// Schema properties whose names begin with "$$" are refused. The other formats
// are always read as strictly as validateFields wants them.
//
// Source: REST contract 4.4.
func validFields(s schemas.Source) error {
	if s.Type != schemas.JSON {
		return nil
	}
	root, err := jsontext.Parse(s.Text, jsontext.Options{})
	if err != nil {
		return parseError(err)
	}
	var walk func(v *jsontext.Value) error
	walk = func(v *jsontext.Value) error {
		for _, item := range v.Items {
			if err := walk(item); err != nil {
				return err
			}
		}
		for _, m := range v.Members {
			switch m.Name {
			case "const", "default", "enum", "examples":
				continue // data, whatever it looks like
			case "properties":
				for _, property := range m.Value.Members {
					if strings.HasPrefix(property.Name, "$$") {
						at := schemas.PositionAt(s.Text, property.Start)
						return &Error{Code: CodeSchemaInvalid, Text: "schema is invalid", Err: schemas.SyntaxErrors{{
							Position: at, Summary: fmt.Sprintf("property %q begins with $$, which validateFields refuses", property.Name),
							Detail: "rename it, or turn validateFields off for the subject",
						}}}
					}
				}
			}
			if err := walk(m.Value); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(root)
}
