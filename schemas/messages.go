package schemas

// Messages is what a schema can also answer when its text holds several
// messages, any of which a payload may be: the Protobuf schema does. Client
// validators need it, because messages name theirs by its path.
//
// A path's first number is the position among the file's top-level messages,
// each further one the position among the messages nested in the previous.
// Source: client specification 1.2.
type Messages interface {
	// MessageAt gives the full name of the message at path.
	MessageAt(path []int) (name string, ok bool)
	// PathOf gives the path of a message that the text itself defines.
	PathOf(message string) (path []int, ok bool)
}
