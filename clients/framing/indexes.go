package framing

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Indexes is the path to a message inside a Protobuf file: the first number is
// its position among the top-level messages, each further one its position
// among the messages nested in the previous.
type Indexes []int

const (
	// deepest is far above the 31 nested messages that a schema may have.
	deepest = 64
	// widest is the longest varint of a 32-bit number.
	widest = 5
)

// SplitIndexes takes the list of message indexes off the front of data.
//
// data: the count, then each number, all as zig-zag varints; the path [0] may
// have the short form of a single zero byte. The path is appended to dst, so
// that a caller with a buffer allocates nothing. rest shares data's memory.
//
// Errors: ErrIndexes for a count below 0, above 64 or above the bytes that
// remain, a negative number, a varint of over 5 bytes, or data that ends early.
// Source: client specification 1.2.
func SplitIndexes(data []byte, dst Indexes) (path Indexes, rest []byte, err error) {
	count, rest, err := splitVarint(data)
	if err != nil {
		return nil, nil, err
	}
	if count == 0 {
		return append(dst, 0), rest, nil
	}
	if count < 0 || count > deepest || int(count) > len(rest) {
		return nil, nil, fmt.Errorf("read the message indexes: %w: a count of %d with %s left", ErrIndexes, count, sized(len(rest)))
	}
	path = dst
	for range count {
		var n int32
		if n, rest, err = splitVarint(rest); err != nil {
			return nil, nil, err
		}
		if n < 0 {
			return nil, nil, fmt.Errorf("read the message indexes: %w: the number %d is negative", ErrIndexes, n)
		}
		path = append(path, int(n))
	}
	return path, rest, nil
}

// AppendIndexes appends path to dst, [0] in its short form.
//
// Errors: ErrIndexes for an empty path, one of over 64 numbers, or a number
// that is negative or above 2147483647.
func AppendIndexes(dst []byte, path Indexes) ([]byte, error) {
	if len(path) == 0 || len(path) > deepest {
		return dst, fmt.Errorf("write the message indexes: %w: a path has 1 to %d numbers, not %d", ErrIndexes, deepest, len(path))
	}
	for _, n := range path {
		if n < 0 || n > math.MaxInt32 {
			return dst, fmt.Errorf("write the message indexes: %w: the number %d is not in 0…%d", ErrIndexes, n, math.MaxInt32)
		}
	}
	if len(path) == 1 && path[0] == 0 {
		return append(dst, 0), nil
	}
	dst = binary.AppendVarint(dst, int64(len(path)))
	for _, n := range path {
		dst = binary.AppendVarint(dst, int64(n))
	}
	return dst, nil
}

// splitVarint reads one zig-zag varint of 32 bits.
func splitVarint(data []byte) (int32, []byte, error) {
	var u uint64
	for i, b := range data {
		if i == widest {
			break
		}
		u |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if u > math.MaxUint32 {
				return 0, nil, fmt.Errorf("read the message indexes: %w: a number has over 32 bits", ErrIndexes)
			}
			return int32(uint32(u)>>1) ^ -int32(u&1), data[i+1:], nil
		}
	}
	if len(data) < widest {
		return 0, nil, fmt.Errorf("read the message indexes: %w: the data ends inside the list", ErrIndexes)
	}
	return 0, nil, fmt.Errorf("read the message indexes: %w: a number has over %d bytes", ErrIndexes, widest)
}
