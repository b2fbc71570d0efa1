package jsonschema

import (
	"embed"
	"slices"

	"github.com/cartorio-registry/cartorio/compat"
)

//go:embed rules/*.txtar
var files embed.FS

var (
	safe = []compat.Outcome{compat.Reads}
	// may: whether a change refuses anything depends on what stands around it,
	// and so it may be open.
	may = []compat.Outcome{compat.Refuses, compat.Reads, compat.Undecided}
	// soft changes are about keywords that readers are free to assert: a person
	// has to look, whatever is proved of the others.
	soft = []compat.Outcome{compat.Misleads}
	// told changes are about what people and tools read: some may stand for
	// another meaning.
	told = []compat.Outcome{compat.Reads, compat.Misleads}
)

// tightening makes the rules of a tightening and of its reverse.
func tightening(tight, loose string, tightPeers, loosePeers []string, claims ...string) (compat.Rule, compat.Rule) {
	return compat.Rule{ID: tight, Mirror: loose, May: compat.Combinations(may, safe), Peers: tightPeers, Claims: claims},
		compat.Rule{ID: loose, Mirror: tight, May: compat.Combinations(safe, may), Peers: loosePeers, Claims: claims}
}

// self makes a rule that is its own mirror.
func self(id string, outcomes []compat.Outcome, peers []string, claims ...string) compat.Rule {
	return compat.Rule{ID: id, Mirror: id, May: compat.Combinations(outcomes, outcomes), Peers: peers, Claims: claims}
}

// twins makes two rules that mirror each other and may refuse either way.
func twins(added, removed string, outcomes []compat.Outcome, addedPeers, removedPeers []string, claims ...string) (compat.Rule, compat.Rule) {
	return compat.Rule{ID: added, Mirror: removed, May: compat.Combinations(outcomes, outcomes), Peers: addedPeers, Claims: claims},
		compat.Rule{ID: removed, Mirror: added, May: compat.Combinations(outcomes, outcomes), Peers: removedPeers, Claims: claims}
}

// peers builds the peer's names of a keyword from its stem.
func peers(stem string, tails ...string) (out []string) {
	for _, t := range tails {
		out = append(out, stem+t)
	}
	return out
}

// The rules of values of any kind.
var (
	typeNarrowed, typeWidened = tightening("json.type-narrowed", "json.type-widened",
		[]string{"TYPE_NARROWED", "TYPE_CHANGED", "SUM_TYPE_NARROWED", "COMBINED_TYPE_CHANGED"}, []string{"TYPE_EXTENDED", "TYPE_CHANGED", "SUM_TYPE_EXTENDED", "COMBINED_TYPE_CHANGED"}, "type")
	typeChanged               = self("json.type-changed", may, []string{"TYPE_CHANGED", "COMBINED_TYPE_SUBSCHEMAS_CHANGED"}, "type")
	enumNarrowed, enumWidened = tightening("json.values-narrowed", "json.values-widened",
		[]string{"ENUM_ARRAY_NARROWED", "ENUM_ARRAY_CHANGED", "TYPE_CHANGED"}, []string{"ENUM_ARRAY_EXTENDED", "ENUM_ARRAY_CHANGED", "TYPE_CHANGED"}, "enum", "const")
	enumChanged = self("json.values-changed", may, []string{"ENUM_ARRAY_CHANGED", "TYPE_CHANGED"}, "enum", "const")
)

// The rules of numbers.
var (
	// The peer does not know that an exclusive bound and an inclusive one are
	// bounds alike: one added may loosen the other.
	lowRaised, lowLowered = tightening("json.lower-bound-raised", "json.lower-bound-lowered",
		append(peers("MINIMUM", "_ADDED", "_INCREASED"), peers("EXCLUSIVE_MINIMUM", "_ADDED", "_INCREASED")...),
		append(peers("MINIMUM", "_REMOVED", "_DECREASED", "_ADDED"), peers("EXCLUSIVE_MINIMUM", "_REMOVED", "_DECREASED", "_ADDED")...), "minimum", "exclusiveMinimum")
	highLowered, highRaised = tightening("json.upper-bound-lowered", "json.upper-bound-raised",
		append(peers("MAXIMUM", "_ADDED", "_DECREASED"), peers("EXCLUSIVE_MAXIMUM", "_ADDED", "_DECREASED")...),
		append(peers("MAXIMUM", "_REMOVED", "_INCREASED", "_ADDED"), peers("EXCLUSIVE_MAXIMUM", "_REMOVED", "_INCREASED", "_ADDED")...), "maximum", "exclusiveMaximum")
	stepTightened, stepLoosened = tightening("json.multiple-of-tightened", "json.multiple-of-loosened",
		peers("MULTIPLE_OF", "_ADDED", "_EXPANDED"), peers("MULTIPLE_OF", "_REMOVED", "_REDUCED"), "multipleOf")
	stepChanged = self("json.multiple-of-changed", may, peers("MULTIPLE_OF", "_CHANGED"), "multipleOf")
)

// The rules of strings.
var (
	minLengthRaised, minLengthLowered = tightening("json.min-length-raised", "json.min-length-lowered",
		peers("MIN_LENGTH", "_ADDED", "_INCREASED"), peers("MIN_LENGTH", "_REMOVED", "_DECREASED"), "minLength")
	maxLengthLowered, maxLengthRaised = tightening("json.max-length-lowered", "json.max-length-raised",
		peers("MAX_LENGTH", "_ADDED", "_DECREASED"), peers("MAX_LENGTH", "_REMOVED", "_INCREASED"), "maxLength")
	patternAdded, patternRemoved = tightening("json.pattern-added", "json.pattern-removed", peers("PATTERN", "_ADDED"), peers("PATTERN", "_REMOVED"), "pattern")
	patternChanged               = self("json.pattern-changed", may, peers("PATTERN", "_CHANGED"), "pattern")
	formatAdded, formatRemoved   = twins("json.format-added", "json.format-removed", soft, nil, nil, "format")
	formatChanged                = self("json.format-changed", soft, nil, "format")
	contentChanged               = self("json.content-changed", soft, nil, "contentEncoding", "contentMediaType", "contentSchema")
)

// The rules of arrays.
var (
	minItemsRaised, minItemsLowered = tightening("json.min-items-raised", "json.min-items-lowered",
		peers("MIN_ITEMS", "_ADDED", "_INCREASED"), peers("MIN_ITEMS", "_REMOVED", "_DECREASED"), "minItems")
	maxItemsLowered, maxItemsRaised = tightening("json.max-items-lowered", "json.max-items-raised",
		peers("MAX_ITEMS", "_ADDED", "_DECREASED"), peers("MAX_ITEMS", "_REMOVED", "_INCREASED"), "maxItems")
	uniqueAdded, uniqueRemoved            = tightening("json.unique-items-added", "json.unique-items-removed", peers("UNIQUE_ITEMS", "_ADDED"), peers("UNIQUE_ITEMS", "_REMOVED"), "uniqueItems")
	containsAdded, containsRemoved        = tightening("json.contains-added", "json.contains-removed", []string{"MIN_CONTAINS_ADDED", "SCHEMA_ADDED"}, []string{"MIN_CONTAINS_REMOVED", "SCHEMA_REMOVED"}, "contains")
	containsChanged                       = self("json.contains-changed", may, nil, "contains")
	minContainsRaised, minContainsLowered = tightening("json.min-contains-raised", "json.min-contains-lowered",
		peers("MIN_CONTAINS", "_ADDED", "_INCREASED"), peers("MIN_CONTAINS", "_REMOVED", "_DECREASED"), "minContains")
	maxContainsLowered, maxContainsRaised = tightening("json.max-contains-lowered", "json.max-contains-raised",
		peers("MAX_CONTAINS", "_ADDED", "_DECREASED"), peers("MAX_CONTAINS", "_REMOVED", "_INCREASED"), "maxContains")
	itemAdded, itemRemoved = twins("json.item-added", "json.item-removed", may,
		[]string{"ITEM_ADDED" + toClosed, "ITEM_ADDED_TO_OPEN_CONTENT_MODEL", "ITEM_WITH_EMPTY_SCHEMA_ADDED" + toOpen, "ITEM_ADDED" + covered, "ITEM_ADDED" + notCovered},
		[]string{"ITEM_REMOVED" + fromClosed, "ITEM_REMOVED" + fromOpen, "ITEM_WITH_FALSE_REMOVED" + fromClosed, "ITEM_REMOVED" + covered, "ITEM_REMOVED" + notCovered}, "items", "prefixItems")
	itemsRestricted, itemsFreed = twins("json.items-restricted", "json.items-freed", may,
		[]string{"SCHEMA_ADDED", "ADDITIONAL_ITEMS_REMOVED", "ADDITIONAL_ITEMS_NARROWED"}, []string{"SCHEMA_REMOVED", "ADDITIONAL_ITEMS_ADDED", "ADDITIONAL_ITEMS_EXTENDED"}, "items", "additionalItems")
	unevaluatedItemsRestricted, unevaluatedItemsFreed = tightening("json.unevaluated-items-restricted", "json.unevaluated-items-freed",
		peers("UNEVALUATED_ITEMS", "_REMOVED", "_NARROWED"), peers("UNEVALUATED_ITEMS", "_ADDED", "_EXTENDED"), "unevaluatedItems")
)

// The rules of objects.
var (
	propertyAdded, propertyRemoved = twins("json.property-added", "json.property-removed", may,
		[]string{
			"OPTIONAL_PROPERTY_ADDED" + toOpen, "OPTIONAL_PROPERTY_ADDED" + toUnopen, "REQUIRED_PROPERTY_ADDED" + toOpen, "REQUIRED_PROPERTY_ADDED" + toUnopen,
			"REQUIRED_PROPERTY_WITH_DEFAULT_ADDED" + toOpen, "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED" + toUnopen, "PROPERTY_WITH_EMPTY_SCHEMA_ADDED" + toOpen, "PROPERTY_ADDED" + covered, "PROPERTY_ADDED" + notCovered,
		},
		[]string{"PROPERTY_REMOVED" + fromOpen, "PROPERTY_REMOVED" + fromClosed, "PROPERTY_WITH_FALSE_REMOVED" + fromClosed, "PROPERTY_REMOVED" + covered, "PROPERTY_REMOVED" + notCovered}, "properties")
	// renamed stands for both halves, so it answers for what the peer says of each.
	propertyRenamed                = self("json.property-renamed", append(told[1:len(told):len(told)], may...), slices.Concat(propertyAdded.Peers, propertyRemoved.Peers, requiredAdded.Peers, requiredRemoved.Peers), "properties")
	requiredAdded, requiredRemoved = tightening("json.member-required", "json.member-not-required",
		[]string{"REQUIRED_ATTRIBUTE_ADDED", "REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED", "REQUIRED_PROPERTY_ADDED" + toOpen, "REQUIRED_PROPERTY_ADDED" + toUnopen, "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED" + toOpen, "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED" + toUnopen},
		[]string{"REQUIRED_ATTRIBUTE_REMOVED", "PROPERTY_REMOVED" + fromClosed}, "required")
	restRestricted, restFreed = twins("json.additional-properties-restricted", "json.additional-properties-freed", may,
		peers("ADDITIONAL_PROPERTIES", "_REMOVED", "_NARROWED"), peers("ADDITIONAL_PROPERTIES", "_ADDED", "_EXTENDED"), "additionalProperties")
	patternPropertyAdded, patternPropertyRemoved = twins("json.pattern-property-added", "json.pattern-property-removed", may, nil, nil, "patternProperties")
	namesRestricted, namesFreed                  = tightening("json.property-names-restricted", "json.property-names-freed", nil, nil, "propertyNames")
	minPropertiesRaised, minPropertiesLowered    = tightening("json.min-properties-raised", "json.min-properties-lowered",
		peers("MIN_PROPERTIES", "_ADDED", "_INCREASED"), peers("MIN_PROPERTIES", "_REMOVED", "_DECREASED"), "minProperties")
	maxPropertiesLowered, maxPropertiesRaised = tightening("json.max-properties-lowered", "json.max-properties-raised",
		peers("MAX_PROPERTIES", "_ADDED", "_DECREASED"), peers("MAX_PROPERTIES", "_REMOVED", "_INCREASED"), "maxProperties")
	dependencyAdded, dependencyRemoved = tightening("json.dependency-added", "json.dependency-removed",
		peers("DEPENDENCY_ARRAY", "_ADDED", "_EXTENDED", "_CHANGED"), peers("DEPENDENCY_ARRAY", "_REMOVED", "_NARROWED", "_CHANGED"), "dependentRequired", "dependencies")
	dependentAdded, dependentRemoved = tightening("json.dependent-schema-added", "json.dependent-schema-removed",
		peers("DEPENDENCY_SCHEMA", "_ADDED"), peers("DEPENDENCY_SCHEMA", "_REMOVED"), "dependentSchemas", "dependencies")
	unevaluatedRestricted, unevaluatedFreed = tightening("json.unevaluated-properties-restricted", "json.unevaluated-properties-freed",
		peers("UNEVALUATED_PROPERTIES", "_REMOVED", "_NARROWED"), peers("UNEVALUATED_PROPERTIES", "_ADDED", "_EXTENDED"), "unevaluatedProperties")
)

// The rules of combined schemas.
var (
	alternativeRemoved, alternativeAdded = tightening("json.alternative-removed", "json.alternative-added",
		[]string{"SUM_TYPE_NARROWED", "COMBINED_TYPE_SUBSCHEMAS_CHANGED"}, []string{"SUM_TYPE_EXTENDED", "COMBINED_TYPE_SUBSCHEMAS_CHANGED"}, "anyOf")
	choiceAdded, choiceRemoved = twins("json.exclusive-alternative-added", "json.exclusive-alternative-removed", may,
		[]string{"SUM_TYPE_EXTENDED", "COMBINED_TYPE_SUBSCHEMAS_CHANGED"}, []string{"SUM_TYPE_NARROWED", "COMBINED_TYPE_SUBSCHEMAS_CHANGED"}, "oneOf")
	partAdded, partRemoved = tightening("json.condition-added", "json.condition-removed",
		[]string{"PRODUCT_TYPE_EXTENDED"}, []string{"PRODUCT_TYPE_NARROWED", "COMBINED_TYPE_SUBSCHEMAS_CHANGED"}, "allOf")
	notAdded, notRemoved = tightening("json.exclusion-added", "json.exclusion-removed", []string{"TYPE_CHANGED", "PRODUCT_TYPE_EXTENDED"}, []string{"TYPE_CHANGED", "PRODUCT_TYPE_NARROWED"}, "not")
	notChanged           = self("json.exclusion-changed", may, []string{"NOT_TYPE_NARROWED", "NOT_TYPE_EXTENDED", "COMBINED_TYPE_SUBSCHEMAS_CHANGED"}, "not")
	conditionalChanged   = self("json.conditional-changed", may, []string{"TYPE_CHANGED"}, "if", "then", "else")
	combinationChanged   = self("json.combination-changed", may, []string{"COMBINED_TYPE_CHANGED", "COMBINED_TYPE_EXTENDED", "COMBINED_TYPE_SUBSCHEMAS_CHANGED", "TYPE_CHANGED", "SUM_TYPE_EXTENDED", "SUM_TYPE_NARROWED", "PRODUCT_TYPE_EXTENDED", "PRODUCT_TYPE_NARROWED"},
		"allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "$recursiveRef")
)

// The rules of what says nothing about data by itself.
var (
	dialectChanged    = self("json.dialect-changed", may, nil, "$schema")
	annotationChanged = self("json.annotation-changed", told, []string{"TITLE_CHANGED", "DESCRIPTION_CHANGED"}, "title", "description", "$comment", "examples", "deprecated", "readOnly", "writeOnly")
	defaultChanged    = self("json.default-changed", told, []string{"DEFAULT_CHANGED"}, "default")
	identityChanged   = self("json.identity-changed", safe, []string{"ID_CHANGED"}, "$id", "id")
	attributeChanged  = self("json.attribute-changed", told, nil, "attribute")
)

// rules lists every rule, in the order of the catalogue.
var rules = compat.WithExamples(files,
	typeNarrowed, typeWidened, typeChanged, enumNarrowed, enumWidened, enumChanged,
	lowRaised, lowLowered, highLowered, highRaised, stepTightened, stepLoosened, stepChanged,
	minLengthRaised, minLengthLowered, maxLengthLowered, maxLengthRaised, patternAdded, patternRemoved, patternChanged,
	formatAdded, formatRemoved, formatChanged, contentChanged,
	minItemsRaised, minItemsLowered, maxItemsLowered, maxItemsRaised, uniqueAdded, uniqueRemoved, containsAdded, containsRemoved, containsChanged,
	minContainsRaised, minContainsLowered, maxContainsLowered, maxContainsRaised, itemAdded, itemRemoved, itemsRestricted, itemsFreed,
	unevaluatedItemsRestricted, unevaluatedItemsFreed,
	propertyAdded, propertyRemoved, propertyRenamed, requiredAdded, requiredRemoved, restRestricted, restFreed, patternPropertyAdded, patternPropertyRemoved,
	namesRestricted, namesFreed, minPropertiesRaised, minPropertiesLowered, maxPropertiesLowered, maxPropertiesRaised,
	dependencyAdded, dependencyRemoved, dependentAdded, dependentRemoved, unevaluatedRestricted, unevaluatedFreed,
	alternativeRemoved, alternativeAdded, choiceAdded, choiceRemoved, partAdded, partRemoved, notAdded, notRemoved, notChanged,
	conditionalChanged, combinationChanged, dialectChanged, annotationChanged, defaultChanged, identityChanged, attributeChanged,
)
