package folder

import (
	"encoding/json"
	"slices"
	"strings"
)

// isLikely tells whether the text of a .json file reads like a JSON Schema that does
// not say so. It decides nothing but what people are told.
func isLikely(text string) bool {
	if !strings.Contains(text, `"type"`) && !strings.Contains(text, `"$defs"`) {
		return false
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &members) != nil {
		return false
	}
	has := func(name string) bool { return members[name] != nil }
	var kind string
	_ = json.Unmarshal(members["type"], &kind) // of several types it is none
	switch kind {
	case "object":
		return slices.ContainsFunc([]string{"properties", "additionalProperties", "patternProperties", "required", "propertyNames"}, has)
	case "array":
		return has("items") || has("prefixItems")
	case "string", "number", "integer", "boolean", "null":
		return has("enum") || has("const") || has("pattern") || has("format")
	}
	return has("$defs")
}
