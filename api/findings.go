package api

// The shapes of POST /api/v1/compare. The findings document has a JSON Schema of
// its own in compat, which says more; a test holds the two against each other.
var (
	sideShape = &Shape{Name: "ComparedSide", Type: "object", Doc: "a text, or a version by subject and number", Members: []Member{
		{"schema", stringShape, false, "the text; absent takes the version"},
		{"schemaType", typeShape, false, "absent is AVRO"},
		{"references", referencesShape, false, ""},
		{"subject", stringShape, false, "whose version it is, or in whose context references are looked for"},
		{"version", integerShape, false, "absent, -1 and \"latest\": the highest live one"},
	}}
	compareShape = &Shape{Name: "CompareRequest", Type: "object", Members: []Member{
		{"old", sideShape, false, "needed unless reader and writer name versions"},
		{"new", sideShape, false, "needed unless reader and writer name versions"},
		{"subject", stringShape, false, "whose policies count; absent is the old side's, then the new side's"},
		{"level", levelShape, false, "absent is FULL; what is transitive looks at this pair alone"},
		{"compatibilityPolicy", policyShape, false, "absent is the one in force"},
		{"verdictPolicy", verdictPolicyShape, false, "absent is the one in force"},
	}}

	findingVerdictShape = &Shape{Type: "string", Enum: []string{"compatible", "breaking", "not_checked"}}
	directionShape      = &Shape{Type: "string", Enum: []string{"backward", "forward", "both"}}
	verdictPolicyName   = &Shape{Type: "string", Enum: []string{"REFERENCE", "SOUND", "BOTH"}}
	policyName          = &Shape{Type: "string", Enum: []string{"STRICT", "LENIENT"}}
	textsShape          = &Shape{Type: "array", Items: stringShape}
	locationShape       = &Shape{Name: "Location", Type: "object", Members: []Member{
		{"label", stringShape, true, ""},
		{"file", stringShape, false, ""},
		{"line", integerShape, true, "from 1; 0 is not known"},
		{"column", integerShape, true, "in bytes"},
		{"end_line", integerShape, true, ""},
		{"end_column", integerShape, true, ""},
		{"pointer", stringShape, true, "RFC 6901"},
		{"text", stringShape, false, "the value there, short"},
		{"elsewhere", booleanShape, false, "the pointer leads into a text that the schema refers to"},
	}}
	witnessShape = &Shape{Type: "object", Null: true, Doc: "a payload that one side writes and the other refuses or reads as something else", Members: []Member{
		{"value", stringShape, true, "as JSON text"},
		{"bytes", stringShape, true, "base64"},
		{"hex", stringShape, true, ""},
		{"message", stringShape, false, "Protobuf: the message's full name"},
		{"writer", stringShape, true, "old or new"},
		{"reader", stringShape, true, "the side that fails"},
		{"layer", stringShape, true, ""},
		{"text", stringShape, true, "what the failing side says"},
	}}
	acceptedShape = &Shape{Type: "object", Null: true, Members: []Member{
		{"reason", stringShape, true, ""}, {"owner", stringShape, true, ""}, {"until", stringShape, false, ""}, {"source", stringShape, false, ""},
	}}
	repairShape = &Shape{Name: "Repair", Type: "object", Doc: "a variant that was read and compared", Members: []Member{
		{"text", stringShape, true, ""},
		{"schema", stringShape, true, "the whole text"},
		{"reference", stringShape, false, "the text is of what the new schema refers to by this name"},
		{"first", booleanShape, true, "a step to roll out before the new schema"},
		{"whole", booleanShape, true, "with it alone the pair passes"},
	}}
	findingShape = &Shape{Name: "Finding", Type: "object", Members: []Member{
		{"rule", stringShape, true, "see docs/rules.md"},
		{"aliases", textsShape, true, ""},
		{"severity", &Shape{Type: "string", Enum: []string{"breaking", "risk", "note"}}, true, ""},
		{"direction", directionShape, true, ""},
		{"format", stringShape, true, ""},
		{"subject", stringShape, true, ""},
		{"path", stringShape, true, "names, not places"},
		{"base", locationShape, true, ""},
		{"head", locationShape, true, ""},
		{"message", stringShape, true, ""},
		{"why", stringShape, true, ""},
		{"fix", stringShape, true, ""},
		{"witness", witnessShape, true, ""},
		{"fingerprint", stringShape, true, ""},
		{"accepted", acceptedShape, true, ""},
		{"override", &Shape{Type: "object", Doc: "a gate's configuration shows it as more or less than it is; never in this answer", Members: []Member{
			{"from", stringShape, true, ""}, {"off", booleanShape, false, ""}, {"source", stringShape, true, ""},
		}}, false, ""},
		{"repairs", &Shape{Type: "array", Items: repairShape}, false, "with advise=true"},
	}}
	comparedShape = &Shape{Name: "Compared", Type: "object", Members: []Member{
		{"subject", stringShape, true, ""},
		{"format", stringShape, true, ""},
		{"base", stringShape, true, ""},
		{"head", stringShape, true, ""},
		{"version", integerShape, false, "of the old side"},
		{"level", levelShape, true, ""},
		{"policy", policyName, true, ""},
		{"verdict_policy", verdictPolicyName, true, ""},
		{"direction", directionShape, true, ""},
		{"verdict", findingVerdictShape, true, ""},
		{"reason", stringShape, false, "why it was not checked"},
		{"faults", &Shape{Type: "array", Items: &Shape{Type: "object", Members: []Member{
			{"file", stringShape, true, ""}, {"line", integerShape, true, ""}, {"column", integerShape, true, ""}, {"message", stringShape, true, ""},
		}}}, false, "of files; never in this answer"},
	}}
	summaryShape = &Shape{Type: "object", Members: []Member{
		{"compared", integerShape, true, ""},
		{"compatible", integerShape, true, ""},
		{"breaking", integerShape, true, ""},
		{"not_checked", integerShape, true, ""},
		{"breaks", integerShape, true, ""},
		{"risks", integerShape, true, ""},
		{"notes", integerShape, true, ""},
		{"accepted", integerShape, true, ""},
		{"lowered", integerShape, false, "by a gate's configuration"},
		{"off", integerShape, false, "by a gate's configuration"},
		{"hidden", integerShape, false, "findings that were cut"},
	}}
	replayShape = &Shape{Type: "object", Doc: "what a schema makes of recorded messages; never in this answer", Members: []Member{
		{"subject", stringShape, true, ""},
		{"schema", stringShape, true, ""},
		{"messages", integerShape, true, ""},
		{"accepted", integerShape, true, ""},
		{"refused", integerShape, true, ""},
		{"changed", integerShape, true, ""},
		{"already", integerShape, true, ""},
		{"mended", integerShape, true, ""},
		{"unread", integerShape, true, ""},
		{"reasons", &Shape{Type: "array", Items: &Shape{Type: "object", Members: []Member{
			{"outcome", stringShape, true, ""},
			{"rule", stringShape, true, ""},
			{"schema", stringShape, true, ""},
			{"messages", integerShape, true, ""},
			{"text", stringShape, true, ""},
			{"first", stringShape, true, ""},
			{"payload", stringShape, true, ""},
		}}}, true, ""},
	}}
	adviceShape = &Shape{Name: "Advice", Type: "object", Members: []Member{
		{"subject", stringShape, true, ""},
		{"base", stringShape, true, ""},
		{"head", stringShape, true, ""},
		{"passes", &Shape{Type: "array", Items: &Shape{Type: "object", Members: []Member{
			{"level", levelShape, true, ""}, {"policy", policyName, true, ""}, {"verdict_policy", verdictPolicyName, true, ""}, {"verdict", findingVerdictShape, true, ""},
		}}}, true, ""},
		{"rollout", &Shape{Type: "string", Enum: []string{"any", "consumers-first", "producers-first", "none", "open"}}, true, ""},
		{"window", stringShape, true, "what holds while both versions run"},
		{"look", stringShape, false, "what somebody must look at before either side moves"},
		{"repaired", stringShape, false, "the new text with the repairs that go together"},
		{"ways", textsShape, true, "what else a team can do"},
	}}
	findingsShape = &Shape{Name: "Findings", Type: "object", Members: []Member{
		{"version", integerShape, true, "of this form"},
		{"tool", stringShape, true, ""},
		{"verdict", findingVerdictShape, true, ""},
		{"compared", &Shape{Type: "array", Items: comparedShape}, true, ""},
		{"findings", &Shape{Type: "array", Items: findingShape}, true, ""},
		{"summary", summaryShape, true, ""},
		{"advice", &Shape{Type: "array", Items: adviceShape}, false, "with advise=true"},
		{"remarks", textsShape, false, "what to know beside the findings"},
		{"replays", &Shape{Type: "array", Items: replayShape}, false, ""},
		{"consumers", &Shape{Type: "array", Items: impactShape}, false, "with impact=true: who is known to read the subject, the worst first"},
	}}
	impactShape = &Shape{Name: "Impact", Type: "object", Members: []Member{
		{"subject", stringShape, true, ""},
		{"consumer", stringShape, true, ""},
		{"environment", stringShape, false, ""},
		{"answer", &Shape{Type: "string", Enum: []string{"breaks", "refuses", "may_break", "unknown", "none"}}, true, "what becomes of it when the new side is written"},
		{"reason", stringShape, true, ""},
		{"versions", versionsShape, true, "of which it has read messages"},
		{"accepts", stringShape, false, "the range that it declares"},
		{"pinned", integerShape, false, "the version that it reads with"},
		{"seen", stringShape, false, "RFC 3339, when its newest message came"},
	}}
)
