package schemas

import "time"

// Readership is what one consumer tells of what it reads: a batch of counts
// since its last one. It is how a registry knows whom a change would break.
type Readership struct {
	// Consumer is the group or service, Environment where it runs; a registry
	// may be told of many environments. Environment may be empty.
	Consumer, Environment string
	Reads                 []SubjectRead
}

// SubjectRead is what a consumer reads of one subject.
type SubjectRead struct {
	Subject Subject
	// Versions are those of which messages came, ascending; none when the
	// consumer has only declared what it reads.
	Versions []Version
	// Accepts is the range that the consumer declares, "1..3"; empty is any.
	Accepts string
	// Pinned is the version that payloads are read with; 0: the writer's own.
	Pinned Version
	// Seen is when the newest of the messages came; zero when there was none.
	Seen time.Time
	// Accepted and Rejected count messages since the consumer's last report; as a
	// registry answers them, since it knows the consumer.
	Accepted, Rejected uint64
	// Told is when the consumer last said so, and Uses tell of each of Versions;
	// only a registry answers them.
	Told time.Time
	Uses []VersionUse
}

// VersionUse is a version of which messages came, the newest at Seen.
type VersionUse struct {
	Version Version
	Seen    time.Time
}
