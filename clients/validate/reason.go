package validate

// Verdict is what a validator decides about a message. The zero value is no
// decision.
type Verdict uint8

const (
	// Accept says that the schema is known and supported, and the payload is valid.
	Accept Verdict = iota + 1
	// Reject is permanent for this consumer: trying again gives the same answer.
	// The message may go to the dead letter at once.
	Reject
	// Hold says that the validator could not decide. It says nothing about the message,
	// which must never go to a dead letter for it.
	Hold
)

// String is the verdict's word.
func (v Verdict) String() string {
	switch v {
	case Accept:
		return "accept"
	case Reject:
		return "reject"
	case Hold:
		return "hold"
	}
	return "undecided"
}

// Reason says why a message is not simply accepted. The zero value is none.
type Reason uint8

// The reasons. Their codes, verdicts and the action of an adapter are one table.
const (
	NoReason Reason = iota
	HeaderMissing
	HeaderMalformed
	HeaderConflict
	IdentityConflict
	SubjectMismatch
	SubjectUnknown
	VersionUnknown
	SchemaUnknown
	VersionUnsupported
	VersionRetired
	PayloadUnreadable
	PayloadInvalid
	PayloadTooLarge
	PayloadTooComplex
	TranslationFailed
	RegistryUnreachable
	RegistryRefused
	RegistryUnintelligible
	SchemaUnparsable
	HandlerRejected
	HandlerPanicked
	AttemptsExhausted
	ClaimMissing
	ClaimInvalid
	ClaimUnreachable
)

// reasons is the classification table of the client specification, 3.2.
var reasons = [...]struct {
	code    string
	verdict Verdict
	grace   bool // held for a while first: a replica may not know yet
	alarm   bool // somebody has to act, the message cannot
}{
	NoReason:               {"", Accept, false, false},
	HeaderMissing:          {"header_missing", Reject, false, false},
	HeaderMalformed:        {"header_malformed", Reject, false, false},
	HeaderConflict:         {"header_conflict", Reject, false, false},
	IdentityConflict:       {"identity_conflict", Reject, false, false},
	SubjectMismatch:        {"subject_mismatch", Reject, false, false},
	SubjectUnknown:         {"subject_unknown", Reject, true, false},
	VersionUnknown:         {"version_unknown", Reject, true, false},
	SchemaUnknown:          {"schema_unknown", Reject, true, false},
	VersionUnsupported:     {"version_unsupported", Reject, false, false},
	VersionRetired:         {"version_retired", Reject, false, false},
	PayloadUnreadable:      {"payload_unreadable", Reject, false, false},
	PayloadInvalid:         {"payload_invalid", Reject, false, false},
	PayloadTooLarge:        {"payload_too_large", Reject, false, false},
	PayloadTooComplex:      {"payload_too_complex", Reject, false, false},
	TranslationFailed:      {"translation_failed", Reject, false, false},
	RegistryUnreachable:    {"registry_unreachable", Hold, false, false},
	RegistryRefused:        {"registry_refused", Hold, false, true},
	RegistryUnintelligible: {"registry_unintelligible", Hold, false, true},
	SchemaUnparsable:       {"schema_unparsable", Hold, false, true},
	HandlerRejected:        {"handler_rejected", Reject, false, false},
	HandlerPanicked:        {"handler_panicked", Reject, false, false},
	AttemptsExhausted:      {"attempts_exhausted", Reject, false, false},
	ClaimMissing:           {"claim_missing", Reject, false, false},
	ClaimInvalid:           {"claim_invalid", Reject, false, false},
	ClaimUnreachable:       {"claim_unreachable", Hold, false, false},
}

// String is the code that a dead letter carries.
func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r].code
	}
	return "unknown"
}

// Verdict is what the reason comes to, once a grace has passed.
func (r Reason) Verdict() Verdict {
	if int(r) < len(reasons) {
		return reasons[r].verdict
	}
	return 0
}

// Alarms tells whether somebody has to act: waiting alone will not help.
func (r Reason) Alarms() bool { return int(r) < len(reasons) && reasons[r].alarm }

// hasGrace tells whether the reason is held before it rejects.
func (r Reason) hasGrace() bool { return int(r) < len(reasons) && reasons[r].grace }

// ParseReason reads a reason's code.
func ParseReason(code string) (Reason, bool) {
	for r, row := range reasons {
		if row.code == code && code != "" {
			return Reason(r), true
		}
	}
	return NoReason, false
}
