package schemas

// Documents is what a schema can also do when payloads are to be changed rather
// than judged: show one as a JSON document, and make one of it. All formats of
// this module do; a translation between versions needs it of both.
//
// A document of Avro is Avro's JSON encoding, but that a union of null and one
// other type holds the bare value; wider unions keep the type's name around
// it. A document of Protobuf is its JSON mapping, with the names of the mapping
// (lowerCamelCase); fields that the schema does not know are not in it. A
// document of JSON Schema is the payload.
type Documents interface {
	// DocumentOf writes a payload as a document. The violations are those of
	// Reads; that the format has no form for a value is one too.
	DocumentOf(payload Payload, options ReadOptions) ([]byte, []Violation)

	// PayloadOf makes a payload of a document, and judges it as Reads does.
	// message is Protobuf's full message name, as in [Payload]. Nothing is filled
	// in, nothing is rounded and unknown members are violations, whose pointers
	// lead into the document.
	PayloadOf(document []byte, message string, options ReadOptions) ([]byte, []Violation)
}
