package schemas

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Context is a namespace of subjects and ids, with its leading dot; the default
// context is ".".
type Context string

const (
	// DefaultContext holds every subject that names no context.
	DefaultContext Context = "."
	// GlobalContext is the registry-wide scope of config and mode only.
	GlobalContext Context = ".__GLOBAL"
	// AnyContext is the wildcard of prefix searches only.
	AnyContext Context = "*"
)

// ParseContext reads a context as it stands in a URL: ".c", "c", ":.c:" and
// ":.c" are the same; "", "." and ":.:" are the default context.
//
// Errors: a colon inside the name.
// Source: REST contract 2.3.
func ParseContext(text string) (Context, error) {
	name := strings.TrimSuffix(strings.TrimPrefix(text, ":"), ":")
	if strings.Contains(name, ":") {
		return "", fmt.Errorf("context %q: a context name has no colon inside", text)
	}
	if !strings.HasPrefix(name, ".") {
		name = "." + name
	}
	return Context(name), nil
}

// Subject is a named line of versions inside a context. An empty name stands
// for the context itself (config and mode).
type Subject struct {
	Context Context
	Name    string
}

func isQualified(text string) bool {
	return strings.HasPrefix(text, ":.") || strings.HasPrefix(text, ":*:")
}

// ParseSubject reads a subject, qualified (":.ctx:name") or not. It accepts any
// text; validity is the registry's question.
//
// Source: REST contract 2.1.
func ParseSubject(text string) Subject {
	if strings.HasPrefix(text, ":*:") {
		return Subject{AnyContext, text[3:]}
	}
	if strings.HasPrefix(text, ":.") {
		ctx, name, _ := strings.Cut(text[1:], ":")
		return Subject{Context(ctx), name}
	}
	return Subject{DefaultContext, text}
}

// String is the qualified text; subjects of the default context are bare.
func (s Subject) String() string {
	switch s.Context {
	case DefaultContext, "":
		return s.Name
	case AnyContext:
		return ":*:" + s.Name
	default:
		return ":" + string(s.Context) + ":" + s.Name
	}
}

// IsContext tells whether s stands for a whole context.
func (s Subject) IsContext() bool { return s.Name == "" }

// Version is a number within a subject, from 1, never used twice.
type Version int32

// Latest is the highest version that is not deleted.
const Latest Version = -1

// ParseVersion reads a version of a URL: 1…2147483647, "latest" in any letter
// case, or -1 for the same.
//
// Errors: anything else.
func ParseVersion(text string) (Version, error) {
	if strings.EqualFold(text, "latest") {
		return Latest, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < -1 || n == 0 {
		return 0, fmt.Errorf("version %q is not a number from 1 to 2147483647, nor \"latest\" or -1", text)
	}
	return Version(n), nil
}

// String is the number, or "latest".
func (v Version) String() string {
	if v == Latest {
		return "latest"
	}
	return strconv.Itoa(int(v))
}

// ID is a schema id: the number that messages carry, unique in its context.
type ID struct {
	Context Context
	Number  int32
}

// String is the number; ids outside the default context show their context.
func (id ID) String() string {
	if id.Context == DefaultContext || id.Context == "" {
		return strconv.Itoa(int(id.Number))
	}
	return ":" + string(id.Context) + ":" + strconv.Itoa(int(id.Number))
}

// GUID is the 128-bit identity of a schema across contexts and registries.
type GUID [16]byte

// String is lower-case UUID text, 36 characters.
func (g GUID) String() string {
	var b [36]byte
	hex.Encode(b[0:8], g[0:4])
	b[8] = '-'
	hex.Encode(b[9:13], g[4:6])
	b[13] = '-'
	hex.Encode(b[14:18], g[6:8])
	b[18] = '-'
	hex.Encode(b[19:23], g[8:10])
	b[23] = '-'
	hex.Encode(b[24:36], g[10:16])
	return string(b[:])
}

// ParseGUID reads UUID text or its 32 hex digits, in any letter case.
//
// Errors: any other text.
func ParseGUID(text string) (GUID, error) {
	var g GUID
	plain := text
	if len(text) == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-' {
		plain = text[0:8] + text[9:13] + text[14:18] + text[19:23] + text[24:36]
	}
	if len(plain) != 32 {
		return g, fmt.Errorf("%q is no GUID: 32 hex digits or UUID text are expected", text)
	}
	if _, err := hex.Decode(g[:], []byte(plain)); err != nil {
		return g, fmt.Errorf("%q is no GUID: 32 hex digits or UUID text are expected", text)
	}
	return g, nil
}

// Fingerprint is the SHA-256 of a schema's type, canonical text and resolved
// references: what parsed forms are cached by.
type Fingerprint [32]byte

// String is 64 lower-case hex digits.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// FingerprintOf computes a fingerprint. names and closures are parallel: the
// name and the fingerprint of each reference, in the order of the source.
func FingerprintOf(t Type, canonical string, names []string, closures []Fingerprint) Fingerprint {
	h := sha256.New()
	var buffer [1 << 10]byte // a string as a whole would be copied to the heap
	put := func(s string) {
		binary.BigEndian.PutUint64(buffer[:8], uint64(len(s)))
		h.Write(buffer[:8])
		for len(s) > 0 {
			n := copy(buffer[:], s)
			h.Write(buffer[:n])
			s = s[n:]
		}
	}
	put(string(t))
	put(canonical)
	for i, name := range names {
		put(name)
		h.Write(closures[i][:])
	}
	return Fingerprint(h.Sum(nil))
}
