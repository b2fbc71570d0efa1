// Package framing puts a schema's identity into a message and takes it out
// again: the prefix of the payload, the message indexes of Protobuf, the binary
// header of newer clients, and the text headers of Cartório.
//
// It knows bytes and grammar only: neither registry, broker nor schema. Every
// function is total: any input gets an answer or an error, never a panic, and
// nothing is allocated in proportion to what a message claims.
//
// Start with [Split] and [Join]; [Header] reads the text headers.
package framing

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cartorio-registry/cartorio/schemas"
)

// What can be wrong with a framed value.
var (
	// ErrUnframed says that a value does not begin with a whole prefix.
	ErrUnframed = errors.New("no schema prefix")
	// ErrID says that a prefix is whole and its id can name no schema.
	ErrID = errors.New("schema id out of range")
	// ErrIndexes says that a list of message indexes is malformed.
	ErrIndexes = errors.New("message indexes are malformed")
)

// Form says how a prefix names its schema; the zero value is no form.
type Form uint8

const (
	// ByID is 0x00 and a registry-wide id of four bytes.
	ByID Form = iota + 1
	// ByGUID is 0x01 and a GUID of sixteen bytes.
	ByGUID
)

const (
	magicID   = 0x00
	magicGUID = 0x01
	sizeID    = 5
	sizeGUID  = 17
)

// Prefix is an identity in binary form. Of ID and GUID the one that Form names
// is set. The zero Prefix is none.
type Prefix struct {
	Form Form
	ID   int32
	GUID schemas.GUID
}

// String is the form and the identity, for people.
func (p Prefix) String() string {
	switch p.Form {
	case ByID:
		return fmt.Sprintf("id %d", p.ID)
	case ByGUID:
		return "guid " + p.GUID.String()
	}
	return "no identity"
}

// Split takes the schema's identity off the front of a message value.
//
// value: byte 0 is 0x00, bytes 1-4 the id, big endian, unsigned; or byte 0 is
// 0x01 and bytes 1-16 the GUID. The payload follows. For Protobuf the payload
// still begins with the message indexes; see [SplitIndexes]. The payload shares
// value's memory, and is empty but not nil when nothing follows.
//
// Errors: ErrUnframed if value is shorter than its prefix or begins otherwise;
// ErrID for id 0 and ids above 2147483647, which no registry gives.
// Source: client specification 1.1 and 1.4.
func Split(value []byte) (Prefix, []byte, error) {
	if len(value) == 0 {
		return Prefix{}, nil, fmt.Errorf("split a value of 0 bytes: %w", ErrUnframed)
	}
	switch value[0] {
	case magicID:
		if len(value) < sizeID {
			return Prefix{}, nil, fmt.Errorf("split a value of %s: %w: 0x00 and 4 bytes of id are needed", sized(len(value)), ErrUnframed)
		}
		id := binary.BigEndian.Uint32(value[1:sizeID])
		if id == 0 || id > math.MaxInt32 {
			return Prefix{}, nil, fmt.Errorf("split a value: %w: %d is not in 1…%d", ErrID, id, math.MaxInt32)
		}
		return Prefix{Form: ByID, ID: int32(id)}, value[sizeID:], nil
	case magicGUID:
		if len(value) < sizeGUID {
			return Prefix{}, nil, fmt.Errorf("split a value of %s: %w: 0x01 and 16 bytes of GUID are needed", sized(len(value)), ErrUnframed)
		}
		return Prefix{Form: ByGUID, GUID: schemas.GUID(value[1:sizeGUID])}, value[sizeGUID:], nil
	}
	return Prefix{}, nil, fmt.Errorf("split a value that begins with 0x%02x: %w", value[0], ErrUnframed)
}

// sized is a number of bytes, for people.
func sized(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// Join appends a prefix to dst; the indexes (Protobuf) and the payload follow
// it. Joining what Split gave yields the bytes that were split.
//
// Errors: ErrID for an id below 1; ErrUnframed for a Prefix without a form.
func Join(dst []byte, p Prefix) ([]byte, error) {
	switch p.Form {
	case ByID:
		if p.ID < 1 {
			return dst, fmt.Errorf("join a prefix: %w: %d is not in 1…%d", ErrID, p.ID, math.MaxInt32)
		}
		return binary.BigEndian.AppendUint32(append(dst, magicID), uint32(p.ID)), nil
	case ByGUID:
		return append(append(dst, magicGUID), p.GUID[:]...), nil
	}
	return dst, fmt.Errorf("join a prefix: %w: it has no form", ErrUnframed)
}

// SplitHeader reads the binary header of newer clients (ValueSchemaID and
// KeySchemaID): a prefix, and for Protobuf the message indexes. rest is what
// follows the prefix: empty, or the indexes. The payload of such a message has
// no prefix.
//
// Errors: as Split.
// Source: client specification 1.3.
func SplitHeader(value []byte) (p Prefix, rest []byte, err error) {
	p, rest, err = Split(value)
	if err != nil {
		err = fmt.Errorf("read the binary schema header: %w", err)
	}
	return p, rest, err
}

// JoinHeader writes the binary header of newer clients: 0x01, the GUID, and the
// message indexes when there are any (Protobuf only).
//
// Errors: ErrIndexes, as AppendIndexes.
func JoinHeader(g schemas.GUID, path Indexes) ([]byte, error) {
	out := make([]byte, 0, sizeGUID+8)
	out, err := Join(out, Prefix{Form: ByGUID, GUID: g})
	if err != nil || path == nil {
		return out, err
	}
	return AppendIndexes(out, path)
}
