package api

// Shape is what a body looks like: JSON Schema's few words that the contract
// needs. The OpenAPI document is made from it and the contract test holds every
// answer against it.
type Shape struct {
	Name    string // of the component in the OpenAPI document; empty stands in place
	Type    string // object, array, string, integer, boolean; empty: no body
	Doc     string
	Enum    []string
	Items   *Shape
	Members []Member
	Null    bool // null stands for none; the contract itself never writes it
	// Text is a body that is not JSON text of our own but a schema's.
	Text bool
}

// Member is one member of an object.
type Member struct {
	Name     string
	Shape    *Shape
	Required bool // always written in answers, and needed in requests
	Doc      string
}

var (
	stringShape  = &Shape{Type: "string"}
	integerShape = &Shape{Type: "integer"}
	booleanShape = &Shape{Type: "boolean"}
	tagsShape    = &Shape{Type: "array", Items: &Shape{Name: "SchemaTags", Type: "object", Members: []Member{
		{"schemaEntity", &Shape{Name: "SchemaEntity", Type: "object", Members: []Member{
			{"entityPath", stringShape, true, "names a part of the text: com.acme.User.id (Avro), object.id (JSON Schema), .acme.User.id (Protobuf)"},
			{"entityType", &Shape{Type: "string", Enum: []string{"sr_record", "sr_field"}}, true, ""},
		}}, true, ""},
		{"tags", textsShape, true, ""},
	}}}

	typeShape  = &Shape{Name: "SchemaType", Type: "string", Enum: []string{"AVRO", "JSON", "PROTOBUF"}}
	levelShape = &Shape{Name: "CompatibilityLevel", Type: "string", Enum: []string{"NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"}}
	modesShape = &Shape{Name: "ModeName", Type: "string", Enum: []string{"READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD"}}

	textShape       = &Shape{Name: "SchemaText", Type: "string", Text: true, Doc: "the schema's text, as it is"}
	nothing         = &Shape{}
	emptyShape      = &Shape{Name: "Empty", Type: "object"}
	subjectsShape   = &Shape{Name: "Subjects", Type: "array", Items: stringShape}
	versionsShape   = &Shape{Name: "Versions", Type: "array", Items: integerShape, Doc: "ascending; with deletedAsNegative soft-deleted ones are negative"}
	contextIDShape  = &Shape{Name: "ContextId", Type: "object", Members: []Member{{"context", stringShape, true, "with its leading dot"}, {"id", integerShape, true, ""}}}
	contextIDsShape = &Shape{Name: "ContextIds", Type: "array", Items: contextIDShape}
	idsShape        = &Shape{Name: "Ids", Type: "array", Items: integerShape}
	typesShape      = &Shape{Name: "SchemaTypes", Type: "array", Items: typeShape}
	contextsShape   = &Shape{Name: "Contexts", Type: "array", Items: stringShape}
	exportersShape  = &Shape{Name: "Exporters", Type: "array", Items: stringShape, Doc: "always empty"}
	referenceShape  = &Shape{Name: "SchemaReference", Type: "object", Members: []Member{{"name", stringShape, true, "what the schema's text uses"}, {"subject", stringShape, true, ""}, {"version", integerShape, true, "-1 in a request is the latest"}}}
	referencesShape = &Shape{Type: "array", Items: referenceShape}

	metadataShape = &Shape{Name: "Metadata", Type: "object", Members: []Member{
		{"tags", &Shape{Type: "object", Doc: "tags by path"}, false, ""},
		{"properties", &Shape{Type: "object", Doc: "texts by name"}, false, "confluent:version is the registry's own"},
		{"sensitive", &Shape{Type: "array", Items: stringShape}, false, "the names of properties that are not for everyone"},
	}}
	ruleShape = &Shape{Name: "Rule", Type: "object", Members: []Member{
		{"name", stringShape, true, "a letter or _, then letters, digits, _ and -; 256 at most; unique in the rule set"},
		{"doc", stringShape, false, ""},
		{"kind", &Shape{Type: "string", Enum: []string{"TRANSFORM", "CONDITION"}}, false, "TRANSFORM when absent"},
		{"mode", &Shape{Type: "string", Enum: []string{"WRITEREAD", "WRITE", "READ", "UPGRADE", "DOWNGRADE", "UPDOWN"}}, false, "WRITEREAD when absent"},
		{"type", stringShape, true, "such as CEL"},
		{"tags", &Shape{Type: "array", Items: stringShape}, false, ""},
		{"params", &Shape{Type: "object"}, false, ""},
		{"expr", stringShape, false, ""},
		{"onSuccess", stringShape, false, ""},
		{"onFailure", stringShape, false, ""},
		{"disabled", booleanShape, false, "always in answers"},
	}}
	rulesShape   = &Shape{Type: "array", Items: ruleShape}
	ruleSetShape = &Shape{Name: "RuleSet", Type: "object", Members: []Member{
		{"migrationRules", rulesShape, false, "of the modes UPGRADE, DOWNGRADE and UPDOWN"},
		{"domainRules", rulesShape, false, "of the modes WRITE, READ and WRITEREAD"},
		{"encodingRules", rulesShape, false, "likewise"},
		{"enableAt", &Shape{Type: "string", Enum: []string{"ALL", "CLIENT", "GATEWAY", "SERVER", "NONE"}}, false, ""},
	}}

	errorShape = &Shape{Name: "Error", Type: "object", Members: []Member{{"error_code", integerShape, true, "its first three digits are the status"}, {"message", stringShape, true, ""}}}

	placed = []Member{{"subject", stringShape, true, ""}, {"version", integerShape, true, ""}}
	entry  = []Member{
		{"guid", stringShape, true, "lower-case UUID text"},
		{"schemaType", typeShape, true, ""},
		{"references", referencesShape, false, ""},
		{"metadata", metadataShape, false, ""},
		{"ruleSet", ruleSetShape, false, ""},
		{"schema", stringShape, true, "the canonical text"},
		{"ts", integerShape, false, "registration, in milliseconds since 1970"},
		{"deleted", booleanShape, false, ""},
		{"erased", booleanShape, false, "with asOf: the text was permanently deleted since, and schema is empty"},
	}
	idMember   = []Member{{"id", integerShape, true, ""}}
	tagsMember = []Member{{"schemaTags", tagsShape, false, "with findTags: the parts that carry one of the tags asked for, with all their tags"}}

	schemaShape       = &Shape{Name: "Schema", Type: "object", Members: join(placed, idMember, entry, tagsMember, []Member{{"aliases", &Shape{Type: "array", Items: stringShape}, false, "in lists, with aliases=true: the subjects that this one stands for"}})}
	schemasShape      = &Shape{Name: "Schemas", Type: "array", Items: schemaShape}
	schemaStringShape = &Shape{Name: "SchemaString", Type: "object", Members: join(placed, entry, tagsMember, []Member{{"maxId", integerShape, false, "the highest id given in the context; only with fetchMaxId=true"}})}
	schemaByGUIDShape = &Shape{Name: "SchemaByGuid", Type: "object", Members: entry}
	registeredShape   = &Shape{Name: "RegisterSchemaResponse", Type: "object", Members: join(idMember, []Member{{"version", integerShape, true, ""}}, entry)}
	placeShape        = &Shape{Name: "SubjectVersion", Type: "object", Members: placed}
	placesShape       = &Shape{Name: "SubjectVersions", Type: "array", Items: placeShape}

	registrationShape = &Shape{Name: "RegisterSchemaRequest", Type: "object", Members: []Member{
		{"schema", stringShape, false, "absent takes the latest version's"},
		{"schemaType", typeShape, false, "absent is AVRO"},
		{"references", referencesShape, false, ""},
		{"version", integerShape, false, "0 or absent: the next; -1: compare with the latest only"},
		{"id", integerShape, false, "in the modes IMPORT and FORWARD only: the id that the schema has elsewhere"},
		{"metadata", metadataShape, false, "absent: that of the latest version; {}: none"},
		{"ruleSet", ruleSetShape, false, "absent: that of the latest version; {}: none"},
		{"schemaTagsToAdd", tagsShape, false, "inline tags that the text gets before it is registered"},
		{"schemaTagsToRemove", tagsShape, false, "inline tags that the text loses"},
		{"propagateSchemaTags", booleanShape, false, "true: the text also gets the inline tags of the latest version"},
	}}
	taggingShape = &Shape{Name: "TagSchemaRequest", Type: "object", Members: []Member{
		{"newVersion", integerShape, false, "must be the next number; absent takes it"},
		{"tagsToAdd", tagsShape, false, ""},
		{"tagsToRemove", tagsShape, false, ""},
		{"metadata", metadataShape, false, "absent: that of the version"},
		{"ruleSet", ruleSetShape, false, "absent: that of the version"},
		{"rulesToMerge", ruleSetShape, false, "over the rules of the version before the new one"},
		{"rulesToRemove", textsShape, false, "names of rules"},
	}}
	verdictShape = &Shape{Name: "CompatibilityCheckResponse", Type: "object", Members: []Member{{"is_compatible", booleanShape, true, ""}, {"messages", &Shape{Type: "array", Items: stringShape}, false, "with verbose=true always, possibly empty"}}}

	policyShape        = &Shape{Type: "string", Enum: []string{"STRICT", "LENIENT", "LOGICAL"}}
	verdictPolicyShape = &Shape{Type: "string", Enum: []string{"REFERENCE", "SOUND", "BOTH"}, Doc: "which answer decides: the reference registry's, the truth about data, or both"}
	options            = []Member{
		{"normalize", booleanShape, false, ""},
		{"validateFields", booleanShape, false, ""},
		{"validateNewSchemas", booleanShape, false, ""},
		{"validateRules", booleanShape, false, ""},
		{"compatibilityPolicy", policyShape, false, ""},
		{"verdictPolicy", verdictPolicyShape, false, ""},
		{"alias", stringShape, false, "the subject that stands for this one under /subjects, /compatibility and in subject="},
		{"aliasForDeks", stringShape, false, "kept for the key registry, no more"},
		{"compatibilityGroup", stringShape, false, "a metadata property: versions with another value of it are not compared"},
		{"defaultMetadata", metadataShape, false, "under the metadata of every registration"},
		{"overrideMetadata", metadataShape, false, "over it"},
		{"defaultRuleSet", ruleSetShape, false, "under the rules of every registration"},
		{"overrideRuleSet", ruleSetShape, false, "over them"},
	}
	configShape       = &Shape{Name: "Config", Type: "object", Members: join([]Member{{"compatibilityLevel", levelShape, true, ""}}, options)}
	oldConfigShape    = &Shape{Name: "DeletedConfig", Type: "object", Members: join([]Member{{"compatibilityLevel", levelShape, true, ""}, {"compatibility", levelShape, true, ""}}, options)}
	configUpdateShape = &Shape{Name: "ConfigUpdateRequest", Type: "object", Members: join([]Member{{"compatibility", levelShape, false, "compatibilityLevel is a synonym in requests"}}, options)}
	modeShape         = &Shape{Name: "Mode", Type: "object", Members: []Member{{"mode", modesShape, false, "absent after a clear"}}}

	installationShape = &Shape{Name: "ServerClusterId", Type: "object", Members: []Member{
		{"scope", &Shape{Type: "object", Members: []Member{
			{"path", &Shape{Type: "array", Items: stringShape}, true, ""},
			{"clusters", &Shape{Type: "object", Members: []Member{{"kafka-cluster", stringShape, true, "the random id of this installation"}, {"schema-registry-cluster", stringShape, true, ""}}}, true, ""},
		}}, true, ""},
		{"id", stringShape, true, ""},
	}}
	productShape = &Shape{Name: "ServerVersion", Type: "object", Members: []Member{
		{"version", stringShape, true, "the Confluent version whose contract is spoken"}, {"commitId", stringShape, true, ""}, {"product", stringShape, true, ""}, {"productVersion", stringShape, true, ""},
	}}
	deploymentShape = &Shape{Name: "Deployment", Type: "object", Members: []Member{{"attributes", &Shape{Type: "array", Items: stringShape}, true, ""}}}
	healthShape     = &Shape{Name: "Health", Type: "object", Members: []Member{{"status", stringShape, true, ""}}}
	documentShape   = &Shape{Type: "object", Doc: "this document"}
)

func join(lists ...[]Member) []Member {
	var all []Member
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
