package framing

import (
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Vendor names whose framing a foreign identity is in.
type Vendor string

// The vendors whose framings are recognised.
const (
	Apicurio Vendor = "apicurio"
	Azure    Vendor = "azure"
	Glue     Vendor = "aws-glue"
)

// Foreign is an identity in another product's framing. Cartório recognises it
// and names it; only a look-up that says it knows the vendor resolves it.
type Foreign struct {
	Vendor Vendor
	Form   string // "globalId", "contentId", "contentHash", "artifact", "schemaId", "schemaVersionId"
	ID     string // decimal, hex or UUID text; of an artifact GROUP/ARTIFACT@VERSION, each escaped as in a URL
	// Compression is Glue's second byte: 0 none, 5 zlib.
	Compression byte
	// Size is how many bytes of the payload belong to the framing; 0 for
	// identities that stand in headers.
	Size int
}

// String names vendor, form and identity.
func (f Foreign) String() string { return fmt.Sprintf("%s %s %s", f.Vendor, f.Form, f.ID) }

// IsAzureID tells whether the value of a header named schemaId is another
// product's: 32 hex digits. Ours has at most 10 decimal ones.
func IsAzureID(text string) bool {
	if len(text) != 32 {
		return false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// IsAzure tells whether a payload begins with Azure's old form: 4 zero bytes and
// 32 hex digits. [Split] takes it for an id from 48 to 102, whose data would
// begin with 31 hex digits; no format's data does but a JSON number as long.
func IsAzure(value []byte) bool {
	return len(value) >= 36 && binary.BigEndian.Uint32(value) == 0 && IsAzureID(string(value[4:36]))
}

// Recognize names the foreign framing that a payload begins with, where one
// can be told from its bytes alone.
//
// Apicurio's old form is 0x00 and an 8-byte id, which a reader of 4-byte ids
// sees as id 0; Azure's old form is 4 zero bytes and 32 hex digits; Glue's is
// 0x03, a compression byte (0 or 5) and a 16-byte UUID.
//
// Source: client specification 1.5 to 1.7.
func Recognize(value []byte) (Foreign, bool) {
	if IsAzure(value) {
		return Foreign{Vendor: Azure, Form: "schemaId", ID: string(value[4:36]), Size: 36}, true
	}
	if len(value) >= 9 && value[0] == magicID && binary.BigEndian.Uint32(value[1:]) == 0 {
		if id := binary.BigEndian.Uint64(value[1:9]); id != 0 {
			return Foreign{Vendor: Apicurio, Form: "globalId", ID: fmt.Sprint(id), Size: 9}, true
		}
	}
	if len(value) >= 18 && value[0] == 0x03 && (value[1] == 0 || value[1] == 5) {
		return Foreign{Vendor: Glue, Form: "schemaVersionId", ID: schemas.GUID(value[2:18]).String(), Compression: value[1], Size: 18}, true
	}
	return Foreign{}, false
}

// RecognizeHeader names the foreign identity that a header carries. key asks
// for the key's headers rather than the value's.
func RecognizeHeader(h Header, key bool) (Foreign, bool) {
	side := "value."
	if key {
		side = "key."
	}
	if rest, ok := strings.CutPrefix(h.Name, "apicurio."+side); ok {
		switch rest {
		case "globalId", "contentId":
			if v, ok, err := h.Bytes(); ok && err == nil && len(v) == 8 {
				return Foreign{Vendor: Apicurio, Form: rest, ID: fmt.Sprint(binary.BigEndian.Uint64(v))}, true
			}
		case "contentHash":
			if v, ok, err := h.Text(); ok && err == nil && len(v) <= LongestText {
				return Foreign{Vendor: Apicurio, Form: rest, ID: v}, true
			}
		}
		return Foreign{}, false
	}
	if h.Name == SchemaID {
		if v, ok, err := h.Text(); ok && err == nil && IsAzureID(v) {
			return Foreign{Vendor: Azure, Form: "schemaId", ID: v}, true
		}
	}
	return Foreign{}, false
}

// The headers by which Apicurio's serializers name a Protobuf message.
const (
	ApicurioMessage    = "apicurio.protobuf.type"
	ApicurioKeyMessage = "apicurio.protobuf.type.key"
)

// RecognizeHeaders names the foreign identity that a message's headers carry:
// the first that stands in one header, else Apicurio's group, artifact and
// version, which stand in three. A missing group is "default"; without a version
// an artifact names no schema.
func RecognizeHeaders(headers []Header, key bool) (Foreign, bool) {
	side := "apicurio.value."
	if key {
		side = "apicurio.key."
	}
	group, artifact, version := "default", "", ""
	for _, h := range headers {
		if f, ok := RecognizeHeader(h, key); ok {
			return f, true
		}
		for name, to := range map[string]*string{"groupId": &group, "artifactId": &artifact, "version": &version} {
			if h.Name != side+name {
				continue
			}
			if text, ok, err := h.Text(); ok && err == nil && len(text) <= LongestText {
				*to = text
			}
		}
	}
	if artifact == "" || version == "" {
		return Foreign{}, false
	}
	return Foreign{Vendor: Apicurio, Form: "artifact", ID: url.PathEscape(group) + "/" + url.PathEscape(artifact) + "@" + url.PathEscape(version)}, true
}

// RecognizeContentType names the identity in a content type of the form
// avro/binary+HEX, 32 digits.
func RecognizeContentType(contentType string) (Foreign, bool) {
	id, ok := strings.CutPrefix(contentType, "avro/binary+")
	if !ok || !IsAzureID(id) {
		return Foreign{}, false
	}
	return Foreign{Vendor: Azure, Form: "schemaId", ID: id}, true
}
