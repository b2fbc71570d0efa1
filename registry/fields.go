package registry

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
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
	w := fieldWalk{json.NewDecoder(strings.NewReader(s.Text)), s.Text}
	return w.value(false)
}

// fieldWalk reads a text that has been parsed before.
type fieldWalk struct {
	*json.Decoder
	text string
}

// value reads one value. properties tells that it is the value of that keyword,
// so that its members are names of properties.
func (w fieldWalk) value(properties bool) error {
	token, err := w.Token()
	if err != nil {
		return parseError(err)
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	for w.More() {
		keyword := ""
		if delim == '{' {
			token, err := w.Token()
			if err != nil {
				return parseError(err)
			}
			name, _ := token.(string)
			if properties && strings.HasPrefix(name, "$$") {
				return w.refuse(name)
			}
			if !properties {
				keyword = name
			}
		}
		switch keyword {
		case "const", "default", "enum", "examples": // data, whatever it looks like
			var skipped json.RawMessage
			err = w.Decode(&skipped)
		default:
			err = w.value(keyword == "properties")
		}
		if err != nil {
			return parseError(err)
		}
	}
	_, err = w.Token() // the closing one
	return err
}

func (w fieldWalk) refuse(name string) error {
	at := strings.LastIndexByte(w.text[:w.InputOffset()-1], '"') // its opening quote
	return &Error{Code: CodeSchemaInvalid, Text: "schema is invalid", Err: schemas.SyntaxErrors{{
		Position: schemas.PositionAt(w.text, at), Summary: fmt.Sprintf("property %q begins with $$, which validateFields refuses", name),
		Detail: "rename it, or turn validateFields off for the subject",
	}}}
}
