package api_test

import "testing"

var configLines = []line{
	{name: "C50", says: "GET unset 40408 and 40409, DELETE unset 40401", script: `
		GET /config/s => 40408
		GET /mode/s => 40409
		DELETE /config/s => 40401
		DELETE /mode/s => 40401
		DELETE /mode/s?recursive=true => 200 ={}
		DELETE /mode/:.c:?recursive=true => 200 ={}
		GET /config => 200 ={"compatibilityLevel":"BACKWARD"}
		GET /config/s?defaultToGlobal=true => 200 ={"compatibilityLevel":"BACKWARD"}
		GET /mode => 200 ={"mode":"READWRITE"}
		DELETE /config => 200 "compatibilityLevel":"BACKWARD"
		DELETE /config => 200
	`, checks: []func(*testing.T){c50Config}},
	{name: "C51", says: "partial update and null", script: `
		PUT /config/users-value {"compatibility":"full","normalize":true} => 200 ={"normalize":true,"compatibility":"FULL"}
		PUT /config/users-value {"alias":"other"} => 200 ={"normalize":true,"compatibility":"FULL","alias":"other"}
		PUT /config/users-value {"normalize":null,"alias":null} => 200 ={"compatibility":"FULL"}
		GET /config/users-value => 200 ={"compatibilityLevel":"FULL"}
		DELETE /config/users-value => 200 ={"compatibilityLevel":"FULL","compatibility":"FULL"}
		PUT /config/users-value {"compatibilityLevel":"NONE"} => 200 ={"compatibility":"NONE"}
	`, checks: []func(*testing.T){c51Attachments}},
	{name: "C52", says: ":.: is global", script: `
		PUT /config/:.: {"compatibility":"FULL"} => 200
		GET /config => 200 ={"compatibilityLevel":"FULL"}
		PUT /mode/:.: {"mode":"READONLY"} => 200
		GET /mode => 200 ={"mode":"READONLY"}
		DELETE /mode/:.: => 200 ={"mode":"READONLY"}
		DELETE /config/:. => 200 "compatibility":"FULL"
	`},
	{name: "C53", says: "the level is inherited", checks: []func(*testing.T){c53Inheritance, c53Attachments}},
	{name: "C54", says: "the matrix of modes", checks: []func(*testing.T){c54Modes, c54ModeMatrix}},
	{name: "C55", says: "the rules of entering IMPORT", script: `
		POST /subjects/s/versions avro "string" => 200
		PUT /mode {"mode":"IMPORT"} => 42205
		PUT /mode/s {"mode":"IMPORT"} => 42205
		PUT /mode/t {"mode":"IMPORT"} => 200
		DELETE /subjects/s => 200
		PUT /mode/s {"mode":"IMPORT"} => 200
		GET /subjects/s/versions?deleted=true => 40401
		POST /subjects/u/versions avro "string" => 200
		PUT /mode?force=true {"mode":"IMPORT"} => 200
		GET /subjects/u/versions => 200 =[1]
		PUT /mode {"mode":"READWRITE"} => 200
	`, checks: []func(*testing.T){c55EnteringImport}},
	{name: "C56", says: "bad level 42203, bad or missing mode 42204", script: `
		PUT /config {"compatibility":"SIDEWARD"} => 42203
		PUT /config/s {"compatibility":""} => 42203
		PUT /mode {"mode":"SLEEP"} => 42204
		PUT /mode {} => 42204
		PUT /mode {"mode":"FORWARD"} => 42204
		PUT /mode/:.__GLOBAL: {"mode":"forward"} => 200 ={"mode":"FORWARD"}
	`, checks: []func(*testing.T){c56Levels}},
	{name: "C57", says: "READONLY blocks config", script: `
		PUT /config/s {"compatibility":"FULL"} => 200
		PUT /mode/s {"mode":"READONLY"} => 200
		PUT /config/s {"compatibility":"NONE"} => 42205
		DELETE /config/s => 42205
		PUT /config/t {"compatibility":"NONE"} => 200
		PUT /mode {"mode":"READONLY"} => 200
		PUT /config {"compatibility":"NONE"} => 42205
		PUT /config/t {"compatibility":"FULL"} => 42205
		PUT /mode {"mode":"READWRITE"} => 200
		PUT /config/t {"compatibility":"FULL"} => 200
	`},
}

var compatibilityLines = []line{
	{name: "C60", says: "unknown subject: latest is compatible, a version is 40402", script: `
		POST /compatibility/subjects/s/versions/latest avro "string" => 200 ={"is_compatible":true}
		POST /compatibility/subjects/s/versions/-1 avro "string" => 200 ={"is_compatible":true}
		POST /compatibility/subjects/s/versions avro "string" => 200 ={"is_compatible":true}
		POST /compatibility/subjects/s/versions/1 avro "string" => 40402
		POST /compatibility/subjects/s/versions/x avro "string" => 42202
	`, checks: []func(*testing.T){c60Unknown}},
	{name: "C61", says: "the forms of verbose", script: `
		POST /subjects/s/versions avro {"type":"record","name":"R","fields":[]} => 200
		POST /compatibility/subjects/s/versions/latest avro {"type":"record","name":"R","fields":[{"name":"mail","type":"string"}]} => 200 ={"is_compatible":false}
		POST /compatibility/subjects/s/versions/latest?verbose=true avro {"type":"record","name":"R","fields":[{"name":"mail","type":"string"}]} => 200 {errorType:'READER_FIELD_MISSING_DEFAULT_VALUE' & {oldSchemaVersion: 1} & {oldSchema: ' & {validateFields: 'false', compatibility: 'BACKWARD'}
		POST /compatibility/subjects/s/versions/latest?verbose=True avro {"type":"record","name":"R","fields":[]} => 200 ={"is_compatible":true,"messages":[]}
		POST /compatibility/subjects/s/versions avro { => 42201
		POST /compatibility/subjects/s/versions?verbose=true avro { => 200 "is_compatible":false & "messages":["
	`, checks: []func(*testing.T){c61Verbose}},
	{name: "C62", says: "soft-deleted versions are ignored", script: `
		POST /subjects/s/versions avro "string" => 200
		POST /compatibility/subjects/s/versions/latest avro "int" => 200 ={"is_compatible":false}
		DELETE /subjects/s/versions/1 => 200
		POST /compatibility/subjects/s/versions/latest avro "int" => 200 ={"is_compatible":true}
		POST /compatibility/subjects/s/versions/1 avro "int" => 40402
		POST /subjects/s/versions avro "int" => 200 "version":2
	`, checks: []func(*testing.T){c62SoftDeleted}},
	{name: "C63", says: "NONE allows another type", script: `
		POST /subjects/s/versions avro "string" => 200
		POST /subjects/s/versions json {"type":"string"} => 409
		PUT /config/s {"compatibility":"NONE"} => 200
		POST /subjects/s/versions json {"type":"string"} => 200 "version":2
		POST /subjects/s/versions proto syntax = "proto3";⏎message M {}⏎ => 200 "version":3
	`, checks: []func(*testing.T){c63OtherType}},
	{name: "C64", says: "transitive and latest", script: `
		PUT /config/s {"compatibility":"NONE"} => 200
		POST /subjects/s/versions avro "string" => 200
		POST /subjects/s/versions avro "int" => 200
		PUT /config/s {"compatibility":"BACKWARD"} => 200
		POST /compatibility/subjects/s/versions avro "long" => 200 ={"is_compatible":true}
		PUT /config/s {"compatibility":"BACKWARD_TRANSITIVE"} => 200
		POST /compatibility/subjects/s/versions avro "long" => 200 ={"is_compatible":false}
		POST /compatibility/subjects/s/versions/2 avro "long" => 200 ={"is_compatible":true}
		POST /subjects/s/versions avro "long" => 409 "error_code":409
	`, checks: []func(*testing.T){c64Transitive}},
	{name: "C65", says: "compatibilityGroup", script: `
		PUT /config/s {"compatibilityGroup":"major"} => 200
		POST /subjects/s/versions avro "string" with {"metadata":{"properties":{"major":"1"}}} => 200
		POST /subjects/s/versions avro "int" with {"metadata":{"properties":{"major":"1"}}} => 409
		POST /subjects/s/versions avro "int" with {"metadata":{"properties":{"major":"2"}}} => 200 "version":2
		POST /subjects/s/versions avro "long" with {"metadata":{"properties":{"major":"2"}}} => 200 "version":3
		POST /subjects/s/versions avro "bytes" with {"metadata":{"properties":{"major":"1"}}} => 200 "version":4
	`, checks: []func(*testing.T){c65Group}},
}

var contextLines = []line{
	{name: "C70", says: "the table of URL rewriting", script: `
		POST /contexts/.c/subjects/s/versions avro "string" => 200 "id":1
		GET /subjects/:.c:s/versions/1 => 200 "subject":":.c:s"
		GET /contexts/c/subjects/s/versions => 200 =[1]
		POST /contexts/.c/compatibility/subjects/s/versions/latest avro "int" => 200 ={"is_compatible":false}
		PUT /contexts/.c/config/s {"compatibility":"NONE"} => 200
		GET /config/:.c:s => 200 ={"compatibilityLevel":"NONE"}
		PUT /contexts/.c/mode {"mode":"READONLY"} => 200
		GET /mode/:.c: => 200 ={"mode":"READONLY"}
		GET /contexts/.c/subjects => 200 =[":.c:s"]
		GET /contexts/.c/schemas => 200 "subject":":.c:s"
		GET /contexts/.c/schemas/ids/1 => 200 "subject":":.c:s"
		GET /contexts/.c/schemas/types => 200 =["JSON","PROTOBUF","AVRO"]
		GET /contexts/.c/contexts => 200 =[".",".c"]
		GET /contexts/a:b/subjects => 400
	`, checks: []func(*testing.T){c70ContextURLs}},
	{name: "C71", says: "/subjects is all contexts, an empty subjectPrefix the default one", script: `
		POST /subjects/a/versions avro "string" => 200
		POST /subjects/:.c:b/versions avro "string" => 200
		GET /subjects => 200 =[":.c:b","a"]
		GET /subjects?subjectPrefix= => 200 =["a"]
		GET /subjects?subjectPrefix=:.c: => 200 =[":.c:b"]
		GET /subjects?subjectPrefix=:*:b => 200 =[":.c:b"]
		GET /contexts/:.:/subjects => 200 =["a"]
	`, checks: []func(*testing.T){c71Prefixes}},
	{name: "C72", says: "DELETE of a context: 204 or 42211", script: `
		POST /subjects/:.c:s/versions avro "string" => 200
		DELETE /contexts/.c => 42211
		DELETE /subjects/:.c:s => 200
		DELETE /contexts/.c => 42211
		DELETE /subjects/:.c:s?permanent=true => 200
		GET /contexts => 200 =[".",".c"]
		DELETE /contexts/.c => 204
		GET /contexts => 200 =["."]
		DELETE /contexts/.nobody => 204
	`, checks: []func(*testing.T){c72DeleteContext}},
	{name: "C73", says: "an unqualified read falls through, a write does not", script: `
		POST /subjects/:.c:s/versions avro "string" => 200
		GET /subjects/s/versions/1 => 200 "subject":":.c:s"
		GET /subjects/s/versions/1/schema => 200
		POST /subjects/s avro "string" => 200 "subject":":.c:s"
		GET /schemas/ids/1?subject=s => 200 "subject":":.c:s"
		DELETE /subjects/s/versions/1 => 40401
		POST /subjects/s/versions avro "int" => 200 "id":1,"version":1
		GET /subjects/s/versions/1 => 200 "subject":"s"
	`, checks: []func(*testing.T){c73UnqualifiedReads}},
}

var listLines = []line{
	{name: "C80", says: "GET /schemas stops at 1000", checks: []func(*testing.T){c80Lists}},
	{name: "C81", says: "offset and limit, -1 and 0", script: `
		POST /subjects/a/versions avro "string" => 200
		POST /subjects/b/versions avro "string" => 200
		POST /subjects/c/versions avro "string" => 200
		GET /subjects?offset=1&limit=1 => 200 =["b"]
		GET /subjects?offset=-5&limit=-1 => 200 =["a","b","c"]
		GET /subjects?limit=0 => 200 =["a","b","c"]
		GET /subjects?offset=9 => 200 =[]
		GET /schemas/ids/1/subjects?offset=2 => 200 =["c"]
		GET /subjects/a/versions?limit=1&offset=1 => 200 =[]
		GET /contexts?offset=1 => 200 =[]
	`},
	{name: "C82", says: "deletedOnly over deleted, deletedAsNegative", script: `
		PUT /config {"compatibility":"NONE"} => 200
		POST /subjects/s/versions avro "string" => 200
		POST /subjects/s/versions avro "int" => 200
		POST /subjects/t/versions avro "int" => 200
		DELETE /subjects/s/versions/1 => 200
		DELETE /subjects/t => 200
		GET /subjects/s/versions?deleted=true&deletedOnly=true => 200 =[1]
		GET /subjects/s/versions?deleted=true => 200 =[1,2]
		GET /subjects/s/versions?deletedAsNegative=true&deletedOnly=true => 200 =[-1,2]
		GET /subjects?deleted=true&deletedOnly=true => 200 =["t"]
		GET /subjects?deleted=true => 200 =["s","t"]
	`},
	{name: "C83", says: "the sort orders", script: `
		PUT /config {"compatibility":"NONE"} => 200
		POST /subjects/b/versions avro "string" => 200
		POST /subjects/a/versions avro "int" => 200
		POST /subjects/a/versions avro "string" => 200
		POST /subjects/1/versions avro "string" => 200
		POST /subjects/:.z:s/versions avro "string" => 200
		POST /subjects/:.c:s/versions avro "string" => 200
		GET /subjects => 200 =["1",":.c:s",":.z:s","a","b"]
		GET /contexts => 200 =[".",".c",".z"]
		GET /subjects/a/versions => 200 =[1,2]
		GET /schemas/ids/1/subjects => 200 =["1","a","b"]
		GET /schemas/ids/1/versions => 200 =[{"subject":"1","version":1},{"subject":"a","version":2},{"subject":"b","version":1}]
		GET /schemas/guids/095d71cf-1255-6b9d-5e33-0ad575b3df5d/ids => 200 =[{"context":".","id":1},{"context":".c","id":1},{"context":".z","id":1}]
		GET /schemas/types => 200 =["JSON","PROTOBUF","AVRO"]
	`},
}
