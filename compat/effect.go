package compat

// Answer is what is known about one direction. The zero value is "not checked".
type Answer uint8

const (
	// Unchecked could be neither proved nor refuted; on the wire NOT_CHECKED.
	Unchecked Answer = iota
	// Safe is proved: every payload of the writer is read as the same value.
	Safe
	// Breaks is refuted, by a witness where one could be built.
	Breaks
)

// String is the word for people.
func (a Answer) String() string {
	switch a {
	case Unchecked:
		return "not checked"
	case Safe:
		return "safe"
	case Breaks:
		return "breaks"
	}
	return "unknown"
}

// Kind is how data is hurt. Later kinds are not worse than earlier ones; the
// order of harm is Refused, Lost, Altered, AlteredOutOfRange, MeaningOnly.
type Kind uint8

const (
	// Unhurt goes with Safe and Unchecked.
	Unhurt Kind = iota
	// Refused payloads cannot be read at all.
	Refused
	// Lost values were written and are not there after reading.
	Lost
	// Altered values read as another value.
	Altered
	// AlteredOutOfRange values change only beyond what the reader holds exactly.
	AlteredOutOfRange
	// MeaningOnly leaves the value and changes what it stands for.
	MeaningOnly
)

// String is the word for people.
func (k Kind) String() string {
	switch k {
	case Unhurt:
		return "unhurt"
	case Refused:
		return "refused"
	case Lost:
		return "lost"
	case Altered:
		return "altered"
	case AlteredOutOfRange:
		return "altered out of range"
	case MeaningOnly:
		return "meaning only"
	}
	return "unknown"
}

// verb says what a reader does to the payload.
func (k Kind) verb() string {
	switch k {
	case Unhurt:
		return "reads"
	case Refused:
		return "refuses"
	case Lost:
		return "reads without a value that was written"
	case Altered:
		return "reads as another value"
	case AlteredOutOfRange:
		return "reads as another value where it is out of range"
	case MeaningOnly:
		return "takes for something else"
	}
	return "does not read"
}

// IsHard tells whether a break of this kind counts in the answer for a whole
// pair. The soft kinds are shown as risks.
func (k Kind) IsHard() bool { return k == Refused || k == Lost || k == Altered }

// Layer is the place where an effect happens.
type Layer uint8

const (
	// Data is the one layer of Avro and JSON Schema.
	Data Layer = iota
	// Wire is Protobuf's binary form.
	Wire
	// JSONMapping is Protobuf's JSON form.
	JSONMapping
	// SourceCode is what Protobuf generates.
	SourceCode
)

// String is the word for people.
func (l Layer) String() string {
	switch l {
	case Data:
		return "data"
	case Wire:
		return "wire"
	case JSONMapping:
		return "json"
	case SourceCode:
		return "source"
	}
	return "unknown"
}

// Outcome is an answer and, when it breaks, how.
type Outcome struct {
	Answer Answer
	Kind   Kind
}

// The outcomes, by what happens to a payload of the other side.
var (
	Reads     = Outcome{Answer: Safe}
	Refuses   = Outcome{Breaks, Refused}
	Loses     = Outcome{Breaks, Lost}
	Alters    = Outcome{Breaks, Altered}
	Rounds    = Outcome{Breaks, AlteredOutOfRange}
	Misleads  = Outcome{Breaks, MeaningOnly}
	Undecided = Outcome{}
)

// IsHard tells whether o refuses under the policy SOUND.
func (o Outcome) IsHard() bool { return o.Answer == Breaks && o.Kind.IsHard() }

// Combine is the law by which the outcomes of two parts give the outcome of
// the whole: a hard break is a break whatever else is open; then what is open
// stays open; then a soft break; Safe needs both. Of two breaks the worse kind
// stays. It is associative, commutative and idempotent.
func (o Outcome) Combine(other Outcome) Outcome {
	if o.rank() >= other.rank() {
		return o
	}
	return other
}

// rank orders outcomes by harm, with Unchecked between the soft and hard kinds.
func (o Outcome) rank() int {
	switch o.Answer {
	case Safe:
		return 0
	case Unchecked:
		return 3
	case Breaks:
		switch o.Kind {
		case MeaningOnly:
			return 1
		case AlteredOutOfRange:
			return 2
		case Altered:
			return 4
		case Lost:
			return 5
		case Refused, Unhurt:
			return 6
		}
	}
	return 6
}

// Whole is o as it counts for a whole pair: soft breaks are Safe there.
func (o Outcome) Whole() Outcome {
	if o.Answer == Breaks && !o.Kind.IsHard() && o.Kind != Unhurt {
		return Reads
	}
	return o
}

// Effect is what a change does to data in both directions.
type Effect struct {
	NewReadsOld Outcome
	OldReadsNew Outcome
}

// Mirror is the effect on the swapped pair.
func (e Effect) Mirror() Effect { return Effect{e.OldReadsNew, e.NewReadsOld} }

// Combine combines both directions.
func (e Effect) Combine(other Effect) Effect {
	return Effect{e.NewReadsOld.Combine(other.NewReadsOld), e.OldReadsNew.Combine(other.OldReadsNew)}
}

// OnData is an effect on the one layer of Avro and JSON Schema.
func OnData(newReadsOld, oldReadsNew Outcome) map[Layer]Effect {
	return map[Layer]Effect{Data: {newReadsOld, oldReadsNew}}
}
