package schemas

// Payload is a message value without framing.
//
// Message is Protobuf's full message name; empty means the file's first
// message. The other formats ignore it.
type Payload struct {
	Bytes   []byte
	Message string
}

// ReadOptions bound and shape a reading. Zero fields mean the defaults.
type ReadOptions struct {
	Bytes      int  // payload size, 8 MiB
	Depth      int  // nesting of the payload, 128
	Steps      int  // budget; 0 is a default in proportion to the payload
	Violations int  // how many are collected, 50
	Value      bool // also build Reading.Value
	Formats    bool // JSON Schema: assert format; Avro: assert logical types
	Unknown    bool // Protobuf: unknown fields are violations
	// Verdict asks for no more than the answer: of a refusal there is one violation,
	// and all that counts of it is that it is there. A format that finds the reasons
	// on the way may tell them.
	Verdict bool
}

// OrDefault fills the zero fields, but Steps.
func (o ReadOptions) OrDefault() ReadOptions {
	if o.Bytes == 0 {
		o.Bytes = 8 << 20
	}
	if o.Depth == 0 {
		o.Depth = 128
	}
	if o.Violations == 0 {
		o.Violations = 50
	}
	return o
}

// ViolationKind is the class of a violation, as a dead letter names it.
type ViolationKind uint8

const (
	// Unreadable payloads do not decode at all.
	Unreadable ViolationKind = iota + 1
	// Invalid payloads decode, but break the schema.
	Invalid
	// TooLarge payloads are over the bytes or depth allowed.
	TooLarge
	// TooComplex payloads exhausted the step budget.
	TooComplex
)

// String is the reason code that clients know.
func (k ViolationKind) String() string {
	switch k {
	case Unreadable:
		return "payload_unreadable"
	case Invalid:
		return "payload_invalid"
	case TooLarge:
		return "payload_too_large"
	case TooComplex:
		return "payload_too_complex"
	}
	return "unknown"
}

// Violation says why a payload does not fit, with two pointers: into the
// payload (decoded, as JSON) and into the reader's schema.
type Violation struct {
	Kind    ViolationKind
	Payload Pointer
	Schema  Pointer
	Offset  int    // bytes into the payload, -1 when not known
	Rule    string // keyword or rule id: "required", "union-index", "utf8"
	Text    string // one sentence
}

// LossKind says how a value that was read differs from the one written.
type LossKind uint8

const (
	// Lost values were written and are not there after reading.
	Lost LossKind = iota + 1
	// Altered values read as another value.
	Altered
	// AlteredOutOfRange values lie outside what the reader's type can hold
	// exactly (a long read as a double).
	AlteredOutOfRange
)

// Loss is a value that reading changed.
type Loss struct {
	Kind    LossKind
	Payload Pointer
	Schema  Pointer
	Text    string
}

// Reading is the answer of Schema.Reads. The payload was read when Violations
// is empty.
type Reading struct {
	Violations []Violation
	Losses     []Loss
	// Value is what the reader sees, when asked for: nil, bool, int64, uint64,
	// float64, string, []byte, []any, map[string]any; json.Number for JSON.
	Value any
}

// OK tells whether the payload was read.
func (r Reading) OK() bool { return len(r.Violations) == 0 }
