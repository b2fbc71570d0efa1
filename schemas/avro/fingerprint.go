package avro

import (
	"crypto/md5" //nolint:gosec // Avro defines an MD5 fingerprint; it is an identity, not a protection
	"crypto/sha256"
	"encoding/binary"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// ParsingForm is the Parsing Canonical Form: what the Avro fingerprints are made
// over. It keeps what decoding needs and nothing else; primitives are bare
// whatever attributes they carry.
//
// A type of the null namespace inside a namespaced one comes out as a bare name,
// which read back would mean the enclosing namespace: hash it, do not parse it.
//
// Source: Avro specification, Parsing Canonical Form; avro-compat 15.
func (s *Schema) ParsingForm() string { return s.parsingForm() }

func (s *Schema) makeParsingForm() string {
	return string(appendParsingForm(nil, s.root, map[*Named]bool{}))
}

func appendParsingForm(dst []byte, t *Type, known map[*Named]bool) []byte {
	switch t.Kind {
	case Union:
		dst = append(dst, '[')
		for i, b := range t.Branches {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendParsingForm(dst, b, known)
		}
		return append(dst, ']')
	case Array:
		dst = append(dst, `{"type":"array","items":`...)
		return append(appendParsingForm(dst, t.Items, known), '}')
	case Map:
		dst = append(dst, `{"type":"map","values":`...)
		return append(appendParsingForm(dst, t.Items, known), '}')
	case Record, Enum, Fixed:
		n := t.Named
		if known[n] {
			return jsontext.AppendString(dst, n.Full)
		}
		known[n] = true
		dst = append(dst, `{"name":`...)
		dst = jsontext.AppendString(dst, n.Full)
		dst = append(dst, `,"type":"`...)
		dst = append(dst, n.Kind.String()...)
		dst = append(dst, '"')
		switch n.Kind {
		case Record:
			dst = append(dst, `,"fields":[`...)
			for i, f := range n.Fields {
				if i > 0 {
					dst = append(dst, ',')
				}
				dst = append(dst, `{"name":`...)
				dst = jsontext.AppendString(dst, f.Name)
				dst = append(dst, `,"type":`...)
				dst = append(appendParsingForm(dst, f.Type, known), '}')
			}
			dst = append(dst, ']')
		case Enum:
			dst = append(dst, `,"symbols":[`...)
			for i, symbol := range n.Symbols {
				if i > 0 {
					dst = append(dst, ',')
				}
				dst = jsontext.AppendString(dst, symbol)
			}
			dst = append(dst, ']')
		case Fixed:
			dst = append(dst, `,"size":`...)
			dst = append(dst, index(n.Size)...)
		default: // the other kinds need nothing here
		}
		return append(dst, '}')
	default: // the other kinds need nothing here
	}
	dst = append(dst, '"')
	dst = append(dst, t.Kind.String()...)
	return append(dst, '"')
}

// CRC64 is the CRC-64-AVRO fingerprint of the Parsing Canonical Form.
//
// Source: Avro specification, schema fingerprints.
func (s *Schema) CRC64() uint64 { return CRC64([]byte(s.ParsingForm())) }

// MD5 is the MD5 fingerprint of the Parsing Canonical Form.
func (s *Schema) MD5() [16]byte { return md5.Sum([]byte(s.ParsingForm())) } //nolint:gosec // see the import

// SHA256 is the SHA-256 fingerprint of the Parsing Canonical Form. It is not
// Schema.Fingerprint, which covers defaults, aliases and references too.
func (s *Schema) SHA256() [32]byte { return sha256.Sum256([]byte(s.ParsingForm())) }

const crcEmpty = 0xc15d213aa4d7a795

var crcTable = func() (table [256]uint64) {
	for i := range table {
		fp := uint64(i)
		for range 8 {
			fp = fp>>1 ^ crcEmpty&-(fp&1)
		}
		table[i] = fp
	}
	return table
}()

// CRC64 is CRC-64-AVRO (Rabin) over data.
//
// Source: Avro specification, schema fingerprints.
func CRC64(data []byte) uint64 {
	fp := uint64(crcEmpty)
	for _, b := range data {
		fp = fp>>8 ^ crcTable[byte(fp)^b]
	}
	return fp
}

// SingleObjectHeader is the ten bytes before a datum in single-object encoding:
// c3 01 and the CRC-64-AVRO fingerprint, little-endian.
//
// Source: Avro specification, single-object encoding.
func (s *Schema) SingleObjectHeader() [10]byte {
	header := [10]byte{0xc3, 0x01}
	binary.LittleEndian.PutUint64(header[2:], s.CRC64())
	return header
}

// SplitSingleObject takes the header off a datum in single-object encoding. The
// datum shares data's memory; ok is false if data does not begin with c3 01 and
// eight bytes of fingerprint.
func SplitSingleObject(data []byte) (crc64 uint64, datum []byte, ok bool) {
	if len(data) < 10 || data[0] != 0xc3 || data[1] != 0x01 {
		return 0, nil, false
	}
	return binary.LittleEndian.Uint64(data[2:10]), data[10:], true
}
