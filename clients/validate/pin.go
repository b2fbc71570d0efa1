package validate

import (
	"time"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/schemas"
)

type pinKind uint8

const (
	pinVersion pinKind = iota + 1
	pinGUID
	pinLatest
	pinText
)

// Pin says which schema a producer writes with, and names its subject. Nothing
// is ever registered: that belongs in the build, not in a producer.
type Pin struct {
	subject Strategy
	kind    pinKind
	version schemas.Version
	guid    schemas.GUID
	maxAge  time.Duration
	source  schemas.Source
	print   schemas.Fingerprint

	prefix, binary bool
	claims         Claims
}

// Version pins one version of the subject. It is the recommended pin: the
// number stands in the code and is reviewed with it.
func Version(s Strategy, v schemas.Version) Pin {
	return Pin{subject: s, kind: pinVersion, version: v}
}

// GUID pins one schema by its GUID. The version is stamped only when the lookup
// knows which one of the subject it is.
func GUID(s Strategy, g schemas.GUID) Pin { return Pin{subject: s, kind: pinGUID, guid: g} }

// Latest pins the highest version of the subject, asked again after maxAge in
// the background; 0 means the validator's default of a minute.
func Latest(s Strategy, maxAge time.Duration) Pin {
	return Pin{subject: s, kind: pinLatest, maxAge: maxAge}
}

// ByText pins the version of the subject that a schema's text is. The text is
// looked up, never registered.
func ByText(s Strategy, source schemas.Source) Pin {
	return Pin{subject: s, kind: pinText, source: source, print: printOf(source)}
}

// WithPrefix asks for the payload prefix of Confluent's clients too. The payload
// handed to BeforePublish has none yet. It excludes WithBinaryHeader: a reader
// that honours the header would leave the prefix in the data.
func (p Pin) WithPrefix() Pin {
	p.prefix, p.binary = true, false
	return p
}

// WithBinaryHeader asks for the binary header of newer Confluent clients too;
// only Kafka carries it whole. It excludes WithPrefix.
func (p Pin) WithBinaryHeader() Pin {
	p.prefix, p.binary = false, true
	return p
}

// headerNames are the names of a value's headers, or of a key's.
type headerNames struct{ version, subject, id, guid, typ, message, binary string }

var valueNames = headerNames{framing.SchemaVersion, framing.SchemaSubject, framing.SchemaID, framing.SchemaGUID, framing.SchemaType, framing.SchemaMessage, framing.BinaryValue}

var keyNames = headerNames{framing.KeySchemaVersion, framing.KeySchemaSubject, framing.KeySchemaID, framing.KeySchemaGUID, framing.KeySchemaType, framing.KeySchemaMessage, framing.BinaryKey}
