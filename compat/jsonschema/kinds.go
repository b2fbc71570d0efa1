package jsonschema

import (
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
)

// strict are the differences that the reference registry accepts.
//
// Source: JSON Schema specification 2.4.
var strict = set(
	"ID_CHANGED", "DESCRIPTION_CHANGED", "TITLE_CHANGED", "DEFAULT_CHANGED", "SCHEMA_REMOVED", "TYPE_EXTENDED",
	"MAX_LENGTH_INCREASED", "MAX_LENGTH_REMOVED", "MIN_LENGTH_DECREASED", "MIN_LENGTH_REMOVED", "PATTERN_REMOVED",
	"MAXIMUM_INCREASED", "MAXIMUM_REMOVED", "MINIMUM_DECREASED", "MINIMUM_REMOVED",
	"EXCLUSIVE_MAXIMUM_INCREASED", "EXCLUSIVE_MAXIMUM_REMOVED", "EXCLUSIVE_MINIMUM_DECREASED", "EXCLUSIVE_MINIMUM_REMOVED",
	"MULTIPLE_OF_REDUCED", "MULTIPLE_OF_REMOVED",
	"MAX_PROPERTIES_INCREASED", "MAX_PROPERTIES_REMOVED", "MIN_PROPERTIES_DECREASED", "MIN_PROPERTIES_REMOVED",
	"MAX_ITEMS_INCREASED", "MAX_ITEMS_REMOVED", "MIN_ITEMS_DECREASED", "MIN_ITEMS_REMOVED", "UNIQUE_ITEMS_REMOVED",
	"MAX_CONTAINS_INCREASED", "MAX_CONTAINS_REMOVED", "MIN_CONTAINS_DECREASED", "MIN_CONTAINS_REMOVED",
	"REQUIRED_ATTRIBUTE_REMOVED", "REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED",
	"DEPENDENCY_ARRAY_NARROWED", "DEPENDENCY_ARRAY_REMOVED", "DEPENDENCY_SCHEMA_REMOVED",
	"ADDITIONAL_PROPERTIES_ADDED", "ADDITIONAL_PROPERTIES_EXTENDED", "UNEVALUATED_PROPERTIES_ADDED", "UNEVALUATED_PROPERTIES_EXTENDED",
	"ADDITIONAL_ITEMS_ADDED", "ADDITIONAL_ITEMS_EXTENDED", "UNEVALUATED_ITEMS_ADDED", "UNEVALUATED_ITEMS_EXTENDED",
	"PROPERTY_WITH_EMPTY_SCHEMA_ADDED"+toOpen, "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED"+toUnopen, "OPTIONAL_PROPERTY_ADDED"+toUnopen,
	"PROPERTY_WITH_FALSE_REMOVED"+fromClosed, "PROPERTY_REMOVED"+fromOpen, "PROPERTY_ADDED"+covered, "PROPERTY_REMOVED"+covered,
	"ITEM_WITH_EMPTY_SCHEMA_ADDED"+toOpen, "ITEM_ADDED"+toClosed, "ITEM_WITH_FALSE_REMOVED"+fromClosed, "ITEM_REMOVED"+fromOpen,
	"ITEM_ADDED"+covered, "ITEM_REMOVED"+covered,
	"ENUM_ARRAY_EXTENDED", "COMBINED_TYPE_EXTENDED", "PRODUCT_TYPE_NARROWED", "SUM_TYPE_EXTENDED", "NOT_TYPE_NARROWED",
)

// lenient are those that LENIENT accepts beside them: it asks only that the
// fields which both sides know agree.
var lenient = set(
	"ADDITIONAL_PROPERTIES_NARROWED", "ADDITIONAL_PROPERTIES_REMOVED", "UNEVALUATED_PROPERTIES_NARROWED", "UNEVALUATED_PROPERTIES_REMOVED",
	"REQUIRED_PROPERTY_WITH_DEFAULT_ADDED"+toOpen, "OPTIONAL_PROPERTY_ADDED"+toOpen, "PROPERTY_REMOVED"+fromClosed,
	"PROPERTY_ADDED"+notCovered, "PROPERTY_REMOVED"+notCovered,
)

// The tails of the peer's names that speak of a content model.
const (
	toOpen     = "_TO_OPEN_CONTENT_MODEL"
	toClosed   = "_TO_CLOSED_CONTENT_MODEL"
	toUnopen   = "_TO_UNOPEN_CONTENT_MODEL"
	fromOpen   = "_FROM_OPEN_CONTENT_MODEL"
	fromClosed = "_FROM_CLOSED_CONTENT_MODEL"
	covered    = "_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
	notCovered = "_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"
)

func set(names ...string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[name] = true
	}
	return out
}

func accepted(kind string, policy compat.Policy) bool {
	return strict[kind] || policy == compat.Lenient && lenient[kind]
}

// message writes a difference in the peer's text form, its unbalanced quote
// included.
//
// Source: JSON Schema specification 2.4.
func message(d compat.Difference, reader, writer, rule string) string {
	what := strings.ToLower(strings.ReplaceAll(d.Type, "_", " "))
	text := fmt.Sprintf("The %s schema does not accept all that the %s schema does at path '%s': %s", reader, writer, d.Path, what)
	if rule != "" {
		text += " (" + rule + ")"
	}
	return `{errorType:"` + d.Type + `", description:"` + text + `'}`
}
