package schemas

// Messages is what a schema can also answer when its text holds several
// messages, any of which a payload may be: the Protobuf schema does. Client
// validators need it, because messages name theirs by its indexes.
//
// The first index is the position among the file's top-level messages, each
// further one the position among the messages nested in the previous.
// Source: client specification 1.2.
type Messages interface {
	// MessageAt gives the full name of the message at indexes.
	// Errors: there is none.
	MessageAt(indexes []int) (string, error)
	// IndexesOf gives the indexes of a message that the text itself defines, by
	// its full name; nil when it defines none of that name.
	IndexesOf(message string) []int
}
