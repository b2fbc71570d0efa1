package avro

import (
	"embed"

	"github.com/cartorio-registry/cartorio/compat"
)

//go:embed rules/*.txtar
var files embed.FS

var (
	safe    = []compat.Outcome{compat.Reads}
	refused = []compat.Outcome{compat.Refuses}
	altered = []compat.Outcome{compat.Alters}
	misled  = []compat.Outcome{compat.Misleads}
	// gone is what becomes of a renamed field's value: refused, or lost to the
	// reader's default.
	gone = []compat.Outcome{compat.Refuses, compat.Loses}
	// rescued is what becomes of a value that another branch of the reader's
	// union may take.
	rescued = []compat.Outcome{compat.Refuses, compat.Reads, compat.Rounds, compat.Alters}
	// widened is what promotion does.
	widened = []compat.Outcome{compat.Reads, compat.Rounds}
	either  = []compat.Outcome{compat.Reads, compat.Misleads}
)

// misleads is the effect of a change that leaves every value and changes what it
// stands for: a person has to look.
var misleads = compat.Effect{NewReadsOld: compat.Misleads, OldReadsNew: compat.Misleads}

// note makes a rule whose changes hurt no data.
func note(id, mirror string, claims ...string) compat.Rule {
	return compat.Rule{ID: id, Mirror: mirror, May: compat.Combinations(safe, safe), Claims: claims}
}

// The rules of fields.
var (
	fieldAdded          = note("avro.field-added-with-default", "avro.field-removed-with-default", "record.fields", "field.default")
	fieldRemoved        = note("avro.field-removed-with-default", "avro.field-added-with-default", "record.fields", "field.default")
	fieldAddedBare      = compat.Rule{ID: "avro.field-added-without-default", Mirror: "avro.field-removed-without-default", May: compat.Combinations(rescued, safe), Peers: []string{missingDefault, typeMismatch}, Claims: []string{"record.fields", "field.default"}}
	fieldRemovedBare    = compat.Rule{ID: "avro.field-removed-without-default", Mirror: "avro.field-added-without-default", May: compat.Combinations(safe, rescued), Peers: []string{missingDefault, typeMismatch}, Claims: []string{"record.fields", "field.default"}}
	fieldAddedBroken    = compat.Rule{ID: "avro.field-added-with-unusable-default", Mirror: "avro.field-removed-with-unusable-default", May: compat.Combinations(refused, safe), Claims: []string{"field.default"}}
	fieldRemovedBroken  = compat.Rule{ID: "avro.field-removed-with-unusable-default", Mirror: "avro.field-added-with-unusable-default", May: compat.Combinations(safe, refused), Claims: []string{"field.default"}}
	fieldRenamed        = compat.Rule{ID: "avro.field-renamed", Mirror: "avro.field-renamed", May: compat.Combinations(gone, gone), Peers: []string{missingDefault, typeMismatch}, Claims: []string{"field.name"}}
	fieldRenamedLost    = compat.Rule{ID: "avro.field-renamed-losing-value", Mirror: "avro.field-renamed-losing-value", May: compat.Combinations([]compat.Outcome{compat.Loses}, []compat.Outcome{compat.Loses}), Claims: []string{"field.name", "field.default"}}
	fieldRenamedAlias   = compat.Rule{ID: "avro.field-renamed-with-alias", Mirror: "avro.field-renamed-from-alias", May: compat.Combinations(safe, gone), Peers: []string{missingDefault, typeMismatch}, Claims: []string{"field.name", "field.aliases"}}
	fieldRenamedBack    = compat.Rule{ID: "avro.field-renamed-from-alias", Mirror: "avro.field-renamed-with-alias", May: compat.Combinations(gone, safe), Peers: []string{missingDefault, typeMismatch}, Claims: []string{"field.name", "field.aliases"}}
	fieldRenamedBoth    = note("avro.field-renamed-with-aliases-on-both-sides", "avro.field-renamed-with-aliases-on-both-sides", "field.name", "field.aliases")
	fieldsReordered     = note("avro.fields-reordered", "avro.fields-reordered", "record.fields")
	fieldDefaultAdded   = note("avro.field-default-added", "avro.field-default-removed", "field.default")
	fieldDefaultRemoved = note("avro.field-default-removed", "avro.field-default-added", "field.default")
	fieldDefaultChanged = note("avro.field-default-changed", "avro.field-default-changed", "field.default")
	fieldAliases        = note("avro.field-aliases-changed", "avro.field-aliases-changed", "field.aliases")
	fieldAmbiguous      = compat.Rule{ID: "avro.field-aliases-ambiguous", Mirror: "avro.field-aliases-ambiguous", May: compat.Combinations([]compat.Outcome{compat.Refuses, compat.Reads}, []compat.Outcome{compat.Refuses, compat.Reads}), Peers: []string{unexpectedException}, Claims: []string{"field.aliases"}}
	fieldOrder          = note("avro.field-order-changed", "avro.field-order-changed", "field.order")
)

// The rules of types.
var (
	typeWidened   = compat.Rule{ID: "avro.type-widened", Mirror: "avro.type-narrowed", May: compat.Combinations(widened, rescued), Peers: []string{typeMismatch, missingBranch}, Claims: []string{"type", "field.type", "array.items", "map.values"}}
	typeNarrowed  = compat.Rule{ID: "avro.type-narrowed", Mirror: "avro.type-widened", May: compat.Combinations(rescued, widened), Peers: []string{typeMismatch, missingBranch}, Claims: []string{"type", "field.type", "array.items", "map.values"}}
	stringToBytes = compat.Rule{ID: "avro.string-to-bytes", Mirror: "avro.bytes-to-string", May: compat.Combinations(safe, altered), Claims: []string{"type"}}
	bytesToString = compat.Rule{ID: "avro.bytes-to-string", Mirror: "avro.string-to-bytes", May: compat.Combinations(altered, safe), Claims: []string{"type"}}
	typeChanged   = compat.Rule{ID: "avro.type-changed", Mirror: "avro.type-changed", May: compat.Combinations(rescued, rescued), Peers: []string{typeMismatch, missingBranch}, Claims: []string{"type", "field.type", "array.items", "map.values"}}

	nullAllowed    = compat.Rule{ID: "avro.null-allowed", Mirror: "avro.null-forbidden", May: compat.Combinations(safe, refused), Peers: []string{typeMismatch, missingBranch}, Claims: []string{"union.branches"}}
	nullForbidden  = compat.Rule{ID: "avro.null-forbidden", Mirror: "avro.null-allowed", May: compat.Combinations(refused, safe), Peers: []string{typeMismatch, missingBranch}, Claims: []string{"union.branches"}}
	branchAdded    = compat.Rule{ID: "avro.union-branch-added", Mirror: "avro.union-branch-removed", May: compat.Combinations(safe, rescued), Peers: []string{missingBranch, typeMismatch, nameMismatch}, Claims: []string{"union.branches"}}
	branchRemoved  = compat.Rule{ID: "avro.union-branch-removed", Mirror: "avro.union-branch-added", May: compat.Combinations(rescued, safe), Peers: []string{missingBranch, typeMismatch, nameMismatch}, Claims: []string{"union.branches"}}
	unionReordered = note("avro.union-reordered", "avro.union-reordered", "union.branches")
	unionWrapped   = note("avro.type-wrapped-in-union", "avro.type-unwrapped-from-union", "union.branches")
	unionUnwrapped = note("avro.type-unwrapped-from-union", "avro.type-wrapped-in-union", "union.branches")
)

// The rules of names.
var (
	typeRenamed      = compat.Rule{ID: "avro.type-renamed", Mirror: "avro.type-renamed", May: compat.Combinations(rescued, rescued), Peers: []string{nameMismatch, missingBranch}, Claims: []string{"record.name", "enum.name", "fixed.name"}}
	typeRenamedAlias = compat.Rule{ID: "avro.type-renamed-with-alias", Mirror: "avro.type-renamed-from-alias", May: compat.Combinations(safe, rescued), Peers: []string{nameMismatch, missingBranch}, Claims: []string{"record.aliases", "enum.aliases", "fixed.aliases"}}
	typeRenamedBack  = compat.Rule{ID: "avro.type-renamed-from-alias", Mirror: "avro.type-renamed-with-alias", May: compat.Combinations(rescued, safe), Peers: []string{nameMismatch, missingBranch}, Claims: []string{"record.aliases", "enum.aliases", "fixed.aliases"}}
	typeRenamedBoth  = note("avro.type-renamed-with-aliases-on-both-sides", "avro.type-renamed-with-aliases-on-both-sides", "record.aliases", "enum.aliases", "fixed.aliases")
	namespaceChanged = note("avro.namespace-changed", "avro.namespace-changed", "record.namespace", "enum.namespace", "fixed.namespace")
	typeAliases      = note("avro.type-aliases-changed", "avro.type-aliases-changed", "record.aliases", "enum.aliases", "fixed.aliases")
)

// The rules of enums and fixed.
var (
	symbolAdded        = compat.Rule{ID: "avro.enum-symbol-added", Mirror: "avro.enum-symbol-removed", May: compat.Combinations(safe, refused), Peers: []string{missingSymbols}, Claims: []string{"enum.symbols"}}
	symbolRemoved      = compat.Rule{ID: "avro.enum-symbol-removed", Mirror: "avro.enum-symbol-added", May: compat.Combinations(refused, safe), Peers: []string{missingSymbols}, Claims: []string{"enum.symbols"}}
	symbolAddedUnder   = compat.Rule{ID: "avro.enum-symbol-added-under-default", Mirror: "avro.enum-symbol-removed-under-default", May: compat.Combinations(safe, altered), Claims: []string{"enum.symbols", "enum.default"}}
	symbolRemovedUnder = compat.Rule{ID: "avro.enum-symbol-removed-under-default", Mirror: "avro.enum-symbol-added-under-default", May: compat.Combinations(altered, safe), Claims: []string{"enum.symbols", "enum.default"}}
	symbolsReordered   = compat.Rule{ID: "avro.enum-symbols-reordered", Mirror: "avro.enum-symbols-reordered", May: compat.Combinations(misled, misled), Claims: []string{"enum.symbols"}}
	enumDefaultAdded   = note("avro.enum-default-added", "avro.enum-default-removed", "enum.default")
	enumDefaultRemoved = note("avro.enum-default-removed", "avro.enum-default-added", "enum.default")
	enumDefaultChanged = note("avro.enum-default-changed", "avro.enum-default-changed", "enum.default")
	fixedSize          = compat.Rule{ID: "avro.fixed-size-changed", Mirror: "avro.fixed-size-changed", May: compat.Combinations(refused, refused), Peers: []string{fixedSizeMismatch, missingBranch}, Claims: []string{"fixed.size"}}
)

// The rules of what a value stands for, and of what people read.
var (
	logicalAdded     = compat.Rule{ID: "avro.logical-type-added", Mirror: "avro.logical-type-removed", May: compat.Combinations(either, either), Claims: []string{"logicalType"}}
	logicalRemoved   = compat.Rule{ID: "avro.logical-type-removed", Mirror: "avro.logical-type-added", May: compat.Combinations(either, either), Claims: []string{"logicalType"}}
	logicalChanged   = compat.Rule{ID: "avro.logical-type-changed", Mirror: "avro.logical-type-changed", May: compat.Combinations(misled, misled), Claims: []string{"logicalType"}}
	decimalScale     = compat.Rule{ID: "avro.decimal-scale-changed", Mirror: "avro.decimal-scale-changed", May: compat.Combinations(misled, misled), Claims: []string{"decimal.scale"}}
	decimalPrecision = note("avro.decimal-precision-changed", "avro.decimal-precision-changed", "decimal.precision")
	docChanged       = compat.Rule{ID: "avro.doc-changed", Mirror: "avro.doc-changed", May: compat.Combinations(either, either), Claims: []string{"record.doc", "field.doc", "enum.doc", "fixed.doc"}}
	attributeChanged = compat.Rule{ID: "avro.attribute-changed", Mirror: "avro.attribute-changed", May: compat.Combinations(either, either), Claims: []string{"attribute", "field.attribute"}}
)

// rules lists every rule, in the order of the catalogue.
var rules = compat.WithExamples(files,
	fieldAdded, fieldRemoved, fieldAddedBare, fieldRemovedBare, fieldAddedBroken, fieldRemovedBroken,
	fieldRenamed, fieldRenamedLost, fieldRenamedAlias, fieldRenamedBack, fieldRenamedBoth, fieldsReordered,
	fieldDefaultAdded, fieldDefaultRemoved, fieldDefaultChanged, fieldAliases, fieldAmbiguous, fieldOrder,
	typeWidened, typeNarrowed, stringToBytes, bytesToString, typeChanged,
	nullAllowed, nullForbidden, branchAdded, branchRemoved, unionReordered, unionWrapped, unionUnwrapped,
	typeRenamed, typeRenamedAlias, typeRenamedBack, typeRenamedBoth, namespaceChanged, typeAliases,
	symbolAdded, symbolRemoved, symbolAddedUnder, symbolRemovedUnder, symbolsReordered,
	enumDefaultAdded, enumDefaultRemoved, enumDefaultChanged, fixedSize,
	logicalAdded, logicalRemoved, logicalChanged, decimalScale, decimalPrecision, docChanged, attributeChanged,
)
