package schemas

// Judge judges payloads of one schema, all in the same way. It is nil where there
// is nothing to tell: the payload was read, and is the value that was written.
// Else it is what Schema.Reads tells. It is safe for use by many goroutines.
type Judge func(payload []byte) *Reading

// Preparer is a schema that settles beforehand what is the same for many of its
// payloads: which message they are, and how they are to be read.
type Preparer interface {
	// Prepare gives what Reads answers with the schema as its own writer. message
	// is as in Payload. It is nil where nothing can be settled, such as for a
	// message that is not there or a Value that is asked for: then ask Reads.
	Prepare(message string, o ReadOptions) Judge
}
