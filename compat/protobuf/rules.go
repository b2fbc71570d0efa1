package protobuf

import (
	"embed"
	"slices"

	"github.com/cartorio-registry/cartorio/compat"
)

//go:embed rules/*.txtar
var files embed.FS

var (
	safe = []compat.Outcome{compat.Reads}
	// anyhow is what may become of a value that another declaration reads. It is
	// undecided where no payload of a bearable size gets there.
	anyhow = []compat.Outcome{compat.Reads, compat.Rounds, compat.Alters, compat.Loses, compat.Refuses, compat.Undecided}
	// misled is what a change of defaults does.
	misled = []compat.Outcome{compat.Reads, compat.Misleads}
	// anyhowNamed is anyhow where what arrives may bear another name too.
	anyhowNamed = append(slices.Clone(anyhow), compat.Misleads)
	// rounded is what happens to values that should not be there.
	rounded = []compat.Outcome{compat.Reads, compat.Rounds}
)

var payloadAndCode = []compat.Layer{compat.Wire, compat.JSONMapping, compat.SourceCode}

func rule(id, mirror string, may []compat.Effect, peers, claims []string) compat.Rule {
	return compat.Rule{ID: "protobuf." + id, Mirror: "protobuf." + mirror, May: may, Layers: payloadAndCode, Peers: peers, Claims: claims}
}

// same makes a rule that mirrors itself.
func same(id string, outcomes []compat.Outcome, peers []string, claims ...string) compat.Rule {
	return rule(id, id, compat.Combinations(outcomes, outcomes), peers, claims)
}

// twins makes a rule and its mirror; one and other are what may happen to the
// first when new reads old, and when old reads new.
func twins(id, mirror string, one, other []compat.Outcome, peers, mirrored []string, claims ...string) (first, second compat.Rule) {
	return rule(id, mirror, compat.Combinations(one, other), peers, claims), rule(mirror, id, compat.Combinations(other, one), mirrored, claims)
}

func peers(names ...string) []string { return names }

// code is what a change of generated code alone does.
var code = []compat.Outcome{compat.Reads, compat.Refuses}

// The rules of fields.
var (
	fieldAdded, fieldRemoved       = twins("field-added", "field-removed", anyhow, anyhow, peers(fieldAddedPeer, oneofFieldAdded), peers(fieldRemovedPeer, oneofFieldRemoved), "DescriptorProto.field", "DescriptorProto.extension", "FileDescriptorProto.extension", "FieldDescriptorProto.extendee")
	fieldRevived, fieldRetired     = twins("field-added-on-reserved-number", "field-removed-and-reserved", anyhow, anyhow, peers(fieldAddedPeer, oneofFieldAdded), peers(fieldRemovedPeer, oneofFieldRemoved), "DescriptorProto.field", "DescriptorProto.reserved_range")
	requiredAdded, requiredRemoved = twins("required-field-added", "required-field-removed", anyhow, anyhow, peers(requiredAddedPeer), peers(requiredRemovedPeer), "FieldDescriptorProto.label", "FeatureSet.field_presence")

	fieldRenamed     = same("field-renamed", anyhow, peers(fieldNameChanged), "FieldDescriptorProto.name")
	jsonNameChanged  = same("field-json-name-changed", anyhow, nil, "FieldDescriptorProto.json_name")
	fieldRenumbered  = same("field-renumbered", anyhow, peers(fieldRemovedPeer, fieldAddedPeer, oneofFieldRemoved, oneofFieldAdded), "FieldDescriptorProto.number")
	kindChangedRule  = same("field-type-changed", anyhow, peers(scalarKindChanged, kindChanged), "FieldDescriptorProto.type")
	typeRenamed      = same("field-type-renamed", anyhow, peers(namedTypeChanged), "FieldDescriptorProto.type_name")
	encodingChanged  = same("field-encoding-changed", anyhow, peers(kindChanged, messageAdded, messageRemoved), "FeatureSet.message_encoding")
	presenceChanged  = same("field-presence-changed", code, nil, "FieldDescriptorProto.proto3_optional", "FeatureSet.field_presence")
	packedChanged    = same("field-packed-changed", safe, nil, "FieldOptions.packed", "FeatureSet.repeated_field_encoding")
	defaultChanged   = same("field-default-changed", misled, nil, "FieldDescriptorProto.default_value")
	fieldCodeChanged = same("field-code-changed", code, nil, "FieldOptions.ctype", "FieldOptions.jstype")

	becameRequired, noLongerRequired = twins("field-became-required", "field-no-longer-required", anyhow, anyhow, peers(numericLabelChanged, textLabelChanged), peers(numericLabelChanged, textLabelChanged), "FieldDescriptorProto.label", "FeatureSet.field_presence")
	becameRepeated, becameSingular   = twins("field-became-repeated", "field-became-singular", anyhow, anyhow, peers(numericLabelChanged, textLabelChanged), peers(numericLabelChanged, textLabelChanged), "FieldDescriptorProto.label")
	becameMap, noLongerMap           = twins("field-became-map", "field-no-longer-map", anyhow, anyhow, peers(kindChanged, messageRemoved), peers(kindChanged, messageAdded), "MessageOptions.map_entry")
	utf8Checked, utf8Unchecked       = twins("field-utf8-checked", "field-utf8-not-checked", rounded, safe, nil, nil, "FeatureSet.utf8_validation")
)

// The rules of oneofs.
var (
	gathered, scattered   = twins("fields-gathered-in-oneof", "fields-scattered-from-oneof", anyhow, anyhow, peers(multipleMovedToOneof, movedToExistingOneof), peers(oneofFieldToTop), "FieldDescriptorProto.oneof_index", "DescriptorProto.oneof_decl")
	intoOneof, outOfOneof = twins("field-moved-into-oneof", "field-moved-out-of-oneof", code, code, peers(movedToExistingOneof), peers(oneofFieldToTop), "FieldDescriptorProto.oneof_index")
	oneofRenamed          = same("oneof-renamed", code, peers(oneofRemoved, oneofAdded), "OneofDescriptorProto.name")
)

// The rules of enums.
var (
	valueAdded, valueRemoved       = twins("enum-value-added", "enum-value-removed", anyhow, anyhow, peers(enumConstAdded), peers(enumConstRemoved), "EnumDescriptorProto.value")
	aliasAdded, aliasRemoved       = twins("enum-alias-added", "enum-alias-removed", anyhow, anyhow, peers(enumConstChanged), peers(enumConstChanged), "EnumOptions.allow_alias")
	valueRenamed                   = same("enum-value-renamed", anyhow, peers(enumConstChanged), "EnumValueDescriptorProto.name")
	valueRenumbered                = same("enum-value-renumbered", anyhowNamed, peers(enumConstChanged, enumConstRemoved, enumConstAdded), "EnumValueDescriptorProto.number")
	firstValueChanged              = same("enum-first-value-changed", misled, nil, "EnumDescriptorProto.value")
	enumClosed, enumOpened         = twins("enum-closed", "enum-opened", closing, code, nil, nil, "FeatureSet.enum_type")
	enumAddedRule, enumRemovedRule = twins("enum-added", "enum-removed", code, code, peers(enumAdded), peers(enumRemoved), "FileDescriptorProto.enum_type", "DescriptorProto.enum_type", "EnumDescriptorProto.name")
)

// closing is what a closed enum does to numbers that it does not declare, and
// to code.
var closing = []compat.Outcome{compat.Reads, compat.Rounds, compat.Refuses}

// The rules of messages.
var (
	messageAddedRule, messageRemovedRule = twins("message-added", "message-removed", code, code, peers(messageAdded), peers(messageRemoved), "FileDescriptorProto.message_type", "DescriptorProto.nested_type")
	movedIn, movedOut                    = twins("message-moved-in", "message-moved-out", code, code, peers(messageAdded), peers(messageRemoved), "FileDescriptorProto.message_type")
	messageRenamed                       = same("message-renamed", code, peers(messageRemoved, messageAdded), "DescriptorProto.name")
	rootChanged                          = same("root-message-changed", safe, peers(messageMoved), "FileDescriptorProto.message_type")
	reservedAdded, reservedRemoved       = twins("reserved-added", "reserved-removed", safe, safe, nil, nil, "DescriptorProto.reserved_range", "DescriptorProto.reserved_name", "EnumDescriptorProto.reserved_range", "EnumDescriptorProto.reserved_name")
	rangeAdded, rangeRemoved             = twins("extension-range-added", "extension-range-removed", code, code, nil, nil, "DescriptorProto.extension_range")
)

// The rules of files, services and options.
var (
	packageChangedRule           = same("package-changed", code, peers(packageChanged), "FileDescriptorProto.package")
	syntaxChanged                = same("syntax-changed", safe, nil, "FileDescriptorProto.syntax", "FileDescriptorProto.edition")
	fileCodeChanged              = same("file-code-changed", code, nil, fileClaims()...)
	serviceAdded, serviceRemoved = twins("service-added", "service-removed", code, code, nil, nil, "FileDescriptorProto.service", "ServiceDescriptorProto.name")
	rpcAdded, rpcRemoved         = twins("rpc-added", "rpc-removed", code, code, nil, nil, "ServiceDescriptorProto.method", "MethodDescriptorProto.name")
	rpcChanged                   = same("rpc-changed", code, nil, "MethodDescriptorProto.input_type", "MethodDescriptorProto.output_type", "MethodDescriptorProto.client_streaming", "MethodDescriptorProto.server_streaming")
	optionChanged                = same("option-changed", safe, nil, optionClaims...)
)

func fileClaims() (out []string) {
	for _, name := range codeOptions {
		out = append(out, "FileOptions."+string(name))
	}
	return out
}

// optionClaims are the options that change neither data nor the names of
// generated code.
var optionClaims = []string{
	"FileDescriptorProto.options", "DescriptorProto.options", "FieldDescriptorProto.options", "EnumDescriptorProto.options",
	"EnumValueDescriptorProto.options", "ServiceDescriptorProto.options", "MethodDescriptorProto.options",
	"FileOptions.deprecated", "MessageOptions.deprecated", "FieldOptions.deprecated", "EnumOptions.deprecated", "EnumValueOptions.deprecated",
	"ServiceOptions.deprecated", "MethodOptions.deprecated", "MethodOptions.idempotency_level",
	"MessageOptions.no_standard_descriptor_accessor", "MessageOptions.message_set_wire_format",
}

var rules = compat.WithExamples(files,
	fieldAdded, fieldRemoved, fieldRevived, fieldRetired, requiredAdded, requiredRemoved, fieldRenamed, jsonNameChanged, fieldRenumbered,
	kindChangedRule, typeRenamed, encodingChanged, presenceChanged, packedChanged, defaultChanged, fieldCodeChanged,
	becameRequired, noLongerRequired, becameRepeated, becameSingular, becameMap, noLongerMap, utf8Checked, utf8Unchecked,
	gathered, scattered, intoOneof, outOfOneof, oneofRenamed,
	valueAdded, valueRemoved, aliasAdded, aliasRemoved, valueRenamed, valueRenumbered, firstValueChanged, enumClosed, enumOpened, enumAddedRule, enumRemovedRule,
	messageAddedRule, messageRemovedRule, movedIn, movedOut, messageRenamed, rootChanged, reservedAdded, reservedRemoved, rangeAdded, rangeRemoved,
	packageChangedRule, syntaxChanged, fileCodeChanged, serviceAdded, serviceRemoved, rpcAdded, rpcRemoved, rpcChanged, optionChanged,
)
